"""Each rule of `rephrase` on a sentence of its own, and what holds for all of them."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from augment_cli.augmentations.rules.rephrase import RephraseParameters, Rephrasing
from augment_cli.contract.draws import stream_key
from augment_cli.contract.rows import Rows
from augment_cli.english.rephrasing import lexicon
from augment_cli.models import shipped_pipeline
from augment_cli.parsing.tables import parse_texts
from augment_cli.session import SAMPLE
from augment_cli.syntax.parses import ParseRows
from augment_cli.syntax.tree import words
from augment_cli.text.spans import CodePoints, apply_edits

# Rule, sentence, what the rule makes of it; and sentences that no rule may touch.
_CASES, _LEFT = (Path(__file__).parent / "rephrase.tsv").read_text("utf-8").split("\n\n")
RULES = [line.split("\t") for line in _CASES.splitlines()[1:]]
LEFT_ALONE = _LEFT.splitlines()
EVERYTHING = RephraseParameters(clauses=1.0, phrases=1.0, words=1.0)
DRAWS = 24


@cache
def pipeline() -> Any:
    import spacy

    return spacy.load(shipped_pipeline())


def rows_of(texts: list[str], row_ids: np.ndarray | None = None) -> Rows:
    array = pa.array(texts, pa.string())
    parsed = parse_texts(pipeline(), array)
    points = CodePoints.of(array)
    ids = np.arange(len(texts)) if row_ids is None else row_ids
    return Rows(ids, array, points, None, ParseRows.from_table(parsed.combine_chunks(), points))


def rephrased(rows: Rows, parameters: RephraseParameters, draw: int | None) -> list[tuple[str, list[str]]]:
    """Text and rules of each row."""
    key = None if draw is None else stream_key(0, "test", draw)
    outcome = Rephrasing(parameters, key)(rows)
    texts = apply_edits(rows.code_points, outcome.edits).to_pylist()
    return list(zip(texts, outcome.columns["rules"].to_pylist(), strict=True))


@pytest.fixture(scope="module")
def cases():
    return rows_of([text for _, text, _ in RULES] + LEFT_ALONE)


@pytest.fixture(scope="module")
def sample():
    return rows_of(SAMPLE.read_text("utf-8").splitlines()[:100])


@pytest.fixture(scope="module")
def outputs(cases):
    """What some draws make of each case: text and distinct rules."""
    made: list[set[tuple[str, tuple[str, ...]]]] = [set() for _ in range(len(cases))]
    for draw in range(DRAWS):
        for place, (text, rules) in zip(
            made, rephrased(cases, RephraseParameters(0.5, 0.5, 0.5), draw), strict=True
        ):
            place.add((text, tuple(sorted(set(rules)))))
    return made


@pytest.mark.parametrize("number", range(len(RULES)), ids=[f"{rule} {text[:20]}" for rule, text, _ in RULES])
def test_each_rule_says_this(outputs, number):
    rule, _, expected = RULES[number]
    assert (expected, (rule,)) in outputs[number]


@pytest.mark.parametrize("number", range(len(LEFT_ALONE)), ids=LEFT_ALONE)
def test_sentences_that_no_rule_may_touch(outputs, number):
    assert outputs[len(RULES) + number] == {(LEFT_ALONE[number], ())}


def test_every_rule_has_an_example():
    from augment_cli.augmentations.rules import rephrase
    from augment_cli.english.rephrasing.grammar import Grammar

    found = rephrase._places(Grammar(rows_of(["It rained."]).parses), np.zeros_like, {})
    assert {places.rule for places in found} == {rule for rule, _, _ in RULES}


def test_names_and_numbers_come_back(sample):
    """Capitalised words and figures inside a sentence, but for those that rules spell out."""
    spelled = words("% U.S. UK US World War First Second II I United Kingdom States")
    for draw in range(10):
        for before, (after, rules) in zip(
            sample.texts.to_pylist(), rephrased(sample, EVERYTHING, draw), strict=True
        ):
            all_words = {word.strip(".,;:!?()\"'").removesuffix("'s") for word in before.split()[1:]}
            names = {word for word in all_words if word[:1].isupper() and word not in spelled}
            figures = {word for word in all_words if word.isdigit() and "number_in_words" not in rules}
            assert all(word in after for word in names | figures), (before, after)
            assert after.strip() and "  " not in after.replace("  ", "", before.count("  "))


def test_rules_are_named_edit_by_edit(sample):
    outcome = Rephrasing(EVERYTHING, 7)(sample)
    counts = np.bincount(outcome.edits.rows, minlength=len(sample))
    assert [len(rules) for rules in outcome.columns["rules"].to_pylist()] == counts.tolist()
    assert len(outcome.edits.rows) > 40


def test_without_a_key_the_first_of_everything_is_taken(sample):
    once, again = (rephrased(sample, EVERYTHING, None) for _ in range(2))
    assert once == again
    other_ids = Rows(sample.row_ids + 9, sample.texts, sample.code_points, None, sample.parses)
    assert rephrased(other_ids, EVERYTHING, None) == once


def test_shares_of_zero_leave_their_kind_alone(sample):
    for draw in range(5):
        made = rephrased(sample, RephraseParameters(clauses=0, phrases=0, words=1), draw)
        assert {rule for _, rules in made for rule in rules} <= {"synonym", "person_pronoun", "year_named"}
    assert not any(rules for _, rules in rephrased(sample, RephraseParameters(0, 0, 0), 0))


def test_a_row_with_a_place_is_changed_by_any_share(sample):
    full = rephrased(sample, EVERYTHING, 3)
    least = rephrased(sample, RephraseParameters(clauses=0.001, phrases=0.001, words=0.001), 3)
    changed = [bool(rules) for _, rules in full]
    assert [bool(rules) for _, rules in least] == changed
    assert sum(len(rules) for _, rules in least) < sum(len(rules) for _, rules in full)
    assert sum(changed) > len(changed) / 3


def test_at_most_one_change_of_clauses(cases):
    both = rows_of(["In May, the bridge was painted by two men, according to Anna, but it rusted."])
    from augment_cli.augmentations.rules import rephrase
    from augment_cli.english.rephrasing.grammar import Grammar
    from augment_cli.english.rephrasing.places import CLAUSE

    for rows in (both, cases):
        found = rephrase._places(Grammar(rows.parses), np.zeros_like, {})
        clausal = {places.rule for places in found if places.kind == CLAUSE}
        for _, rules in rephrased(rows, EVERYTHING, 1):
            assert len(clausal & set(rules)) <= 1


def test_places_that_share_a_mark_do_not_overlap():
    """A clause is put in before the full stop that the phrase `as well.` takes along."""
    rows = rows_of(["When the bus arrived, the crowd cheered as well.", "She sang as well."])
    made = [rephrased(rows, EVERYTHING, draw) for draw in range(20)]
    clause = "The crowd cheered as well when the bus arrived."
    assert (clause, ["front_adverbial_to_end"]) in [(text, sorted(set(rules))) for (text, rules), _ in made]
    assert "She sang too." in {text for _, (text, _) in made}


def test_an_abbreviation_at_the_end_of_a_sentence_has_its_full_stop():
    made = {
        rephrased(rows_of(["When he came to the U.S., the crowd cheered."]), EVERYTHING, draw)[0][0]
        for draw in range(8)
    }
    assert "The crowd cheered when he came to the U.S." in made and not any(".." in text for text in made)


def test_every_phrase_is_well_formed():
    """Each entry fills as many slots as it has, says something else, and stands once in the list."""
    entries = lexicon.entries()
    assert len({entry.pattern for entry in entries}) == len(entries) > 250
    for entry in entries:
        slots = [part for part in entry.pattern if part.startswith("<")]
        for replacement in entry.replacements:
            if replacement == ("=",):
                continue
            assert [part for part in replacement if part.startswith("<")] == slots
            assert replacement != entry.pattern


def test_every_synonym_can_be_inflected():
    tags = {"NOUN": ("NN", "NNS"), "VERB": ("VB", "VBD", "VBG", "VBN", "VBZ"), "ADJ": ("JJ",), "ADV": ("RB",)}
    for (lemma, pos), others in lexicon.shipped_synonyms().items():
        assert lemma not in others
        assert all(lexicon.form(other, tag) for other in others for tag in tags[pos])


@pytest.mark.parametrize(
    ("lemma", "tag", "expected"),
    [
        ("tear down", "VBD", "tore down"),
        ("football player", "NNS", "football players"),
        ("child", "NNS", "children"),
    ],
)
def test_forms_of_several_words(lemma, tag, expected):
    assert lexicon.form(lemma, tag) == expected
