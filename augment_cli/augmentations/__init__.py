"""The registry. A new augmentation is one file here, one golden file in the tests, and one line below."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from typing import TYPE_CHECKING

from augment_cli.errors import UsageError

if TYPE_CHECKING:
    from augment_cli.augmentations.base import Augmentation

_REGISTRY = {
    "una": "augment_cli.augmentations.una:UNA",
    "uda": "augment_cli.augmentations.uda:UDA",
    "pi": "augment_cli.augmentations.pi:PI",
    "aa": "augment_cli.augmentations.aa:AA",
    "dn": "augment_cli.augmentations.dn:DN",
    "random-punctuation": "augment_cli.augmentations.random_punctuation:RANDOM_PUNCTUATION",
    "synonym": "augment_cli.augmentations.synonym:SYNONYM",
    "antonym": "augment_cli.augmentations.antonym:ANTONYM",
    "hypernym": "augment_cli.augmentations.hypernym:HYPERNYM",
    "hyponym": "augment_cli.augmentations.hyponym:HYPONYM",
    "discourse-marker": "augment_cli.augmentations.discourse_marker:DISCOURSE_MARKER",
    "colour": "augment_cli.augmentations.colour:COLOUR",
    "contraction": "augment_cli.augmentations.contraction:CONTRACTION",
    "negation-removal": "augment_cli.augmentations.negation_removal:NEGATION_REMOVAL",
    "random-insertion": "augment_cli.augmentations.random_insertion:RANDOM_INSERTION",
    "gender-swap": "augment_cli.augmentations.gender_swap:GENDER_SWAP",
    "number-to-words": "augment_cli.augmentations.number_to_words:NUMBER_TO_WORDS",
    "city-name": "augment_cli.augmentations.city_name:CITY_NAME",
    "geographic-name": "augment_cli.augmentations.geographic_name:GEOGRAPHIC_NAME",
    "embedding-neighbour": "augment_cli.augmentations.embedding_neighbour:EMBEDDING_NEIGHBOUR",
    "word-deletion": "augment_cli.augmentations.word_deletion:WORD_DELETION",
    "crop": "augment_cli.augmentations.crop:CROP",
    "word-repetition": "augment_cli.augmentations.word_repetition:WORD_REPETITION",
    "random-swap": "augment_cli.augmentations.random_swap:RANDOM_SWAP",
    "random-mixture": "augment_cli.augmentations.random_mixture:RANDOM_MIXTURE",
    "adjective-antonym": "augment_cli.augmentations.adjective_antonym:ADJECTIVE_ANTONYM",
    "subject-object-switch": "augment_cli.augmentations.subject_object_switch:SUBJECT_OBJECT_SWITCH",
    "negation": "augment_cli.augmentations.negation:NEGATION",
    "tense": "augment_cli.augmentations.tense:TENSE",
    "yoda": "augment_cli.augmentations.yoda:YODA",
    "sentence-reordering": "augment_cli.augmentations.sentence_reordering:SENTENCE_REORDERING",
    "summary": "augment_cli.augmentations.sentence_summary:SUMMARY",
    "paraphrase": "augment_cli.augmentations.paraphrase:PARAPHRASE",
    "back-translate": "augment_cli.augmentations.back_translate:BACK_TRANSLATE",
    "mask-fill": "augment_cli.augmentations.mask_fill:MASK_FILL",
}


def names() -> list[str]:
    """Names of all augmentations, in the order of the registry."""
    return list(_REGISTRY)


def summary(name: str) -> str:
    """What an augmentation does, in one line: the first of its file's docstring, read without running it."""
    module, _, _ = _REGISTRY[name].partition(":")
    file = Path(__file__).parent / f"{module.rpartition('.')[2]}.py"
    docstring = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return docstring.partition("\n")[0]


def get(name: str) -> Augmentation:
    """The card of an augmentation.

    Raises
    ------
    UsageError
        If there is none of that name.
    """
    if name not in _REGISTRY:
        raise UsageError(f"there is no augmentation {name!r}; there are {', '.join(_REGISTRY)}")
    module, _, attribute = _REGISTRY[name].partition(":")
    return getattr(importlib.import_module(module), attribute)
