"""The table of `benchmarks/results/words.md` on what reading showed, from `data/judged/`.

    python -m benchmarks.judged_table

A stage whose augmentation or word lists have changed since somebody read it is marked as stale, and a test
fails until the table says so or new rows have been read:

    augment-cli judge synonym -n 30 --store STORE --write data/judged/synonym.jsonl
"""

from pathlib import Path

from augment_cli import augmentations
from augment_cli.contract.augmentation import entailment_of, meaning_of
from augment_cli.reports.verdicts import read, summary
from benchmarks import markdown

ROOT = Path(__file__).parents[1]
JUDGED = ROOT / "data/judged"
DOCUMENT = ROOT / "benchmarks/results/words.md"


def table(folder: Path = JUDGED) -> str:
    """The table as Markdown, a row for each stage that was read."""
    rows, stale = [], []
    for entry in summary(read(sorted(folder.glob("*.jsonl")))):
        descriptor = augmentations.get(entry["augmentation"])
        mark = " †" if entry["stale"] else ""
        if entry["stale"]:
            stale.append(f"`{entry['stage']}`: {entry['stale']}")
        rows.append(
            [
                f"`{entry['stage']}`{mark}",
                entailment_of(descriptor).label,
                descriptor.kind,
                meaning_of(descriptor),
                *(str(entry[name]) for name in ("read", "good", "awkward", "wrong")),
                f"{entry['wrong_low']:.0%} – {entry['wrong_high']:.0%}",
            ]
        )
    said = ["stage", "label", "kind", "AugCSE's class", "read", "good", "awkward", "wrong", "wrong, 95 %"]
    footnote = "\n\n† Read before it changed: " + "; ".join(stale) + "." if stale else ""
    return markdown(said, rows, "llllrrrrl") + footnote


def main() -> None:
    print(table())


if __name__ == "__main__":
    main()
