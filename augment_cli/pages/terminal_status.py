"""How `status` looks on a terminal, and what an append left behind."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import Any

from augment_cli.errors.visible import visible_line
from augment_cli.pages.terminal import print_json, say_line, share, show_table, size
from augment_cli.reports import report
from augment_cli.reports.soundness import command_for, commands_behind, left_over
from augment_cli.session.base import StageResult
from augment_cli.store.store import Store


def show_status(store: Store, corpus: Sequence[str] | None, as_json: bool, settings: bool) -> None:
    """A line a stage: rows, size, whether it is ready, and the command that helps where it is not."""
    entries = report.status(store, corpus)
    for line in left_over(store):
        print(visible_line(line), file=sys.stderr)
    if as_json:
        print_json(entries)
        return
    rows: list[tuple[str, ...]] = []
    for entry in entries:
        done = f"{entry['rows']:,}" + (f" + {entry['rows_in_work']:,}" if entry["rows_in_work"] else "")
        numbers = (done, share(entry), size(entry["bytes"]))
        if settings:
            parts = f"{entry['parts']}/{entry['expected_parts']}" + " unfinished" * (not entry["complete"])
            rows.append((entry["stage"], parts, *numbers, _settings_of(entry)))
        else:
            rows.append((entry["stage"], *numbers, _state_of(entry)))
    right = ("parts", "rows", "changed", "size") if settings else ("rows", "changed", "size")
    show_table(("stage", *right, "settings" if settings else "state"), rows, right)
    if any(entry["rows_in_work"] for entry in entries):
        say_line("+: rows of parts that are not finished; the same command resumes them.")
    for entry in entries:
        if entry["missing_parts"] and not entry["behind"]:
            command = _again(store, entry, resumes=not entry["differs"])
            say_line(f"{entry['stage']} lacks the parts {entry['missing_parts']}{command}")
        if not entry["behind"] and entry["differs"]:
            line = f"{entry['stage']} cannot be reused: made with {entry['differs']}{_again(store, entry)}"
            say_line(line, "yellow")
        if settings and entry["behind"]:
            say_line(f"{entry['stage']} {entry['behind']}")
    show_behind(store)


def _state_of(entry: dict[str, Any]) -> str:
    """Whether a stage is ready; of an augmentation also the options that it needs to be asked for with."""
    if entry["behind"]:
        return "behind"
    if not entry["complete"]:
        return f"unfinished: {entry['parts']} of {entry['expected_parts']} parts"
    if entry["differs"]:
        return "cannot be reused"
    return f"ready, made with {entry['options']}" if entry["options"] else "ready"


def _settings_of(entry: dict[str, Any]) -> str:
    parameters = entry["parameters"].items()
    shown = {
        key: report.short(value) for key, value in parameters if value is not None and value is not False
    }
    if entry["seed"] is not None:
        shown["seed"] = entry["seed"]
    shown["fingerprint"] = report.short(entry["fingerprint"])
    return ", ".join(f"{key}={value}" for key, value in shown.items())


def _again(store: Store, entry: dict[str, Any], resumes: bool = False) -> str:
    """The command that makes a stage, where the manifest has it and one does."""
    words = command_for(store, entry["stage"], resumes) if entry["stage"] in store.stages() else []
    return f"; {shlex.join(words)}" if words else ""


def show_parts(store: Store, results: Sequence[StageResult]) -> None:
    """Of each stage that a task of an array worked on whether it made something, and what is missing."""
    took = {result.stage: result.seconds for result in results if result.was_made}
    entries = {entry["stage"]: entry for entry in report.status(store)}
    for name in dict.fromkeys(result.stage for result in results):
        entry = entries[name]
        done = f"its parts are made in {took[name]:.1f} s" if name in took else "its parts were there already"
        missing = entry["missing_parts"]
        whole = f"still missing: {missing}" if missing else "the stage is complete"
        say_line(f"{name}: {done}; {entry['parts']} of {entry['expected_parts']} parts are there, {whole}")


def show_behind(store: Store) -> None:
    """The commands that make what is behind, in their order; nothing where nothing is."""
    if commands := commands_behind(store):
        say_line(
            "Behind since files were appended; these commands make it, in this order "
            f"(augment-cli run --behind --store {shlex.quote(str(store.path))} runs them):",
            "yellow",
        )
        for words in commands:
            say_line(f"  {shlex.join(words)}")
