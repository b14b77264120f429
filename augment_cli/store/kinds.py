"""What reports ask of a kind of stage: its columns, and what a part must hold whatever its digest says.

A room that makes stages declares its kinds in its file `kinds.py`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.store.contents import StoreContents
from augment_cli.store.manifest import Stage
from augment_cli.store.store import Store

MEANINGS = {
    "row_id": "the row's number, from 0, the same in every stage",
    "text": "the sentence; of an augmentation, the new text, or null",
    "reason": "why there is no text",
    "edits": "the replaced spans of the original, in Unicode code points, half-open",
    "source": "the file that the line came from",
    "line": "its number in that file, from 1; of a table, the row's",
    "id": "the id that the input gave, where `--id-column` names it",
    "raw": "the rejected line, as it was read",
    "repeats": "the row that a near-duplicate repeats",
    "term": "the term, in lower case",
    "document_frequency": "in how many sentences it is",
    "idf": "its inverse document frequency",
    "max_score": "its greatest TF-IDF weight in any sentence; the table falls by it",
    "term_ids": "the tokens' rows in the term table; −1 for what is too rare for it",
    "starts": "where each token starts, in code points",
    "ends": "where it ends, exclusive",
    "weights": "each token's TF-IDF weight",
    "case": "how a term is written inside sentences: lower case, capitalised, upper case, mixed",
    "mixed": "the mixed writing, such as *iPhone*",
    "whitespace": "whether a space follows the token",
    "lemmas": "lemmas",
    "pos": "universal parts of speech",
    "tags": "the treebank's own tags",
    "morphs": "morphology, as `Key=Value` pairs",
    "deps": "relation to the head",
    "heads": "the head's position in the row; a root is its own",
    "sentence_starts": "whether a sentence starts here",
    "replaced": "how many words or tokens were replaced",
    "tokens": "how many tokens the sentence has",
    "words": "how many words the sentence has",
    "deleted": "how many words were deleted",
    "inserted": "how many words were inserted",
    "repeated": "how many words were repeated",
    "rule": "the rule that applied",
    "rules": "the rules that applied, in order",
    "target": "the tense that was made",
    "choice": "which of the mixed augmentations was drawn",
    "intermediate": "the sentence in the other language",
    "rejected": "what the model wrote, where a guard turned it down",
    "label": "same, other or neither, where it differs from row to row",
    "answer": "what the model wrote, as it came",
    "finish": "why the model ended, in the server's words",
    "error": "why there is no answer",
    "prompt_tokens": "tokens that were read",
    "completion_tokens": "tokens that were written",
    "model": "what the server calls its model",
    "vector": "the sentence's vector; its length is the encoder's dimension",
    "cosine": "cosine of the text and its sentence",
    "nearest_cosine": "cosine of the text and the nearest other sentence of the corpus",
    "nearest_row_id": "that sentence's row",
    "length_ratio": "characters of the text over characters of its sentence",
    "edited_share": "share of the sentence's characters that were edited",
    "repeated_words": "how many more words repeat than in the sentence",
    "unknown_words": "how many words of the text the corpus does not have",
    "other_row_id": "the row that the negative is",
    "score": "its similarity",
    "rank": "its rank among the similar ones, from 0",
    "positive_score": "the similarity of the positive that it was compared with",
    "ids": "the tokenizer's ids",
    "anchor": "the sentence",
    "positive": "a text that says the same",
    "negative": "a text that says something else; further ones are `negative_1`, `negative_2`, …",
}


@dataclass(frozen=True)
class StageKind:
    """A kind of stage: what has made it, and what is to be known of it."""

    maker: str  # as in the settings of its stages (`settings["stage"]`)
    # what its stages have at most, by the usual name of their folder; `MEANINGS` says what each column is
    columns: Mapping[str, pa.Schema] = field(default_factory=dict)
    # of the code that makes it now; None where this package does not know
    version: Callable[[], int | None] = lambda: None
    # given store, stage and the corpus's files where they are named: keys of its settings as they would be
    # now, beside version, libraries and the stages that it was made from
    today: Callable[[Store, Stage, Sequence[str | Path] | None], dict[str, Any]] = (
        lambda store, stage, corpus: {}
    )
    # what it holds, for a card; the maker's name by default
    describe: Callable[[Stage], str] = lambda stage: str(stage.settings["stage"])
    # given store, stage, a part's number and its table: what of it is not as every such stage promises
    # (columns, row ids, offsets, ranges), a line each, whatever the manifest says
    check: Callable[[Store, Stage, int, pa.Table], list[str]] = lambda store, stage, index, table: []
    # whether it is part of a data set, and not only what the toolkit works with
    is_for_readers: Callable[[Stage], bool] = lambda stage: True
    has_numbers: bool = False  # whether it holds numbers of each row, of which quantiles tell something
    # given its settings: whether it is continued where the corpus grows (`Settings.by_part`)
    goes_by_part: Callable[[Mapping[str, Any]], bool] = lambda settings: False
    # given store and name: the words behind `augment-cli` that make it again with its options as they were,
    # FOLDER and FILE standing for what the store does not know the place of; None where no command does
    command: Callable[[Store, str], list[str] | None] = lambda store, name: None


def other_columns(table: pa.Table, expected: Iterable[pa.Field]) -> list[str]:
    """What is wrong with the names and types of a part's first columns."""
    wanted = list(expected)
    found = [table.schema.field(number) for number in range(min(len(wanted), table.num_columns))]
    for own, other in zip(wanted, found, strict=False):
        if (other.name, other.type, other.nullable) != (own.name, own.type, own.nullable):
            return [f"has the column {other} where the stage has {own}"]
    lacking = [field.name for field in wanted[len(found) :]]
    return [f"lacks the columns {', '.join(lacking)}"] if lacking else []


