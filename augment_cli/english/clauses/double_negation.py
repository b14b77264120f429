"""English double negations for DN's faithful mode: two negations that take each other away.

`any`: no evidence, not any evidence. `fail`: did not fail to leave. `phrase`: it is not true that he was not
a painter, where nothing in the sentence could come between the two negations: one clause, a definite subject;
or a phrase that is two negations, such as `there is no denying that he was a painter`. Two negations undo
each other wherever the inner one takes in the whole of its clause. So the clause has one verb, no word that a
negation would take in or leave out (`only`, `usually`, `any`), and a subject of which there is no choice: `A
man did not come` leaves open which. What stands in front (`In 1995,`) may stay there.
"""

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Answer, Draw
from augment_cli.english import LISTS
from augment_cli.english.clauses.assertions import NEGATIVES, Assertions
from augment_cli.english.clauses.auxiliary import DO, replace_verbs
from augment_cli.english.clauses.clause_rules import Arguments, insert_not, put, refuse
from augment_cli.english.clauses.constituents import Constituents
from augment_cli.english.inflection import base_form
from augment_cli.resources import load_english_terms, word_list
from augment_cli.resources.wordnet import NOUN, load_wordnet
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
_SCOPED_ANYWHERE = frozenset(word_list("scoping_anywhere"))
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
# What somebody may be expected to do, so that "did not fail to" is how it would be said.
_EXPECTED = frozenset(word_list("expected_acts"))
# What a thing may be expected to do.
_EFFECTS = frozenset(word_list("expected_effects"))
# Adverbs that a negation would take in, or that speak of the whole sentence.
_SCOPED = frozenset(word_list("scoping_words"))
_PERSON, _GROUP = 18, 14  # lexicographer files of nouns
_AGENTS = words("he she they i we who")
_REASONS = words("because since as so until till unless if lest though although whereas while that once")
_AUXILIARIES = words("is are was were am 's ’s 're ’re 'm ’m has have had 've ’ve can could will")
_WISHES = words("want need wish like wanted needed")
_NO_ANY = words("one doubt matter more less fewer longer sooner other such")


def is_plain(view: ClauseView, clauses: Assertions) -> np.ndarray:
    """bool (m,): sentences of one clause with a subject of no choice, in which two negations meet nothing."""
    parses, rows = view.parses, clauses.rows
    one_sentence = np.bincount(view.rows, parses.sentence_starts, len(parses))[rows] <= 1
    # Colons, dashes and the like part what is said; a title may stand in quotation marks.
    marks = parses.pos.among({"PUNCT"}) & ~parses.forms.among(_HARMLESS_MARKS)
    scoped = parses.lower.among(_SCOPED_ANYWHERE) | parses.lower.among(NEGATIVES)
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
    said = labels.among({"ccomp"}) & parses.lemmas_at(view.parents[places]).lowered().among(LISTS["deniable"])
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
    lowers = _as_terms_are_written(view, first)[1] & ~parses.tags.at(first).among({"NNP", "NNPS"})
    texts = []
    for word, upper, lower, phrase in zip(begins, capital, lowers.tolist(), phrases.tolist(), strict=True):
        front = _PHRASES[phrase] if upper else _lower_first(_PHRASES[phrase])
        texts.append(f"{front} {_lower_first(word) if lower else word}")
    put(edits, clauses.rows[index], parses.starts[first], parses.ends[first], texts)


def _lower_first(text: str) -> str:
    return text[0].lower() + text[1:]


