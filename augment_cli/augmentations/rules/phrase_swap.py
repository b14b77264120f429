"""Exchange two noun phrases of one kind: `from the coast to the hills` to `from the hills to the coast`.

Who does what to whom, where from and where to, before what and after what: an encoder that sees words and not
their places takes both for the same. The plain phrase changes place (articles, adjectives and names before
the noun, and the noun); what is said of it behind stays. Both are singular or both plural, so that verbs
agree; both are names, or things of one sort by WordNet, or stand behind prepositions. Phrases that are joined
(`Ann and Bob`), of which one is said of the other (`the king of Spain`, `Rome is the capital`), and those of
verbs that hold both ways (`Ann met Bob`) stay.
"""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np

from augment_cli.contract.augmentation import Augmentation
from augment_cli.contract.reasons import Reason
from augment_cli.english.clauses.actors import kinds_of
from augment_cli.english.clauses.clause_rules import by_rule, put
from augment_cli.english.clauses.constituents import Constituents
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import words
from augment_cli.text.edit_list import EditList

_NOUNS = {"NN": 0, "NNS": 1, "NNP": 2, "NNPS": 3}  # only phrases of one of these change places
_BEFORE = words("DT JJ JJR JJS NN NNS NNP NNPS VBN VBG CD HYPH")  # tags of what stands before a noun
_OWN = words("det amod nummod compound nn nmod advmod punct quantmod")  # labels of what belongs to its noun
_GOES_ON = words("POS NN NNS NNP NNPS CD HYPH")
_ARGUMENTS = words("nsubj nsubj:pass nsubjpass dobj obj pobj obl obl:agent iobj dative")
_LONGEST = 5  # tokens of a phrase
_JOINED = words("and or & nor between among both either plus versus vs")
# Verbs and prepositions that hold both ways, and forms of "be", whose sides say the same of each other.
_BOTH_WAYS = words(
    "meet marry resemble equal border adjoin neighbour neighbor differ intersect match wed encounter "
    "coincide overlap correspond rhyme be become remain represent mean constitute include comprise contain "
    "call name consider share compare combine mix connect link join unite divorce"
)
_SAID_OF = words("of as like than including such with")  # what stands behind says what the first one is
# Nothing to exchange: fixed phrases, and times, of which only another one stands there.
_EMPTY = words(
    "time times way ways year years day days part parts kind sort number lot fact order case example place "
    "name names one ones thing things course addition rest end beginning january february march april may "
    "june july august september october november december monday tuesday wednesday thursday friday saturday "
    "sunday"
)
_STEPS = 12  # from a word up to a verb


