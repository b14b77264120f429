"""Leave out what one sentence of seven says beside: `The mill, built in 1901, burned` to `The mill burned`.

AugCSE's Summarization, which lists the triples of subject, verb and object that it finds in a sentence.

Differences from the original: what is left stays a sentence that the whole one entails, in its words, order,
case and final punctuation (every edit takes words out), instead of bare triples joined by commas. What goes
stands beside the point by its commas and its kind: relative clauses, participles and appositions between
commas, brackets, clauses of reason and concession, times of what has happened, connectives, and what follows
a last `, and` or a semicolon. What restricts, conditions, denies or attributes stays, and so does all that a
verb, noun or adjective asks for. A sentence is left alone of which less than five words, or two in five,
would be left; so is one with quotation marks or gaps, one in which a pronoun would lose what it stands for,
and a text of several sentences.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from augment_cli.contract.augmentation import english_rules
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.english.clauses.clause_rules import FINITE, Arguments, by_rule, put, refuse
from augment_cli.english.clauses.constituents import Constituents
from augment_cli.resources import word_groups
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import Role, VerbForm, any_of
from augment_cli.text.spans import EditList
from augment_cli.text.untouched import has_gap, is_quoted

_PARTICIPLES = frozenset({"VBN", "VBG"})
_WORDS = word_groups("summary")
_LONGEST_TIME = 8  # tokens of a phrase that says when
_FEWEST = 2  # words that have to go


@dataclass(frozen=True)
class SummaryParameters:
    """Parameters of the summary; shorter ones are fragments, or leave out what the sentence is about."""

    least_words: int = parameter(5, "fewest words of a summary", minimum=2)
    least_share: float = parameter(
        0.4, "smallest share of the sentence's words in its summary", minimum=0, maximum=1
    )


def _summarise(
    view: ClauseView, rows: np.ndarray, reasons: np.ndarray, edits: EditList, parameters: SummaryParameters
) -> None:
    arguments, spans = Arguments(view), Constituents(view)
    verbs, roots = arguments.first_verbs[rows], view.roots[rows]
    subjects = view.first(any_of(view.roles, (Role.SUBJECT, Role.EXPLETIVE)) & view.of_root)[rows]
    texts, count = view.parses.texts, len(view.parses)
    quoted = np.bincount(
        np.searchsorted(texts.offsets, np.flatnonzero(is_quoted(texts)), "right") - 1, minlength=count
    )
    asks = view.any(view.parses.holding("?", spans.is_mark))[rows]
    several = np.bincount(view.rows, view.parses.sentence_starts, count)[rows] > 1
    # A colon or dash: of its parts none says it without the others.
    parted = view.any(spans.is_mark & view.parses.forms.among({":", "–", "—", "--"}))
    good = refuse(
        reasons,
        rows,
        (has_gap(texts)[rows], Reason.GAP),
        ((verbs < 0) | ~any_of(view.verb_forms[verbs], FINITE), Reason.NO_FINITE_VERB),
        (subjects < 0, Reason.NO_SUBJECT),
        (subjects > verbs, Reason.INVERTED),
        # The verb of another clause.
        (view.any((view.roles == Role.MARKER) & view.of_root)[rows], Reason.DOUBTFUL_PARSE),
        (several | (quoted[rows] > 0) | parted[rows], Reason.RULE_DOES_NOT_APPLY),
        (asks, Reason.QUESTION),
    )
    rows, roots, subjects = rows[good], roots[good], subjects[good]
    gone = _beside_the_point(view, arguments, spans)
    kept = np.bincount(view.rows[~gone & ~spans.is_mark], minlength=count)[rows]
    all_words = np.bincount(view.rows[~spans.is_mark], minlength=count)[rows]
    good = refuse(
        reasons,
        rows,
        (gone[roots] | gone[subjects] | _loses_antecedent(view, gone)[rows], Reason.DOUBTFUL_PARSE),
        (all_words - kept < _FEWEST, Reason.SAME_TEXT),
        ((kept < parameters.least_words) | (kept < parameters.least_share * all_words), Reason.TOO_FEW_WORDS),
    )
    _delete(view, spans, ~gone, view.row_mask(rows[good]), edits)


def _beside_the_point(view: ClauseView, arguments: Arguments, spans: Constituents) -> np.ndarray:
    """bool (N,): the tokens that go, with the commas or brackets around them."""
    gone = np.zeros(len(view.roles), bool)
    heads = np.flatnonzero(_adds(view))
    left, right = spans.trimmed(*(edge[heads] for edge in view.edges))
    # A relative clause without a finite verb was parsed wrongly.
    finite = any_of(view.verb_forms, FINITE) & view.parses.pos.among({"VERB", "AUX"})
    whole = (spans.count(finite, left, right) > 0) | ~view.relatives[heads]
    _take_out(spans, gone, *_opened_as_it_should(view, heads[whole], left[whole], right[whole]))
    left, right = _times(view, arguments, spans)
    _take_out(spans, gone, left, right, bare=True)
    connective = np.flatnonzero(view.parses.lower.among(_WORDS.connectives))
    _take_out(spans, gone, connective, connective)
    _take_out_brackets(view, spans, gone)
    _take_out_last_clause(view, spans, gone)
    return gone


def _adds(view: ClauseView) -> np.ndarray:
    """bool (N,): heads of clauses and appositions that may only add something."""
    deps = view.parses.deps
    adverbial = deps.among({"advcl"}) & view.of_root & ~_is_general(view)[view.rows]
    # One of a list is no apposition.
    listed = view.with_child(view.roles == Role.CONJUNCT)
    listed |= view.roles == Role.CONJUNCT
    apposed = deps.among({"appos"}) & ~listed & ~listed[view.parents]
    # "An estate, divided into five, would be …": who has which is charged.
    participle = deps.among({"acl"}) & ~listed[view.parents] & ~_is_general(view)[view.rows]
    return view.relatives | participle | adverbial | apposed


def _is_general(view: ClauseView) -> np.ndarray:
    """bool (n,): rows of what would be, or is not, where a clause may be what it depends on."""
    return view.any(view.parses.lower.among(_WORDS.about_all)) | view.any(view.negations & view.of_root)


def _opened_as_it_should(
    view: ClauseView, heads: np.ndarray, left: np.ndarray, right: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Those of some spans (m,) whose first word is one that such a clause begins with."""
    parses, last = view.parses, len(view.roles) - 1
    inside = (left <= right) & (left >= 0)
    first = np.clip(left, 0, last)
    tags, lower, deps = parses.tags.at(first), parses.lower.at(first), parses.deps.at(heads)
    participle = tags.among(_PARTICIPLES)
    adverbial = deps.among({"advcl"}) & (lower.among(_WORDS.adding) | participle)
    # "as" of a comparison has a verb as well; "since" and "after" have one, or say when.
    good = (
        (view.relatives[heads] & tags.among(_WORDS.relatives))
        | (deps.among({"acl"}) & participle)
        | adverbial
    )
    good |= deps.among({"appos"}) & lower.among(_WORDS.articles)
    return left[good & inside], right[good & inside]


