"""Positives that say the same otherwise, by rules: `In 1999, he moved` for `He moved in 1999`.

Rules on the parse put adverbials in another place, turn active and passive, genitives, identities and
coordinations, join clauses in another way, write dates and numbers otherwise, and replace phrases and words
from checked lists. A sentence gets at most one change of its clauses, and smaller changes where nothing has
changed yet; each draw takes others. Where the parse leaves a doubt, a rule declines.

`rules` names the rule of each edit, in the order of `edits`. The rules read the labels of Universal
Dependencies, which the shipped pipeline gives; on other labels those of phrases, words and figures apply.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.augmentation import english_rules, with_digests
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.rephrasing import Choice, Places, lexicon
from augment_cli.english.rephrasing.adverbials import adverbials
from augment_cli.english.rephrasing.clauses import clauses
from augment_cli.english.rephrasing.expansions import expansions
from augment_cli.english.rephrasing.figures import figures
from augment_cli.english.rephrasing.grammar import Grammar
from augment_cli.english.rephrasing.nouns import nouns
from augment_cli.english.rephrasing.openings import openings, reported
from augment_cli.english.rephrasing.predicates import predicates
from augment_cli.english.rephrasing.requests import requests
from augment_cli.english.rephrasing.voice import voices
from augment_cli.resources import word_list_digests
from augment_cli.syntax.parses import ParseRows
from augment_cli.text.spans import EditList, Edits, apply_edits

_LISTS = (
    *(lexicon.PHRASES, lexicon.SYNONYMS, "fixed_pairs", "fixed_phrases", "function_words"),
    *("owned_nouns", "passive_verbs"),
)
_PURPOSES = 4  # draws at a place: a replacement, its rank, whether to change it
_LIST_TYPE = pa.list_(pa.string())


# Kinds of rules; those of requests, phrases and words draw what they put in.
_RULES: dict[str, tuple[Callable[[Grammar], Sequence[Places]], ...]] = {
    "clauses": (clauses, openings, predicates, reported),
    "voice": (voices,),
    "adverbials": (adverbials,),
    "nouns": (nouns, expansions),
    "figures": (figures,),
    "requests": (),
    "lexicon": (),
}


@dataclass(frozen=True)
class RephraseParameters:
    """Parameters of rephrasing: how many of the places where a rule applies are changed."""

    clauses: float = parameter(
        0.9, "share of the changes of clauses (at most one a sentence) to make", minimum=0, maximum=1
    )
    phrases: float = parameter(0.75, "share of the changes of phrases to make", minimum=0, maximum=1)
    words: float = parameter(
        0.3, "share of the smallest changes to make: words with a synonym, and commas", minimum=0, maximum=1
    )
    kinds: str = parameter(
        "all",
        "which rules: all, or those of one kind alone, such as voice (active and passive)",
        choices=("all", *_RULES),
        later=True,
    )


class Rephrasing:
    """The rules with their parameters: a pure function of the rows."""

    def __init__(
        self, parameters: RephraseParameters, key: int | None, synonyms: lexicon.Synonyms | None = None
    ) -> None:
        self._shares = np.array([parameters.clauses, parameters.phrases, parameters.words])
        self._key, self._kinds = key, _RULES if parameters.kinds == "all" else (parameters.kinds,)
        self._synonyms = lexicon.shipped_synonyms() if synonyms is None else synonyms

    def __call__(self, rows: Rows) -> Outcome:
        """Rephrase some rows."""
        if rows.parses is None:
            raise ValueError("rephrasing needs the parses of its rows")
        count = len(rows)
        reasons = np.full(count, Reason.NO_RULE_APPLIES, object)
        reasons[np.diff(rows.parses.offsets) == 0] = Reason.NO_TOKEN
        edits, rules = self.edits(rows.parses, rows.row_ids)
        same = pc.equal(apply_edits(rows.code_points, edits), rows.texts)  # `tea and tea`
        return Outcome(edits, reasons, {"rules": pc.if_else(same, pa.scalar([], _LIST_TYPE), rules)})

    def edits(self, parses: ParseRows, row_ids: np.ndarray) -> tuple[Edits, pa.ListArray]:
        """Edits of n rows, and the rules they are from: for each row as many names as edits."""
        count = len(parses)
        if not len(parses.starts):
            return EditList().edits(), pa.array([[]] * count, _LIST_TYPE)
        grammar = Grammar(parses)

        def draw(tokens: np.ndarray) -> np.ndarray:
            rows = parses.rows[tokens]
            return self._draws(row_ids[rows], (tokens - parses.offsets[:-1][rows]) * _PURPOSES)

        choice = Choice(_places(grammar, draw, self._synonyms, self._kinds), grammar.rows)
        chosen = choice.without_collisions(self._order(choice, parses, row_ids))
        return _as_edits(choice, chosen, grammar)

    def _draws(self, row_ids: np.ndarray, counters: np.ndarray) -> np.ndarray:
        if self._key is None:
            return np.zeros(len(row_ids))
        return uniform(self._key, row_ids, counters)

    def _order(self, choice: Choice, parses: ParseRows, row_ids: np.ndarray) -> np.ndarray:
        """Places to be changed, in the order in which they are considered: at least one in each row."""
        rows, kinds = choice.rows, choice.kinds
        positions = choice.first_tokens - parses.offsets[:-1][rows]
        counters = (positions * len(choice.found) + choice.rules) * _PURPOSES
        ranks = self._draws(row_ids[rows], counters + 1)
        wanted = self._draws(row_ids[rows], counters + 2) < self._shares[kinds]
        allowed = self._shares[kinds] > 0
        # Clauses before phrases before words, so that the larger change finds its words free.
        order = np.lexsort((choice.rules, ranks, kinds, ~wanted, rows))
        order = order[allowed[order]]
        first = np.diff(rows[order], prepend=-1) > 0
        return order[wanted[order] | first]


def _places(
    grammar: Grammar, draw: lexicon.Draw, synonyms: lexicon.Synonyms, kinds: Collection[str] = tuple(_RULES)
) -> Sequence[Places]:
    if tuple(kinds) == ("voice",):
        return voices(grammar, is_wide=True)
    found = [places for kind in kinds for rule in _RULES[kind] for places in rule(grammar)]
    if "requests" in kinds:
        found += requests(grammar, draw)
    if "lexicon" in kinds:
        found += [lexicon.phrases(grammar, draw), lexicon.synonyms(grammar, draw, synonyms)]
    return found


def _as_edits(choice: Choice, chosen: np.ndarray, grammar: Grammar) -> tuple[Edits, pa.ListArray]:
    """The edits of some places, sorted, and the names of their rules for each row."""
    numbers, texts, names = [], [], []
    for place, (row, rule, changes) in enumerate(choice.written(chosen)):
        for start, end, text in changes:
            numbers.append((row, start, end, place))
            # "6 a.m." at the end of a sentence has its full stop.
            texts.append(text[:-1] if text.endswith(".") and grammar.text_at(row, end) == "." else text)
            names.append(rule)
    columns = np.array(numbers, np.int64).reshape(-1, 4).T
    order = _without_overlaps(*columns)
    of_row, first, last = columns[:3, order]
    edits = EditList()
    edits.replace(of_row, first, last, [texts[number] for number in order.tolist()], np.arange(len(order)))
    offsets = np.append(0, np.cumsum(np.bincount(of_row, minlength=len(grammar.parses))))
    rules = pa.array(names, pa.string()).take(pa.array(order))
    return edits.edits(), pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), rules)


def _without_overlaps(
    rows: np.ndarray, starts: np.ndarray, ends: np.ndarray, places: np.ndarray
) -> np.ndarray:
    """Numbers of edits as `EditList` sorts them; of two places whose edits overlap the later has none."""
    # Places of different tokens may overlap in their text: a clause is put in before the mark that ends the
    # sentence, and a phrase such as `as well.` is replaced together with that mark.
    order = np.lexsort((ends, starts, rows))
    while True:
        before, after = order[:-1], order[1:]
        overlaps = (rows[before] == rows[after]) & (starts[after] < ends[before])
        if not overlaps.any():
            return order
        later = np.maximum(places[before], places[after])[overlaps]
        order = order[~np.isin(places[order], later)]


REPHRASE = english_rules(
    name="rephrase",
    version=10,
    kind="positive",
    paper="none",
    parameters=RephraseParameters,
    prepare=lambda parameters, resources: Rephrasing(parameters, resources.key("rephrase")),
    columns=(pa.field("rules", _LIST_TYPE),),
    resolve=with_digests(lambda: word_list_digests(*_LISTS)),
    libraries=("lemminflect",),
    examples=(
        "augment-cli rephrase",
        "augment-cli rephrase --draws 3",
        "augment-cli rephrase --words 0 --phrases 1 --name rephrase-syntax",
        "augment-cli rephrase --kinds voice --clauses 1 --name voice",
    ),
)
