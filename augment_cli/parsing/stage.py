"""The stage `parses`: one independent call for each piece of 1,024 rows, journalled, then joined to parts.

Parsing costs a hundred times as much as anything else that is done to a sentence before a model runs, so the
pieces are small: progress shows every few seconds, a corpus of one part uses all cores, and a killed run
loses the pieces that were in work, no more. When the last piece of a part is in the journal, the parent joins
them (some ten microseconds a row) and commits the part.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.engine.engine import Engine
from augment_cli.errors import MissingError, UsageError
from augment_cli.parsing.pipelines import PipelineSource, find_again, find_pipeline, load_pipeline
from augment_cli.store.journal import Journal, make_parts, one_by_one, piece_sizes
from augment_cli.store.parquet import PARSES, ROW_GROUP_ROWS
from augment_cli.store.settings import Settings
from augment_cli.store.store import PendingPart, Store
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.parses import PARSES_STAGE, ParseRows
from augment_cli.syntax.tree import Role, any_of
from augment_cli.text.spans import CodePoints, offsets_from_lengths
from augment_cli.text.untouched import original_places, spaces_within, without

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.strings import StringStore
    from spacy.tokens import Doc

# Texts that go through the pipeline together: the more, the fewer distinct words for each text, and the fewer
# steps of the parser. Long texts make smaller batches, so that memory is bounded. The answers do not depend
# on it.
BATCH_TEXTS = 1_024
BATCH_CHARACTERS = 256_000

_ATTRIBUTES = ["IDX", "LENGTH", "SPACY", "LEMMA", "POS", "TAG", "MORPH", "DEP", "HEAD", "SENT_START"]
_EMPTY_MORPHOLOGY = "_"
_NOWHERE = np.zeros(0, np.int64)
VERSION = 1
PIECE_ROWS = 1_024
_FEW_PIECES = 4  # loading spaCy in workers takes longer than these
_JOINED = {"contractions": "joined"}
assert ROW_GROUP_ROWS % PIECE_ROWS == 0
_SUBJECTS = (Role.SUBJECT, Role.CLAUSAL_SUBJECT, Role.EXPLETIVE)


def parse_texts(
    nlp: Language, texts: pa.StringArray, row_ids: np.ndarray | None = None, joins: bool = True
) -> pa.Table:
    """The table of texts without nulls; `row_ids` count from 0 by default."""
    # joins: English contractions written apart (`do n't`) are read as one
    from augment_cli.parsing.docs import docs_of  # spaCy is loaded where there is a pipeline

    blocks: list[np.ndarray] = [np.zeros((0, len(_ATTRIBUTES)), np.uint64)]
    # What new words leave in the vocabulary is given back at the end: memory is bounded by the texts.
    with _one_thread(), nlp.memory_zone():
        for batch in _batches(texts.to_pylist()):
            joined = joins and nlp.lang == "en"
            split = [spaces_within(text) if joined else _NOWHERE for text in batch]
            read = [without(text, at) if len(at) else text for text, at in zip(batch, split, strict=True)]
            for text, at, doc in zip(read, split, docs_of(nlp, read), strict=True):
                if doc.text != text:
                    raise UsageError(_altered(nlp, text, doc))
                block = doc.to_array([*_ATTRIBUTES]).reshape(len(doc), len(_ATTRIBUTES))
                blocks.append(_apart(block, at) if len(at) else block)
        lengths = np.array([len(block) for block in blocks[1:]], np.int64)
        columns = _columns(np.concatenate(blocks), lengths, nlp.vocab.strings)
    offsets = pa.array(offsets_from_lengths(lengths), pa.int32())
    row_ids = np.arange(len(texts)) if row_ids is None else row_ids
    lists = [pa.ListArray.from_arrays(offsets, columns[name]) for name in PARSES.names[1:]]
    return pa.table([pa.array(row_ids, pa.int64()), *lists], names=PARSES.names).cast(PARSES)


def _apart(block: np.ndarray, places: np.ndarray) -> np.ndarray:
    """A text's attributes with its contractions apart again: `n't` behind a space."""
    starts = block[:, 0].astype(np.int64)
    first, last = original_places(starts, starts + block[:, 1].astype(np.int64), places)
    block[:, 0], block[:, 1] = first, last - first
    block[:-1, 2] = first[1:] > last[:-1]
    return block


def _columns(flat: np.ndarray, lengths: np.ndarray, strings: StringStore) -> dict[str, pa.Array]:
    """The leaves of each list column from spaCy's attributes, uint64 (N, 10)."""
    value = {name: flat[:, position] for position, name in enumerate(_ATTRIBUTES)}
    first = np.cumsum(lengths) - lengths
    position = np.arange(len(flat)) - np.repeat(first, lengths)
    starts = value["IDX"].astype(np.int32)
    return {
        "starts": pa.array(starts),
        "ends": pa.array(starts + value["LENGTH"].astype(np.int32)),
        "whitespace": pa.array(value["SPACY"].astype(bool)),
        "lemmas": _strings(value["LEMMA"], strings),
        "pos": _strings(value["POS"], strings),
        "tags": _strings(value["TAG"], strings),
        "morphs": _strings(value["MORPH"], strings, absent=_EMPTY_MORPHOLOGY),
        "deps": _strings(value["DEP"], strings),
        # spaCy counts from the token, modulo 2^64.
        "heads": pa.array((position + value["HEAD"].astype(np.int64)).astype(np.int32)),
        "sentence_starts": pa.array((value["SENT_START"].astype(np.int64) == 1) | (position == 0)),
    }


def _strings(hashes: np.ndarray, strings: StringStore, absent: str = "") -> pa.StringArray:
    """Strings of spaCy's hashes, each looked up once; `absent`, which stands for nothing, becomes empty."""
    distinct, codes = np.unique(hashes, return_inverse=True)
    values = ["" if (value := strings[int(one)]) == absent else value for one in distinct]
    dictionary = pa.array(values, pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), dictionary).cast(pa.string())


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    characters = 0
    for text in texts:
        if batch and (len(batch) == BATCH_TEXTS or characters + len(text) > BATCH_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
    if batch:
        yield batch


def _altered(nlp: Language, text: str, doc: Doc) -> str:
    place = next((i for i, (a, b) in enumerate(zip(text, doc.text, strict=False)) if a != b), len(doc.text))
    return (
        f"pipeline {nlp.lang}_{nlp.meta['name']}: its tokens do not give the text again (from "
        f"{text[place : place + 20]!r} on), so no edit could be placed; choose another with --pipeline"
    )


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Keep matrix products, and torch where a pipeline runs on it, to the one thread that each worker has."""
    from threadpoolctl import threadpool_limits

    torch = sys.modules.get("torch")
    with threadpool_limits(1, user_api="blas"), contextlib.ExitStack() as afterwards:
        if torch is not None:
            afterwards.callback(torch.set_num_threads, torch.get_num_threads())
            torch.set_num_threads(1)
        yield


@dataclass(frozen=True)
class Work:
    """What is to be done for a stage of parses."""

    stage: str
    source: PipelineSource
    settings: Settings
    pieces: dict[int, list[int]]  # for each part that is not finished, the rows of each of its pieces
    rows: int  # how many rows the pieces have that are not in the journal


def parse_settings(store: Store, source: PipelineSource, stage: str = PARSES_STAGE) -> Settings:
    """What a stage of parses depends on."""
    begun = store.stage(stage).settings["parameters"] if stage in store.stages() else _JOINED
    return Settings(
        PARSES_STAGE,
        VERSION,
        parameters=as_begun(source, begun),
        inputs={"corpus": store.stage("corpus").digest},
        resources={"pipeline": source.digest},
        libraries=source.library_versions(),
        by_part=True,
    )


def as_begun(source: PipelineSource, begun: Mapping[str, Any]) -> dict[str, Any]:
    """What the settings say of a pipeline, as those of a stage that was begun do."""
    # A stage of an earlier version goes on reading `do n't` as it stands.
    joins = source.name.startswith("en_") and _JOINED.items() <= begun.items()
    return source.parameters() | (_JOINED if joins else {})


