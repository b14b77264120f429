"""Build the term table that ships, from a store whose fit covers the million Wikipedia sentences.

    make terms     # reads wiki_en-00 … wiki_en-09 into a store, fits it, and runs this file on it

The table has the commonest words with their sentence counts, the largest share that each has of a sentence,
how it is written, and what kind of name it mostly is. Kinds are told by the words to the left: who has a
given name in front of them is a surname, what mostly follows `in` or `near` is a place.
"""

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from augment_cli.resources import DEMONYM, GIVEN, NO_KIND, PLACE, SURNAME, TERM_COLUMNS, WORD, word_set
from augment_cli.resources.wordnet import ADJECTIVE, load_wordnet
from augment_cli.store.store import Store
from augment_cli.tfidf.term_table import CAPITALISED, FORMS_STAGE, MIXED, TermTable

LEAST_SENTENCES = 5
LONGEST = 30  # characters
# A name is of a kind where so large a share of its tokens, and enough of them, stand in that context.
LEAST_SHARE, PLACE_SHARE, LEAST_TOKENS = 0.25, 0.2, 5
ROUNDS = 3
# Capitalised behind `in`, and no places.
NO_PLACES = (
    r"^(?:january|february|march|april|may|june|july|august|september|october|november|december|.+day|spring|"
    r"summer|autumn|winter|christmas|easter|god|.+ism|wonderland)$"
)
# WordNet's capitalised adjectives are of peoples and countries where they end so, apart from these.
DEMONYMS = r"(ian|can|ean|rman|oman|ese|ish|ench|reek|utch|wiss|aeli|raqi|akistani)$"
NO_DEMONYMS = r"^(?:christian|jewish|julian|gregorian|cesarean|caesarean|pauline|republican)$"


def neighbours(store: Store, marked: np.ndarray, step: int) -> np.ndarray:
    """How many tokens of each term have a marked term beside them; int64 (V,)."""
    # marked: ndarray of bool, shape (V,)
    counts = np.zeros(len(marked), np.int64)
    for index in range(len(store.parts)):
        for table in store.iterate_part("tfidf", index, ["term_ids"]):
            column = table["term_ids"].combine_chunks()
            ids, offsets = column.flatten().to_numpy(), column.offsets.to_numpy() - column.offsets[0].as_py()
            rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
            same_row = rows[1:] == rows[:-1]
            left, right = ids[:-1][same_row], ids[1:][same_row]
            wanted, beside = (right, left) if step < 0 else (left, right)
            counts += np.bincount(wanted[marked[beside]], minlength=len(marked))
    return counts


def kinds(store: Store, table: TermTable) -> np.ndarray:
    """int8 (V,): what kind of name each term mostly is."""
    # Surnames follow given names, and given names go before surnames: from the short lists of given names
    # that ship, some rounds find the others.
    total = neighbours(store, np.ones(len(table), bool), -1)
    lists = [pc.utf8_lower(word_set(name)) for name in ("male_names", "female_names")]
    listed = pc.is_in(table.terms, pa.concat_arrays(lists)).to_numpy(zero_copy_only=False)
    plain = pc.match_substring_regex(table.terms, r"^\pL{2}[\pL'’-]*$").to_numpy(zero_copy_only=False)
    roman = pc.match_substring_regex(table.terms, "^[ivxlc]+$").to_numpy(zero_copy_only=False)
    name = plain & ~roman & np.isin(table.cases, [CAPITALISED, MIXED])
    wordnet = load_wordnet()
    adjective = wordnet.entry_parts[wordnet.sense_entries] == ADJECTIVE
    spelled = pc.match_substring_regex(wordnet.spellings, "^[A-Z][a-z]+$").to_numpy(zero_copy_only=False)
    adjectives = pc.utf8_lower(wordnet.spellings.filter(pa.array(adjective & spelled)))
    demonym = name & pc.is_in(table.terms, adjectives).to_numpy(zero_copy_only=False)
    demonym &= pc.match_substring_regex(table.terms, DEMONYMS).to_numpy(zero_copy_only=False)
    demonym &= ~pc.match_substring_regex(table.terms, NO_DEMONYMS).to_numpy(zero_copy_only=False)
    name &= ~demonym

    def often(counts: np.ndarray, share: float) -> np.ndarray:
        return name & (counts >= np.maximum(share * total, LEAST_TOKENS))

    locating = np.zeros(len(table), bool)
    locating[table.ids_of(pa.array(["in", "near"]))] = True
    place = often(neighbours(store, locating, -1), PLACE_SHARE)
    place &= ~pc.match_substring_regex(table.terms, NO_PLACES).to_numpy(zero_copy_only=False)
    # Los, Hong: half of a name.
    place &= 2 * neighbours(store, table.cases > 0, 1) < total
    given, surname = listed & name, np.zeros(len(table), bool)
    for _ in range(ROUNDS):
        surname = often(neighbours(store, given, -1), LEAST_SHARE) & ~place & ~given
        given = often(neighbours(store, surname, 1), LEAST_SHARE) & ~place & ~surname | listed & name
    result = np.full(len(table), NO_KIND, np.int8)
    for kind, members in ((SURNAME, surname), (GIVEN, given), (PLACE, place), (DEMONYM, demonym)):
        result[members] = kind
    return result


def build(store: Store) -> pa.Table:
    """The table that ships, in alphabetical order, as its columns compress best so."""
    table = TermTable.read(store, "terms", FORMS_STAGE)
    frequency = store.read("terms")["document_frequency"].to_numpy()
    # s_t = idf·ln(1 + share): the largest share of a sentence that the term made up.
    share = np.expm1(np.divide(table.max_score, table.idf, out=np.zeros(len(table)), where=table.idf > 0))
    is_word = pc.match_substring_regex(table.terms, WORD).to_numpy(zero_copy_only=False)
    short = pc.less_equal(pc.utf8_length(table.terms), LONGEST).to_numpy(zero_copy_only=False)
    kept = np.flatnonzero((frequency >= LEAST_SENTENCES) & is_word & short)
    mixed = pa.array([table.mixed.get(number) for number in kept.tolist()], pa.string())
    columns = {
        "term": table.terms.take(pa.array(kept)),
        "document_frequency": pa.array(frequency[kept].astype(np.int32)),
        "share": pa.array(np.round(share[kept], 2).astype(np.float32)),
        "case": pa.array(table.cases[kept]),
        "mixed": mixed,
        "kind": pa.array(kinds(store, table)[kept]),
    }
    return pa.table(columns, schema=TERM_COLUMNS).sort_by("term")


def main() -> None:
    """Write the table with the number of sentences it was fitted on."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    store = Store.open(arguments.store)
    table = build(store).replace_schema_metadata({"sentences": str(store.rows)})
    arguments.out.mkdir(parents=True, exist_ok=True)
    file = arguments.out / "english.parquet"
    pq.write_table(
        table,
        file,
        compression="zstd",
        compression_level=19,
        use_dictionary=[name for name in table.column_names if name != "term"],
        column_encoding={"term": "DELTA_BYTE_ARRAY"},
        write_statistics=False,
        write_page_checksum=True,
    )
    print(f"{file}: {table.num_rows:,} terms, {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
