"""What rules see of any label scheme: roles, heads, verb forms and number."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum

import numpy as np


class Role(IntEnum):
    """What a token is to its head, in the few words that rules need."""

    OTHER = 0
    ROOT = 1
    SUBJECT = 2  # nominal subject, active or passive
    CLAUSAL_SUBJECT = 3
    EXPLETIVE = 4  # existential "there"
    AUXILIARY = 5  # of tense, mood or the passive
    INFINITIVE = 6  # the "to" of an infinitive
    NEGATION = 7  # not, n't, never
    MARKER = 8  # because, that, if
    CLAUSE = 9  # head of a subordinate clause: complement, adverbial, adnominal, relative, open
    PUNCTUATION = 10
    CONJUNCT = 11


@dataclass(frozen=True)
class Tree:
    """Roles and heads of the N tokens of a batch."""

    roles: np.ndarray  # values of `Role`
    parents: np.ndarray  # head of each token as a position in the flat arrays; a root is its own head


def any_of(codes: np.ndarray, wanted: Collection[int]) -> np.ndarray:
    """bool, the shape of `codes`: whether each is one of a few; `np.isin` takes five times as long."""
    mask = np.zeros(codes.shape, bool)
    for code in wanted:
        mask |= codes == code
    return mask


def words(text: str) -> frozenset[str]:
    """A word list written as one string."""
    return frozenset(text.split())


NEGATIONS = frozenset({"not", "n't", "n’t", "nt", "never"})


def first_of(positions: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """int64 (count,): the first position of each row 0 … count−1 among some, which rise, or −1."""
    first = np.full(count, -1)
    first[rows[positions[::-1]]] = positions[::-1]  # of equal targets the last write stays
    return first


class VerbForm(IntEnum):
    """Form of a verb or auxiliary; PAST, PRESENT, PRESENT_THIRD and MODAL are finite."""

    NONE = 0
    PAST = 1
    PRESENT = 2
    PRESENT_THIRD = 3
    MODAL = 4
    BASE = 5
    PAST_PARTICIPLE = 6
    PRESENT_PARTICIPLE = 7


class Number(IntEnum):
    """Grammatical number, for agreement."""

    UNKNOWN = 0
    SINGULAR = 1
    PLURAL = 2


_BY_TAG = dict(zip(("VBD", "VBP", "VBZ", "MD", "VB", "VBN", "VBG"), list(VerbForm)[1:], strict=True))
TAG_OF_FORM = {form: tag for tag, form in _BY_TAG.items() if tag != "MD"}
_PENN_OTHERS = words(
    "CC CD DT EX FW IN JJ JJR JJS LS NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH WDT WP WP$ WRB"
)


def is_penn(tag: str) -> bool:
    """Whether a tag is one of the Penn Treebank's for words."""
    return tag in _BY_TAG or tag in _PENN_OTHERS


def form_of_tag(tag: str) -> VerbForm:
    """Verb form from a Penn Treebank tag; NONE for any other."""
    return _BY_TAG.get(tag, VerbForm.NONE)


def form_of_morphology(morphology: str) -> VerbForm:
    """Verb form from universal features, `VerbForm=Fin|Tense=Past` for one."""
    features = dict(item.split("=", 1) for item in morphology.split("|") if "=" in item)
    form, tense = features.get("VerbForm"), features.get("Tense")
    if form == "Inf":
        return VerbForm.BASE
    if form in {"Part", "Ger"}:
        return VerbForm.PAST_PARTICIPLE if tense == "Past" else VerbForm.PRESENT_PARTICIPLE
    if form != "Fin" or features.get("Mood") == "Imp":
        return VerbForm.NONE
    if tense == "Past":
        return VerbForm.PAST
    if tense != "Pres":
        return VerbForm.MODAL
    third = features.get("Person") == "3" and features.get("Number") == "Sing"
    return VerbForm.PRESENT_THIRD if third else VerbForm.PRESENT


def number_of_tag(tag: str) -> Number:
    """Number from a Penn Treebank noun tag."""
    if tag in {"NNS", "NNPS"}:
        return Number.PLURAL
    return Number.SINGULAR if tag in {"NN", "NNP"} else Number.UNKNOWN


def number_of_morphology(morphology: str) -> Number:
    """Number from universal features."""
    if "Number=Plur" in morphology:
        return Number.PLURAL
    return Number.SINGULAR if "Number=Sing" in morphology else Number.UNKNOWN
