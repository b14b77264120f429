"""`score`: columns that say how a stage's texts relate to their originals and to the corpus. Never a verdict.

Rows come in pieces of one row group (of 1,024 rows where a classifier is asked); a piece depends on its rows
alone.
"""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.augmentation import LABEL_COLUMN
from augment_cli.contract.parameters import several
from augment_cli.encoding.transforms import unit
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.models.digest import model_digest
from augment_cli.neural.loading import ModelFolder, find_model
from augment_cli.places import shipped
from augment_cli.store.journal import Journal, make_parts, one_by_one, piece_sizes
from augment_cli.store.parquet import ROW_GROUP_ROWS, describe, write_array
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import Store
from augment_cli.tfidf.term_table import TermTable, stage_names
from augment_cli.tokenization import get_tokenizer
from augment_cli.vectors import judging
from augment_cli.vectors.search import candidate_blocks, search
from augment_cli.vectors.stages import CORPUS_STAGE, VectorStage
from augment_cli.vectors.texts import check_text_stage, equal_rows

VERSION = 1
SCORES_STAGE = "scores"
OF_VECTORS = ("cosine", "nearest_cosine")
OF_TEXTS = ("length_ratio", "edited_share", "repeated_words", "unknown_words")
COLUMNS = (*OF_VECTORS, *OF_TEXTS)
_JUDGED_ROWS = 1_024
_VERDICTS = ("judged_same", "judged_other")
_WORDS = r"[\pL\pM\pN]+(?:['’][\pL\pM\pN]+)*"


@dataclass(frozen=True)
class ScoreOptions:
    """Which columns to make, and from what."""

    columns: tuple[str, ...] = COLUMNS  # of `COLUMNS`; further ones come with the models
    # folder of a model for natural language inference, for `entailment` and `contradiction`; or empty
    nli: str = ""
    acceptability: str = ""  # folder of a classifier of acceptable sentences, for `acceptability`; or empty
    vectors: str | None = None  # which vectors or which fit to read, where there are several
    fit: str | None = None
    # folder of a cross-encoder of sentence-transformers, for `cross_encoder`; or empty
    cross_encoder: str = ""
    # A stage that `read` made of a judge's answers, for `judged_same` and `judged_other`; or empty
    judge: str = ""
    # folder of a verifier, for `turned`; or empty
    verifier: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", several(self.columns))

    def check(self) -> None:
        """Raise `UsageError` for a column that there is not."""
        for name in self.columns:
            if name not in COLUMNS:
                raise UsageError(f"--columns {name}: choose from {', '.join(COLUMNS)}")
        if not self.columns and not self.judge and not any(getattr(self, kind) for kind in _LABELS):
            raise UsageError("--columns: name at least one")

    @property
    def needs_vectors(self) -> bool:
        """Whether vectors are read."""
        return bool(set(self.columns) & set(OF_VECTORS))


@dataclass(frozen=True)
class Work:
    """What is to be scored: the stage, its scores' folder, what they are made with, and the pieces left."""

    of: str
    stage: str
    options: ScoreOptions
    models: dict[str, ModelFolder]
    settings: Settings
    pieces: dict[int, list[int]]
    rows: int


def scores_name(of: str, name: str | None = None) -> str:
    """Folder of a stage's scores: `scores-STAGE`, or `scores-NAME-STAGE`."""
    return "-".join([SCORES_STAGE, *([name] if name else []), of])


def scores_schema(options: ScoreOptions, labels: Sequence[str] = ()) -> pa.Schema:
    """row_id, and the columns of the options as float32 in a fixed order; `nearest_row_id` beside."""
    fields = [pa.field("row_id", pa.int64(), nullable=False)]
    for name in COLUMNS:
        if name in options.columns:
            fields.append(pa.field(name, pa.float32()))
            if name == "nearest_cosine":
                fields.append(pa.field("nearest_row_id", pa.int64()))
    return pa.schema([*fields, *(pa.field(label, pa.float32()) for label in labels)])


def begin(store: Store, of: str, options: ScoreOptions, name: str | None = None) -> Work:
    """Announce the stage of scores and find out what is left to do."""
    settings, models = score_settings(store, of, options)
    stage = scores_name(of, name)
    unfinished = store.begin(stage, settings, beside="score beside it with --name NAME")
    pieces = {index: piece_sizes(store.parts[index][1], _piece_rows(models)) for index in unfinished}
    rows = Journal(store.work, stage, settings).rows_to_make(pieces)
    return Work(of, stage, options, models, settings, pieces, rows)


