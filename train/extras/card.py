"""The model card of an export, as model hubs read it; whether a command has finished before."""

import json
import re
import shlex
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from huggingface_hub import EvalResult, ModelCard, ModelCardData

from augment_cli.encoding.layout import is_static
from augment_cli.encoding.words_apart import texts_of
from augment_cli.languages import language_codes
from augment_cli.models.digest import model_digest
from augment_cli.neural.loading import MINILM, MINILM_PACKAGE, find_folder
from augment_cli.store.files import read_small_file, sha256_of_file
from augment_cli.store.store import Store
from train.outputs import CHECKPOINTS
from train.recipe import Recipe

_LOOKED_AT = 1_000  # texts, for their languages
_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
# What the dev score on public data is called on the hub: its data, their name, and the metric.
_STSB = ("mteb/stsbenchmark-sts", "STS-B, development part", "spearman")


def known_by(recipe: Recipe, store: Path, encoder: str, model: str) -> dict[str, Any]:
    """What a summary has of its command: where its model is, the settings, digests of store and encoder."""
    start, _ = find_folder(encoder, False, "model")
    digests = {"store": sha256_of_file(store / "manifest.json"), "encoder": model_digest(start)}
    return {"model": model, "settings": json.loads(json.dumps(recipe.as_json()))} | digests


def is_finished(recipe: Recipe, store: Path, encoder: str, out: Path, seeds: list[int], say: bool) -> bool:
    """Whether nothing is left to do; it may be said then."""
    try:
        summary = json.loads(read_small_file(out / "summary.json"))
        outs = [out / f"seed-{seed}" if len(seeds) > 1 else out for seed in seeds]
        ends = [f"{CHECKPOINTS}/step-{step:07d}/state.json" for step in summary["steps"]]
        kept = [Path(summary["model"]) / "README.md", *map(Path.joinpath, outs, ends)]
        known = known_by(recipe, store, encoder, summary["model"]) | {"seeds": seeds}
        same = all(file.is_file() for file in kept) and summary.items() >= known.items()
        if same and say:
            print("finished before: the same settings, data and encoder; another --out trains anew")
            show(summary)
    except Exception:  # whatever is wrong, the run itself says so
        return False
    return same


def show(summary: dict[str, Any]) -> None:
    """Print the scores of all seeds, and what to do next."""
    print(f"{'score':<28} {'mean':>8} {'sd':>8}   over seeds {', '.join(map(str, summary['seeds']))}")
    for name, values in summary["scores"].items():
        mean, deviation = mean_and_deviation(values)
        print(f"{name:<28} {mean:>8.4f} {deviation:>8}")
    print(next_lines(Path(summary["model"])))


def next_lines(model: Path) -> str:
    """Where the model is, and the lines that publish it and that convert it."""
    name, hub = shlex.quote(str(model)), shlex.quote(f"YOUR-NAME/{model.absolute().parent.name}")
    convert = "none, as a static encoder has no layers to convert: a text is looked up in its table"
    if not is_static(model):  # sentence-transformers has no ONNX form of StaticEmbedding
        convert = f"SentenceTransformer({str(model)!r}, backend='onnx').save_pretrained({f'{model}-onnx'!r})"
    return "\n".join([f"model: {model}", f"publish: hf upload {hub} {name} .", f"ONNX: {convert}"])


def mean_and_deviation(values: list[float]) -> tuple[float, str]:
    """Mean, and sample standard deviation as text."""
    return float(np.mean(values)), f"{np.std(values, ddof=1):.4f}" if len(values) > 1 else "–"


def origin(start: str, store: Store) -> dict[str, Any]:
    """What an encoder is made of, as cards name it: its start and licence, the corpus's languages."""
    known = start in (MINILM_PACKAGE, *MINILM)
    is_on_hub = known or (_HUB_NAME.fullmatch(start) and not Path(start).exists())
    card = find_folder(start, False, "--encoder")[0] / "README.md"
    told = ModelCard.load(card, ignore_metadata_errors=True).data if card.is_file() else ModelCardData()
    return {
        "base_model": (MINILM[-1] if known else start) if is_on_hub else None,
        "license": told.license,
        "language": language_codes(list(texts_of(store, _LOOKED_AT))) or None,
    }


def card_data(made_of: dict[str, Any], library: str, *tags: str) -> ModelCardData:
    """What hubs read of a sentence encoder."""
    tags = ("sentence-similarity", *tags)
    return ModelCardData(library_name=library, pipeline_tag=tags[0], tags=list(tags), **made_of)


def save(folder: Path, data: ModelCardData, lines: list[str]) -> None:
    """Write a folder's README.md."""
    (folder / "README.md").write_text(f"---\n{data.to_yaml()}\n---\n\n" + "\n".join(lines), encoding="utf-8")


def write_card(folder: Path, facts: dict[str, Any]) -> None:
    """Write the model's README.md from the facts of its run; `train.run.finish` has them."""
    recipe = {key: escape(str(value), quote=False) for key, value in facts["recipe"].items()}
    pooling = facts["pooling"] if folder.name == "last" else facts.get("best_pooling", facts["pooling"])
    lines = [f"# {escape(facts['name'], quote=False)}", "", recipe.get("description", ""), ""]
    lines += ["| | |", "|---|---|"]
    lines += [f"| trained from | {facts['encoder']} |", f"| pooling | {pooling} |"]
    lines += [f"| optimiser steps | {facts['steps']} |", f"| command | `{facts['command']}` |"]
    lines += [f"| data: {stage} | SHA-256 `{digest}` |" for stage, digest in facts["data"].items()]
    if said := facts.get("verdict"):
        lines += ["", f"Verdict: {said}."]
    lines += [line for said in facts.get("warnings", []) for line in ("", f"Warning of the run: {said}.")]
    lines += ["", f"## Scores over seeds {', '.join(map(str, facts['seeds']))}", ""]
    lines += ["| | mean | sd | each |", "|---|---|---|---|"]
    for name, values in facts["scores"].items():
        (mean, deviation), each = mean_and_deviation(values), ", ".join(f"{value:.4f}" for value in values)
        lines.append(f"| {name} | {mean:.4f} | {deviation} | {each} |")
    lines += ["", "## Settings", "", "| | |", "|---|---|"]
    lines += [f"| {key} | {value} |" for key, value in recipe.items() if key not in ("name", "description")]
    lines += ["", *how_to_load(folder), ""]
    data = card_data(facts["origin"], "sentence-transformers", "feature-extraction")
    data.model_name = facts["name"]
    if values := facts["scores"].get(f"{folder.name} stsb_dev"):
        mean = round(mean_and_deviation(values)[0], 4)
        data.eval_results = [EvalResult("sentence-similarity", *_STSB, mean)]
    save(folder, data, lines)


def how_to_load(folder: Path) -> tuple[str, ...]:
    """How a card of a sentence encoder ends."""
    if is_static(folder):
        return (
            "A static encoder. Load it with `SentenceTransformer(folder)`, or with model2vec's",
            "`StaticModel.from_pretrained(folder)`.",
        )
    return (
        "Load it with `SentenceTransformer(folder)`, or `AutoModel.from_pretrained(folder)` and the pooling",
        "named above.",
    )
