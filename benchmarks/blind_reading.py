"""Changed rows for two readers who do not know whose they are, and how far the two agree.

    python -m benchmarks.blind_reading write --store runs/books --store runs/wiki -n 30 --out runs/blind
    python -m benchmarks.blind_reading table --key runs/blind/key.jsonl first.jsonl second.jsonl
    python -m benchmarks.blind_reading table first.judged.jsonl second.judged.jsonl

`write` draws rows of every stage of the stores, or of those that `--stage` names, and writes them in random
order: `rows.jsonl` has the texts with what is asked of them, `key.jsonl` whose they are. Each reader gets a
copy of the first and sets its verdicts; the second stays closed until both are done. `table` prints for each
stage what each reader found and Cohen's kappa, over the rows that both have read. Without `--key` the files
are those that the page of `augment-cli judge A B --html` saves, of the same rows.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from augment_cli.augmentations.labels import label_of
from augment_cli.pages.facts import stages_of
from augment_cli.pages.judging import asked_of
from augment_cli.reports.agreement import kappa_of
from augment_cli.reports.verdicts import MEANINGS, VERDICTS, Judgement, read, sample, wilson, write
from augment_cli.store.store import Store


class BlindRow(msgspec.Struct):
    """A row as a reader sees it."""

    number: int  # of the line of the key, from 1
    asked: str  # what the verdicts say of such a row
    original: str
    text: str
    verdict: str | None = None  # to be set: good, awkward or wrong
    note: str = ""


def main() -> None:
    """Write rows, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write", help="rows to read, and their key")
    writing.add_argument("--store", type=Path, action="append", required=True, help="repeatable")
    writing.add_argument("--stage", action="append", help="repeatable; all of each store by default")
    writing.add_argument("-n", "--count", type=int, default=30, help="rows of each stage of each store")
    writing.add_argument("--seed", type=int, default=0)
    writing.add_argument("--out", type=Path, required=True, help="folder of rows.jsonl and key.jsonl")
    comparing = commands.add_parser("table", help="what two readers found")
    comparing.add_argument("files", type=Path, nargs=2)
    comparing.add_argument("--key", type=Path)
    options = parser.parse_args()
    if options.command == "write":
        rows = drawn(options.store, options.stage, options.count, options.seed)
        print(f"{len(rows)} rows: {write_rows(options.out, rows, options.store)}")
    else:
        key = read([options.key]) if options.key else None
        print(table(*(of_reader(path, key) for path in options.files)))


def drawn(stores: Sequence[Path], stages: Sequence[str] | None, count: int, seed: int) -> list[Judgement]:
    """Rows of the stages in random order."""
    opened = [Store.open(path) for path in stores]
    rows = [
        one
        for store in opened
        for stage in stages_of(store)
        if stages is None or stage in stages
        if any(part.statistics["changed"] for part in store.stage(stage).parts.values())
        for one in sample(store, stage, count, seed)
    ]
    return [rows[place] for place in np.random.default_rng(seed).permutation(len(rows)).tolist()]


def write_rows(folder: Path, key: Sequence[Judgement], stores: Sequence[Path]) -> Path:
    """Write what readers get, and the key; returns the first."""
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "key.jsonl", key)
    asked = {
        (store.stage("corpus").settings["fingerprint"], stage): (
            f"{asked_of(store, stage)}; {MEANINGS[label_of(store, stage)]}"
        )
        for store in map(Store.open, stores)
        for stage in stages_of(store)
    }
    rows = [
        BlindRow(number, asked[one.store, one.stage], one.original or "", one.text or "")
        for number, one in enumerate(key, 1)
    ]
    path = folder / "rows.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    return path


def of_reader(path: Path, key: Sequence[Judgement] | None) -> list[Judgement]:
    """What a reader judged, with whose each row is."""
    if key is None:
        return read([path])
    found = []
    for line in path.read_text("utf-8").splitlines():
        row = msgspec.json.decode(line, type=BlindRow)
        one = key[row.number - 1] if 0 < row.number <= len(key) else None
        if one is None or (one.original, one.text) != (row.original, row.text):
            raise SystemExit(
                f"{path}: row {row.number} is not that of the key; name the key it was written with"
            )
        if row.verdict not in (*VERDICTS, None):
            raise SystemExit(f"{path}: row {row.number}: a verdict is one of {', '.join(VERDICTS)}, or null")
        found.append(msgspec.structs.replace(one, verdict=row.verdict, note=row.note))
    return found


def table(first: Sequence[Judgement], second: Sequence[Judgement]) -> str:
    """A row for each stage, and one for all: both readers' good/awkward/wrong, and how far they agree."""
    verdicts = {(one.store, one.stage, one.row_id): one.verdict for one in second}
    pairs: dict[str, list[tuple[str, str]]] = {}
    for one in first:
        other = verdicts.get((one.store, one.stage, one.row_id))
        if one.verdict and other:
            pairs.setdefault(one.stage, []).append((one.verdict, other))
    lines = [
        "| stage | read | first: good/awkward/wrong | second | wrong, 95 % | agree | kappa |",
        "|---|---:|---:|---:|---|---:|---:|",
    ]
    together = [pair for some in pairs.values() for pair in some]
    lines += [_line(f"`{stage}`", pairs[stage]) for stage in sorted(pairs)]
    return "\n".join([*lines, _line("all", together)] if together else lines)


def _line(name: str, pairs: Sequence[tuple[str, str]]) -> str:
    """Wrong is what either reader calls so in the mean; the interval is that of the mean count."""
    counts = [
        "/".join(str(sum(pair[reader] == verdict for pair in pairs)) for verdict in VERDICTS)
        for reader in (0, 1)
    ]
    wrong = sum(verdict == "wrong" for pair in pairs for verdict in pair) / 2
    low, high = wilson(wrong, len(pairs))
    alike = sum(one == other for one, other in pairs) / len(pairs)
    kappa = kappa_of(pairs)
    cells = [name, str(len(pairs)), *counts, f"{low:.0%} – {high:.0%}", f"{alike:.0%}"]
    return f"| {' | '.join(cells)} | {'' if kappa is None else f'{kappa:.2f}'} |"


if __name__ == "__main__":
    main()
