"""What a sentence says of the tense of its verbs: years that are over, verbs beside each other."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.morphology import VerbForm
from augment_cli.syntax.tree import Role, words

_YEAR = re.compile(r"(?<![\d.,])[12]\d{3}(?![\d.,])")
_LAST_YEAR = 2025  # surely over, whenever the sentence is read
_PAST_WORDS = words("yesterday ago formerly previously originally then bc bce")


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
    if not len(past):
        return view
    forms, doubtful = view.verb_forms.copy(), view.is_doubtful.copy()
    forms[past], doubtful[past] = VerbForm.PAST, False
    return replace(view, verb_forms=forms, is_doubtful=doubtful)