def faithful(view: ClauseView, rows: np.ndarray, draw: Draw, edits: EditList) -> Answer:
    """The first rule that applies to each row, in the order `any`, `fail`, `phrase`."""
    answer = Answer.empty(len(view.parses))
    clauses = Assertions(view, rows)
    negatives = np.bincount(view.rows, view.parses.lower.among(NEGATIVES), len(view.parses))[rows]
    good = refuse(answer.reasons, rows, *clauses.checks())
    applies = np.zeros(len(rows), bool)
    applies[good] = True
    # Nobody denies "I want to book a table": it asks for something.
    wishes = view.parses.lower.among(_WISHES)
    wishes &= view.parses.lower.among({"i", "we"})[np.maximum(np.arange(len(wishes)) - 1, 0)]
    wished = view.any(wishes | view.parses.lower.among({"please", "wanna"}))[rows]
    spoken = view.parses.lower_at(np.maximum(clauses.subjects, 0)).among({"i", "we", "you"})
    wished |= spoken & ~view.is_past[clauses.tokens] & (clauses.subjects >= 0)
    nouns = _denied_nouns(view)[rows]
    denied = applies & (nouns >= 0) & (negatives == 1) & _takes_not(view, clauses)
    answer.reasons[rows[applies & (negatives > 0) & ~denied]] = Reason.NEGATED
    answer.reasons[rows[applies & (negatives == 0) & wished]] = Reason.QUESTION
    applies &= (negatives == 0) & ~wished
    inner = _verbs_to_fail(view, clauses, applies)
    fails = applies & (inner >= 0)
    phrased = applies & ~fails & _takes_not(view, clauses)
    phrased &= is_plain(view, clauses)

    _negate(view, clauses, np.flatnonzero(denied), edits)
    no = nouns[denied]
    put(edits, view.rows[no], view.parses.starts[no], view.parses.ends[no], ["any"] * len(no))
    _fail(view, clauses, np.flatnonzero(fails), inner, edits)
    chosen = np.flatnonzero(phrased)
    phrases = phrase_of(view, clauses, chosen)
    _negate(view, clauses, chosen[phrases == 0], edits)
    put_phrase(view, clauses, chosen, phrases, edits)
    for mask, name in ((denied, "any"), (fails, "fail"), (phrased, "phrase")):
        answer.rules[rows[mask]] = name
    return answer


def _denied_nouns(view: ClauseView) -> np.ndarray:
    """int64 (n,): the determiner "no" of an object, or of what there is not, or −1."""
    parses = view.parses
    no = np.flatnonzero(parses.forms.among({"no", "nO"}) & parses.tags.among({"DT"}))
    nouns = view.parents[no]
    following = parses.lower_at(view.behind(no)).among(_NO_ANY)
    expletive = view.any((view.roles == Role.EXPLETIVE) & view.of_root)[view.rows[no]]
    objects = parses.deps.among({"dobj", "obj"})[nouns] | (expletive & ~(view.roles[nouns] == Role.CLAUSE))
    # "scant chances and no system": the negation would take in what stands before.
    joined = np.append(0, np.cumsum(parses.pos.among({"CCONJ"})))
    roots = view.roots[view.rows[no]]
    fits = objects & view.of_root[nouns] & (no > roots) & ~following & (joined[no] == joined[roots])
    mask = view.mask(no[fits])
    return view.first(mask)


def _takes_not(view: ClauseView, clauses: Assertions) -> np.ndarray:
    """bool (m,): first verbs behind which "not" denies what the sentence says, and nothing else."""
    plain = view.parses.lower_at(clauses.tokens).among(_AUXILIARIES)
    return clauses.is_verb & ~clauses.adverb_in_front | ~clauses.is_verb & plain


def _negate(view: ClauseView, clauses: Assertions, index: np.ndarray, edits: EditList) -> None:
    is_verb = clauses.is_verb[index]
    others = index[~is_verb]
    insert_not(view, edits, *(clauses.tokens[others],) * 2)
    _with_do(view, clauses, index[is_verb], "not ", edits)


def _with_do(view: ClauseView, clauses: Assertions, index: np.ndarray, text: str, edits: EditList) -> None:
    tokens = clauses.tokens[index]
    forms = view.verb_forms[tokens].tolist()
    front = np.array([f"{DO[VerbForm(form)]} {text}" for form in forms], object)
    replace_verbs(view, clauses.rows[index], tokens, front, clauses.bases[index], edits)


