"""Diversity: whether a stage changes much and in many ways, or one word and always the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from statistics import median
from typing import Any

from augment_cli.errors import BadInputError
from augment_cli.reports.choosing import Choice, choose_rows
from augment_cli.store.store import Store

_ROWS = 1_000
_MOST_FREQUENT, _SHOWN = 10, 3  # edits


@dataclass(frozen=True)
class Diversity:
    """How a stage's changed texts differ from their originals, word by word."""

    one_word: float  # share of the changed texts that differ in one word
    words_changed: float  # median over the texts: share of the longer one's words that the other lacks there
    top_ten: float  # share of all edits that the ten most frequent ones are
    frequent: dict[str, int]  # the most frequent edits, `old → new`
    rows: int  # changed texts that were looked at

    @property
    def words(self) -> str:
        """In a sentence."""
        often = ", ".join(f"“{edit}” {count}" for edit, count in list(self.frequent.items())[:_SHOWN])
        return (
            f"{self.one_word:.0%} differ in one word, the median in {self.words_changed:.0%} of the words; "
            f"the ten most frequent edits are {self.top_ten:.0%} of all ({often})"
        )


def diversity(rows: Sequence[tuple[str, str]]) -> Diversity:
    """Diversity of changed texts, given with their originals; at least one."""
    sizes, shares, edits = list[int](), list[float](), Counter[str]()
    for original, text in rows:
        before, after = original.split(), text.split()
        codes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        changes = [(before[i:j], after[k:m]) for kind, i, j, k, m in codes if kind != "equal"]
        sizes.append(sum(max(len(gone), len(come)) for gone, come in changes))
        kept = len(before) - sum(len(gone) for gone, _ in changes)
        shares.append(1 - kept / max(len(before), len(after), 1))
        edits.update(f"{' '.join(gone) or '∅'} → {' '.join(come) or '∅'}" for gone, come in changes)
    frequent = edits.most_common(_MOST_FREQUENT)
    return Diversity(
        sum(size == 1 for size in sizes) / len(sizes),
        median(shares),
        sum(count for _, count in frequent) / max(edits.total(), 1),
        dict(frequent),
        len(sizes),
    )


def with_diversity(store: Store, entry: dict[str, Any]) -> dict[str, Any]:
    """What `stats` says of a stage, and how diverse its texts are, where it changed any."""
    if not entry.get("changed"):
        return entry
    try:
        chosen = choose_rows(store, entry["stage"], _ROWS, 0, Choice(only_changed=True))
    except BadInputError:  # the numbers of the manifest are there all the same; `verify` names the damage
        return entry
    found = diversity([(row["original"], row["text"]) for row in chosen])
    return entry | {"diversity": asdict(found) | {"words": found.words}}
