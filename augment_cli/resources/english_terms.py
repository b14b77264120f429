"""The shipped table of common English terms: counts in a million sentences, spelling, kind of name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from augment_cli.resources import shipped
from augment_cli.store.files import sha256_of_file

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
