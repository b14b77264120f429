"""What each command does: the function of an operation's name calls it, and shows the result.

Loaded when a command is run, as it needs what the commands need.
"""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from augment_cli import api
from augment_cli.answers import generate as asking
from augment_cli.answers.client import check_endpoint
from augment_cli.api.adapting import adapt_for
from augment_cli.api.step import Step
from augment_cli.augmentations.labels import label_of
from augment_cli.cli import load_commands, options
from augment_cli.cli.options import given
from augment_cli.cli.reporter import ConsoleReporter
from augment_cli.contract.ingest_options import IngestOptions, Tolerance
from augment_cli.contract.operation import arguments_of, grouped
from augment_cli.contract.pack_options import PackOptions
from augment_cli.contract.parameters import declared
from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, UsageError
from augment_cli.errors.visible import is_address, parse, shown, visible, visible_json, visible_line
from augment_cli.pack import SIDES, check_export_path, choose, export, left_out, read_pack_recipe, reserved
from augment_cli.pack.example import how_long, training_lines
from augment_cli.pack.export import check_beir_folder, write_beir
from augment_cli.pages import terminal as views
from augment_cli.pages import terminal_status as status_views
from augment_cli.pages.judging import saved_as
from augment_cli.pages.layout import check_place
from augment_cli.reports import verdicts
from augment_cli.reports.plan import plan_run, plan_stages
from augment_cli.reports.soundness import behind, commands_behind
from augment_cli.runs import recipe as recipes
from augment_cli.session import Session, StageResult
from augment_cli.store.store import Store


def engine_of(values: dict[str, Any]) -> Engine:
    """An engine with the workers that a command's values ask for."""
    return Engine.for_this_machine(*(values[name] for name in ("jobs", "backend", "scheduler", "address")))


@dataclass(frozen=True)
class Output:
    """What a command that makes stages prints."""

    quiet: bool
    as_json: bool

    def reporter(self) -> ConsoleReporter:
        """Where messages and progress go while stages are made."""
        return ConsoleReporter(self.quiet)

    @property
    def is_for_people(self) -> bool:
        """Whether tables and hints are wanted."""
        return not (self.quiet or self.as_json)

    def show(self, store: Store, results: Sequence[StageResult], of_parts: bool = False) -> None:
        """What the run made, of some parts how far the stage is; as JSON every stage of the store."""
        if self.as_json:
            views.print_run(store, results)
        elif self.is_for_people and of_parts:
            status_views.show_parts(store, results)
        elif self.is_for_people:
            views.show_run(store, results)

    def show_examples(
        self,
        store: Store,
        results: Sequence[StageResult],
        folders: Sequence[str],
        page: Path | None = None,
        of_parts: bool = False,
    ) -> None:
        """Some rows of the stages in `folders`, where the run made any; the report; what to type next."""
        there = [folder for folder in folders if store.has(folder) and not of_parts]
        if there and self.is_for_people and any(result.was_made for result in results):
            views.show_hints(store, there, page)


def _called(function: Callable[..., Any], values: dict[str, Any], **more: Any) -> Any:
    """What an operation returns for those of a command's values that are its own."""
    own = [one.name for one in arguments_of(function) if one.name not in more]
    return function(**given(values, own), **more)


def make(function: Callable[..., Any], values: dict[str, Any], looks_ahead: bool) -> None:
    """Make the stages of an operation, or say what would be made."""
    step: Step = function.step  # type: ignore[attr-defined]
    own = given(values, [one.name for one in arguments_of(function)])
    output = Output(values["quiet"], values["as_json"])
    path = values["store"] if step.reads_corpus else Store.open(values["store"]).path  # there must be one
    reading, tolerance = options.reading_of(values) if step.reads_corpus else (IngestOptions(), Tolerance())
    asked = grouped(step.function, own)
    if step.plan is not None and values["dry_run"]:
        plan = plan_stages(path, values.get("corpus"), reading, step.plan(**asked))
        views.show_plan(plan, output.as_json)
        return
    if looks_ahead and _look_ahead(values, own, output):
        return
    is_shared = own.get("parts") is not None
    engine = engine_of(values) if step.has_workers else None
    with Session(path, engine, output.reporter(), is_shared, values["overwrite"], sample=True) as session:
        if step.reads_corpus:
            session.ingest(values["corpus"], reading, **vars(tolerance))
        folders = step.function(session, **asked)
        output.show(session.store, session.results, is_shared)
        output.show_examples(session.store, session.results, folders or [])


