"""`pack`: a wide table anchor, positive, negative… that sentence-transformers trains on as it is.

One row for each anchor and each positive stage, all negatives beside it, as
`MultipleNegativesRankingLoss` and its kin expect: first column the anchor, second the positive, every
further one a hard negative.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from augment_cli import augmentations
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.store.schema import ROW_GROUP_ROWS
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import PendingPart, Store

VERSION = 1
PACK_STAGE = "pack"
CORPUS_STAGE = "corpus"
UNCHANGED = ("drop", "anchor")


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
    """

    positives: tuple[str, ...]
    negatives: tuple[str, ...] = ()
    unchanged: str = "drop"

    @property
    def stages(self) -> list[str]:
        """The stages that are read beside the corpus."""
        return [name for name in dict.fromkeys(self.positives + self.negatives) if name != CORPUS_STAGE]

    @property
    def schema(self) -> pa.Schema:
        """Columns anchor, positive, negative, negative_1, …: strings without nulls."""
        negatives = [f"negative_{number}" if number else "negative" for number in range(len(self.negatives))]
        return pa.schema(
            [pa.field(name, pa.string(), nullable=False) for name in ("anchor", "positive", *negatives)]
        )


def read_pack_recipe(path: Path) -> dict[str, Any]:
    """`positives`, `negatives` and `unchanged` from the [pack] table of a TOML file.

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
        kind = str if key == "unchanged" else list
        if key not in ("positives", "negatives", "unchanged") or not isinstance(value, kind):
            raise UsageError(
                f"{path}: [pack] has {key} = {value!r}; use positives, negatives (lists) and unchanged"
            )
    return dict(table)


def choose(
    store: Store,
    positives: list[str] | None = None,
    negatives: list[str] | None = None,
    unchanged: str = "drop",
) -> PackOptions:
    """Options with what was not named filled in: every finished stage of that kind.

    Raises
    ------
    UsageError
        If a stage is missing or unfinished, or there is nothing to pack.
    """

    def of_kind(kind: str) -> list[str]:
        makers = {name: store.stage(name).settings["stage"] for name in store.stages()}
        return [
            name
            for name, maker in makers.items()
            if maker in augmentations.names() and augmentations.get(maker).kind == kind and store.has(name)
        ]

    options = PackOptions(
        tuple(positives or of_kind("positive") or [CORPUS_STAGE]),
        tuple(of_kind("negative") if negatives is None else negatives),
        unchanged,
    )
    if unchanged not in UNCHANGED:
        raise UsageError(f"--unchanged {unchanged}: choose one of {', '.join(UNCHANGED)}")
    if not options.stages:
        raise UsageError(f"{store.path}: has no augmentation to pack; run `augment-cli una` first")
    for name in (CORPUS_STAGE, *options.stages):
        if store.stage(name).expected_parts != len(store.parts) or not store.has(name):
            raise UsageError(f"{store.path}: stage {name!r} is not a finished augmentation; run it first")
    return options


def pack_settings(store: Store, options: PackOptions) -> Settings:
    """What the packed stage depends on."""
    return Settings(
        PACK_STAGE,
        VERSION,
        parameters={
            "positives": list(options.positives),
            "negatives": list(options.negatives),
            "unchanged": options.unchanged,
        },
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
    statistics = {"dropped": 0}

    def tables() -> Iterator[pa.Table]:
        columns = {
            name: store.read_part(name, index, ["text"])["text"] for name in (CORPUS_STAGE, *options.stages)
        }
        for start in range(0, len(columns[CORPUS_STAGE]), ROW_GROUP_ROWS):
            texts = {name: column.slice(start, ROW_GROUP_ROWS) for name, column in columns.items()}
            for positive in options.positives:
                table = _wide(texts, positive, options)
                statistics["dropped"] += len(texts[CORPUS_STAGE]) - table.num_rows
                yield table

    return store.write_part(stage, index, options.schema, tables(), settings, statistics)


def _wide(texts: dict[str, pa.ChunkedArray], positive: str, options: PackOptions) -> pa.Table:
    anchor = texts[CORPUS_STAGE]
    columns = [anchor, texts[positive], *(texts[name] for name in options.negatives)]
    if options.unchanged == "anchor":
        columns = [pc.coalesce(column, anchor) for column in columns]
    return pa.table(columns, names=options.schema.names).drop_null().cast(options.schema)
