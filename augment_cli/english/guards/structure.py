"""Whether an output says of the same things what its original says of them, by the parses of both.

Words are aligned, and what each depends on is compared: its head and its part in it (a passive's subject is
an object, its agent a subject; conjuncts have the part of the first), the tense, aspect, polarity and voice
of verbs, number and tag of words that stand for others, prepositions, conjunctions and articles. A word that
stands for another has to go with its neighbours as that one does. Whatever differs is a reason to turn an
output down: that the parse of a good one differs by chance costs the output and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from augment_cli.english import LISTS
from augment_cli.english.guards.vocabulary import english
from augment_cli.parsing.pipelines import PipelineSource, find_pipeline, load_pipeline
from augment_cli.resources import END, START, load_collocations, tokens
from augment_cli.syntax.tree import words

if TYPE_CHECKING:
    from spacy.tokens import Doc

_MARKING = words("punct det aux aux:pass cop mark cc case det:predet cc:preconj")
_SAME_PART = {"expl": "nsubj", "nsubj:pass": "obj", "csubj:pass": "ccomp", "obl:agent": "nsubj"}
_ADVERBIAL = words("advmod obl nmod obl:npmod obl:tmod nmod:npmod nmod:tmod nmod:poss discourse")
_HELPING = words("aux aux:pass cop")
_SUBJECTS = words("nsubj nsubj:pass")
_PASSIVE = words("nsubj:pass aux:pass csubj:pass")
_NEGATIONS = words("not never no")
_PLURAL, _SINGULAR = words("they we these those you both many"), words("he she it this that")
_NOUNS = {"NN", "NNP"}, {"NNS", "NNPS"}
# Of prepositions, conjunctions and articles these may stand for each other; all others stay.
_ALIKE = {
    word: group.split()[0]
    for group in (
        *("a an", "on upon", "among amongst", "while whilst", "till until", "though although"),
        *("about around approximately", "concerning regarding about", "because since"),
        *("toward towards", "amid amidst"),
    )
    for word in group.split()
}
_ALIKE_TOGETHER = {"as though": "as if", "in to": "to", "due": "because"}
_MOVING = words("although though because if unless since after before while when whenever once")
_MONTHS = words("january february march april may june july august september october november december")
_TIMES = LISTS["calendar"] | words(
    "spring summer autumn winter morning afternoon evening night day days week weeks month months year years "
    "decade century war death birth"
)
_YEAR = re.compile(r"\d{3,4}s?$")
_SHORT = {"n't": "not", "ca": "can", "wo": "will"}
_SHORT |= {"'s": "is", "'re": "are", "'m": "am", "'ve": "have", "'ll": "will"}
# Of a word and its neighbours; ROC on data/judged and made-up slips: benchmarks/results/words.md.
_LEAST_FIT = -1.5
_LEAST_DOUBTFUL_FIT, _LEAST_OFTEN = -0.4, 20  # of a pair on the list of those that seldom fit
_DEEPEST = 20  # conjuncts of a conjunct


@lru_cache(maxsize=1)
def parser() -> PipelineSource:
    """The shipped English pipeline, whatever the store's own parses were made with."""
    return find_pipeline()


@lru_cache(maxsize=4096)
def _parsed(text: str) -> Doc:
    """A text's parse; the original's is asked for as often as it has outputs."""
    from augment_cli.parsing.docs import docs_of

    return docs_of(load_pipeline(parser()), [text])[0]


def is_restructured(original: str, output: str) -> bool:
    """Whether an output's clauses differ from its original's."""
    return next(differences(_parsed(original), _parsed(output)), None) is not None


def differences(before: Doc, after: Doc) -> Any:
    """What differs between two parses, each as its kind and words; lazily, cheapest first."""
    partners = _align(before, after)
    yield from _lost_and_come(before, after, partners)
    roots = [sum(token.dep_ == "ROOT" for token in doc) for doc in (before, after)]
    if roots[0] != roots[1]:
        yield ("sentences", *roots)
    for token in after:
        if token.i in partners and token.dep_ not in _MARKING:
            other = before[partners[token.i]]
            if other.dep_ not in _MARKING:
                yield from _differs(other, token, partners)
                yield from _moves(other, token, partners)
    if all(map(_agrees, before)):
        yield from (("agreement", token.text) for token in after if not _agrees(token))


