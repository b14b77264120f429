"""First evidence: what each method makes of one encoder and one corpus, over seeds.

    augment-cli una --corpus 20000-wikipedia-sentences.txt --store store-evidence
    PYTHONPATH=. python -P benchmarks/train_evidence.py --store store-evidence --data DATA \\
        --table docs/training-evidence.md

Rows are those whose stages are in the store: no training, SimCSE in both layouts, UNA, each positive (PI, AA,
DN, UDA, paraphrase, …), each other negative as columns, and paraphrase + UNA. Make another stage in the store
and run the same command again: what is finished is not trained again. Every row has the same settings
(SETTINGS below, --set on top), the best checkpoint by STS-B dev, and is scored on STS-B dev and test by the
evaluator.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torch

from augment_cli import augmentations
from augment_cli.store import Store
from eval.encoder import load_encoder
from eval.sts import stsb
from train.export import mean_and_deviation
from train.tokens import cache_tokens

# One set for all rows, so that they differ in the method alone: the papers' for BERT-base, but mean pooling,
# as the small encoder has never trained its [CLS], bf16, and a higher rate (see docs/training.md for why).
SETTINGS = (
    "pooling=mean", "batch=64", "learning_rate=1e-4", "clip=1.0", "precision=bf16", "evaluate_every=104",
    "checkpoint_every=1000000", "threads=1", "slices=2",
)  # fmt: skip
NOT_TEXT = ("corpus", "rejects", "terms", "tfidf", "parses")


@dataclass(frozen=True)
class Row:
    """A line of the table: what it is called, and how it is trained (nothing: not at all)."""

    name: str
    recipe: str = ""
    changes: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        """Name of its runs' folder."""
        return self.name.lower().replace(" ", "-").replace(",", "").replace("+", "and")


def rows_of(store: Store) -> list[Row]:
    """The rows that a store's finished stages allow."""
    rows = [Row("no training"), Row("SimCSE, one-way", "simcse"), Row("SimCSE, NT-Xent", "simcse-ntxent")]
    names = [name for name in store.stages() if store.has(name) and "/" not in name and "." not in name]
    if "una" in names:
        rows += [Row("UNA, pool", "una"), Row("UNA, columns", "una-columns")]
    for name in names:
        made_by = store.stage(name).settings["stage"]
        if made_by not in augmentations.names() or name == "una":
            continue
        if name == "paraphrase":
            rows.append(Row("paraphrase", "paraphrase"))
        elif augmentations.get(made_by).kind == "negative":
            rows.append(Row(f"{name} as the negative", "una-columns", (f"negatives={name}",)))
        else:
            rows.append(Row(f"{name.upper()} as the positive", "sda", (f"positives={name}",)))
    if {"paraphrase", "una"} <= set(names):
        rows.append(Row("paraphrase + UNA", "paraphrase-una"))
    return rows


def train_row(row: Row, seed: int, args: argparse.Namespace) -> Path:
    """Train a row with a seed unless that is done, and return the model's folder."""
    out = args.out / row.folder / f"seed-{seed}"
    command = [sys.executable, "-m", "train", row.recipe, "--store", args.store, "--encoder", args.encoder]
    command += ["--data", args.data, "--out", out]
    for change in (*SETTINGS, *row.changes, *args.set, f"seed={seed}"):
        command += ["--set", change]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{shlex.join(map(str, command))}\n{done.stderr[-2000:]}")
    return out / "best"


def score(model: str | Path, args: argparse.Namespace) -> dict[str, float]:
    """Spearman correlation on STS-B dev and test."""
    encoder = load_encoder(model, pooling="mean")
    return {split: stsb(encoder.encode, args.data, split).spearman for split in ("dev", "test")}


def main() -> None:
    """Read the command line, train what is not trained, score, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", type=Path, required=True, help="store with corpus and augmentations")
    parser.add_argument("--encoder", default="data/models/encoder", help="the encoder all rows start from")
    parser.add_argument("--data", type=Path, required=True, help="data folder with sts/")
    parser.add_argument("--out", type=Path, default=Path("runs/evidence"), help="folder of the runs")
    parser.add_argument("--seeds", default="42,0,1", help="comma-separated")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change a setting of all rows"
    )
    parser.add_argument("--only", help="only rows whose name contains one of these, comma-separated")
    parser.add_argument("--table", type=Path, help="write the table there as well")
    args = parser.parse_args()
    torch.set_num_threads(1)
    seeds = [int(seed) for seed in args.seeds.split(",")]
    store = Store.open(args.store)
    wanted = [part.strip() for part in args.only.split(",")] if args.only else [""]
    rows = [row for row in rows_of(store) if any(part in row.name for part in wanted)]
    tokenizer = load_encoder(args.encoder).tokenizer
    texts = [stage for stage in store.stages() if stage not in NOT_TEXT and "/" not in stage]
    for name in ("corpus", *texts):
        cache_tokens(store, name, tokenizer)  # once here: two runs at a time would refuse to write both
    with ThreadPoolExecutor(args.jobs) as pool:
        tasks = [(row, seed) for row in rows if row.recipe for seed in seeds]
        models = dict(zip(tasks, pool.map(lambda task: train_row(*task, args), tasks), strict=True))
    lines = [
        f"STS-B Spearman × 100, mean ± sd over seeds {args.seeds}; {store.rows:,} sentences; settings "
        f"`{' '.join([*SETTINGS, *args.set])}`.",
        "",
        "| method | dev | test |",
        "|---|---|---|",
    ]
    results = {}
    for row in rows:
        scores = (
            [score(models[row, seed], args) for seed in seeds] if row.recipe else [score(args.encoder, args)]
        )
        results[row.name] = scores
        cells = []
        for split in ("dev", "test"):
            mean, deviation = mean_and_deviation([100 * one[split] for one in scores])
            cells.append(f"{mean:.2f}" + (f" ± {float(deviation):.2f}" if row.recipe else ""))
        lines.append(f"| {row.name} | {' | '.join(cells)} |")
    print("\n".join(lines))
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "scores.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if args.table:
        args.table.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
