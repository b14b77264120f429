"""Families of augmentations: rules against slow counterparts, each rule of `rephrase`, random sentences."""

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from augment_cli import augment, augmentations
from augment_cli.augmentations.rules import rephrase
from augment_cli.augmentations.rules.rephrase import RephraseParameters, Rephrasing
from augment_cli.contract.augmentation import Resources
from augment_cli.contract.draws import stream_key
from augment_cli.contract.rows import Rows
from augment_cli.english.clauses.constituents import Constituents
from augment_cli.english.clauses.verb_tense import FIRST, FUTURE, OTHER, PAST, PRESENT, THIRD, in_tense
from augment_cli.english.rephrasing import CLAUSE, lexicon
from augment_cli.english.rephrasing.grammar import Grammar
from augment_cli.errors import UsageError
from augment_cli.models import shipped_pipeline
from augment_cli.parsing.stage import parse_texts
from augment_cli.runs.tables import as_table
from augment_cli.session import SAMPLE
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.parses import ParseRows
from augment_cli.syntax.schemes import DISTINCTIVE
from augment_cli.syntax.tree import VerbForm, words
from augment_cli.text.spans import CodePoints, apply_edits
from tests.helpers import reference_rules as reference
from tests.helpers.hand_parses import SENTENCES, made_up_row, parse_rows, parsed_rows, sentence

LINES = SAMPLE.read_text("utf-8").splitlines()


def test_never_its_own_text(tmp_path):
    file = tmp_path / "two.txt"
    file.write_text("The heron waits.\n\nThe river flows on.\nThe heron waits.\n", "utf-8")
    texts = ["The heron waits.", "The river flows on."] * 20
    other = dict([texts[:2], texts[1::-1]])
    made = augment(texts, "random-sentence", sentences=str(file))["text"].to_pylist()
    assert made == [other[text] for text in texts]
    drawn = set(augment(["A boat."] * 40, "random-sentence", sentences=str(file))["text"].to_pylist())
    assert drawn == set(texts)


def test_some_rows_get_a_paragraph_of_one_to_several_sentences(tmp_path):
    file = tmp_path / "sentences.txt"
    file.write_text("".join(f"S{number}.\n" for number in range(50)), "utf-8")
    texts = [*["A boat."] * 600, "", "S1."]
    made = augment(texts, "random-sentence", sentences=str(file), most=3, share=0.5)
    found = [text.split() for text in made["text"].to_pylist()[:600] if text]
    assert 250 < len(found) < 350
    assert np.bincount([len(text) for text in found]).tolist()[0] == 0
    assert min(np.bincount([len(text) for text in found])[1:]) > 60 and max(map(len, found)) == 3
    assert len({sentence for text in found for sentence in text}) == 50
    reasons = made.filter(pc.is_null(made["text"]))["reason"].to_pylist()
    assert set(reasons) <= {"no_position_drawn", "no_token"}


def test_sentences_with_some_words_are_left_out(tmp_path):
    file = tmp_path / "sentences.txt"
    file.write_text("It isn't.\nIt is not.\nNot here.\nA knot.\nNoting it.\nIt won’t.\n", "utf-8")
    made = augment(["A boat."] * 60, "random-sentence", sentences=str(file), without="not,n't,n’t")
    assert set(made["text"].to_pylist()) == {"A knot.", "Noting it."}


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"One line.\nOne line.\n", "1 different sentences"), (b"\xff\xfe\n", "a UTF-8 file"), (None, "read")],
)
def test_a_file_that_will_not_do(tmp_path, content, message):
    file = tmp_path / "given.txt"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        augment(["A boat."], "random-sentence", sentences=str(file))


NO_WEIGHTS = {"clause_weight": 0.0, "subject_weight": 0.0, "repeat_weight": 0.0, "final_weight": 0.0}
RULES: list[tuple[str, dict[str, Any], Callable[[reference.Sentence], str | None]]] = [
    ("pi", NO_WEIGHTS | {"clause_weight": 1.0}, reference.clause_comma),
    ("pi", NO_WEIGHTS | {"subject_weight": 1.0, "quote_share": 0.0}, reference.subject_comma),
    ("pi", NO_WEIGHTS | {"subject_weight": 1.0, "quote_share": 1.0}, reference.subject_quotes),
    ("pi", NO_WEIGHTS | {"repeat_weight": 1.0}, reference.repeat),
    ("pi", NO_WEIGHTS | {"final_weight": 1.0}, reference.exclaim),
    ("aa", {"mode": "paper", "auxiliaries": "have to"}, reference.auxiliary),
    ("dn", {"mode": "paper"}, reference.double_negation),
]
EXTRA = [
    "Nobody isn't not here.",
    "No cats can't never sing (or so they say).",
    "WE'LL GO, NOT HIM.",
    "No",
    '"Why?"',
]
rules = pytest.mark.parametrize(
    ("name", "parameters", "rule"), RULES, ids=[rule.__name__ for _, _, rule in RULES]
)