def chosen_pipeline(store: Store, stage: str, named: str | Path | None = None) -> PipelineSource:
    """The pipeline that is named, else the one the stage was made with, else the shipped one."""
    if named is None and stage in store.stages():
        return find_again(store.stage(stage).settings)
    return find_pipeline(named)


# `--name` of another command than `parse` names that command's own result.
_BESIDE = "parse beside it and read that with --parses NAME (`augment-cli parse` calls it --name NAME)"


def begin(store: Store, source: PipelineSource, stage: str, parts: Collection[int] | None = None) -> Work:
    """Announce the stage and find out what is left to do."""
    settings = parse_settings(store, source, stage)
    pieces = {
        index: piece_sizes(store.parts[index][1], PIECE_ROWS)
        for index in store.begin(stage, settings, beside=_BESIDE)
        if parts is None or index in parts
    }
    rows = Journal(store.work, stage, settings).rows_to_make(pieces)
    return Work(stage, source, settings, pieces, rows)


def finish(store: Store, work: Work, engine: Engine, progress: Callable[[int], None]) -> None:
    """Parse the pieces that are missing, and commit each part as it becomes complete."""
    # `progress` is called with the number of rows done since the last call.
    journal = Journal(store.work, work.stage, work.settings)
    pieces = sum(len(journal.missing(index, len(all_of))) for index, all_of in work.pieces.items())
    if engine.jobs_by_default and pieces <= _FEW_PIECES:
        engine = Engine()
    common = {"store_path": store.path, "stage": work.stage, "source": work.source, "settings": work.settings}
    task = "augment_cli.parsing.stage:parse_piece"
    make = one_by_one(engine.run, task, lambda index, piece: common, progress)
    make_parts(
        journal, work.pieces, make, lambda index: store.commit(_join_part(store, work, journal, index))
    )
    store.clean_work(work.stage)


