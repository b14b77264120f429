"""Replace an adjective or adverb by its opposite: `a cheap car` to `an expensive car`.

AugCSE's AntonymsSubstitute: every adjective and adverb with an antonym is replaced, and the sentence counts
only if their number is odd, since two opposites can cancel each other out.

Differences from the original: one of them, drawn, is replaced (`--several drop` replaces all of an odd
number, as the authors do; `--several all --words adjectives` is SentenceAdjectivesAntonymsSwitch); instead of
WordNet's antonyms (`--opposites wordnet`) those of a list, of words that oppose each other in every common
sense, where the opposite goes with its neighbours as the word does; expressions (`best friend`), names,
measures (`ten years old`), one of two joined adjectives (`young and old`) and what a question asks (`Is it
normal?`) stay; inflection (`bigger`, `smaller`), case and spacing survive. Parts of speech come from the
cached parse where the store has one, else from WordNet's counts and the word on the left.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow.compute as pc

from augment_cli.contract.augmentation import Augmentation, Resources, prepared
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import parameter, parts_of_speech_parameter
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import PhraseTable, Words, lexical, word_edits
from augment_cli.english.words.lexical import antonyms
from augment_cli.english.words.readings import reading_of_each_word
from augment_cli.resources import collocations_digest, word_groups, word_list, word_list_digests, word_table
from augment_cli.resources.wordnet import ADJECTIVE, ADVERB
from augment_cli.text.spans import ranges

_BE = ("is", "are", "was", "were")
_WORDS = word_groups("antonym")
_AGED = "(?i)-(year|month|week|day|hour)s?$"  # "a 10-month old baby"


@dataclass(frozen=True)
class AntonymParameters:
    """Parameters of antonym substitution."""

    several: str = parameter(
        "one",
        "of several candidates: replace one, drawn; all of an odd number, else drop the sentence; or all",
        choices=("one", "drop", "all"),
    )
    words: str = parameter(
        "adjectives-and-adverbs",
        "which words are candidates",
        choices=("adjectives-and-adverbs", "adjectives"),
    )
    opposites: str = parameter(
        "list",
        "of a list, where they fit their neighbours; or all of WordNet, as in the paper: a sixth is wrong",
        choices=("list", "wordnet"),
    )
    parts_of_speech: str = parts_of_speech_parameter()


@lru_cache(maxsize=1)
def _kept_phrases() -> PhraseTable:
    return PhraseTable(word_list("opposites_kept"))


def is_behind_be(words: Words) -> np.ndarray:
    """bool (N,): words that something is, seems or becomes: `is empty`, `was not very empty`."""
    near = words.follows_space
    linked = np.append(False, words.among(_WORDS.linking)[:-1]) & near
    for _ in range(2):  # words of degree between
        linked |= np.append(False, (words.among(_WORDS.degrees) & linked)[:-1]) & near
    return linked


def _keeps(words: Words) -> np.ndarray:
    """bool (N,): words that have no opposite where they stand."""
    size, near = len(words), words.follows_space
    if not size:
        return np.zeros(0, bool)
    follows = np.append(near[1:], False)
    before = np.append(False, words.among(_WORDS.measures | _WORDS.before)[:-1]) & near
    aged = pc.match_substring_regex(words.strings, _AGED).to_numpy(zero_copy_only=False)
    before |= np.append(False, aged[:-1]) & near
    behind = np.append(words.among(_WORDS.behind)[1:], False) & follows
    matches = _kept_phrases().find(words)
    fixed = np.zeros(size, bool)
    fixed[ranges(matches.first, matches.last - matches.first + 1)] = True
    lemmas = [word for _, word, _, *place in word_table("opposite_words") if place]
    only = [word + ending for word in lemmas for ending in ("", "er", "est", "r", "st")]
    content = follows & ~np.append(words.among(word_list("function_words"))[1:], True)
    fixed |= words.among(only) & (~is_behind_be(words) | content)
    # "good -natured", "well/badly"
    values = words.texts.values
    ends = np.minimum(words.flat_ends, len(values) - 1)
    further = np.minimum(ends + 1, len(values) - 1)
    marks = np.isin(values, [ord(mark) for mark in "-/&+#"])
    tied = (
        marks[ends]
        | (marks[further] & (values[ends] == ord(" ")))
        | marks[np.maximum(words.flat_starts - 1, 0)]
    )
    # What a question asks: "Is it normal?", "Is this a good idea?", not "Is there an easy way?".
    opens = words.among(_BE) & ((words.positions == 0) | words.has_capital)
    last = np.maximum.accumulate(np.where(opens, np.arange(size), -1))
    asked = (last >= 0) & (words.rows[np.maximum(last, 0)] == words.rows)
    asked &= ~(content & words.among(("there",))[np.minimum(last + 1, size - 1)])
    return before | behind | fixed | tied | asked


def come_again(words: Words) -> np.ndarray:
    """bool (N,): words that stand in their text a second time: another would speak of something else."""
    codes, distinct = words.lower
    _, of, counts = np.unique(words.rows * len(distinct) + codes, return_inverse=True, return_counts=True)
    again: np.ndarray = (counts > 1)[of]
    return again


def candidates(
    rows: Rows, words: Words, parts: frozenset[int], replacer: lexical.Replacer
) -> tuple[np.ndarray, np.ndarray]:
    """Readings of words (N,), and bool (N,): those that may be turned, as their opposites fit there."""
    reading = reading_of_each_word(words, parts, rows.parses)
    eligible = replacer.eligible(reading) & ~_keeps(words)
    # "The best way" is said so often that no other way would fit, and "the worst way" reads well.
    free = words.among(("best", "worst"))
    if len(words):  # nor does what something is said to be depend on a noun: "it is unclear that"
        apart = np.append(~words.follows_space[1:], True)
        free |= is_behind_be(words) & (apart | np.append(words.among(_WORDS.goes_on)[1:], True))
    return reading, replacer.fitting(rows, words, reading, eligible) | (eligible & free)


def _run(parameters: AntonymParameters, resources: Resources, rows: Rows) -> Outcome:
    is_own = parameters.opposites == "list"
    relation = antonyms() if is_own else lexical.wordnet_antonyms()
    replacer = lexical.Replacer(relation, resources.key("antonym/replacement"))
    key = resources.key("antonym/drawn")
    parts = frozenset({ADJECTIVE} if parameters.words == "adjectives" else {ADJECTIVE, ADVERB})
    words = Words.of(rows.code_points)
    if is_own:
        reading, eligible = candidates(rows, words, parts, replacer)
    else:
        reading = reading_of_each_word(words, parts, rows.parses)
        eligible = replacer.eligible(reading) & ~_keeps(words)
    if parameters.several == "one":
        eligible &= ~come_again(words)
    index = np.flatnonzero(eligible)
    counts = np.bincount(words.rows[index], minlength=len(rows))
    reasons = word_edits.reasons_for(words, eligible)
    if parameters.several == "one":
        draws = uniform(key, rows.row_ids[words.rows[index]], words.positions[index])
        index = index[word_edits.ranks_within(words.rows[index], draws) == 0]
    elif parameters.several == "drop":
        even = counts % 2 == 0
        index = index[~even[words.rows[index]]]
        reasons[(counts > 0) & even] = Reason.NO_POSITION_DRAWN
    return replacer.outcome(rows, words, reading, index, reasons)


def resolve(parameters: Any, resources: Resources) -> dict[str, Any]:
    """As `lexical.resolve`, with the lists of opposites and the counts of neighbours."""
    lists = word_list_digests("opposite_words", "opposites_kept")
    return lexical.resolve(parameters, resources) | lists | {"collocations": collocations_digest()}


ANTONYM = Augmentation(
    name="antonym",
    version=5,
    kind="negative",
    paper="Tang et al. 2022, AugCSE (AntonymsSubstitute); opposites of a list of our own",
    languages=("en",),
    reads_parse_if_there=True,
    parameters=AntonymParameters,
    prepare=prepared(_run),
    columns=lexical.COLUMNS,
    resolve=resolve,
    examples=("augment-cli antonym", "augment-cli antonym --several drop"),
    turns="polarity",
    entailment=("other", "a word is turned into its opposite"),
)
