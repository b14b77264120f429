"""Training pairs from wiki-split (Botha et al. 2018, CC BY-SA 4.0): one sentence and its split into two."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

SHARED = 0.8  # of the words of either side must stand on the other; the set has edits that add or drop facts


def pairs(path: Path, splits: tuple[str, ...] = ("tune", "dev")) -> Iterator[tuple[str, str]]:
    """Yield (one sentence, two sentences) that say the same in nearly the same words."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            if row["split"] not in splits:
                continue
            whole = detokenise(row["complex"])
            two = f"{detokenise(row['simple1'])} {detokenise(row['simple2'])}"
            left, right = set(_words(whole)), set(_words(two))
            both = len(left & right)
            if both >= SHARED * len(left) and both >= SHARED * len(right) and len(two) < 1.3 * len(whole):
                yield whole, two


def detokenise(text: str) -> str:
    """Undo Penn Treebank's spaces: "do n't stop ( now ) ." → "don't stop (now)."."""
    text = text.replace("``", '"').replace("''", '"')
    text = re.sub(r" (n't|'s|'re|'ve|'ll|'d|'m)\b", r"\1", text)
    text = re.sub(r" ([.,;:?!%)\]])", r"\1", text)
    text = re.sub(r"([(\[$£€]) ", r"\1", text)
    text = re.sub(r'" ([^"]*?) "', r'"\1"', text)
    return re.sub(r"(\w) - (\w)", r"\1-\2", text)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
