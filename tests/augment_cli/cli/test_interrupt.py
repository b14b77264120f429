"""Ctrl-C before and after the work: while libraries are loaded, and while the interpreter ends."""

import signal

import pytest

from augment_cli import augmentations
from augment_cli.cli import main
from augment_cli.store.store import Store


def interrupt(*arguments, **options):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("place", "arguments"),
    [
        ("augment_cli.cli.load_commands", ["status"]),
        ("augment_cli.cli.application.AugmentationGroup.make_command", ["una"]),
        ("augment_cli.store.store.Store.open", ["status"]),
        ("augment_cli.session.base.CorpusSteps.ingest", ["una"]),
    ],
)
def test_whenever_it_comes_it_is_130_and_a_line(command, monkeypatch, place, arguments):
    assert augmentations.names() and Store  # loaded, so that they can be replaced
    monkeypatch.setattr(place, interrupt)
    result = command(*arguments)
    assert result.returncode == 130, result.stderr
    assert "Interrupted. Finished parts are kept" in result.stderr and "Traceback" not in result.stderr


def test_none_is_taken_once_the_command_has_ended(monkeypatch):
    monkeypatch.setattr("sys.argv", ["augment-cli", "--version"])
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(SystemExit):
            main()
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