def adapt(values: dict[str, Any]) -> None:
    """The verdict, and what to do next."""
    reading = IngestOptions(**given(values, [item.name for item in declared(IngestOptions)]))
    reporter = Output(values["quiet"], values["as_json"]).reporter()
    verdict = adapt_for(
        values["encoder"], values["texts"], reading, values["out"], values["settings"] or (),
        values["lookup"], values["allow_download"], reporter,
    )  # fmt: skip
    if values["as_json"]:
        print(
            visible_json(
                dataclasses.asdict(verdict)
                | {"folder": str(verdict.folder), "page": verdict.page and str(verdict.page)}
            )
        )
    else:
        print(verdict)


def look(values: dict[str, Any]) -> None:
    """What a file holds, and how to go on."""
    views.show_look(_called(api.look, values), values["as_json"])


def inspect(values: dict[str, Any]) -> None:
    """Rows of a stage, and what to ask for where there are few."""
    rows = _called(api.inspect, values)
    views.show_rows(rows, values["as_json"])
    if values["as_json"]:
        return
    if not rows:
        views.say_no_row_fits(values["stage"], values["where"], values["contains"])
    if len(rows) < values["count"] and not (values["unchanged"] or values["rows"] or values["reason"]):
        views.say_what_is_left_out(Store.open(values["store"]), values["stage"], len(rows))


def stats(values: dict[str, Any]) -> None:
    """The numbers of a stage, or the table of all."""
    with views.working() as progress:
        found = _called(api.stats, values, progress=progress)
    show = views.show_comparison if values["stage"] is None else views.show_stats
    show(found, values["as_json"])


def status(values: dict[str, Any]) -> None:
    """A line a stage."""
    opened = Store.open(values["store"])
    status_views.show_status(opened, values["corpus"], values["as_json"], values["settings"])


def list_augmentations(values: dict[str, Any]) -> None:
    """The augmentations, or the recipes."""
    entries = api.list_recipes() if values["recipes"] else api.list_augmentations()
    if values["as_json"]:
        views.print_json(entries)
        return
    if values["recipes"]:
        views.show_table(("recipe", "summary"), [tuple(entry.values()) for entry in entries])
        return
    columns = ("name", "kind", "label", "needs", "summary")
    entries = [entry | {"needs": ", ".join(entry["needs"])} for entry in entries]
    views.show_table(columns, [[entry[name] for name in columns] for entry in entries])


def report(values: dict[str, Any]) -> None:
    """Where the page is, and what stands out."""
    written = _called(api.report, values)
    if values["as_json"]:
        print(visible_json(written))
        return
    for notice in written["notices"]:
        print(visible(notice))
    count = len(written["stages"])
    size = f"{written['bytes'] / 1000:.0f} kB, {count} stage{'' if count == 1 else 's'}"
    print(f"{visible(values['out'])}: {size}; open it in a browser")


def verify(values: dict[str, Any]) -> None:
    """What is wrong; what is behind."""
    store, opened = values["store"], Store.open(values["store"])
    problems, late = api.verify(opened), [name for name in opened.stages() if behind(opened, name)]
    if values["as_json"]:
        views.print_json({"store": str(store), "problems": problems, "behind": late})
    if problems:
        raise BadInputError(
            "\n".join([f"{store}: {len(problems)} problem{'s' * (len(problems) > 1)}", *problems])
        )
    if not values["as_json"]:
        print(f"{visible(store)}: {len(opened.stages())} stages, every part is as it was committed")
        if late:
            print(visible(f"behind since files were appended: {', '.join(late)}"))
            status_views.show_behind(opened)


_KINDS = {"same": "a positive", "other": "a negative", "neither": "what is neither positive nor negative"}


def judge(values: dict[str, Any]) -> None:
    """A sample, the counts of verdicts, or the agreement with a judge."""
    asked = given(values, [one.name for one in arguments_of(api.judge)])
    stages = asked.get("stage", [])
    if stages and not (values["html"] or values["write"]):
        asked["write"] = f"{stages[0] if len(stages) == 1 else 'rows'}.judged.jsonl"
    if values["html"] and values["write"]:
        raise UsageError("--write belongs to a stage's sample; leave it out with --html")
    if stages:
        asked["stage"] = list(dict.fromkeys(stages))
    found = api.judge(**asked)
    if values["read"] and values["compare"]:
        views.show_agreement(found[0], values["as_json"])
    elif values["read"]:
        views.show_verdicts(found, values["as_json"])
        _warn_of_others(values["read"], values["store"])
    else:
        _say_sampled(found, asked, values)


