"""English verbs in another tense, one word, or `will` and its verb, at a time; what tells a verb's tense."""

import re
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.english import LISTS
from augment_cli.english.inflection import base_form, inflected
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import Role, VerbForm, words
from augment_cli.text.surface import CAPITALS, case_of, in_case

PAST, PRESENT, FUTURE = range(3)
TENSES = ("past", "present", "future")
# Who the verb agrees with.
OTHER, THIRD, FIRST = range(3)  # you and plurals; he, she, it; I

_HAVE = frozenset({"'ve", "’ve", "'s", "’s"})
WILL = frozenset({"will", "wo", "'ll", "’ll", "shall", "sha"})
_TO_PAST = {"can": "could", "ca": "could", "may": "might", "must": "had to"}
_TO_PAST |= dict.fromkeys(("shall", "sha"), "should")
_TO_PAST |= dict.fromkeys(("will", "wo", "'ll", "’ll"), "would")
_TO_PRESENT = {"could": "can", "might": "may", "would": "will"}
_TO_FUTURE = {"can": "will be able to", "could": "will be able to", "must": "will have to"}
# In front of "not" they have no other tense, or a different one.
_NOT_BEFORE_NEGATION = frozenset({"must", "may", "might"})
# Before "n't" other stems: can't to ca|n't.
_STEMS = {"can": "ca", "will": "wo"}


def finite(verb: str, tense: int, person: int) -> str | None:
    """A verb in the past or the present: ("go", PAST, THIRD) gives "went"."""
    if verb == "be":
        return (("were", "was", "was") if tense == PAST else ("are", "is", "am"))[person]
    if tense == PAST:
        return inflected(verb, VerbForm.PAST)
    return inflected(verb, VerbForm.PRESENT_THIRD if person == THIRD else VerbForm.PRESENT)


@lru_cache(maxsize=200_000)
def in_tense(
    word: str, form: int, lemma: str, is_be: bool, person: int, tense: int, negation: str
) -> tuple[str, str] | None:
    """A finite verb in another tense."""
    lower = word.lower()
    if form == VerbForm.MODAL:
        new = _modal(lower, tense, negation)
        return None if new is None else (_space(word) + in_case(new, case_of(word)), "")
    verb = "be" if is_be else "have" if lower in _HAVE else base_form(word, form, lemma)
    if verb is None or (lower in {"'d", "’d"}):
        return None
    was = PAST if form == VerbForm.PAST else PRESENT
    if was == tense:
        return None
    behind = ""
    if tense == FUTURE:
        new = "will"
        if negation and verb in {"be", "have"}:
            behind = " " + (verb.upper() if case_of(word) == CAPITALS else verb)
        elif not (negation and verb == "do"):
            new += " " + verb
        if negation in {"n't", "n’t"}:
            new = "wo"
    else:
        inflected = finite(verb, tense, person)
        if inflected is None:
            return None
        new = inflected
    return _space(word) + in_case(new, case_of(word)), behind


def _space(word: str) -> str:
    """What a full word needs in front of it in the place of a contracted one."""
    return " " if word[:1] in "'’" else ""


def _modal(word: str, tense: int, negation: str) -> str | None:
    if negation and word in _NOT_BEFORE_NEGATION:
        return None
    if tense == FUTURE:
        return None if negation else _TO_FUTURE.get(word)
    new = (_TO_PAST if tense == PAST else _TO_PRESENT).get(word)
    return _STEMS.get(new, new) if new is not None and negation in {"n't", "n’t"} else new


_EITHER = words("leave return move retire serve join win play attend run study enter lead")
_YEAR = re.compile(r"(?<![\d.,])[12]\d{3}(?![\d.,])")
_LAST_YEAR = 2025  # surely over, whenever the sentence is read
NOMINATIVES = words("i you he she we they")
_PAST_WORDS = words("yesterday ago recently formerly previously originally then bc bce")


def is_past_dated(view: ClauseView) -> np.ndarray:
    """bool (n,): rows with a year or century that is over, or a word such as `yesterday` or `ago`."""
    lower = view.parses.lower
    current = view.any(lower.among({"21st", "twenty-first"}))
    century = view.any(lower.among({"century", "centuries"})) & ~current
    return century | view.any(lower.among(_past_years(lower.values)) | lower.among(_PAST_WORDS))


