"""Which spaCy pipeline is meant, what identifies it, and loading it. Finding one needs no spaCy."""

import configparser
import importlib.util
import json
import re
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from augment_cli.engine.engine import LEAST_FOR_PARSES, check_address_space
from augment_cli.errors import MissingError, UsageError, needed
from augment_cli.models import shipped_pipeline
from augment_cli.models.claims import check_pipeline
from augment_cli.models.digest import model_digest
from augment_cli.store.settings import library_versions
from augment_cli.syntax.tree import words

if TYPE_CHECKING:
    from spacy.language import Language

# Components whose answers no rule reads, or that would join words into one token; they are not loaded.
NOT_NEEDED = words(
    "ner beam_ner entity_ruler entity_linker span_ruler spancat spancat_singlelabel span_finder textcat "
    "textcat_multilabel merge_entities merge_noun_chunks"
)
_PACKAGE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_DISTRIBUTION_NAME = re.compile(r"[A-Za-z0-9._-]+", re.ASCII)
_MOST_LAYERS = 1_000
# What reading a folder ends in that holds something else.
_NO_PIPELINE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, configparser.Error)


@dataclass(frozen=True)
class PipelineSource:
    """A spaCy pipeline on this machine; travels to the workers."""

    name: str  # as its meta.json says, the language in front: `en_core_web_sm`, `3.8.0`
    version: str
    digest: str  # SHA-256 of the files that decide its answers (`model_digest`)
    folder: Path  # where it lies here. Never written into a store.
    disabled: tuple[str, ...]  # components that are not loaded
    # distributions that decide its answers: spaCy, and what its meta.json requires beside it
    libraries: tuple[str, ...]
    # name to import, where it is installed: a package may bring components of its own
    package: str | None = None

    def parameters(self) -> dict[str, Any]:
        """What the settings of a stage say of it, beside the digest: JSON values, nothing of this machine."""
        return {"pipeline": self.name, "version": self.version, "disabled": list(self.disabled)}

    def library_versions(self) -> dict[str, str]:
        """Installed versions of its libraries."""
        try:
            return library_versions(self.libraries)
        except MissingError as error:
            raise MissingError(f"pipeline {self.name} {error}") from None


def find_pipeline(named: str | Path | None = None) -> PipelineSource:
    """The shipped pipeline, an installed one by its name, or one in a folder."""
    if named is None:
        return _describe(shipped_pipeline())
    text = str(named)
    if (installed := _installed_folder(text)) is not None:
        return _describe(installed, text)
    folder = Path(text).expanduser()
    if folder.is_dir():
        return _describe(_inner_folder(folder) or folder)
    if (shipped := _shipped_as(text)) is not None:
        return shipped
    raise MissingError(
        f"--pipeline {text}: no such pipeline is installed, and no folder is there. Install it "
        f"(`python -m spacy download {text}`, or `pip install` of its wheel), name a folder that holds one, "
        "or leave --pipeline out for the shipped English one; nothing is downloaded by itself"
    )


def find_again(settings: dict[str, Any]) -> PipelineSource:
    """The pipeline a parse stage was made with, by the settings the stage has in the manifest."""
    name, digest = settings["parameters"]["pipeline"], settings["resources"]["pipeline"]
    known = known_by_name(name)
    if known is not None and known.digest == digest:
        return known
    here = "is not installed here"
    if known is not None:
        here = f"is here with other contents (version {known.version})"
    raise MissingError(
        f"the parses were made with pipeline {name} {settings['parameters']['version']}, which {here}; "
        "install that version, or name its folder with --pipeline (in Python: pipeline=…)"
    )


def known_by_name(name: str) -> PipelineSource | None:
    """The shipped or installed pipeline of a name, or None; a folder of that name is not looked for."""
    installed = _installed_folder(name)
    return _shipped_as(name) if installed is None else _describe(installed, name)


def _shipped_as(name: str) -> PipelineSource | None:
    try:
        shipped = find_pipeline()
    except MissingError:
        return None
    return shipped if shipped.name == name else None


