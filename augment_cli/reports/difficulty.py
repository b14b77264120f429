"""How hard the negatives of a stage are, by the shipped static encoder, which tells it in seconds."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from augment_cli.augmentations.labels import label_of
from augment_cli.errors import BadInputError, MissingError
from augment_cli.places import STATIC
from augment_cli.reports.choosing import Choice, choose_rows
from augment_cli.reports.report import is_augmentation
from augment_cli.store.conditions import schema_of
from augment_cli.store.store import Store

_ROWS = 640  # a batch of 64 ten times
_BATCH = 64  # sentences; the nearest of the 63 others is what a trainer has without hard negatives
_ALL_ALIKE = 0.8  # mean cosine of random pairs, where the encoder does not know the language


@dataclass(frozen=True)
class Difficulty:
    """Mean cosines to the original sentence."""

    cosine: float  # of the stage's texts
    random: float  # of another sentence of the corpus
    nearest: float  # of the nearest of 63 others
    rows: int  # changed rows that were encoded

    @property
    def is_hard(self) -> bool:
        """Whether they are nearer than what a batch has anyway."""
        return self.cosine > self.nearest

    @property
    def words(self) -> str:
        """How hard, with the numbers."""
        if self.is_hard:
            level = "harder than random"
        elif self.cosine > (self.random + self.nearest) / 2:
            level = "hardly harder than random"
        else:
            level = "as easy as random"
        return (
            f"{level}: mean cosine {self.cosine:.2f} to the original; any other sentence {self.random:.2f}, "
            f"the nearest of {_BATCH - 1} others {self.nearest:.2f} (shipped static encoder)"
        )


def difficulty_of(store: Store, name: str) -> Difficulty | None:
    """How hard a stage's negatives are."""
    if not is_negative(store, name):
        return None
    chosen = choose_rows(store, name, _ROWS, 0, Choice(only_changed=True))
    found = nearness_of([(row["original"], row["text"]) for row in chosen if row["text"] is not None])
    return None if found is None else found.difficulty


@dataclass(frozen=True)
class Nearness:
    """How near texts are to their originals, by the shipped static encoder."""

    cosines: np.ndarray  # (n,)
    difficulty: Difficulty


def nearness_of(rows: Sequence[tuple[str, str]], seed: int = 0) -> Nearness | None:
    """Cosines of originals and texts; None of few, without the encoder, or where it tells no texts apart."""
    if len(rows) < _BATCH or (encoder := shipped_encoder()) is None:
        return None
    # In random order: neighbours in a file are more alike than those of a batch.
    rows = random.Random(seed).sample(list(rows), min(len(rows), _ROWS))
    originals, texts = (_unit(encoder, list(some)) for some in zip(*rows, strict=True))
    batches = [originals[first : first + _BATCH] for first in range(0, len(rows) - _BATCH + 1, _BATCH)]
    others = np.stack([batch @ batch.T for batch in batches])
    apart = ~np.eye(_BATCH, dtype=bool)
    other = float(others[:, apart].mean())
    if other > _ALL_ALIKE:
        return None
    nearest = float(np.where(apart, others, -1).max(axis=2).mean())
    cosines = np.einsum("ij,ij->i", originals, texts)
    return Nearness(cosines, Difficulty(float(cosines.mean()), other, nearest, len(rows)))


def is_negative(store: Store, name: str) -> bool:
    """Whether a stage's texts are negatives: of an augmentation, mined, or brought along by the corpus."""
    settings = store.stage(name).settings
    if not store.has(name) or not {"row_id", "text"} <= set(names := schema_of(store, name).names):
        return False
    if is_augmentation(store.stage(name)):
        return label_of(store, name) == "other"
    return "other_row_id" in names or settings.get("parameters", {}).get("kind") == "negative"


def with_difficulty(store: Store, entry: dict[str, Any]) -> dict[str, Any]:
    """What `stats` says of a stage, and how hard it is, where it has negatives."""
    try:
        found = difficulty_of(store, entry["stage"])
    except BadInputError:  # the numbers of the manifest are there all the same; `verify` names the damage
        return entry
    return entry | {"difficulty": asdict(found) | {"words": found.words}} if found else entry


@lru_cache(maxsize=1)
def shipped_encoder() -> Any:
    """The shipped encoder, or None where torch or its folder is missing."""
    try:
        from augment_cli.encoding.loading import load_encoder

        return load_encoder(STATIC)
    except (ImportError, MissingError):
        return None


def _unit(encoder: Any, texts: list[str]) -> np.ndarray:
    vectors = encoder.encode(texts)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