def _lower(token: Any) -> str:
    text = token.text.lower().replace("’", "'")
    return _SHORT.get(text, text)


def _align(before: Doc, after: Doc) -> dict[int, int]:
    """Positions of the output's tokens to those of the original: equal words, forms of one, then the rest."""
    texts = [[_lower(token) for token in doc] for doc in (before, after)]
    partners: dict[int, int] = {}
    replaced = []
    for kind, one, one_end, two, two_end in SequenceMatcher(
        None, texts[0], texts[1], autojunk=False
    ).get_opcodes():
        if kind == "equal":
            partners |= dict(zip(range(two, two_end), range(one, one_end), strict=True))
        elif kind == "replace":
            replaced.append((range(one, one_end), range(two, two_end)))
    taken = set(partners.values())

    def take(test: Callable[[Any, Any], bool]) -> None:
        for token in after:
            if token.i not in partners and token.dep_ != "punct":
                free = (other.i for other in before if other.i not in taken and test(other, token))
                if (place := next(free, None)) is not None:
                    partners[token.i] = place
                    taken.add(place)

    take(lambda one, two: _lower(one) == _lower(two))
    take(lambda one, two: one.lemma_.lower() == two.lemma_.lower() and not {one.dep_, two.dep_} & _MARKING)
    for ones, twos in replaced:
        own = [place for place in ones if place not in taken and before[place].dep_ not in _MARKING]
        new = [place for place in twos if place not in partners and after[place].dep_ not in _MARKING]
        if len(own) == len(new):
            partners |= dict(zip(new, own, strict=True))
            taken.update(own)
    return partners


def _lost_and_come(before: Doc, after: Doc, partners: dict[int, int]) -> Any:
    """Words that are not content, and not marks of others either, which have gone or come."""
    kept = set(partners.values())
    for doc, known, kind in ((before, kept, "lost"), (after, partners.keys(), "come")):
        for token in doc:
            counts = token.is_stop or token.dep_ == "advmod" or token.pos_ in ("NOUN", "PROPN", "VERB")
            counts &= _lower(token) != "order"  # "in order to"
            if counts and token.i not in known and token.dep_ not in _MARKING:
                yield kind, token.text


def _differs(one: Any, two: Any, partners: dict[int, int]) -> Any:
    is_other = _lower(one) != _lower(two)
    adverbial = one.dep_ in _ADVERBIAL and two.dep_ in _ADVERBIAL
    tags = one.tag_, two.tag_
    verbal = tags[0][:2] == tags[1][:2] == "VB"
    alike = tags[0] == tags[1] or any({*tags} <= nouns for nouns in _NOUNS)
    if is_other and not (adverbial or alike or verbal):
        yield ("tag", one.text, two.text, *tags)
    if (one.dep_ == "conj") != (two.dep_ == "conj") and not (_is_bare(one) and _is_bare(two)):
        yield "exchange", one.text, two.text
    if is_other and any(child.dep_ == "compound:prt" for child in (*one.children, *two.children)):
        yield "particle", one.text, two.text
    if is_other and _stands_alone(one, two, partners):
        fit, often = _fit(one, two)
        doubtful = english().is_doubtful(_lower(one), _lower(two))
        if doubtful and (two.pos_ == "NOUN" or often < _LEAST_OFTEN):
            yield "doubtful", one.text, two.text
        if fit < (_LEAST_DOUBTFUL_FIT if doubtful else _LEAST_FIT):
            yield "collocation", one.text, two.text
    if is_other and one.tag_ in ("VBG", "VBN") and one.dep_ == "amod":
        yield "attribute", one.text, two.text
    heads, parts = zip(_part(one), _part(two), strict=True)
    if (heads[1].i in partners and partners[heads[1].i] != heads[0].i) or (
        heads[1].i not in partners and heads[0].i in partners.values()
    ):
        yield "head", one.text, heads[0].text, heads[1].text
    elif parts[0] != parts[1] and not (is_other and adverbial):
        yield ("part", one.text, *parts)
    if not adverbial or not is_other:
        marks = [_marks(token) for token in (one, two)]
        if marks[0] != marks[1] and not (
            parts[0] == "nsubj" and _is_passive(heads[0]) != _is_passive(heads[1])
        ):
            yield "marks", one.text, marks[0], marks[1]
    if {one.tag_[:2], two.tag_[:2]} & {"VB"} or any(child.dep_ == "cop" for child in one.children):
        yield from _said_otherwise(one, two)


