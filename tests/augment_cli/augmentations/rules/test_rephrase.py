"""Each rule of `rephrase` on a sentence of its own, and what holds for all of them."""

from functools import cache
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
from augment_cli.text.spans import CodePoints, apply_edits

# Rule, sentence, what the rule makes of it.
RULES = [
    ("final_adverbial_to_front", "He moved to Rome in 1999.", "In 1999, he moved to Rome."),
    (
        "final_adverbial_to_front",
        "The crowd cheered when the bus arrived.",
        "When the bus arrived, the crowd cheered.",
    ),
    ("front_adverbial_to_end", "In 1999, he moved to Rome.", "He moved to Rome in 1999."),
    ("source_to_end", "According to Anna, the mill burned down.", "The mill burned down, according to Anna."),
    ("however_inside", "However, the plan failed.", "The plan, however, failed."),
    ("adverb_to_front", "The mill was originally built in 1890.", "Originally, the mill was built in 1890."),
    ("adverb_inside", "Originally, the mill was built in 1890.", "The mill was originally built in 1890."),
    (
        "semicolon_to_sentences",
        "The shop closed early; the owner went home.",
        "The shop closed early. The owner went home.",
    ),
    ("place_of_existence_to_front", "There are three schools in Bern.", "In Bern, there are three schools."),
    ("passive_to_active", "The bridge was painted by two men.", "Two men painted the bridge."),
    ("active_to_passive", "Smith founded the school.", "The school was founded by Smith."),
    ("identity_turned", "Rome is the capital of Italy.", "The capital of Italy is Rome."),
    (
        "clauses_to_sentences",
        "The shop closed early, and the owner went home.",
        "The shop closed early. The owner went home.",
    ),
    (
        "but_to_although",
        "The team played well, but it lost the final.",
        "Although the team played well, it lost the final.",
    ),
    (
        "although_to_but",
        "Although the team played well, it lost the final.",
        "The team played well, but it lost the final.",
    ),
    ("because_to_so", "Because it rained, they stayed at home.", "It rained, so they stayed at home."),
    (
        "subject_repeated",
        "She opened the door and left the house.",
        "She opened the door and she left the house.",
    ),
    (
        "subject_dropped",
        "She opened the door and she left the house.",
        "She opened the door and left the house.",
    ),
    ("speaker_to_end", "Anna said that the plan failed.", "The plan failed, Anna said."),
    ("speaker_to_front", "The plan failed, he said.", "He said that the plan failed."),
    (
        "also_to_in_addition",
        "The town also has a small harbour.",
        "In addition, the town has a small harbour.",
    ),
    ("that_put_in", "She says he likes old books.", "She says that he likes old books."),
    ("of_to_possessive", "They studied the history of France.", "They studied France's history."),
    ("possessive_to_of", "They studied France's history.", "They studied the history of France."),
    ("relative_reduced", "I read a book that was written by a sailor.", "I read a book written by a sailor."),
    (
        "relative_expanded",
        "She read a book written by a sailor.",
        "She read a book that was written by a sailor.",
    ),
    ("relative_pronoun", "I like a story that ends well.", "I like a story which ends well."),
    ("relative_pronoun_dropped", "I lost the map which he drew.", "I lost the map he drew."),
    ("partners_swapped", "The shop sells tea and coffee.", "The shop sells coffee and tea."),
    ("list_reordered", "The shop sells tea, bread, and coffee.", "The shop sells tea, coffee, and bread."),
    ("located_put_in", "Zurow is a village in Poland.", "Zurow is a village located in Poland."),
    (
        "date_month_first",
        "A letter dated 21 April 1836 survives.",
        "A letter dated April 21, 1836, survives.",
    ),
    ("number_in_words", "She bought 3 tickets.", "She bought three tickets."),
    ("century", "It is a church of the 19th century.", "It is a church of the nineteenth century."),
    ("percent", "The price fell 5%.", "The price fell 5 percent."),
    ("phrase", "The trip was cancelled because of the storm.", "The trip was cancelled due to the storm."),
    ("phrase", "It was an often quoted remark.", "It was a frequently quoted remark."),
    ("synonym", "She hurried home.", "She rushed home."),
    ("date_day_first", "A letter dated April 21, 1836 survives.", "A letter dated 21 April 1836 survives."),
    ("adverbials_exchanged", "Anna was born in Rome on Monday.", "Anna was born on Monday in Rome."),
    ("that_dropped", "I know that he likes old books.", "I know he likes old books."),
    ("also_to_as_well", "The town also has a small harbour.", "The town has a small harbour as well."),
    ("phrase", "In order to win, they trained hard.", "To win, they trained hard."),
    ("phrase", "It grew from 3 to 5 metres.", "It grew between 3 and 5 metres."),
    ("synonym", "Two physicians came.", "Two doctors came."),
    (
        "passive_to_active",
        "In May, the bridge was painted by two men.",
        "In May, two men painted the bridge.",
    ),
    ("passive_to_active", "He was often defeated by Smith.", "Smith often defeated him."),
    ("partners_swapped", "She likes old films and new songs.", "She likes new songs and old films."),
]
LEFT_ALONE = [
    "He lives in Rome.",
    "They bought salt and pepper.",
    "She has a hurry-up style.",
    "He did not leave because he was ill.",
    "He was elected by secret ballot.",
    "The kings of Paris and London met.",
    "He visited the Department of Health and Education.",
    "The end of Rome was near.",
    "She said nothing.",
    "It ranked a university's hospital and medical school.",
    "They had studies of sleep conducted by nuns.",
    'A "usually open" door was there.',
    "The storm destroyed a great number of his ships.",
    "In each metal two of these qualities were interior and two were exterior.",
    "He came home (in 1999).",
    "Not only did he sing, but he danced.",
    "They waited for two hours and ten minutes.",
    "It helped a plumber and his niece.",
    "They came at once.",
    "The house was originally a mill and is a school.",
    "Few houses were originally white.",
]
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
def cases() -> Rows:
    return rows_of([text for _, text, _ in RULES] + LEFT_ALONE)


