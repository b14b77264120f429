"""Stages of sentence vectors: their names and columns, the encoder that they depend on, how they are read."""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from augment_cli.contract.vector_parameters import EmbedParameters
from augment_cli.errors import BadInputError, MixError, UsageError
from augment_cli.models.digest import JsonFiles, model_digest
from augment_cli.neural.loading import ModelFolder, find_folder
from augment_cli.neural.runtime import pin_runtime, runtime_settings
from augment_cli.store.files import sha256_of_file
from augment_cli.store.parquet import ROW_GROUP_ROWS, describe
from augment_cli.store.settings import Settings, library_versions
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
    def open(cls, store: Store, of: str = CORPUS_STAGE, name: str | None = None) -> "VectorStage":
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

    def check_comparable(self, other: "VectorStage") -> None:
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


VERSION = 2
WORD_VECTORS = (".vec", ".txt")
# Measured on one core: larger batches fall out of its cache. The GPU's are as large as it takes to fill one.
_BATCH_TOKENS = {"cpu": 2_048, "cuda": 32_768}


def find_encoder(name: str, allow_download: bool = False) -> ModelFolder:
    """Where an encoder lies, a model's folder or a file of word vectors, and what identifies it."""
    path = Path(name).expanduser()
    if path.suffix in WORD_VECTORS and path.is_file():
        return ModelFolder(path, sha256_of_file(path))
    files = JsonFiles()
    folder, revision = find_folder(name, allow_download, "--model", files)
    return ModelFolder(folder, model_digest(folder, files), revision)


def is_static_model(model: ModelFolder) -> bool:
    """Whether a model is a table of word vectors or a static encoder, without layers."""
    from augment_cli.encoding.layout import is_static

    return model.path.is_file() or is_static(model.path)


def embed_settings(store: Store, of: str, model: ModelFolder, parameters: EmbedParameters) -> Settings:
    """What a stage of vectors depends on; `parameters` pinned."""
    libraries = ["numpy"] if model.path.is_file() else ["numpy", "torch", "transformers", "tokenizers"]
    return Settings(
        VECTORS_STAGE,
        VERSION,
        parameters={
            "of": of,
            "pooling": parameters.pooling or None,
            "max_length": parameters.max_length or None,
            "normalize": parameters.normalize,
            **({"prompt_name": parameters.prompt_name} if parameters.prompt_name else {}),
            **runtime_settings(parameters),
        },
        inputs={of: store.stage(of).digest},
        resources=model.resources,
        libraries=library_versions(libraries),
        by_part=True,  # a vector is copied from an equal text before it, never from one after it
    )


def pinned(store: Store, stage: str, model: ModelFolder, parameters: EmbedParameters) -> EmbedParameters:
    """The parameters with `auto` made explicit: as an existing stage has them, else for this machine."""
    if model.path.is_file():  # word vectors: there is nothing to choose
        return dataclasses.replace(parameters, precision="fp32", device="cpu", batch_tokens=0, threads=1)
    stored = store.stage(stage).settings["parameters"] if stage in store.stages() else {}
    if "precision" in stored:  # `combine` has none; the store refuses to mix the two
        parameters = dataclasses.replace(
            parameters,
            precision=stored["precision"] if parameters.precision == "auto" else parameters.precision,
            device=stored["device"] if parameters.device == "auto" else parameters.device,
            batch_tokens=parameters.batch_tokens or stored["batch_tokens"],
        )
    if parameters.device == "cpu" and parameters.precision != "auto" and parameters.batch_tokens:
        return parameters  # nothing left that PyTorch would have to be asked about
    found = pin_runtime(parameters)
    return dataclasses.replace(found, batch_tokens=parameters.batch_tokens or _BATCH_TOKENS[found.device])


def as_stored(store: Store, stages: Sequence[str], parameters: EmbedParameters | None) -> EmbedParameters:
    """Parameters as the first of some stages that is there has them: one encoder, used in one way."""
    parameters = parameters or EmbedParameters()
    for stage in stages:
        if stage not in store.stages():
            continue
        settings = store.stage(stage).settings
        if settings["resources"].get("model") != find_encoder(parameters.model).digest:
            raise MixError(
                f"{store.path / stage}: made by another encoder than {parameters.model}, and only vectors of "
                "one can be compared; make those that are missing with the same encoder (`augment-cli embed "
                "STAGE --model FOLDER`) and run this again, or read others with --vectors NAME"
            )
        made_with = settings["parameters"]
        return dataclasses.replace(
            parameters,
            pooling=made_with["pooling"] or "",
            max_length=made_with["max_length"] or 0,
            normalize=made_with["normalize"],
            prompt_name=made_with.get("prompt_name", ""),
        )
    return parameters


def wanted(
    store: Store, of: str, parameters: EmbedParameters, name: str | None = None
) -> tuple[ModelFolder, EmbedParameters, Settings]:
    """The encoder, the parameters pinned, and the settings of the vectors of a stage."""
    model = find_encoder(parameters.model, parameters.allow_download)
    if ":" in parameters.pooling:
        _check_weights(model.path, parameters.pooling)
    if parameters.prompt_name:
        from augment_cli.encoding.layout import Prompts, read_prompts

        prompts = read_prompts(model.path) if model.path.is_dir() else Prompts()
        prompts.text(parameters.prompt_name, model.path)  # refuses a name that it does not know
    parameters = pinned(store, vectors_name(of, name), model, parameters)
    return model, parameters, embed_settings(store, of, model, parameters)


def _check_weights(model: Path, pooling: str) -> None:
    """See that an encoder stores token weights; `embed` counts no corpus for them."""
    from augment_cli.encoding.layout import is_static, read_layout
    from augment_cli.encoding.pooling import NEGATIONS, weights_in

    if weights_in(pooling) == NEGATIONS:  # the same whatever the corpus
        return
    files = JsonFiles()
    if not model.is_dir() or is_static(model, files) or not read_layout(model, files).word_weights:
        raise UsageError(
            f"--pooling {pooling}: {model.name} stores no token weights, and embed counts none; train one "
            f'with pooling = "{pooling}" and give its folder with --model, or take a pooling without weights'
        )
