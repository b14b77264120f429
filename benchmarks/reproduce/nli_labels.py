"""Training on the labels of NLI, as AugCSE's tables 2 and 14 have it, with what is here of SNLI and ANLI.

    python -m benchmarks.reproduce.nli_labels --data ../shared/data --work runs/nli
    python -m benchmarks.reproduce.nli_labels --show

The papers train on 550,000 labelled pairs of SNLI; here are SNLI's dev and test sets, 5,864 premises with an
entailed and a contradicting hypothesis, and of ANLI's dev sets 115 contexts. All start from the bed of
`tables` and take 80 steps of 32, each way at its own learning rate, chosen by one seed. STS-B dev, best
checkpoint. SNLI's premises are captions, and some of STS-B dev's pairs are captions of the same images.
"""

from __future__ import annotations

import argparse
import csv
import dataclasses
import re
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from augment_cli.ingest import IngestOptions
from augment_cli.session import Session
from augment_cli.store.store import Store
from benchmarks.reproduce.grid import load_grid
from benchmarks.reproduce.paired import interval
from benchmarks.result_lines import add_line, read_lines
from eval.protocols.geometry_nli import triples
from eval.tasks.registry import load_registry
from eval.tasks.table import Table, read_table
from train.data.texts import SELF
from train.loading import load_recipe
from train.machine.distributed import join
from train.prepare import Run
from train.run import train

RESULTS = Path(__file__).parent / "results" / "nli-labels.jsonl"
RATES = (5e-5, 1e-4, 2e-4, 3e-4, 5e-4)
CHOOSING, REPORTED = 1001, (42, 0, 1)  # seeds
_COLUMNS = ("entailed", "contradicting")


class Way(NamedTuple):
    """What a training takes from the labels, and STS-B dev in the paper."""

    corpus: str
    positive: str
    negative: str  # empty: none
    published: float


WAYS = {
    "premises alone": Way("snli", SELF, "", 81.18),
    "entailed, against contradicting": Way("snli", "entailed", "contradicting", 85.64),
    "entailed": Way("snli", "entailed", "", 83.60),
    "contradicting": Way("snli", "contradicting", "", 79.55),
    "contradicting, against entailed": Way("snli", "contradicting", "entailed", 67.16),
    "ANLI: entailed, against contradicting": Way("anli", "entailed", "contradicting", 75.99),
    "ANLI: entailed": Way("anli", "entailed", "", 78.66),
}


def triples_of(table: Table) -> list[tuple[str, str, str]]:
    """(premise, entailed, contradicting) of a data set, in all its splits."""
    return [
        triple
        for split in table.task.counts
        for triple in triples(dataclasses.replace(table, task=dataclasses.replace(table.task, split=split)))
    ]


def store_of(way: str, options: argparse.Namespace) -> Store:
    """The store of a way, whose columns are the positive and the negative that it takes; made once."""
    own = WAYS[way]
    folder: Path = options.work / _slug(way) / "store"
    if not (folder / "manifest.json").is_file():
        folder.parent.mkdir(parents=True, exist_ok=True)
        path = folder.with_name("triples.csv")
        with path.open("w", encoding="utf-8", newline="") as file:
            table = read_table(load_registry()[own.corpus], options.data)
            csv.writer(file).writerows([("text", *_COLUMNS), *triples_of(table)])
        columns = IngestOptions(
            positive_columns=() if own.positive == SELF else (own.positive,),
            negative_columns=(own.negative,) if own.negative else (),
        )
        with Session(folder) as session:
            session.ingest([path], columns)
    return Store.open(folder)


def measure(way: str, rate: float, seed: int, options: argparse.Namespace) -> dict[str, Any]:
    """One training: STS-B dev of its best checkpoint, × 100, and from how many premises."""
    own, store, bed = WAYS[way], store_of(way, options), load_grid().profiles["tables"]
    changes = [*bed.set, "steps=80", f"learning_rate={rate:g}", f"seed={seed}"]
    changes += [f'positives=["{own.positive}"]']
    changes += [f'negatives=["{own.negative}"]'] if own.negative else []
    out = options.work / _slug(way) / f"{rate:g}-{seed}"
    run = Run(load_recipe("simcse", changes), store.path, bed.encoder, out, options.data)
    trained = train(run, join())
    if trained.stopped_by:
        raise SystemExit(f"stopped after step {trained.steps}; the same command goes on")
    shutil.rmtree(out)
    before, best = (next(iter(trained.scores[when].values())) for when in ("before", "best"))
    points = {"start": round(100 * before, 2), "dev": round(100 * best, 2)}
    return {"way": way, "rate": rate, "seed": seed, "premises": store.rows} | points


def _slug(way: str) -> str:
    return re.sub("[^A-Za-z]+", "-", way)


def table(lines: list[dict[str, Any]]) -> str:
    """Each way at its own rate, over the seeds that chose nothing, as Markdown."""
    rows = [
        "| positive, against what | premises | rate | STS-B dev | in the paper |",
        "|---|---:|---:|---:|---:|",
    ]
    for way in dict.fromkeys(line["way"] for line in lines):
        own = [line for line in lines if line["way"] == way and line["seed"] in REPORTED]
        if len(own) == len(REPORTED):
            scores = interval([line["dev"] for line in own])
            spread = f"{scores.mean:.1f} ({scores.low:.1f} to {scores.high:.1f})"
            rows.append(
                f"| {way} | {own[0]['premises']:,} | {own[0]['rate']:g} | {spread} | {WAYS[way].published} |"
            )
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--work", type=Path, default=Path("runs/nli"))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--show", action="store_true", help="the table alone")
    options = parser.parse_args()
    lines = read_lines(options.results)

    def dev(way: str, rate: float, seed: int) -> float:
        key = {"way": way, "rate": rate, "seed": seed}
        if not any(key.items() <= line.items() for line in lines):
            add_line(options.results, lines, measure(way, rate, seed, options))
        return next(float(line["dev"]) for line in lines if key.items() <= line.items())

    for way in () if options.show else WAYS:
        rate = max(RATES, key=lambda one: dev(way, one, CHOOSING))
        for seed in REPORTED:
            dev(way, rate, seed)
    print(table(lines))


if __name__ == "__main__":
    main()
