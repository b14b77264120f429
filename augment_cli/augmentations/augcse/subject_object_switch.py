"""Exchange subject and object: `The dogs chase the cat` to `The cat chases the dogs`.

AugCSE's SentenceSubjectObjectSwitch, which exchanges the subtree before the root with the first object's
behind it, be it the verb's own or a preposition's.

Differences from the original: subject and object are those of the main verb (there the last and first subtree
of any subject or object in the sentence); the verb's own object goes before a preposition's; a number or date
is no object; pronouns change their case (`He saw her` to `She saw him`), and the verb agrees with its new
subject; a phrase with an apposition keeps its commas; what a wrong parse would tear apart (brackets,
quotation marks, a subject in pieces) is left alone, and so is a verb that holds both ways (`Ann met Bob`);
spacing, and the case of names, survive.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from augment_cli.contract.augmentation import Augmentation
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.english.clauses.actors import is_action, kinds_of
from augment_cli.english.clauses.agreement import agree, change_case
from augment_cli.english.clauses.clause_rules import (
    ACCUSATIVES,
    FINITE,
    NOMINATIVES,
    Arguments,
    by_rule,
    put,
    refuse,
)
from augment_cli.english.clauses.constituents import Constituents
from augment_cli.resources.word_lists import word_list
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import Role, any_of, words
from augment_cli.text.edit_list import EditList
from augment_cli.text.untouched import has_gap, is_quoted

_LONGEST = 6  # tokens of a subject or object; longer ones read as what a person would never write
# What follows the comma of an apposition, a participle or a relative clause.
_MODIFYING = words("IN VBN VBG WDT WP WP$ WRB")
# Words that cannot change their place, or would mean nothing there.
_BOUND = words(
    "who whom whose which that what whoever whatever myself yourself himself herself itself ourselves "
    "yourselves themselves oneself each there one another more less most little much few many some none "
    "all lot half somewhat someone somebody anyone anybody everyone everybody nobody"
)
_POSSESSIVE = words(
    "my your our his mine yours ours hers theirs own myself yourself himself herself itself ourselves "
    "themselves each other"
)
# Whoever is one's neighbour has one as a neighbour.
_SYMMETRIC = words(
    "meet marry resemble equal border adjoin neighbour neighbor differ intersect match wed encounter "
    "coincide overlap correspond rhyme have comprise include contain mean equal total constitute "
    "represent involve cost weigh share remain become match balance complement"
)
_TIMES = words(
    "january february march april may june july august september october november december monday tuesday "
    "wednesday thursday friday saturday sunday year years month months week weeks day days century "
    "centuries decade decades time times morning evening night season example instance addition fact"
)
_ROLES = words("as like than of between among during within through throughout until since")
_MEASURES = words(
    "% percent per cent mile miles hour hours minute minutes seconds metre metres foot feet pounds "
    "dollars place part care advantage"
)
_ROLE_MARKS = words("as with among like except than")
_SUBTREE_STEPS = 12  # from a word up to its verb


def _may_be_name(view: ClauseView, tokens: np.ndarray) -> np.ndarray:
    """bool (m,): lone singular nouns at a beginning, which are mostly names there: `Hunter saw the dog`."""
    parses = view.parses
    following = view.behind(tokens)
    lone = ~parses.pos.at(following).among({"NOUN", "PROPN", "ADJ", "ADP", "PUNCT"})
    mass = parses.lemmas_at(tokens).among(frozenset(word_list("mass_nouns")))
    return parses.tags.at(tokens).among({"NN"}) & lone & ~mass


@dataclass(frozen=True)
class SwitchParameters:
    """Parameters of the switch."""

    objects: str = parameter(
        "any",
        "any: the verb's own object, else the first behind a preposition; direct: its own alone",
        choices=("any", "direct"),
    )


def _switch(view: ClauseView, rows: np.ndarray, reasons: np.ndarray, edits: EditList, any_: bool) -> None:
    # "The dogs chase the cat": two noun phrases change places, in the case of their new place, and the verb
    # agrees with its new subject: "The cat chases the dogs".
    parses, arguments, spans = view.parses, Arguments(view), Constituents(view)
    roots, verbs, subjects = view.roots[rows], arguments.first_verbs[rows], view.subjects[rows]
    verbal = parses.pos.among({"VERB", "AUX"})
    finite = any_of(view.verb_forms, FINITE) & verbal
    objects = _objects(view, arguments, any_)[rows]
    both = np.maximum(subjects, 0), np.maximum(objects, 0)
    unfit = parses.lemmas_at(np.maximum(roots, 0)).among(_SYMMETRIC) | _gives_two(view, arguments)[rows]
    good = refuse(
        reasons,
        rows,
        (~any_of(view.verb_forms[verbs], FINITE) | ~verbal[roots], Reason.NO_FINITE_VERB),
        (subjects < 0, Reason.NO_SUBJECT),
        (subjects > verbs, Reason.INVERTED),
        (objects < 0, Reason.NO_OBJECT),
        (unfit | _is_unfit(view, arguments, *both), Reason.RULE_DOES_NOT_APPLY),
        (has_gap(parses.texts)[rows], Reason.GAP),
        (~is_action(view, arguments, *both) | _says_more(view)[rows], Reason.RULE_DOES_NOT_APPLY),
    )
    rows, roots, verbs, subjects, objects = (a[good] for a in (rows, roots, verbs, subjects, objects))
    left, right = spans.trimmed(*(edge[subjects] for edge in view.edges))
    object_left, object_right = spans.trimmed(*arguments.phrases(objects))
    right, object_right = spans.closed(left, right), spans.closed(object_left, object_right)
    doubtful = _is_doubtful(view, spans, subjects, left, right) | (right >= verbs)
    doubtful |= _is_doubtful(view, spans, objects, object_left, object_right) | (object_left <= roots)
    # A finite verb directly behind an object: it is the subject of another clause.
    doubtful |= finite[view.behind(object_right)] & view.has_behind(object_right)
    doubtful |= spans.count(finite, right + 1, verbs - 1) > 0
    heavy, quoted = _is_heavy(view, spans), is_quoted(parses.texts)[parses.text_starts]
    stays = (spans.count(heavy, left, right) > 0) | (spans.count(heavy, object_left, object_right) > 0)
    stays |= (spans.count(spans.commas, right + 1, verbs) > 0) | _may_be_name(view, left)
    # A first word that may be a name in its own right: `Marine pursuers`, `HE`.
    stays |= ~parses.tags.at(left).among({"PRP", "DT", "NNP", "NNPS"})
    stays |= parses.forms_at(left).where(lambda form: len(form) > 1 and form.isupper())
    stays |= _refers_elsewhere(view, spans, left, right, object_left, object_right)
    stays |= spans.count(quoted, left, object_right) > 0
    stays |= parses.lower_at(verbs).where(lambda form: form[:1] in "'’")  # it's
    good = refuse(
        reasons,
        rows,
        (_is_bound(view, subjects) | _is_bound(view, objects), Reason.RULE_DOES_NOT_APPLY),
        (doubtful, Reason.DOUBTFUL_PARSE),
        (stays, Reason.RULE_DOES_NOT_APPLY),
    )
    rows, verbs, subjects, objects = (a[good] for a in (rows, verbs, subjects, objects))
    left, right, object_left, object_right = (a[good] for a in (left, right, object_left, object_right))

    opens, never = spans.opens(left) | parses.sentence_starts[left], np.zeros(len(rows), bool)
    new_subjects = spans.strings(object_left, object_right, to_front=opens)
    new_objects = spans.strings(left, right, inwards=opens & ~_may_be_name(view, left))
    change_case(view, subjects, left == right, ACCUSATIVES, new_objects, never)
    change_case(view, objects, object_left == object_right, NOMINATIVES, new_subjects, opens)
    end = _with_comma(spans, left, right, new_objects, object_right)
    object_end = _with_comma(spans, object_left, object_right, new_subjects, None)
    put(edits, rows, parses.starts[left], parses.ends[end], new_subjects)
    put(edits, rows, parses.starts[object_left], parses.ends[object_end], new_objects)
    agree(view, arguments, rows, verbs, objects, edits)


def _objects(view: ClauseView, arguments: Arguments, any_: bool) -> np.ndarray:
    """int64 (n,): what becomes the subject of each row, or −1."""
    behind = view.of_root & (np.arange(len(view.roles)) > view.roots[view.rows])
    direct = view.first(arguments.direct_objects & behind)
    if not any_:
        return direct
    nouns, verbs = arguments.prepositional
    of_root = (verbs == view.roots[view.rows[nouns]]) & (nouns > verbs) & ~view.is_be[verbs]
    nouns = nouns[of_root & ~view.parses.tags.at(nouns).among({"CD"})]
    named = view.parses.lower_at(nouns).among(_TIMES)
    others = view.mask(nouns[~named & view.parses.pos.at(nouns).among({"NOUN", "PROPN", "PRON"})])
    return np.where(direct >= 0, direct, view.first(others))


def _gives_two(view: ClauseView, arguments: Arguments) -> np.ndarray:
    """bool (n,): verbs with two objects (`was paid 20 pounds`), or an object that does something itself."""
    own = view.of_root & (np.arange(len(view.roles)) > view.roots[view.rows])
    count = np.bincount(view.rows, own & arguments.direct_objects, len(view.parses))
    passive = view.parses.deps.among({"aux:pass", "auxpass", "nsubj:pass", "nsubjpass"}) & view.of_root
    labels = {"iobj", "dative", "xcomp", "oprd"}
    return (count > 1) | view.any(own & view.parses.deps.among(labels)) | ((count > 0) & view.any(passive))


def _is_unfit(
    view: ClauseView, arguments: Arguments, subjects: np.ndarray, objects: np.ndarray
) -> np.ndarray:
    """bool (m,): objects that can do nothing: measures, adverbs, questions, roles (`retired as minister`)."""
    # Those of prepositions are as well another sort of thing than the subject (`soared to the
    # drawing-rooms`).
    parses = view.parses
    marks = np.flatnonzero(parses.lower.among(_ROLES) & parses.deps.among({"case", "prep", "mark"}))
    marked = view.with_child(marks)
    asks = np.append(0, np.cumsum(parses.tags.among({"WP", "WRB"})))
    left, right = (edge[objects] for edge in view.edges)
    unfit = marked[objects] | parses.lower_at(objects).among(_TIMES | _MEASURES)
    unfit |= parses.pos.at(objects).among({"ADV", "ADJ", "NUM"}) | (asks[right + 1] > asks[left])
    kinds = kinds_of(view, subjects)
    unlike = (kinds != kinds_of(view, objects)) | (kinds < 0)
    return unfit | (unlike & ~arguments.direct_objects[objects])


def _says_more(view: ClauseView) -> np.ndarray:
    """bool (n,): rows with another verb or relative, or a role or means, that goes with one of the two."""
    # `They sued him, claiming …`, `She left him before he woke`, `He replaced Ann as minister`.
    parses, places = view.parses, np.arange(len(view.roles))
    verbal = parses.pos.among({"VERB", "AUX"})
    more = (parses.pos.among({"VERB"}) | (verbal & ~view.of_root)) & (places != view.roots[view.rows])
    more |= parses.tags.among({"WDT", "WP", "WP$", "WRB", "UH"}) | parses.lower.among({"--", "—", "–"})
    more |= (places > view.roots[view.rows]) & parses.lower.among(_ROLE_MARKS)
    # The subject's second verb would go on with the object.
    more |= (view.roles == Role.CONJUNCT) & verbal & view.of_root
    # `my` or `himself` beside the verb goes with the subject.
    owner = places
    for _ in range(_SUBTREE_STEPS):
        owner = np.where(verbal[owner] & (owner != places), owner, view.parents[owner])
    return view.any(more | (parses.lower.among(_POSSESSIVE) & (owner == view.roots[view.rows])))


def _refers_elsewhere(
    view: ClauseView,
    spans: Constituents,
    left: np.ndarray,
    right: np.ndarray,
    object_left: np.ndarray,
    object_right: np.ndarray,
) -> np.ndarray:
    """bool (m,): rows that speak of either again, say whose they are, or explain them after a comma."""
    parses = view.parses
    pronouns = parses.tags.among({"PRP", "PRP$"}) | parses.lower.among(_POSSESSIVE)
    first, last = spans.bounds[0][view.rows[left]], spans.bounds[1][view.rows[left]]
    heads = ((left == right) & pronouns[left]).astype(int)
    heads += (object_left == object_right) & pronouns[object_left]
    elsewhere = spans.count(pronouns, first, last) > heads
    behind = view.behind(object_right)
    explained = spans.commas[behind] & (view.rows[behind] == view.rows[left])
    # `I can answer them`: letters, not persons.
    things = parses.lower_at(object_left).among({"them"}) & (object_left == object_right)
    return elsewhere | explained | things


def _is_heavy(view: ClauseView, spans: Constituents) -> np.ndarray:
    """bool (N,): what makes a phrase too heavy, or too open, to move: verbs, commas, conjunctions."""
    parses = view.parses
    heavy = parses.pos.among({"VERB", "AUX", "SCONJ", "CCONJ", "NUM"}) | spans.commas | spans.is_opening
    heavy |= parses.lower.among({"most", "many", "several", "some", "few", "no", "neither", "every", "each"})
    heavy |= parses.pos.among({"ADP"}) & ~parses.lower.among({"of"})
    return heavy | (spans.is_mark & ~spans.is_hyphen)


def _is_bound(view: ClauseView, heads: np.ndarray) -> np.ndarray:
    bound = view.parses.lower_at(heads).among(_BOUND)
    return bound | view.parses.tags.at(heads).among({"WP", "WDT", "WRB", "EX"})


def _is_doubtful(
    view: ClauseView, spans: Constituents, heads: np.ndarray, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """bool (m,): spans that bear the signs of a wrong parse."""
    parses = view.parses
    doubtful = ~spans.are_whole(left, right) | (left > heads) | (right < heads)
    doubtful |= (right - left >= _LONGEST) | (spans.count(spans.colons, left, right) > 0)
    safe = np.minimum(left, len(view.roles) - 1)
    doubtful |= parses.pos.at(safe).among({"ADP", "SCONJ", "CCONJ", "VERB", "AUX"}) & (safe != heads)
    verbal = parses.pos.among({"VERB", "AUX"})
    of_noun = (view.roles == Role.CONJUNCT) & ~verbal[view.parents]
    heads_of_clauses = any_of(view.verb_forms, FINITE) & verbal & ((view.roles == Role.ROOT) | of_noun)
    doubtful |= spans.count(heads_of_clauses, left, right) > 0
    # A word joined by a hyphen, a relative clause that was left behind, the verb of another clause.
    behind = view.behind(right)
    inside = (behind > right) & (view.rows[behind] == view.rows[safe])
    joined = spans.is_mark[behind] & ~parses.whitespace[right] & ~parses.whitespace[behind]
    joined &= right < spans.bounds[1][view.rows[safe]]
    joined |= parses.tags.at(behind).among({"WDT", "WP"}) | parses.lower_at(behind).among({"that"})
    joined |= spans.is_opening[behind]
    # "some motion" of "some motion sickness"
    noun = parses.pos.at(right).among({"NOUN", "PROPN", "ADJ", "NUM"})
    joined |= noun & parses.pos.at(behind).among({"NOUN", "PROPN"})
    return doubtful | (inside & joined)


def _with_comma(
    spans: Constituents, left: np.ndarray, right: np.ndarray, texts: list[str], goes_to: np.ndarray | None
) -> np.ndarray:
    """Let phrases with an apposition take the comma behind them along; the last token that goes."""
    # `goes_to` (m,) is the last token of their new place: no comma where nothing follows it.
    view = spans.view
    commas = np.flatnonzero(spans.commas)
    last_comma = np.append(-1, commas)[np.searchsorted(commas, right, "right")]
    last_token = len(view.roles) - 1
    joined = spans.count(view.parses.pos.among({"CCONJ"}), np.maximum(last_comma, left), right) > 0
    second = np.minimum(last_comma + 1, last_token)
    modifies = view.parses.tags.at(second).among(_MODIFYING)  # ", like cod and flounder"
    apposed = (last_comma > left) & (~joined | modifies)
    following = np.minimum(right + 1, last_token)
    takes = apposed & spans.commas[following] & (view.rows[following] == view.rows[right])
    second = np.minimum(following + 1, last_token)
    takes &= ~view.parses.tags.at(second).among({"WDT", "WP"})
    if goes_to is not None:
        behind = np.minimum(goes_to + 1, last_token)
        needs = apposed & ~spans.is_mark[behind] & (view.rows[behind] == view.rows[goes_to])
        needs &= behind > goes_to
    else:
        needs = apposed
    for index in np.flatnonzero(needs).tolist():
        texts[index] += ","
    return np.where(takes, following, right)


SUBJECT_OBJECT_SWITCH = Augmentation(
    name="subject-object-switch",
    version=6,
    kind="negative",
    paper="Tang et al. 2022, AugCSE (SentenceSubjectObjectSwitch)",
    needs=frozenset({"parses"}),
    languages=("en",),
    parameters=SwitchParameters,
    prepare=lambda parameters, resources: by_rule(partial(_switch, any_=parameters.objects == "any")),
    libraries=("lemminflect",),
    examples=("augment-cli subject-object-switch", "augment-cli subject-object-switch --objects direct"),
    is_random=False,
    turns="content",
    meaning="altered",
    entailment=("other", "who does it and whom it is done to trade places"),
)
