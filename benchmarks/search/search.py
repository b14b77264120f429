"""Try recipes on the frozen bed by STS-B dev alone, and keep a log of every attempt.

::

    python -m benchmarks.search run --data DATA          # the trials that the log does not have yet, in order
    python -m benchmarks.search show                     # the log as a table, best first
    python -m benchmarks.search table                    # the winner with one part removed at a time

`trials.toml` lists what is tried, `trials.jsonl` what came out, a line an attempt in the order of trying; no
test set is read. A trial is a recipe of `train/recipes` with the settings of the profile `bed` of
`benchmarks/reproduce/grid.toml` and its own on top.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import UserError
from augment_cli.store.store import Store
from benchmarks.reproduce.entries import Row
from benchmarks.reproduce.grid import load_grid
from benchmarks.reproduce.stages import Stages
from benchmarks.reproduce.units import encoder_digest, make_unit
from benchmarks.reproduce.work import Job, train_unit
from benchmarks.search.ablation import ablation_table, lead_table, read_points

TRIALS = Path(__file__).with_name("trials.toml")
LOG = Path(__file__).with_name("trials.jsonl")
# The same rows as in benchmarks/results/evidence.csv, from the bed of another processor.
SECOND_BED = Path(__file__).parents[2] / "benchmarks/results/evidence-tables.csv"
RESULTS = Path(__file__).parents[1] / "reproduce" / "results"
PROFILE = "bed"


@dataclass(frozen=True)
class Trial:
    """An attempt."""

    name: str  # unique
    why: str  # the reason for it
    recipe: str  # of `train/recipes`
    set: tuple[str, ...] = ()  # settings on top of it and of the profile
    seeds: tuple[int, ...] = (42,)  # of the trainings


def read_trials(path: Path) -> tuple[list[Trial], dict[str, str], dict[str, str]]:
    """The trials in order, and the commands of the stages and of the vectors that only they need, by name."""
    given = tomllib.loads(path.read_text(encoding="utf-8"))
    trials = [
        Trial(**{**one, "set": tuple(one.get("set", ())), "seeds": tuple(one.get("seeds", (42,)))})
        for one in given["trial"]
    ]
    return trials, given.get("stages", {}), given.get("vectors", {})


def read_log(path: Path) -> list[dict[str, Any]]:
    """Every attempt, in the order in which they were made."""
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def run(args: argparse.Namespace) -> None:
    """Train what the log does not have."""
    trials, commands, vectors = read_trials(args.trials)
    grid = load_grid()
    profile = grid.profiles[PROFILE]
    grid = grid.of_profile(profile)
    profile.stages.update(commands)
    folder = args.runs / PROFILE
    stages = Stages(grid, profile, folder / f"store-{profile.rows}", args.data)
    digest = encoder_digest(profile, grid.beds.get(PROFILE))
    tokenizer = load_encoder(profile.encoder).tokenizer
    known = {line["key"] for line in read_log(args.log)}
    for trial in trials:
        row = Row(trial.name, trial.why, trial.recipe, set=trial.set)
        for seed in trial.seeds:
            unit = make_unit(grid, profile, row, seed, digest)
            if unit.key in known:
                continue
            stages.make(unit.stages, tokenizer)
            make_vectors(stages.folder, unit.recipe.additions if unit.recipe else {}, vectors)
            job = Job(
                unit, profile, {}, {}, (), {}, stages.folder, stages.counted, args.data, folder, args.log
            )
            scores = train_unit(job)
            shutil.rmtree(job.out, ignore_errors=True)
            line = {
                "trial": trial.name,
                "seed": seed,
                "key": unit.key,
                "encoder": digest[:12],
                "recipe": trial.recipe,
                "set": list(trial.set),
                "dev": scores.get("best"),
                "before": scores.get("before"),
                "last": scores.get("last"),
                "best_step": scores.get("best_step"),
                "cpu_seconds": scores.get("cpu_seconds"),
                "failed": scores.get("failed"),
            }
            line = {key: value for key, value in line.items() if value is not None}
            with args.log.open("a", encoding="utf-8") as log:
                log.write(json.dumps(line, ensure_ascii=False) + "\n")
            known.add(unit.key)
            print(trial.name, seed, scores.get("before"), scores.get("best"), flush=True)


def make_vectors(store: Path, additions: dict[str, Any], commands: dict[str, str]) -> None:
    """The vectors of a teacher or guide that a trial reads, by their `augment-cli embed` commands."""
    for settings in additions.values():
        name = settings.get("vectors", "")
        if not name:
            continue
        for command in commands[name].split(";"):
            words = command.split()
            stage = f"vectors-{words[1]}" if not words[1].startswith("-") else "vectors"
            if Store.open(store).has(f"{stage}-{name}") or Store.open(store).has(f"{stage}.{name}"):
                continue
            given = [*words, "--store", str(store), "--name", name, "--max-rejects", "1"]
            done = subprocess.run(
                [sys.executable, "-m", "augment_cli", *given], capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise UserError(f"{command}: {done.stderr.strip()}")


def show(args: argparse.Namespace) -> None:
    """The log, a line a trial, those of one bed's encoder together: dev scores of two beds do not compare."""
    by_trial: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for line in read_log(args.log):
        by_trial[line["encoder"], line["trial"]].append(line)
    rows = [
        (encoder, mean([100 * (one.get("dev") or 0) for one in lines]), name, lines)
        for (encoder, name), lines in by_trial.items()
    ]
    shown = ""
    for encoder, dev, name, lines in sorted(rows, reverse=True, key=lambda row: row[:2]):
        if encoder != shown:
            print(f"from the encoder {encoder}")
            shown = encoder
        devs = [100 * (one.get("dev") or 0) for one in lines]
        spread = f" ± {stdev(devs):.2f}" if len(devs) > 1 else ""
        print(
            f"{dev:6.2f}{spread:7} ({len(devs)}) {name:40} {lines[0]['recipe']} {' '.join(lines[0]['set'])}"
        )


def table(args: argparse.Namespace) -> None:
    """The winner beside all rows at their own rates, and without each of its parts on two beds."""
    print(lead_table(load_grid(), RESULTS), end="\n\n")
    print(ablation_table(load_grid(), [read_points(path) for path in args.scores]))


def main(argv: Sequence[str] | None = None) -> None:
    """Read the arguments and act."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.search", description=__doc__)
    parser.add_argument("action", choices=("run", "show", "table"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--runs", type=Path, default=Path("runs/reproduce"))
    parser.add_argument("--trials", type=Path, default=TRIALS)
    parser.add_argument("--log", type=Path, default=LOG)
    parser.add_argument(
        "--scores", type=Path, nargs="+", default=[Path("benchmarks/results/evidence.csv"), SECOND_BED]
    )
    args = parser.parse_args(argv)
    {"run": run, "show": show, "table": table}[args.action](args)
