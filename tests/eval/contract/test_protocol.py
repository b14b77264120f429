"""What a protocol declares, is run with and returns; errors of a command's arguments."""

from typing import Annotated

import pytest
import typer

from eval.contract import Protocol, TaskScore, rejoin, scored_split
from eval.contract.arguments import call
from eval.tasks import Table, Task
from tests.helpers.commands import typed

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


@pytest.mark.parametrize("words", [["one"], ["compare", "a", "b"], ["leaks", "a", "--data", "b"], ["tasks"]])
def test_characters_that_command_a_terminal_are_marks(words):
    done = typed("eval", *words, "--no\x1b[31m\u202ex\ny")
    assert done.returncode == 2 and done.stderr.startswith("Usage: ")
    assert done.stderr.endswith("No such option: " + r"--no\x1b[31m<U+202E>x\x0ay" + "\n")


def test_the_help_has_summary_options_and_examples(capsys):
    def look(deep: Annotated[bool, typer.Option("--deep", help="further")] = False):
        """Look at it."""

    assert call(look, "any", ["--help"], "once:\n  any --deep") is None
    shown = capsys.readouterr().out
    assert (
        "Look at it." in shown and "  --deep      further" in shown and "  once:\n    any --deep\n" in shown
    )
    assert call(lambda: 3, "any", []) == 3
