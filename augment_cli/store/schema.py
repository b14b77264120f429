"""The columns of every stage and the settings of every Parquet file we write."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

SCHEMA_VERSION = 1
APPENDED_SCHEMA_VERSION = 2  # of a manifest whose corpus grew: versions that don't know of it say so
ROW_GROUP_ROWS = 8_192
METADATA_KEY = b"augment_cli"

CORPUS = pa.schema(
    [
        pa.field("row_id", pa.int64(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("line", pa.int64(), nullable=False),
    ]
)
CORPUS_WITH_ID = CORPUS.append(pa.field("id", pa.string()))

REJECTS = pa.schema(
    [
        pa.field("source", pa.string(), nullable=False),
        pa.field("line", pa.int64(), nullable=False),
        pa.field("reason", pa.string(), nullable=False),
        pa.field("raw", pa.binary(), nullable=False),
    ]
)

# Where near-duplicates are left out: the row_id of the sentence that a line repeats.
REJECTS_WITH_REPEATED = REJECTS.append(pa.field("repeats", pa.int64()))

TERMS = pa.schema(
    [
        pa.field("term", pa.string(), nullable=False),
        pa.field("document_frequency", pa.int64(), nullable=False),
        pa.field("idf", pa.float64(), nullable=False),
        pa.field("max_score", pa.float64(), nullable=False),
    ]
)

# One row a term, in the order of `TERMS`: how it is written inside sentences (`augment_cli/tfidf/forms.py`).
FORMS = pa.schema([pa.field("case", pa.int8(), nullable=False), pa.field("mixed", pa.string())])

TFIDF = pa.schema(
    [
        pa.field("row_id", pa.int64(), nullable=False),
        pa.field("term_ids", pa.list_(pa.int32()), nullable=False),
        pa.field("starts", pa.list_(pa.int32()), nullable=False),
        pa.field("ends", pa.list_(pa.int32()), nullable=False),
        pa.field("weights", pa.list_(pa.float64()), nullable=False),
    ]
)

# Tokens of a parse, one list entry a token; `heads` are positions in the row, a root is its own head.
PARSES = pa.schema(
    [
        pa.field("row_id", pa.int64(), nullable=False),
        pa.field("starts", pa.list_(pa.int32()), nullable=False),
        pa.field("ends", pa.list_(pa.int32()), nullable=False),
        pa.field("whitespace", pa.list_(pa.bool_()), nullable=False),
        pa.field("lemmas", pa.list_(pa.string()), nullable=False),
        pa.field("pos", pa.list_(pa.string()), nullable=False),
        pa.field("tags", pa.list_(pa.string()), nullable=False),
        pa.field("morphs", pa.list_(pa.string()), nullable=False),
        pa.field("deps", pa.list_(pa.string()), nullable=False),
        pa.field("heads", pa.list_(pa.int32()), nullable=False),
        pa.field("sentence_starts", pa.list_(pa.bool_()), nullable=False),
    ]
)

EDIT = pa.struct(
    [
        pa.field("start", pa.int32(), nullable=False),
        pa.field("end", pa.int32(), nullable=False),
        pa.field("replacement", pa.string(), nullable=False),
    ]
)

AUGMENTATION = pa.schema(
    [
        pa.field("row_id", pa.int64(), nullable=False),
        pa.field("text", pa.string()),
        pa.field("reason", pa.string()),
        pa.field("edits", pa.list_(EDIT), nullable=False),
    ]
)


def with_metadata(schema: pa.Schema, settings: dict[str, Any]) -> pa.Schema:
    """The schema with our one metadata key: the stage's settings as JSON. No time, host or path."""
    text = json.dumps(settings, sort_keys=True, ensure_ascii=False)
    return schema.with_metadata({METADATA_KEY: text.encode()})


def metadata_of(schema: pa.Schema) -> dict[str, Any] | None:
    """The settings a part was made with, or None where it was not written by this package."""
    value = (schema.metadata or {}).get(METADATA_KEY)
    return None if value is None else json.loads(value)
