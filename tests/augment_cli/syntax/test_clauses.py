"""The clause view from either label scheme, strings as codes, tokens by their place in the text."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from augment_cli.syntax.clauses import ClauseView, subtree_edges
from augment_cli.syntax.parses import Coded
from augment_cli.syntax.tree import Role, VerbForm, any_of, form_of_morphology
from tests.helpers.hand_parses import SCHEMES, SENTENCES, made_up_row, parse_rows, sentence


def view_of(*names: str, scheme: str) -> ClauseView:
    texts, rows = zip(*(sentence(name, scheme) for name in names), strict=True)
    return ClauseView.of(parse_rows(texts, rows))


def described(view: ClauseView) -> dict[str, Any]:
    """Everything rules read of a one-sentence view, with words in place of positions."""
    forms = view.parses.forms
    words = np.array(forms.values, object)[forms.codes].tolist()
    left, right = view.edges

    def span(head: int) -> str:
        return " ".join(words[left[head] : right[head] + 1]) if head >= 0 else ""

    return {
        "root": words[view.roots[0]],
        "copula": words[view.copulas[0]] if view.copulas[0] >= 0 else "",
        "subject": span(view.subjects[0]),
        "has subject": bool(view.has_subject[0]),
        "auxiliaries": [words[i] for i in np.flatnonzero(view.auxiliaries)],
        "auxiliaries of the root": [words[i] for i in np.flatnonzero(view.auxiliaries & view.of_root)],
        "infinitives": [words[i] for i in np.flatnonzero(view.roles == Role.INFINITIVE)],
        "negations": [words[i] for i in np.flatnonzero(view.negations & view.of_root)],
        "clauses": [span(i) for i in np.flatnonzero(view.clauses)],
        "forms of be": [words[i] for i in np.flatnonzero(view.is_be)],
        "past": [words[i] for i in np.flatnonzero(view.is_past)],
        "forms": [VerbForm(form).name for form in view.verb_forms],
        "third person singular": bool(view.third_person_singular[0]),
    }


@pytest.mark.parametrize("name", SENTENCES)
def test_both_schemes_give_the_same_view(name):
    clear, universal = (described(view_of(name, scheme=scheme)) for scheme in SCHEMES)
    assert clear == universal


# name, root, copula, subject, auxiliaries of the root, negations, clauses
EXPECTED = [
    ("S1", "transfer", "", "A shareholder", ["may"], [], []),
    ("S4", "built", "", "The bridge", ["was"], [], []),
    ("S6", "eat", "", "They", ["do"], ["not"], []),
    ("S7", "Population", "", "", [], [], []),
    ("S8", "flood", "", "the roads", [], [], ["When rain falls"]),
    ("S9", "is", "is", "", [], [], ["that he lied"]),
    ("S10", "seen", "", "The old man who lived here", ["has", "been"], ["n't"], ["who lived here"]),
    ("copula-in-a-clause", "stayed", "", "He", [], [], ["because he was ill"]),
    ("copula-with-a-clause", "was", "was", "The shop", [], [], ["when we came in"]),
    ("outer-subject", "is", "is", "The trouble", [], [], ["that the boat leaks"]),
    ("modal-copula", "be", "be", "Her brothers", ["may"], [], []),
    ("gerund-after-a-preposition", "met", "", "They", [], [], []),
    ("question", "Is", "Is", "the lake", [], [], []),
]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("case", EXPECTED, ids=[case[0] for case in EXPECTED])
def test_the_parts_of_a_clause(case, scheme):
    name, *wanted = case
    view = described(view_of(name, scheme=scheme))
    found = [
        view[key] for key in ("root", "copula", "subject", "auxiliaries of the root", "negations", "clauses")
    ]
    assert found == wanted


@pytest.mark.parametrize(
    ("morphology", "form"),
    [
        ("Mood=Ind|Number=Sing|Person=3|Tense=Past|VerbForm=Fin", VerbForm.PAST),
        ("Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin", VerbForm.PRESENT_THIRD),
        ("Mood=Ind|Number=Plur|Person=3|Tense=Pres|VerbForm=Fin", VerbForm.PRESENT),
        ("VerbForm=Fin", VerbForm.MODAL),
        ("VerbForm=Inf", VerbForm.BASE),
        ("Tense=Past|VerbForm=Part|Voice=Pass", VerbForm.PAST_PARTICIPLE),
        ("VerbForm=Ger", VerbForm.PRESENT_PARTICIPLE),
        ("Mood=Imp|VerbForm=Fin", VerbForm.NONE),
        ("", VerbForm.NONE),
        ("odd||=x", VerbForm.NONE),
    ],
)
def test_verb_forms_from_universal_features(morphology, form):
    assert form_of_morphology(morphology) == form


def test_without_penn_tags_the_morphology_decides():
    text, row = sentence("S2", "universal")
    row["tags"] = row["pos"]
    row["morphs"] = ["", "", "Number=Sing|Person=3|Tense=Pres|VerbForm=Fin", "", "", "", ""]
    view = ClauseView.of(parse_rows([text], [row]))
    assert view.verb_forms[2] == VerbForm.PRESENT_THIRD
    assert not view.is_doubtful.any()


def test_tag_and_morphology_that_disagree_are_doubtful():
    text, row = sentence("S2", "universal")
    row["morphs"][2] = "Tense=Past|VerbForm=Part"
    assert ClauseView.of(parse_rows([text], [row])).is_doubtful.tolist() == [False, False, True] + [False] * 4


def test_a_participle_as_main_verb_is_a_past_form():
    text, row = sentence("S5", "clear")
    row["tags"][1] = "VBN"
    view = ClauseView.of(parse_rows([text], [row]))
    assert view.verb_forms[1] == VerbForm.PAST
    text, row = sentence("S4", "clear")  # not with an auxiliary
    assert ClauseView.of(parse_rows([text], [row])).verb_forms[3] == VerbForm.PAST_PARTICIPLE


def test_a_row_reads_the_same_beside_rows_of_the_other_scheme():
    names = list(SENTENCES)
    schemes = [SCHEMES[place % 2] for place in range(len(names))]
    texts, rows = zip(*map(sentence, names, schemes), strict=True)
    mixed = ClauseView.of(parse_rows(texts, rows))
    begin = 0
    for place, (name, scheme) in enumerate(zip(names, schemes, strict=True)):
        alone = view_of(name, scheme=scheme)
        tokens = slice(begin, begin := begin + len(alone.roles))
        np.testing.assert_array_equal(mixed.roles[tokens], alone.roles)
        np.testing.assert_array_equal(mixed.parents[tokens] - tokens.start, alone.parents)
        assert mixed.roots[place] - tokens.start == alone.roots[0]


@st.composite
def forests(draw: st.DrawFn) -> list[int]:
    """Heads of a random forest, tokens in a random order."""
    size = draw(st.integers(1, 40))
    order = draw(st.permutations(range(size)))
    heads = [0] * size
    for place, token in enumerate(order):
        heads[token] = order[draw(st.integers(0, place))]
    return heads


@given(rows=st.lists(forests(), min_size=1, max_size=5))
def test_subtree_edges_equal_a_walk_up_from_every_token(rows):
    parents, begin = [], 0
    for heads in rows:
        parents += [begin + head for head in heads]
        begin += len(heads)
    left, right = list(range(len(parents))), list(range(len(parents)))
    for token in range(len(parents)):
        above = token
        while parents[above] != above:
            above = parents[above]
            left[above], right[above] = min(left[above], token), max(right[above], token)
    found = subtree_edges(np.array(parents), max(map(len, rows)))
    assert found[0].tolist() == left
    assert found[1].tolist() == right


@given(heads=st.lists(st.integers(0, 9), min_size=10, max_size=10))
def test_circles_end(heads):
    left, right = subtree_edges(np.array(heads), 10)
    assert (left <= np.arange(10)).all()
    assert (right >= np.arange(10)).all()


@given(st.lists(st.integers(0, 11)), st.sets(st.integers(0, 11)))
def test_codes_that_are_any_of_some(codes, wanted):
    found = any_of(np.array(codes, np.uint8), wanted)
    assert found.dtype == bool and found.tolist() == [code in wanted for code in codes]


@given(st.integers(0, 500), st.data())
def test_right_edges_of_a_few_tokens_are_those_of_all(seed, data):
    texts = ["He built the old mill, and she left.", "Snow.", "The plan that failed was his own idea."]
    rows = [made_up_row(text, seed, tree=True) for text in texts]
    view = ClauseView.of(parse_rows(texts, rows))
    heads = np.array(data.draw(st.lists(st.integers(0, len(view.roles) - 1), max_size=5)), np.int64)
    assert view.right_edges(heads).tolist() == view.edges[1][heads].tolist()


STRINGS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=4), max_size=12)


@given(STRINGS)
@example(["ΑΣ", "Σ"])  # letters that depend on their neighbours
@example(["A\0B", "C"])
@example(["\0"])
@example(["İX"])
def test_lower_case_is_that_of_each_string(strings):
    lowered = Coded.of(pa.array(strings, pa.string())).lowered()
    assert lowered.listed() == [text.lower() for text in strings]


@given(STRINGS, st.data())
def test_some_of_the_strings_keep_only_values_that_occur(strings, data):
    coded = Coded.of(pa.array(strings, pa.string()))
    places = data.draw(st.lists(st.integers(0, len(strings) - 1), max_size=6)) if strings else []
    some = coded.at(np.array(places, np.int64)).compacted()
    assert some.listed() == [strings[place] for place in places]
    assert set(some.values) == {strings[place] for place in places} and len(some.values) == len(
        set(some.values)
    )


@pytest.mark.parametrize("is_coded", [False, True])
def test_tokens_by_their_place(is_coded):
    texts, rows = zip(*(sentence(name, SCHEMES[0]) for name in ("S1", "S4")), strict=True)
    parses = parse_rows(texts, rows)
    if is_coded:  # what a batch has when another rule has asked for all forms before
        assert parses.forms and parses.lower
    whole = parse_rows(texts, rows).forms.listed()
    assert [parses.form_of(token) for token in range(len(whole))] == whole
    places = np.array([3, 0, 3, len(whole) - 1])
    assert parses.forms_at(places).listed() == [whole[place] for place in places]
    assert parses.lower_at(places).listed() == [whole[place].lower() for place in places]
    found = parses.holding("a", np.arange(len(whole)) != 1)
    assert found.tolist() == ["a" in word and place != 1 for place, word in enumerate(whole)]