def parse_piece(
    store_path: Path, stage: str, index: int, piece: int, source: PipelineSource, settings: Settings
) -> tuple[int, int]:
    """Parse one piece of a part (in a worker) into the journal; returns the part and the piece's rows."""
    store = Store.open(store_path)
    group, first = divmod(piece * PIECE_ROWS, ROW_GROUP_ROWS)
    corpus = store.read_part("corpus", index, ["row_id", "text"], [group])
    table = corpus.slice(first, PIECE_ROWS)
    nlp = load_pipeline(source, warm_up=corpus["text"].to_pylist)
    joins = "contractions" in settings.parameters
    parsed = parse_texts(nlp, table["text"].combine_chunks(), table["row_id"].to_numpy(), joins)
    Journal(store.work, stage, settings).write(index, piece, parsed)
    return index, table.num_rows


def _join_part(store: Store, work: Work, journal: Journal, index: int) -> PendingPart:
    """Write a part from its pieces; bounded by a row group."""
    pieces = journal.read_part(index, work.pieces[index])
    statistics = {"tokens": 0, "sentences": 0}

    def groups() -> Iterator[pa.Table]:
        while group := list(islice(pieces, ROW_GROUP_ROWS // PIECE_ROWS)):
            table = pa.concat_tables(group).combine_chunks()
            statistics["tokens"] += pc.sum(pc.list_value_length(table["starts"])).as_py() or 0
            statistics["sentences"] += pc.sum(pc.list_flatten(table["sentence_starts"])).as_py() or 0
            yield table

    return store.write_part(work.stage, index, PARSES, groups(), work.settings, statistics)


def count_clauses(store: Store, texts: Sequence[str]) -> np.ndarray | None:
    """Clauses with a subject of each text, int64 (n,)."""
    # None where the store has no parses, or their pipeline is not on this machine.
    if not store.has(PARSES_STAGE):
        return None
    try:
        nlp = load_pipeline(find_again(store.stage(PARSES_STAGE).settings))
    except MissingError:
        return None
    strings = pa.array(texts, pa.string())
    view = ClauseView.of(ParseRows.from_table(parse_texts(nlp, strings), CodePoints.of(strings)))
    heads = np.unique(view.parents[any_of(view.roles, _SUBJECTS)])
    return np.bincount(view.rows[heads], minlength=len(texts))
