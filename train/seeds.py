"""Repeated runs: one for each seed, then mean and standard deviation."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

from train.components import part
from train.machine.distributed import Ranks
from train.prepare import Run
from train.run import RunResult, train


def repeat(run: Run, seeds: list[int], ranks: Ranks) -> int:
    """Train once for each seed, in `out/seed-N` where there are several."""
    # The summary goes to standard output and to `summary.json`; every seed's card names the scores of all.
    results: list[tuple[Path, RunResult]] = []
    for seed in seeds:
        out = run.out if len(seeds) == 1 else run.out / f"seed-{seed}"
        one = dataclasses.replace(run, recipe=dataclasses.replace(run.recipe, seed=seed), out=out)
        result = train(one, ranks)
        if result.stopped_by:
            if ranks.is_first:
                line = f"interrupted after step {result.steps}; the same command continues from there"
                print(line, file=sys.stderr)
            return 128 + result.stopped_by
        results.append((out, result))
    if ranks.is_first:
        _summarise(run, seeds, results)
    return 0


def _summarise(run: Run, seeds: list[int], results: list[tuple[Path, RunResult]]) -> None:
    names = list(dict.fromkeys(name for _, result in results for name in result.facts["scores"]))
    scores = {name: [result.facts["scores"][name][0] for _, result in results] for name in names}
    for out, result in results:
        part("extras.plot").plot(out)
        facts = result.facts | {"seeds": seeds, "scores": scores}
        for kind in ("best", "last", *(["whitened"] if (out / "whitened").is_dir() else [])):
            part("extras.card").write_card(out / kind, facts)
    summary = {"seeds": seeds, "scores": scores, "steps": [result.steps for _, result in results]}
    finished = part("extras.card")
    summary |= finished.known_by(run.recipe, run.store, run.encoder, str(results[0][0] / "best"))
    (run.out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    finished.show(summary)