def _times(view: ClauseView, arguments: Arguments, spans: Constituents) -> tuple[np.ndarray, np.ndarray]:
    """Phrases that say when something happened, where the verb has something else behind it."""
    parses, parents = view.parses, view.parents
    nouns, verbs = arguments.prepositional
    named = parses.lemmas_at(nouns).lowered().among(_WORDS.times)
    year = parses.tags.at(nouns).among({"CD"}) & parses.forms_at(nouns).where(
        lambda form: len(form) == len("1901") and form.isdigit()
    )
    limited = view.any(parses.lower.among(_WORDS.limits) | parses.tags.among({"JJS", "RBS"}) | view.negations)
    past = any_of(view.verb_forms, (VerbForm.PAST,)) | view.any(view.auxiliaries & view.is_past)[view.rows]
    of_root = (verbs == view.roots[view.rows[verbs]]) & past[verbs]
    told = (named | year) & of_root & ~limited[view.rows[nouns]] & ~_is_general(view)[view.rows[nouns]]
    # Of several times each says when one thing was: "from 37 in 1913 to 146 in 1920".
    dated = parses.lemmas.lowered().among(_WORDS.times) | parses.tags.among({"CD"})
    told &= (np.bincount(view.rows, dated, len(parses)) == 1)[view.rows[nouns]] | ~year
    nouns, verbs = nouns[told], verbs[told]
    top = np.where(parses.deps.at(parents[nouns]).among({"prep"}), parents[nouns], nouns)
    left, right = spans.trimmed(*(edge[top] for edge in view.edges))
    good = parses.lower.at(np.minimum(left, len(parents) - 1)).among(_WORDS.time_prepositions)
    good &= right - left < _LONGEST_TIME
    good &= spans.count(parses.pos.among({"VERB", "AUX", "PRON"}) | spans.commas, left, right) == 0
    # Something else has to follow the verb: "was born" asks when.
    behind = (parents != np.arange(len(parents))) & (np.arange(len(parents)) > parents)
    behind &= ~spans.is_mark & ~any_of(view.roles, (Role.AUXILIARY, Role.CONJUNCT, Role.NEGATION))
    behind &= ~parses.deps.among({"cc", "advmod", "advcl", "prt", "compound:prt"})
    count = np.bincount(parents[np.flatnonzero(behind)], minlength=len(parents))
    copula = view.with_child(parses.deps.among({"cop"}))
    of_verb = np.bincount(verbs, top > verbs, minlength=len(parents))
    good &= (count[verbs] - of_verb[verbs] > 0) | copula[verbs] | (top < verbs)
    # "from 1981 to 1989" goes as a whole, or not at all.
    following = np.minimum(right + 1, len(parents) - 1)
    good &= ~parses.lower.at(following).among(_WORDS.going_on)
    return left[good], right[good]


