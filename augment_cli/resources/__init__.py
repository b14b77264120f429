"""Word lists, tables of terms and counts of neighbours that ship; each says where it comes from."""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from augment_cli.errors import MissingError
from augment_cli.store.files import sha256_of_file, sha256_of_json
from augment_cli.store.parquet import read_parquet

FOLDER = Path(__file__).parent
GET = "pip install --force-reinstall --no-deps augment-cli"
# What must be there, and `doctor` looks for; a list of words is looked for by whoever reads it, too.
TABLES = (
    *(f"wordnet/{name}.parquet" for name in ("entries", "senses", "synsets", "antonyms", "forms")),
    *(f"places/{name}.parquet" for name in ("cities", "small_cities", "countries")),
    "terms/english.parquet",
    *(f"collocations/{name}.parquet" for name in ("words", "pairs")),
)
_TERMS_FILE = "terms/english.parquet"
# A word begins with a letter or a digit, and has no bracket, quotation mark or slash in it.
WORD = r"^[\pL\pN][^()\[\]{}<>\"“”«»`/\\|=]*$"
_RARE = 30  # sentences in a million
NO_KIND, SURNAME, PLACE, DEMONYM, GIVEN = range(5)
TERM_COLUMNS = pa.schema(
    [
        pa.field("term", pa.string()),
        pa.field("document_frequency", pa.int32()),
        pa.field("share", pa.float32()),
        pa.field("case", pa.int8()),
        pa.field("mixed", pa.string()),
        pa.field("kind", pa.int8()),
    ]
)
SAMPLE = Path(__file__).parents[1] / "sample" / "sentences.txt"
START, END, UNKNOWN = "<s>", "</s>", "<unk>"
_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_COUNTS = ("words", "pairs")
_PRIOR = 0.5  # of a pair that was never met


def shipped(name: str) -> Path:
    """The file of a resource, `wordnet/forms.parquet` or `words/colours.txt`."""
    path = FOLDER / name
    if not path.is_file():
        raise MissingError(f"{path}: this installation lacks it; {GET}")
    return path


@cache
def shipped_digest(name: str) -> str:
    """SHA-256 of a resource's file, for the fingerprint of what is made with it."""
    return sha256_of_file(shipped(name))


