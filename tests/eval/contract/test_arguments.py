"""A command's arguments: an error shows what was typed and does not obey it."""

from typing import Annotated

import pytest
import typer

from eval.contract.arguments import call

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
