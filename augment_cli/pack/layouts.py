"""From texts beside each other to the rows of a layout, filtered by cosine and by pairs that are known.

`n-tuple`: a row for each positive, every stage of negatives a column. `triplet`: a row for each positive and
each negative. `pair`: anchor and positive alone. `labeled-pair`: two sentences and the label 1 (positive) or
0 (negative); each negative stands once, beside the first of the sentence's positives. With scores, a pair has
its cosine instead of the label, and a tuple the list of cosines of its positive and its negatives: what
sentence-transformers' CoSENTLoss, MarginMSELoss and DistillKLDivLoss take as they are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations.labels import row_labels
from augment_cli.contract.augmentation import NEEDED
from augment_cli.contract.pack_options import BY_LABEL
from augment_cli.pack.options import CORPUS_STAGE, PackOptions
from augment_cli.store.store import Store
from augment_cli.vectors.texts import digests_of, given_positives

NO_PAIRS = np.zeros(0, np.uint64)


def positive_stages(store: Store, options: PackOptions) -> list[str]:
    """The stages whose texts are nobody's negatives where the sentence is equal: the sentence itself, too."""
    return list(dict.fromkeys([CORPUS_STAGE, *options.positives, *given_positives(store)]))


def known_pairs(store: Store, options: PackOptions) -> np.ndarray:
    """Pairs of sentences and their positives in all parts, as `pairs_of` gives them, rising."""
    pairs = [NO_PAIRS]
    for index in range(len(store.parts)):
        own = (texts_of(store, name, index, options) for name in positive_stages(store, options))
        pairs.append(pairs_among(own))
    return np.unique(np.concatenate(pairs))


def pairs_among(columns: Iterable[pa.ChunkedArray]) -> np.ndarray:
    """Pairs of the sentences, which come first, with each of the other columns, and with themselves."""
    sentences, *others = columns
    pairs = [pairs_of(sentences, texts)[texts.is_valid().to_numpy()] for texts in (sentences, *others)]
    return np.unique(np.concatenate(pairs))


def pairs_of(sentences: pa.ChunkedArray, texts: pa.ChunkedArray) -> np.ndarray:
    """A number for each pair, uint64 (n,): equal where both texts are, but for case and spaces."""
    first, second = (digests_of(_alike(column)).reshape(-1, 2)[:, 0] for column in (sentences, texts))
    return first * np.uint64(0x9E3779B97F4A7C15) + second


def has_repeats(store: Store) -> bool:
    """Whether a sentence is there more than once, but for case and spaces."""
    return _has_repeats(store.path, store.stage(CORPUS_STAGE).digest)


@lru_cache(maxsize=1)
def _has_repeats(path: Path, digest: str) -> bool:
    store = Store.open(path)
    digests = [NO_PAIRS]
    for index in range(len(store.parts)):
        digests.append(digests_of(_alike(store.read_part(CORPUS_STAGE, index, ["text"])["text"]))[::2])
    whole = np.concatenate(digests)
    return len(np.unique(whole)) < len(whole)


def _alike(texts: pa.ChunkedArray) -> pa.Array:
    # Signs count: "C++" is not "C#".
    spaced = pc.replace_substring_regex(pc.utf8_lower(texts.combine_chunks()), r"\s+", " ")
    return pc.utf8_trim_whitespace(spaced)


def texts_of(store: Store, name: str, index: int, options: PackOptions) -> pa.ChunkedArray:
    """The texts of a part of a stage, null where the row's own label does not fit its column."""
    texts = store.read_part(name, index, ["text"])["text"]
    if options.labels != BY_LABEL or (labels := row_labels(store, name, index)) is None:
        return texts
    needed = NEEDED["positive" if name in options.positives else "negative"]
    return pc.if_else(pc.equal(labels, needed), texts, pa.scalar(None, pa.string()))


def rows_of(
    columns: pa.Table, positive: str, options: PackOptions, schema: pa.Schema, filters: Sequence[str]
) -> tuple[pa.Table, int, int]:
    """The packed rows of some sentences for one stage of positives."""
    # Also how many sentences have the positive and all negatives, and how many give no row.
    sentences = _Sentences(columns, positive, options)
    there = sentences.passing(filters)
    kinds = sentences.kinds(filters)
    if options.layout == "n-tuple" and options.fills:
        sentences.fill(there[1:])
    tables = [sentences.take(kind, schema) for kind in kinds]
    # A labelled pair's first kind is the positive, without which there is no other.
    giving = kinds if options.layout == "triplet" else kinds[:1]
    gives = np.logical_or.reduce([kind.kept for kind in giving])
    complete = np.logical_and.reduce(there)
    return pa.concat_tables([schema.empty_table(), *tables]), int(complete.sum()), int((~gives).sum())


def count_rows(columns: pa.Table, positive: str, options: PackOptions) -> np.ndarray:
    """int64 (f + 1,): how many rows there are with the first 0, 1, … of all f filters, without making any."""
    sentences = _Sentences(columns, positive, options)
    steps = (options.filters[:number] for number in range(len(options.filters) + 1))
    return np.array([sum(int(kind.kept.sum()) for kind in sentences.kinds(some)) for some in steps], np.int64)


