"""The files of a model folder: JSON, vocabulary, one digest to tie what a model made to it, a copy."""

import base64
import hashlib
import json
import shutil
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from augment_cli.errors import BadInputError, MissingError
from augment_cli.store.files import replace_folder, sha256_of_file

_NO_FILE = object()
_LARGEST = 2**28  # bytes; the largest vocabularies take a tenth of it
# What decides a model's output: weights, configuration, tokenizer. Cards, logs and optimizer states do not.
_PATTERNS = (
    "*.safetensors",
    "*.safetensors.index.json",
    "config.json",
    "generation_config.json",
    "modules.json",
    "config_sentence_transformers.json",
    "sentence_*_config.json",
    "tokenizer*.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "*.model",
    "*.spm",
    "*.tiktoken",
    "bpe.codes",
    "dict.txt",
    "verifier.json",
)

# A spaCy pipeline consists of its configuration and whatever its components wrote beside it, so all
# files count but these: the card (meta.json holds name, version, scores), licences, leftovers.
_PIPELINE_MARK = "config.cfg"
_NOT_PIPELINE = ("meta.json", "accuracy.json", "*.md", "LICEN[CS]E*", "*.pyc", ".*", "*~")
_MOST_GROWTH = 1_000


def damaged(what: str) -> BadInputError:
    """Of a file that is not what a model has."""
    return BadInputError(f"{what}; fetch or export the model again")


def unfit(what: str) -> BadInputError:
    """Of a file that may be an attack."""
    return BadInputError(f"{what}; do not use this model")


def read_json(path: Path, default: Any = None) -> Any:
    """A JSON file's value, or `default` where there is no such file."""
    if not path.is_file():
        return default
    if path.stat().st_size > _LARGEST:
        raise unfit(f"{path} has {path.stat().st_size:,} bytes, too many for JSON")
    try:
        return json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:  # not UTF-8, not JSON, a number of 5,000 digits
        raise damaged(f"{path} is not readable JSON ({error})") from error


class JsonFiles:
    """A model folder's JSON, each file read once: made where a model is loaded, and passed down."""

    def __init__(self) -> None:
        self._read: dict[Path, Any] = {}

    def value(self, path: Path, default: Any = None) -> Any:
        """What `read_json` gives."""
        if path not in self._read:
            self._read[path] = read_json(path, _NO_FILE)
        value = self._read[path]
        return default if value is _NO_FILE else value

    def settings(self, path: Path) -> dict[str, Any]:
        """A JSON file's object; empty where there is no such file."""
        value = self.value(path, {})
        if not isinstance(value, dict):
            raise damaged(f"{path} holds a {type(value).__name__}, not settings by name")
        return value

    def forget(self, path: Path) -> None:
        """Let go of a file that is large, and read no more."""
        self._read.pop(path, None)


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects in a list that a JSON file holds; none where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def model_digest(folder: Path, files: JsonFiles | None = None) -> str:
    """SHA-256 over the sorted (name, SHA-256) pairs of the files that decide what a model answers."""
    # A folder with safetensors weights, its sub-folders of modules included, or a spaCy pipeline.
    is_pipeline = (folder / _PIPELINE_MARK).is_file()
    decisive = _pipeline_files(folder) if is_pipeline else _model_files(folder, files or JsonFiles())
    if not decisive:
        raise MissingError(
            f"{folder} holds no model: no weights, config or tokenizer file, nor a spaCy pipeline's "
            f"{_PIPELINE_MARK}; name the folder that has these files"
        )
    total = hashlib.sha256()
    for name, path in sorted((path.relative_to(folder).as_posix(), path) for path in decisive):
        total.update(f"{name}\0{sha256_of_file(path)}\n".encode())
    return total.hexdigest()


def _model_files(folder: Path, files: JsonFiles) -> set[Path]:
    if not folder.is_dir():
        return set()
    parts = {folder, *module_folders(folder, files)}
    return {path for part in parts for pattern in _PATTERNS for path in part.glob(pattern)}


