"""Ctrl-C before and after the work; stages that are named and not there."""

import signal

import pytest

import augment_cli
from augment_cli import augmentations
from augment_cli.cli import main
from augment_cli.errors import UsageError
from augment_cli.runs.run import make_run
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["una", "--fit", "frequnet"], "--fit frequnet: store has no such fit; it has frequent, the unnamed"),
        (["una", "--fit", "frequnet", "--dry-run"], "it has frequent, the unnamed one (leave --fit out)"),
        (["pi", "--parses", "large"], "--parses large: store has no such parses; it has none. Make it with"),
        (["synonym", "--parses", "large"], "`augment-cli parse --name large --store store`"),
    ],
)
def test_a_misspelt_name_is_an_error_that_lists_what_is_there(command, small, arguments, message):
    assert command("ingest", "--corpus", "in.txt").returncode == 0
    assert command("fit").returncode == 0 and command("fit", "--name", "frequent").returncode == 0
    before = Store.open(small / "store").stages()
    result = command(*arguments, "--name", "new")
    assert result.returncode == 2 and message in result.stderr
    assert Store.open(small / "store").stages() == before


def test_from_python_too(store):
    with pytest.raises(UsageError, match="has no such fit"):
        augment_cli.run("una", store.path, fit="frequnet", jobs=1)
    with pytest.raises(UsageError, match="has no such parses"):
        augment_cli.augment(["It rains."], "pi", store=store, parses="large")
    make_run("una", fit="frequnet").check_named(store, ["terms-frequnet"])