def augmented(
    name: str, texts: list[str], rows: list[dict[str, Any]], seed: int = 42, **parameters: Any
) -> list[dict[str, Any]]:
    descriptor = augmentations.get(name)
    parsed = parsed_rows(texts, rows)
    result = descriptor.prepare(descriptor.parameters(**parameters), Resources(seed, 0))(parsed)
    return as_table(descriptor, parsed, result).to_pylist()


def texts_of(
    name: str, parameters: dict[str, Any], texts: list[str], rows: list[dict[str, Any]]
) -> list[str]:
    return [row["text"] for row in augmented(name, texts, rows, **parameters)]


def expected(
    rule: Callable[[reference.Sentence], str | None], texts: list[str], rows: list[dict[str, Any]]
) -> list[str | None]:
    results = [rule(reference.Sentence(text, row)) for text, row in zip(texts, rows, strict=True)]
    return [None if new == text else new for new, text in zip(results, texts, strict=True)]


@rules
def test_the_sentences_parsed_by_hand(name, parameters, rule):
    texts, rows = map(list, zip(*(sentence(title, "clear") for title in SENTENCES), strict=True))
    assert texts_of(name, parameters, texts, rows) == expected(rule, texts, rows)


@rules
def test_thousands_of_made_up_parses(name, parameters, rule):
    texts, rows = [], []
    lines = LINES[:400] + EXTRA * 20
    for seed in range(3):
        for place, text in enumerate(lines):
            row = made_up_row(text, seed * len(lines) + place, "clear", tree=True)
            if DISTINCTIVE.intersection(row["deps"]):  # else it might be read as Universal Dependencies
                texts.append(text)
                rows.append(row)
    found, wanted = texts_of(name, parameters, texts, rows), expected(rule, texts, rows)
    wrong = [index for index in range(len(texts)) if found[index] != wanted[index]]
    assert not wrong, (texts[wrong[0]], found[wrong[0]], wanted[wrong[0]], rows[wrong[0]])
    assert np.mean([text is not None for text in found]) > 0.02  # the comparison is of something


def made_up(name: str, **parameters: Any) -> list[tuple[str, str]]:
    texts = [text for text in LINES[:500] for _ in range(3)]
    rows = [made_up_row(text, seed, tree=True) for text in LINES[:500] for seed in range(3)]
    results = augmented(name, texts, rows, **parameters)
    return [(text, row["text"]) for text, row in zip(texts, results, strict=True) if row["text"]]


def words_in(text: str) -> list[str]:
    return re.findall(r"\w+(?:'\w+)?", text.lower())


def test_yoda_order_keeps_every_word_and_adds_commas():
    pairs = made_up("yoda")
    assert len(pairs) > 50
    for original, result in pairs:
        assert Counter(words_in(result)) == Counter(words_in(original))
        assert words_in(result) != words_in(original)
        added = Counter(result.lower()) - Counter(original.lower())
        assert added.keys() <= {",", " "}
        assert added[","] <= 2


@pytest.mark.parametrize(
    ("word", "form", "person", "tense", "negation", "expected"),
    [
        ("goes", VerbForm.PRESENT_THIRD, THIRD, PAST, "", ("went", "")),
        ("Go", VerbForm.PRESENT, OTHER, PAST, "", ("Went", "")),
        ("went", VerbForm.PAST, THIRD, PRESENT, "", ("goes", "")),
        ("went", VerbForm.PAST, OTHER, PRESENT, "", ("go", "")),
        ("went", VerbForm.PAST, FIRST, FUTURE, "", ("will go", "")),
        ("was", VerbForm.PAST, FIRST, PRESENT, "", ("am", "")),
        ("is", VerbForm.PRESENT_THIRD, THIRD, FUTURE, "not", ("will", " be")),
        ("did", VerbForm.PAST, THIRD, FUTURE, "n't", ("wo", "")),
        ("'s", VerbForm.PRESENT_THIRD, THIRD, PAST, "", (" was", "")),
        ("'d", VerbForm.PAST, OTHER, PRESENT, "", None),
        ("can", VerbForm.MODAL, OTHER, PAST, "", ("could", "")),
        ("could", VerbForm.MODAL, OTHER, PRESENT, "n't", ("ca", "")),
        ("can", VerbForm.MODAL, OTHER, FUTURE, "", ("will be able to", "")),
        ("can", VerbForm.MODAL, OTHER, FUTURE, "not", None),
        ("must", VerbForm.MODAL, OTHER, PAST, "not", None),
        ("mill", VerbForm.PAST, THIRD, PRESENT, "", None),
        ("went", VerbForm.PAST, THIRD, PAST, "", None),
    ],
)
def test_one_verb_in_another_tense(word, form, person, tense, negation, expected):
    is_be = word.lower() in {"was", "is", "'s"}
    assert in_tense(word, form, "", is_be, person, tense, negation) == expected


