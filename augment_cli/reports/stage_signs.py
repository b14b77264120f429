"""Signs that many rows of a stage show together, though each of them alone may look right; no verdicts.

What a stage puts in, how its texts begin and which characters they keep are compared with the corpus. What
differs more than it would by chance is named with what to do about it.
"""

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from augment_cli.resources import word_list

Row = tuple[str, str, Sequence[Mapping[str, Any]]]

_LEAST = 40  # rows, edits or numbers, from which on a share says something
_ONE_PAIR, _ONE_OPENING, _FEW = 0.03, 1 / 3, 4
_OPENING = 4  # words
_NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?!\w)")
_YEAR = re.compile(r"[12]\d{3}")
_PARTS = 5  # equally frequent parts of the corpus's numbers
_UNLIKE = 0.3  # of the numbers put in; by chance, of forty, it is 0.18
_OUTSIDE, _MOST_OUTSIDE = 0.01, 0.1  # beyond each end of the corpus's years; share of those put in
_FEWER_CLAUSES = 0.1
_LEAST_LOST = 3  # rows that had a character
_MOSTLY_TITLES = 0.5
_FINAL_MARK = re.compile(r"[.!?…。！？][\s\"'”’»)\]]*$")


@dataclass(frozen=True)
class StageSign:
    """What many rows show."""

    words: str  # goes on after a percentage: `of the edits put …`
    share: float  # in (0, 1]
    rows: float  # share of the changed rows that it is in
    advice: str  # what it means, and what to do

    @classmethod
    def of_rows(cls, words: str, count: int, rows: Collection[object], advice: str) -> "StageSign":
        """A sign whose percentage is the share of the changed rows that have it."""
        return cls(words, count / len(rows), count / len(rows), advice)


def signs_of_stage(rows: Sequence[Row], corpus: Iterable[str] = ()) -> list[StageSign]:
    """What looks wrong with many rows together, the weightiest first."""
    found = [_one_pair(rows), _one_opening(rows), *_unlike_numbers(rows, corpus), _vanished(rows)]
    return sorted(filter(None, found), key=lambda sign: -sign.rows)


def clauses_lost(before: Collection[int], after: Collection[int]) -> StageSign | None:
    """Whether results have fewer clauses than their originals, by the counts of both."""
    count = int(np.sum(np.asarray(after) < np.asarray(before)))
    if len(before) < _LEAST or count <= _FEWER_CLAUSES * len(before):
        return None
    return StageSign.of_rows(
        "have fewer clauses than their originals",
        count,
        before,
        "A positive has to say all that its original says: read some, and leave the stage out or filter it "
        "(`pack --min-positive`) where a statement is gone.",
    )


def made_of_titles(originals: Sequence[str]) -> StageSign | None:
    """Whether most changed texts end without a mark, as titles do; for stages that read parses."""
    count = sum(not _FINAL_MARK.search(text) for text in originals)
    if len(originals) < _LEAST or count <= _MOSTLY_TITLES * len(originals):
        return None
    return StageSign.of_rows(
        "are made from texts without a mark at the end, as titles are",
        count,
        originals,
        "A parser that has learned from sentences takes words of titles for verbs: read twenty, and leave "
        "stages that rewrite clauses out if they are wrong.",
    )


def _one_pair(rows: Sequence[Row]) -> StageSign | None:
    pairs = Counter(
        tuple(
            some.strip(" .,;").lower()
            for some in (original[edit["start"] : edit["end"]], edit["replacement"])
        )
        for original, _, edits in rows
        for edit in edits
    )
    exchanged = {pair: count for pair, count in pairs.items() if all(pair) and pair[0] != pair[1]}
    total = sum(exchanged.values())
    # Words of grammar are in every sentence, and so are their exchanges: "is" for "was".
    grammar = set(word_list("function_words"))
    counts = {pair: count for pair, count in exchanged.items() if not set(pair[0].split()) <= grammar}
    if total < _LEAST or not counts:
        return None
    (before, after), count = max(counts.items(), key=lambda item: item[1])
    if count <= max(_ONE_PAIR * total, _FEW):
        return None
    return StageSign(
        f"of the edits put “{after}” for “{before}”",
        count / total,
        min(count / len(rows), 1.0),
        "One exchange so often is an entry of a word list or a rare sense of the word: read some "
        f"(`augment-cli inspect STAGE --contains {shlex.quote(after)}`), and keep the word out if they are "
        "wrong, where the augmentation has `--avoid FILE`.",
    )