def _take_out(
    spans: Constituents, gone: np.ndarray, left: np.ndarray, right: np.ndarray, bare: bool = False
) -> None:
    """Mark spans (m,) that commas, or the sentence's ends, part from the rest, with the commas that go."""
    # `bare`: also without commas, behind the verb.
    view = spans.view
    first, last = (edge[view.rows[left]] for edge in spans.bounds)
    opens, closes = left == first, right == last
    before, behind = np.maximum(left - 1, 0), np.minimum(right + 1, len(gone) - 1)
    comma_before, comma_behind = spans.commas[before] & ~opens, spans.commas[behind] & ~closes
    following = np.minimum(behind + 1, len(gone) - 1)
    joined = view.parses.pos.at(following).among({"CCONJ"})
    # What hangs on the words that would go: "who yelled so, that …", "framed, without thought, upon …".
    joined |= view.parses.lower.at(following).among({"that", "than"})
    joined |= view.parses.tags.at(left).among(_PARTICIPLES) & view.parses.tags.at(following).among({"IN"})
    initial = opens & comma_behind & ~closes
    medial = comma_before & comma_behind & ~joined
    final = comma_before & closes
    plain = bare & ~opens & ~comma_before & ~spans.is_mark[before]
    for number in np.flatnonzero(initial | medial | final | plain).tolist():
        start = left[number] - bool(comma_before[number])
        takes = initial[number] or medial[number]
        gone[start : right[number] + 1 + bool(takes and not plain[number])] = True


def _take_out_brackets(view: ClauseView, spans: Constituents, gone: np.ndarray) -> None:
    """What stands in round brackets, but for conditions and exceptions."""
    marks = np.flatnonzero(spans.is_mark)
    forms = view.parses.forms_at(marks)
    excepting = view.parses.lower.among(_WORDS.about_all | _WORDS.limits | {"except"})
    opening, closing = marks[forms.among({"("})], marks[forms.among({")"})]
    for start in opening.tolist():
        place = int(np.searchsorted(closing, start))
        end = int(closing[place]) if place < len(closing) else -1
        following = opening[np.searchsorted(opening, start + 1) :][:1]
        nested = len(following) and following[0] < end
        if end < 0 or nested or view.rows[start] != view.rows[end] or start == 0:
            continue
        if excepting[start : end + 1].any():
            continue
        if view.parses.whitespace[start - 1] and view.rows[start - 1] == view.rows[start]:
            gone[start : end + 1] = True


