"""A command's arguments: an error shows what was typed and does not obey it."""

import pytest

from eval.contract.arguments import ArgumentParser

TYPED = "--no\x1b[31m\u202ex\ny"


@pytest.fixture
def typed(capsys):
    """The exit code of a command and what it prints of an option that would command the terminal."""

    def run(command):
        with pytest.raises(SystemExit) as stop:
            command([TYPED])
        return stop.value.code, capsys.readouterr().err

    return run


def test_characters_that_command_a_terminal_are_marks(typed):
    code, shown = typed(ArgumentParser(prog="any").parse_args)
    assert code == 2
    assert shown.endswith("any: error: unrecognized arguments: --no␛[31m<U+202E>x␊y\n")


@pytest.mark.parametrize("words", [["one"], ["compare", "a", "b"], ["leaks", "a", "--data", "b"], ["tasks"]])
def test_every_command_of_eval_marks_them(typed, words):
    from eval.command import main

    code, shown = typed(lambda more: main([*words, *more]))
    assert code == 2 and "--no␛[31m<U+202E>x␊y" in shown and "\x1b" not in shown
