"""Every command of the project ends alike: a line, an exit code, a traceback for our own faults alone."""

import errno

import pytest

from augment_cli.errors import BadInputError, MissingError
from augment_cli.process.exit_codes import Command, means_no_memory
from benchmarks.reproduce import command as reproduce
from data.fetch import command as fetch
from eval import command as evaluate
from train import cli as train

NO_MEMORY = [
    MemoryError(),
    OSError(errno.ENOMEM, "Cannot allocate memory"),
    RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
    RuntimeError("std::bad_alloc"),
    RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
    RuntimeError("can't start new thread"),
    ImportError("libtorch.so: failed to map segment from shared object"),
]


def from_one(cause):
    error = RuntimeError("a worker failed")
    error.__cause__ = cause
    return error


OTHERS = [ValueError("out of memory"), RuntimeError("no room"), OSError(errno.EIO, "")]


@pytest.mark.parametrize("error", [*NO_MEMORY, *map(from_one, NO_MEMORY), *OTHERS], ids=repr)
def test_memory_that_ran_out_is_known_by_its_words(error):
    assert means_no_memory(error) == (error not in OTHERS)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (BadInputError("in.txt: \x1b[31m"), 4, "name: in.txt: \u241b[31m\n"),
        (KeyboardInterrupt(), 130, "stopped\n"),
        (MemoryError(), 6, "name: buy some (MemoryError)\n"),
        (OSError(errno.ENOSPC, "x"), 6, "name: the page: no room left"),
        (FileExistsError(errno.EEXIST, "x", "there"), 4, "name: there: a file or folder is in the way"),
    ],
)
def test_a_line_and_an_exit_code(error, code, said, capsys):
    command = Command("name", "stopped", "buy some", "the page", "all is kept")
    assert command.exit_code(error) == code
    shown = capsys.readouterr().err
    assert shown.startswith(said) and shown.count("\n") == 1


@pytest.mark.parametrize("error", [ValueError("x"), OSError("of a library"), AssertionError()])
def test_a_fault_of_our_own_is_left_to_the_command(error, capsys):
    assert Command().exit_code(error) is None
    assert capsys.readouterr().err == ""


def fails_with(error):
    def fail(*arguments, **options):
        raise error

    return fail


MAINS = {
    "eval": ("eval.subcommands.load_registry", evaluate.main, ["tasks"]),
    "train": ("train.cli._run", train.main, ["simcse"]),
    "reproduce": ("benchmarks.reproduce.command._run", reproduce.main, ["plan"]),
    "data": ("data.fetch.command.fetch", fetch.main, ["--data", "nowhere"]),
}


@pytest.mark.parametrize("name", MAINS)
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MissingError("gone"), 6),
        (RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"), 6),
        (MemoryError(), 6),
        (OSError(errno.ENOSPC, "x"), 6),
        (PermissionError(errno.EACCES, "x", "/there"), 6),
        (KeyboardInterrupt(), 130),
    ],
    ids=repr,
)
def test_every_main_ends_alike(name, error, code, monkeypatch, capsys):
    place, main, arguments = MAINS[name]
    monkeypatch.setattr(place, fails_with(error))
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == code
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1 and "Traceback" not in shown


@pytest.mark.parametrize("name", MAINS)
def test_a_bug_keeps_its_traceback(name, monkeypatch):
    place, main, arguments = MAINS[name]
    monkeypatch.setattr(place, fails_with(ZeroDivisionError("ours")))
    with pytest.raises(ZeroDivisionError):
        main(arguments)
