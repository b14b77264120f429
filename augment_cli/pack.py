"""`pack`: a wide table anchor, positive, negative… that sentence-transformers trains on as it is.

One row for each anchor and each positive stage, all negatives beside it, as
`MultipleNegativesRankingLoss` and its kin expect: first column the anchor, second the positive, every
further one a hard negative. No cell is ever empty: where a stage of negatives left a sentence unchanged,
another of the sentence's own negatives stands in, and a row without any is dropped.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli import augmentations
from augment_cli.augmentations.labels import check_labels, entailment_of_stage, has_row_labels, row_labels
from augment_cli.contract.entailment import BY_LABEL, LABEL_MODES, NEEDED
from augment_cli.draws import stream_key, uniform
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.store.schema import ROW_GROUP_ROWS
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import PendingPart, Store

VERSION = 1
PACK_STAGE = "pack"
CORPUS_STAGE = "corpus"
UNCHANGED = ("drop", "anchor")
SIDES = ("train", "test")
ENDINGS = (".csv", ".jsonl")
DEFAULT_SEED = 42
_RECIPE_KEYS = {
    "positives": list,
    "negatives": list,
    "unchanged": str,
    "require_all": bool,
    "carry": list,
    "labels": str,
}


@dataclass(frozen=True)
class PackOptions:
    """What goes into the columns.

    Parameters
    ----------
    positives : tuple of str
        Stages of positives, each giving rows of its own; `corpus` is the anchor itself, as in
        unsupervised SimCSE.
    negatives : tuple of str
        Stages of negatives, each a column of its own.
    unchanged : {"drop", "anchor"}
        What becomes of a row in which a stage changed nothing: it is dropped, or the anchor stands in.
        (An anchor among its own negatives teaches nothing good: it is meant for positives.)
    require_all : bool
        Drop a row that lacks one of several negatives, instead of putting another of its own there.
    carry : tuple of str
        Columns of the corpus to have behind the texts, such as `row_id`, `id` or what ingest kept
        (sentence-transformers takes every column but `label` and `score` for a text).
    split : float
        Share of the sentences, 0 to 1, on the side `test`; equal sentences are always on the same side.
    side : {"", "train", "test"}
        Which side of the split this is; empty where nothing is split.
    shuffle : bool
        Put the rows of each part in a random order.
    seed : int
        Of split and shuffle.
    labels : {"entailment", "kind"}
        Whether the label of each augmentation, and where it has some of each row, decides where it may stand,
        or the kind that its paper gives it.
    """

    positives: tuple[str, ...]
    negatives: tuple[str, ...] = ()
    unchanged: str = "drop"
    require_all: bool = False
    carry: tuple[str, ...] = ()
    split: float = 0.0
    side: str = ""
    shuffle: bool = False
    seed: int = DEFAULT_SEED
    labels: str = BY_LABEL

    @property
    def fills(self) -> bool:
        """Whether a negative may stand in for another."""
        return len(self.negatives) > 1 and not self.require_all and self.unchanged == "drop"

    @property
    def stages(self) -> list[str]:
        """The stages that are read beside the corpus."""
        return [name for name in dict.fromkeys(self.positives + self.negatives) if name != CORPUS_STAGE]

    @property
    def columns(self) -> list[str]:
        """Names of the columns of texts: anchor, positive, negative, negative_1, …."""
        negatives = [f"negative_{number}" if number else "negative" for number in range(len(self.negatives))]
        return ["anchor", "positive", *negatives]

    def schema(self, corpus: pa.Schema) -> pa.Schema:
        """Columns of texts, strings without nulls, then those that are carried from the corpus."""
        texts = [pa.field(name, pa.string(), nullable=False) for name in self.columns]
        return pa.schema([*texts, *(corpus.field(name) for name in self.carry)])


def read_pack_recipe(path: Path) -> dict[str, Any]:
    """What the [pack] table of a TOML file says: positives, negatives, unchanged, require_all, carry, labels.

    Raises
    ------
    UsageError
        If the file cannot be read, or holds something else.
    """
    try:
        table = tomllib.loads(path.read_text("utf-8"))["pack"]
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(f"{path}: has no readable [pack] table ({error!r})") from error
    for key, value in table.items():
        if key not in _RECIPE_KEYS or not isinstance(value, _RECIPE_KEYS[key]):
            raise UsageError(
                f"{path}: [pack] has {key} = {value!r}; use positives, negatives, carry (lists), unchanged, "
                "labels (strings) and require_all (true or false)"
            )
    return dict(table)


def choose(
    store: Store,
    positives: Sequence[str] | None = None,
    negatives: Sequence[str] | None = None,
    unchanged: str = "drop",
    *,
    require_all: bool = False,
    carry: Sequence[str] | None = None,
    split: float = 0.0,
    shuffle: bool = False,
    seed: int = DEFAULT_SEED,
    labels: str = BY_LABEL,
) -> PackOptions:
    """Options with what was not named filled in: every finished stage that has the label, or is of the kind.

    Raises
    ------
    UsageError
        If a stage is missing, unfinished or of the wrong label or kind, a column is not there, or there is
        nothing to pack.
    """
    if labels not in LABEL_MODES:
        raise UsageError(f"--labels {labels}: choose one of {', '.join(LABEL_MODES)}")
    options = PackOptions(
        tuple(positives or _fitting(store, "positive", labels) or [CORPUS_STAGE]),
        tuple(_fitting(store, "negative", labels) if negatives is None else negatives),
        unchanged,
        require_all,
        tuple(carry or ()),
        split,
        "",
        shuffle,
        seed,
        labels,
    )
    if unchanged not in UNCHANGED:
        raise UsageError(f"--unchanged {unchanged}: choose one of {', '.join(UNCHANGED)}")
    if not 0 <= split < 1:
        raise UsageError(f"--split {split:g}: must be a share from 0 to below 1, such as 0.1")
    if not options.stages:
        raise UsageError(f"{store.path}: has no augmentation to pack; run `augment-cli una` first")
    for name in (CORPUS_STAGE, *options.stages):
        if store.stage(name).expected_parts != len(store.parts) or not store.has(name):
            raise UsageError(f"{store.path}: stage {name!r} is not a finished augmentation; run it first")
    _check_kinds(store, options)
    corpus = store.read_rows(CORPUS_STAGE, 0, []).schema
    for name in options.carry:
        if name not in corpus.names or name == "text" or name in options.columns:
            known = [column for column in corpus.names if column != "text"]
            raise UsageError(
                f"--carry {name}: the corpus has {', '.join(known)} to carry; `augment-cli ingest` keeps "
                "more columns of the input with --id-column and --keep-column"
            )
    return options


def _fitting(store: Store, kind: str, labels: str) -> list[str]:
    """Finished stages that may stand among the positives, or the negatives."""
    return [
        name
        for name in store.stages()
        if store.has(name)
        and _place_of(store, name, labels) == (NEEDED[kind] if labels == BY_LABEL else kind)
    ]


def _place_of(store: Store, name: str, labels: str) -> str | None:
    """Label or kind of a stage, or None of one that no augmentation made."""
    settings = store.stage(name).settings
    if labels == BY_LABEL:
        entailment = entailment_of_stage(settings)
        return None if entailment is None else entailment.label
    maker = settings["stage"]
    return augmentations.get(maker).kind if maker in augmentations.names() else None


def left_out(store: Store, options: PackOptions) -> list[str]:
    """Finished augmentations that stand in no column as their label is neither, each with the reason."""
    notes = []
    for name in store.stages():
        entailment = entailment_of_stage(store.stage(name).settings)
        if entailment and entailment.label == "neither" and name not in options.stages and store.has(name):
            notes.append(f"{name} ({entailment.reason})")
    return notes


def _check_kinds(store: Store, options: PackOptions) -> None:
    for name in options.positives:
        if _place_of(store, name, options.labels) in {"negative", "other"}:
            raise UsageError(
                f"--positive {name}: its texts mean something else than their originals, and would be taught "
                f"as equal; give it as --negative {name}"
            )
    if CORPUS_STAGE in options.negatives:
        raise UsageError("--negative corpus: a sentence cannot be its own negative; leave it out")
    if options.labels == BY_LABEL:
        for kind, stages in (("positive", options.positives), ("negative", options.negatives)):
            check_labels(store, kind, stages, f"--{kind}", "--labels kind")


def pack_settings(store: Store, options: PackOptions) -> Settings:
    """What the packed stage depends on; what was not chosen is not in it."""
    further: dict[str, Any] = {}
    if options.fills:
        further["unchanged_negatives"] = "fill"
    if options.carry:
        further["carry"] = list(options.carry)
    if options.side:
        further |= {"split": options.split, "side": options.side}
    if options.shuffle:
        further["shuffle"] = True
    if any(has_row_labels(store, name) for name in options.stages):
        further["labels"] = options.labels
    return Settings(
        PACK_STAGE,
        VERSION,
        parameters={
            "positives": list(options.positives),
            "negatives": list(options.negatives),
            "unchanged": options.unchanged,
            **further,
        },
        seed=options.seed if options.side or options.shuffle else None,
        inputs={name: store.stage(name).digest for name in (CORPUS_STAGE, *options.stages)},
        libraries=library_versions(["pyarrow"]),
    )


def pack(
    store: Store,
    options: PackOptions,
    name: str = PACK_STAGE,
    engine: Engine | None = None,
    progress: Callable[[int], None] = lambda rows: None,
) -> None:
    """Make the packed stage; finished parts are kept. The caller holds the store's lock."""
    settings = pack_settings(store, options)

    def commit(pending: PendingPart) -> None:
        store.commit(pending)
        progress(pending.part.rows)

    arguments = {"store_path": store.path, "stage": name, "options": options, "settings": settings}
    calls = [arguments | {"index": index} for index in store.begin(name, settings)]
    (engine or Engine()).run("augment_cli.pack:pack_part", calls, commit)
    store.clean_work(name)


