"""`embed`: sentence vectors of a stage's texts, one independent task for each piece of 1,024 texts.

Over the whole stage each distinct text is encoded once, where it first stands; a part's texts are sorted by
length and cut into pieces, so that what goes through the model together is of one length. What is in a piece
depends on the stage's texts alone: parts come out the same whatever was interrupted. This process joins
pieces, and vectors of equal texts before, to parts.
"""

import contextlib
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from augment_cli.encoding.transforms import unit
from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, UsageError
from augment_cli.neural.loading import ModelFolder
from augment_cli.neural.runtime import hand_back_memory, inference, keep_freed_memory, sparing_memory
from augment_cli.store.journal import Journal, MissingPieceError, make_parts, one_by_one
from augment_cli.store.settings import Settings
from augment_cli.store.store import PendingPart, Store
from augment_cli.vectors.stages import (
    EmbedParameters,
    as_bytes,
    as_matrix,
    from_bytes,
    is_static_model,
    row_groups,
    vectors_name,
    vectors_schema,
    wanted,
    width_of,
)
from augment_cli.vectors.texts import check_text_stage, equal_rows, rows_by_part

if TYPE_CHECKING:
    from augment_cli.encoding.encoder import Encoder
    from augment_cli.encoding.static import StaticEncoder

PIECE_ROWS = 1_024
STATIC_PIECE_ROWS = 16_384  # looking up costs so little that files and journal would be the rest


@dataclass(frozen=True)
class Work:
    """What is to be done for a stage of vectors."""

    of: str  # the stage whose texts are embedded, and the folder of the vectors
    stage: str
    model: ModelFolder
    parameters: EmbedParameters  # pinned to what they mean on this machine
    settings: Settings
    first: np.ndarray  # for each row the first one with the same text; −1 where there is nothing to embed
    # for each part that is not finished, the positions of its pieces' rows in it
    pieces: dict[int, list[np.ndarray]]
    rows: int  # how many rows the pieces hold that are not in the journal


def begin(store: Store, of: str, parameters: EmbedParameters, name: str | None = None) -> Work:
    """Announce the stage and find out what is left to do."""
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
    size_of_piece = STATIC_PIECE_ROWS if is_static_model(model) else PIECE_ROWS
    pieces: dict[int, list[np.ndarray]] = {}
    for index in unfinished:
        start, size = store.parts[index]
        own = np.flatnonzero(first[start : start + size] == np.arange(start, start + size))
        # Longest first: what memory does not hold fails at once.
        own = own[np.argsort(-lengths[start + own], kind="stable")]
        pieces[index] = [own[low : low + size_of_piece] for low in range(0, len(own), size_of_piece)]
    sizes = {index: list(map(len, own)) for index, own in pieces.items()}
    rows = Journal(store.work, stage, settings).rows_to_make(sizes)
    return Work(of, stage, model, parameters, settings, first, pieces, rows)


def finish(store: Store, work: Work, engine: Engine, progress: Callable[[int], None]) -> None:
    """Encode the pieces that are missing, and commit each part as it becomes complete."""
    # `progress` is called with the number of distinct texts done since the last call.
    # One worker feeds a GPU; a static encoder's tokeniser, most of the work, has a thread for each core.
    is_static = is_static_model(work.model)
    if work.parameters.device == "cuda" or is_static:
        engine = dataclasses.replace(engine, jobs=1, needs_gpu=not is_static)
    journal = Journal(store.work, work.stage, work.settings)
    bare = dataclasses.replace(work, pieces={}, first=work.first[:0])
    common = {"store_path": store.path, "stage": work.stage, "work": bare}

    def run(*arguments: Any, **options: Any) -> None:
        with sparing_memory() if is_static else contextlib.nullcontext():
            engine.run(*arguments, **options)

    def count(rows: int) -> None:
        progress(rows)
        if is_static:
            hand_back_memory()

    make = one_by_one(
        run,
        "augment_cli.vectors.embed:encode_piece",
        lambda index, piece: common | {"positions": work.pieces[index][piece]},
        count,
        order=_spread,
    )
    # In order, as equal texts are copied from parts before.
    make_parts(
        journal,
        work.pieces,
        make,
        lambda index: store.commit(_join_part(store, work, journal, index)),
        in_order=True,
    )
    store.clean_work(work.stage)


