"""An augmentation over a store's parts, or over the texts of another stage: `negation --of antonym`.

What a chain's rows say follows from what both steps do. Two turns of one predicate restore it (`open`,
`closed`, `not closed`); a turn beside another that does not undo it is still one; where nobody can tell, the
row is labelled *neither*, and no trainer takes it. The edits are those of the original sentence: both steps
in one.
"""

import dataclasses
import functools
import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli import augmentations
from augment_cli.augmentations.labels import entailment_of_stage, row_labels
from augment_cli.contract.augmentation import LABEL_COLUMN, entailment_of
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows, TokenRows
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.languages import languages_of
from augment_cli.runs.again import option_of
from augment_cli.runs.memory import augment_texts
from augment_cli.runs.model_stage import ModelStage
from augment_cli.runs.run import (
    AugmentationRun,
    Edit,
    composed,
    of_two_turns,
    parts_to_look_at,
    placed,
    turns_of,
)
from augment_cli.runs.tables import add_statistics, as_table, edited, empty_statistics, schema_of, unprotected
from augment_cli.store.parquet import PARSES
from augment_cli.store.settings import Settings
from augment_cli.store.store import PendingPart, Store
from augment_cli.syntax.language import Language
from augment_cli.syntax.parses import STRING_COLUMNS, ParseRows, stage_name
from augment_cli.text.spans import EditList, apply_edits
from augment_cli.tfidf.term_table import stage_names


def check(store: Store, run: AugmentationRun) -> None:
    """Refuse a chain on what has no texts, or of an augmentation that runs a model."""
    of = run.of or ""
    if "model" in run.needs:
        raise UsageError(f"--of {of}: {run.name} runs a model, which reads the corpus alone; leave --of out")
    if not store.has(of) or "edits" not in store.read_rows(of, 0, []).schema.names:
        made = [
            name for name in store.stages() if store.stage(name).settings["stage"] in augmentations.names()
        ]
        raise UsageError(
            f"--of {of}: {store.path} has no finished augmentation of this name; make it first, or name one "
            f"of those that are there: {', '.join(made) or 'none'}"
        )


def chained(store: Store, index: int, run: AugmentationRun) -> Iterator[pa.Table]:
    """The rows of a part, one row group after another."""
    alone, of = dataclasses.replace(run, of=None), run.of or ""
    turns, second = (
        turns_of(store, of, run.augmentation),
        entailment_of(run.augmentation, dataclasses.asdict(run.parameters)),
    )
    labels = _labels_of(store, of, index)
    groups = store.iterate_part(of, index, ["text", "edits"])
    first_row = 0
    for corpus, made in zip(store.iterate_part("corpus", index, ["row_id", "text"]), groups, strict=True):
        count = len(corpus)
        texts = made["text"].combine_chunks()
        is_there = texts.is_valid().to_numpy(zero_copy_only=False)
        middle = pc.fill_null(texts, "")
        row_ids = corpus["row_id"].to_numpy()
        result = augment_texts(middle, store, alone, row_ids)
        is_made = result["text"].is_valid().to_numpy(zero_copy_only=False) & is_there
        own = result["label"].to_pylist() if "label" in result.schema.names else [None] * count
        edits, said_of = EditList(), np.full(count, None, object)
        before, after = made["edits"].to_pylist(), result["edits"].to_pylist()
        originals, between = corpus["text"].to_pylist(), middle.to_pylist()
        for row in np.flatnonzero(is_made).tolist():
            steps = _as_edits(before[row]), _as_edits(after[row])
            for start, end, text in joined(between[row], *steps):
                edits.replace(np.array([row]), np.array([start]), np.array([end]), [text], np.zeros(1, int))
            label = composed(labels[first_row + row], own[row] or second.label)
            if label == "both":
                label = of_two_turns(originals[row], between[row], *steps, turns)
            said_of[row] = label
        first_row += count
        reasons = np.where(is_there, result["reason"].to_numpy(zero_copy_only=False), Reason.NOT_MADE)
        columns = {field.name: result[field.name].combine_chunks() for field in run.augmentation.columns} | {
            LABEL_COLUMN.name: pa.array(said_of, pa.string())
        }
        rows = Rows(
            row_ids, corpus["text"].combine_chunks(), run.code_points(corpus["text"].combine_chunks())
        )
        outcome = Outcome(edits.edits(), reasons, columns)
        table = edited(rows, outcome, apply_edits(rows.code_points, outcome.edits))
        yield table.cast(schema_of(run.augmentation, is_chain=True))


def joined(between: str, first: Sequence[Edit], second: Sequence[Edit]) -> list[Edit]:
    """Two steps of edits as one: the second's places are in the text that the first gave, `between`."""
    places, found = placed(first), list[Edit]()
    one = two = shift = 0  # how far places behind an edit of the first have moved
    while one < len(first) or two < len(second):
        # The next stretch of that text that any edit touches, and all that overlap or touch it.
        begins = [places[one][0]] if one < len(first) else []
        begins += [second[two][0]] if two < len(second) else []
        low = high = min(begins)
        ones, twos = one, two
        while True:
            if one < len(first) and places[one][0] <= high:
                high, one = max(high, places[one][1]), one + 1
            elif two < len(second) and second[two][0] <= high:
                high, two = max(high, second[two][1]), two + 1
            else:
                break
        start = low - shift
        shift += sum(len(text) - (end - begin) for begin, end, text in first[ones:one])
        found.append((start, high - shift, _applied(between, low, high, second[twos:two])))
    return found


