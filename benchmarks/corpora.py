"""Sentences for the benchmarks, from gzipped text files with a sentence a line."""

from __future__ import annotations

import glob
import gzip
from collections.abc import Iterator
from itertools import islice


def read_sentences(pattern: str, count: int) -> Iterator[str]:
    """Yield the first lines of all files, without their line ends."""
    for path in sorted(glob.glob(pattern)):  # noqa: PTH207 (the pattern may start with any folder)
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
            for line in islice(lines, count):
                count -= 1
                yield line.rstrip("\n")