@pytest.fixture(scope="module")
def sample() -> Rows:
    return rows_of(SAMPLE.read_text("utf-8").splitlines()[:100])


@pytest.fixture(scope="module")
def outputs(cases: Rows) -> list[set[tuple[str, tuple[str, ...]]]]:
    """What some draws make of each case: text and distinct rules."""
    made: list[set[tuple[str, tuple[str, ...]]]] = [set() for _ in range(len(cases))]
    for draw in range(DRAWS):
        for place, (text, rules) in zip(
            made, rephrased(cases, RephraseParameters(0.5, 0.5, 0.5), draw), strict=True
        ):
            place.add((text, tuple(sorted(set(rules)))))
    return made


@pytest.mark.parametrize("number", range(len(RULES)), ids=[f"{rule} {text[:20]}" for rule, text, _ in RULES])
def test_each_rule_says_this(outputs: list[set[tuple[str, tuple[str, ...]]]], number: int) -> None:
    rule, _, expected = RULES[number]
    assert (expected, (rule,)) in outputs[number]


@pytest.mark.parametrize("number", range(len(LEFT_ALONE)), ids=LEFT_ALONE)
def test_sentences_that_no_rule_may_touch(
    outputs: list[set[tuple[str, tuple[str, ...]]]], number: int
) -> None:
    assert outputs[len(RULES) + number] == {(LEFT_ALONE[number], ())}


def test_every_rule_has_an_example() -> None:
    from augment_cli.augmentations.rules import rephrase
    from augment_cli.english.rephrasing.grammar import Grammar

    found = rephrase._places(Grammar(rows_of(["It rained."]).parses), np.zeros_like, {})
    assert {places.rule for places in found} == {rule for rule, _, _ in RULES}


