"""Expand contractions, or contract where there is nothing to expand: `don't`, `do not`.

AugCSE's ContractionExpansions: the expanded form if the sentence has a contraction, else the contracted one
(`--direction either`); `expand` and `contract` do one of the two.

Differences from the original: all places instead of the first; `'s` is expanded only behind words where it is
not a genitive, to `has` before a past participle and to `is` otherwise; `'d` becomes `would` before a base
form and `had` before a participle, and is left alone where neither is plain; `don't you` becomes `do you
not`, `what's he want` `what does he want`; nothing is contracted before a mark (`Yes, it is.`), nor
`it is` behind a preposition (`all of it is`); a curly apostrophe stays curly; what a tokenised corpus writes
apart (`do n't`) is read as one word.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import Augmentation, Resources, prepared, with_digests
from augment_cli.contract.parameters import parameter
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import (
    PhraseTable,
    Words,
    is_any,
    last_mark_before,
    lower_strings,
    next_words,
    word_edits,
)
from augment_cli.english.words.word_edits import joined, restored
from augment_cli.resources import word_groups, word_table
from augment_cli.resources.wordnet import TAGS, load_wordnet, wordnet_digest
from augment_cli.text.spans import Edits

_SUBJECTS = ("i", "you", "he", "she", "it", "we", "they")
# Behind these 's is a verb; behind a noun it is as a rule a genitive.
_BEFORE_S = (*_SUBJECTS[2:5], "that", "there", "here", "what", "where", "who", "how", "when")
_ASKING = _BEFORE_S[5:]  # in front of a pronoun they ask: what's he want
_DONE = {"been", "got", "had", "become"}  # behind 's: has
# No contraction of these where the auxiliary is the main verb: `I have a car`.
_PARTICIPLES = TAGS["VBN"]
_WORDS = word_groups("contraction")


@dataclass(frozen=True)
class ContractionParameters:
    """Parameters of contraction and expansion."""

    direction: str = parameter(
        "either",
        "expand, contract, or either: expand where there is a contraction, else contract",
        choices=("either", "expand", "contract"),
    )


@lru_cache(maxsize=1)
def _expansions() -> dict[str, str]:
    """Contractions with one meaning, in lower case, and what they stand for."""
    return {short: full for short, full, way, _ in word_table("contractions") if way != "contract"}


@lru_cache(maxsize=1)
def _contractions() -> tuple[PhraseTable, list[tuple[str, ...]]]:
    """Phrases to contract, and the row of each."""
    rows = [row for row in word_table("contractions") if row[2] != "expand"]
    return PhraseTable([full for _, full, *_ in rows]), rows


@lru_cache(maxsize=1)
def _verb_forms() -> tuple[frozenset[str], frozenset[str]]:
    """Spellings that can be a past participle, and those that can be a verb's base form."""
    wordnet = load_wordnet()
    bits = wordnet.form_bits
    participles = wordnet.forms.filter(pa.array(bits & _PARTICIPLES > 0)).to_pylist()
    bases = wordnet.forms.filter(pa.array(bits & TAGS["VB"] > 0)).to_pylist()
    return frozenset([*participles, "been", "had", "done"]), frozenset([*bases, "be", "have", "do"])


def _expanded(word: str, following: str | None) -> str | None:
    """What a contraction, in lower case, stands for before the word that follows; None if it is not one."""
    plain = _expansions().get(word)
    if plain is not None:
        return plain
    stem, mark, ending = word.rpartition("'")
    participles, bases = _verb_forms()
    done, does = following in participles, following in bases
    if mark and ending == "s" and stem in _BEFORE_S:
        has = done and not does and stem in _SUBJECTS and (following or "").endswith("n")
        return f"{stem} has" if has or following in _DONE else f"{stem} is"
    if mark and ending == "d" and stem in (*_SUBJECTS, "who", "there"):
        if following == "better" or (done and not does):
            return f"{stem} had"
        return f"{stem} would" if does and not done else None
    return None


def _asked(stem: str, second: str | None) -> str | None:
    """What `'s` stands for in a question, by the word behind its subject: has, does or is."""
    participles, bases = _verb_forms()
    if second in bases and second not in {*_DONE, "like"}:  # "what's it like"
        return None if second in participles else f"{stem} does"
    has = second in _DONE or (second in participles and (second or "").endswith("n"))
    return f"{stem} has" if has else f"{stem} is"


