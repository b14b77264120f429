"""What the commands do that make stages: each calls the function of its operation, and shows what came out.

Loaded when a command is run, as it needs what the commands need.
"""

import dataclasses
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from augment_cli import api
from augment_cli.answers import generate as asking
from augment_cli.answers.client import check_endpoint
from augment_cli.api.making import Step, listed
from augment_cli.cli import load_commands
from augment_cli.cli.actions import called
from augment_cli.cli.options import fields_of, given, reading_of
from augment_cli.contract.ingest_options import IngestOptions, Tolerance
from augment_cli.contract.operation import arguments_of, grouped
from augment_cli.contract.pack_options import PackOptions
from augment_cli.contract.parameters import part_numbers
from augment_cli.contract.vector_parameters import MineParameters
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.errors.visible import visible, visible_json, visible_line
from augment_cli.ingest import STDIN, find_files
from augment_cli.ingest.streams import CorpusFile
from augment_cli.pack import export as exporting
from augment_cli.pack.options import SIDES, choose, left_out, read_pack_recipe
from augment_cli.pages import terminal as views
from augment_cli.pages.layout import check_place
from augment_cli.parsing.pipelines import find_pipeline
from augment_cli.process.reporter import Bars
from augment_cli.reports.soundness import commands_behind
from augment_cli.runs import recipe as recipes
from augment_cli.runs.run import AugmentationRun, make_run
from augment_cli.session import SAMPLE, Session, StageResult
from augment_cli.store.store import Store
from augment_cli.syntax.parses import stage_name
from augment_cli.tfidf.term_table import forms_name, stage_names
from augment_cli.vectors.mine import mined_names
from augment_cli.vectors.score import COLUMNS, ScoreOptions, scores_name
from augment_cli.vectors.stages import CORPUS_STAGE, vectors_name

# Seconds a million rows on two cores, and bytes a row, rounded from benchmarks/growth.py: of the shipped
# pipeline, a paraphraser of 6 million parameters (a full-size model takes far longer), MiniLM in fp32.
_COSTS = {
    "corpus": (2, 75),
    "tfidf": (7, 310),
    "forms": (3, 1),
    "parses": (700, 230),
    "augmentation": (9, 240),
    "model": (20_000, 240),
    "vectors": (5_000, 780),
    "scores": (10_000, 30),
    "mined-tfidf": (1_000, 110),
    "mined-vectors": (10_000, 110),
}
_SQUARE = ("scores", "mined-tfidf", "mined-vectors")  # their time grows with the square of the rows
_BYTES_PER_SENTENCE_OF_TEXT = 130
_BYTES_PER_SENTENCE_COMPRESSED = 62
_OF_RUNS = ("seed", "fit", "parses", "of", "protect", "anyway")


def stages_of_runs(
    store_path: Path, runs: Sequence[tuple[AugmentationRun, str | None, int]], parses: Sequence[str] = ()
) -> list[tuple[str, str]]:
    """The stages that runs need and make, with their kinds, behind those of `parses` that are to be made."""
    store, needed = Store.create(store_path), [(name, "parses") for name in parses]
    for one, stage, draws in runs:
        run = one.resolved(store, stage)
        run.check_named(store, parses)
        earlier = {"tfidf": stage_names(run.fit)[0], "forms": forms_name(run.fit)}
        earlier |= {"parses": stage_name(run.parses)}
        needed += [(name, need) for need, name in earlier.items() if need in run.needs]
        needed += [(run.of, "augmentation")] if run.of else []
        kind = "model" if "model" in run.needs else "augmentation"
        needed += [(run.of_draw(draw, draws).folder(stage), kind) for draw in range(draws)]
    return needed


