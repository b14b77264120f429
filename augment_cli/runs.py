"""Run an augmentation: over a store's parts, or over a list of sentences in memory."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli import augmentations
from augment_cli.augmentations.base import (
    SAME_TEXT,
    Augmentation,
    Batch,
    Outcome,
    Resources,
    TokenRows,
    check_parameters,
)
from augment_cli.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.parsing.pipelines import load_pipeline
from augment_cli.parsing.stage import chosen_pipeline
from augment_cli.parsing.tables import parse_texts
from augment_cli.schema import AUGMENTATION, PARSES
from augment_cli.settings import Settings, library_versions
from augment_cli.spans import CodePoints, Edits, apply_edits
from augment_cli.store import PendingPart, Store
from augment_cli.syntax.parses import STRING_COLUMNS, ParseRows, stage_name
from augment_cli.term_table import TermTable
from augment_cli.tfidf import stage_names
from augment_cli.tokenization import get_tokenizer

DEFAULT_SEED = 42


@dataclass(frozen=True)
class AugmentationRun:
    """One augmentation with all that decides its output; travels to the workers.

    Parameters
    ----------
    name : str
        Of the augmentation.
    parameters : object
        An instance of its parameter class.
    seed, draw : int
        Independent draws of one seed differ in `draw` alone.
    fit, parses : str, optional
        Which fit and which parse it reads, where there are several.
    """

    name: str
    parameters: Any
    seed: int = DEFAULT_SEED
    draw: int = 0
    fit: str | None = None
    parses: str | None = None

    @property
    def augmentation(self) -> Augmentation:
        """The card."""
        return augmentations.get(self.name)

    @property
    def needs(self) -> frozenset[str]:
        """Earlier stages it reads: those of its card, and the parse where its parameters ask for it."""
        asks = getattr(self.parameters, "parts_of_speech", None) == "parse"
        return self.augmentation.needs | (frozenset({"parses"}) if asks else frozenset())

    @property
    def may_read_parses(self) -> bool:
        """Whether it reads the parse, or would where there is one."""
        return "parses" in self.needs or getattr(self.parameters, "parts_of_speech", None) == "auto"

    def settled(self, store: Store, stage: str | None = None) -> AugmentationRun:
        """The run with `parts_of_speech = "auto"` made explicit.

        A stage goes on as it was begun, so that running the same command again makes nothing anew; a new
        one reads the parse where it is named or the store has it.
        """
        if getattr(self.parameters, "parts_of_speech", None) != "auto":
            return self
        folder, begun = self.folder(stage), None
        if folder in store.stages():
            begun = store.stage(folder).settings["parameters"].get("parts_of_speech")
        there = self.parses is not None or store.has(stage_name(None))
        choice = begun or ("parse" if there else "words")
        parameters = dataclasses.replace(self.parameters, parts_of_speech=choice)
        return dataclasses.replace(self, parameters=parameters)

    def folder(self, stage: str | None = None) -> str:
        """Folder of the result: `stage` or the augmentation's name, with `.1`, `.2`, … for further draws."""
        base = stage or self.name
        return f"{base}.{self.draw}" if self.draw else base

    def resources(self, store: Store) -> Resources:
        """Load what the augmentation's `prepare` needs from the store."""
        terms = None
        if "tfidf" in self.needs:
            terms = TermTable.read(store, stage_names(self.fit)[1])
        return Resources(self.seed, self.draw, terms)

    def settings(self, store: Store) -> Settings:
        """What the stage depends on."""
        card = self.augmentation
        inputs = {"corpus": store.stage("corpus").digest}
        if "tfidf" in self.needs:
            inputs |= {name: store.stage(stage).digest for name, stage in self._fit_stages()}
        if "parses" in self.needs:
            inputs["parses"] = store.stage(stage_name(self.parses)).digest
        parameters = card.resolve(self.parameters, self.resources(store))
        return Settings(
            card.name,
            card.version,
            parameters | {"draw": self.draw},
            seed=self.seed,
            inputs=inputs,
            resources=card.uses(self.parameters, self.resources(store)),
            libraries=library_versions(["numpy", "pyarrow", *card.libraries]),
        )

    def warnings(self, store: Store) -> list[str]:
        """What a person should know before it runs, such as a window over most of the vocabulary."""
        return self.augmentation.warnings(self.parameters, self.resources(store))

    def _fit_stages(self) -> list[tuple[str, str]]:
        return list(zip(("tfidf", "terms"), stage_names(self.fit), strict=True))


