"""English auxiliaries for AA: which token decides, whether one may go in, and the words themselves."""

import re

import numpy as np

from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Answer, Draw, pick
from augment_cli.english.clauses.clause_rules import followed_by, put, refuse
from augment_cli.english.inflection import base_form, phrase
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import NEGATIONS, Role, VerbForm, any_of, words
from augment_cli.text.spans import EditList
from augment_cli.text.surface import case_of, in_case

# The nine of the authors' code; "can't avoid to" is theirs.
PUBLISHED = (
    *("must", "have to", "have no choice but", "cannot but", "can't avoid to", "can't help but", "should"),
    *("need to", "ought to"),
)
# The default: those under which what the sentence says still holds ("had to leave": she left), as they are
# said. "should" and "ought to" turn a fact into a norm and are left out; --auxiliaries takes any.
GRAMMATICAL = ("must", "have to", "need to", "have no choice but to", "cannot but", "cannot help but")
ADVERBS = (
    *("extremely", "quite", "very", "particularly", "especially", "absolutely", "totally", "really"),
    "remarkably",
)
DO = {VerbForm.PRESENT: "do", VerbForm.PRESENT_THIRD: "does", VerbForm.PAST: "did"}
_BE_FORMS = frozenset({"am", "is", "are", "was", "were", "be"})
# Verbs that make an auxiliary with "to" themselves; they take no second one.
_SEMI_AUXILIARIES = words("have has had need needs needed ought used 's 'd 've ’s ’d ’ve")


