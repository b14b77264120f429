"""TF-IDF of a corpus, and each term's maximum score: the tables that UNA reads.

Source: Shu and Lampos 2024 (UNA), section 2, with the logarithmic term frequency of the authors'
code: tf(t, d) = ln(1 + n_t/n) for n_t occurrences among the n tokens of sentence d,
idf(t) = −ln(N_t/N) for N_t of N sentences that hold t, score z_t(d) = tf·idf, and s_t = max_d z_t(d).

Fitting is a map-reduce over parts. The first map counts each part with ids of its own; the reduction
joins the parts' vocabularies in corpus order, so that ties between equal scores keep first-seen order
(row_id, then position) whichever part was counted first; the second map writes the sparse matrix with
the final ids. As idf is one factor for all sentences, s_t = idf(t)·max_d tf(t, d) exactly, also in
floating point, and one pass over the text is enough. What is counted lies in temporary files of `.work/`, one
set for each part, until the reduction has joined them.
"""

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.engine.engine import Engine
from augment_cli.errors import MissingError, MixError, UsageError
from augment_cli.store.manifest import Stage
from augment_cli.store.parquet import ROW_GROUP_ROWS, TERMS, TFIDF, read_ipc, write_ipc
from augment_cli.store.refusals import options_again
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import PendingPart, Store
from augment_cli.text.spans import offsets_from_lengths
from augment_cli.tfidf.term_table import (
    TERMS_STAGE,
    TFIDF_STAGE,
    FormCounter,
    FormCounts,
    TermTable,
    read_counts,
    stage_names,
    work_file,
)
from augment_cli.tokenization import get_tokenizer

_ROWS_AT_ONCE = 1024  # whose pairs of row and term fit into a processor's cache
VERSION = 1
MANY_TERMS = 1_000_000  # from here on their memory is said; the table is most of what a process of UNA holds
_TERM_BYTES = 110  # in such a process: the 217,214 of one sentence that a million sentences have are 22 MiB
# `--name` of another command than `fit` names that command's own result.
_BESIDE = "fit beside it and read that with --fit NAME (`augment-cli fit` calls it --name NAME)"


def count_part(
    store_path: Path, stage: str, index: int, tokenizer: str, folder: Path, with_forms: bool = False
) -> int:
    """Tokenise and count one part; write its vocabulary to `folder`, of the corpus also tokens and forms."""
    table = Store.open(store_path).read_part(stage, index, ["text"])
    texts = pc.drop_null(table["text"]).combine_chunks()
    tokens = get_tokenizer(tokenizer)(texts)
    encoded = tokens.terms.dictionary_encode()
    terms, term_ids = encoded.dictionary, encoded.indices.to_numpy().astype(np.int32)
    counts, document_frequency, max_share = count_terms(term_ids, tokens.row_offsets, len(terms))
    vocabulary = pa.table(
        {"term": terms.cast(pa.string()), "document_frequency": document_frequency, "max_share": max_share}
    )
    vocabulary = vocabulary.replace_schema_metadata({"rows": str(len(texts))})
    write_ipc(counts_path(folder, stage, index), vocabulary)
    if stage == "corpus":
        flat = {"term": term_ids, "start": tokens.starts, "end": tokens.ends, "count": counts}
        for name in ("start", "end", "count"):  # in half the bytes to write and to read
            flat[name] = flat[name].astype(np.min_scalar_type(int(flat[name].max(initial=0))))
        write_ipc(work_file(folder, "tokens", index), pa.table(flat))
        lengths = pa.table({"length": np.diff(tokens.row_offsets)})
        write_ipc(work_file(folder, "lengths", index), lengths)
    if with_forms and stage == "corpus":
        forms = FormCounter(len(terms))
        forms.add(texts, tokens.row_offsets, term_ids, tokens.starts, tokens.ends)
        forms.write(folder, index)
    return len(texts)