@dataclass(frozen=True)
class _KindOfRow:
    """Rows of one kind: the sentences that give one (bool, (n,)), the places of its texts, its label."""

    kept: np.ndarray
    places: Sequence[int]
    label: int | None = None


class _Sentences:
    """Anchor, one positive and all negatives of some sentences, and which of them pass filters."""

    def __init__(self, columns: pa.Table, positive: str, options: PackOptions) -> None:
        anchor = columns[f"stage:{CORPUS_STAGE}"]
        names = [positive, *options.negatives]
        own = [columns[f"stage:{name}"] for name in names]
        if options.unchanged == "anchor":
            own = [pc.coalesce(column, anchor) for column in own]
        self.columns = columns
        self.texts = [anchor, *own]
        self.cosines = [_cosine_of(columns, name) for name in (CORPUS_STAGE, *names)]
        self._is_text = [column.is_valid().to_numpy() for column in own]
        if options.unchanged == "anchor":  # which cannot stand on both sides
            for is_text, column in zip(self._is_text[1:], own[1:], strict=True):
                is_text &= ~pc.fill_null(pc.equal(column, own[0]), False).to_numpy()
        self._positive, self._options = positive, options

    def passing(self, filters: Sequence[str]) -> list[np.ndarray]:
        """bool (n,) each: whether the positive, and each negative, is a text that passes the filters."""
        positive, *negatives = (is_text.copy() for is_text in self._is_text)
        limits = self._options
        if "min_positive" in filters:
            positive &= self.cosines[1] >= limits.min_positive
        for is_there, cosines in zip(negatives, self.cosines[2:], strict=True):
            if "max_negative" in filters:
                is_there &= cosines <= limits.max_negative
            if "margin" in filters:
                is_there &= self.cosines[1] - cosines >= limits.margin
        return [positive, *negatives]

    def kinds(self, filters: Sequence[str]) -> list[_KindOfRow]:
        """The kinds of rows of the layout, in order; another negative may stand in for one (`fills`)."""
        options, (is_positive, *are_negatives) = self._options, self.passing(filters)
        if options.layout == "n-tuple":
            enough = np.logical_or if options.fills else np.logical_and
            kept = is_positive & enough.reduce(are_negatives) if are_negatives else is_positive
            return [_KindOfRow(kept, range(2 + len(are_negatives)))]
        if options.layout == "triplet":
            return [
                _KindOfRow(is_positive & one, (0, 1, place)) for place, one in enumerate(are_negatives, 2)
            ]
        if options.layout == "pair":
            return [_KindOfRow(is_positive, (0, 1))]
        is_first = is_positive.copy()  # a negative stands once, beside the first of the sentence's positives
        for name in options.positives[: options.positives.index(self._positive)]:
            is_first &= ~_Sentences(self.columns, name, options).passing(filters)[0]
        pairs = [_KindOfRow(is_first & one, (0, place), 0) for place, one in enumerate(are_negatives, 2)]
        return [_KindOfRow(is_positive, (0, 1), 1), *pairs]

    def fill(self, are_there: Sequence[np.ndarray]) -> None:
        """Put another of a sentence's negatives in the place of each that is not there."""
        count = len(are_there)
        own = list(zip(are_there, self.texts[2:], self.cosines[2:], strict=True))
        texts = [pc.if_else(pa.array(there), text, None) for there, text, _ in own]
        cosines = [np.where(there, cosine, np.nan) for there, _, cosine in own]
        # The row's next negative that is there, from the gap on and round.
        around = [[*range(place, count), *range(place)] for place in range(count)]
        self.texts[2:] = [pc.coalesce(*(texts[at] for at in order)) for order in around]
        self.cosines[2:] = [
            reduce(lambda known, more: np.where(np.isnan(known), more, known), [cosines[at] for at in order])
            for order in around
        ]

    def take(self, rows: _KindOfRow, schema: pa.Schema) -> pa.Table:
        """The rows of a kind; of the places of texts 0 is the anchor, 1 the positive."""
        mask = pa.array(rows.kept)
        arrays = [self.texts[place].filter(mask) for place in rows.places]
        if self._options.scores:
            values = np.stack([self.cosines[place][rows.kept] for place in rows.places[1:]], axis=1)
            arrays.append(_scores(values, schema))
        elif rows.label is not None:
            arrays.append(pa.array(np.full(int(rows.kept.sum()), rows.label)))
        arrays += [self.columns[name].filter(mask) for name in self._options.carry]
        return pa.table(arrays, names=schema.names).cast(schema)


def _cosine_of(columns: pa.Table, name: str) -> np.ndarray:
    """Cosines of a stage to its originals: 1 for the corpus and where the anchor stands in for a text."""
    if f"cosine:{name}" not in columns.column_names:
        return np.ones(columns.num_rows, np.float32)
    values = columns[f"cosine:{name}"].to_numpy()
    return np.where(np.isnan(values), np.float32(1), values)


def _scores(values: np.ndarray, schema: pa.Schema) -> pa.Array:
    """The column `score`: a number of each row, or a list of them; `values` float32 (n, k)."""
    if schema.field("score").type == pa.float32():
        return pa.array(values[:, 0])
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    offsets = np.arange(0, values.size + 1, values.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), flat)