def make_run(name: str, **options: Any) -> AugmentationRun:
    """An augmentation run from keyword arguments, as typed in a notebook or a recipe.

    `seed`, `draw`, `fit` and `parses` are those of `AugmentationRun`; the rest are the augmentation's
    parameters.

    Raises
    ------
    UsageError
        For an unknown augmentation or parameter, or a value of the wrong kind or out of range.
    """
    card = augmentations.get(name)
    known = {item.name: item for item in dataclasses.fields(card.parameters)}
    common = {key: options.pop(key) for key in ("seed", "draw", "fit", "parses") if key in options}
    if unknown := sorted(options.keys() - known.keys()):
        raise UsageError(f"{name}: has no parameter {unknown[0]!r}; it has {', '.join(known)}")
    for key, value in options.items():
        options[key] = _coerce(f"{name}: parameter {key!r}", value, type(known[key].default))
    parameters = card.parameters(**options)
    check_parameters(parameters)
    return AugmentationRun(name, parameters, **common)


def _coerce(where: str, value: Any, kind: type) -> Any:
    if isinstance(value, bool) or kind is bool:
        if isinstance(value, bool) and kind is bool:
            return value
    elif (kind is float and isinstance(value, int | float)) or (kind is str and isinstance(value, str | int)):
        return kind(value)
    elif isinstance(value, kind):
        return value
    raise UsageError(f"{where}: {value!r} is no {kind.__name__}")


def augment_store(
    store: Store,
    run: AugmentationRun,
    stage: str | None = None,
    engine: Engine | None = None,
    progress: Callable[[int], None] = lambda rows: None,
    parts: Collection[int] | None = None,
) -> str:
    """Make an augmentation stage of a store; finished parts are kept.

    Parameters
    ----------
    store : Store
        With a complete corpus and whatever earlier stages the augmentation needs; the caller holds
        its lock.
    run : AugmentationRun
    stage : str, optional
        Folder; the augmentation's name by default, with `.1`, `.2`, … for further draws.
    engine : Engine
    progress : callable
        Called with the number of rows done since the last call.
    parts : collection of int, optional
        Make these parts only, instead of all.

    Returns
    -------
    str
        The folder.

    Raises
    ------
    MixError
        If the folder holds the result of other settings.
    """
    folder, run = run.folder(stage), run.settled(store, stage)
    settings = run.settings(store)
    missing = store.begin(folder, settings)
    if "model" in run.needs:
        from augment_cli.neural.stage import ModelStage

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
    (engine or Engine()).run("augment_cli.runs:augment_part", tasks, commit)
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
        for batch in batches(store, index, run):
            table = as_table(run.augmentation, batch, prepared(batch))
            add_statistics(statistics, table)
            yield table

    return store.write_part(stage, index, schema_of(run.augmentation), tables(), settings, statistics)


def augment_texts(
    texts: Sequence[str],
    store: Store,
    run: AugmentationRun,
    row_ids: np.ndarray | None = None,
    pipeline: str | Path | None = None,
) -> pa.Table:
    """Augment sentences in memory, with the resources of a store.

    The draws depend on the row_ids (int64, 0, 1, 2, … by default), as they do in a stored stage. Where the
    augmentation reads parses, the sentences are parsed with `pipeline`, by default the one of the store's
    parses, and the shipped one in a store without.

    Returns
    -------
    pyarrow.Table
        `original`, then the columns of the augmentation's stage.

    Raises
    ------
    MissingError
        If the pipeline is not on this machine.
    """
    column, run = pa.array(texts, pa.string()), run.settled(store)
    resources = run.resources(store)
    prepared = run.augmentation.prepare(run.parameters, resources)
    tokens = None
    if resources.terms is not None:
        tokenizer = store.stage(stage_names(run.fit)[1]).settings["parameters"]["tokenizer"]
        tokens = _tokens_of(column, tokenizer, resources.terms)
    if row_ids is None:
        row_ids = np.arange(len(column))
    code_points = CodePoints.of(column)
    parses = None
    if "parses" in run.needs:
        source = chosen_pipeline(store, stage_name(run.parses), pipeline)
        parses = ParseRows.from_table(parse_texts(load_pipeline(source), column, row_ids), code_points)
    batch = Batch(row_ids, column, code_points, tokens, parses)
    return _in_planned_batches(run.augmentation, batch, prepared).add_column(0, "original", column)


def _in_planned_batches(augmentation: Augmentation, batch: Batch, prepared: Any) -> pa.Table:
    """The result for a batch; a model gets it in the batches that it plans."""
    if "model" not in augmentation.needs:
        return as_table(augmentation, batch, prepared(batch))
    tables, places = [schema_of(augmentation).empty_table()], [np.zeros(0, np.int64)]
    for positions in prepared.plan(batch.texts):
        texts = batch.texts.take(pa.array(positions))
        some = Batch(batch.row_ids[positions], texts, CodePoints.of(texts))
        tables.append(as_table(augmentation, some, prepared(some)))
        places.append(positions)
    return pa.concat_tables(tables).take(pa.array(np.argsort(np.concatenate(places), kind="stable")))


def schema_of(augmentation: Augmentation) -> pa.Schema:
    """Columns of an augmentation's stage."""
    return pa.schema([*AUGMENTATION, *augmentation.columns])


