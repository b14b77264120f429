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

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from augment_cli.augmentations.running import prepared
from augment_cli.contract.augmentation import Augmentation, Resources, with_digests
from augment_cli.contract.parameters import parameter
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import word_edits
from augment_cli.english.words.phrases import PhraseTable, is_any, last_mark_before, lower_strings, next_words
from augment_cli.english.words.word_edits import joined, restored
from augment_cli.english.words.words import Words
from augment_cli.resources import word_groups
from augment_cli.resources.wordnet import TAGS, load_wordnet, wordnet_digest
from augment_cli.text.spans import Edits

_NEGATED = (
    *("is", "are", "was", "were", "do", "does", "did", "have", "has", "had", "could", "would", "should"),
    *("must", "need", "might", "ought", "dare"),
)
# What n't stands behind, where it is not the word itself.
_IRREGULAR = {"can't": "cannot", "won't": "will not", "shan't": "shall not", "let's": "let us"}
_SUBJECTS = ("i", "you", "he", "she", "it", "we", "they")
# Behind these 's is a verb; behind a noun it is as a rule a genitive.
_BEFORE_S = (*_SUBJECTS[2:5], "that", "there", "here", "what", "where", "who", "how", "when")
_ASKING = _BEFORE_S[5:]  # in front of a pronoun they ask: what's he want
_VERBS = {"'re": " are", "'ve": " have", "'ll": " will", "'m": " am"}
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
    table = {f"{verb}n't": f"{verb} not" for verb in _NEGATED} | _IRREGULAR
    for subject in (*_SUBJECTS, "that", "there", "who", "what", "these", "those"):
        for ending, verb in _VERBS.items():
            if ending == "'m" and subject != "i":
                continue
            table[subject + ending] = subject + verb
    return table


@lru_cache(maxsize=1)
def _contractions() -> tuple[PhraseTable, list[str], list[str]]:
    """Phrases to contract, what they become, and what must follow: a verb's tag, or anything."""
    table: dict[str, tuple[str, str]] = {}
    for verb in _NEGATED[:-3]:
        table[f"{verb} not"] = (f"{verb}n't", "")
    for contracted, full in _IRREGULAR.items():
        table[full] = (contracted, "")
    table["can not"] = ("can't", "")
    for subject in _SUBJECTS:
        be = {"i": "am", "you": "are", "we": "are", "they": "are"}.get(subject, "is")
        table[f"{subject} {be}"] = (f"{subject}'{ {'am': 'm', 'are': 're', 'is': 's'}[be] }", "")
        table[f"{subject} will"] = (f"{subject}'ll", "")
        if subject in {"i", "you", "we", "they"}:
            table[f"{subject} have"] = (f"{subject}'ve", "participle")
        else:
            table[f"{subject} has"] = (f"{subject}'s", "participle")
        if subject != "it":  # nobody writes "it'd"
            table[f"{subject} had"] = (f"{subject}'d", "participle")
            table[f"{subject} would"] = (f"{subject}'d", "verb")
    for subject in ("there", "that", "what", "who", "where", "how", "here", "when"):
        table[f"{subject} is"] = (f"{subject}'s", "")
    for modal in ("would", "could", "should", "might", "must"):
        table[f"{modal} have"] = (f"{modal}'ve", "participle")
    return PhraseTable(list(table)), [value[0] for value in table.values()], [v[1] for v in table.values()]


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
    if mark and ending == "s" and stem in _BEFORE_S:
        has = following in {"been", "got", "had", "become"} or (
            following in participles
            and following not in bases
            and stem in _SUBJECTS
            and following.endswith("n")
        )
        return f"{stem} has" if has else f"{stem} is"
    if mark and ending == "d" and stem in (*_SUBJECTS, "who", "there"):
        if following == "better":
            return f"{stem} had"
        if following in bases and following not in participles:
            return f"{stem} would"
        if following in participles and following not in bases:
            return f"{stem} had"
    return None