def _past_years(values: tuple[str, ...]) -> list[str]:
    """Those of some words that name a year that is over: 1939, 1914–18, 1980s."""
    words_ = pa.array(values, pa.string())
    maybe = words_.filter(pc.match_substring_regex(words_, "[12]...")).to_pylist()
    return [word for word in maybe if any(1000 <= int(year) <= _LAST_YEAR for year in _YEAR.findall(word))]


def is_headline(view: ClauseView) -> np.ndarray:
    """bool (n,): rows without a mark at the end, an article, a pronoun or an auxiliary: `Poet dies at 74`."""
    # "Dies" and "died" say the same in one, and "killed" may be either.
    parses = view.parses
    last = np.maximum(parses.offsets[1:] - 1, 0)
    first = np.minimum(parses.offsets[:-1], max(len(view.roles) - 1, 0))
    grammar = parses.tags.among({"DT", "PRP", "PRP$", "MD", "EX", "WDT", "WP", "WRB"})
    ends = parses.forms.among({".", "!", "?"})[last]
    small = parses.forms.where(lambda form: form[:1].islower())[first]
    return ~(ends | small | view.any(grammar | view.auxiliaries | view.is_be))


def asks_if_one_can(view: ClauseView, mains: np.ndarray) -> np.ndarray:
    """bool (m,): `can you stop it` and `How can I go?`, which ask what `could` asks."""
    parses = view.parses
    can = parses.lower_at(mains).among({"can", "could"})
    following = view.behind(mains)
    return can & (parses.lower_at(following).among(NOMINATIVES) & (following > mains))


def with_mended_conjuncts(view: ClauseView) -> ClauseView:
    """The view with "set" in "He preached and set up schools" as a verb in the past."""
    # Taggers like to take it for a participle, which would need an auxiliary; the verb beside it has none.
    parses, parents = view.parses, view.parents
    tokens = np.flatnonzero((view.roles == Role.CONJUNCT) & (view.verb_forms == VerbForm.PAST_PARTICIPLE))
    heads = parents[tokens]
    joined = parses.pos.among({"CCONJ"})
    near = joined[np.maximum(tokens - 1, 0)] | joined[np.maximum(tokens - 2, 0)]  # "and then taught"
    # Between the two no auxiliary that could be its own: "was chosen in 1597, and appointed".
    helpers = np.append(0, np.cumsum(view.auxiliaries))
    free = (helpers[tokens] == helpers[heads]) & (tokens > heads)
    main = (heads == view.roots[view.rows[tokens]]) & (view.verb_forms[heads] == VerbForm.PAST)
    past = tokens[main & near & free & ~view.is_be[heads]]
    passive = view.with_child(view.auxiliaries & view.is_be & (view.verb_forms == VerbForm.PAST))
    both = np.flatnonzero((view.roles == Role.CONJUNCT) & passive[parents])
    both = both[
        (helpers[both] == helpers[parents[both]]) & ~view.with_child(view.roles == Role.SUBJECT)[both]
    ]
    forms = view.verb_forms[both]
    # "was born in 1905 and died": a verb that has no passive; of "left" nobody knows.
    lemmas = parses.lemmas_at(both).lowered()
    alone = lemmas.among(LISTS["no_passive"]) & (
        (forms == VerbForm.PAST) | (forms == VerbForm.PAST_PARTICIPLE)
    )
    unsure = lemmas.among(_EITHER) & (forms == VerbForm.PAST_PARTICIPLE) | (forms == VerbForm.PAST)
    past = np.concatenate([past, both[alone]])
    lost = view.row_mask(view.rows[both[unsure & ~alone]])
    if not len(past) and not lost.any():
        return view
    forms, doubtful = view.verb_forms.copy(), view.is_doubtful.copy()
    forms[past], doubtful[past] = VerbForm.PAST, False
    return replace(view, verb_forms=forms, is_doubtful=doubtful | lost[view.rows])
