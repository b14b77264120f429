"""Which rows of a stage are shown: by number, words or signs that one may be broken; and typical ones."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.errors import BadInputError, UsageError, did_you_mean
from augment_cli.store.conditions import (
    column_of,
    meets,
    number_columns,
    numbers_of,
    parse_where,
    schema_of,
    scores_of,
)
from augment_cli.store.parquet import ROW_GROUP_ROWS, describe
from augment_cli.store.store import Store
from augment_cli.syntax.tree import words

QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)


@dataclass(frozen=True)
class Choice:
    """Which rows of a stage to show; all conditions must hold."""

    # conditions as `parse_where` reads them, on columns of the stage or of `scores-STAGE`
    where: str | None = None
    # A column of numbers, smallest first; `-COLUMN`, largest first. Rows with null there are left out.
    sort: str | None = None
    rows: tuple[int, ...] = ()  # these `row_id` only; in a stage without the column, these positions from 0
    # rows that have this text, in any case, in any column of strings or in the original
    contains: str | None = None
    only_changed: bool = False  # leave out rows that an augmentation left unchanged, or that have no negative
    # random rows of at most this many row groups, since each one is read as a whole; 0 for any
    most_row_groups: int = 0
    reason: str | None = None  # rows with this reason only, of a stage that has reasons


def choose_rows(
    store: Store, stage: str, count: int, seed: int = 0, choice: Choice | None = None
) -> list[dict[str, Any]]:
    """Rows of a stage that are chosen: the first ones by a column, or random ones in order."""
    choice = choice or Choice()
    record = store.stage(stage)
    if not record.parts:
        raise UsageError(f"{store.path}: stage {stage!r} has no finished part yet; run it again to resume")
    _check_sizes(store, stage)
    scores = scores_of(store, stage)
    conditions = parse_where(choice.where) if choice.where is not None else []
    column = choice.sort.removeprefix("-") if choice.sort is not None else None
    kept = meets(store, stage, conditions)
    numbers = numbers_of(store, stage, [column] if column else [])
    if choice.reason is not None:
        kept &= _has_reason(store, stage, choice.reason)
    if choice.rows:
        kept &= _has_row_id(store, stage, choice.rows)
    if choice.contains is not None:
        kept &= _contains(store, stage, choice.contains)
    if choice.only_changed and can_be_unchanged(store, stage):
        kept &= column_of(store, stage, "reason").is_null().to_numpy()
    if column is not None:
        values = -numbers[column] if choice.sort != column else numbers[column]
        rows = np.flatnonzero(kept & ~np.isnan(values))
        chosen = rows[np.argsort(values[rows], kind="stable")][:count]
    else:
        rows, generator = np.flatnonzero(kept), np.random.default_rng(seed)
        if choice.most_row_groups:
            rows = _of_few_groups(store, stage, rows, choice.most_row_groups, generator)
        chosen = np.sort(generator.permutation(rows)[:count])
    return _rows_at(store, stage, scores, chosen)


def _finished(store: Store, stage: str) -> Iterator[tuple[int, int, int]]:
    """Each finished part of a stage: its number, its first row among the finished ones, its rows."""
    first = 0
    for index, part in sorted(store.stage(stage).parts.items()):
        yield index, first, part.rows
        first += part.rows


def _of_few_groups(
    store: Store, stage: str, rows: np.ndarray, most: int, generator: np.random.Generator
) -> np.ndarray:
    """Those of some rows that lie in `most` random row groups, of the groups that have any."""
    parts = _finished(store, stage)
    begins = [begin for _, first, count in parts for begin in range(first, first + count, ROW_GROUP_ROWS)]
    groups = np.searchsorted(begins, rows, side="right")
    filled = np.unique(groups)
    if len(filled) <= most:
        return rows
    return rows[np.isin(groups, generator.permutation(filled)[:most])]


def can_be_unchanged(store: Store, stage: str) -> bool:
    """Whether rows of a stage stand beside those of the corpus, with a reason where they have no text."""
    names = set(schema_of(store, stage).names)
    return {"row_id", "text", "reason"} <= names and _is_beside_corpus(store, stage)


def _is_beside_corpus(store: Store, stage: str) -> bool:
    return stage != "corpus" and store.stage(stage).expected_parts == len(store.parts)


def _check_sizes(store: Store, stage: str) -> None:
    for index, _, rows in _finished(store, stage):
        path = store.part_path(stage, index)
        if (rows_there := describe(store.verified_path(stage, index))[0]) != rows:
            raise BadInputError(
                f"{path}: has {rows_there:,} rows, the manifest says {rows:,}; make the stage anew"
            )


def _has_reason(store: Store, stage: str, reason: str) -> np.ndarray:
    if "reason" not in schema_of(store, stage).names:
        raise UsageError(f"{store.path}: rows of stage {stage!r} have no reasons; leave --reason out")
    reasons = column_of(store, stage, "reason")
    has_it = pc.fill_null(pc.equal(reasons, reason), False).to_numpy()
    if not has_it.any():
        known = sorted(pc.unique(pc.drop_null(reasons)).to_pylist())
        raise UsageError(
            f"{store.path}: no row of stage {stage!r} has the reason {reason!r}; there are "
            f"{', '.join(known) or 'none'}.{did_you_mean(reason, known)}"
        )
    return has_it


def _has_row_id(store: Store, stage: str, wanted: Sequence[int]) -> np.ndarray:
    if "row_id" in schema_of(store, stage).names:
        numbers = column_of(store, stage, "row_id").to_numpy()
    else:
        numbers = np.arange(store.stage(stage).rows)
    if missing := sorted(set(wanted) - set(numbers[np.isin(numbers, wanted)].tolist())):
        there = f"{numbers.min():,} to {numbers.max():,}" if len(numbers) else "none"
        raise UsageError(f"{store.path}: stage {stage!r} has no row {missing[0]}; it has {there}")
    return np.isin(numbers, wanted)


def _contains(store: Store, stage: str, text: str) -> np.ndarray:
    schema = schema_of(store, stage)
    places = [(field.name, stage) for field in schema if pa.types.is_string(field.type)]
    if "text" in schema.names and _is_beside_corpus(store, stage):
        places.append(("text", "corpus"))
    found = np.zeros(store.stage(stage).rows, bool)
    for name, of in places:
        hits = pc.match_substring(column_of(store, stage, name, of), text, ignore_case=True)
        found |= pc.fill_null(hits, False).to_numpy()
    return found


def _rows_at(store: Store, stage: str, scores: str | None, chosen: np.ndarray) -> list[dict[str, Any]]:
    """Rows of a stage by position, in that order, with the original and the scores beside."""
    rows: dict[int, dict[str, Any]] = {}
    for index, first, count in _finished(store, stage):
        inside = (np.sort(chosen[(chosen >= first) & (chosen < first + count)]) - first).tolist()
        if inside:
            table = store.read_rows(stage, index, inside)
            if {"row_id", "text"} <= set(table.column_names) and _is_beside_corpus(store, stage):
                originals = store.read_rows("corpus", index, inside, ["text"])["text"]
                table = table.add_column(1, "original", originals)
            entries = table.to_pylist()
            if scores is not None:
                beside = store.read_rows(scores, index, inside).drop(["row_id"]).to_pylist()
                for entry, numbers in zip(entries, beside, strict=True):
                    entry["scores"] = numbers
            rows |= dict(zip([first + position for position in inside], entries, strict=True))
    return [rows[position] for position in chosen.tolist()]


def quantiles(store: Store, stage: str) -> dict[str, dict[str, float]]:
    """Quantiles of each column of numbers of a stage, nulls aside, and how many nulls it has."""
    names = [name for name in number_columns(store, stage) if name not in _NOT_QUANTITIES]
    entries = {}
    for name in names:
        values = numbers_of(store, stage, [name])[name]
        known = values[~np.isnan(values)]
        if len(known):
            found = zip(QUANTILES, np.quantile(known, QUANTILES).tolist(), strict=True)
            entries[name] = {f"{100 * share:g}%": round(value, 4) for share, value in found}
            entries[name]["null"] = len(values) - len(known)
    return entries


_NOT_QUANTITIES = ("other_row_id", "nearest_row_id")


# An article twice, or "not not"; "that that" and "had had" are English.
_TWICE = re.compile(r"\b(\w+) \1\b", re.IGNORECASE)
_ENGLISH_TWICE = frozenset({"that", "had", "her", "so", "very", "no", "bye", "ha"})
_SPACE_BEFORE_MARK = re.compile(r"\w [,.;!?](?:\s|$)")
_PAIRS = (("(", ")"), ("[", "]"), ("“", "”"), ("{", "}"))
_SHORT = 3  # words
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NOISE = words("word-deletion word-repetition sentence-reordering crop yoda")


def signs_of(original: str, text: str) -> list[str]:
    """What looks wrong with a text that did not look so with its original."""
    found = []
    if word := _new_repetition(original, text):
        found.append(f"“{word}” twice in a row")
    if _negations(text) >= _negations(original) + 3:
        found.append("three negations more")
    if _unpaired(text) - _unpaired(original):
        found.append("a bracket or quotation mark without its partner")
    if _SPACE_BEFORE_MARK.search(text) and not _SPACE_BEFORE_MARK.search(original):
        found.append("a space before a punctuation mark")
    if original[:1].isupper() and text[:1].islower():
        found.append("begins with a small letter")
    if word := _lost_letter(original, text):
        found.append(f"“{word}” has lost a letter")
    words, before = len(text.split()), len(original.split())
    if words <= _SHORT < before and 2 * words <= before:
        found.append(f"{words} words left of {before}")
    return list(dict.fromkeys(found))


_KINDS = {
    "“not” twice in a row": "put “not” twice in a row",
    "twice in a row": "have a word twice in a row",
    "has lost a letter": "lose letters of a word",
    " words left of ": f"keep {_SHORT} words or fewer",
    "three negations more": "have three negations more than the original",
    "a bracket or quotation mark without its partner": "have an unpaired bracket or quotation mark",
    "a space before a punctuation mark": "have a space before a punctuation mark",
    "begins with a small letter": "begin with a small letter",
}


def kind_of(sign: str) -> str:
    """A sign without what is particular to its sentence, to be counted."""
    return next((kind for words, kind in _KINDS.items() if words in sign), sign)


def is_noise(augmentation: str) -> bool:
    """Whether broken texts are what an augmentation is made for, so that a sign of them says nothing."""
    return augmentation.startswith("random-") or augmentation in _NOISE


def _lost_letter(original: str, text: str) -> str:
    """A word that stands there without its letters beyond ASCII: “nave” for “naïve”."""
    if original.isascii():
        return ""
    words, known = set(_WORD.findall(text)), set(_WORD.findall(original))
    bare = {word: word.encode("ascii", "ignore").decode() for word in sorted(known - words)}
    return next((word for word, left in bare.items() if len(left) > 1 and left in words - known), "")


def _new_repetition(original: str, text: str) -> str:
    before, after = ([found[1].lower() for found in _TWICE.finditer(some)] for some in (original, text))
    known = {*before, *_ENGLISH_TWICE}
    return next((word for word in after if word not in known and not word.isdigit()), "")


def _negations(text: str) -> int:
    return len(re.findall(r"\bnot\b|n['’]t\b|\bnever\b", text, re.IGNORECASE))


def _unpaired(text: str) -> set[str]:
    odd = {opening for opening, closing in _PAIRS if text.count(opening) != text.count(closing)}
    return odd | {'"'} if text.count('"') % 2 else odd


_LOOKED_AT = 300
_ROW_GROUPS = 3  # that these are of: rows from all over a large stage would take longer than making it
SHORTEST, _LONGEST = 30, 90  # characters that are read at a glance and fit a line


def typical_rows(store: Store, stage: str, count: int) -> list[dict[str, Any]]:
    """Changed rows of a random sample that are easy to read and changed as much as its median row."""
    rows = choose_rows(store, stage, _LOOKED_AT, 0, Choice(only_changed=True, most_row_groups=_ROW_GROUPS))
    amounts = [amount_of_change(row["original"], row["text"], row.get("edits") or ()) for row in rows]
    usual = float(np.median(amounts)) if rows else 0.0
    ranked = sorted(range(len(rows)), key=lambda place: (_flaws(rows[place]), abs(amounts[place] - usual)))
    return [rows[place] for place in sorted(ranked[:count])]


def amount_of_change(original: str, text: str, edits: Sequence[Mapping[str, Any]]) -> float:
    """Characters that went and came over those of the original; without edits, the difference in length."""
    if not edits:
        return abs(len(text) - len(original)) / max(len(original), 1)
    touched = sum(edit["end"] - edit["start"] + len(edit["replacement"]) for edit in edits)
    return float(touched) / max(len(original), 1)


def _flaws(row: Mapping[str, Any]) -> int:
    """What makes a row harder to read than others: its length, marks within it, signs of a broken text."""
    original, text = row["original"], row["text"]
    is_plain = original[:1].isupper() and original.endswith((".", "?", "!"))
    odd_marks = sum(not (letter.isalpha() or letter in " ,.'?!") for letter in original)
    is_long = not SHORTEST <= len(original) <= _LONGEST
    return is_long + (not is_plain) + min(odd_marks, 3) + 2 * len(signs_of(original, text))