def score_settings(store: Store, of: str, options: ScoreOptions) -> tuple[Settings, dict[str, ModelFolder]]:
    """What the scores of a stage depend on, and the classifiers by their kind; raises as `begin` does."""
    options.check()
    check_text_stage(store, of)
    if of == CORPUS_STAGE:
        raise UsageError("score corpus: originals are not scored against themselves; name another stage")
    inputs = [CORPUS_STAGE, of]
    resources, models, libraries = {}, {}, ["numpy", "pyarrow"]
    if options.needs_vectors:
        opened = [VectorStage.open(store, stage, options.vectors) for stage in (CORPUS_STAGE, of)]
        opened[0].check_comparable(opened[1])
        inputs += [one.stage for one in opened]
    if "unknown_words" in options.columns:
        inputs.append(stage_names(options.fit)[1])
    if options.judge:
        _check_judge(store, of, options.judge)
        inputs.append(options.judge)
    for kind in _LABELS:
        if folder := getattr(options, kind):
            models[kind] = _find_model(kind, folder)
            resources[kind] = models[kind].digest
    if models:
        libraries += ["torch", "transformers", "tokenizers"]
    settings = Settings(
        SCORES_STAGE,
        VERSION,
        parameters={"of": of, "columns": [column for column in COLUMNS if column in options.columns]}
        | ({"judge": options.judge} if options.judge else {}),
        inputs={stage: store.stage(stage).digest for stage in inputs},
        resources=resources,
        libraries=library_versions(libraries),
    )
    return settings, models


def _find_model(kind: str, folder: str) -> ModelFolder:
    if kind != "verifier":
        return find_model(folder, option=f"--{kind.replace('_', '-')}")
    path = Path(shipped(folder))
    if not (path / "verifier.json").is_file():
        raise UsageError(
            f"--verifier {folder}: holds no verifier; make one with `python -m train verifier`, or name "
            "data/models/verifier, which is MiniLM's"
        )
    return ModelFolder(path, model_digest(path))


def _check_judge(store: Store, of: str, judge: str) -> None:
    """See that a stage has the verdicts on another one's texts as they are."""
    check_text_stage(store, judge)
    record = store.stage(judge)
    has_labels = LABEL_COLUMN.name in store.read_rows(judge, 0, []).schema.names
    if not has_labels or record.settings["inputs"].get(of) != store.stage(of).digest:
        raise UsageError(
            f"--judge {judge}: has no verdicts on {of} as it is; make them with `augment-cli generate "
            f"--template judge --of {of}` and `augment-cli read`"
        )


def _piece_rows(models: dict[str, ModelFolder]) -> int:
    return _JUDGED_ROWS if models else ROW_GROUP_ROWS


def finish(store: Store, work: Work, engine: Engine, progress: Callable[[int], None]) -> None:
    """Score the pieces that are missing, and commit each part as it becomes complete."""
    # `progress` is called with the number of rows done since the last call.
    if not work.pieces:
        return
    journal = Journal(store.work, work.stage, work.settings)
    journal.folder.mkdir(parents=True, exist_ok=True)
    if "nearest_cosine" in work.options.columns:
        write_array(journal.folder / "first.npy", equal_rows(store, CORPUS_STAGE)[0])
    common = {"store_path": store.path, "stage": work.stage, "work": dataclasses.replace(work, pieces={})}
    task = "augment_cli.vectors.score:score_piece"
    make = one_by_one(engine.run, task, lambda index, piece: common, progress)
    make_parts(journal, work.pieces, make, lambda index: _join_part(store, work, journal, index))
    store.clean_work(work.stage)