def _warn_of_others(files: list[str], store: Path) -> None:
    """Warn of what stands there more than once, and of what was read and this store does not have."""
    judgements = verdicts.read(paths := [Path(path) for path in files])
    if repeated := len(verdicts.read_all(paths)) - len(judgements):
        print(f"{repeated:,} of the verdicts are there more than once, and count once", file=sys.stderr)
    if store == options.DEFAULT_STORE and not (store / "manifest.json").exists():
        return  # files can be counted where there is no store
    for name, why in verdicts.read_elsewhere(Store.open(store), judgements).items():
        print(visible(f"Warning: {name} was read elsewhere than in {store}: {why}"), file=sys.stderr)


def _say_sampled(found: list[dict[str, Any]], asked: dict[str, Any], values: dict[str, Any]) -> None:
    """Where the sample is, and what to do with it."""
    if values["html"]:
        page = Path(values["html"])
        saves = saved_as(page)
        if values["as_json"]:
            print(visible_json({"file": str(page), "rows": len(found), "saves": saves}))
        else:
            print(f"{visible(page)}: {len(found)} rows to judge; open it in a browser. Its button saves")
            print(f"{visible(saves)}, which `augment-cli judge --read` counts.")
        return
    name, opened = visible(asked["write"]), Store.open(values["store"])
    if values["as_json"]:
        print(visible_json({"file": asked["write"], "rows": len(found)}))
        return
    labels = dict.fromkeys(label_of(opened, stage) for stage in asked["stage"])
    print(f'{name}: {len(found)} rows to read. Set each "verdict" to good, awkward or wrong;')
    print("; ".join(f"of {_KINDS[label]}, {verdicts.MEANINGS[label]}" for label in labels) + ".")
    print(f"Then `augment-cli judge --read {name}` counts them.")


def ingest_corpus(values: dict[str, Any]) -> None:
    """The corpus, read or continued."""
    output = Output(values["quiet"], values["as_json"])
    reading, tolerance = options.reading_of(values)
    store, overwrite = values["store"], values["overwrite"]
    with Session(store, reporter=output.reporter(), overwrite=overwrite, sample=True) as session:
        read = session.append if values["append"] else session.ingest
        read(values["corpus"], reading, **vars(tolerance))
        output.show(session.store, session.results)
        if values["append"] and output.is_for_people:
            status_views.show_behind(session.store)


def run_recipe(values: dict[str, Any]) -> None:
    """What a recipe made, or the commands that make what is behind."""
    from augment_cli.pages.report import TITLE, write_report  # loads polars

    output, store = Output(values["quiet"], values["as_json"]), values["store"]
    if values["behind"]:
        _run_behind(store, values["dry_run"], output.quiet)
        return
    if values["dry_run"]:
        loaded = recipes.load(values["recipe"], values["changes"] or ())
        runs = [(item.run, item.stage, item.draws) for item in loaded]
        plan = plan_run(store, values["corpus"], options.reading_of(values)[0], runs)
        views.show_plan(plan, output.as_json)
        return
    page = Path(values["report"]) if values["report"] else None
    if page is not None:
        check_place(page, store, TITLE)
    result = _called(api.run_recipe, values, sample=True, reporter=output.reporter())
    output.show(result.store, result.stages)
    page = page if result.folders else None  # of nothing there is no page
    if page is not None:
        write_report(result.store, page, seconds=result.seconds)
    output.show_examples(result.store, result.stages, result.folders, page)
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


def _look_ahead(values: dict[str, Any], own: dict[str, Any], output: Output) -> bool:
    """Say what is left to ask a language model, and after some requests how long that takes."""
    store, sample = Store.open(values["store"]), values["sample"]  # there must be one
    if not (values["dry_run"] or sample):
        return False
    if values["dry_run"] and sample:
        raise UsageError(f"--sample {sample}: asks, and --dry-run asks nobody; leave one of them out")
    parameters, reporter = grouped(api.generate, own)["parameters"], output.reporter()
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


def convert_weights(values: dict[str, Any]) -> None:
    """Where the converted weights are."""
    written = api.convert_weights(values["folder"])
    print(f"{visible(written)}: written; the pickled file may be deleted")


def remove(values: dict[str, Any]) -> None:
    """What was removed, and what was made from it."""
    store, stages = values["store"], values["stages"]
    if values["with_descendants"]:
        stages = [*stages, *Store.open(store).made_from(*stages)]
    hanging = api.remove(stages, store)
    print(f"{visible(store)}: removed {', '.join(dict.fromkeys(stages))}")
    if hanging:
        print(
            f"Made from that, and kept: {', '.join(hanging)}. They stay readable; once {stages[0]} is made "
            f"anew with other settings, they are of the old. Delete them with "
            f"`augment-cli remove {' '.join(hanging)} --store {visible(store)}`"
        )


