"""What a tokenizer's files say, without loading it: the highest id, unknown words, how far texts grow."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from augment_cli.models.digest import JsonFiles, damaged, unfit

_MOST_GROWTH = 1_000


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
    model, added = settings.get("model"), settings.get("added_tokens")
    if not isinstance(model, dict) or not isinstance(model.get("vocab"), dict):
        return
    unknown = model.get("unk_token")
    entries = added if isinstance(added, list) else []
    known = [entry.get("content") for entry in entries if isinstance(entry, dict)]
    if isinstance(unknown, str) and unknown not in model["vocab"] and unknown not in known:
        raise damaged(f"{path}: its vocabulary lacks {unknown!r}, its own token for unknown words")


def check_normalizer(folder: Path, files: JsonFiles) -> None:
    """Refuse a `tokenizer.json` whose normalizer takes more memory than there is."""
    path = folder / "tokenizer.json"
    steps, growth = [files.settings(path).get("normalizer")], 1
    while steps:
        step = steps.pop()
        if not isinstance(step, dict):
            continue
        if step.get("type") == "Precompiled" and not _is_whole(step.get("precompiled_charsmap")):
            raise damaged(f"{path}: its table of characters is damaged")
        inner = step.get("normalizers")
        steps += inner if isinstance(inner, list) else []
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
    path = folder / "tokenizer.json"
    if path.is_file():  # transformers reads no other vocabulary then
        settings = files.settings(path)
        model = settings.get("model")
        yield from (
            (path, number)
            for number in _of_vocabulary(model.get("vocab") if isinstance(model, dict) else None)
        )
        added = settings.get("added_tokens")
        for entry in added if isinstance(added, list) else []:
            if isinstance(entry, dict):
                yield path, entry.get("id")
    else:
        path = folder / "vocab.json"
        yield from ((path, number) for number in _of_vocabulary(files.value(path, {})))
        path = folder / "vocab.txt"
        if path.is_file():
            with path.open("rb") as file:
                yield path, max(0, sum(1 for _ in file) - 1)
    path = folder / "added_tokens.json"
    yield from ((path, number) for number in _of_vocabulary(files.value(path, {})))


def _of_vocabulary(vocabulary: Any) -> Iterator[Any]:
    """Ids of a vocabulary: by token, or in the order of a list."""
    if isinstance(vocabulary, dict):
        yield from vocabulary.values()
    elif isinstance(vocabulary, list) and vocabulary:
        yield len(vocabulary) - 1