def score_piece(store_path: Path, stage: str, index: int, piece: int, work: Work) -> tuple[int, int]:
    """Score some rows of a part (in a worker) into the journal; returns the part and the piece's rows."""
    of, options, models = work.of, work.options, work.models
    store, piece_rows = Store.open(store_path), _piece_rows(models)
    size = piece_sizes(store.parts[index][1], piece_rows)[piece]
    group, offset = divmod(piece * piece_rows, ROW_GROUP_ROWS)
    has_edits = "edits" in describe(store.part_path(of, index))[1].names
    names = ["text", "edits"] if has_edits else ["text"]
    rows = store.read_part(of, index, names, [group]).slice(offset, size).combine_chunks()
    originals = store.read_part(CORPUS_STAGE, index, ["text"], [group])["text"].slice(offset, size)
    originals = originals.combine_chunks()
    texts = rows["text"].combine_chunks()
    is_there = texts.is_valid().to_numpy(zero_copy_only=False)
    low = store.parts[index][0] + piece * piece_rows
    columns: dict[str, np.ndarray] = {"row_id": np.arange(low, low + size)}
    journal = Journal(store.work, stage, work.settings)
    if options.needs_vectors:
        columns |= _of_vectors(store, options, of, (index, group, offset, low, size), journal.folder)
    if "length_ratio" in options.columns:
        columns["length_ratio"] = _lengths(texts) / np.maximum(_lengths(originals), 1)
    if "edited_share" in options.columns:
        columns["edited_share"] = (
            _edited_share(texts, originals, rows) if has_edits else np.full(size, np.nan)
        )
    if "repeated_words" in options.columns:
        columns["repeated_words"] = _repeated_words(texts, originals)
    if "unknown_words" in options.columns:
        columns["unknown_words"] = _unknown_words(texts, originals, store, options.fit)
    if options.judge:
        verdicts = store.read_part(options.judge, index, [LABEL_COLUMN.name], [group])[LABEL_COLUMN.name]
        columns |= _verdict_columns(verdicts.slice(offset, size).combine_chunks())
    columns |= _judged(models, texts, originals, is_there)
    labels = [label for kind in models for label in _LABELS[kind](models[kind].path)]
    fields = scores_schema(options, [*(_VERDICTS if options.judge else ()), *labels])
    arrays = []
    for field in fields:
        values = columns[field.name]
        missing = np.zeros(size, bool) if field.name == "row_id" else ~is_there | np.isnan(values)
        if field.name == "nearest_row_id":
            missing = ~is_there | (values < 0)
        arrays.append(pa.array(values, field.type, mask=missing, from_pandas=False, safe=False))
    journal.write(index, piece, pa.table(arrays, schema=fields))
    return index, size


def _of_vectors(
    store: Store, options: ScoreOptions, of: str, place: tuple[int, int, int, int, int], folder: Path
) -> dict[str, np.ndarray]:
    index, group, offset, low, size = place
    corpus = VectorStage.open(store, CORPUS_STAGE, options.vectors)
    stage = VectorStage.open(store, of, options.vectors)
    some = slice(offset, offset + size)
    texts, has_text = unit(stage.read(index, [group])[0][some])
    columns: dict[str, np.ndarray] = {}
    if "cosine" in options.columns:
        originals, has_original = unit(corpus.read(index, [group])[0][some])
        cosines = np.einsum("ij,ij->i", texts, originals)
        columns["cosine"] = np.where(has_text & has_original, cosines, np.nan)
    if "nearest_cosine" in options.columns:
        first = np.load(folder / "first.npy", mmap_mode="r", allow_pickle=False)
        own = np.array(first[low : low + size])
        # Rows without a vector are not searched for.
        asked = np.flatnonzero(has_text)
        nearest = search(texts[asked], own[asked], candidate_blocks(corpus, first), 1)
        columns["nearest_cosine"], columns["nearest_row_id"] = np.full(size, np.nan), np.full(size, -1)
        columns["nearest_cosine"][asked] = nearest.scores[:, 0]
        columns["nearest_row_id"][asked] = nearest.row_ids[:, 0]
        columns["nearest_cosine"][columns["nearest_row_id"] < 0] = np.nan
    return columns


@lru_cache(maxsize=1)
def _verifier(model: ModelFolder) -> Any:
    from augment_cli.encoding.verifier import load_verifier

    return load_verifier(model.path)


# Of each kind of model the columns that it fills, with their places in its answers, and what answers: the
# original is the premise, the text the hypothesis.
_LABELS: dict[str, Callable[[Path], dict[str, int]]] = {
    "nli": judging.entailment_labels,
    "acceptability": judging.acceptability_labels,
    "cross_encoder": lambda folder: {"cross_encoder": 0},
    "verifier": lambda folder: {"turned": 0},
}
_ANSWERS: dict[str, Callable[[ModelFolder, list[str], list[str]], np.ndarray]] = {
    "nli": judging.probabilities,
    "acceptability": lambda model, originals, texts: judging.probabilities(model, texts),
    "cross_encoder": lambda model, *pairs: judging.relevance(model, *pairs)[:, None],
    "verifier": lambda model, *pairs: _verifier(model).turned(*pairs)[:, None],
}


