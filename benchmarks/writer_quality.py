"""What positives that a language model wrote are worth: encoders trained on them, and on others.

    python -m benchmarks.writer_quality --model NAME --data ../shared/data --work runs/writer
    python -m benchmarks.writer_quality --model NAME --data DIR --work runs/writer --encoder runs/bed/encoder

The sentences are the first `--rows` of at most 80 characters of Wikipedia, as in `make reproduce`;
`--encoder` takes the encoder that `make bed` makes. From the same start three kinds of positives are taught,
each with each seed: the sentence itself (SimCSE), `rephrase`, and the model's. Printed is the share of
sentences that each changes, and the mean of the STS test sets with the least and the largest over seeds. What
is finished is not made again.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from augment_cli.contract.generate_parameters import GenerateParameters
from augment_cli.contract.ingest_options import IngestOptions
from augment_cli.reports.report import stats
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store
from benchmarks import judge_quality

CORPUS = "corpus/wiki_en-00.txt.gz"
POSITIVES = {"self": "SimCSE", "rephrase": "`rephrase`", "llm-paraphrase": "the model's"}
# One pass over short sentences, 80 steps of 32.
SETTINGS = "pooling=mean batch=32 learning_rate=5e-5 epochs=1 evaluate_every=20 threads=1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", required=True)
    judge_quality.add_options(parser)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="folder of the store and the runs")
    parser.add_argument("--encoder", default="data/models/encoder")
    parser.add_argument("--rows", type=int, default=2_560)
    parser.add_argument("--seeds", default="42,0,1")
    parser.add_argument("--tasks", default="sts")
    parser.add_argument("--set", dest="further", action="append", default=[], help="of the training, too")
    options = parser.parse_args()
    store = written_store(options)
    print(f"| positives | changed | {options.tasks} | least – most |\n|---|---:|---:|---|")
    for stage, name in POSITIVES.items():
        values = [score(options, stage, int(seed)) for seed in options.seeds.split(",")]
        changed = "" if stage == "self" else f"{stats(store, stage)['changed_share']:.0%}"
        mean = statistics.fmean(values)
        print(f"| {name} | {changed} | {mean:.2f} | {min(values):.2f} – {max(values):.2f} |", flush=True)


def written_store(options: argparse.Namespace) -> Store:
    """The store with the sentences, `rephrase` and what the model wrote."""
    sentences = IngestOptions(limit=options.rows, max_characters=80)
    with Session(options.work / "store") as session:
        session.ingest([options.data / CORPUS], sentences, max_rejects=1.0)  # the longer lines
        session.augment(make_run("rephrase"))
        session.paraphrase(GenerateParameters(**judge_quality.chosen(options)))
        return session.store


def score(options: argparse.Namespace, stage: str, seed: int) -> float:
    """The mean score of an encoder that learnt from positives, in percent; trained where it is not there."""
    run, results = options.work / f"{stage}-{seed}", options.work / "results" / f"{stage}-{seed}"
    wanted = [*SETTINGS.split(), f"positives={stage}", f"seed={seed}", *options.further]
    words = ["simcse", "--store", options.work / "store", "--encoder", options.encoder, "--out", run]
    words += ["--data", options.data, *(word for one in wanted for word in ("--set", one))]
    _call("train", *words)
    asked = ("--data", options.data, "--tasks", options.tasks, "--no-plots", "--json")
    (entry,) = json.loads(_call("eval", run / "best", *asked, "--out", results))
    return 100 * statistics.fmean(one["main_score"] for one in entry["scores"].values())


def _call(program: str, *words: object) -> str:
    """What a program prints; what it says beside goes to people."""
    return subprocess.check_output([sys.executable, "-m", program, *map(str, words)], text=True)


if __name__ == "__main__":
    main()
