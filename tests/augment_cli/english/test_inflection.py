"""Infinitives and inflected auxiliaries: irregular verbs, homographs, and words that are no verbs."""

import subprocess
import sys

import pytest

from augment_cli.english.inflection import base_form, inflected, phrase
from augment_cli.syntax.tree import VerbForm

PAST, PRESENT, THIRD = VerbForm.PAST, VerbForm.PRESENT, VerbForm.PRESENT_THIRD


@pytest.mark.parametrize(
    ("form", "verb_form", "infinitive"),
    [
        ("left", PAST, "leave"),
        ("leaves", THIRD, "leave"),
        ("found", PAST, "find"),
        ("founded", PAST, "found"),
        ("found", PRESENT, "found"),
        ("lay", PAST, "lie"),
        ("lay", PRESENT, "lay"),
        ("saw", PAST, "see"),
        ("bore", PAST, "bear"),
        ("wound", PAST, "wind"),
        ("was", PAST, "be"),
        ("has", THIRD, "have"),
        ("does", THIRD, "do"),
        ("goes", THIRD, "go"),
        ("travelled", PAST, "travel"),
        ("focussed", PAST, "focus"),
        ("Read", PAST, "read"),
        ("ROSE", PAST, "rise"),
        ("wove", PAST, "weave"),
        ("dying", VerbForm.PRESENT_PARTICIPLE, "die"),
        ("seen", VerbForm.PAST_PARTICIPLE, "see"),
        ("'ve", PRESENT, "have"),
        # A tag that the word cannot have, and what is no verb.
        ("table", PAST, None),
        ("wove", PRESENT, None),
        ("river", THIRD, None),
        ("qqxx", PAST, None),
        ("", PAST, None),
        ("日本", PAST, None),
        ("1901", PAST, None),
        ("a-b", PAST, None),
        ("leave", VerbForm.NONE, None),
    ],
)
def test_base_form(form: str, verb_form: VerbForm, infinitive: str | None) -> None:
    assert base_form(form, verb_form) == infinitive


def test_the_lemma_of_the_pipeline_counts_where_the_dictionary_allows_it() -> None:
    assert base_form("lay", PAST, "lie") == "lie"
    assert base_form("lay", PAST, "nonsense") == "lie"


@pytest.mark.parametrize(
    ("auxiliary", "present", "third", "past"),
    [
        ("have to", "have to", "has to", "had to"),
        ("need to", "need to", "needs to", "needed to"),
        ("have no choice but to", "have no choice but to", "has no choice but to", "had no choice but to"),
        ("must", "must", "must", None),
        ("should", "should", "should", None),
        ("ought to", "ought to", "ought to", None),
        ("cannot but", "cannot but", "cannot but", "could not but"),
        ("cannot help but", "cannot help but", "cannot help but", "could not help but"),
        ("get to", "get to", "gets to", "got to"),
    ],
)
def test_auxiliaries(auxiliary: str, present: str, third: str, past: str | None) -> None:
    assert [phrase(auxiliary, form) for form in (PRESENT, THIRD, PAST)] == [present, third, past]


def test_nothing_to_inflect() -> None:
    assert inflected("", PAST) is None


def test_inflection_loads_no_spacy() -> None:
    code = (
        "import sys; from augment_cli.english.inflection import base_form; "
        "assert base_form('left', 1) == 'leave'; print('spacy' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
