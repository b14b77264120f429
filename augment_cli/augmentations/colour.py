"""Replace colour words by other colours, each drawn evenly.

AugCSE's ColorTransformation, with this project's list of words that are seldom anything but a colour
(`resources/words/colours.txt`) instead of the 147 names of CSS, of which many are fruits, metals and places.

Differences from the original: whole words instead of substrings (`red` in `hundred`), every occurrence
instead of the first, the same colour for the same word within a sentence, capitalised words inside a
sentence (`Red Sea`), surnames that begin one, and colours before words for people or in fixed phrases
(`black market`) are left alone; case and spacing survive, and each sentence draws for itself.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations import word_edits
from augment_cli.augmentations.base import (
    Augmentation,
    Batch,
    Outcome,
    Prepared,
    Resources,
    check_parameters,
)
from augment_cli.draws import uniform
from augment_cli.resources.word_lists import word_list, word_list_digest, word_set
from augment_cli.surface import UPPER, character_classes
from augment_cli.words import Words

# At a sentence's beginning these are as often somebody's name.
_SURNAMES = pa.array(["black", "white", "green", "brown", "gray", "grey"])


@dataclass(frozen=True)
class ColourParameters:
    """There is nothing to choose."""


def colour_words(words: Words) -> tuple[np.ndarray, np.ndarray]:
    """Indices (m,) of the words that are colours, and which colour each is."""
    colours = words.index_in(word_set("colours"))
    found = np.flatnonzero(colours >= 0)
    first = character_classes()[words.texts.values[words.starts[found]]]
    is_name = words.among(_SURNAMES)[found]
    keep = (first & UPPER == 0) | ((words.positions[found] == 0) & ~is_name)
    following = np.minimum(found + 1, len(words) - 1)
    people = words.among(word_set("people"))
    keep &= ~((found + 1 < len(words)) & words.follows_space[following] & people[following])
    found = found[keep]
    return found, colours[found]


def _prepare(parameters: ColourParameters, resources: Resources) -> Prepared:
    check_parameters(parameters)
    key = resources.key("colour")
    count = len(word_list("colours"))

    def run(batch: Batch) -> Outcome:
        words = Words.of(batch.code_points)
        index, colours = colour_words(words)
        # The colour itself is the counter, so that equal words stay equal.
        draws = uniform(key, batch.row_ids[words.rows[index]], colours)
        drawn = (draws * (count - 1)).astype(np.int64)
        drawn += drawn >= colours
        strings = word_edits.in_case_of(words, index, pc.take(word_set("colours"), pa.array(drawn)))
        eligible = np.zeros(len(words), bool)
        eligible[index] = True
        return Outcome(
            word_edits.replace_words(words, index, strings), word_edits.reasons_for(words, eligible)
        )

    return run


def _resolve(parameters: ColourParameters, resources: Resources) -> dict[str, Any]:
    return dataclasses.asdict(parameters) | {name: word_list_digest(name) for name in ("colours", "people")}


COLOUR = Augmentation(
    name="colour",
    version=1,
    kind="positive",
    paper="Tang et al. 2022, AugCSE (ColorTransformation)",
    needs=frozenset(),
    parameters=ColourParameters,
    prepare=_prepare,
    resolve=_resolve,
    examples=("augment-cli colour", "augment-cli colour --draws 3"),
    meaning="possibly altered",
)
