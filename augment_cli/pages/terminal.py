"""How reports look: tables and marked sentences on a terminal, JSON for programs."""

import contextlib
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from augment_cli.errors.visible import visible_json, visible_line
from augment_cli.pages import layout
from augment_cli.reports import report
from augment_cli.reports.choosing import typical_rows
from augment_cli.reports.comparison import lines_on_easy
from augment_cli.reports.soundness import command_for, commands_behind, left_over
from augment_cli.session import StageResult
from augment_cli.store.store import Store

_MOST_SHOWN = 7  # stages with examples at the end of a run


def console() -> Console:
    """Where data goes: stdout; wide enough not to wrap where it is not a terminal."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 120)


def show_table(columns: Sequence[str], rows: Iterable[Sequence[object]], right: Collection[str] = ()) -> None:
    """A table, a row each; the columns in `right` are aligned there."""
    table = Table(box=box.SIMPLE_HEAD)
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left")
    for row in rows:
        table.add_row(*map(cell, row))
    console().print(table)


def say_line(line: str, style: str = "") -> None:
    """A line below a table, whatever it holds."""
    console().print(visible_line(line), style=style, markup=False, soft_wrap=True)


def cell(value: object) -> Text:
    """A value in a table: as it is, whatever it holds; no markup, no control characters."""
    return Text(visible_line(value))


def print_json(value: Any) -> None:
    """One JSON value on stdout."""
    print(visible_json(value))


def or_json(show: Callable[[Any], None]) -> Callable[[Any, bool], None]:
    """A view that prints what it shows as JSON where that is asked for."""

    def show_or_print(found: Any, as_json: bool) -> None:
        print_json(found) if as_json else show(found)

    return show_or_print


def size(count: int | None) -> str:
    """A number of bytes for people, in powers of 1000."""
    if count is None:
        return ""
    power = min((len(str(count)) - 1) // 3, 4)
    value = count / 1000**power
    return f"{value:.{int(power > 0 and value < 100)}f} {('B', 'kB', 'MB', 'GB', 'TB')[power]}"


def duration(seconds: float) -> str:
    """A time for people, in seconds, minutes or hours."""
    unit, length = ("s", 1) if seconds < 100 else ("min", 60) if seconds < 6_000 else ("h", 3_600)
    value = seconds / length
    return f"{value:.1f} {unit}" if value < 10 else f"{value:,.0f} {unit}"


def print_run(store: Store, results: Sequence[StageResult]) -> None:
    """Every stage of the store as JSON, with the seconds of those that this run made."""
    seconds = {result.stage: round(result.seconds, 3) for result in results if result.was_made}
    print_json([entry | {"seconds": seconds.get(entry["stage"])} for entry in report.status(store)])


def show_run(store: Store, results: Sequence[StageResult]) -> None:
    """What a run made, a row a stage; stages that it found in the store are only named."""
    seconds = {result.stage: result.seconds for result in results if result.was_made}
    found = [result.stage for result in results if result.stage not in seconds]
    made = {*seconds, *map(_made_with, seconds)}
    entries = [entry for entry in report.status(store) if entry["stage"] in made]
    rows = []
    for entry in entries:
        took = f"{seconds[entry['stage']]:.1f}" if entry["stage"] in seconds else ""
        rows.append((entry["stage"], f"{entry['rows']:,}", share(entry), took, size(entry["bytes"])))
    if rows:
        numbers = ("rows", "changed", "seconds", "size")
        show_table(("stage", *numbers), rows, numbers)
    if found:
        intro = "Already there" if entries else "Nothing to do, already there with these settings"
        say_line(f"{intro}: {', '.join(dict.fromkeys(found))}")


def _made_with(stage: str) -> str:
    """The stage that is made together with another: the rejects, or the terms of a fit; else itself."""
    if stage == "corpus":
        return "rejects"
    return stage.replace("tfidf", "terms", 1) if stage.startswith("tfidf") else stage


def share(entry: dict[str, Any]) -> str:
    """How many of the rows that it was run on a stage changed, in percent; empty where that says nothing."""
    if entry["changed"] is None:
        return ""
    run_on = entry["rows_asked"]
    of = f" of {run_on:,}" if run_on < entry["rows"] else ""
    return f"{100 * entry['changed'] / max(run_on, 1):.1f} %{of}"


@or_json
def show_look(found: dict[str, Any]) -> None:
    """What a file holds, and the command to go on with."""
    for line in found["notes"]:
        say_line(line)
    columns = ("name", "filled", "distinct", "characters", "example")
    rows = [[entry[name] for name in columns] for entry in found["columns"]]
    if rows:
        show_table(columns, rows, right=columns[1:4])
    say_line(f"To go on: {found['command']}", style="bold")


@or_json
def show_verdicts(entries: Sequence[dict[str, Any]]) -> None:
    """What was found in rows that were read: counts of a stage, and the interval of those that are wrong."""
    counts = ("read", "good", "awkward", "wrong")
    rows = []
    for entry in entries:
        interval = f"{entry['wrong_low']:.0%} – {entry['wrong_high']:.0%}" if entry["read"] else ""
        numbers = [entry[name] for name in counts]
        rows.append((entry["stage"], *numbers, interval, entry["unread"], entry["stale"] or ""))
    right = (*counts, "wrong, 95 %", "unread")
    show_table(("stage", *right, "stale"), rows, right)


@or_json
def show_agreement(found: dict[str, Any]) -> None:
    """On how many pairs a judge and people say the same."""
    judged = [f"judge: {verdict}" for verdict in next(iter(found["confusion"].values()))]
    rows = [(people, *row.values()) for people, row in found["confusion"].items()]
    show_table(("people", *judged), rows, judged)
    left = found["left_out"]
    line = (
        f"{found['pairs']:,} pairs of {found['of']}; left out: {left['unclear']:,} that say nothing of the "
        f"meaning, {left['not_in_stage']:,} that the judge did not see"
    )
    if found["accuracy"] is not None:
        low, high = found["accuracy_low"], found["accuracy_high"]
        line += f"; agreement {found['accuracy']:.0%} ({low:.0%} – {high:.0%})"
    if found["kappa"] is not None:
        line += f", kappa {found['kappa']:.2f}"
    say_line(line)


@or_json
def show_stats(entry: dict[str, Any]) -> None:
    """The numbers of one stage."""
    table = Table(box=None, show_header=False)
    for key, value in entry.items():
        if key == "fingerprint" or value is None or (key == "rows_asked" and value == entry["rows"]):
            continue
        if key == "bytes":
            value = size(value)
        elif key in ("difficulty", "diversity"):
            value = value["words"]
        elif isinstance(value, dict):
            value = ", ".join(f"{name} {number}" for name, number in report.short(value).items()) or "none"
        elif isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, int | float):
            value = f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
        table.add_row(cell(key.replace("_", " ")), cell(value))
    console().print(table)


@or_json
def show_comparison(entries: Sequence[dict[str, Any]]) -> None:
    """Augmentations side by side, a row each."""
    forms = {
        "changed_share": ("changed", lambda value: f"{100 * value:.1f} %"),
        "edits_per_changed_row": ("edits", "{:.2f}".format),
        "length_ratio": ("length", "{:.3f}".format),
        "sentences_per_second": ("sentences/s", "{:,.0f}".format),
        "cosine": ("cosine", "{:.3f}".format),
        "perplexity_difference": ("perplexity", "{:+.1f}".format),
    }
    said = {name: (name, str) for name in ("stage", "meaning", "label")}
    shown = {key: one for key, one in forms.items() if any(entry[key] is not None for entry in entries)}
    rows = [
        ["" if entry[key] is None else form(entry[key]) for key, (_, form) in (said | shown).items()]
        for entry in entries
    ]
    right = [name for name, _ in shown.values()]
    show_table((*said, *right), rows, right)
    for entry in entries:
        if "difficulty" in entry:
            say_line(f"{entry['stage']}: {entry['difficulty']['words']}")
    if "sentences_per_second" in shown:
        say_line(
            "sentences/s: the rule alone, timed now in one process; parsing, reading and writing add to it.",
            style="dim",
        )


def show_rows(rows: Sequence[dict[str, Any]], as_json: bool) -> None:
    """Rows of a stage; of an augmentation, the original and the result with the changed words marked."""
    # Raw bytes as text, so that they can be printed and be JSON.
    rows = [
        {
            key: value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
            for key, value in row.items()
        }
        for row in rows
    ]
    if as_json:
        print_json(rows)
        return
    out = console()
    for row in rows:
        if "original" not in row:
            # As they are: repr would double the backslash of a byte that is no UTF-8.
            shown = {k: f"'{v}'" if isinstance(v, str) else repr(v) for k, v in row.items()}
            line = "  ".join(f"{key}={value}" for key, value in shown.items())
            out.print(visible_line(cut_long_tokens(line)), markup=False, soft_wrap=True)
            continue
        before, after = marked(row["original"], row.get("edits") or [])
        if row["text"] is None:
            after = Text(visible_line(f"unchanged: {row['reason']}"), "yellow")
        elif "edits" not in row:
            after = Text(visible_line(cut_long_tokens(row["text"])))
        out.print(Text.assemble((f"{row['row_id']:>9}  ", "dim"), before), soft_wrap=True)
        out.print(Text.assemble(("        →  ", "dim"), after), soft_wrap=True)
        if numbers := row.get("scores"):
            known = ", ".join(f"{key} {value:g}" for key, value in numbers.items() if value is not None)
            out.print(Text(f"           {known}", "dim"), soft_wrap=True)


def marked(original: str, edits: Sequence[dict[str, Any]]) -> tuple[Text, Text]:
    """Original and augmented text with the changed words in [brackets], red and green on a terminal."""
    before, after = Text(), Text()
    for pieces in layout.pieces(original, edits):
        kept, removed, new = (visible_line(cut_long_tokens(piece)) for piece in pieces)
        before.append(kept).append(f"[{removed}]" if removed else "", "red")
        after.append(kept).append(f"[{new}]" if new else "", "bold green")
    return before, after


# Addresses, keys and the like. Scripts that are written without spaces begin at U+0E00 (Thai).
_LONG_TOKEN = re.compile(r"[^\s\u0e00-\U0010ffff]{61,}")


def cut_long_tokens(text: str) -> str:
    """A text for the screen: of a token of more than 60 characters, its first 40 and how many there are."""
    return _LONG_TOKEN.sub(lambda match: f"{match[0][:40]}…({len(match[0]):,} characters)", text)


@contextlib.contextmanager
def working() -> Iterator[Callable[[str], None]]:
    """A line that says what is being worked on: on a terminal, and gone when the work is done."""
    screen = Console(stderr=True, highlight=False)
    if not screen.is_terminal:
        yield lambda name: None
        return
    with screen.status("") as status:
        yield lambda name: status.update(Text(f"looking at {visible_line(name)}"))


def show_hints(store: Store, folders: Sequence[str], page: Path | None = None) -> None:
    """Typical changed rows of the first stages, where the report is, and what to type next."""
    out = console()
    option = "" if store.path == Path("store") else f" --store {shlex.quote(str(store.path))}"
    for folder in folders[:_MOST_SHOWN]:
        rows = typical_rows(store, folder, 2 if len(folders) < 3 else 1)
        out.print(f"From {folder}:" if rows else f"{folder}: no row was changed", style="bold")
        show_rows(rows, as_json=False)
    show_easy(store, folders)
    if page is not None:
        out.print(f"\nLook at all of it in a browser: {visible_line(page)}", style="bold", soft_wrap=True)
    program, python = (_as_typed(name) for name in ("augment-cli", "python"))
    read = f"import polars; print(polars.read_parquet('{store.path}/{folders[0]}/*.parquet'))"
    out.print("\nNext:", style="bold")
    for command in (
        f"{program} inspect {folders[0]} -n 20{option}",
        f"{program} report{option}" if page is None else f"{program} stats {folders[0]}{option}",
        f'{python} -c "{read}"',
    ):
        out.print(f"  {visible_line(command)}", markup=False, soft_wrap=True)


def show_easy(store: Store, names: Sequence[str]) -> None:
    """Which negatives teach little, and what makes harder ones."""
    for line in lines_on_easy(store, names):
        say_line(line)


def _as_typed(program: str) -> str:
    """A program so that the command works as it stands where its environment is not activated."""
    if shutil.which("augment-cli") is not None:
        return program
    path = str(Path(sys.executable).parent / program)
    return min(os.path.relpath(path), path, key=len)


@or_json
def show_needs(entries: Sequence[dict[str, Any]]) -> None:
    """What is ready on this machine, and what is not."""
    rows = [
        (entry["what"], "yes" if entry["ready"] else "no", ", ".join(entry["missing"]), entry["get"] or "")
        for entry in entries
    ]
    show_table(("what", "ready", "missing", "get it with"), rows)


@or_json
def show_plan(entries: Sequence[dict[str, Any]]) -> None:
    """What a run would do."""
    right = ("about rows", "about seconds", "about size")
    rows = []
    for entry in entries:
        seconds = f"{entry['seconds']:.0f}" if "seconds" in entry else ""
        rows.append((entry["stage"], entry["state"], f"{entry['rows']:,}", seconds, size(entry.get("bytes"))))
    show_table(("stage", "", *right), rows, right)


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
    known = entry["parameters"] | {key: entry[key] for key in ("seed", "fingerprint")}
    shown = {key: value for key, value in known.items() if value is not None and value is not False}
    return ", ".join(f"{key}={report.short(value)}" for key, value in shown.items())


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
