"""What a model folder says about itself: modules, pooling, longest input, prompts. JSON only, no weights."""

import contextlib
import dataclasses
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from augment_cli.encoding.pooling import LAYER_MEANS, STORED, canonical
from augment_cli.errors import BadInputError, MissingError, UsageError
from augment_cli.models.digest import JsonFiles, unfit
from augment_cli.neural.loading import check_weights

_LATER = ("Normalize", "Dense", "LayerNorm")  # steps that may follow the pooling
_MOST_MODULES = 100
PROMPTS_FILE = "config_sentence_transformers.json"
DEFAULT_POOLING = "mean"  # what the sentence-transformers library assumes for a folder that stores none


@dataclass(frozen=True)
class Prompts:
    """Texts that an encoder wants before others, by their names in sentence-transformers."""

    texts: dict[str, str] = field(default_factory=dict)  # such as `{"query": "query: ", "document": ""}`
    default: str = ""  # name of the one that is put before every text unless another is named; or empty
    pooled: bool = True  # whether the pooling counts a prompt's tokens

    def text(self, name: str = "", where: object = "the encoder") -> str:
        """The prompt of a name, or the default one; empty without either."""
        if name and name not in self.texts:
            known = (
                f"has the prompts {', '.join(self.texts)}; name one"
                if self.texts
                else "has no prompts; leave it out"
            )
            raise UsageError(f"prompt {name!r}: {where} {known} ({PROMPTS_FILE})")
        return self.texts.get(name or self.default, "")


@dataclass(frozen=True)
class Module:
    """A step after pooling."""

    kind: str  # `Normalize`, `Dense` or `LayerNorm`
    folder: Path  # where its weights are
    settings: dict[str, Any]  # its config.json


@dataclass(frozen=True)
class Layout:
    """Where the transformer of a model folder lies, or its table, and what happens to its output."""

    transformer: Path  # folder with config, weights and tokenizer; of a static encoder, with its table
    pooling: str | None = None  # stored pooling, or None where the folder stores none
    max_length: int | None = None  # stored longest input in tokens, or None
    lower_case: bool = False  # whether texts are lower-cased before the tokenizer sees them
    prompts: Prompts = field(default_factory=Prompts)  # what may be put before a text
    modules: tuple[Module, ...] = field(default=())  # the steps after pooling, in order
    # weight of each token by its text, where the pooling weights tokens; else empty
    word_weights: dict[str, float] = field(default_factory=dict)


def is_static(folder: Path, files: JsonFiles | None = None) -> bool:
    """Whether a folder holds a static encoder, in sentence-transformers' or model2vec's layout."""
    files = files or JsonFiles()
    modules = files.value(folder / "modules.json")
    if modules is None:
        return files.settings(folder / "config.json").get("model_type") == "model2vec"
    return [kind for kind, _ in _steps(folder, modules)][:1] == ["StaticEmbedding"]


def read_static_layout(folder: Path, files: JsonFiles | None = None) -> Layout:
    """Read the layout of a folder that `is_static` knows."""
    files = files or JsonFiles()
    modules = files.value(folder / "modules.json")
    if modules is None:
        length_one = files.settings(folder / "config.json").get("normalize", False)
        return Layout(folder, modules=(Module("Normalize", folder, {}),) if length_one else ())
    (_, table), *rest = _steps(folder, modules)
    later = tuple(Module(kind, path, files.settings(path / "config.json")) for kind, path in rest)
    for module in later:
        if module.kind not in _LATER:
            raise BadInputError(
                f"{folder}: module {module.kind} is not supported after StaticEmbedding; supported are "
                f"{', '.join(_LATER)}"
            )
    return Layout(table, prompts=read_prompts(folder, files), modules=later)


def _steps(folder: Path, modules: Any) -> list[tuple[str, Path]]:
    """The kinds and folders of the modules that a folder lists, none of them outside it."""
    try:
        steps = [(str(entry["type"]).rsplit(".", 1)[-1], folder / entry["path"]) for entry in modules]
    except (TypeError, KeyError, IndexError) as error:
        raise BadInputError(
            f"{folder / 'modules.json'} is not a list of modules; export the model again"
        ) from error
    if len(steps) > _MOST_MODULES:
        raise unfit(
            f"{folder / 'modules.json'} names {len(steps):,} modules, and at most {_MOST_MODULES} are taken"
        )
    inside = folder.resolve()
    # No path holds a NUL, and nothing can be asked of one that does.
    if any("\0" in str(path) or not path.resolve().is_relative_to(inside) for _, path in steps):
        raise unfit(f"{folder / 'modules.json'} names a path outside the model folder")
    return steps


