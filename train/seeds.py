"""Repeated runs: one for each seed, then mean and standard deviation."""

from __future__ import annotations

import dataclasses
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from augment_cli.encoding.layout import is_static
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
    summary |= part("extras.finished").known_by(run, str(results[0][0] / "best"))
    (run.out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    show(summary)


def show(summary: dict[str, Any]) -> None:
    """Print the scores of all seeds, and what to do next."""
    print(f"{'score':<28} {'mean':>8} {'sd':>8}   over seeds {', '.join(map(str, summary['seeds']))}")
    for name, values in summary["scores"].items():
        mean, deviation = part("extras.card").mean_and_deviation(values)
        print(f"{name:<28} {mean:>8.4f} {deviation:>8}")
    print(next_lines(Path(summary["model"])))


def next_lines(model: Path) -> str:
    """Where the model is, and the lines that publish it and that convert it."""
    name, hub = shlex.quote(str(model)), shlex.quote(f"YOUR-NAME/{model.absolute().parent.name}")
    convert = "none, as a static encoder has no layers to convert: a text is looked up in its table"
    if not is_static(model):  # sentence-transformers has no ONNX form of StaticEmbedding
        convert = f"SentenceTransformer({str(model)!r}, backend='onnx').save_pretrained({f'{model}-onnx'!r})"
    return "\n".join([f"model: {model}", f"publish: hf upload {hub} {name} .", f"ONNX: {convert}"])
