"""The table of `benchmarks/results/judged.md` on what reading showed, from `data/judged/`.

    python -m benchmarks.judged_table            # print it
    python -m benchmarks.judged_table --write    # put it into the document

Changed share, cosine and speed come from the tables of `benchmarks/results/augmentations.md`, which
`benchmarks.augmentation_table` makes. A stage whose augmentation or word lists have changed since somebody
read it is marked as stale, and a test fails until the table says so or new rows have been read:

    augment-cli judge synonym -n 30 --store STORE --write data/judged/synonym.jsonl
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from augment_cli import augmentations
from augment_cli.contract.augmentation import meaning_of
from augment_cli.contract.entailment import entailment_of
from augment_cli.reports.verdicts import read, summary

ROOT = Path(__file__).parents[1]
JUDGED = ROOT / "data/judged"
DOCUMENT = ROOT / "benchmarks/results/judged.md"
SOURCE = ROOT / "benchmarks/results/augmentations.md"
BEGIN, END = "<!-- judged: made by python -m benchmarks.judged_table --write -->", "<!-- end of judged -->"
_ROW = re.compile(r"^\| `([a-z-]+)` ?[*‡§]? \|(.*)\|$")
_SHOWN = ("cosine", "changed %", "sentences/s")


def measured() -> dict[str, dict[str, str]]:
    """Changed share, cosine and speed of each stage, as the tables of measurements have them."""
    found: dict[str, dict[str, str]] = {}
    columns: list[str] = []
    for line in SOURCE.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| stage |"):
            columns = cells
        elif not line.startswith("|"):
            columns = []
        elif (row := _ROW.match(line)) and set(_SHOWN) <= set(columns):
            values = dict(zip(columns, cells, strict=True))
            found.setdefault(row[1], {name: values[name] for name in _SHOWN})
    return found


def table(folder: Path = JUDGED) -> str:
    """The table as Markdown, a row for each stage that was read."""
    numbers = measured()
    about = ("stage", "label", "kind", "AugCSE's class")
    names = (*about, "read", "good", "awkward", "wrong", "wrong, 95 %", *_SHOWN)
    lines = [f"| {' | '.join(names)} |", "|---|---|---|---|---:|---:|---:|---:|---|---:|---:|---:|"]
    stale = []
    for entry in summary(read(sorted(folder.glob("*.jsonl")))):
        descriptor = augmentations.get(entry["augmentation"])
        of_stage = numbers.get(entry["stage"], dict.fromkeys(_SHOWN, ""))
        mark = " †" if entry["stale"] else ""
        if entry["stale"]:
            stale.append(f"`{entry['stage']}`: {entry['stale']}")
        cells = [
            f"`{entry['stage']}`{mark}",
            entailment_of(descriptor).label,
            descriptor.kind,
            meaning_of(descriptor),
            *(str(entry[name]) for name in ("read", "good", "awkward", "wrong")),
            f"{entry['wrong_low']:.0%} – {entry['wrong_high']:.0%}",
            *(of_stage[name] for name in _SHOWN),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    if stale:
        lines += ["", "† Read before it changed: " + "; ".join(stale) + "."]
    return "\n".join(lines)


def with_table(text: str, made: str) -> str:
    """A document with the table between the marks replaced."""
    before, _, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise SystemExit(f"{DOCUMENT}: has no {BEGIN} and {END} to put the table between")
    return f"{before}{BEGIN}\n\n{made}\n\n{END}{after}"


def main() -> None:
    """Print the table, or put it into the document."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--write", action="store_true", help="put it into benchmarks/results/judged.md")
    made = table()
    if parser.parse_args().write:
        DOCUMENT.write_text(with_table(DOCUMENT.read_text("utf-8"), made), "utf-8")
    else:
        print(made)


if __name__ == "__main__":
    main()
