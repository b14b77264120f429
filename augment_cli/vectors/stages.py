"""Stages of sentence vectors: their names, their columns, and how they are read and told apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from augment_cli.errors import BadInputError, MixError, UsageError
from augment_cli.store.parquet import describe
from augment_cli.store.schema import ROW_GROUP_ROWS
from augment_cli.store.store import Store

VECTORS_STAGE = "vectors"
CORPUS_STAGE = "corpus"
# What decides where a vector points; precision and device only round it.
_OF_THE_ENCODER = ("pooling", "max_length")


def vectors_name(of: str = CORPUS_STAGE, name: str | None = None) -> str:
    """Folder of the vectors of a stage's texts."""
    # `vectors`, `vectors-STAGE`, and by another encoder `vectors-NAME`, `vectors-NAME-STAGE`
    return "-".join([VECTORS_STAGE, *([name] if name else []), *([of] if of != CORPUS_STAGE else [])])


def chosen_set(store: Store, name: str | None = None) -> str | None:
    """Which set of vectors is meant: the one named, else the first (without a name), else the only one."""
    if name or vectors_name() in store.stages():
        return name
    found = sorted(
        stage.removeprefix(f"{VECTORS_STAGE}-")
        for stage in store.stages()
        if (settings := store.stage(stage).settings)["stage"] == VECTORS_STAGE
        and settings["parameters"]["of"] == CORPUS_STAGE
    )
    if len(found) > 1:
        raise UsageError(
            f"{store.path}: has several sets of vectors ({', '.join(found)}); say which with --vectors NAME"
        )
    return found[0] if found else None


def vectors_schema(dimension: int) -> pa.Schema:
    """Columns of a stage of vectors: row_id, and a list of `dimension` half-precision numbers or null."""
    # Numbers without nulls of their own: only a whole vector may be missing.
    number = pa.field("element", pa.float16(), nullable=False)
    return pa.schema(
        [pa.field("row_id", pa.int64(), nullable=False), pa.field("vector", pa.list_(number, dimension))]
    )


def width_of(store: Store, stage: str) -> int:
    """Numbers in a vector of a stage, as its first part declares."""
    path = store.part_path(stage, min(store.stage(stage).parts, default=0))
    _, schema = describe(path)
    kind = schema.field("vector").type if "vector" in schema.names else None
    if kind is None or not pa.types.is_fixed_size_list(kind) or kind.value_type != pa.float16():
        raise BadInputError(
            f"{path}: holds no vectors of half precision, so it is damaged or foreign; delete it, and "
            "embed again"
        )
    return int(kind.list_size)


