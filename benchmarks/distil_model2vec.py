"""`python -m train distil` beside model2vec's own distillation: one run, one teacher, same scores.

    python -m benchmarks.distil_model2vec --data ../shared/data --store wiki --work runs/distil
    python -m benchmarks.distil_model2vec --data ../shared/data --store wiki --work runs/distil \\
        --regress 200000 --size 20000

Each encoder is made in a process of its own with as many threads as its library takes (`OMP_NUM_THREADS=1`
makes CPU seconds comparable on a busy machine). What lies in `--work` is not made again. Printed is a JSON
line for each: its tokens, its seconds on the clock and CPU seconds (with starting Python and loading the
teacher), and Spearman × 100 on STS-B and STS12 to 15, with the average of these tests. model2vec knows no
corpus and takes a token's rank in the teacher's vocabulary for its frequency; ours counts in the store's
sentences. `--regress` also fits a table to the store's vectors of so many sentences; making them
(`augment-cli embed`) is not in its seconds.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.loading import load_encoder
from augment_cli.neural.loading import MINILM_PACKAGE, find_model
from eval.contract.options import Options, Progress
from eval.runner import score_task
from eval.tasks.registry import load_registry
from eval.tasks.table import read_table

TASKS = ("stsb", "sts12", "sts13", "sts14", "sts15")  # of the average
DEV = "stsb-dev"
MODEL2VEC = """
import sys
from model2vec.distill import distill
distill(sys.argv[1]).save_pretrained(sys.argv[2])
"""


def commands(options: argparse.Namespace) -> dict[str, list[str]]:
    """How each encoder is made, but for the folder that it goes to."""
    teacher = str(find_model(MINILM_PACKAGE).path)
    ours = ["-m", "train", "distil", "--store", str(options.store), "--out"]
    found = {"model2vec": ["-c", MODEL2VEC, teacher], "table": ours}
    if options.regress:
        found["regression"] = ["-m", "train", "distil", "--store", str(options.store)]
        found["regression"] += ["--regress", str(options.regress), "--size", str(options.size), "--out"]
    return {name: [sys.executable, *command] for name, command in found.items()}


def timed(command: list[str]) -> dict[str, float]:
    """Run a command; its seconds on the clock and its CPU seconds."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": round(time.perf_counter() - began, 1), "cpu_seconds": round(cpu, 1)}


def scores(encoder: Encoder, data: Path) -> dict[str, float]:
    """Spearman × 100 of each task, and the average of the tests."""
    registry, found = load_registry(), {}
    for name in (DEV, *TASKS):
        table = read_table(registry[name], data)
        found[name] = 100 * score_task(table, encoder.encode, Options(), Progress()).main
    found["average"] = sum(found[name] for name in TASKS) / len(TASKS)
    return {name: round(value, 2) for name, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--store", type=Path, required=True, help="with the corpus that ours counts in")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--regress", type=int, default=0, help="sentences of the regression (default: none)")
    parser.add_argument("--size", type=int, default=0, help="tokens of the regression's table (default: all)")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    for name, command in commands(options).items():
        out, times = options.work / name, options.work / f"{name}.json"
        if not out.is_dir():
            times.write_text(json.dumps(timed([*command, str(out)])), encoding="utf-8")
        encoder = load_encoder(str(out))
        table = encoder.model.embedding.weight
        line = {"encoder": name, "tokens": len(table), "dimension": table.shape[1]}
        line |= json.loads(times.read_text(encoding="utf-8")) | scores(encoder, options.data)
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