def expansion_edits(words: Words) -> Edits:
    """Edits that write every contraction in full."""
    codes, distinct = words.lower
    has_mark = np.array(["'" in word for word in distinct.to_pylist()], bool)
    index = np.flatnonzero(has_mark[codes]) if len(distinct) else np.zeros(0, np.int64)
    following = next_words(words, index)
    second = next_words(words, np.minimum(index + 1, max(len(words) - 1, 0)))
    found = []
    for place, word, behind, after in zip(
        index.tolist(), lower_strings(words, index), following, second, strict=True
    ):
        stem, full, end = word.removesuffix("'s"), _expanded(word, behind), place
        if behind in _SUBJECTS and stem in _ASKING and word.endswith("'s"):
            full = _asked(stem, after)
        if full and behind in _SUBJECTS and full.endswith("not"):  # don't you: do you not
            verb = full.removesuffix("not").rstrip()
            full, end = f"{verb} {'I' if behind == 'i' else behind} not", place + 1
        if full is not None:
            found.append((place, end, full))
    places = np.array([place for *place, _ in found], np.int64).reshape(-1, 2)
    return _edits(words, places[:, 0], places[:, 1], [full for *_, full in found])


def contraction_edits(words: Words) -> Edits:
    """Edits that contract wherever the sentences can be contracted."""
    table, rows = _contractions()
    matches = table.find(words)
    participles, bases = _verb_forms()
    fitting = {"participle": (participles, _WORDS.before_participles), "verb": (bases, _WORDS.before_verbs)}
    following = next_words(words, matches.last)
    # "All of it is new": the pronoun is not the subject.
    before = np.maximum(matches.first - 1, 0)
    inside = words.among(_WORDS.prepositions)[before] & words.follows_space[matches.first]
    inside &= words.among(_WORDS.after_preposition)[matches.first]
    # "for it is late" gives a reason behind its comma.
    inside &= ~(words.among({"for"})[before] & is_any(last_mark_before(words, before), ",;:."))
    keep = []
    for number, behind, is_inside in zip(matches.phrases.tolist(), following, inside, strict=True):
        condition = rows[number][3]
        fits = condition == "anything" or any(behind in listed for listed in fitting[condition])
        keep.append(behind is not None and behind != "only" and not is_inside and fits)
    matches = matches.where(np.array(keep, bool))
    return _edits(
        words, matches.first, matches.last, [rows[number][0] for number in matches.phrases.tolist()]
    )


def _edits(words: Words, first: np.ndarray, last: np.ndarray, texts: list[str]) -> Edits:
    strings = word_edits.in_case_of_first(words, first, pa.array(texts, pa.string()), last)
    curly = np.bincount(
        np.searchsorted(words.texts.offsets, np.flatnonzero(words.texts.values == 0x2019), "right") - 1,
        minlength=len(words.counts),
    )
    if curly.any() and len(first):
        mask = pa.array(curly[words.rows[first]] > 0)
        strings = pa.compute.if_else(mask, pa.compute.replace_substring(strings, "'", "’"), strings)
    return word_edits.edits_of(
        words, words.rows[first], words.flat_starts[first], words.flat_ends[last], strings
    )


def _run(parameters: ContractionParameters, resources: Resources, rows: Rows) -> Outcome:
    rows, split = joined(rows)
    words = Words.of(rows.code_points)
    edits = expansion_edits(words) if parameters.direction != "contract" else contraction_edits(words)
    if parameters.direction == "either":
        contracted = contraction_edits(words)
        free = ~np.isin(contracted.rows, edits.rows)
        edits = word_edits.merged(edits, word_edits.some_edits(contracted, free))
    return restored(Outcome(edits, word_edits.reasons_for(words, np.zeros(len(words), bool))), split)


CONTRACTION = Augmentation(
    name="contraction",
    version=5,
    kind="positive",
    paper="Tang et al. 2022, AugCSE (ContractionExpansions)",
    languages=("en",),
    parameters=ContractionParameters,
    prepare=prepared(_run),
    resolve=with_digests(lambda: {"wordnet": wordnet_digest()}),
    examples=("augment-cli contraction", "augment-cli contraction --direction expand"),
    is_random=False,
)
