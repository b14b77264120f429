"""What the commands do that look at a store, change what it holds or hand it on.

Loaded when a command is run, as it needs what the commands need.
"""

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from augment_cli import api
from augment_cli.augmentations.labels import label_of
from augment_cli.cli import options
from augment_cli.cli.options import given
from augment_cli.contract.operation import arguments_of
from augment_cli.errors import BadInputError, UsageError
from augment_cli.errors.visible import is_address, parse, shown, visible
from augment_cli.pages import terminal as views
from augment_cli.pages.judging import saved_as
from augment_cli.process.reporter import Bars
from augment_cli.reports import verdicts
from augment_cli.reports.choosing import can_be_unchanged
from augment_cli.reports.soundness import behind
from augment_cli.store.store import Store


def called(function: Callable[..., Any], values: dict[str, Any], **more: Any) -> Any:
    """What an operation returns for those of a command's values that are its own."""
    own = [one.name for one in arguments_of(function) if one.name not in more]
    return function(**given(values, own), **more)


def look(values: dict[str, Any]) -> None:
    """What a file holds, and how to go on."""
    views.show_look(called(api.look, values), values["as_json"])


def inspect(values: dict[str, Any]) -> None:
    """Rows of a stage, and what to ask for where there are few."""
    rows = called(api.inspect, values)
    views.show_rows(rows, values["as_json"])
    if values["as_json"]:
        return
    stage, store = values["stage"], Store.open(values["store"])
    if not rows:
        given_too = {name: values[name] for name in ("where", "contains")}
        asked = " ".join(f"--{name} {shlex.quote(value)}" for name, value in given_too.items() if value)
        views.say_line(f"{stage}: no row fits {asked}" if asked else f"{stage}: no row to show")
    is_all = values["unchanged"] or values["rows"] or values["reason"] or not can_be_unchanged(store, stage)
    if len(rows) < min(values["count"], store.stage(stage).rows) and not is_all:
        views.say_line("Only changed rows are shown; --unchanged shows the others too.", style="dim")


def stats(values: dict[str, Any]) -> None:
    """The numbers of a stage, or the table of all."""
    with views.working() as progress:
        found = called(api.stats, values, progress=progress)
    show = views.show_comparison if values["stage"] is None else views.show_stats
    show(found, values["as_json"])


def status(values: dict[str, Any]) -> None:
    """A line a stage."""
    opened = Store.open(values["store"])
    views.show_status(opened, values["corpus"], values["as_json"], values["settings"])


def list_augmentations(values: dict[str, Any]) -> None:
    """The augmentations, or the recipes."""
    entries = api.list_recipes() if values["recipes"] else api.list_augmentations()
    if values["as_json"]:
        views.print_json(entries)
    elif values["recipes"]:
        views.show_table(("recipe", "summary"), [tuple(entry.values()) for entry in entries])
    else:
        columns = ("name", "kind", "label", "needs", "summary")
        entries = [entry | {"needs": ", ".join(entry["needs"])} for entry in entries]
        views.show_table(columns, [[entry[name] for name in columns] for entry in entries])


def report(values: dict[str, Any]) -> None:
    """Where the page is, and what stands out."""
    written = called(api.report, values)
    if values["as_json"]:
        views.print_json(written)
        return
    for notice in written["notices"]:
        print(visible(notice))
    count, size = len(written["stages"]), f"{written['bytes'] / 1000:.0f} kB"
    print(f"{visible(values['out'])}: {size}, {count} stage{'s' * (count != 1)}; open it in a browser")


def verify(values: dict[str, Any]) -> None:
    """Check every part, and print what is damaged and what is out of date."""
    store, opened = values["store"], Store.open(values["store"])
    problems, late = api.verify(opened), [name for name in opened.stages() if behind(opened, name)]
    if values["as_json"]:
        views.print_json({"store": str(store), "problems": problems, "behind": late})
    if problems:
        counted = f"{store}: {len(problems)} problem{'s' * (len(problems) > 1)}"
        raise BadInputError("\n".join([counted, *problems]))
    if not values["as_json"]:
        print(f"{visible(store)}: {len(opened.stages())} stages, every part is as it was committed")
        if late:
            print(visible(f"behind since files were appended: {', '.join(late)}"))
            views.show_behind(opened)


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
    page, count = values["html"], len(found)
    file, saves = (page, {"saves": saved_as(Path(page))}) if page else (asked["write"], {})
    name = visible(file)
    if values["as_json"]:
        views.print_json({"file": file, "rows": count, **saves})
    elif page:
        print(f"{name}: {count} rows to judge; open it in a browser. Its button saves")
        print(f"{visible(saves['saves'])}, which `augment-cli judge --read` counts.")
    else:
        opened = Store.open(values["store"])
        labels = dict.fromkeys(label_of(opened, stage) for stage in asked["stage"])
        print(f'{name}: {count} rows to read. Set each "verdict" to good, awkward or wrong;')
        print("; ".join(f"of {_KINDS[label]}, {verdicts.MEANINGS[label]}" for label in labels) + ".")
        print(f"Then `augment-cli judge --read {name}` counts them.")


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


def card(values: dict[str, Any]) -> None:
    """The card; title and licence are asked for."""
    Store.open(values["store"])  # before anything is asked
    title = _asked(values["title"], "--title", "Name of the data set", "Augmented sentences")
    question = "Licence of the corpus, such as cc0-1.0"
    licence = _asked(values["license_name"], "--license", question, "unknown")
    print(called(api.card, values, title=title, license_name=licence), end="")


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
    views.show_needs(called(api.doctor, values), values["as_json"])


def publish(values: dict[str, Any]) -> None:
    """How much was copied to another place."""
    address, as_json = values["address"], values["as_json"]
    if is_address(address) and parse(address).scheme == "memory":
        raise UsageError(
            f"{shown(address)}: is this command's own memory, which ends with it; give a place that stays"
        )
    with Bars(values["quiet"] or as_json).progress("publish", None) as progress:
        done = called(api.publish, values, progress=progress)
    left_out = {
        "as they are unfinished": done.unfinished,
        "as the corpus has grown since they were made (see `augment-cli status`)": done.outgrown,
    }
    for reason, stages in left_out.items():
        if stages and not as_json:
            Bars(values["quiet"]).warn(f"left out, {reason}: {', '.join(stages)}")
    _say_copied(f"{shown(address)}: {values['store']} is published", done, values)


def fetch(values: dict[str, Any]) -> None:
    """How much was copied from there."""
    with Bars(values["quiet"] or values["as_json"]).progress("fetch", None) as progress:
        done = called(api.fetch, values, progress=progress)
    _say_copied(f"{values['store']}: is the store of {shown(values['address'])}", done, values)


def _say_copied(what: str, done: Any, values: dict[str, Any]) -> None:
    if values["as_json"]:
        views.print_json(vars(done))
    elif not values["quiet"]:
        size = f"{done.copied:,} parts copied, {done.bytes / 1e6:,.1f} MB; {done.kept:,} were there"
        print(f"{visible(what)} ({size})")
