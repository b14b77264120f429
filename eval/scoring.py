"""Scoring a model: load it, encode once, run every protocol, write results, tables and plots."""

import contextlib
import dataclasses
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from augment_cli.encoding.encoder import Encoder, weights_digest
from augment_cli.encoding.loading import load_encoder, longest_input
from augment_cli.encoding.static import POOLINGS, SUFFIXES, load_static, word_table
from augment_cli.encoding.words_apart import count_store
from augment_cli.errors import UsageError
from augment_cli.errors.visible import visible, visible_line
from augment_cli.process.reporter import Bars
from augment_cli.store.store import Store
from eval import protocols
from eval.contract import Options, Progress
from eval.options import ScoreOptions
from eval.results import ModelResults, read_results, tables, write_encoder, write_file, write_result
from eval.results.plots import plot_scores, plot_similarity
from eval.runner import Vectors, score_task
from eval.tasks import Table, Task
from eval.tasks.beir import QUERY_ROWS, RetrievalTable

_PROMPTS = ("prompt_name", "query_prompt_name")  # options that settings state where they are given


def score_model(
    model: str, precision: str, data_tables: Sequence[Table], options: ScoreOptions
) -> ModelResults:
    """Score one model and write its results."""
    label, path = split_label(model)
    encoder = _load(path, precision, options)
    values = options.values
    recorded = [setting for setting in protocols.settings() if setting.recorded]
    settings = {
        "digest": encoder.digest,
        "revision": encoder.revision,
        "pooling": encoder.pooling,
        "max_length": encoder.max_length,
        "precision": encoder.precision,
        "whiten": options.whiten,
        **{name: chosen for name in _PROMPTS if (chosen := vars(options)[name])},
        **{setting.name: values[setting.name] for setting in recorded},
    }
    kind = [str(encoder.digest)[:12], encoder.pooling, str(encoder.max_length), encoder.precision]
    weights = getattr(encoder, "weights", None)
    if weights is not None:  # a word table's are in its digest
        settings["weights"] = weights_digest(weights)
        kind.append(settings["weights"][:12])
    kind += ["whitened"] if options.whiten else []
    kind += [re.sub(r"[^\w.+-]+", "_", f"{name}-{settings[name]}") for name in _PROMPTS if name in settings]
    changed = [setting.name for setting in recorded if values[setting.name] != setting.default]
    kind += [name if values[name] is True else str(values[name]) for name in changed]
    name = re.sub(r"^\.+$|[^\w.+-]+", "_", label)  # no way up
    folder = options.out / name / "-".join(kind)
    write_encoder(folder, label, settings)
    run = Options(
        whiten=options.whiten,
        jobs=options.jobs,
        cache=None if options.no_cache else options.cache or options.out / "cache",
        values=values,
    )
    with contextlib.ExitStack() as shown:
        if options.query_prompt_name:
            queries = _queries(encoder, data_tables, run, options, _Shown(shown, label))
            run = dataclasses.replace(run, queries=queries)
        vectors = Vectors(encoder, data_tables, run, _Shown(shown, label))
        for table in data_tables:
            began = time.perf_counter()
            score = score_task(table, vectors, run, _Shown(shown, table.task.title))
            seconds = time.perf_counter() - began  # without encoding
            write_result(folder, table, score, seconds)
            title, metric = table.task.title, table.task.metric
            named = title if metric.partition("_")[0] in title else f"{title} {metric}"  # purity_10
            _say(f"{label}: {named} {number(score.main)} ({seconds:.1f} s)")
            for note in score.notes:
                _say(f"  note: {note}")
    return read_results(folder)