def _spread(pieces: list[int]) -> list[int]:
    """The pieces of a part, long and short ones mixed, so that the rate at any time is that of the whole."""
    golden = (5**0.5 - 1) / 2
    return sorted(pieces, key=lambda piece: (piece * golden) % 1)


def _join_part(store: Store, work: Work, journal: Journal, index: int) -> PendingPart:
    """Write a part from its pieces and from equal texts before it."""
    pieces = work.pieces[index]
    start, size = store.parts[index]
    first = work.first[start : start + size]
    dimension = _dimension(store, work, journal)
    vectors = np.zeros((size, dimension), np.float16)
    for piece, positions in enumerate(pieces):
        vectors[positions] = from_bytes(journal.read(index, piece, len(positions))["vector"])
    hand_back_memory()  # of the pieces, before as much is taken for writing
    copies = np.flatnonzero((first >= 0) & (first != np.arange(start, start + size)))
    for source, some, places in rows_by_part(store, first[copies]):
        known = vectors
        if source != index:
            known, _ = as_matrix(store.read_part(work.stage, source, ["vector"])["vector"])
        vectors[copies[some]] = known[places]
    statistics = {"vectors": int((first >= 0).sum()), "encoded": sum(len(rows) for rows in pieces)}
    groups, schema = row_groups(vectors, first < 0, start), vectors_schema(dimension)
    return store.write_part(work.stage, index, schema, groups, work.settings, statistics)


def _dimension(store: Store, work: Work, journal: Journal) -> int:
    """Numbers in a vector, from finished parts, else from finished pieces."""
    if store.stage(work.stage).parts:
        return width_of(store, work.stage)
    for index in work.pieces:
        for piece in journal.finished(index):
            return from_bytes(journal.read(index, piece)["vector"]).shape[1]
    raise MissingPieceError("nothing but nulls up to here: the first piece of a later part will tell")


# --- in a worker


def encode_piece(
    store_path: Path, stage: str, index: int, piece: int, positions: np.ndarray, work: Work
) -> tuple[int, int]:
    """Encode one piece of a part (in a worker) into the journal; returns the part and the piece's texts."""
    store, of, model, parameters = Store.open(store_path), work.of, work.model, work.parameters
    texts = _texts_of(store.path, of, store.stage(of).digest, index).take(pa.array(positions)).to_pylist()
    halves = _encode_in_halves(texts, load(model, parameters), parameters)
    if not np.isfinite(halves).all():
        raise BadInputError(
            f"{model.path}: gives vectors with numbers that are not finite in half precision; check the "
            "model, or add --normalize where its numbers are merely large"
        )
    if is_static_model(model):  # whose memory is mostly what one step after the other has freed
        hand_back_memory()
    Journal(store.work, stage, work.settings).write(index, piece, pa.table({"vector": as_bytes(halves)}))
    return index, len(texts)


def _encode_in_halves(
    texts: list[str], encoder: "Encoder | StaticEncoder", parameters: EmbedParameters
) -> np.ndarray:
    """Vectors of texts as they are stored, float16 (n, d); what is too large for that is infinite."""
    # A static encoder's are made so by as many as it looks up at once: in single precision all of a piece
    # would need more memory than anything else.
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
def load(model: ModelFolder, parameters: EmbedParameters) -> "Encoder | StaticEncoder":
    """The encoder that the parameters ask for; the last one is kept, as a worker encodes many pieces."""
    if model.path.is_file():
        from augment_cli.encoding.static import load_static

        return load_static(model.path)
    if not is_static_model(model):  # looking up allocates little, and memory that is handed back is the less
        keep_freed_memory()
    from augment_cli.encoding.loading import load_encoder

    return load_encoder(
        model.path,
        pooling=parameters.pooling or None,
        max_length=parameters.max_length or None,
        precision="bf16" if parameters.precision == "bf16" else "fp32",
        device=parameters.device,
        prompt_name=parameters.prompt_name,
    )


def encode(texts: list[str], encoder: "Encoder | StaticEncoder", parameters: EmbedParameters) -> np.ndarray:
    """Vectors of texts, float32 (n, d), as `parameters` (pinned) want them."""
    from augment_cli.encoding.static import StaticEncoder

    if isinstance(encoder, StaticEncoder):
        vectors = encoder.encode(texts)
    else:
        with inference(parameters.threads):
            vectors = encoder.encode(texts, batch_tokens=parameters.batch_tokens)
    return unit(vectors)[0] if parameters.normalize else vectors