def as_column(vectors: np.ndarray, missing: np.ndarray) -> pa.FixedSizeListArray:
    """The column of vectors, float16 (n, d), null where `missing`, bool (n,)."""
    kind = vectors_schema(vectors.shape[1]).field("vector").type
    values = pa.array(np.ascontiguousarray(vectors, np.float16).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(values, type=kind, mask=pa.array(missing))


def as_bytes(vectors: np.ndarray) -> pa.FixedSizeBinaryArray:
    """Vectors, float16 (n, d), as n strings of 2 d bytes: what `.work/` holds, quicker written than lists."""
    kind = pa.binary(2 * vectors.shape[1])
    return pa.Array.from_buffers(
        kind, len(vectors), [None, pa.py_buffer(np.ascontiguousarray(vectors, np.float16))]
    )


def from_bytes(column: pa.ChunkedArray) -> np.ndarray:
    """What `as_bytes` was given."""
    array = column.combine_chunks()
    whole = np.frombuffer(array.buffers()[1], np.uint8).reshape(-1, column.type.byte_width)
    return whole[array.offset : array.offset + len(array)].view(np.float16)


def row_groups(vectors: np.ndarray, missing: np.ndarray, start: int) -> Iterator[pa.Table]:
    """The row groups of a part of vectors (n, d), null where `missing`; its first row is `start`."""
    schema = vectors_schema(vectors.shape[1])
    for low in range(0, len(vectors), ROW_GROUP_ROWS):
        column = as_column(vectors[low : low + ROW_GROUP_ROWS], missing[low : low + ROW_GROUP_ROWS])
        row_ids = pa.array(np.arange(start + low, start + low + len(column)))
        yield in_chunks(pa.table([row_ids, column], schema=schema))


def in_chunks(table: pa.Table) -> pa.Table:
    """The same table in chunks of 1,024 rows, without a copy."""
    # Parquet's writer takes one chunk after the other, and twice the memory of the chunk's vectors for each.
    return pa.Table.from_batches(table.to_batches(max_chunksize=1_024), schema=table.schema)


def as_matrix(column: pa.Array | pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """A column of vectors as float16 (n, d), and bool (n,): where there is one (elsewhere are zeros)."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):  # of no chunk at all
        array = pa.array([], array.type)
    width = array.type.list_size
    values = array.values.slice(array.offset * width, len(array) * width)
    start = values.offset * 2
    buffer = values.buffers()[1]
    flat = (
        np.frombuffer(buffer, np.uint8)[start : start + 2 * len(values)] if buffer else np.zeros(0, np.uint8)
    )
    present = array.is_valid().to_numpy(zero_copy_only=False)
    matrix = flat.view(np.float16).reshape(len(array), width)
    if not present.all():
        matrix = np.where(present[:, None], matrix, np.float16(0))
    return matrix, present


@dataclass(frozen=True)
class VectorStage:
    """The finished vectors of one stage's texts."""

    store: Store
    stage: str  # folder of the vectors
    of: str  # the stage whose texts they are of
    dimension: int  # numbers in a vector

    @classmethod
    def open(cls, store: Store, of: str = CORPUS_STAGE, name: str | None = None) -> VectorStage:
        """The vectors of a stage."""
        stage = vectors_name(of, name)
        make = (
            "augment-cli embed"
            + (f" {of}" if of != CORPUS_STAGE else "")
            + (f" --name {name}" if name else "")
        )
        if stage not in store.stages():
            raise UsageError(f"{store.path}: has no vectors of {of!r} ({stage}); make them with `{make}`")
        record = store.stage(stage)
        made_by, parameters = record.settings["stage"], record.settings["parameters"]
        if made_by != VECTORS_STAGE or parameters["of"] != of:
            raise UsageError(
                f"{store.path / stage}: does not hold vectors of {of!r}; give one of them another --name"
            )
        if not store.has(stage):
            raise UsageError(f"{store.path / stage}: is unfinished; finish it with `{make}`")
        if record.settings["inputs"][of] != store.stage(of).digest:
            raise MixError(
                f"{store.path / stage}: holds vectors of an earlier {of!r}, which was made anew since; "
                f"`augment-cli remove {stage} --store {store.path}`, then `{make}`"
            )
        return cls(store, stage, of, width_of(store, stage))

    @property
    def digest(self) -> str:
        """Of the stage: what later stages record as their input."""
        return self.store.stage(self.stage).digest

    @property
    def encoder(self) -> dict[str, object]:
        """What decides where a vector points: the model's digest, pooling, longest input."""
        settings = self.store.stage(self.stage).settings
        if "combined" in settings["parameters"]:  # of the corpus alone: nothing else lies in that space
            return dict.fromkeys(("model", *_OF_THE_ENCODER), self.digest)
        return {"model": settings["resources"]["model"]} | {
            key: settings["parameters"][key] for key in _OF_THE_ENCODER
        }

    def check_comparable(self, other: VectorStage) -> None:
        """See that vectors of two stages may be compared with each other."""
        pair = f"{self.store.path}: {self.stage} and {other.stage} cannot be compared"
        again = f"embed {self.of!r} and {other.of!r} with one encoder (`augment-cli embed STAGE --model …`)"
        if self.dimension != other.dimension:
            raise MixError(f"{pair}: {self.dimension} and {other.dimension} numbers a vector; {again}")
        for key, value in self.encoder.items():
            if value != other.encoder[key]:
                raise MixError(f"{pair}: they differ in {key} ({value} and {other.encoder[key]}); {again}")

    def read(self, index: int, row_groups: list[int] | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Vectors of a part (or of some row groups), float16 (n, d), and bool (n,) where there are any."""
        column = self.store.read_part(self.stage, index, ["row_id", "vector"], row_groups)["vector"]
        path = self.store.part_path(self.stage, index)
        remedy = "so it is damaged or foreign; delete it, and embed again"
        if column.type != vectors_schema(self.dimension).field("vector").type:
            raise BadInputError(f"{path}: has not vectors of {self.dimension} numbers, {remedy}")
        vectors, present = as_matrix(column)
        if not np.isfinite(vectors).all():
            raise BadInputError(f"{path}: has vectors with numbers that are not finite, {remedy}")
        return vectors, present