def pack_part(
    store_path: Path, stage: str, index: int, options: PackOptions, settings: Settings
) -> PendingPart:
    """Pack one part (in a worker) and leave it to be committed."""
    store = Store.open(store_path)
    columns = _columns_of(store, index, options)
    statistics: dict[str, Any] = {"sentences": 0, "dropped": 0, "complete": 0, "unchanged": {}}
    schema = options.schema(columns.schema)
    tables = _tables(columns, options, schema, statistics)
    return store.write_part(stage, index, schema, tables, settings, statistics)


def _columns_of(store: Store, index: int, options: PackOptions) -> pa.Table:
    """What a part has to offer: `row_id`, the carried columns, and `stage:NAME` with the texts of each stage.

    A text that must not be used is null. Whatever is to be left out for a reason of its own can be set to
    null here.
    """
    corpus = store.read_part(CORPUS_STAGE, index, list(dict.fromkeys(["row_id", "text", *options.carry])))
    columns = {name: corpus[name] for name in corpus.column_names if name != "text"}
    schema = [corpus.schema.field(name) for name in columns]
    for name in (CORPUS_STAGE, *options.stages):
        texts = corpus["text"] if name == CORPUS_STAGE else _texts_of(store, name, index, options)
        columns[f"stage:{name}"] = texts
        schema.append(pa.field(f"stage:{name}", pa.string()))
    return pa.table(columns, schema=pa.schema(schema))


