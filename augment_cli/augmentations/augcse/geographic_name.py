"""Insert a fact behind the name of a country or large city: `Peru, whose capital is Lima, …`.

AugCSE's GeoNamesTransformation: one place of each sentence, drawn, and one of the facts that GeoNames has of
it, drawn: continent, capital, area, population, currency, neighbours of a country; country and population
of a city. The wording is this project's.

Differences from the original: a capital letter is not enough, since a name inside a longer one stays as it
is, and so does a city whose country, or a place whose explanation stands behind it; the comma behind the fact
goes where another mark follows; spacing survives; each sentence draws for itself.
"""

from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import Augmentation, Resources, prepared, with_digests
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import NoParameters
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import (
    Matches,
    PhraseTable,
    Words,
    character_after,
    character_before,
    is_any,
    next_words,
    word_edits,
)
from augment_cli.resources import (
    shipped,
    shipped_digest,
    word_groups,
    word_list,
    word_list_digests,
    word_set,
    word_table,
)
from augment_cli.resources.wordnet import TAGS, load_wordnet, wordnet_digest
from augment_cli.store.parquet import read_parquet

_WORDS = word_groups("geographic-name")
_WITH_ARTICLE = ("United ", "Netherlands", "Philippines", "Bahamas", "Maldives", "Solomon", "Marshall")


@lru_cache(maxsize=3)
def place_table(name: str) -> pa.Table:
    """`cities`, `small_cities` or `countries`, as shipped."""
    return read_parquet(shipped(f"places/{name}.parquet"))


def place_digests(*names: str) -> dict[str, str]:
    """SHA-256 of some tables by name, for the fingerprint of what is made with them."""
    return {name: shipped_digest(f"places/{name}.parquet") for name in names}


def find_places(words: Words, table: PhraseTable) -> Matches:
    """Where a name of the gazetteer stands as a name of its own: capitalised, and in no longer name."""
    # `Paris` in `in Paris, France` counts, in `Paris Hilton`, `New Paris`, `University of Paris`, `Hôtel de
    # Paris` and `paris` it does not. `Charlotte` counts behind `in` alone (`words/doubtful_places.txt`).
    matches = table.find(words)
    if not len(matches):
        return matches
    capital, function_word = words.has_capital, words.among(word_set("function_words"))
    of_names = words.among(_WORDS.of_names)
    before, behind = np.maximum(matches.first - 1, 0), np.minimum(matches.last + 1, len(words) - 1)
    near = words.follows_space[matches.first]
    opens = (words.positions == 0) & function_word
    in_name = near & ((capital & ~opens)[before] | of_names[before])
    in_name |= (behind > matches.last) & words.follows_space[behind] & (capital | of_names)[behind]
    # Gulf of Mexico, Republic of San Marino, Chief Justice of Nigeria.
    ahead = np.maximum(matches.first - 2, 0)
    of = words.among({"of"})[before] & near & (ahead == before - 1) & words.follows_space[before]
    in_name |= of & (capital & ~opens)[ahead]
    quotes = '"“”«»'
    # a title
    in_name |= is_any(character_before(words, matches.first), quotes) & is_any(
        character_after(words, matches.last), quotes + ",."
    )
    is_doubtful = words.among(word_set("doubtful_places"))[matches.first] & (matches.first == matches.last)
    in_name |= is_doubtful & ~(words.among(_WORDS.at)[before] & near)
    return matches.where(capital[matches.first] & capital[matches.last] & ~in_name)


@lru_cache(maxsize=1)
def cities() -> PhraseTable:
    """Large cities that are not countries too, as Singapore and Djibouti are."""
    countries = set(place_table("countries")["name"].to_pylist())
    return PhraseTable([name for name in place_table("cities")["name"].to_pylist() if name not in countries])


@lru_cache(maxsize=1)
def _countries_and_cities() -> tuple[PhraseTable, list[list[str]], np.ndarray]:
    """Countries, then large cities: their names, what is said of each, and which take an article."""
    rows = [(table, row) for table in ("countries", "cities") for row in place_table(table).to_pylist()]
    names = [row["name"] for _, row in rows]
    facts = []
    for table, row in rows:
        values = _values(row)
        known = [fact for of, needed, fact in word_table("place_facts") if of == table and values[needed]]
        facts.append([fact.format(**values) for fact in known])
    return PhraseTable(names), facts, np.array([name.startswith(_WITH_ARTICLE) for name in names], bool)