@cache
def word_list(name: str) -> tuple[str, ...]:
    """The entries of `words/NAME.txt`, in the file's order."""
    lines = shipped(f"words/{name}.txt").read_text("utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


@cache
def word_table(name: str) -> tuple[tuple[str, ...], ...]:
    """The entries of `words/NAME.txt`, split at tabs."""
    return tuple(tuple(line.split("\t")) for line in word_list(name))


@cache
def word_groups(rule: str) -> SimpleNamespace:
    """The lists of one rule in `words/rule_words.txt`: a frozenset each, as attributes."""
    rows = [row for owner, *row in word_table("rule_words") if owner == rule]
    return SimpleNamespace(**{name: frozenset(words.split()) for name, words in rows})


@cache
def word_set(name: str) -> pa.StringArray:
    """The entries as an Arrow array, for `Words.among`."""
    return pa.array(word_list(name), pa.string())


def word_list_digests(*names: str) -> dict[str, str]:
    """SHA-256 of some lists by name, for the fingerprint of what is made with them."""
    return {name: shipped_digest(f"words/{name}.txt") for name in names}


@dataclass(frozen=True, eq=False)
class EnglishTerms:
    """The shipped terms, in alphabetical order."""

    sentences: int  # how many the counts are from
    terms: pa.StringArray
    document_frequency: np.ndarray  # sentences that have the term
    shares: np.ndarray  # the largest share that the term makes up of one of them, two places
    cases: np.ndarray  # as `tfidf.forms` has them
    mixed: pa.StringArray  # the spelling where the case is mixed, else null
    kinds: np.ndarray  # NO_KIND, SURNAME, PLACE, DEMONYM or GIVEN (a first name)


@lru_cache(maxsize=1)
def load_english_terms() -> EnglishTerms:
    """The table; one copy per process."""
    table = pq.read_table(shipped(_TERMS_FILE))
    return EnglishTerms(
        sentences=int(table.schema.metadata[b"sentences"]),
        terms=table["term"].combine_chunks(),
        document_frequency=table["document_frequency"].to_numpy().astype(np.int64),
        shares=table["share"].to_numpy().astype(np.float64),
        cases=table["case"].to_numpy(),
        mixed=table["mixed"].combine_chunks(),
        kinds=table["kind"].to_numpy(),
    )


@lru_cache(maxsize=1)
def weighted_terms() -> dict[str, float]:
    """The terms in lower case: a rare one, which may be of another language, counts half."""
    table = load_english_terms()
    words = pc.utf8_lower(table.terms).to_pylist()
    weights = np.where(table.document_frequency < _RARE, 0.5, 1.0).tolist()
    return dict(sorted(zip(words, weights, strict=True), key=lambda pair: pair[1]))


@lru_cache(maxsize=1)
def english_terms_digest() -> str:
    """SHA-256 of the file, for the fingerprint of what is made with it."""
    return sha256_of_file(shipped(_TERMS_FILE))


def tokens(text: str) -> list[str]:
    """Words and marks of a text in lower case; numbers as 0, years as 0000, "an" as "a"."""
    return [_plain(token) for token in _TOKEN.findall(text.replace("’", "'").lower())]


def _plain(token: str) -> str:
    if not token[0].isdigit():
        return "a" if token == "an" else token
    return "0000" if len(token) == len("0000") and token.isdigit() else "0"


@dataclass(frozen=True, eq=False)
class Collocations:
    """Which words stand beside each other, and how often (`data/builds/collocations/build.py`)."""

    numbers: dict[str, int]  # number of each word
    counts: np.ndarray  # how often each word was met
    pairs: np.ndarray  # `first << 16 | second`, ascending
    pair_counts: np.ndarray

    def number(self, word: str) -> int:
        """Number of a word as `tokens` gives it; that of unknown ones where it is none of the 32,700."""
        return self.numbers.get(word, self.numbers[UNKNOWN])

    def together(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """int64 (m,): how often words (m,) were met with others (m,) right behind them."""
        wanted = first.astype(np.int64) << 16 | second
        place = np.minimum(np.searchsorted(self.pairs, wanted), len(self.pairs) - 1)
        return np.where(self.pairs[place] == wanted, self.pair_counts[place], 0)

    def fit(self, old: np.ndarray, new: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """How well words fit between the neighbours of those that they replace."""
        # The natural logarithm of how often the new word was met beside its neighbour, over how often it
        # would be if it went with it as the old one does; of the two neighbours the less fitting one. 0 where
        # nothing is known.
        scale = self.counts[new] / np.maximum(self.counts[old], 1)
        known = (old != self.numbers[UNKNOWN]) & (new != self.numbers[UNKNOWN])
        sides = [
            np.log((self.together(*new_pair) + _PRIOR) / (self.together(*old_pair) * scale + _PRIOR))
            for old_pair, new_pair in (((left, old), (left, new)), ((old, right), (new, right)))
        ]
        return np.where(known, np.minimum(*sides), 0.0)


@lru_cache(maxsize=1)
def load_collocations() -> Collocations:
    """The shipped counts; once a process."""
    words, pairs = (read_parquet(shipped(f"collocations/{name}.parquet")) for name in _COUNTS)
    keys = pairs["first"].to_numpy().astype(np.int64) << 16 | pairs["second"].to_numpy()
    names = words["word"].to_pylist()
    counts = words["count"].to_numpy().astype(np.int64)
    return Collocations(
        dict(zip(names, range(len(names)), strict=True)),
        counts,
        keys,
        pairs["count"].to_numpy().astype(np.int64),
    )


@lru_cache(maxsize=1)
def collocations_digest() -> str:
    """SHA-256 of the tables' contents, for the fingerprint of what is made with them."""
    return sha256_of_json([sha256_of_file(shipped(f"collocations/{name}.parquet")) for name in _COUNTS])