def stages_of(command: str, asked: dict[str, Any]) -> list[tuple[str, str]]:
    """The same for `parse`, `embed`, `score` and `mine`."""
    name, fit, vectors = (asked.get(key) for key in ("name", "fit", "vectors"))
    if command == "parse":
        return [(stage_name(name), "parses")]
    if command == "embed":
        return [(vectors_name(asked.get("stage", CORPUS_STAGE), name), "vectors")]
    if command == "score":
        stage, columns = asked.get("stage", "una"), asked.get("columns")
        chosen = COLUMNS if columns is None else listed(columns)
        needed = [(stage_names(fit)[0], "tfidf")] if "unknown_words" in chosen else []
        if ScoreOptions(chosen).needs_vectors:
            needed += [(vectors_name(of, vectors), "vectors") for of in (CORPUS_STAGE, stage)]
        kind = "scores" if "nearest_cosine" in chosen else "augmentation"
        return [*needed, (scores_name(stage, name), kind)]
    assert command == "mine", command
    options: MineParameters = asked["parameters"]
    options.check()
    needed = [(stage_names(fit)[0], "tfidf")]
    if options.by == "vectors":
        compared = filter(None, (CORPUS_STAGE, options.positive))
        needed = [(vectors_name(one, vectors), "vectors") for one in compared]
    first, *further = mined_names(options, asked.get("stage"))
    # Further negatives come out of the same search.
    return [*needed, (first, f"mined-{options.by}"), *((one, "augmentation") for one in further)]


def show_plan(values: dict[str, Any], options: IngestOptions, needed: Sequence[tuple[str, str]]) -> None:
    """Show of each stage that a command needs whether it is there, else about how long it takes."""
    store, corpus = Store.create(values["store"]), values.get("corpus")
    if STDIN in (corpus or ()):
        raise UsageError("--dry-run cannot look into standard input; name the files with --corpus")
    rows = store.rows
    if not store.has(CORPUS_STAGE):
        rows = estimate_rows([path for path, _ in find_files(corpus or [SAMPLE])], options.limit)
    kinds = {CORPUS_STAGE: "corpus"}
    for name, kind in needed:
        kinds.setdefault(name, kind)
    entries = [_entry(name, kind, rows, store.has(name)) for name, kind in kinds.items()]
    views.show_plan(entries, values["as_json"])