def _inflected(names: tuple[str, ...], slots: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """object (m,): auxiliaries in the forms of `DO`, of those that have one each as likely; None without."""
    chosen = np.full(len(slots), None, object)
    for slot, form in enumerate(DO):
        fitting = [made for name in names if (made := phrase(name, form)) is not None]
        mine = np.flatnonzero(slots == slot)
        if fitting:
            chosen[mine] = np.array(fitting, object)[pick(uniforms[mine], len(fitting))]
    return chosen


def recommended(
    view: ClauseView, rows: np.ndarray, draw: Draw, names: tuple[str, ...], edits: EditList
) -> Answer:
    """The first token among the main verb and its auxiliaries decides (docs/reference/syntax-rules.md)."""
    # "She left" to "She had to leave", "She can go" to "She must go", "It is old" to "It has to be old".
    # A modal is replaced, a form of "be" becomes auxiliary + "be", a finite main verb auxiliary +
    # infinitive; the auxiliary takes over tense and agreement.
    parses, forms = view.parses, view.verb_forms
    answer = Answer.empty(len(parses))
    main = view.mask(view.roots[rows])
    helping = any_of(view.roles, (Role.AUXILIARY, Role.INFINITIVE)) & view.of_root
    tokens = view.first(main | helping)[rows]
    is_main = tokens == view.roots[rows]

    finite = any_of(forms[tokens], DO)
    modal = (forms[tokens] == VerbForm.MODAL) & ~is_main
    be = view.is_be[tokens] & finite
    verb = is_main & finite & ~be
    lemmas = np.full(len(rows), "", object)
    lemmas[be] = " be"
    lemmas[verb] = [" " + word if word else "" for word in base_forms(view, tokens[verb])]

    subjects = np.maximum(view.subjects, view.first((view.roles == Role.EXPLETIVE) & view.of_root))[rows]
    negated = view.any(view.negations & view.of_root)[rows]
    doubtful = view.is_doubtful[tokens] & ~modal | (verb & (lemmas == ""))
    good = refuse(
        answer.reasons,
        rows,
        (~is_main & ~modal & ~be, Reason.OTHER_AUXILIARY),
        (is_main & ~finite, Reason.NO_FINITE_VERB),
        (negated | followed_by(view, tokens, NEGATIONS), Reason.NEGATED),
        (_takes_infinitive(view, tokens, be), Reason.OTHER_AUXILIARY),
        (runs_on(view, tokens), Reason.OTHER_AUXILIARY),
        (~view.has_subject[rows], Reason.NO_SUBJECT),
        (subjects > tokens, Reason.INVERTED),
        (doubtful, Reason.DOUBTFUL_PARSE),
    )

    past = view.is_past[tokens[good]]
    third = np.where(modal[good], view.third_person_singular[rows[good]], False)
    third |= ~modal[good] & (forms[tokens[good]] == VerbForm.PRESENT_THIRD)
    slots = np.where(past, 2, np.where(third, 1, 0))
    phrases = _inflected(names or GRAMMATICAL, slots, draw(0)[rows[good]])
    fits = np.array([made is not None for made in phrases], bool)
    answer.reasons[rows[good[~fits]]] = Reason.NO_AUXILIARY_FITS
    good, phrases = good[fits], phrases[fits]
    replace_verbs(view, rows[good], tokens[good], phrases, lemmas[good], edits)
    answer.rules[rows[good]] = np.select([modal[good], be[good]], ["modal", "be"], "verb")
    return answer


def literal(
    view: ClauseView, rows: np.ndarray, draw: Draw, names: tuple[str, ...], edits: EditList
) -> Answer:
    """Algorithm 2: the first form of "be", or the root where it is a verb; nothing is inflected."""
    parses = view.parses
    answer = Answer.empty(len(parses))
    be = parses.lower.among(_BE_FORMS)
    root = (view.roles == Role.ROOT) & parses.pos.among({"VERB", "AUX"})
    tokens = view.first(be | root)[rows]
    rows, tokens = rows[tokens >= 0], tokens[tokens >= 0]
    is_be = be[tokens]
    lemmas = np.full(len(rows), " be", object)
    lemmas[~is_be] = [" " + word for word in lemmas_of(view, tokens[~is_be])]
    phrases = np.array(names or PUBLISHED, object)[pick(draw(0)[rows], len(names or PUBLISHED))]
    replace_verbs(view, rows, tokens, phrases, lemmas, edits)
    answer.rules[rows] = np.where(is_be, "be", "verb")
    return answer


def released_verb(
    view: ClauseView, rows: np.ndarray, draw: Draw, names: tuple[str, ...], edits: EditList
) -> Answer:
    """The verb rule of the authors' code: the first auxiliary or root decides; only "have" is inflected."""
    parses, forms = view.parses, view.verb_forms
    answer = Answer.empty(len(parses))
    helping = any_of(view.roles, (Role.AUXILIARY, Role.INFINITIVE))
    tokens = view.first(helping | (view.roles == Role.ROOT))[rows]
    has_verb = tokens >= 0
    rows, tokens = rows[has_verb], tokens[has_verb]
    lower, is_root = parses.lower_at(tokens), view.roles[tokens] == Role.ROOT
    be = lower.among(_BE_FORMS)
    third = np.where(is_root, ~be & (forms[tokens] == VerbForm.PRESENT_THIRD), lower.among({"is"}))
    past = np.where(is_root, ~be & (forms[tokens] == VerbForm.PAST), lower.among({"was", "were"}))
    good = be | (is_root & any_of(forms[tokens], DO))
    rows, tokens, be, third, past = rows[good], tokens[good], be[good], third[good], past[good]
    lemmas = np.full(len(rows), " be", object)
    lemmas[~be] = [" " + word for word in lemmas_of(view, tokens[~be])]
    table = names or PUBLISHED
    by_slot = np.array(
        [[re.sub("^have", have, name) for name in table] for have in ("have", "has", "had")], object
    )
    phrases = by_slot[np.where(past, 2, third.astype(int)), pick(draw(0)[rows], len(table))]
    replace_verbs(view, rows, tokens, phrases, lemmas, edits)
    answer.rules[rows] = np.where(be, "be", "verb")
    return answer


def released(
    view: ClauseView, rows: np.ndarray, draw: Draw, names: tuple[str, ...], edits: EditList
) -> Answer:
    """The authors' code: the verb rule or an adverb before every adjective, half each, else the other."""
    prefers_verb = draw(1) < 0.5
    adjectives = view.parses.pos.among({"ADJ"})
    has_adjective = view.any(adjectives)
    probe = released_verb(view, rows, draw, names, EditList())
    verb_fires = probe.rules != None  # noqa: E711  (element by element)
    by_verb = verb_fires & (prefers_verb | ~has_adjective)
    answer = released_verb(view, rows[by_verb[rows]], draw, names, edits)
    rest = view.row_mask(rows) & ~by_verb & has_adjective
    tokens = np.flatnonzero(adjectives & rest[view.rows])
    owners = view.rows[tokens]
    adverbs = [adverb + " " for adverb in ADVERBS]
    starts = view.parses.starts[tokens]
    edits.replace(owners, starts, starts, adverbs, pick(draw(2)[owners], len(ADVERBS)))
    answer.rules[rest] = "adjective"
    return answer


def replace_verbs(
    view: ClauseView,
    rows: np.ndarray,
    tokens: np.ndarray,
    phrases: np.ndarray,
    lemmas: np.ndarray,
    edits: EditList,
) -> None:
    """Put phrase + lemma in a token's place, in its case, with spaces where it was joined to a word."""
    parses = view.parses
    joined = joined_to_word(view, tokens)
    cases = parses.forms_at(tokens).map(case_of, np.int64)
    columns = (phrases, lemmas, cases, joined, runs_on(view, tokens))
    texts = [
        " " * before + in_case(front + back, case) + " " * behind
        for front, back, case, before, behind in zip(*(column.tolist() for column in columns), strict=True)
    ]
    put(edits, rows, parses.starts[tokens], parses.ends[tokens], texts)


def base_forms(view: ClauseView, tokens: np.ndarray) -> list[str | None]:
    """Infinitive of each of some tokens; None where the form cannot be what its tag says."""
    forms, lemmas = view.parses.forms_at(tokens).listed(), view.parses.lemmas_at(tokens).listed()
    return [base_form(*one) for one in zip(forms, view.verb_forms[tokens].tolist(), lemmas, strict=True)]


def lemmas_of(view: ClauseView, tokens: np.ndarray) -> list[str]:
    """Infinitives, the pipeline's lemma where the dictionary and the tag disagree."""
    lemmas = view.parses.lemmas_at(tokens).listed()
    return [base or lemma for base, lemma in zip(base_forms(view, tokens), lemmas, strict=True)]


def joined_to_word(view: ClauseView, tokens: np.ndarray) -> np.ndarray:
    """Whether a word stands directly in front, as in "it's"; what replaces the token then needs a space."""
    parses = view.parses
    opens = tokens == parses.offsets[:-1][view.rows[tokens]]
    return ~opens & ~parses.whitespace[tokens - 1] & ~parses.pos.among({"PUNCT", "SPACE"})[tokens - 1]


def _takes_infinitive(view: ClauseView, tokens: np.ndarray, be: np.ndarray) -> np.ndarray:
    """Whether there is an auxiliary with "to" already: has to go, used to go, is to go."""
    semi = view.parses.lower_at(tokens).among(_SEMI_AUXILIARIES) | be
    return semi & followed_by(view, tokens, {"to"})


def runs_on(view: ClauseView, tokens: np.ndarray) -> np.ndarray:
    """Whether a word is joined to the token, as in "could've"."""
    parses = view.parses
    is_word = ~parses.pos.among({"PUNCT", "SPACE"})[view.behind(tokens)]
    return view.has_behind(tokens) & ~parses.whitespace[tokens] & is_word