def count_terms(
    term_ids: np.ndarray, row_offsets: np.ndarray, terms: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count each term in each row."""
    # Returns, for each token, how often its row has its term; for each term, how many rows have it, and the
    # largest share of a row's tokens that it makes up.
    counts = np.empty(len(term_ids), np.int32)
    document_frequency, max_share = np.zeros(terms, np.int64), np.zeros(terms)
    bits = terms.bit_length()
    for start in range(0, len(row_offsets) - 1, _ROWS_AT_ONCE):
        offsets = row_offsets[start : start + _ROWS_AT_ONCE + 1]
        lengths, first, last = np.diff(offsets), int(offsets[0]), int(offsets[-1])
        rows = np.repeat(np.arange(len(lengths)) << bits, lengths)
        # Arrow numbers distinct values with a hash table, which takes a third of the time of sorting them.
        encoded = pa.array(rows | term_ids[first:last]).dictionary_encode()
        numbers, pairs = encoded.indices.to_numpy(), encoded.dictionary.to_numpy()
        times = np.bincount(numbers)
        counts[first:last] = times[numbers]
        pair_terms = pairs & ((1 << bits) - 1)
        np.add.at(document_frequency, pair_terms, 1)
        np.maximum.at(max_share, pair_terms, times / lengths[pairs >> bits])
    return counts, document_frequency, max_share


def counts_path(folder: Path, stage: str, index: int) -> Path:
    """Of a part's vocabulary: its terms, document frequencies, largest shares."""
    return work_file(folder, f"counts-{stage.replace('/', '-')}", index)


@dataclass(frozen=True)
class FitOptions:
    """How to fit."""

    # `treebank` (fast, the tokens of NLTK's `word_tokenize`), `nltk` (itself), or `module:callable`
    tokenizer: str = "treebank"
    min_df: int = 1  # terms in fewer sentences are left out of the table; 1 keeps all, as the paper does
    # stages whose texts are counted together, `corpus` first. Rows without a text are not counted.
    stages: tuple[str, ...] = ("corpus",)
    # folder of another store whose fitted term table is used as it is, so that a small corpus is weighed by
    # the frequencies of a large one; empty to count this store's own texts
    terms_of: str = ""

    def __post_init__(self) -> None:
        stages = (self.stages,) if isinstance(self.stages, str) else tuple(self.stages)
        object.__setattr__(self, "stages", stages)

    def check(self) -> None:
        """Raise `UsageError` where the options make no sense."""
        if self.min_df < 1:
            raise UsageError(f"--min-df {self.min_df}: must be at least 1")
        if self.stages[:1] != ("corpus",) or len(set(self.stages)) != len(self.stages):
            raise UsageError(f"--on {','.join(self.stages)}: name different stages, corpus first")
        if self.terms_of and (self.min_df != FitOptions.min_df or self.stages != FitOptions.stages):
            raise UsageError("--terms-of takes a table that is fitted already; leave --min-df and --on out")


def fit_command(options: FitOptions, name: str | None = None) -> str:
    """The command that fits so, but for the store."""
    given = vars(options) | {"stages": list(options.stages), "name": name}
    return shlex.join(["augment-cli", "fit", *options_again({"parameters": given}, FitOptions, given)])


def is_term_table(stage: Stage) -> bool:
    """Whether a stage is one table for the whole corpus, unlike the matrix that is fitted with it."""
    return stage.settings["stage"] == TFIDF_STAGE and stage.name.split("-")[0] == TERMS_STAGE


def fit_settings(store: Store, options: FitOptions) -> Settings:
    """What the two stages of a fit depend on."""
    tokenizer = get_tokenizer(options.tokenizer)
    # The table's content decides and not its path, so that a store may be moved or made again.
    given = {"terms": _given_terms(options).stage(TERMS_STAGE).digest} if options.terms_of else {}
    return Settings(
        TFIDF_STAGE,
        VERSION,
        parameters={"tokenizer": tokenizer.name, "min_df": options.min_df, "stages": list(options.stages)},
        inputs={name: store.stage(name).digest for name in options.stages},
        resources={"tokenizer": tokenizer.version} | given,
        libraries=library_versions(["numpy", "pyarrow"]),
    )


def _given_terms(options: FitOptions) -> Store:
    """The store of `options.terms_of`, whose tokens must be those of these options."""
    store = Store.open(Path(options.terms_of))
    if not store.has(TERMS_STAGE):
        raise MissingError(
            f"{store.path} has no fitted terms; make them with `augment-cli fit --store {store.path}`"
        )
    tokenizer, settings = get_tokenizer(options.tokenizer), store.stage(TERMS_STAGE).settings
    name, version = settings["parameters"]["tokenizer"], settings["resources"]["tokenizer"]
    if (name, version) != (tokenizer.name, tokenizer.version):
        raise MixError(
            f"{store.path}: its terms were cut by the tokenizer {name!r}; fit it with {options.tokenizer!r}, "
            "or give --tokenizer"
        )
    return store


def fit(
    store: Store,
    options: FitOptions | None = None,
    name: str | None = None,
    engine: Engine | None = None,
    progress: Callable[[int], None] = lambda rows: None,
    with_forms: bool = False,
) -> FormCounts | None:
    """Fit the TF-IDF matrix and the term table of a store's corpus; finished parts are kept."""
    # with_forms: count on the way how the terms are written, in a third of the time that the matrix takes
    options, engine = options or FitOptions(), engine or Engine()
    options.check()
    matrix, table = stage_names(name)
    settings = fit_settings(store, options)
    anew = f"`{fit_command(options, name)} --overwrite --store {store.path}`"
    missing_table = store.begin(table, settings, expected_parts=1, beside=_BESIDE, anew=anew)
    missing = store.begin(matrix, settings, beside=_BESIDE, anew=anew)
    if not missing_table and not missing:
        return None

    # A folder for these settings alone: whatever a killed run left, or still writes, is never read.
    work = store.work / matrix / settings.fingerprint[:16]
    work.mkdir(parents=True, exist_ok=True)
    # Where the table lacks terms, a sentence's first word is the first that the matrix has; so it is read.
    with_forms = with_forms and options.min_df == 1 and not options.terms_of
    sources = [(stage, index) for stage in options.stages for index in sorted(store.stage(stage).parts)]
    same = {"store_path": store.path, "tokenizer": options.tokenizer, "folder": work}
    tasks = [same | {"with_forms": with_forms, "stage": stage, "index": index} for stage, index in sources]
    engine.run("augment_cli.tfidf.fit:count_part", tasks, progress)
    counted = [counts_path(work, *source) for source in sources]
    if options.terms_of:
        terms, documents, mappings = look_up(counted, _given_terms(options))
    else:
        terms, documents, mappings = reduce_counts(counted, options.min_df)
    if not terms.num_rows:
        raise UsageError(
            f"--min-df {options.min_df}: none of the {documents:,} sentences has a term that is in so "
            "many of them, so the table would be empty; choose a smaller --min-df"
        )
    if missing_table:
        statistics = {"documents": documents, "terms": terms.num_rows}
        store.commit(store.write_part(table, 0, TERMS, [terms], settings, statistics))

    forms = None
    if with_forms:
        of_corpus = dict(enumerate(mappings[: len(store.parts)]))
        forms = read_counts(work, of_corpus, terms.num_rows)
    for index in missing:
        write_ipc(work_file(work, "mapping", index), pa.table({"term_id": mappings[index]}))
    write_ipc(work / "idf.arrow", terms.select(["idf"]))

    def commit(pending: PendingPart) -> None:
        store.commit(pending)
        progress(pending.part.rows)

    arguments = {"store_path": store.path, "stage": matrix, "folder": work, "settings": settings}
    engine.run(
        "augment_cli.tfidf.fit:weigh_part", [arguments | {"index": index} for index in missing], commit
    )
    store.clean_work(matrix)
    store.clean_work(table)
    return forms


def vocabulary_note(store: Store, name: str | None, options: FitOptions) -> str | None:
    """What a person is told where a large vocabulary fills memory with terms of one sentence alone."""
    table = stage_names(name)[1]
    if options.min_df > 1 or options.terms_of or store.stage(table).rows < MANY_TERMS:
        return None
    frequency = store.read(table, ["document_frequency"])["document_frequency"].to_numpy()
    once = int((frequency == 1).sum())
    saved = once * _TERM_BYTES / 2**20
    return (
        f"{len(frequency):,} terms, {once:,} of them in one sentence alone: `augment-cli fit --min-df 2 "
        f"--name frequent` leaves those out, and `--fit frequent` then saves about {saved:,.0f} MiB in each "
        "process that replaces terms."
    )


# --- reduction: one vocabulary in first-seen order, scores, ranks


def reduce_counts(paths: Sequence[Path], min_df: int) -> tuple[pa.Table, int, list[np.ndarray]]:
    """Join the parts' vocabularies, given in corpus order."""
    # Returns the term table (schema `TERMS`, sorted by falling maximum score); the number of sentences; for
    # each part, the row of the table for each of its own term ids, −1 where `min_df` left a term out.
    counted = [read_ipc(path) for path in paths]
    documents = sum(int(table.schema.metadata[b"rows"]) for table in counted)
    joined = pa.concat_tables(table.replace_schema_metadata(None) for table in counted)
    # Arrow numbers distinct values as it meets them: first-seen order.
    encoded = joined["term"].combine_chunks().dictionary_encode()
    first_seen, ids = encoded.dictionary, encoded.indices.to_numpy()
    document_frequency = np.zeros(len(first_seen), np.int64)
    np.add.at(document_frequency, ids, joined["document_frequency"].to_numpy())
    max_share = np.zeros(len(first_seen))
    np.maximum.at(max_share, ids, joined["max_share"].to_numpy())

    idf = np.log(documents / np.maximum(document_frequency, 1))  # exactly +0 for a term in every sentence
    max_score = np.log1p(max_share) * idf
    kept = np.flatnonzero(document_frequency >= min_df)
    order = kept[np.argsort(-max_score[kept], kind="stable")]
    term_ids = np.full(len(first_seen), -1, np.int32)
    term_ids[order] = np.arange(len(order), dtype=np.int32)
    table = pa.table(
        {
            "term": first_seen.take(pa.array(order)),
            "document_frequency": document_frequency[order],
            "idf": idf[order],
            "max_score": max_score[order],
        },
        schema=TERMS,
    )
    bounds = np.cumsum([table.num_rows for table in counted])[:-1]
    return table, documents, np.split(term_ids[ids], bounds)


def look_up(paths: Sequence[Path], given: Store) -> tuple[pa.Table, int, list[np.ndarray]]:
    """The term table of another store, and where the parts' own terms are in it."""
    # As `reduce_counts` gives them; −1 for a term that the other store never met.
    known = TermTable.read(given, TERMS_STAGE)
    documents = sum(part.statistics["documents"] for part in given.stage(TERMS_STAGE).parts.values())
    table = given.read(TERMS_STAGE).cast(TERMS)
    return table, documents, [known.ids_of(read_ipc(path)["term"].combine_chunks()) for path in paths]


# --- second map: the sparse matrix with the final ids


def weigh_part(store_path: Path, stage: str, index: int, folder: Path, settings: Settings) -> PendingPart:
    """Write one part of the matrix from its counted tokens."""
    store = Store.open(store_path)
    first_row = store.parts[index][0]
    mapping = read_ipc(work_file(folder, "mapping", index))["term_id"].to_numpy()
    idf = read_ipc(folder / "idf.arrow")["idf"].to_numpy()
    tokens = read_ipc(work_file(folder, "tokens", index))
    lengths = read_ipc(work_file(folder, "lengths", index))["length"].to_numpy()
    statistics = {"tokens": int(lengths.sum())}
    batches = _weighed(tokens, lengths, first_row, mapping, idf)
    return store.write_part(stage, index, TFIDF, batches, settings, statistics)


def _weighed(
    tokens: pa.Table, lengths: np.ndarray, first_row: int, mapping: np.ndarray, idf: np.ndarray
) -> Iterator[pa.Table]:
    offsets = offsets_from_lengths(lengths)
    for start in range(0, len(lengths), ROW_GROUP_ROWS):
        stop = min(start + ROW_GROUP_ROWS, len(lengths))
        first, last = int(offsets[start]), int(offsets[stop])
        flat = tokens.slice(first, last - first)
        term_ids = mapping[flat["term"].to_numpy()]
        length = np.repeat(lengths[start:stop], lengths[start:stop])
        weights = np.log1p(flat["count"].to_numpy() / length) * idf[term_ids]
        weights[term_ids < 0] = 0.0  # not in the table: no score of its own
        list_offsets = pa.array((offsets[start : stop + 1] - first).astype(np.int32))
        columns = [pa.array(np.arange(first_row + start, first_row + stop))]
        for values in (term_ids, flat["start"].to_numpy(), flat["end"].to_numpy(), weights):
            columns.append(pa.ListArray.from_arrays(list_offsets, pa.array(values)))
        yield pa.table(columns, names=TFIDF.names).cast(TFIDF)
