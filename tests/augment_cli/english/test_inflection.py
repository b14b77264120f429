"""Infinitives, inflected auxiliaries and small helpers of the rules on clauses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.english.clauses.clause_rules import distinct, refuse
from augment_cli.english.inflection import base_form, inflected, phrase
from augment_cli.syntax.tree import VerbForm

PAST, PRESENT, THIRD = VerbForm.PAST, VerbForm.PRESENT, VerbForm.PRESENT_THIRD


@pytest.mark.parametrize(
    ("form", "verb_form", "infinitive"),
    [
        ("left", PAST, "leave"),
        ("found", PAST, "find"),
        ("founded", PAST, "found"),
        ("found", PRESENT, "found"),
        ("lay", PAST, "lie"),
        ("lay", PRESENT, "lay"),
        ("wound", PAST, "wind"),
        ("was", PAST, "be"),
        ("goes", THIRD, "go"),
        ("travelled", PAST, "travel"),
        ("Read", PAST, "read"),
        ("wove", PAST, "weave"),
        ("dying", VerbForm.PRESENT_PARTICIPLE, "die"),
        ("seen", VerbForm.PAST_PARTICIPLE, "see"),
        ("'ve", PRESENT, "have"),
        # A tag that the word cannot have, and what is no verb.
        ("table", PAST, None),
        ("wove", PRESENT, None),
        ("qqxx", PAST, None),
        ("", PAST, None),
        ("日本", PAST, None),
        ("a-b", PAST, None),
        ("leave", VerbForm.NONE, None),
    ],
)
def test_base_form(form, verb_form, infinitive):
    assert base_form(form, verb_form) == infinitive


def test_the_lemma_of_the_pipeline_counts_where_the_dictionary_allows_it():
    assert base_form("lay", PAST, "lie") == "lie"
    assert base_form("lay", PAST, "nonsense") == "lie"
    assert inflected("", PAST) is None


@pytest.mark.parametrize(
    ("auxiliary", "present", "third", "past"),
    [
        ("have to", "have to", "has to", "had to"),
        ("have no choice but to", "have no choice but to", "has no choice but to", "had no choice but to"),
        ("must", "must", "must", None),
        ("ought to", "ought to", "ought to", None),
        ("cannot but", "cannot but", "cannot but", "could not but"),
        ("cannot help but", "cannot help but", "cannot help but", "could not help but"),
    ],
)
def test_auxiliaries(auxiliary, present, third, past):
    assert [phrase(auxiliary, form) for form in (PRESENT, THIRD, PAST)] == [present, third, past]


ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.booleans()), max_size=12)


@given(ROWS)
def test_distinct_rows_of_columns(rows):
    columns = np.array(rows, np.int64).reshape(-1, 3).T
    kinds, of = distinct(columns[0], columns[1], columns[2] > 0)
    assert [kinds[kind] for kind in of.tolist()] == rows
    assert len(kinds) == len(set(rows))


@given(ROWS)
def test_the_first_reason_that_holds_is_written(rows):
    one, other = np.array([row[0] > 1 for row in rows], bool), np.array([row[2] for row in rows], bool)
    places = np.arange(len(rows)) * 2
    reasons = np.full(2 * len(rows), "none", object)
    good = refuse(reasons, places, (one, "one"), (other, "other"))
    expected = [
        "one" if first else "other" if second else "none" for first, second in zip(one, other, strict=True)
    ]
    assert reasons[places].tolist() == expected and set(reasons[1::2]) <= {"none"}
    assert good.tolist() == [index for index, reason in enumerate(expected) if reason == "none"]