def estimate_rows(files: Sequence[CorpusFile], limit: int | None) -> int:
    """About how many sentences some files hold, from their sizes alone."""
    rows = 0
    for path in files:
        compressed = path.name.endswith((".gz", ".zst", ".parquet"))
        per_row = _BYTES_PER_SENTENCE_COMPRESSED if compressed else _BYTES_PER_SENTENCE_OF_TEXT
        rows += max(1, path.size // per_row)
    return rows if limit is None else min(rows, limit)


def _entry(name: str, kind: str, rows: int, is_there: bool) -> dict[str, Any]:
    if is_there:
        return {"stage": name, "state": "done", "rows": rows}
    (seconds, size), millions = _COSTS[kind], (rows / 1e6) ** (2 if kind in _SQUARE else 1)
    estimated = {"seconds": round(1 + millions * seconds, 1), "bytes": rows * size}
    return {"stage": name, "state": "to do", "rows": rows, **estimated}


def engine_of(values: dict[str, Any]) -> Engine:
    """An engine with the workers that a command's values ask for."""
    return Engine.for_this_machine(*(values[name] for name in ("jobs", "backend", "scheduler", "address")))


class Output:
    """What a command that makes stages prints."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.as_json, self.reporter = values["as_json"], Bars(values["quiet"])
        self.is_for_people = not (values["quiet"] or values["as_json"])  # who wants tables and hints

    def show(
        self,
        store: Store,
        results: Sequence[StageResult],
        folders: Sequence[str] = (),
        page: Path | None = None,
        of_parts: bool = False,
    ) -> None:
        """What the run made, with rows of `folders` and what to type next; as JSON every stage."""
        if self.as_json:
            views.print_run(store, results)
        elif self.is_for_people and of_parts:
            views.show_parts(store, results)  # how far the stage is
        elif self.is_for_people:
            views.show_run(store, results)
            there = [folder for folder in folders if store.has(folder)]
            if there and any(result.was_made for result in results):
                views.show_hints(store, there, page)


def make(function: Callable[..., Any], values: dict[str, Any], looks_ahead: bool) -> None:
    """Make the stages of an operation, or say what would be made."""
    step: Step = function.step  # type: ignore[attr-defined]
    own = given(values, [one.name for one in arguments_of(function)])
    output, asked = Output(values), grouped(step.function, own)
    path = values["store"] if step.reads_corpus else Store.open(values["store"]).path  # there must be one
    reading, tolerance = reading_of(values) if step.reads_corpus else (IngestOptions(), Tolerance())
    if looks_ahead:
        if _look_ahead(values, own, output):
            return
    elif values.get("dry_run"):
        show_plan(values, reading, stages_of(function.command, asked))  # type: ignore[attr-defined]
        return
    is_shared = own.get("parts") is not None
    engine = engine_of(values) if step.has_workers else None
    with Session(path, engine, output.reporter, is_shared, values["overwrite"], sample=True) as session:
        if step.reads_corpus:
            session.ingest(values["corpus"], reading, **vars(tolerance))
        folders = step.function(session, **asked)
        output.show(session.store, session.results, folders or (), of_parts=is_shared)


def augment(name: str, parameters: dict[str, Any], values: dict[str, Any]) -> None:
    """Ingest, fit and parse what is missing, run the augmentation, print what came out."""
    run = make_run(name, **parameters, **{key: values[key] for key in _OF_RUNS})
    pipeline, stage, draws, store = (values[key] for key in ("pipeline", "stage", "draws", "store"))
    reading, tolerance = reading_of(values)
    if values["dry_run"]:
        to_parse = [stage_name(values["parses"])] if pipeline is not None else []
        show_plan(values, reading, stages_of_runs(store, [(run, stage, draws)], to_parse))
        return
    if pipeline is not None:  # before the parse, which takes long
        named = find_pipeline(pipeline).name
        run.check_language(named)
    parts, output = part_numbers(values["parts"]), Output(values)
    reporter, shared, engine = output.reporter, parts is not None, engine_of(values)
    with Session(store, engine, reporter, shared, values["overwrite"], sample=True) as session:
        session.ingest(values["corpus"], reading, **vars(tolerance))
        if pipeline is not None:
            session.check_texts(run, named)
            session.parse(pipeline, values["parses"])
        folders = session.augment(run, stage, draws, parts)
        output.show(session.store, session.results, folders, of_parts=shared)


def _look_ahead(values: dict[str, Any], own: dict[str, Any], output: Output) -> bool:
    """Say what is left to ask a language model, and after some requests how long that takes."""
    store, sample = Store.open(values["store"]), values["sample"]  # there must be one
    if not (values["dry_run"] or sample):
        return False
    if values["dry_run"] and sample:
        raise UsageError(f"--sample {sample}: asks, and --dry-run asks nobody; leave one of them out")
    parameters, reporter = grouped(api.generate, own)["parameters"], output.reporter
    numbers: dict[str, Any]
    if values["dry_run"]:
        if not parameters.runs_here:
            check_endpoint(parameters.endpoint, parameters.allow_remote)
        work = asking.plan(store, parameters, values["name"])
        stage, numbers = work.stage, asking.estimate(store, work)
    else:
        with Session(store.path, None, reporter, overwrite=values["overwrite"]) as session:
            stage, numbers = session.sample(parameters, sample, values["name"])
    if output.as_json:
        views.print_json({"stage": stage, **numbers})
    elif sample:
        reporter.say(
            f"{stage}: {numbers['asked']:,} requests took {views.duration(numbers['seconds'])}; "
            f"{numbers['requests']:,} are left for each draw, and take about "
            f"{views.duration(numbers['seconds_left'])} at that speed, an estimate. The same command without "
            "--sample goes on"
        )
    else:
        most = numbers["requests"] * parameters.max_tokens
        reporter.say(
            f"{stage}: {numbers['requests']:,} requests, about {numbers['prompt_tokens']:,} tokens to read "
            f"(a quarter of the characters), at most {most:,} to write, for each draw; --sample 20 asks 20 "
            "of them and says how long the rest takes"
        )
    return True


def ingest_corpus(values: dict[str, Any]) -> None:
    """The corpus, read or continued."""
    output = Output(values)
    reading, tolerance = reading_of(values)
    store, overwrite = values["store"], values["overwrite"]
    with Session(store, reporter=output.reporter, overwrite=overwrite, sample=True) as session:
        read = session.append if values["append"] else session.ingest
        read(values["corpus"], reading, **vars(tolerance))
        output.show(session.store, session.results)
        if values["append"] and output.is_for_people:
            views.show_behind(session.store)


def run_recipe(values: dict[str, Any]) -> None:
    """What a recipe made, or the commands that make what is behind."""
    from augment_cli.pages.report import TITLE, write_report  # loads polars

    output, store = Output(values), values["store"]
    if values["behind"]:
        _run_behind(store, values["dry_run"], values["quiet"])
        return
    if values["dry_run"]:
        recipe = recipes.of_paper(values["recipe"]) if values["paper"] else values["recipe"]
        loaded = recipes.load(recipe, values["changes"] or ())
        runs = [(item.run, item.stage, item.draws) for item in loaded]
        show_plan(values, reading_of(values)[0], stages_of_runs(store, runs))
        return
    page = Path(values["report"]) if values["report"] else None
    if page is not None:
        check_place(page, store, TITLE)
    result = called(api.run_recipe, values, sample=True, reporter=output.reporter)
    page = page if result.folders else None  # of nothing there is no page
    if page is not None:
        write_report(result.store, page, seconds=result.seconds)
    output.show(result.store, result.stages, result.folders, page)
    result.check()


def _run_behind(store_path: Path, dry_run: bool, quiet: bool) -> None:
    """Run the commands that make what is behind, or only show them; it ends with the first that fails."""
    commands = commands_behind(Store.open(store_path))
    out = Console(stderr=True, highlight=False)
    if not commands and not quiet:
        out.print("Nothing is behind.")
    for words in commands:
        if not quiet or dry_run:
            out.print(f"$ {visible_line(shlex.join(words))}", markup=False, soft_wrap=True)
        if {"FILE", "FOLDER"} & set(words):
            raise UsageError(
                f"{shlex.join(words)}: the store does not know which file or folder that was; run this "
                "command with its place, then the same again for the rest"
            )
        if not dry_run:
            arguments = [*words[1:], *(["--quiet"] if quiet else [])]
            code = load_commands()(arguments, prog_name="augment-cli", standalone_mode=False)
            if code:
                raise SystemExit(code)
        if words[1] == "pack" and not quiet:
            export = shlex.join([word for word in words if word != "--overwrite"])
            out.print(
                f"Files that --out wrote earlier are as they were; {visible_line(export)} --out pairs.csv "
                "(or .jsonl) writes one again",
                markup=False,
                soft_wrap=True,
            )


def pack_table(values: dict[str, Any]) -> None:
    """The packed table, its files, and the lines that train on it."""
    output, name = Output(values), values["name"]
    columns = fields_of(PackOptions, values)
    if values["recipe"]:
        columns |= read_pack_recipe(Path(values["recipe"]))
    opened = Store.open(values["store"])  # there must be one
    out, beir = (Path(values[key]) if values[key] else None for key in ("out", "beir"))
    ends = [f"-{side}" for side in SIDES] if columns.get("split") else [""]
    if out is not None:
        exporting.check_export_path(out, opened, ends)
    if beir is not None:
        exporting.check_beir_folder(beir, opened, PackOptions(**columns))
    engine, overwrite = engine_of(values), values["overwrite"]
    with (
        exporting.reserved([out.with_stem(out.stem + end) for end in ends] if out else []),
        Session(opened.path, engine, output.reporter, overwrite=overwrite, sample=True) as session,
    ):
        say, chosen = session.reporter.say, choose(session.store, **columns)
        if (notes := left_out(session.store, chosen)) and not (values["positives"] or values["negatives"]):
            say(f"left out, as their label is neither: {', '.join(notes)}; --labels kind takes them")
        stages = session.pack(chosen, name, values["dry_run"])
        if out is not None:
            for stage in stages:
                path = out.with_stem(out.stem + stage.removeprefix(name))
                say(f"{path}: {exporting.export(session.store, stage, path):,} rows")
        if beir is not None and stages:
            numbers = exporting.write_beir(session.store, stages[-1], beir)
            say(f"{beir}: {numbers['queries']:,} queries to {numbers['documents']:,} documents")
        output.show(session.store, session.results)
        if stages and output.is_for_people:
            views.show_easy(session.store, chosen.negatives)
        if stages and output.is_for_people and (lines := exporting.training_lines(session.store, stages[0])):
            print(
                f"Train on it with sentence-transformers ({exporting.how_long(session.store, stages[0])}):\n"
            )
            print(visible(lines), end="")


def adapt(values: dict[str, Any]) -> None:
    """The verdict, and what to do next."""
    from augment_cli import adaptation

    reading = IngestOptions(**fields_of(IngestOptions, values))
    reporter = Output(values).reporter
    verdict = adaptation.adapt(
        values["encoder"], values["texts"], reading, values["out"], values["settings"] or (),
        values["lookup"], values["allow_download"], values["prompt"], reporter,
    )  # fmt: skip
    if values["as_json"]:
        paths = {"folder": str(verdict.folder), "page": verdict.page and str(verdict.page)}
        print(visible_json(dataclasses.asdict(verdict) | paths))
    else:
        print(verdict)
