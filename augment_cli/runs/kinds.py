"""A kind of stage for each augmentation."""

import contextlib
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli import augmentations
from augment_cli.errors import UserError
from augment_cli.runs.again import last_draw, words_of
from augment_cli.runs.tables import schema_of
from augment_cli.store.kinds import StageKind, exact_columns, other_columns, other_rows
from augment_cli.store.manifest import Stage
from augment_cli.store.parquet import AUGMENTATION
from augment_cli.store.store import Store
from augment_cli.text.spans import CodePoints, Edits, apply_edits


def _describe(stage: Stage) -> str:
    maker = stage.settings["stage"]
    return f"{augmentations.summary(maker)} Source: {augmentations.get(maker).paper}."


def _check(store: Store, stage: Stage, index: int, table: pa.Table) -> list[str]:
    """Its columns, its row ids, and that each text is the original with the edits applied."""
    settings = stage.settings_of(index)
    augmentation = augmentations.get(settings["stage"])
    is_of_today = settings["version"] == augmentation.version  # columns of other versions are not known
    schema = schema_of(augmentation, "of" in settings["parameters"])
    return check_edited(store, index, table, schema if is_of_today else None)


def check_edited(store: Store, index: int, table: pa.Table, schema: pa.Schema | None) -> list[str]:
    """What is wrong with a part of edited texts; its own columns are not looked at without a schema."""
    problems = other_columns(table, AUGMENTATION) if schema is None else exact_columns(table, schema)
    if problems := problems or other_rows(store, index, table):
        return problems
    texts, edits = table["text"].combine_chunks(), table["edits"].combine_chunks()
    is_changed = texts.is_valid().to_numpy(zero_copy_only=False)
    if (is_changed != table["reason"].is_null().to_numpy()).any():
        return ["has rows with both a text and a reason for none, or neither"]
    flat = edits.flatten()
    if edits.null_count or any(flat.field(name).null_count for name in ("start", "end", "replacement")):
        return ["has edits that are null"]
    rows = np.repeat(np.arange(len(edits)), edits.value_lengths().to_numpy(zero_copy_only=False))
    originals = store.read_part("corpus", index, ["text"])["text"].combine_chunks()
    starts, ends = flat.field("start").to_numpy(), flat.field("end").to_numpy()
    try:
        edited = apply_edits(CodePoints.of(originals), Edits(rows, starts, ends, flat.field("replacement")))
    except ValueError as error:
        return [f"its edits do not fit the corpus: {error}"]
    wrong = pc.not_equal(edited, pc.coalesce(texts, originals)).to_numpy(zero_copy_only=False)
    wrong |= is_changed & (np.bincount(rows, minlength=len(edits)) == 0)
    return [f"the text of its row {wrong.argmax()} is not the original with its edits"] if wrong.any() else []


def _kind_of(name: str) -> StageKind:
    return StageKind(
        name,
        {name: schema_of(augmentations.get(name))},
        version=lambda: augmentations.get(name).version,
        describe=_describe,
        check=_check,
        goes_by_part=lambda settings: (
            not {"tfidf", "forms"} & settings["inputs"].keys() and "of" not in settings["parameters"]
        ),
        command=lambda store, stage: words_of(store, last_draw(store, stage))[1:],
    )


def _kinds() -> Iterator[StageKind]:
    for name in augmentations.names():
        with contextlib.suppress(UserError):  # of a package that cannot be loaded; `doctor` names it
            yield _kind_of(name)


KINDS = tuple(_kinds())
