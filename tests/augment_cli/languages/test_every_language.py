"""Every registered language: its facts make sense, and its rules answer for any parse."""

import importlib
from pathlib import Path

import numpy as np
import pytest

from augment_cli import augmentations, languages
from augment_cli.contract.augmentation import Resources
from augment_cli.contract.parameters import declared
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Rows
from augment_cli.languages import language_of, languages_of, registered
from augment_cli.runs.tables import as_table
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.parses import ParseRows
from tests.helpers.hand_parses import made_up_row, parsed_rows

WITH_RULES = ("aa", "dn")
LANGUAGES = list(registered().values())
TEXTS = ["A heron waits", "the boats don 't stop", "", "her red coat , was ; lost", "他 不 会 来 。"]


def test_a_grammar_is_a_language():
    folder = Path(languages.__file__).parent
    names = [path.parent.name for path in sorted(folder.glob("*/grammar.py"))]
    modules = [importlib.import_module(f"augment_cli.{name}.grammar") for name in names]
    found = [getattr(module, name.upper()) for module, name in zip(modules, names, strict=True)]
    assert found == LANGUAGES and {"en", "zh"} <= registered().keys()
    assert len(registered()) == len(names)  # no code is there twice


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_the_facts_of_a_language(language):
    assert len(language.code) == 2 and language.code.islower() and language.name.istitle()
    marks = (language.comma, language.opening, language.closing, language.exclamation)
    assert all(mark and not any(map(str.isalnum, mark)) for mark in marks)
    edges = [edge for ends in language.script for edge in ends]
    assert edges == sorted(edges) and all(edge > 0x7F for edge in edges)
    for name in WITH_RULES:
        rules, descriptor = getattr(language, name), augmentations.get(name)
        modes = modes_of(descriptor)
        assert rules.keys() <= set(modes) and (not rules or "faithful" in rules)
        assert (language.code in descriptor.languages) == bool(rules)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
@pytest.mark.parametrize("name", ["pi", *WITH_RULES])
def test_rules_answer_for_any_parse(language, name):
    descriptor = augmentations.get(name)
    if descriptor.languages and language.code not in descriptor.languages:
        pytest.skip(f"{language.name} has no rules for {name}")
    rows = parsed_rows(TEXTS * 8, [made_up_row(text, seed) for seed, text in enumerate(TEXTS * 8)])
    parses = ParseRows(**{**vars_of(rows.parses), "languages": (language,)})
    alone = Rows(rows.row_ids, rows.texts, rows.code_points, parses=parses)
    for mode in modes_of(descriptor):
        prepared = descriptor.prepare(descriptor.parameters(mode=mode), Resources(42, 0))
        made = as_table(descriptor, alone, prepared(alone)).to_pylist()
        for row in made:
            assert (row["text"] is None) == (row["reason"] in set(Reason)) == (row["rule"] is None)


def modes_of(descriptor):
    return next(item for item in declared(descriptor.parameters) if item.name == "mode").metadata["choices"]


def vars_of(parses):
    return {name: getattr(parses, name) for name in ParseRows.__dataclass_fields__}


@pytest.mark.parametrize(
    ("pipeline", "code"),
    [
        ("en_core_web_sm", "en"),
        ("zh_core_web_sm", "en"),  # of the rows that its script does not tell
        ("xx_sent_ud_sm", "en"),
        ("sv_core_news_sm", "sv"),
    ],
)
def test_the_language_of_a_pipeline(pipeline, code):
    assert language_of(pipeline).code == code
    told = [language.code for language in languages_of(pipeline)]
    assert told[-1] == code and "zh" in told[:-1]


def test_rows_are_told_apart_by_their_script_and_only_there():
    rows = parsed_rows(TEXTS, [made_up_row(text, 0) for text in TEXTS])
    parses = ParseRows(**{**vars_of(rows.parses), "languages": languages_of("sv_core_news_sm")})
    view = ClauseView.of(parses)
    told = {language.code: np.flatnonzero(mine).tolist() for language, mine in view.by_language}
    assert told["zh"] == [4] and told["sv"] == [0, 1, 2, 3]
    assert view.in_language(lambda language: not language.has_spaces).tolist() == [False] * 4 + [True]
