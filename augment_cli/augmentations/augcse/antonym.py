"""Replace adjectives and adverbs by WordNet antonyms, an odd number of them, so that the meaning turns.

AugCSE's AntonymsSubstitute: every adjective and adverb with an antonym is replaced, and the sentence counts
only if their number is odd, since two opposites can cancel each other out.

`--words adjectives --even keep` is SentenceAdjectivesAntonymsSwitch, all adjectives replaced. Parts of speech
come from the cached parse where the store has one, else from WordNet's counts and the word on the left.

Differences from the original: where the number is even, one of them, drawn, is left as it is instead of
giving the sentence up (`--even drop` gives it up as the authors do); the antonym is that of the most
frequent sense that has one, instead of the alphabetically first; inflection (`bigger`, `smaller`), case
and spacing survive; antonyms made with `non` are left out. Satellite adjectives have no antonym of their own,
and keep their place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from augment_cli.augmentations.augcse.adjective_antonym import MEASURES
from augment_cli.contract.augmentation import Augmentation, Prepared, Resources
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import parameter, parts_of_speech_parameter
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import lexical, word_edits
from augment_cli.english.words.lexical import ANTONYM_PARTS, antonyms
from augment_cli.english.words.readings import reading_of_each_word
from augment_cli.english.words.words import Words
from augment_cli.resources.word_lists import word_list
from augment_cli.resources.wordnet import ADJECTIVE

_BE = ("is", "are", "was", "were")


@dataclass(frozen=True)
class AntonymParameters:
    """Parameters of antonym substitution."""

    even: str = parameter(
        "leave-one",
        "an even number of candidates: leave one as it is, drop the sentence, or replace them all",
        choices=("leave-one", "drop", "keep"),
    )
    words: str = parameter(
        "adjectives-and-adverbs",
        "which words are candidates",
        choices=("adjectives-and-adverbs", "adjectives"),
    )
    parts_of_speech: str = parts_of_speech_parameter()


def _keeps(words: Words) -> np.ndarray:
    """bool (N,): `three years old`, and what a question asks: `Is it normal?`, `how difficult is it`."""
    size = len(words)
    if not size:
        return np.zeros(0, bool)
    near = words.follows_space
    before = np.append(False, words.among([*MEASURES, "how"])[:-1]) & near
    opens = words.among(_BE) & ((words.positions == 0) | words.has_capital)
    last = np.maximum.accumulate(np.where(opens, np.arange(size), -1))
    asked = (last >= 0) & (words.rows[np.maximum(last, 0)] == words.rows)
    # With a content word behind it is of a noun: "Is there an easy way".
    behind = np.append(near[1:] & ~words.among(word_list("function_words"))[1:], False)
    return before | (asked & ~behind)


def _prepare(parameters: AntonymParameters, resources: Resources) -> Prepared:
    replacer = lexical.Replacer(antonyms(), resources.key("antonym/replacement"))
    key = resources.key("antonym/left")
    parts = ANTONYM_PARTS if parameters.words == "adjectives-and-adverbs" else frozenset({ADJECTIVE})

    def run(rows: Rows) -> Outcome:
        words = Words.of(rows.code_points)
        reading = reading_of_each_word(words, parts, rows.parses)
        eligible = replacer.eligible(reading) & ~_keeps(words)
        index = np.flatnonzero(eligible)
        counts = np.bincount(words.rows[index], minlength=len(rows))
        even = (counts % 2 == 0) & (parameters.even != "keep")
        if parameters.even == "drop":
            index = index[~even[words.rows[index]]]
        else:
            draws = uniform(key, rows.row_ids[words.rows[index]], words.positions[index])
            left = even[words.rows[index]] & (word_edits.ranks_within(words.rows[index], draws) == 0)
            index = index[~left]
        reasons = word_edits.reasons_for(words, eligible)
        reasons[(counts > 0) & even] = Reason.NO_POSITION_DRAWN
        return replacer.outcome(rows, words, reading, index, reasons)

    return run


ANTONYM = Augmentation(
    name="antonym",
    version=3,
    kind="negative",
    paper="Tang et al. 2022, AugCSE (AntonymsSubstitute); WordNet 3.0",
    languages=("en",),
    reads_parse_if_there=True,
    parameters=AntonymParameters,
    prepare=_prepare,
    columns=lexical.COLUMNS,
    resolve=lexical.resolve,
    examples=("augment-cli antonym", "augment-cli antonym --even drop"),
    turns="polarity",
    meaning="altered",
    entailment=("other", "a word is turned into its opposite"),
)