def _take_out_last_clause(view: ClauseView, spans: Constituents, gone: np.ndarray) -> None:
    """The last clause or predicate behind `, and` or `, but`, and all behind a semicolon."""
    parses, parents, places = view.parses, view.parents, np.arange(len(gone))
    subject = view.with_child(view.roles == Role.SUBJECT)
    finite = any_of(view.verb_forms, FINITE) & parses.pos.among({"VERB", "AUX"})
    heads = np.flatnonzero((view.roles == Role.CONJUNCT) & view.of_root & finite)
    left, right = spans.trimmed(*(edge[heads] for edge in view.edges))
    # "bought, and sold, the house": the first verb has to have its object in front.
    owned = ~any_of(view.roles, (Role.CONJUNCT, Role.AUXILIARY)) & ~spans.is_mark & ~parses.deps.among({"cc"})
    owned &= (places > parents) & view.of_root
    full = view.with_child(owned)
    good = (right == spans.bounds[1][view.rows[heads]]) & (left > 0)
    good &= subject[heads] | full[view.roots[view.rows[heads]]]
    left, right = left[good], right[good]
    good = parses.lower.at(left).among({"and", "but"}) & spans.commas[left - 1]
    starts, ends = left[good] - 1, right[good]
    semicolons = np.flatnonzero(spans.is_mark & parses.forms.among({";"}))
    semicolons = semicolons[semicolons > view.roots[view.rows[semicolons]]]
    starts = np.append(starts, semicolons)
    ends = np.append(ends, spans.bounds[1][view.rows[semicolons]])
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        gone[start : end + 1] = True


def _loses_antecedent(view: ClauseView, gone: np.ndarray) -> np.ndarray:
    """bool (n,): rows with a pronoun for which all nouns in front of it are gone."""
    parses, places = view.parses, np.arange(len(gone))
    nouns = parses.pos.among({"NOUN", "PROPN"})
    named = nouns & gone & ~parses.lemmas.lowered().among(_WORDS.times)
    front, lost = (
        np.where(first >= 0, first, len(gone)) for first in (view.first(nouns & ~gone), view.first(named))
    )
    pronoun = parses.lower.among(_WORDS.third_person) & parses.pos.among({"PRON"}) & ~gone
    return view.any(pronoun & (places > lost[view.rows]) & (places < front[view.rows]))


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
    words_ = spans.strings(following[front], following[front], to_front=True)
    put(edits, owner[front], parses.starts[left[front]], parses.ends[following[front]], words_)
    rest = np.flatnonzero(~opens)
    starts, ends = parses.ends[before[rest]], parses.ends[right[rest]]
    # Nothing may stick to the word behind: "Mr (X)Y".
    bare = ~closes[rest] & ~parses.whitespace[right[rest]] & ~spans.is_mark[following[rest]]
    texts = [" " if stuck else "" for stuck in bare.tolist()]
    put(edits, owner[rest], starts, ends, texts)
    # Brackets and quotation marks around the sentence stay if they stand on both sides of it.
    marks = parses.forms.where(lambda form: form[:1] in "()[]{}\"“”«»„`'‘’") & spans.is_mark & chosen[rows]
    in_front, at_end = marks & (places < first[rows]), marks & (places > last[rows])
    orphans = (in_front & ~view.any(at_end)[rows]) | (at_end & ~view.any(in_front)[rows])
    orphans = np.flatnonzero(orphans)
    put(edits, rows[orphans], parses.starts[orphans], parses.ends[orphans], [""] * len(orphans))


SUMMARY = english_rules(
    name="summary",
    version=7,
    kind="positive",
    paper="Tang et al. 2022, AugCSE (Summarization)",
    parameters=SummaryParameters,
    prepare=lambda parameters, resources: by_rule(partial(_summarise, parameters=parameters)),
    examples=("augment-cli summary", "augment-cli summary --least-words 3 --least-share 0"),
    is_random=False,
    meaning="possibly altered",
    entailment=("neither", "the sentence entails its summary, not the reverse"),
)
