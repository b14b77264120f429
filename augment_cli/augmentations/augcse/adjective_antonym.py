"""Replace an adjective by its opposite: `a cheap car` to `an expensive car`.

AugCSE's SentenceAdjectivesAntonymsSwitch. Which words are adjectives says the parse; the opposites are those
of `augment-cli antonym`, which takes adverbs too and needs no parse.

Differences from the original: the last adjective that has an opposite is replaced, not all, as several seldom
make a sound sentence (`augment-cli antonym --words adjectives --several all` does so); opposites are those of
a list; comparatives and superlatives are inflected (`bigger` to `smaller`); names, expressions and measures
(`ten years old`) stay; `a` and `an` follow; spacing and case survive.
"""

from dataclasses import dataclass

import numpy as np

from augment_cli.augmentations.augcse.antonym import candidates, come_again, is_behind_be, resolve
from augment_cli.contract.augmentation import Resources, english_rules, prepared
from augment_cli.contract.parameters import parameter
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import Words, lexical, word_edits
from augment_cli.english.words.lexical import antonyms
from augment_cli.resources.wordnet import ADJECTIVE


@dataclass(frozen=True)
class AdjectiveParameters:
    """Parameters of the adjectives' antonyms."""

    place: str = parameter(
        "any",
        "which adjectives: any; predicate, those that is, was and the like say of the subject",
        choices=("any", "predicate"),
        later=True,
    )


def _run(parameters: AdjectiveParameters, resources: Resources, rows: Rows) -> Outcome:
    replacer = lexical.Replacer(antonyms(), resources.key("adjective-antonym"))
    words = Words.of(rows.code_points)
    reading, eligible = candidates(rows, words, frozenset({ADJECTIVE}), replacer)
    eligible &= ~come_again(words)
    if parameters.place == "predicate":
        eligible &= is_behind_be(words)
    index = np.flatnonzero(eligible)
    index = index[np.diff(words.rows[index], append=-1) != 0]
    return replacer.outcome(rows, words, reading, index, word_edits.reasons_for(words, eligible))


ADJECTIVE_ANTONYM = english_rules(
    name="adjective-antonym",
    version=4,
    kind="negative",
    paper="Tang et al. 2022, AugCSE (SentenceAdjectivesAntonymsSwitch); opposites of a list of our own",
    parameters=AdjectiveParameters,
    prepare=prepared(_run),
    columns=lexical.COLUMNS,
    resolve=resolve,
    examples=("augment-cli adjective-antonym", "augment-cli adjective-antonym --place predicate"),
    is_random=False,
    turns="polarity",
    entailment=("other", "an adjective is turned into its opposite"),
)