def as_table(augmentation: Augmentation, batch: Batch, outcome: Outcome) -> pa.Table:
    """Apply an outcome's edits: one row a sentence, `text` null and a `reason` where nothing changed."""
    count = len(batch)
    edits = outcome.edits
    texts = apply_edits(batch.code_points, edits)
    differs = pc.not_equal(texts, batch.texts).to_numpy(zero_copy_only=False)
    edited = np.bincount(edits.rows, minlength=count) > 0
    reasons = np.where(edited, SAME_TEXT, outcome.reasons)
    if not differs[edits.rows].all():  # edits that cancel each other out are none
        keep = np.flatnonzero(differs[edits.rows])
        edits = Edits(
            edits.rows[keep], edits.starts[keep], edits.ends[keep], edits.replacements.take(pa.array(keep))
        )
    unchanged = pa.array(~differs)
    columns = {
        "row_id": pa.array(batch.row_ids, pa.int64()),
        "text": pc.if_else(unchanged, pa.scalar(None, pa.string()), texts),
        "reason": pc.if_else(unchanged, pa.array(reasons, pa.string()), pa.scalar(None, pa.string())),
        "edits": edits.as_column(count),
    }
    return pa.table(columns | dict(outcome.columns)).cast(schema_of(augmentation))


def empty_statistics() -> dict[str, Any]:
    """The sums over a part that reports add up, before its first row."""
    return {"changed": 0, "edits": 0, "reasons": {}, "sums": {}}


def add_statistics(statistics: dict[str, Any], table: pa.Table) -> None:
    """Count some rows of an augmentation's stage."""
    reasons = Counter(statistics["reasons"])
    reasons.update(pc.drop_null(table["reason"]).to_pylist())
    statistics["reasons"] = dict(sorted(reasons.items()))
    statistics["changed"] += table.num_rows - table["text"].null_count
    statistics["edits"] += pc.sum(pc.list_value_length(table["edits"])).as_py() or 0
    for field in list(table.schema)[len(AUGMENTATION) :]:
        if pa.types.is_integer(field.type) or pa.types.is_boolean(field.type):
            value = pc.sum(table[field.name]).as_py() or 0
            statistics["sums"][field.name] = statistics["sums"].get(field.name, 0) + value


def batches(store: Store, index: int, run: AugmentationRun) -> Iterator[Batch]:
    """The row groups of a part with what the augmentation needs of them."""
    corpus = store.iterate_part("corpus", index, ["row_id", "text"])
    needs = run.needs
    nothing: Iterator[None] = itertools.repeat(None)
    matrix: Iterator[pa.Table | None] = nothing
    parses: Iterator[pa.Table | None] = nothing
    if "tfidf" in needs:
        columns = ["term_ids", "starts", "ends", "weights"]
        matrix = store.iterate_part(stage_names(run.fit)[0], index, columns)
    if "parses" in needs:
        parses = store.iterate_part(stage_name(run.parses), index, PARSES.names[1:], STRING_COLUMNS)
    for table in corpus:
        yield _batch_of(table, next(matrix), next(parses))


def _batch_of(table: pa.Table, matrix: pa.Table | None, parses: pa.Table | None) -> Batch:
    texts = table["text"].combine_chunks()
    code_points = CodePoints.of(texts)
    return Batch(
        table["row_id"].to_numpy(),
        texts,
        code_points,
        None if matrix is None else _token_rows(matrix),
        None if parses is None else ParseRows.from_table(parses, code_points),
    )


def _token_rows(table: pa.Table) -> TokenRows:
    lists = {name: table[name].combine_chunks() for name in table.column_names}
    offsets = lists["term_ids"].offsets.to_numpy().astype(np.int64)
    flat = {name: column.flatten().to_numpy() for name, column in lists.items()}
    return TokenRows(offsets - offsets[0], flat["term_ids"], flat["starts"], flat["ends"], flat["weights"])


def _tokens_of(texts: pa.StringArray, tokenizer: str, terms: TermTable) -> TokenRows:
    """TF-IDF rows of new sentences: term frequency from the sentence, idf from the fitted table."""
    tokens = get_tokenizer(tokenizer)(texts)
    term_ids = terms.ids_of(tokens.terms)
    lengths = np.diff(tokens.row_offsets)
    rows = np.repeat(np.arange(len(lengths)), lengths)
    words = tokens.terms.dictionary_encode().indices.to_numpy().astype(np.int64)
    _, inverse, counts = np.unique(rows * (len(words) + 1) + words, return_inverse=True, return_counts=True)
    known = term_ids >= 0
    idf = np.zeros(len(term_ids))
    idf[known] = terms.idf[term_ids[known]]
    weights = np.log1p(counts[inverse] / np.repeat(lengths, lengths)) * idf
    return TokenRows(tokens.row_offsets, term_ids, tokens.starts, tokens.ends, weights)