def exact_columns(table: pa.Table, expected: Iterable[pa.Field]) -> list[str]:
    """The same of all its columns: it may have no others."""
    wanted = list(expected)
    if problems := other_columns(table, wanted):
        return problems
    more = table.schema.names[len(wanted) :]
    return [f"has the columns {', '.join(more)}, which the stage does not have"] if more else []


def other_rows(store: StoreContents, index: int, table: pa.Table) -> list[str]:
    """What is wrong with its row ids, which are those of the corpus's part, in order."""
    if index >= len(store.parts):
        return ["has no counterpart among the parts of the corpus"]
    first, rows = store.parts[index]
    ids = table["row_id"].to_numpy()
    if len(ids) == rows and (ids == np.arange(first, first + rows)).all():
        return []
    return [f"its row ids are not {first} to {first + rows - 1}, in order, as in the corpus"]


def list_lengths(table: pa.Table, names: Iterable[str]) -> np.ndarray | None:
    """The common lengths of list columns, int64 (n,); None where they differ or a list is null."""
    lengths = []
    for name in names:
        column = table[name].combine_chunks()
        if column.null_count or column.flatten().null_count:
            return None
        lengths.append(column.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64))
    return lengths[0] if all((other == lengths[0]).all() for other in lengths) else None


def flat(table: pa.Table, name: str) -> np.ndarray:
    """All numbers of a list column, one list after the other."""
    values: np.ndarray = table[name].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return values


def spans_outside(table: pa.Table, lengths: np.ndarray, texts: pa.ChunkedArray) -> list[str]:
    """What is wrong with the columns `starts` and `ends` as spans of texts, in order and not overlapping."""
    wrong = wrong_span(texts, lengths, flat(table, "starts"), flat(table, "ends"))
    if wrong is None:
        return []
    return [f"a span of its row {wrong[1]} lies outside the text, or not behind the one before it"]


def wrong_span(
    texts: pa.Array | pa.ChunkedArray, lengths: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> tuple[int, int] | None:
    """The first span that is not within its text, behind the one before it, and the text's row."""
    # lengths: how many spans each text has; starts, ends: code points, half-open
    rows = np.repeat(np.arange(len(lengths)), lengths)
    characters = pc.utf8_length(texts).to_numpy(zero_copy_only=False)
    is_wrong = (starts < 0) | (starts > ends) | (ends > characters[rows])
    is_wrong[1:] |= (rows[1:] == rows[:-1]) & (starts[1:] < ends[:-1])
    first = int(is_wrong.argmax()) if is_wrong.any() else -1
    return None if first < 0 else (first, int(rows[first]))


def not_finite(table: pa.Table, name: str, low: float = -np.inf, high: float = np.inf) -> list[str]:
    """Whether numbers of a column that are there are no numbers, or out of range."""
    values = table[name].drop_null().to_numpy().astype(np.float64)
    if np.isfinite(values).all() and (not len(values) or (low <= values.min() and values.max() <= high)):
        return []
    return [f"its column {name} has numbers that are not finite, or not from {low:g} to {high:g}"]


def wrong_ids(ids: pa.ChunkedArray, vocabulary: int | None = None) -> list[str]:
    """What is wrong with the token ids of some texts; `vocabulary` is how many the tokenizer knows."""
    flat = ids.combine_chunks().flatten()
    if flat.null_count or (flat.to_numpy() < 0).any():
        return ["has ids that are null or negative"]
    if vocabulary is not None and (flat.to_numpy() >= vocabulary).any():
        return [f"has ids beyond the {vocabulary:,} that the tokenizer knows"]
    return []