def read_layout(folder: Path, files: JsonFiles | None = None) -> Layout:
    """Read a plain transformers folder or a sentence-transformers folder, old or new file layout."""
    files = files or JsonFiles()
    modules = files.value(folder / "modules.json")
    if modules is None:
        _check_transformer(folder)
        return Layout(folder)
    steps = _steps(folder, modules)
    if not steps or steps[0][0] != "Transformer":
        raise BadInputError(
            f"{folder}: the first module must be Transformer, not {steps[0][0] if steps else 'none'}"
        )
    transformer = steps[0][1]
    _check_transformer(transformer)
    pooling: str | None = None
    later = []
    pooled = True
    word_weights: dict[str, float] = {}
    weighting = layer_mean = ""
    for kind, path in steps[1:]:
        settings = files.settings(path / "config.json")
        if kind == "WeightedLayerPooling" and pooling is None and not word_weights:
            layer_mean = _read_layer_mean(path, files)
        elif kind == "WordWeights" and pooling is None:
            with _readable(path):
                word_weights = {str(token): float(value) for token, value in settings["word_weights"].items()}
            weighting = str(files.settings(path / "kind.json").get("kind", "idf"))  # ours says; idf is usual
        elif kind == "Pooling":
            if pooling is not None:
                raise BadInputError(f"{folder}: more than one Pooling is not supported")
            with _readable(path):
                pooling = _read_pooling(settings)
            if layer_mean and pooling != "mean":
                raise BadInputError(
                    f"{folder}: the {pooling} of averaged layers is not supported, only their mean"
                )
            pooling = layer_mean or pooling
            if word_weights:
                pooling = canonical(f"{weighting}:{pooling}")
            pooled = bool(settings.get("include_prompt", True))
        elif kind in _LATER:
            later.append(Module(kind, path, settings))
        elif kind != "Dropout":  # which does nothing outside training
            raise BadInputError(
                f"{folder}: module {kind} is not supported here; supported are Transformer, Pooling, "
                "Normalize, WeightedLayerPooling, WordWeights, Dense, LayerNorm and Dropout"
            )
    # Older releases named the file after the architecture: sentence_bert_config.json, sentence_roberta_…
    named = sorted(transformer.glob("sentence_*_config.json"))
    stored = files.settings(named[0]) if named else {}
    longest = stored.get("max_seq_length")
    if longest is not None and (not isinstance(longest, int) or longest < 1):
        raise BadInputError(
            f"{transformer}: a longest text of {longest!r} tokens (max_seq_length); export the model again"
        )
    return Layout(
        transformer,
        pooling=pooling,
        max_length=longest,
        lower_case=bool(stored.get("do_lower_case", False)),
        prompts=dataclasses.replace(read_prompts(folder, files), pooled=pooled),
        modules=tuple(later),
        word_weights=word_weights,
    )


def _read_layer_mean(path: Path, files: JsonFiles) -> str:
    """Which layers' mean an exported model of ours takes; of foreign ones no weights are read here."""
    mode = files.settings(path / "kind.json").get("kind")
    if mode not in LAYER_MEANS:
        raise BadInputError(
            f"{path}: layers are averaged in a way that is not supported ({mode!r} in kind.json); supported "
            f"are {', '.join(LAYER_MEANS)}"
        )
    return str(mode)


def _read_pooling(settings: dict[str, Any]) -> str:
    modes = settings.get("pooling_mode")
    if modes is None:
        modes = [name for name, (_, flag) in STORED.items() if settings.get(flag)] or [DEFAULT_POOLING]
    return canonical(modes if isinstance(modes, str) else "+".join(modes))


def read_prompts(folder: Path, files: JsonFiles | None = None) -> Prompts:
    """The prompts that a model folder names; none where it has no such file."""
    path = folder / PROMPTS_FILE
    settings = (files or JsonFiles()).settings(path)
    with _readable(path):
        found = {str(name): str(text) for name, text in (settings.get("prompts") or {}).items()}
        default = settings.get("default_prompt_name") or ""
        if default and default not in found:
            raise KeyError(default)
        return Prompts(found, str(default))


def with_prompt(folder: Path, text: str, out: Path) -> Path:
    """Make a folder of an encoder that puts a text before every other, which its export hands on."""
    settings = {"prompts": {"text": text}, "default_prompt_name": "text"}
    path = out / PROMPTS_FILE
    if not path.is_file() or json.loads(path.read_bytes()).get("prompts") != settings["prompts"]:
        shutil.rmtree(out, ignore_errors=True)
        # Linked where that can be, since weights are large.
        shutil.copytree(folder, out, copy_function=_linked)
        old = json.loads(path.read_bytes()) if path.is_file() else {}
        path.unlink(missing_ok=True)  # else what it is linked to would change
        path.write_text(json.dumps(old | settings, indent=2) + "\n", encoding="utf-8")
    return out


def _linked(source: str, target: str) -> str:
    try:
        os.link(os.path.realpath(source), target)
    except OSError:
        shutil.copyfile(source, target)
    return target


def write_modules(folder: Path, paths: Mapping[str, str], prompts: Prompts, release: str) -> None:
    """Write `modules.json` and `PROMPTS_FILE` into a folder."""
    if "Normalize" in paths:
        (folder / paths["Normalize"]).mkdir(exist_ok=True)
    # The type names of the first releases, which all later ones still read.
    modules = [
        {"idx": number, "name": str(number), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for number, (kind, path) in enumerate(paths.items())
    ]
    settings = {
        "__version__": {"sentence_transformers": release},
        "prompts": prompts.texts,
        "default_prompt_name": prompts.default or None,
        "similarity_fn_name": "cosine",
    }
    for name, value in (("modules.json", modules), (PROMPTS_FILE, settings)):
        (folder / name).write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    """A value of another kind than the format has is the file's fault."""
    try:
        yield
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadInputError(
            f"{path} has settings of another kind ({error}); export the model again"
        ) from error


def _check_transformer(folder: Path) -> None:
    if not (folder / "config.json").is_file():
        raise MissingError(
            f"{folder} is not a model folder: config.json is missing; name a folder that a transformers or "
            "sentence-transformers model was saved to"
        )
    check_weights(folder)
