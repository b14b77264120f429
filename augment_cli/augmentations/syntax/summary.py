"""Leave subject, verb and object: `The mill by the river, built in 1901, burned` to `The mill burned`.

AugCSE's Summarization, which lists the triples of subject, verb and object that it finds in a sentence.

Differences from the original: what is left stays a sentence, in the words, order, case and final punctuation
of the original (every edit takes words out), instead of bare triples joined by commas; a negation stays a
word instead of `!` before the verb; the main clause, its coordinated verbs and its complements count, not
every verb of every relative or adverbial clause; of several prepositional phrases the first stays where a
verb has nothing else; a sentence without a subject and a verb is left alone instead of becoming empty, and so
is one of which less than five words, or two in five, would be left, and a text of several sentences. What
says which or how much stays (`the rate of change`), and so does where something is put.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from augment_cli.augmentations.syntax.shared.clause_rules import FINITE, Arguments, by_rule, put, refuse
from augment_cli.augmentations.syntax.shared.constituents import Constituents
from augment_cli.contract.augmentation import Augmentation, Prepared, Resources
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import Role, any_of, words
from augment_cli.text.edit_list import EditList

# What a noun keeps of its own: everything else (prepositional phrases, relative clauses, appositions) goes.
_OF_NOUNS = words(
    "det predet det:predet amod compound nn nummod num quantmod poss possessive nmod:poss flat fixed "
    "goeswith case:poss neg cc conj preconj cc:preconj advmod:emph nmod:desc"
)
# What a verb keeps beside its auxiliaries and arguments.
_OF_VERBS = words(
    "dobj obj iobj dative attr acomp oprd prt compound:prt nsubj nsubj:pass nsubj:outer nsubjpass expl agent "
    "obl:agent csubj csubjpass csubj:pass ccomp xcomp fixed"
)
# Adjectives that say nothing without their infinitive: "was able".
_INCOMPLETE = words("able unable likely unlikely willing unwilling eager ready bound due reluctant")
_PARTICLES = words("through up out off down away back in on over")
_LIMITS = words("no not never longer only hardly scarcely barely almost nearly seldom rarely right well")
_OF_PHRASES = words("only not never hardly scarcely barely")
# Verbs that say nothing, or something else, without where or what of: "place me in the dock".
_PLACING = words("put place set lay throw hang keep bring lead drive force turn")
_IN_FRONT = words("nsubj nsubj:pass nsubj:outer nsubjpass expl prt compound:prt")
_PARTITIVES = words(
    "one some many most all none part number majority half few several both each any lot rest total kind "
    "type sort terms sense way ways degree extent rate level amount share percentage proportion fraction "
    "pair couple lack absence presence act process growth result case member members basis form process end "
    "rise beginning middle idea notion abandoning care charge advantage"
)
# A relative clause behind these says which, or how many: "few songs that do not", "the first time they met".
_CHOSEN = words("few no only all every any first last same such those that most many")
_OPEN_NOUNS = words("time times way ways reason reasons place day one ones thing things those person people")
_LONGEST_ROUNDS = 12  # deeper than any clause that a person would write


@dataclass(frozen=True)
class SummaryParameters:
    """Parameters of the summary; shorter ones are fragments, or leave out what the sentence is about."""

    least_words: int = parameter(5, "fewest words of a summary", minimum=2)
    least_share: float = parameter(
        0.4, "smallest share of the sentence's words in its summary", minimum=0, maximum=1
    )


def _prepare(parameters: SummaryParameters, resources: Resources) -> Prepared:
    def rule(view: ClauseView, rows: np.ndarray, reasons: np.ndarray, edits: EditList) -> None:
        _summarise(view, rows, reasons, edits, parameters)

    return by_rule(rule)


def _summarise(
    view: ClauseView, rows: np.ndarray, reasons: np.ndarray, edits: EditList, parameters: SummaryParameters
) -> None:
    arguments, spans = Arguments(view), Constituents(view)
    verbs, roots = arguments.first_verbs[rows], view.roots[rows]
    subjects = view.first(any_of(view.roles, (Role.SUBJECT, Role.EXPLETIVE)) & view.of_root)[rows]
    good = refuse(
        reasons,
        rows,
        ((verbs < 0) | ~any_of(view.verb_forms[verbs], FINITE), Reason.NO_FINITE_VERB),
        (subjects < 0, Reason.NO_SUBJECT),
        (subjects > verbs, Reason.INVERTED),
        (
            view.any((view.roles == Role.MARKER) & view.of_root)[rows],
            Reason.DOUBTFUL_PARSE,
        ),  # a clause's verb
    )
    rows, roots = rows[good], roots[good]
    keep = _kept(view, arguments, spans, roots)
    first, last = spans.bounds[0][rows], spans.bounds[1][rows]
    count = len(view.parses)
    kept = np.bincount(view.rows[keep & ~spans.is_mark], minlength=count)[rows]
    all_words = np.bincount(view.rows[~spans.is_mark], minlength=count)[rows]
    fragment = (kept < parameters.least_words) | (kept < parameters.least_share * all_words)
    # Quotation marks and a question mark belong to a part of the sentence that may go.
    quoted = spans.count(spans.quotation > 0, first, last) > 0
    asks = view.any(view.parses.holding("?", spans.is_mark))[rows]
    several = np.bincount(view.rows, view.parses.sentence_starts, count)[rows] > 1
    good = refuse(
        reasons,
        rows,
        (several | quoted, Reason.RULE_DOES_NOT_APPLY),
        (asks, Reason.QUESTION),
        (
            (_ends_open(view, spans, keep) | _loses_limit(view, keep) | _loses_choice(view, keep))[rows],
            Reason.DOUBTFUL_PARSE,
        ),
        (kept == all_words, Reason.SAME_TEXT),
        (fragment, Reason.TOO_FEW_WORDS),
    )
    rows, first, last = rows[good], first[good], last[good]
    chosen = np.zeros(len(view.parses), bool)
    chosen[rows] = True
    _delete(view, spans, keep, chosen, edits)


def _kept(view: ClauseView, arguments: Arguments, spans: Constituents, roots: np.ndarray) -> np.ndarray:
    """bool (N,): the tokens that stay: from the main verbs downwards, relation by relation."""
    parses, parents = view.parses, view.parents
    deps = parses.deps
    verbal = parses.pos.among({"VERB", "AUX"})
    helps = any_of(view.roles, (Role.AUXILIARY, Role.INFINITIVE, Role.NEGATION, Role.MARKER))
    conjunct = (view.roles == Role.CONJUNCT) | deps.among({"cc"})
    # A predicate hangs on its copula; it is not a clause of its own.
    predicate = np.zeros(len(parents), bool)
    copulas = np.flatnonzero(deps.among({"cop"}))
    predicate[parses.parents[copulas]] = True
    of_verb = deps.among(_OF_VERBS)[arguments.clause_labels] | helps | conjunct | predicate
    of_verb |= _first_oblique(view, arguments) | deps.among({"det"})  # a noun that was taken for a verb
    of_noun = deps.among(_OF_NOUNS | {"case"}) | (helps & (view.roles != Role.MARKER))
    of_preposition = deps.among({"pobj"})
    # "One of the towns": here the phrase says what there is one of.
    partitive = parses.tags.among({"CD"}) | parses.lower.among(_PARTITIVES)
    of_noun |= deps.among({"npadvmod", "obl:unmarked"}) & parses.pos.among({"ADJ"})[parents]
    places = np.arange(len(parents))
    # "a girl ignorant of the business": an adjective behind its noun goes with what it governs.
    nominal = parses.pos.among({"NOUN", "PROPN"})[parents]
    of_noun &= ~(deps.among({"amod"}) & (places > parents) & nominal)
    before = np.maximum(places - 1, 0)
    article = parses.lower.among({"a", "an"})[before] & (before < places)
    # the most famous; a very old way, where "an" would have to change; how far
    of_noun |= deps.among({"advmod"}) & (parses.tags.among({"RBR", "RBS", "WRB"}) | article)
    of_verb |= deps.among({"advmod"}) & parses.lower.among(_PARTICLES) & (before == parents)  # go through
    of_noun |= deps.among({"nmod", "prep"}) & partitive[parents] & (np.arange(len(parents)) > parents)
    of_noun |= _completes(view)
    adverb = deps.among({"advmod"}) & parses.tags.among({"WRB", "WP"})
    keeps = np.where(verbal[parents], of_verb | adverb, of_noun | of_preposition)
    keeps &= ~spans.is_mark
    kept = np.zeros(len(parents), bool)
    kept[roots] = True
    for _ in range(_LONGEST_ROUNDS):
        new = keeps & kept[parents] & ~kept
        if not new.any():
            break
        kept |= new
    # A determiner belongs to the noun behind it, whatever a parser makes of it.
    following = np.minimum(np.arange(len(kept)) + 1, len(kept) - 1)
    of_kept = kept[following] & (view.rows[following] == view.rows) & ~verbal[following]
    kept |= deps.among({"det", "poss", "nmod:poss"}) & parses.tags.among({"DT", "PRP$"}) & of_kept
    return _with_marks(view, spans, _with_joined(view, spans, kept))


def _ends_open(view: ClauseView, spans: Constituents, keep: np.ndarray) -> np.ndarray:
    """bool (n,): rows whose last word that stays asks for more: a preposition, `what`, `to`."""
    places = np.flatnonzero(keep & ~spans.is_mark)
    last = np.zeros(len(view.parses), np.int64)
    last[view.rows[places]] = places
    return (
        view.parses.tags.among({"IN", "TO", "WP", "WDT", "DT", "CC", "MD"})[last]
        & ~view.parses.lower.among(words("so this that these those all some any both each one either"))[last]
    )


def _loses_limit(view: ClauseView, keep: np.ndarray) -> np.ndarray:
    """bool (n,): rows where a word goes without which what stays is false: `no longer`, `only`, `hardly`."""
    parents = view.parents
    limits = ~keep & view.parses.lower.among(_LIMITS)
    # "serviceable only in crossing the stream": the limit goes with the phrase that it is of.
    return view.any(
        limits & (keep[parents] | (keep[parents[parents]] & view.parses.lower.among(_OF_PHRASES)))
    )


def _loses_choice(view: ClauseView, keep: np.ndarray) -> np.ndarray:
    """bool (n,): rows where a relative clause goes without which its noun says another thing, or nothing."""
    parses, parents = view.parses, view.parents
    chosen = np.zeros(len(parents), bool)
    chosen[parents[np.flatnonzero(parses.lower.among(_CHOSEN))]] = True
    chosen |= parses.lower.among(_OPEN_NOUNS)
    return view.any(view.relatives & ~keep & keep[parents] & chosen[parents])


def _completes(view: ClauseView) -> np.ndarray:
    """bool (N,): infinitives and clauses without which an adjective such as `able` says nothing."""
    parses, parents = view.parses, view.parents
    labels = parses.deps.among({"xcomp", "ccomp"})
    behind = np.arange(len(parents)) > parents
    return labels & behind & parses.lower.among(_INCOMPLETE)[parents]


def _first_oblique(view: ClauseView, arguments: Arguments) -> np.ndarray:
    """bool (N,): prepositional phrases that a verb keeps because it has nothing else behind it."""
    deps, parents = view.parses.deps, view.parents
    places = np.arange(len(parents))
    full = np.zeros(len(parents), bool)
    others = np.flatnonzero(deps.among(_OF_VERBS - _IN_FRONT) & (places > parents))
    placing = np.zeros(len(others), bool)
    objects = np.flatnonzero(deps.among({"dobj", "obj"})[others])
    placing[objects] = view.parses.lemmas_at(parents[others[objects]]).among(_PLACING)
    full[parents[others[~placing]]] = True
    full |= view.is_be & (view.roles != Role.AUXILIARY) & (view.parses.deps.among({"cop"}))
    nouns, verbs = arguments.prepositional
    free = (nouns > verbs) & ~full[verbs] & ~view.parses.tags.among({"CD"})[nouns]
    nouns, verbs = nouns[free][::-1], verbs[free][::-1]
    first = np.full(len(parents), -1)
    first[verbs] = nouns
    first = first[first >= 0]
    is_oblique = np.zeros(len(parents), bool)
    is_oblique[first] = True
    prepositions = parents[first][deps.among({"prep", "agent"})[parents[first]]]
    is_oblique[prepositions] = True
    return is_oblique


def _with_joined(view: ClauseView, spans: Constituents, kept: np.ndarray) -> np.ndarray:
    """Words that no space parts (well-known, cat's) stay or go together."""
    parses = view.parses
    outside = spans.dividers & ~parses.forms.among({"-", "–"}) | _brackets(view, spans)
    glued = np.append(False, ~parses.whitespace[:-1])[: len(kept)]
    glued[1:] &= (view.rows[1:] == view.rows[:-1]) & ~outside[1:] & ~outside[:-1]
    groups = np.cumsum(~glued)
    any_kept = np.bincount(groups, kept) > 0
    return any_kept[groups] & ~outside


def _brackets(view: ClauseView, spans: Constituents) -> np.ndarray:
    marks = np.flatnonzero(spans.is_mark)
    is_bracket = np.zeros(len(spans.is_mark), bool)
    is_bracket[marks] = view.parses.forms_at(marks).where(lambda form: form[:1] in "()[]{}\"“”«»„`'‘’")
    return is_bracket


def _with_marks(view: ClauseView, spans: Constituents, kept: np.ndarray) -> np.ndarray:
    """Commas, semicolons and colons stay in front of a word or clause that is coordinated and stays."""
    count = len(kept)
    places = np.arange(count)
    coordinated = (view.roles == Role.CONJUNCT) | view.parses.deps.among({"cc", "parataxis"})
    heads = np.flatnonzero(coordinated & kept)
    begins = np.zeros(count, np.int64)
    begins[view.edges[0][heads]] = 1
    begun = np.append(0, np.cumsum(begins))
    next_kept = np.minimum.accumulate(np.where(kept, places, count)[::-1])[::-1]
    marks = np.flatnonzero(spans.is_mark)
    marks = marks[view.parses.forms_at(marks).among({",", ";", ":"}) & (next_kept[marks] < count)]
    target = next_kept[marks]
    marks = marks[(begun[target + 1] > begun[marks]) & (view.rows[target] == view.rows[marks])]
    # Of two marks with nothing between them the later one stays.
    after = np.append(next_kept[marks[1:]], count)[: len(marks)]
    marks = marks[next_kept[marks] != after]
    kept = kept.copy()
    kept[marks] = True
    return kept


def _delete(
    view: ClauseView, spans: Constituents, keep: np.ndarray, chosen: np.ndarray, edits: EditList
) -> None:
    """Take out every run of tokens that goes, with the space on one side; marks around the sentence stay."""
    parses, rows = view.parses, view.rows
    first, last = spans.bounds
    places = np.arange(len(keep))
    inside = chosen[rows] & (places >= first[rows]) & (places <= last[rows])
    goes = inside & ~keep
    begins = goes & ~np.append(False, goes[:-1] & (rows[:-1] == rows[1:]))[: len(goes)]
    finishes = goes & ~np.append(goes[1:] & (rows[1:] == rows[:-1]), False)[: len(goes)]
    left, right = np.flatnonzero(begins), np.flatnonzero(finishes)
    owner = rows[left]
    opens = left == first[owner]
    closes = right == last[owner]
    following = np.minimum(right + 1, len(keep) - 1)
    before = np.maximum(left - 1, 0)
    # At the beginning the space behind goes, and the next word takes over the capital.
    front = np.flatnonzero(opens & ~closes)
    words_ = spans.strings(
        following[front], following[front], np.zeros(len(front), bool), np.ones(len(front), bool)
    ).to_pylist()
    put(edits, owner[front], parses.starts[left[front]], parses.ends[following[front]], words_)
    rest = np.flatnonzero(~opens)
    starts, ends = parses.ends[before[rest]], parses.ends[right[rest]]
    # Nothing may stick to the word behind: "Mr (X)Y".
    bare = ~closes[rest] & ~parses.whitespace[right[rest]] & ~spans.is_mark[following[rest]]
    texts = [" " if stuck else "" for stuck in bare.tolist()]
    put(edits, owner[rest], starts, ends, texts)
    # Brackets and quotation marks around the sentence stay if they stand on both sides of it.
    marks = chosen[rows] & _brackets(view, spans)
    in_front, at_end = marks & (places < first[rows]), marks & (places > last[rows])
    orphans = (in_front & ~view.any(at_end)[rows]) | (at_end & ~view.any(in_front)[rows])
    orphans = np.flatnonzero(orphans)
    put(edits, rows[orphans], parses.starts[orphans], parses.ends[orphans], [""] * len(orphans))


SUMMARY = Augmentation(
    name="summary",
    version=4,
    kind="positive",
    paper="Tang et al. 2022, AugCSE (Summarization)",
    needs=frozenset({"parses"}),
    parameters=SummaryParameters,
    prepare=_prepare,
    examples=("augment-cli summary", "augment-cli summary --least-words 3 --least-share 0"),
    is_random=False,
    meaning="possibly altered",
    entailment=("neither", "the sentence entails its summary, not the reverse"),
)