def pack_table(values: dict[str, Any]) -> None:
    """The packed table, its files, and the lines that train on it."""
    output, name = Output(values["quiet"], values["as_json"]), values["name"]
    columns = given(values, [item.name for item in declared(PackOptions)])
    if values["recipe"]:
        columns |= read_pack_recipe(Path(values["recipe"]))
    opened = Store.open(values["store"])  # there must be one
    out, beir = (Path(values[key]) if values[key] else None for key in ("out", "beir"))
    ends = [f"-{side}" for side in SIDES] if columns.get("split") else [""]
    if out is not None:
        check_export_path(out, opened, ends)
    if beir is not None:
        check_beir_folder(beir, opened, PackOptions(**columns))
    engine, overwrite = engine_of(values), values["overwrite"]
    with (
        reserved([out.with_stem(out.stem + end) for end in ends] if out else []),
        Session(opened.path, engine, output.reporter(), overwrite=overwrite, sample=True) as session,
    ):
        say, chosen = session.reporter.say, choose(session.store, **columns)
        if (notes := left_out(session.store, chosen)) and not (values["positives"] or values["negatives"]):
            say(f"left out, as their label is neither: {', '.join(notes)}; --labels kind takes them")
        stages = session.pack(chosen, name, values["dry_run"])
        if out is not None:
            for stage in stages:
                path = out.with_stem(out.stem + stage.removeprefix(name))
                say(f"{path}: {export(session.store, stage, path):,} rows")
        if beir is not None and stages:
            numbers = write_beir(session.store, stages[-1], beir)
            say(f"{beir}: {numbers['queries']:,} queries to {numbers['documents']:,} documents")
        output.show(session.store, session.results)
        if stages and output.is_for_people and (lines := training_lines(session.store, stages[0])):
            print(f"Train on it with sentence-transformers ({how_long(session.store, stages[0])}):\n")
            print(visible(lines), end="")


def card(values: dict[str, Any]) -> None:
    """The card; title and licence are asked for."""
    Store.open(values["store"])  # before anything is asked
    title = _asked(values["title"], "--title", "Name of the data set", "Augmented sentences")
    question = "Licence of the corpus, such as cc0-1.0"
    licence = _asked(values["license_name"], "--license", question, "unknown")
    print(_called(api.card, values, title=title, license_name=licence), end="")


def _asked(value: str | None, option: str, question: str, otherwise: str) -> str:
    """What was given; else what a person answers, or where nobody can a default that is said."""
    if value is not None:
        return value
    if sys.stdin.isatty():
        return str(typer.prompt(question, default=otherwise, err=True))
    print(f"Note: without {option} the card says {otherwise!r}", file=sys.stderr)
    return otherwise


def doctor(values: dict[str, Any]) -> None:
    """What is ready, and what is not."""
    views.show_needs(_called(api.doctor, values), values["as_json"])


def publish(values: dict[str, Any]) -> None:
    """How much was copied to another place."""
    address, quiet, as_json = values["address"], values["quiet"], values["as_json"]
    if is_address(address) and parse(address).scheme == "memory":
        raise UsageError(
            f"{shown(address)}: is this command's own memory, which ends with it; give a place that stays"
        )
    with ConsoleReporter(quiet or as_json).progress("publish", None) as progress:
        done = api.publish(values["store"], address, overwrite=values["overwrite"], progress=progress)
    left_out = {
        "as they are unfinished": done.unfinished,
        "as the corpus has grown since they were made (see `augment-cli status`)": done.outgrown,
    }
    for reason, stages in left_out.items():
        if stages and not as_json:
            ConsoleReporter(quiet).warn(f"left out, {reason}: {', '.join(stages)}")
    _say_copied(f"{shown(address)}: {values['store']} is published", done, quiet, as_json)


def fetch(values: dict[str, Any]) -> None:
    """How much was copied from there."""
    quiet, as_json = values["quiet"], values["as_json"]
    with ConsoleReporter(quiet or as_json).progress("fetch", None) as progress:
        done = api.fetch(values["address"], values["store"], progress=progress)
    _say_copied(f"{values['store']}: is the store of {shown(values['address'])}", done, quiet, as_json)


def _say_copied(what: str, done: Any, quiet: bool, as_json: bool) -> None:
    if as_json:
        print(visible_json(vars(done)))
    elif not quiet:
        size = f"{done.copied:,} parts copied, {done.bytes / 1e6:,.1f} MB; {done.kept:,} were there"
        print(f"{visible(what)} ({size})")