def _texts_of(store: Store, name: str, index: int, options: PackOptions) -> pa.ChunkedArray:
    """The texts of a part of a stage, null where the row's own label does not fit its column."""
    texts = store.read_part(name, index, ["text"])["text"]
    labels = row_labels(store, name, index) if options.labels == BY_LABEL else None
    if labels is None:
        return texts
    needed = NEEDED["positive" if name in options.positives else "negative"]
    return pc.if_else(pc.equal(labels, needed), texts, pa.scalar(None, pa.string()))


def _tables(
    columns: pa.Table, options: PackOptions, schema: pa.Schema, statistics: dict[str, Any]
) -> Iterator[pa.Table]:
    """The packed rows, a table at a time, counting what they cost."""
    if options.side:
        anchors = columns[f"stage:{CORPUS_STAGE}"].to_pylist()
        is_test = np.array([_share_of(text, options.seed) < options.split for text in anchors], bool)
        columns = columns.filter(pa.array(is_test == (options.side == "test")))
    statistics["sentences"] = columns.num_rows
    for name in options.stages:
        statistics["unchanged"][name] = columns[f"stage:{name}"].null_count
    wide = (
        _wide(columns.slice(start, ROW_GROUP_ROWS), positive, options, schema, statistics)
        for start in range(0, columns.num_rows, ROW_GROUP_ROWS)
        for positive in options.positives
    )
    if not options.shuffle:
        yield from wide
        return
    table = pa.concat_tables([schema.empty_table(), *wide])
    first = columns["row_id"][0].as_py() if columns.num_rows else 0
    places = np.arange(table.num_rows)
    draws = uniform(stream_key(options.seed, "pack/shuffle", 0), np.full(len(places), first), places)
    yield table.take(pa.array(np.argsort(draws, kind="stable")))


