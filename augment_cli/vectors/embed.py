"""`embed`: sentence vectors of a stage's texts, one independent task for each piece of 1,024 texts.

Over the whole stage each distinct text is encoded once, where it first stands; a part's texts are sorted by
length and cut into pieces, so that what goes through the model together is of one length. What is in a piece
depends on the stage's texts alone: parts come out the same whatever was interrupted. This process joins
pieces, and vectors of equal texts before, to parts.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.neural.loading import ModelFolder
from augment_cli.neural.runtime import hand_back_memory, sparing_memory
from augment_cli.store.journal import Journal, MissingPieceError, make_parts, one_by_one
from augment_cli.store.parquet import describe
from augment_cli.store.schema import ROW_GROUP_ROWS
from augment_cli.store.settings import Settings
from augment_cli.store.store import PendingPart, Store
from augment_cli.vectors.embed_parameters import EmbedParameters, is_static_model, wanted
from augment_cli.vectors.stages import (
    as_column,
    as_matrix,
    from_bytes,
    in_chunks,
    vectors_name,
    vectors_schema,
)
from augment_cli.vectors.texts import check_text_stage, equal_rows

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
    # A GPU is one; a static encoder's tokeniser, which is most of the work, has a thread for each core.
    is_static = is_static_model(work.model)
    if work.parameters.device == "cuda" or is_static:
        engine = dataclasses.replace(engine, jobs=1, needs_gpu=not is_static)
    journal = Journal(store.work, work.stage, work.settings)
    common = {
        "store_path": store.path,
        "stage": work.stage,
        "of": work.of,
        "model": work.model,
        "parameters": work.parameters,
        "settings": work.settings,
    }

    def run(*arguments: Any, **options: Any) -> None:
        with sparing_memory() if is_static else contextlib.nullcontext():
            engine.run(*arguments, **options)

    def count(rows: int) -> None:
        progress(rows)
        if is_static:
            hand_back_memory()

    task = "augment_cli.vectors.embed_pieces:encode_piece"
    make_parts(
        journal,
        work.pieces,
        one_by_one(
            run,
            task,
            lambda index, piece: common | {"positions": work.pieces[index][piece]},
            count,
            order=_spread,
        ),
        lambda index: store.commit(_join_part(store, work, journal, index)),
        in_order=True,  # equal texts are copied from parts before
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
        table = journal.read(index, piece, len(positions))
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


def _dimension(store: Store, work: Work, journal: Journal) -> int:
    """Numbers in a vector, from finished parts, else from finished pieces."""
    for index in store.stage(work.stage).parts:
        _, schema = describe(store.part_path(work.stage, index))
        return int(schema.field("vector").type.list_size)
    for index in work.pieces:
        for piece in journal.finished(index):
            return from_bytes(journal.read(index, piece)["vector"]).shape[1]
    raise MissingPieceError("nothing but nulls up to here: the first piece of a later part will tell")