def test_names_and_numbers_come_back(sample: Rows) -> None:
    """Capitalised words and figures inside a sentence, but for those that rules spell out."""
    spelled = {
        "%",
        "U.S.",
        "UK",
        "US",
        "World",
        "War",
        "First",
        "Second",
        "II",
        "I",
        "United",
        "Kingdom",
        "States",
    }
    for draw in range(10):
        for before, (after, rules) in zip(
            sample.texts.to_pylist(), rephrased(sample, EVERYTHING, draw), strict=True
        ):
            words = {word.strip(".,;:!?()\"'").removesuffix("'s") for word in before.split()[1:]}
            names = {word for word in words if word[:1].isupper() and word not in spelled}
            figures = {word for word in words if word.isdigit() and "number_in_words" not in rules}
            assert all(word in after for word in names | figures), (before, after)
            assert after.strip() and "  " not in after.replace("  ", "", before.count("  "))


def test_rules_are_named_edit_by_edit(sample: Rows) -> None:
    outcome = Rephrasing(EVERYTHING, 7)(sample)
    counts = np.bincount(outcome.edits.rows, minlength=len(sample))
    assert [len(rules) for rules in outcome.columns["rules"].to_pylist()] == counts.tolist()
    assert len(outcome.edits.rows) > 40


def test_without_a_key_the_first_of_everything_is_taken(sample: Rows) -> None:
    once, again = (rephrased(sample, EVERYTHING, None) for _ in range(2))
    assert once == again
    other_ids = Rows(sample.row_ids + 9, sample.texts, sample.code_points, None, sample.parses)
    assert rephrased(other_ids, EVERYTHING, None) == once


def test_shares_of_zero_leave_their_kind_alone(sample: Rows) -> None:
    for draw in range(5):
        made = rephrased(sample, RephraseParameters(clauses=0, phrases=0, words=1), draw)
        assert {rule for _, rules in made for rule in rules} == {"synonym"}
    assert not any(rules for _, rules in rephrased(sample, RephraseParameters(0, 0, 0), 0))


def test_a_row_with_a_place_is_changed_by_any_share(sample: Rows) -> None:
    full = rephrased(sample, EVERYTHING, 3)
    least = rephrased(sample, RephraseParameters(clauses=0.001, phrases=0.001, words=0.001), 3)
    changed = [bool(rules) for _, rules in full]
    assert [bool(rules) for _, rules in least] == changed
    assert sum(len(rules) for _, rules in least) < sum(len(rules) for _, rules in full)
    assert sum(changed) > len(changed) / 3


def test_at_most_one_change_of_clauses(cases: Rows) -> None:
    both = rows_of(["In May, the bridge was painted by two men, according to Anna, but it rusted."])
    from augment_cli.augmentations.rules import rephrase
    from augment_cli.english.rephrasing.grammar import Grammar
    from augment_cli.english.rephrasing.places import CLAUSE

    for rows in (both, cases):
        found = rephrase._places(Grammar(rows.parses), np.zeros_like, {})
        clausal = {places.rule for places in found if places.kind == CLAUSE}
        for _, rules in rephrased(rows, EVERYTHING, 1):
            assert len(clausal & set(rules)) <= 1


def test_places_that_share_a_mark_do_not_overlap() -> None:
    """A clause is put in before the full stop that the phrase `as well.` takes along."""
    rows = rows_of(["When the bus arrived, the crowd cheered as well.", "She sang as well."])
    made = [rephrased(rows, EVERYTHING, draw) for draw in range(20)]
    clause = "The crowd cheered as well when the bus arrived."
    assert (clause, ["front_adverbial_to_end"]) in [(text, sorted(set(rules))) for (text, rules), _ in made]
    assert "She sang too." in {text for _, (text, _) in made}


def test_an_abbreviation_at_the_end_of_a_sentence_has_its_full_stop() -> None:
    made = {
        rephrased(rows_of(["When he came to the U.S., the crowd cheered."]), EVERYTHING, draw)[0][0]
        for draw in range(8)
    }
    assert "The crowd cheered when he came to the U.S." in made and not any(".." in text for text in made)


def test_every_phrase_is_well_formed() -> None:
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


def test_every_synonym_can_be_inflected() -> None:
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
def test_forms_of_several_words(lemma: str, tag: str, expected: str) -> None:
    assert lexicon.form(lemma, tag) == expected