def _share_of(text: str, seed: int) -> float:
    """A number in [0, 1) that depends on the text and the seed alone."""
    digest = hashlib.blake2b(text.encode(), digest_size=8, key=str(seed).encode()).digest()
    return int.from_bytes(digest) / 2**64


def _wide(
    columns: pa.Table, positive: str, options: PackOptions, schema: pa.Schema, statistics: dict[str, Any]
) -> pa.Table:
    anchor = columns[f"stage:{CORPUS_STAGE}"]
    negatives = [columns[f"stage:{name}"] for name in options.negatives]
    own = [anchor, columns[f"stage:{positive}"], *negatives]
    statistics["complete"] += pa.table(own, names=options.columns).drop_null().num_rows
    if options.fills:  # the row's next negative that is there, from the gap on and round
        own[2:] = [pc.coalesce(*negatives[place:], *negatives[:place]) for place in range(len(negatives))]
    if options.unchanged == "anchor":
        own = [pc.coalesce(column, anchor) for column in own]
    texts = pa.table(own, names=options.columns)
    is_whole = np.ones(texts.num_rows, bool)
    for column in texts.columns:
        is_whole &= column.is_valid().to_numpy()
    for name in options.carry:
        texts = texts.append_column(schema.field(name), columns[name])
    statistics["dropped"] += int((~is_whole).sum())
    return texts.filter(pa.array(is_whole)).cast(schema)


def cost_of(store: Store, stage: str) -> str:
    """What a packed stage kept, and which column cost how much, as a sentence or two for people."""
    record = store.stage(stage)
    parts = [part.statistics for part in record.parts.values()]
    if not all("unchanged" in part for part in parts):
        return ""  # packed by an earlier version
    totals = {key: sum(part[key] for part in parts) for key in ("sentences", "dropped", "complete")}
    unchanged: Counter[str] = Counter()
    for part in parts:
        unchanged.update(part["unchanged"])
    line = f"{stage}: {record.rows:,} rows of {totals['sentences']:,} sentences"
    costs = [f"{name} {count:,}" for name, count in unchanged.items() if count]
    if costs:
        line += f"; unchanged, and so without a text of their own: {', '.join(costs)}"
    if totals["dropped"]:
        line += f"; {totals['dropped']:,} rows dropped"
    if record.settings["parameters"].get("unchanged_negatives") and totals["complete"] != record.rows:
        line += (
            f". Where a negative is missing another of the same sentence stands in; --require-all keeps the "
            f"{totals['complete']:,} rows that have all"
        )
    return line


def export(store: Store, stage: str, path: Path) -> int:
    """Write a packed stage to one csv or jsonl file; complete, or not there.

    Parameters
    ----------
    store : Store
    stage : str
    path : Path
        Its ending decides the format; a file there is replaced.

    Returns
    -------
    int
        Number of rows.
    """
    check_export_path(path)
    temporary = path.with_name(f".{path.name}.writing")
    rows = 0
    with temporary.open("w", encoding="utf-8", newline="") as file:
        write = _csv_rows if path.suffix == ".csv" else _jsonl_rows
        for index in sorted(store.stage(stage).parts):
            table = store.read_part(stage, index)
            write(file, table, rows == 0)
            rows += table.num_rows
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    return rows


def check_export_path(path: Path) -> None:
    """Raise `UsageError` where a file of this name cannot be written."""
    if path.suffix not in ENDINGS:
        raise UsageError(f"--out {path}: the name must end in {' or '.join(ENDINGS)}")
    if not path.parent.is_dir():
        raise UsageError(f"--out {path}: there is no folder {path.parent}; make it first")


def _csv_rows(file: TextIO, table: pa.Table, is_first: bool) -> None:
    writer = csv.writer(file, lineterminator="\n")
    if is_first:
        writer.writerow(table.column_names)
    writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _jsonl_rows(file: TextIO, table: pa.Table, is_first: bool) -> None:
    file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in table.to_pylist())