def _stands_alone(one: Any, two: Any, partners: dict[int, int]) -> bool:
    """Whether a word stands for one other and both have the same neighbours."""
    last = len(two.doc) - 1
    left = partners.get(two.i - 1, one.i - 1) == one.i - 1
    return left and partners.get(min(two.i + 1, last), one.i + 1) in (one.i + 1, one.i)


def _fit(one: Any, two: Any) -> tuple[float, int]:
    """How well a word goes with the neighbours of the one it stands for, and how often it was met there."""
    table = load_collocations()
    left = _lower(one.nbor(-1)) if one.i else START
    right = _lower(one.nbor()) if one.i + 1 < len(one.doc) else END
    numbers = [
        np.array([table.number(("".join(tokens(word)) or word) if word not in (START, END) else word)])
        for word in (_lower(one), _lower(two), left, right)
    ]
    _, new, before, behind = numbers
    often = int(table.together(before, new)[0] + table.together(new, behind)[0])
    return float(table.fit(*numbers)[0]), often


def _first_joined(token: Any) -> Any:
    """What a word is joined to by "and", or the word itself."""
    for _ in range(_DEEPEST):
        if token.dep_ != "conj":
            break
        token = token.head
    return token


def _part(token: Any) -> tuple[Any, str]:
    """A word's head and its part in it."""
    first = _first_joined(token)
    head, part = first.head, first.dep_
    if part == "obl" and _is_passive(head) and any(_lower(child) == "by" for child in token.children):
        part = "nsubj"
    part = _SAME_PART.get(part, part)
    return head, "adverbial" if part in _ADVERBIAL else part


def _marks(token: Any) -> str:
    """Articles of a word; prepositions and conjunctions of it, or of what it is joined to by "and"."""
    first = _first_joined(token)
    marks = [child for child in first.children if child.dep_ in ("case", "mark")]
    marks += [child for child in token.children if child.dep_ == "det"]
    if any(_lower(child) == "although" and not _opens_a_clause(child) for child in marks):
        return "although"
    written = " ".join(sorted(_ALIKE.get(_lower(child), _lower(child)) for child in marks))
    return _ALIKE_TOGETHER.get(written, written)


def _opens_a_clause(mark: Any) -> bool:
    """Whether a conjunction opens a clause with a subject, and not "even although", "slight although"."""
    is_first = mark.i == 0 or mark.nbor(-1).pos_ not in ("ADJ", "ADV")
    return is_first and any(child.dep_ in _SUBJECTS for child in mark.head.children)


def _moves(one: Any, two: Any, partners: dict[int, int]) -> Any:
    """What stands elsewhere among the words that depend on one: a time and a clause may, and nothing else."""
    places = [partners.get(child.i) for child in sorted([two, *two.children], key=lambda child: child.i)]
    mine = {child.i for child in (one, *one.children) if child.dep_ not in _MARKING}
    order = [place for place in places if place is not None and place in mine]
    if order == sorted(order) or _is_passive(one) != _is_passive(two) or _lower(one) in _MONTHS:
        return
    moved = [
        place for place in order if (rest := [other for other in order if other != place]) == sorted(rest)
    ]
    tokens = [child for child in (one, *one.children) if child.i in moved and child.i != one.i]
    if not any(map(_may_move, tokens)):
        yield ("moved", one.text, *(child.text for child in tokens))


