"""The columns of every stage and the settings of every Parquet file we write."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

SCHEMA_VERSION = 1
APPENDED_SCHEMA_VERSION = 2  # of a manifest whose corpus grew: versions that don't know of it say so
ROW_GROUP_ROWS = 8_192
METADATA_KEY = b"augment_cli"


def _required(**columns: pa.DataType) -> pa.Schema:
    """Columns without nulls."""
    return pa.schema([pa.field(name, kind, nullable=False) for name, kind in columns.items()])


CORPUS = _required(row_id=pa.int64(), text=pa.string(), source=pa.string(), line=pa.int64())
CORPUS_WITH_ID = CORPUS.append(pa.field("id", pa.string()))

REJECTS = _required(source=pa.string(), line=pa.int64(), reason=pa.string(), raw=pa.binary())
# Where near-duplicates are left out: the row_id of the sentence that a line repeats.
REJECTS_WITH_REPEATED = REJECTS.append(pa.field("repeats", pa.int64()))

TERMS = _required(term=pa.string(), document_frequency=pa.int64(), idf=pa.float64(), max_score=pa.float64())
# One row a term, in the order of `TERMS`: how it is written inside sentences (`augment_cli/tfidf/forms.py`).
FORMS = _required(case=pa.int8()).append(pa.field("mixed", pa.string()))

TFIDF = _required(
    row_id=pa.int64(),
    term_ids=pa.list_(pa.int32()),
    starts=pa.list_(pa.int32()),
    ends=pa.list_(pa.int32()),
    weights=pa.list_(pa.float64()),
)
# Tokens of a parse, one list entry a token; `heads` are positions in the row, a root is its own head.
PARSES = _required(
    row_id=pa.int64(),
    starts=pa.list_(pa.int32()),
    ends=pa.list_(pa.int32()),
    whitespace=pa.list_(pa.bool_()),
    **dict.fromkeys(("lemmas", "pos", "tags", "morphs", "deps"), pa.list_(pa.string())),
    heads=pa.list_(pa.int32()),
    sentence_starts=pa.list_(pa.bool_()),
)

EDIT = pa.struct(list(_required(start=pa.int32(), end=pa.int32(), replacement=pa.string())))
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