def _judged(
    models: dict[str, ModelFolder], texts: pa.Array, originals: pa.Array, is_there: np.ndarray
) -> dict[str, np.ndarray]:
    """Columns of the models."""
    columns: dict[str, np.ndarray] = {}
    if not models:
        return columns
    places = np.flatnonzero(is_there)
    pairs = [column.take(pa.array(places)).to_pylist() for column in (originals, texts)]
    for kind, model in models.items():
        labels = _LABELS[kind](model.path)
        columns |= {label: np.full(len(texts), np.nan) for label in labels}
        if len(places):
            answers = _ANSWERS[kind](model, *pairs)
            for label, number in labels.items():
                columns[label][places] = answers[:, number]
    return columns


def _join_part(store: Store, work: Work, journal: Journal, index: int) -> None:
    """Commit a part from its pieces."""
    whole = pa.concat_tables(journal.read_part(index, work.pieces[index])).combine_chunks()
    statistics = {"scored": whole.num_rows - min(whole[name].null_count for name in whole.column_names[1:])}
    groups = (whole.slice(low, ROW_GROUP_ROWS) for low in range(0, whole.num_rows, ROW_GROUP_ROWS))
    store.commit(store.write_part(work.stage, index, whole.schema, groups, work.settings, statistics))


# --- what texts alone say, and a judge's verdicts


def _edited_share(texts: pa.Array, originals: pa.Array, rows: pa.Table) -> np.ndarray:
    """Characters removed and put in, over the characters of both sentences; float64 (n,), 0 to 1."""
    edits = rows["edits"].combine_chunks()
    counts = edits.value_lengths().to_numpy(zero_copy_only=False)
    flat = edits.flatten()
    removed = flat.field("end").to_numpy().astype(np.int64) - flat.field("start").to_numpy()
    new = pc.utf8_length(flat.field("replacement")).to_numpy()
    places = np.repeat(np.arange(len(counts)), counts)
    changed = np.bincount(places, weights=removed + new, minlength=len(counts))
    return changed / np.maximum(_lengths(texts) + _lengths(originals), 1)


def _repeated_words(texts: pa.Array, originals: pa.Array) -> np.ndarray:
    """Words equal to the one before, beyond those of the original; float64 (n,), NaN without text."""
    import regex

    find = regex.compile(_WORDS).findall
    repeated = []
    for column in (texts, originals):
        words = [None if text is None else find(text) for text in pc.utf8_lower(column).to_pylist()]
        counts = [np.nan if some is None else sum(map(str.__eq__, some, some[1:])) for some in words]
        repeated.append(np.array(counts, np.float64))
    return np.maximum(repeated[0] - repeated[1], 0)


def _unknown_words(texts: pa.Array, originals: pa.Array, store: Store, fit: str | None) -> np.ndarray:
    """Words that the corpus does not hold, beyond the original's; float64 (n,), NaN without text."""
    table = stage_names(fit)[1]
    tokenizer = get_tokenizer(store.stage(table).settings["parameters"]["tokenizer"])
    terms = TermTable.read(store, table)
    unknown = np.zeros((2, len(texts)))
    for place, column in enumerate((texts, originals)):
        tokens = tokenizer(pc.fill_null(column, ""))
        words = tokens.terms.dictionary_encode()
        is_word = pc.match_substring_regex(words.dictionary, r"\pL").to_numpy(zero_copy_only=False)
        counted = (is_word & (terms.ids_of(words.dictionary) < 0))[words.indices.to_numpy()]
        rows = np.repeat(np.arange(len(column)), np.diff(tokens.row_offsets))
        unknown[place] = np.bincount(rows, weights=counted, minlength=len(column))
    beyond = np.maximum(unknown[0] - unknown[1], 0)
    return np.where(texts.is_valid().to_numpy(zero_copy_only=False), beyond, np.nan)


def _verdict_columns(labels: pa.Array) -> dict[str, np.ndarray]:
    """Whether a judge called each text the same, and another one: 1 or 0, NaN where it gave no verdict."""
    is_there = labels.is_valid().to_numpy(zero_copy_only=False)
    found = {}
    for name in _VERDICTS:
        is_so = pc.fill_null(pc.equal(labels, name.removeprefix("judged_")), False)
        found[name] = np.where(is_there, is_so.to_numpy(zero_copy_only=False), np.nan)
    return found


def _lengths(texts: pa.Array) -> np.ndarray:
    return pc.utf8_length(texts).cast(pa.float64()).to_numpy(zero_copy_only=False)
