"""English verb forms from LemmInflect's dictionary (the SPECIALIST lexicon), each asked for once."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from augment_cli.errors import needed
from augment_cli.syntax.tree import TAG_OF_FORM, VerbForm

_CONTRACTED = {"'ve": "have", "’ve": "have", "'d": "have", "’d": "have", "'s": "have", "’s": "have"}
_MODALS: dict[str, str | None] = dict.fromkeys(("must", "should", "ought", "shall"))
_MODALS |= {"may": "might", "might": "might", "can": "could", "will": "would"}
_MODALS |= {"cannot": "could not", "can't": "couldn't"}


class _WithoutSpacy(MetaPathFinder):
    """LemmInflect imports spaCy where it finds it, for an extension that nobody needs here: two seconds."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == "spacy":
            raise ModuleNotFoundError(fullname)
        return None


@contextmanager
def _spacy_out_of_sight() -> Iterator[None]:
    finder = _WithoutSpacy()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


@lru_cache(maxsize=1)
def _lemminflect() -> ModuleType:
    with needed("lemminflect"), _spacy_out_of_sight():
        import lemminflect
    return lemminflect


@lru_cache(maxsize=200_000)
def base_form(form: str, verb_form: int, lemma: str = "") -> str | None:
    """The infinitive of a verb: ("left", PAST) gives "leave"."""
    word = form.lower()
    if word in _CONTRACTED:
        return _CONTRACTED[word]
    tag = TAG_OF_FORM.get(VerbForm(verb_form))
    if tag is None or not word.isalpha():
        return None
    candidates = _lemminflect().getLemma(word, "VERB", lemmatize_oov=False)
    fitting = [candidate for candidate in candidates if word in _forms(candidate, tag)]
    if not fitting:
        return None
    return lemma if lemma in fitting else fitting[0]


def _forms(lemma: str, tag: str) -> tuple[str, ...]:
    if tag in {"VB", "VBP"}:  # "weave" lists "wove" under VBP: the base form is the rule's own
        return (lemma,)
    return tuple(_lemminflect().getInflection(lemma, tag))


@lru_cache(maxsize=20_000)
def inflected(verb: str, verb_form: int) -> str | None:
    """A verb in the present, the third person singular, or the past: ("have", PRESENT_THIRD) gives "has"."""
    # Modal verbs stay in the present; their past is None where they have none.
    if verb in _MODALS:
        return _MODALS[verb] if verb_form == VerbForm.PAST else verb
    if verb_form == VerbForm.PRESENT or not verb:
        return verb or None
    forms = _lemminflect().getInflection(verb, TAG_OF_FORM[VerbForm(verb_form)])
    return forms[0] if forms else None


@lru_cache(maxsize=20_000)
def plural(noun: str) -> str | None:
    """The plural of a noun: "child" gives "children"; None where the dictionary knows none."""
    forms = _lemminflect().getInflection(noun, "NNS", inflect_oov=False)
    return forms[0] if forms else None


def phrase(auxiliary: str, verb_form: int) -> str | None:
    """An auxiliary phrase with its first word inflected: ("need to", PAST) gives "needed to"."""
    verb, space, rest = auxiliary.partition(" ")
    form = inflected(verb, verb_form)
    return None if form is None else form + space + rest