def _queries(
    encoder: Encoder, data_tables: Sequence[Table], run: Options, options: ScoreOptions, progress: "_Shown"
) -> Vectors:
    """The queries of retrieval behind a prompt of their own."""
    found = [table for table in data_tables if isinstance(table, RetrievalTable)]
    if not found or options.whiten:
        why = "goes without --whiten" if found else "is for retrieval, and no task is one; add --beir FOLDER"
        raise UsageError(f"--query-prompt-name {options.query_prompt_name}: {why}")
    prompt = encoder.prompts.text(options.query_prompt_name or "", progress.label)
    asking = dataclasses.replace(encoder, prompt=prompt)
    return Vectors(asking, found, run, progress, lambda table: table.texts(QUERY_ROWS))


def _load(path: str, precision: str, options: ScoreOptions) -> Encoder:
    if path.endswith(SUFFIXES) and Path(path).is_file():
        return load_static(Path(path))
    table = options.pooling if options.pooling in POOLINGS else ""
    plain = load_encoder(path, allow_download=options.allow_download) if table or options.counts else None
    counts = count_store(Store.open(options.counts), plain.tokenizer) if plain and options.counts else None
    if plain and table:
        return word_table(plain, table, counts)
    encoder = load_encoder(
        path,
        counts=counts,
        pooling=options.pooling,
        max_length=options.max_length,
        precision=precision,  # type: ignore[arg-type]
        allow_download=options.allow_download,
        device=options.device,
        prompt_name=options.prompt_name or "",
    )
    if options.no_truncation:
        encoder.max_length = longest_input(encoder.model.config, encoder.tokenizer)
    return encoder


def split_label(model: str) -> tuple[str, str]:
    """The label and the path of a MODEL argument; without LABEL= the label is taken from the path."""
    label, _, path = model.partition("=")
    if label and path and not Path(model).exists():
        return label, path
    parts = [part for part in model.rstrip("/").split("/") if part not in ("", ".", "..")]
    # A trainer's folder ends in best or last; its parent says which run it is.
    return (
        "-".join(parts[-2:]) if parts and parts[-1] in ("best", "last", "model") else (parts or [model])[-1],
        model,
    )


class _Shown(Progress):
    """Progress on stderr, one thing at a time: the next takes the place of what is shown."""

    def __init__(self, shown: contextlib.ExitStack, label: str) -> None:
        self.shown, self.label = shown, label

    def start(self, what: str, total: int) -> None:
        """Begin to count something."""
        self.shown.close()
        name = visible_line(f"{self.label}: {what}")
        self.count = self.shown.enter_context(Bars().progress(name, total))

    def advance(self, count: int) -> None:
        """Count some of it as done."""
        self.count(count)


def say_precision(results: Sequence[ModelResults]) -> None:
    """Say what bf16 does to each score, for each model whose fp32 results are there too."""
    for rough in results:
        if rough.settings["precision"] != "bf16":
            continue
        folder = rough.folder.with_name(rough.folder.name.replace("-bf16", "-fp32"))
        if not (folder / "encoder.json").is_file():
            _say(f"{rough.label}: what bf16 does to each score is shown with --precision both")
            continue
        exact = read_results(folder)
        for name, scores in rough.tasks.items():
            if name in exact.tasks:
                before, after = exact.tasks[name].main, scores.main
                _say(
                    f"{rough.label}: {scores.title} fp32 {number(before)}, bf16 {number(after)}, "
                    f"{after - before:+.4f}"
                )


def number(value: float) -> str:
    """A score for people."""
    return f"{value:.4f}" if value == value else "undefined"


def write_overview(results: Sequence[ModelResults], registry: dict[str, Task], options: ScoreOptions) -> None:
    """Tables over the models of this run, and plots of their scores."""
    built = tables.build(results, registry)
    write_file(options.out / "table.md", tables.as_markdown(built).encode())
    write_file(options.out / "table.csv", tables.as_csv(built).encode())
    if not options.no_plots:
        tasks = list(registry.values())
        plot_scores(results, tasks, options.out / "scores.png")
        for result in results:
            plot_similarity(result, tasks, result.folder / "similarity.png")
    _say(f"results, table.md, table.csv and plots are in {options.out}")


def _say(line: str) -> None:
    print(visible(line), file=sys.stderr)
