"""DN's phrase: `It is not true that he was not a painter`, where the two negations meet nothing on their way.

Two negations undo each other wherever the inner one takes in the whole of its clause. So the clause has one
verb, no word that a negation would take in or leave out (`only`, `usually`, `any`), and a subject of which
there is no choice: `A man did not come` leaves open which. What stands in front (`In 1995,`) may stay there.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.english.clauses.assertions import NEGATIVES, Assertions
from augment_cli.english.clauses.clause_rules import Arguments, put
from augment_cli.english.clauses.constituents import Constituents
from augment_cli.resources import load_english_terms, word_list
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import Role, VerbForm, any_of, words
from augment_cli.text.spans import EditList
from augment_cli.text.surface import AS_IT_IS

# Of the first the clause is negated; the others are two negations by themselves.
NOT_TRUE = "It is not true that"
_PHRASES = (
    NOT_TRUE,
    "There is no denying that",
    "It cannot be denied that",
    "Nobody can deny that",
    "No one would deny that",
    "It would be wrong to deny that",
)
_LONGEST = 30  # tokens of a sentence with a phrase in front; in longer ones a reader loses the negations
# A negation takes these in, or means something else beside them, wherever they stand.
_SCOPED = frozenset(word_list("scoping_anywhere"))
# Of these only what belongs to the verb or its subject counts.
_CHOOSING = words("all every each both most many half either another more less enough about few")
_HARMLESS_MARKS = words(", . - % ( ) \" “ ” `` ''")
_CLITICS = words("'s ’s 're ’re 'm ’m 've ’ve 'll ’ll 'd ’d")
_INDEFINITE = frozenset(word_list("indefinite_words"))
_SUBJECT_TAGS = frozenset({"DT", "PRP", "PRP$", "NNP", "NNPS", "NN", "NNS", "JJ", "EX"})
_GRAMMAR = frozenset({"DT", "PRP", "PRP$", "IN", "EX", "CD"})
_OPENERS = words("in on at during after before from under throughout within by")
# Not of a time or place: in fact, at least, by contrast.
_NO_SETTING = frozenset(word_list("no_settings"))
# Who denies to have said something has not said it; who denies to think it thinks the opposite.
_SAYING = words(
    "say state announce report claim argue declare write note explain confirm reveal suggest show find "
    "discover demonstrate indicate conclude admit insist complain"
)


def is_plain(view: ClauseView, clauses: Assertions) -> np.ndarray:
    """bool (m,): sentences of one clause with a subject of no choice, in which two negations meet nothing."""
    parses, rows = view.parses, clauses.rows
    one_sentence = np.bincount(view.rows, parses.sentence_starts, len(parses))[rows] <= 1
    # Colons, dashes and the like part what is said; a title may stand in quotation marks.
    marks = parses.pos.among({"PUNCT"}) & ~parses.forms.among(_HARMLESS_MARKS)
    scoped = parses.lower.among(_SCOPED) | parses.lower.among(NEGATIVES)
    scoped |= parses.lower.among(_CLITICS) & ~parses.tags.among({"POS"})
    several = ((view.roles == Role.CONJUNCT) | parses.deps.among({"parataxis", "cc"})) & view.of_root
    # Verbs beside another that is not a clause's of the same form: often a wrong parse.
    verbs = (view.roles == Role.CONJUNCT) & parses.pos.among({"VERB", "AUX"})
    alike = (view.roles == Role.CLAUSE)[view.parents] & (view.verb_forms[view.parents] == view.verb_forms)
    stays = ~view.any(marks | scoped | several | (verbs & ~alike) | _subordinate(view))[rows]
    # "not" would deny an adverb of manner behind the verb.
    manner = parses.tags.among({"RB"}) & view.of_root & parses.lower.where(lambda word: word.endswith("ly"))
    manner &= np.arange(len(view.roles)) > view.roots[view.rows]
    return (
        stays
        & one_sentence
        & _is_definite(view, clauses)
        & ~clauses.holds_word(_CHOOSING)
        & ~view.any(manner)[rows]
        & (np.diff(parses.offsets)[rows] <= _LONGEST)
        & _knows_capital(view, clauses.sentence_begins)
    )


def _knows_capital(view: ClauseView, first: np.ndarray) -> np.ndarray:
    """bool (m,): first words that the tag and the shipped terms alike have for a name, or for none."""
    # Behind a phrase a name keeps its capital and another word loses it; `Brown`, `Maritime`, the first
    # word of `Visual Studio` and `New Wranglers`, and words that no table has could be either.
    parses = view.parses
    forms, tags = parses.forms_at(first), parses.tags.at(first)
    known, plain = _as_terms_are_written(view, first)
    shouted = forms.where(lambda form: len(form) > 1 and not form[1:].islower() and form[0].isupper())
    named = tags.among({"NNP", "NNPS"})
    second = view.behind(first)
    joined = parses.forms_at(second).where(lambda form: form[:1].isupper()) & (second > first)
    sure: np.ndarray = tags.among(_GRAMMAR) | np.where(
        named, (known & ~plain) | shouted, plain & ~shouted & ~joined
    )
    return sure


def _as_terms_are_written(view: ClauseView, first: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """bool (m,): words that the shipped terms have, and those that are written in small letters there."""
    shipped, lowered = load_english_terms(), view.parses.lower_at(first)
    place = pc.fill_null(pc.index_in(pa.array(lowered.values, pa.string()), shipped.terms), -1)
    places = place.to_numpy(zero_copy_only=False)[lowered.codes]
    return places >= 0, (places >= 0) & (shipped.cases[places] == AS_IT_IS)


def _subordinate(view: ClauseView) -> np.ndarray:
    """bool (N,): clauses of the main verb that its negation could take in, or leave out."""
    parses = view.parses
    mask = any_of(view.roles, (Role.CLAUSE, Role.CLAUSAL_SUBJECT))
    mask &= view.of_root | view.of_root[view.parents]
    places = np.flatnonzero(mask)
    labels = parses.deps.at(Arguments(view).clause_labels[places])
    inner = labels.where(lambda label: label.partition(":")[0] in {"xcomp", "acl", "relcl", "rcmod"})
    said = labels.among({"ccomp"}) & parses.lemmas_at(view.parents[places]).lowered().among(_SAYING)
    # "landed to collect samples", but not "because", "while" or "if"
    marked = view.with_child(view.roles == Role.MARKER)
    purpose = labels.among({"advcl"}) & (view.verb_forms[places] == VerbForm.BASE) & ~marked[places]
    adverbial = purpose & (places > view.parents[places])
    mask[places[inner | said | adverbial]] = False
    return mask


def _is_definite(view: ClauseView, clauses: Assertions) -> np.ndarray:
    """bool (m,): rows that begin with a subject of no choice, or with where or when and then with it."""
    parses = view.parses
    subjects = np.maximum(clauses.subjects, 0)
    left, begins = view.edges[0][subjects], clauses.sentence_begins
    first = parses.lower_at(left)
    definite = parses.tags.among(_SUBJECT_TAGS)[left] & ~first.among(_INDEFINITE)
    definite &= ~parses.lower_at(subjects).among(_INDEFINITE)
    # "A cell is the smallest unit" speaks of all cells; "a cell was found" of one that nobody knows.
    defined = first.among({"a", "an"}) & parses.lower_at(clauses.tokens).among({"is"})
    behind = view.behind(left)
    defined &= ~parses.tags.among({"JJR", "RBR"})[behind] & ~parses.lower_at(behind).among(_INDEFINITE)
    shouted = parses.forms_at(begins).where(lambda form: len(form) > 1 and form.isupper())
    definite &= ~shouted | parses.pos.among({"PROPN"})[begins]
    in_front = (left == begins) & (definite | defined)
    return (clauses.subjects >= 0) & (in_front | (definite & _has_setting(view, clauses, left)))


def _has_setting(view: ClauseView, clauses: Assertions, left: np.ndarray) -> np.ndarray:
    """bool (m,): one phrase of time or place, and its comma, in front of the subject: `In 1995, the town`."""
    parses, begins = view.parses, clauses.sentence_begins
    comma = np.maximum(left - 1, 0)
    opened = parses.lower_at(begins).among(_OPENERS) & parses.tags.among({"IN"})[begins]
    opened &= parses.lower_at(comma).among({","}) & (comma > begins)
    # One phrase: a child of the verb that reaches from the first token to the comma.
    heads = np.flatnonzero(view.of_root)
    starts, ends = view.edges[0][heads], view.edges[1][heads]
    reach = np.zeros(len(view.roles), np.int64)
    reach[starts] = ends
    one = (reach[begins] == comma - 1) | (reach[begins] == comma)
    unsure = parses.lower.among(_NO_SETTING | _INDEFINITE) | (parses.pos.among({"VERB", "AUX"}))
    doubts = np.append(0, np.cumsum(unsure))
    parting = parses.lower.among({","})
    parting[:-1] &= ~parses.tags.among({"CD"})[1:]  # not that of "On April 1, 2013,"
    commas = np.append(0, np.cumsum(parting))
    single = (commas[comma] == commas[begins]) & (doubts[comma] == doubts[begins])
    return opened & one & single


def phrase_of(view: ClauseView, clauses: Assertions, index: np.ndarray) -> np.ndarray:
    """int64 (k,): which of the phrases the chosen clauses get, by the places of words alone."""
    parses = view.parses
    lengths = parses.ends[parses.offsets[clauses.rows[index] + 1] - 1]
    return (lengths + parses.ends[clauses.tokens[index]]) % len(_PHRASES)


def put_phrase(
    view: ClauseView, clauses: Assertions, index: np.ndarray, phrases: np.ndarray, edits: EditList
) -> None:
    """Put phrases (k,) before the chosen clauses, as edits."""
    parses = view.parses
    first = clauses.sentence_begins[index]
    begins = Constituents(view).strings(first, first, inwards=True)
    capital = parses.forms_at(first).where(lambda form: form[:1].isupper()).tolist()
    tags = parses.tags.at(first)
    lowers = _as_terms_are_written(view, first)[1] & ~tags.among({"NNP", "NNPS"})
    begins = [
        word[0].lower() + word[1:] if lower else word for word, lower in zip(begins, lowers, strict=True)
    ]
    chosen = [_PHRASES[phrase] for phrase in phrases.tolist()]
    texts = [
        f"{phrase if upper else phrase[0].lower() + phrase[1:]} {word}"
        for word, upper, phrase in zip(begins, capital, chosen, strict=True)
    ]
    put(edits, clauses.rows[index], parses.starts[first], parses.ends[first], texts)
