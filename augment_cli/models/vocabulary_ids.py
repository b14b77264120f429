"""What a tokenizer's files say, without loading it: the highest id, unknown words, how far texts grow."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from augment_cli.models.digest import JsonFiles, damaged, objects, unfit

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