def _installed_folder(name: str) -> Path | None:
    """Where an installed pipeline package keeps its data, without importing it."""
    if not _PACKAGE_NAME.fullmatch(name):
        return None
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return None if spec is None or spec.origin is None else _inner_folder(Path(spec.origin).parent)


def _inner_folder(package: Path) -> Path | None:
    """The data folder `LANG_NAME-VERSION` inside a pipeline package, or None if it is not such a package."""
    if not (package / "meta.json").is_file():
        return None
    try:
        meta = json.loads((package / "meta.json").read_bytes())
        folder = package / f"{meta['lang']}_{meta['name']}-{meta['version']}"
    except _NO_PIPELINE:
        return None
    return folder if (folder / "config.cfg").is_file() else None


def _describe(folder: Path, package: str | None = None) -> PipelineSource:
    check_pipeline(folder)
    try:
        meta = json.loads((folder / "meta.json").read_bytes())
        name, version = f"{meta['lang']}_{meta['name']}", str(meta["version"])
        factories = _factories(folder / "config.cfg")
        requirements = [_DISTRIBUTION_NAME.match(entry) for entry in meta.get("requirements", [])]
    except _NO_PIPELINE as error:
        raise MissingError(
            f"{folder}: holds no spaCy pipeline ({error}); name a folder with meta.json and config.cfg, as "
            "`nlp.to_disk` writes it, or an installed pipeline"
        ) from error
    disabled = tuple(sorted(name for name, factory in factories if factory in NOT_NEEDED))
    libraries = {"spacy", *(match.group() for match in requirements if match)}
    digest = model_digest(folder)
    return PipelineSource(name, version, digest, folder, disabled, tuple(sorted(libraries)), package)


def _factories(path: Path) -> list[tuple[str, str]]:
    """Each component of a pipeline's configuration with the factory that makes it."""
    config = configparser.ConfigParser(interpolation=None, strict=False)
    config.optionxform = str  # type: ignore[assignment, method-assign]
    config.read_string(path.read_text("utf-8"))
    for name, section in config.items():
        depth = section.get("depth", "")  # or a reference to another section's
        if depth.isdecimal() and int(depth) > _MOST_LAYERS:
            raise ValueError(f"[{name}] depth is {int(depth):,}, and at most {_MOST_LAYERS:,} is taken")
    components = json.loads(config["nlp"]["pipeline"])
    return [(name, json.loads(config[f"components.{name}"]["factory"])) for name in components]


_LOADED = threading.local()  # one for each thread, as spaCy's pipelines are not made for several


def load_pipeline(source: PipelineSource, warm_up: Callable[[], Sequence[str]] = tuple) -> "Language":
    """Load a pipeline without the components that are not needed; once in each thread of a process."""
    key = (source.folder, source.digest, source.disabled)
    if getattr(_LOADED, "key", None) != key:
        _LOADED.key, _LOADED.nlp = None, None  # never two in memory
        nlp = _load(source)
        for text in warm_up():
            nlp.make_doc(text)
        _LOADED.key, _LOADED.nlp = key, nlp
    return _LOADED.nlp


def _load(source: PipelineSource) -> "Language":
    check_address_space(LEAST_FOR_PARSES)
    with needed("spacy"):
        import spacy
    try:
        nlp = spacy.load(source.package or source.folder, exclude=list(source.disabled))
        (probe,) = nlp.pipe(["The heron waits."])
    except Exception as error:  # spaCy and what it reads files with raise many kinds
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise MissingError(
            f"pipeline {source.name} {source.version}: spaCy {spacy.__version__} cannot load it ({reason}); "
            "install the version made for this spaCy, or choose another with --pipeline"
        ) from error
    nlp.max_length = sys.maxsize  # ingest has its own limit, --max-characters
    # Rules read fine tags where there are some, else the coarse ones with the morphology.
    for any_of, component in ((("DEP",), "parser"), (("TAG", "POS"), "tagger or morphologizer")):
        if not any(map(probe.has_annotation, any_of)):
            raise UsageError(
                f"pipeline {source.name}: has no {component}, and the rules need one; choose another with "
                f"--pipeline (it has {', '.join(nlp.pipe_names) or 'no component'})"
            )
    return nlp