def _verbs_to_fail(view: ClauseView, clauses: Assertions, applies: np.ndarray) -> np.ndarray:
    """int64 (m,): the verb that "fail to" goes before, or −1; looked for where `applies` (m,)."""
    # A finite main verb itself; the word behind "has" or "will", be it the main verb or another auxiliary.
    parses, tokens = view.parses, clauses.tokens
    behind = view.behind(tokens)
    own = (view.parents[behind] == view.roots[clauses.rows]) & (view.roles[behind] == Role.AUXILIARY)
    own |= behind == view.roots[clauses.rows]
    forms = view.verb_forms[behind]
    words_ = parses.lower_at(tokens)
    perfect = words_.among({"has", "have", "had"}) & (forms == VerbForm.PAST_PARTICIPLE)
    future = words_.among({"will"}) & (forms == VerbForm.BASE)
    helped = ~clauses.is_main & own & (perfect | future)
    inner = np.where(helped, behind, np.where(clauses.is_verb, tokens, -1))
    places = np.maximum(inner, 0)
    mains = view.roots[clauses.rows]
    passive = parses.lower_at(places).among({"been", "be"}) & (mains != places)
    possible = applies & (inner >= 0) & ~passive & ~clauses.goes_on & ~clauses.follows_speech
    # "been" and "be" before a present participle: nobody "had not failed to be waiting"
    goes_on = view.verb_forms[view.behind(places)] == VerbForm.PRESENT_PARTICIPLE
    goes_on &= parses.lower_at(places).among({"been", "be"})
    possible &= ~goes_on & ~view.is_be[mains] & ~clauses.adverb_in_front
    # Conjunctions of the main verb's own adverbial clauses, which a negation may take in.
    markers = parses.lower.among(_REASONS) & (view.of_root | view.of_root[view.parents])
    markers &= np.arange(len(view.roles)) > view.roots[view.rows]
    possible &= ~view.any(markers)[clauses.rows] & ~clauses.holds_word(_SCOPED)
    some = np.flatnonzero(possible)  # of these the verb is asked, which takes longest
    has_object = view.any(parses.deps.among({"dobj", "obj"}) & view.of_root)[clauses.rows[some]].tolist()
    lemmas = parses.lemmas_at(mains[some]).map(str.lower, object)
    verbs = np.where(clauses.is_verb[some], clauses.bases[some], lemmas).tolist()
    acting = _act(view, np.maximum(clauses.subjects[some], 0)).tolist()
    possible[some] = [
        verb in (_EXPECTED if acts else _EFFECTS) and (takes or verb in LISTS["intransitive"])
        for verb, acts, takes in zip(verbs, acting, has_object, strict=True)
    ]
    return np.where(possible, inner, -1)


def _act(view: ClauseView, heads: np.ndarray) -> np.ndarray:
    """bool (m,): subjects that do things: persons, groups of them, and names but for `the Gulf Stream`."""
    parses = view.parses
    files = parses.lemmas_at(heads).map(lambda lemma: _noun_files().get(lemma.lower(), -1), np.int64)
    people = any_of(files, (_PERSON, _GROUP))
    determined = parses.tags.among({"DT"})[view.edges[0][heads]]
    named = parses.pos.among({"PROPN"})[heads] & ((files < 0) | ~determined)
    return parses.lower_at(heads).among(_AGENTS) | people | named


@lru_cache(maxsize=1)
def _noun_files() -> dict[str, int]:
    """Lexicographer file of each common noun's most frequent sense."""
    wordnet = load_wordnet()
    entries = np.flatnonzero((wordnet.entry_parts == NOUN) & (np.diff(wordnet.entry_senses) > 0))
    first = wordnet.entry_senses[entries]
    files = wordnet.synset_files[wordnet.sense_synsets[first]].tolist()
    lower = wordnet.spellings.take(pa.array(first)).to_pylist()
    return {word: file for word, file in zip(lower, files, strict=True) if word.islower()}


def _fail(
    view: ClauseView, clauses: Assertions, index: np.ndarray, inner: np.ndarray, edits: EditList
) -> None:
    parses = view.parses
    finite = clauses.is_verb[index]
    _with_do(view, clauses, index[finite], "not fail to ", edits)
    index = index[~finite]
    rows, tokens, verbs = clauses.rows[index], clauses.tokens[index], inner[index]
    insert_not(view, edits, tokens, tokens)
    texts = []
    words_, lemmas = parses.forms_at(verbs).listed(), parses.lemmas_at(verbs).listed()
    for word, lemma, kind in zip(words_, lemmas, view.verb_forms[verbs].tolist(), strict=True):
        base = "be" if word.lower() in {"been", "be"} else base_form(word, kind, lemma)
        fail = "failed" if kind == VerbForm.PAST_PARTICIPLE else "fail"
        texts.append(f"{fail} to {base or lemma}")
    put(edits, rows, parses.starts[verbs], parses.ends[verbs], texts)
