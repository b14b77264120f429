"""Word lists and tables that ship with the package; each folder or file says where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from augment_cli.errors import MissingError
from augment_cli.store.files import sha256_of_file

FOLDER = Path(__file__).parent
GET = "pip install --force-reinstall --no-deps augment-cli"
# What must be there, and `doctor` looks for; a list of words is looked for by whoever reads it, too.
TABLES = (
    *(f"wordnet/{name}.parquet" for name in ("entries", "senses", "synsets", "antonyms", "forms")),
    *(f"places/{name}.parquet" for name in ("cities", "small_cities", "countries")),
    "terms/english.parquet",
    *(f"collocations/{name}.parquet" for name in ("words", "pairs")),
)
_FILE = "terms/english.parquet"
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
    table = pq.read_table(shipped(_FILE))
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
    return sha256_of_file(shipped(_FILE))
