"""Ways to spoil a subject: each a function of (file, value, random numbers)."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import os
import pickle
import random
import shutil
import socket
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.helpers.undisturbed import sealed

Way = Callable[[Path, Any, random.Random], None]
MISSING = "(missing)"  # as a value: the key is taken out
SPECIAL = {
    "(nan)": float("nan"),
    "(infinity)": float("inf"),
    "(huge)": 10**30,
    "(deep)": [[[[[[]]]]]],
    "(null)": None,
}


def nothing(path: Path, value: Any, draws: random.Random) -> None:
    """Leave all as it is: the command itself is the attack."""


def flip(path: Path, value: Any, draws: random.Random) -> None:
    """Turn one bit."""
    data = bytearray(path.read_bytes())
    data[draws.randrange(len(data))] ^= 1 << draws.randrange(8)
    path.write_bytes(data)


def overwrite(path: Path, value: Any, draws: random.Random) -> None:
    """Put random bytes over a random stretch."""
    data = bytearray(path.read_bytes())
    start = draws.randrange(len(data))
    stretch = data[start : start + int(value)]
    data[start : start + int(value)] = bytes(byte ^ draws.randrange(1, 256) for byte in stretch)
    path.write_bytes(data)


def cut(path: Path, value: Any, draws: random.Random) -> None:
    """Keep so much of the file, as a share of it."""
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * value)])


def lengthen(path: Path, value: Any, draws: random.Random) -> None:
    path.write_bytes(path.read_bytes() + draws.randbytes(int(value)))


def delete(path: Path, value: Any, draws: random.Random) -> None:
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def pickled(path: Path, value: Any, draws: random.Random) -> None:
    """A pickle that would leave a mark if anyone read it."""
    path.write_bytes(pickle.dumps(_Mark()))


class _Mark:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("a pickle was run",)


def folder(path: Path, value: Any, draws: random.Random) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def file(path: Path, value: Any, draws: random.Random) -> None:
    """A file where a folder should be."""
    if path.is_dir():
        shutil.rmtree(path)
    path.write_text("in the way")


def text(path: Path, value: Any, draws: random.Random) -> None:
    """Another content; `(deep)` is JSON nested too deeply, `(digits)` a number of 6,000 digits,
    `(ff)` a byte that is not UTF-8.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    long = {"(deep)": "[" * 100_000, "(digits)": '{"a": ' + "9" * 6_000 + "}", "(zeros)": "\0" * 1000}
    path.write_bytes(long.get(value, value).encode().replace(b"(ff)", b"\xff"))


def noise(path: Path, value: Any, draws: random.Random) -> None:
    path.write_bytes(draws.randbytes(int(value)))


def swap(path: Path, value: Any, draws: random.Random) -> None:
    """Another file of the subject in its place."""
    root = next(parent for parent in path.parents if (parent / ".subject").exists())
    shutil.copyfile(root / value, path)


def link(path: Path, value: Any, draws: random.Random) -> None:
    """A symbolic link; `(outside)` leads to the same file moved out of its folder."""
    target = value
    if value == "(outside)":
        target = str(path.parents[1] / "outside")
        shutil.move(path, target)
    elif path.exists():
        delete(path, value, draws)
    path.symlink_to(target)


def pipe(path: Path, value: Any, draws: random.Random) -> None:
    """A named pipe, which would be waited for."""
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def socket_file(path: Path, value: Any, draws: random.Random) -> None:
    path.unlink(missing_ok=True)
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(path.parent)  # a socket's path may be 100 bytes long
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as one:
            one.bind(path.name)
    finally:
        os.fchdir(here)
        os.close(here)


def setting(path: Path, value: Any, draws: random.Random) -> None:
    """Change a JSON file: value is [key.key.key, new value]."""
    path.write_text(json.dumps(_changed(json.loads(path.read_text()) if path.exists() else {}, value)))


def header(path: Path, value: Any, draws: random.Random) -> None:
    """Change a tensor's entry in the header of a safetensors file: value is [field, new value], or the header
    as text, or how long it says that it is.
    """
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    if isinstance(value, int):
        path.write_bytes(value.to_bytes(8, "little") + data[8:])
        return
    entries, (before, new) = (
        json.loads(data[8 : 8 + length]),
        ("", value) if isinstance(value, str) else value,
    )
    if before:
        name = draws.choice([name for name in entries if name != "__metadata__"])
        entries[name] = _changed(entries[name], [before, new])
    written = (json.dumps(entries) if before else new).encode()
    path.write_bytes(len(written).to_bytes(8, "little") + written + data[8 + length :])