def _one_opening(rows: Sequence[Row]) -> StageSign | None:
    openings = Counter(
        " ".join(text.split()[:_OPENING])
        for original, text, _ in rows
        if text.split()[:_OPENING] != original.split()[:_OPENING]
    )
    if not openings or len(rows) < _LEAST:
        return None
    opening, count = openings.most_common(1)[0]
    if count <= _ONE_OPENING * len(rows):
        return None
    return StageSign.of_rows(
        f"begin with “{opening}”",
        count,
        rows,
        "An encoder learns such a frame in place of the meaning: mix the stage with others, or leave it out.",
    )


def _unlike_numbers(rows: Sequence[Row], corpus: Iterable[str]) -> Iterable[StageSign]:
    """Of years, and of other numbers, those that were put in against those that the sentences have."""
    known, drawn = Counter[str](), Counter[str]()
    for original, text, _ in rows:
        mine = Counter(_NUMBER.findall(original))
        known.update(mine)
        drawn.update(Counter(_NUMBER.findall(text)) - mine)
    for text in corpus:
        known.update(_NUMBER.findall(text))
    for name, are_years in (("years", True), ("numbers", False)):
        values = [_values(some, are_years) for some in (known, drawn)]
        if min(map(len, values)) < _LEAST:
            continue
        share = max(_unlike(*values), _outside(*values) if are_years else 0.0)
        if share:
            yield StageSign(
                f"of the {name} that were put in are unlike those of the corpus",
                share,
                share * min(len(values[1]) / len(rows), 1.0),
                "An encoder can tell such texts by the number alone: read some, and mix the stage with "
                "others or leave it out.",
            )


def _values(numbers: Counter[str], are_years: bool) -> np.ndarray:
    some = (number for number in numbers.elements() if bool(_YEAR.fullmatch(number)) == are_years)
    return np.array([float(number.replace(",", "")) for number in some])


def _unlike(known: np.ndarray, drawn: np.ndarray) -> float:
    """The share of some numbers that would have to be others to be spread as the known ones, or 0."""
    edges = np.unique(np.quantile(known, np.linspace(0, 1, _PARTS + 1)[1:-1]))
    spreads = [
        np.bincount(np.searchsorted(edges, values), minlength=len(edges) + 1) / len(values)
        for values in (known, drawn)
    ]
    share = float(np.abs(spreads[0] - spreads[1]).sum() / 2)
    return share if share > _UNLIKE else 0.0


def _outside(known: np.ndarray, drawn: np.ndarray) -> float:
    low, high = np.quantile(known, [_OUTSIDE, 1 - _OUTSIDE])
    share = float(np.mean((drawn < low) | (drawn > high)))
    return share if share > _MOST_OUTSIDE else 0.0


def _vanished(rows: Sequence[Row]) -> StageSign | None:
    """Characters that no result keeps, though it has the rest of the words that they stood in."""
    had = Counter(letter for original, _, _ in rows for letter in set(original))
    kept = {letter for original, text, _ in rows for letter in set(original) & set(text)}
    gone = {letter for letter, count in had.items() if count >= _LEAST_LOST and letter not in kept}
    without = str.maketrans("", "", "".join(gone))
    broken, count = Counter[str](), 0
    for original, text, _ in rows:
        new = set(text.split()) - set(original.split())
        found = {
            word for word in original.split() if not gone.isdisjoint(word) and word.translate(without) in new
        }
        broken.update({letter for word in found for letter in word if letter in gone})
        count += bool(found)
    letters = sorted(letter for letter, rows_of in broken.items() if rows_of >= _LEAST_LOST)
    if not letters:
        return None
    return StageSign.of_rows(
        f"have words without {' '.join(letters)}, which no text of this stage keeps",
        count,
        rows,
        "What wrote the texts does not know these characters: leave such rows out, or use another model.",
    )