@lru_cache(maxsize=1)
def _ending_words() -> frozenset[str]:
    """Words of grammar, and finite verbs that are no noun or adjective: behind a name they end a compound."""
    wordnet = load_wordnet()
    encoded = wordnet.forms.dictionary_encode()
    bits = np.zeros(len(encoded.dictionary), np.int64)
    np.bitwise_or.at(bits, encoded.indices.to_numpy(), wordnet.form_bits.astype(np.int64))
    nominal = TAGS["NN"] | TAGS["NNS"] | TAGS["JJ"]
    finite = ((bits & (TAGS["VBD"] | TAGS["VBZ"])) > 0) & (bits & nominal == 0)
    verbs = encoded.dictionary.filter(pa.array(finite)).to_pylist()
    return frozenset(verbs).union(word_list("function_words")) - {"based"}


def _people(population: int) -> str:
    if population >= 1_000_000_000:
        return f"{population / 1e9:.1f} billion"
    if population >= 1_000_000:
        return f"{population / 1e6:.1f}".removesuffix(".0") + " million"
    return f"{round(population, -3):,}" if population >= 10_000 else f"{population:,}"


def _values(row: dict[str, Any]) -> dict[str, Any]:
    """The values of facts about a place, as they are written; empty where they are not known."""
    values = row | {"people": _people(row["population"]) if row["population"] > 0 else ""}
    if "area" not in row:
        article = "the " if row["country"].startswith(_WITH_ARTICLE) else ""
        return values | {"country": article + row["country"]}
    area, number = row["area"], row["neighbours"]
    # GeoNames counts a naval base as a border between these two.
    known = number and row["name"] not in {"United States", "Cuba"}
    return values | {
        "area": f"{round(area, -3 if area >= 10_000 else 0):,}" if area > 0 else "",
        "currency": (row["currency"] or "").lower(),
        "borders": f"{number} other {'country' if number == 1 else 'countries'}" if known else "",
    }


def _run(parameters: NoParameters, resources: Resources, rows: Rows) -> Outcome:
    table, facts, takes_article = _countries_and_cities()
    words = Words.of(rows.code_points)
    matches = find_places(words, table)
    after = character_after(words, matches.last)
    before, near = np.maximum(matches.first - 1, 0), words.follows_space[matches.first]
    fits = (is_any(after, " ,.;:!?)") | (after == 0)) & ~_goes_on(words, matches.last, after)
    # `the Peru team`: no fact belongs between; `the United States` keeps its article.
    determined = words.among(_WORDS.determiners)[before] & ~takes_article[matches.phrases]
    fits &= ~(near & (words.among(_WORDS.parts)[before] | determined))
    matches, after = matches.where(fits), after[fits]
    owners = words.rows[matches.first]
    draws = uniform(
        resources.key("geographic-name/place"), rows.row_ids[owners], words.positions[matches.first]
    )
    chosen = word_edits.ranks_within(owners, draws) == 0
    matches, after, owners = matches.where(chosen), after[chosen], owners[chosen]
    zeros = np.zeros(len(owners), np.int64)
    draws = uniform(resources.key("geographic-name/fact"), rows.row_ids[owners], zeros)
    texts = []
    for number, draw, mark in zip(matches.phrases.tolist(), draws.tolist(), after.tolist(), strict=True):
        fact = facts[number][int(draw * len(facts[number]))]
        texts.append(f", {fact}," if mark == ord(" ") else f", {fact}")
    at = words.flat_ends[matches.last]
    edits = word_edits.edits_of(words, owners, at, at, pa.array(texts, pa.string()))
    return Outcome(edits, word_edits.reasons_without(words, matches.first))


def _goes_on(words: Words, index: np.ndarray, after: np.ndarray) -> np.ndarray:
    """bool (m,): names with a name, an explanation or the noun that they belong to right behind them."""
    following = np.minimum(index + 1, len(words) - 1)
    inside = (index + 1 < len(words)) & (words.rows[following] == words.rows[index])
    comma, space = is_any(after, ","), is_any(after, " ")
    # `Paris, Texas`; `Lima, the capital`, or a bracket or dash
    goes_on = inside & comma & (words.has_capital | words.among(_WORDS.appositions))[following]
    goes_on |= inside & space & ~words.follows_space[following]
    # `my Paris address`
    nouns = [word is not None and word not in _ending_words() for word in next_words(words, index)]
    return goes_on | (space & np.array(nouns, bool))


GEOGRAPHIC_NAME = Augmentation(
    name="geographic-name",
    version=5,
    kind="positive",
    paper="Tang et al. 2022, AugCSE (GeoNamesTransformation); GeoNames",
    languages=("en",),
    prepare=prepared(_run),
    resolve=with_digests(
        lambda: (
            place_digests("cities", "countries")
            | word_list_digests("doubtful_places", "function_words")
            | {"wordnet": wordnet_digest()}
        )
    ),
    examples=("augment-cli geographic-name", "augment-cli geographic-name --draws 3"),
    entailment=("neither", "with the fact it entails the sentence, which does not name the fact"),
)