def _may_move(token: Any) -> bool:
    """Whether a part of a clause says when, or is a clause that says why or on which condition."""
    if token.dep_ == "advcl":
        subject = next((child for child in token.head.children if child.dep_ in _SUBJECTS), None)
        names = any(part.pos_ in ("NOUN", "PROPN") for part in token.subtree)
        if names and token.i < token.head.i and subject is not None and subject.tag_ in ("PRP", "DT"):
            return False  # who "it" is, the clause says
        mark = next((child for child in token.children if _lower(child) in _MOVING), None)
        if mark is None or not any(child.dep_ in _SUBJECTS for child in token.children):
            return False
        follows = mark.nbor(-1).pos_ if mark.i else "VERB"
        return _lower(mark) != "when" or follows in ("VERB", "ADV")  # not "the year when"
    verbs = sum(part.pos_ == "VERB" for part in token.doc)
    numbers = sum(part.like_num for part in token.doc) - sum(part.like_num for part in token.subtree)
    if token.i < token.head.i and (verbs > 1 or numbers):  # at the end it would belong to these
        return False
    return token.dep_ in _ADVERBIAL and any(
        _lower(part) in _TIMES or _YEAR.match(part.text) for part in token.subtree
    )


def _is_passive(verb: Any) -> bool:
    return any(child.dep_ in _PASSIVE for child in verb.children)


def _said_otherwise(one: Any, two: Any) -> Any:
    """Tense, aspect, polarity and voice of a verb; a passive may become active, its agent the subject."""
    forms = [_verb_form(token) for token in (one, two)]
    known = english().tags(_lower(two))
    if forms[0] != forms[1] or (two.tag_ == "VBD" and "VBN" in known and "VBD" not in known):
        yield ("verb", one.text, *forms)
    passive = [_is_passive(token) for token in (one, two)]
    if passive[0] != passive[1]:
        has_agent = any(_part(child)[1] == "nsubj" for child in one.children)
        has_object = any(child.dep_ == "obj" for child in two.children)
        if passive[1] or not (has_agent and has_object):  # a passive that a model makes reads badly
            yield "voice", one.text


def _is_bare(token: Any) -> bool:
    """Whether one of two joined words may change places with the other: no name, no part of a phrase."""
    following = token.nbor() if token.i + 1 < len(token.doc) else token
    alone = all(child.dep_ in ("cc", "conj", "punct", "det", "case") for child in token.children)
    inside = token.pos_ == "NOUN" and following.pos_ in ("NOUN", "PROPN", "ADJ")
    return alone and not inside and not token.like_num and token.pos_ in ("NOUN", "ADJ", "PRON")


def _helpers(verb: Any) -> list[Any]:
    return [child for child in verb.children if child.dep_ in _HELPING]


def _verb_form(verb: Any) -> tuple[str, bool, bool, int]:
    helpers = _helpers(verb)
    finite = next(
        (form for token in sorted([*helpers, verb], key=lambda one: one.i) if (form := _finite(token))),
        verb.tag_ if verb.tag_[:2] == "VB" else "",
    )
    perfect = any(token.lemma_.lower() in ("have", "'ve") and token.dep_ == "aux" for token in helpers)
    continuous = verb.tag_ == "VBG" and any(token.lemma_ == "be" for token in helpers)
    return finite, perfect, continuous, sum(_lower(child) in _NEGATIONS for child in verb.children)


def _finite(token: Any) -> str:
    if token.tag_ == "MD":
        return str(_lower(token))
    return {"VBD": "past", "VBZ": "present", "VBP": "present", "TO": "to"}.get(token.tag_, "")


def _agrees(verb: Any) -> bool:
    """Whether a finite verb and its subject have one number, as far as their tags tell."""
    subject = next((child for child in verb.children if child.dep_ in _SUBJECTS), None)
    if subject is None:
        return True
    first = min([*_helpers(verb), verb], key=lambda token: token.i)
    several = any(child.dep_ == "conj" for child in subject.children)
    plural = several or subject.tag_ in _NOUNS[1] or _lower(subject) in _PLURAL
    alone = not any(child.dep_ in ("conj", "nmod") for child in subject.children)
    singular = alone and (subject.tag_ == "NN" or _lower(subject) in _SINGULAR)
    if first.tag_ == "VBZ" or _lower(first) == "was":
        return not plural
    return not (singular and (first.tag_ == "VBP" or _lower(first) == "were"))