def replaced(path: Path, value: Any, draws: random.Random) -> None:
    """One stretch of a text by another: value is [old, new]."""
    old, new = value
    text_of = path.read_text("utf-8")
    assert old in text_of, f"{path.name} has no {old!r}"
    path.write_text(text_of.replace(old, new), "utf-8")


def forged(path: Path, value: Any, draws: random.Random) -> None:
    """The same in a manifest, with all its digests mended."""
    path.write_text(json.dumps(sealed(_changed(json.loads(path.read_text()), value))))


def forged_anywhere(path: Path, value: Any, draws: random.Random) -> None:
    """A value at a random place of a manifest, with all its digests mended."""
    manifest = json.loads(path.read_text())
    manifest.pop("sha256")
    inner, key = draws.choice(list(_places(manifest)))
    if value == MISSING:
        del inner[key]
    else:
        inner[key] = SPECIAL.get(value, value) if isinstance(value, str) else value
    path.write_text(json.dumps(sealed(manifest)))


def mutated(path: Path, value: Any, draws: random.Random) -> None:
    """A file of sentences in the format of its name, then up to 8 random changes of bytes."""
    rows = [f"the heron of river {n} waits near bridge {n % 7}" for n in range(20)]
    data = bytearray(_in_format(path.name, rows))
    for _ in range(draws.randrange(9) if value == "" else int(value)):
        change, place = draws.randrange(4), draws.randrange(len(data))
        if change == 0:
            data[place] ^= 1 << draws.randrange(8)
        elif change == 1:
            del data[place : place + draws.randrange(1, 40)]
        elif change == 2:
            data[place:place] = draws.choice(
                [b"\0", b"\xff\xfe", b'"', b"\n", b"\r", b"{", b"\x1b[31m", b"\xe2\x80\xae"]
            )
        else:
            data[place : place + 4] = draws.randbytes(4)
    path.write_bytes(data)


def archived(path: Path, value: Any, draws: random.Random) -> None:
    """The file as people pack files: in a tar archive, or by a compressor that is not read."""
    data = path.read_bytes()
    if "tar" in value:
        packed = io.BytesIO()
        mode: Any = f"w:{value.removeprefix('tar').removeprefix('.')}"
        with tarfile.open(fileobj=packed, mode=mode) as archive:
            archive.add(path, path.name)
        data = packed.getvalue()
    elif value in ("xz", "bz2"):
        data = lzma.compress(data) if value == "xz" else bz2.compress(data)
    else:  # what only its first bytes tell
        data = {"7z": b"7z\xbc\xaf\x27\x1c", "rar": b"Rar!\x1a\x07\x00", "zip": b"PK\x03\x04"}[
            value
        ] + draws.randbytes(2000)
    path.write_bytes(data)


def _in_format(name: str, rows: list[str]) -> bytes:
    plain = name.removesuffix(".gz").removesuffix(".bz2")
    if plain.endswith(".jsonl"):
        data = "".join(json.dumps({"text": row, "id": str(n)}) + "\n" for n, row in enumerate(rows)).encode()
    elif plain.endswith((".csv", ".tsv")):
        between = "," if plain.endswith("csv") else "\t"
        data = "\n".join([f"text{between}id", *(f"{row}{between}{n}" for n, row in enumerate(rows))]).encode()
    elif plain.endswith(".parquet"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        sink = io.BytesIO()
        pq.write_table(pa.table({"text": rows}), sink)
        data = sink.getvalue()
    else:
        data = "\n".join(rows).encode()
    return (
        gzip.compress(data) if name.endswith(".gz") else bz2.compress(data) if name.endswith(".bz2") else data
    )


def _changed(settings: Any, value: Any) -> Any:
    keys, new = value
    *way, last = keys.split(".")
    inner = settings
    for key in way:
        inner = inner[int(key) if isinstance(inner, list) else key]
    if isinstance(inner, list):
        last = int(last)
    if new == MISSING:
        del inner[last]
    else:
        inner[last] = SPECIAL.get(new, new) if isinstance(new, str) else new
    return settings


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from _places(item)


WAYS: dict[str, Way] = {
    name: way
    for name, way in list(globals().items())
    if not name.startswith("_") and "draws" in getattr(way, "__annotations__", ())
}
