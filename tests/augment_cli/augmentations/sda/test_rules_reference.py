"""PI, AA and DN as array programs against the same rules written plainly for one sentence at a time."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from augment_cli import augmentations
from augment_cli.contract.augmentation import Resources
from augment_cli.runs.tables import as_table
from augment_cli.session import SAMPLE
from augment_cli.syntax.schemes import DISTINCTIVE
from tests.helpers import reference_rules as reference
from tests.helpers.hand_parses import SENTENCES, made_up_row, parsed_rows, sentence

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


def outcome(
    name: str, parameters: dict[str, Any], texts: list[str], rows: list[dict[str, Any]]
) -> list[str | None]:
    descriptor = augmentations.get(name)
    parsed = parsed_rows(texts, rows)
    result = descriptor.prepare(descriptor.parameters(**parameters), Resources(42, 0))(parsed)
    return as_table(descriptor, parsed, result)["text"].to_pylist()


def expected(
    rule: Callable[[reference.Sentence], str | None], texts: list[str], rows: list[dict[str, Any]]
) -> list[str | None]:
    results = [rule(reference.Sentence(text, row)) for text, row in zip(texts, rows, strict=True)]
    return [None if new == text else new for new, text in zip(results, texts, strict=True)]


@rules
def test_the_sentences_parsed_by_hand(
    name: str, parameters: dict[str, Any], rule: Callable[[reference.Sentence], str | None]
) -> None:
    texts, rows = map(list, zip(*(sentence(title, "clear") for title in SENTENCES), strict=True))
    assert outcome(name, parameters, texts, rows) == expected(rule, texts, rows)


@rules
def test_thousands_of_made_up_parses(
    name: str, parameters: dict[str, Any], rule: Callable[[reference.Sentence], str | None]
) -> None:
    texts, rows = [], []
    lines = SAMPLE.read_text("utf-8").splitlines()[:400] + EXTRA * 20
    for seed in range(3):
        for place, text in enumerate(lines):
            row = made_up_row(text, seed * len(lines) + place, "clear", tree=True)
            if DISTINCTIVE.intersection(row["deps"]):  # else it might be read as Universal Dependencies
                texts.append(text)
                rows.append(row)
    found, wanted = outcome(name, parameters, texts, rows), expected(rule, texts, rows)
    wrong = [index for index in range(len(texts)) if found[index] != wanted[index]]
    assert not wrong, (texts[wrong[0]], found[wrong[0]], wanted[wrong[0]], rows[wrong[0]])
    assert np.mean([text is not None for text in found]) > 0.02  # the comparison is of something