def _swap(view: ClauseView, rows: np.ndarray, reasons: np.ndarray, edits: EditList) -> None:
    parses, spans = view.parses, Constituents(view)
    heads = np.flatnonzero(parses.tags.among(set(_NOUNS)) & parses.deps.among(_ARGUMENTS))
    heads = heads[np.isin(view.rows[heads], rows) & ~parses.lower_at(heads).among(_EMPTY)]
    reasons[rows] = Reason.NO_ELIGIBLE_TOKEN
    if not len(heads):
        return
    left = _beginnings(view, heads)
    fits = (heads - left < _LONGEST) & ~spans.is_hyphen[np.maximum(left - 1, 0)]
    # The name goes on (`World War | I`), or the phrase began before (`an otherwise | unfavourable deal`).
    fits &= ~spans.is_hyphen[view.behind(heads)] & ~parses.tags.at(view.behind(heads)).among(_GOES_ON)
    before = np.maximum(left - 1, 0)
    fits &= (view.parents[before] != heads) | (before >= left) | parses.deps.at(before).among({"case", "cc"})
    fits &= spans.are_whole(left, heads) & (spans.quotation[heads] == 0)
    heads, left = heads[fits], left[fits]
    reasons[view.rows[heads]] = Reason.RULE_DOES_NOT_APPLY
    determined = parses.tags.at(left).among({"DT", "PRP$"})
    numbered = spans.count(parses.tags.among({"CD"}), left, heads) > 0
    lemmas, behind = parses.lemmas_at(heads), parses.deps.at(heads).among({"pobj", "obl"})  # a preposition
    kinds, sorts = kinds_of(view, heads), parses.tags.at(heads).map(lambda tag: _NOUNS.get(tag, -1), np.int64)
    chosen = []
    for low, high in _stretches(view.rows[heads]):
        for one, other in combinations(range(low, high), 2):
            same_kind = kinds[one] == kinds[other] or sorts[one] > 1 or (behind[one] and behind[other])
            alike = sorts[one] == sorts[other] and same_kind
            alike &= determined[one] == determined[other] and numbered[one] == numbered[other]
            alike &= lemmas.codes[one] != lemmas.codes[other]
            if alike and left[other] > heads[one] and _turns(view, heads[one], heads[other], left[other]):
                chosen.append((one, other))
                break
    if not chosen:
        return
    first, second = np.array(chosen).T
    rows = view.rows[heads[first]]
    opens = spans.opens(left[first]) | parses.sentence_starts[left[first]]
    to_front = spans.strings(left[second], heads[second], to_front=opens)
    to_back = spans.strings(left[first], heads[first], inwards=opens)
    differ = np.array([a.lower() != b.lower() for a, b in zip(to_front, to_back, strict=True)])
    for which, texts in ((first, to_front), (second, to_back)):
        kept = np.flatnonzero(differ)
        put(
            edits, rows[kept], parses.starts[left[which[kept]]], parses.ends[heads[which[kept]]],
            [texts[index] for index in kept],
        )  # fmt: skip


def _beginnings(view: ClauseView, heads: np.ndarray) -> np.ndarray:
    """int64 (m,): the first token of the plain phrase that ends with each noun."""
    parses = view.parses
    belongs = parses.tags.among(_BEFORE) & parses.deps.among(_OWN)
    left = heads.copy()
    for _ in range(_LONGEST):
        before = np.maximum(left - 1, 0)
        own = belongs[before] & (view.rows[before] == view.rows[heads]) & (before < left)
        up = view.parents[before]
        own &= (up == heads) | ((up > before) & (up <= heads))
        left = np.where(own, before, left)
    return left


def _stretches(rows: np.ndarray) -> list[tuple[int, int]]:
    """Where the phrases of each row begin and end."""
    edges = [0, *(np.flatnonzero(np.diff(rows)) + 1).tolist(), len(rows)]
    return [(low, high) for low, high in pairwise(edges) if high - low > 1]


def _turns(view: ClauseView, one: int, other: int, left: int) -> bool:
    """Whether an exchange says something else: neither joins the other, or is said of it."""
    parses = view.parses
    between = [parses.lower.values[code] for code in parses.lower.codes[one + 1 : left]]
    if _JOINED.intersection(between) or (len(between) < 3 and _SAID_OF.intersection(between)):
        return False
    for token, end in ((other, one), (one, other)):  # neither hangs on the other
        for _ in range(_STEPS):
            token = int(view.parents[token])
            if token == end:
                return False
    verbs = {_verb_of(view, one), _verb_of(view, other)}
    return not any(parses.lemmas.values[parses.lemmas.codes[verb]].lower() in _BOTH_WAYS for verb in verbs)


def _verb_of(view: ClauseView, token: int) -> int:
    verbal = view.parses.pos.among({"VERB", "AUX"})
    for _ in range(_STEPS):
        if verbal[token]:
            break
        token = int(view.parents[token])
    return token


PHRASE_SWAP = Augmentation(
    name="phrase-swap",
    version=1,
    kind="negative",
    paper="none; roles as in Tang et al. 2022 (AugCSE's subject-object switch), on any two phrases",
    needs=frozenset({"parses"}),
    languages=("en",),
    prepare=lambda parameters, resources: by_rule(_swap),
    examples=("augment-cli phrase-swap",),
    is_random=False,
    meaning="altered",
    entailment=("other", "two things trade places in what is said of them"),
)