@pytest.mark.parametrize("seed", range(3))
def test_whole_and_trimmed_spans(seed):
    """Prefix sums and running minima against counting and stepping through each span."""
    texts = [*LINES[:60], 'He (the "old" [one]) said: "no".', '"Yes", he said – (and left).', "... ( ) . ."]
    parses = parse_rows(texts, [made_up_row(text, seed) for text in texts])
    spans = Constituents(ClauseView.of(parses))
    forms = [parses.forms.values[code] for code in parses.forms.codes.tolist()]
    generator = np.random.default_rng(seed)
    rows = generator.integers(0, len(texts), 400)
    bounds = parses.offsets
    left = np.array([generator.integers(bounds[row], bounds[row + 1]) for row in rows])
    right = np.array(
        [generator.integers(place, bounds[row + 1]) for place, row in zip(left, rows, strict=True)]
    )

    pairs = [("(", ")"), ("[", "]"), ("{", "}")]

    def whole(first: int, last: int) -> bool:
        inside = forms[first : last + 1]
        opening = sum(form == pair[0] for form in inside for pair in pairs)
        closing = sum(form == pair[1] for form in inside for pair in pairs)
        return opening == closing and inside.count('"') % 2 == 0

    expected = [whole(first, last) for first, last in zip(left, right, strict=True)]
    assert spans.are_whole(left, right).tolist() == expected

    trimmed_left, trimmed_right = spans.trimmed(left, right)
    for first, last, new_first, new_last in zip(left, right, trimmed_left, trimmed_right, strict=True):
        while first <= last and forms[first] in ",;:-–—.…" and spans.is_mark[first]:
            first += 1
        while last >= first and forms[last] in ",;:-–—.…" and spans.is_mark[last]:
            last -= 1
        assert (first > last) == (new_first > new_last)
        if first <= last:
            assert (new_first, new_last) == (first, last)


# Rule, sentence, what the rule makes of it; and sentences that no rule may touch.
_CASES, _LEFT = (Path(__file__).parent / "rephrase.tsv").read_text("utf-8").split("\n\n")
RULES_OF_REPHRASE = [line.split("\t") for line in _CASES.splitlines()[1:]]
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
    key = None if draw is None else stream_key(0, "test", draw)
    outcome = Rephrasing(parameters, key)(rows)
    texts = apply_edits(rows.code_points, outcome.edits).to_pylist()
    return list(zip(texts, outcome.columns["rules"].to_pylist(), strict=True))


@pytest.fixture(scope="module")
def cases():
    return rows_of([text for _, text, _ in RULES_OF_REPHRASE] + LEFT_ALONE)


@pytest.fixture(scope="module")
def sample():
    return rows_of(LINES[:100])


@pytest.fixture(scope="module")
def outputs(cases):
    made: list[set[tuple[str, tuple[str, ...]]]] = [set() for _ in range(len(cases))]
    for draw in range(DRAWS):
        some = rephrased(cases, RephraseParameters(0.5, 0.5, 0.5), draw)
        for place, (text, rules) in zip(made, some, strict=True):
            place.add((text, tuple(sorted(set(rules)))))
    return made


def test_each_rule_says_this(outputs):
    made = zip(RULES_OF_REPHRASE, outputs, strict=False)
    assert not [(rule, text) for (rule, text, wanted), some in made if (wanted, (rule,)) not in some]


def test_sentences_that_no_rule_may_touch(outputs):
    assert outputs[len(RULES_OF_REPHRASE) :] == [{(text, ())} for text in LEFT_ALONE]


def test_every_rule_has_an_example():
    found = rephrase._places(Grammar(rows_of(["It rained."]).parses), np.zeros_like, {})
    assert {places.rule for places in found} == {rule for rule, _, _ in RULES_OF_REPHRASE}


def test_names_and_numbers_come_back(sample):
    """Capitalised words and figures inside a sentence, but for those that rules spell out."""
    spelled = words("% U.S. UK US World War First Second II I United Kingdom States")
    for draw in range(10):
        made = rephrased(sample, EVERYTHING, draw)
        for before, (after, rules) in zip(sample.texts.to_pylist(), made, strict=True):
            all_words = {word.strip(".,;:!?()\"'").removesuffix("'s") for word in before.split()[1:]}
            names = {word for word in all_words if word[:1].isupper() and word not in spelled}
            figures = {word for word in all_words if word.isdigit() and "number_in_words" not in rules}
            assert all(word in after for word in names | figures), (before, after)
            assert after.strip() and "  " not in after.replace("  ", "", before.count("  "))


def test_without_a_key_the_first_of_everything_is_taken(sample):
    once, again = (rephrased(sample, EVERYTHING, None) for _ in range(2))
    assert once == again
    other_ids = Rows(sample.row_ids + 9, sample.texts, sample.code_points, None, sample.parses)
    assert rephrased(other_ids, EVERYTHING, None) == once


def test_shares_of_zero_leave_their_kind_alone(sample):
    for draw in range(5):
        made = rephrased(sample, RephraseParameters(clauses=0, phrases=0, words=1), draw)
        small = {"synonym", "person_pronoun", "year_named", "semicolon_to_comma"}
        rules = {rule for _, own in made for rule in own}
        assert {rule for rule in rules if not rule.startswith("comma_")} <= small
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


def test_forms_of_several_words():
    assert lexicon.form("tear down", "VBD") == "tore down"
    assert lexicon.form("football player", "NNS") == "football players"