def _applied(text: str, low: int, high: int, edits: Sequence[Edit]) -> str:
    pieces, place = [], low
    for start, end, new in edits:
        pieces += [text[place:start], new]
        place = end
    return "".join([*pieces, text[place:high]])


def _as_edits(column: list[dict[str, Any]]) -> list[Edit]:
    return [(edit["start"], edit["end"], edit["replacement"]) for edit in column]


def _labels_of(store: Store, of: str, index: int) -> list[str]:
    labels = row_labels(store, of, index)
    if labels is not None:
        return labels.to_pylist()
    entailment = entailment_of_stage(store.stage(of).settings)
    return [entailment.label if entailment else "neither"] * store.parts[index][1]


def augment_store(
    store: Store,
    run: AugmentationRun,
    stage: str | None = None,
    engine: Engine | None = None,
    progress: Callable[[int], None] = lambda rows: None,
    parts: Collection[int] | None = None,
) -> str:
    """Make an augmentation stage of a store; finished parts are kept."""
    folder, run = run.folder(stage), run.resolved(store, stage)
    settings = run.settings(store)
    missing = store.begin(folder, settings, option=functools.partial(option_of, store))
    if "model" in run.needs:
        pinned = dataclasses.replace(run, parameters=run.augmentation.pin(run.parameters))
        chosen = [index for index in missing if parts is None or index in parts]
        ModelStage(store, pinned, folder, settings, engine or Engine(), progress).make(chosen)
        store.clean_work(folder)
        return folder

    def commit(pending: PendingPart) -> None:
        store.commit(pending)
        progress(pending.part.rows)

    arguments = {"store_path": store.path, "stage": folder, "run": run, "settings": settings}
    tasks = [arguments | {"index": index} for index in missing if parts is None or index in parts]
    (engine or Engine()).run("augment_cli.runs.stored:augment_part", tasks, commit)
    store.clean_work(folder)
    return folder


def augment_part(
    store_path: Path, stage: str, index: int, run: AugmentationRun, settings: Settings
) -> PendingPart:
    """Augment one part of a store (in a worker) and leave the result to be committed."""
    store = Store.open(store_path)
    prepared = run.augmentation.prepare(run.parameters, run.resources(store))
    statistics = empty_statistics()

    def tables() -> Iterator[pa.Table]:
        made = (as_table(run.augmentation, rows, prepared(rows)) for rows in rows_of_part(store, index, run))
        for table in chained(store, index, run) if run.of else made:
            add_statistics(statistics, table)
            yield table

    schema = schema_of(run.augmentation, bool(run.of))
    return store.write_part(stage, index, schema, tables(), settings, statistics)


def share_changed(store: Store, run: AugmentationRun) -> float:
    """The share that a run changes of the first rows of some parts, from all over the corpus."""
    run = run.resolved(store)
    prepared = run.augmentation.prepare(run.parameters, run.resources(store))
    rows = changed = 0
    for part in parts_to_look_at(store):
        some = next(rows_of_part(store, part, run), None)
        if some is not None:
            texts = as_table(run.augmentation, some, prepared(some))["text"]
            rows, changed = rows + len(texts), changed + len(texts) - texts.null_count
    return changed / rows if rows else 1.0


def rows_of_part(store: Store, index: int, run: AugmentationRun) -> Iterator[Rows]:
    """The rows of a part, one row group after another, with what the augmentation needs of them."""
    corpus = store.iterate_part("corpus", index, ["row_id", "text"])
    needs = run.needs
    nothing: Iterator[None] = itertools.repeat(None)
    matrix: Iterator[pa.Table | None] = nothing
    parses: Iterator[pa.Table | None] = nothing
    if "tfidf" in needs:
        columns = ["term_ids", "starts", "ends", "weights"]
        matrix = store.iterate_part(stage_names(run.fit)[0], index, columns)
    languages: tuple[Language, ...] = ()
    if "parses" in needs:
        languages = languages_of(run.pipeline(store) or "")
        parses = store.iterate_part(stage_name(run.parses), index, PARSES.names[1:], STRING_COLUMNS)
    for table in corpus:
        texts, weighed, parsed = table["text"].combine_chunks(), next(matrix), next(parses)
        code_points = run.code_points(texts)
        tokens = None if weighed is None else unprotected(_token_rows(weighed), code_points)
        parse = None if parsed is None else ParseRows.from_table(parsed, code_points, languages)
        yield Rows(table["row_id"].to_numpy(), texts, code_points, tokens, parse)


def _token_rows(table: pa.Table) -> TokenRows:
    lists = {name: table[name].combine_chunks() for name in table.column_names}
    offsets = lists["term_ids"].offsets.to_numpy().astype(np.int64)
    flat = {name: column.flatten().to_numpy() for name, column in lists.items()}
    return TokenRows(offsets - offsets[0], flat["term_ids"], flat["starts"], flat["ends"], flat["weights"])
