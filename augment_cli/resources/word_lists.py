"""Shipped word lists: UTF-8 files of one entry a line; `#` begins a comment line."""

from __future__ import annotations

from functools import cache

import pyarrow as pa

from augment_cli.resources import shipped, shipped_digest


@cache
def word_list(name: str) -> tuple[str, ...]:
    """The entries of `words/NAME.txt`, in the file's order."""
    lines = shipped(f"words/{name}.txt").read_text("utf-8").splitlines()
    return tuple(line for line in lines if line and not line.startswith("#"))


@cache
def word_table(name: str) -> tuple[tuple[str, ...], ...]:
    """The entries of `words/NAME.txt`, split at tabs."""
    return tuple(tuple(line.split("\t")) for line in word_list(name))


@cache
def word_set(name: str) -> pa.StringArray:
    """The entries as an Arrow array, for `Words.among`."""
    return pa.array(word_list(name), pa.string())


def word_list_digests(*names: str) -> dict[str, str]:
    """SHA-256 of some lists by name, for the fingerprint of what is made with them."""
    return {name: shipped_digest(f"words/{name}.txt") for name in names}