def _asked(stem: str, second: str | None) -> str | None:
    """What `'s` stands for in a question, by the word behind its subject: has, does or is."""
    participles, bases = _verb_forms()
    if second in {"been", "got", "had", "become"}:
        return f"{stem} has"
    if second is None or second not in bases:
        return f"{stem} has" if second in participles and (second or "").endswith("n") else f"{stem} is"
    return None if second in participles else f"{stem} does"


def expansion_edits(words: Words) -> Edits:
    """Edits that write every contraction in full."""
    codes, distinct = words.lower
    has_mark = np.array(["'" in word for word in distinct.to_pylist()], bool)
    index = np.flatnonzero(has_mark[codes]) if len(distinct) else np.zeros(0, np.int64)
    last, texts, chosen = [], [], []
    following = next_words(words, index)
    second = next_words(words, np.minimum(index + 1, max(len(words) - 1, 0)))
    lower = lower_strings(words, index)
    for place, word, behind, after in zip(index.tolist(), lower, following, second, strict=True):
        full = _expanded(word, behind)
        if behind in _SUBJECTS and word.removesuffix("'s") in _ASKING and word.endswith("'s"):
            full = _asked(word.removesuffix("'s"), after)
        if full is None:
            continue
        end = place
        if behind in _SUBJECTS and full.endswith(" not"):  # don't you: do you not
            full, end = f"{full[:-4]} {'I' if behind == 'i' else behind} not", place + 1
        elif full == "cannot" and behind in _SUBJECTS:
            full, end = f"can {'I' if behind == 'i' else behind} not", place + 1
        chosen.append(place)
        last.append(end)
        texts.append(full)
    return _edits(words, np.array(chosen, np.int64), np.array(last, np.int64), texts)


def contraction_edits(words: Words) -> Edits:
    """Edits that contract wherever the sentences can be contracted."""
    table, contracted, conditions = _contractions()
    matches = table.find(words)
    participles, bases = _verb_forms()
    following = next_words(words, matches.last)
    # "All of it is new": the pronoun is not the subject.
    before = np.maximum(matches.first - 1, 0)
    inside = words.among(_WORDS.prepositions)[before] & words.follows_space[matches.first]
    inside &= words.among(_WORDS.after_preposition)[matches.first]
    # "for it is late" gives a reason behind its comma.
    inside &= ~(words.among({"for"})[before] & is_any(last_mark_before(words, before), ",;:."))
    keep = []
    for number, behind, is_inside in zip(matches.phrases.tolist(), following, inside, strict=True):
        fits = behind is not None and behind != "only" and not is_inside
        if conditions[number] == "participle":
            fits = fits and (behind in participles or behind == "not" or behind in _WORDS.before_participles)
        elif conditions[number] == "verb":
            fits = fits and (behind in bases or behind in _WORDS.before_verbs)
        keep.append(fits)
    matches = matches.where(np.array(keep, bool))
    texts = [contracted[number] for number in matches.phrases.tolist()]
    return _edits(words, matches.first, matches.last, texts)


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
    reasons = word_edits.reasons_for(words, np.zeros(len(words), bool))
    if parameters.direction == "contract":
        return restored(Outcome(contraction_edits(words), reasons), split)
    expanded = expansion_edits(words)
    if parameters.direction == "expand":
        return restored(Outcome(expanded, reasons), split)
    contracted = contraction_edits(words)
    free = ~np.isin(contracted.rows, expanded.rows)
    edits = word_edits.merged(expanded, word_edits.some_edits(contracted, free))
    return restored(Outcome(edits, reasons), split)


CONTRACTION = Augmentation(
    name="contraction",
    version=4,
    kind="positive",
    paper="Tang et al. 2022, AugCSE (ContractionExpansions)",
    languages=("en",),
    parameters=ContractionParameters,
    prepare=prepared(_run),
    resolve=with_digests(lambda: {"wordnet": wordnet_digest()}),
    examples=("augment-cli contraction", "augment-cli contraction --direction expand"),
    is_random=False,
)