def module_folders(folder: Path, files: JsonFiles | None = None) -> set[Path]:
    """The folders within a model's that its modules lie in: numbered ones, and those it names."""
    numbered = [child for child in folder.iterdir() if child.is_dir() and child.name[:1].isdigit()]
    modules = objects((files or JsonFiles()).value(folder / "modules.json"))
    named = [folder / str(entry.get("path", "")) for entry in modules]
    # One outside the model's folder is left out here, as loading refuses it.
    inside = [path for path in named if path.is_dir() and path.resolve().is_relative_to(folder.resolve())]
    return {*numbered, *inside} - {folder}


def _pipeline_files(folder: Path) -> set[Path]:
    return {
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(fnmatch(path.name, pattern) for pattern in _NOT_PIPELINE)
    }


def copy_model(source: Path, folder: Path) -> None:
    """Copy a model's files, byte for byte: those in its folder, and in the folders of its modules."""
    # Nothing else that lies in the source is copied, as the target may be within it. A model in the target
    # is replaced as a whole or not at all.
    work = folder.with_name(f".{folder.name}.writing")
    shutil.rmtree(work, ignore_errors=True)
    for part in [source, *module_folders(source)]:
        to = work / part.relative_to(source)
        to.mkdir(parents=True, exist_ok=True)
        for path in part.iterdir():
            if path.is_file() and not path.name.startswith("."):
                shutil.copyfile(path, to / path.name)
    replace_folder(work, folder)


def highest_id(folder: Path, files: JsonFiles | None = None) -> int:
    """Highest token id in a folder's `tokenizer.json`, `vocab.json`, `vocab.txt` and `added_tokens.json`."""
    highest = -1
    for path, number in _ids(folder, files or JsonFiles()):
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise damaged(f"{path} has the token id {number!r}")
        highest = max(highest, number)
    return highest


def check_unknown_token(folder: Path, files: JsonFiles) -> None:
    """Refuse a `tokenizer.json` whose vocabulary lacks the token that stands for unknown words."""
    path = folder / "tokenizer.json"
    settings = files.settings(path)
    model = settings.get("model")
    if not isinstance(model, dict) or not isinstance(model.get("vocab"), dict):
        return
    unknown = model.get("unk_token")
    known = [entry.get("content") for entry in objects(settings.get("added_tokens"))]
    if isinstance(unknown, str) and unknown not in model["vocab"] and unknown not in known:
        raise damaged(f"{path}: its vocabulary lacks {unknown!r}, its own token for unknown words")


def check_normalizer(folder: Path, files: JsonFiles) -> None:
    """Refuse a `tokenizer.json` whose normalizer takes more memory than there is."""
    path = folder / "tokenizer.json"
    steps, growth = objects([files.settings(path).get("normalizer")]), 1
    while steps:
        step = steps.pop()
        if step.get("type") == "Precompiled" and not _is_whole(step.get("precompiled_charsmap")):
            raise damaged(f"{path}: its table of characters is damaged")
        steps += objects(step.get("normalizers"))
        put_in = step.get("content") if step.get("type") == "Replace" else step.get("prepend")
        growth *= max(1, len(put_in)) if isinstance(put_in, str) else 1
        if growth > _MOST_GROWTH:
            raise unfit(f"{path}: its normalizer makes more than {_MOST_GROWTH:,} characters of one")


def _is_whole(table: Any) -> bool:
    """Whether a table of characters, as text, has the bytes that its first four say."""
    try:
        data = base64.b64decode(table)
    except (TypeError, ValueError):
        return False
    return len(data) >= 4 and int.from_bytes(data[:4], "little") <= len(data) - 4


def _ids(folder: Path, files: JsonFiles) -> Iterator[tuple[Path, Any]]:
    path, added = folder / "tokenizer.json", folder / "added_tokens.json"
    if path.is_file():  # transformers reads no other vocabulary then
        settings = files.settings(path)
        model = settings.get("model")
        vocabulary = model.get("vocab") if isinstance(model, dict) else None
        yield from ((path, entry.get("id")) for entry in objects(settings.get("added_tokens")))
    else:
        lines = folder / "vocab.txt"
        if lines.is_file():
            with lines.open("rb") as file:
                yield lines, max(0, sum(1 for _ in file) - 1)
        path = folder / "vocab.json"
        vocabulary = files.value(path, {})
    for source, ids in ((path, vocabulary), (added, files.value(added, {}))):
        if isinstance(ids, dict):  # by token
            yield from ((source, number) for number in ids.values())
        elif isinstance(ids, list) and ids:  # in their order
            yield source, len(ids) - 1
