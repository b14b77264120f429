"""What a protocol declares, is run with and returns; errors of a command's arguments."""

import math
from typing import Annotated

import numpy as np
import pytest
import typer

from eval.contract import (
    Options,
    Protocol,
    Setting,
    TaskScore,
    caution,
    flaw,
    rejoin,
    scored_split,
    undefined,
)
from eval.contract.arguments import call
from eval.tasks import Table, Task

TASK = Task(
    name="toy",
    title="Toy",
    protocol="sts",
    file="toy.tsv.gz",
    columns=("split", "label", "a", "b"),
    counts={"train": 1, "test": 1},
    split="test",
    metric="accuracy",
    text_columns=("a", "b"),
    label_column="label",
)
TABLE = Table(
    TASK,
    {"split": ["train", "test"], "label": [" x", "y"], "a": ["one  1", " two"], "b": ["3", "4 \u00a05"]},
    "",
    True,
)


def nothing(table, encode, options, progress):
    return TaskScore(0.0, {})


@pytest.mark.parametrize(
    ("protocol", "sentences"),
    [
        (Protocol(nothing), ["one  1", " two", "3", "4 \u00a05"]),
        (Protocol(nothing, splits=scored_split, prepare=rejoin), ["two", "4 5"]),
    ],
)
def test_sentences_are_those_of_the_splits_as_they_are_handed_to_the_encoder(protocol, sentences):
    assert protocol.sentences(TABLE) == sentences
    assert TABLE.columns["a"] == ["one  1", " two"]
    assert protocol.prepared(TABLE).columns["label"] == [" x", "y"]


def test_a_setting_has_its_default_where_none_is_given():
    setting = Setting("depth", "3", "how deep")
    assert Options().value(setting) == "3"
    assert Options(values={"depth": "4"}).value(setting) == "4"


def test_an_undefined_score_is_nan_with_its_reason():
    score = undefined("accuracy", "one class only", {"folds": 3})
    assert math.isnan(score.main)
    assert math.isnan(score.scores["accuracy"])
    assert (score.settings, score.notes) == ({"folds": 3}, ["one class only"])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_broken_embeddings_are_flawed(value):
    assert "NaN or infinite" in flaw(np.array([[1.0, value]]))
    assert not flaw(np.ones((2, 2)))


def test_constant_embeddings_call_for_caution_and_one_row_does_not():
    assert caution(np.ones((2, 3))) == ["all embeddings are equal (constant encoder)"]
    assert caution(np.eye(2)) == caution(np.ones((1, 3))) == []


TYPED = "--no\x1b[31m\u202ex\ny"
SHOWN = r"--no\x1b[31m<U+202E>x\x0ay"


@pytest.fixture
def typed(capsys):
    """The exit code of a command and what it prints of an option that would command the terminal."""

    def run(command):
        with pytest.raises(SystemExit) as stop:
            command([TYPED])
        return stop.value.code, capsys.readouterr().err

    return run


def test_characters_that_command_a_terminal_are_marks(typed):
    code, shown = typed(lambda more: call(lambda: None, "any", more))
    assert code == 2
    assert shown.startswith("Usage: any") and shown.endswith("No such option: " + SHOWN + "\n")


@pytest.mark.parametrize("words", [["one"], ["compare", "a", "b"], ["leaks", "a", "--data", "b"], ["tasks"]])
def test_every_command_of_eval_marks_them(typed, words):
    from eval.command import main

    code, shown = typed(lambda more: main([*words, *more]))
    assert code == 2 and SHOWN in shown and "\x1b" not in shown


def test_the_help_has_summary_options_and_examples(capsys):
    def look(deep: Annotated[bool, typer.Option("--deep", help="further")] = False):
        """Look at it."""

    assert call(look, "any", ["--help"], "once:\n  any --deep") is None
    shown = capsys.readouterr().out
    assert (
        "Look at it." in shown and "  --deep      further" in shown and "  once:\n    any --deep\n" in shown
    )
    assert call(lambda: 3, "any", []) == 3
