"""Advice in messages leads somewhere: its commands run, its options are there and do what is said."""

import re
import shlex

import pytest

from augment_cli.store.files import explain
from augment_cli.store.store import Store
from tests.helpers.commands import LINES


def commands_in(text: str) -> list[list[str]]:
    return [shlex.split(line)[1:] for line in re.findall(r"`(augment-cli [^`]+)`", text)]


@pytest.mark.parametrize("allowed", ["0.5", "0"])
def test_the_reject_note_names_the_store_and_its_command_works(command, tmp_path, allowed):
    (tmp_path / "in.txt").write_bytes(b"\n".join([*(line.encode() for line in LINES), b"\xff", b""]))
    result = command("ingest", "--corpus", "in.txt", "--store", "news", "--max-rejects", allowed)
    assert result.returncode == (0 if allowed == "0.5" else 3)
    advised = commands_in(result.stderr)
    assert advised and all(command(*arguments).returncode == 0 for arguments in advised)


def test_a_changed_corpus_is_told_what_can_be_done(command, small):
    assert command("una", "--corpus", "in.txt").returncode == 0
    (small / "in.txt").write_text("\n".join(LINES[1:]))
    result = command("ingest", "--corpus", "in.txt")
    assert result.returncode == 5 and "--overwrite" in result.stderr and "another --store" in result.stderr
    assert "--name" not in result.stderr and "remove corpus" not in result.stderr
    assert command("ingest", "--corpus", "in.txt", "--overwrite").returncode == 0


@pytest.mark.parametrize(
    ("first", "then", "advised"),
    [
        ("una --radius 3 --avoid none", "una --radius 3", "--avoid none"),
        ("una --radius 3 --background none", "una --radius 4", "--background none --radius 3"),
        ("una --radius 3 --seed 7", "una --radius 3", "--seed 7"),
        ("una --radius 3 --surface in-place", "una --radius 3", "--surface in-place"),
        ("una --radius 3 --include-self", "una --radius 3", "--include-self"),
        ("fit --min-df 2", "fit", "--min-df 2"),
    ],
)
def test_a_refusal_names_the_options_that_the_stage_was_made_with(command, small, first, then, advised):
    assert command(*first.split(), "--corpus", "in.txt").returncode == 0
    refused = command(*then.split())
    assert refused.returncode == 5 and "nothing was changed" in refused.stderr
    options = re.search(r"Use the same settings \((.*?)\)", refused.stderr)[1]
    assert set(advised.split()) <= set(options.split())
    again = command(*then.split(), *options.split())  # of an option given twice, the last counts
    assert again.returncode == 0, again.stderr


@pytest.mark.parametrize("arguments", [["una"], ["pack"]])
def test_a_name_that_is_taken_is_not_to_be_removed(command, small, arguments):
    assert command("una", "--corpus", "in.txt").returncode == 0
    result = command(*arguments, "--name", "corpus")
    assert result.returncode == 5 and "the name is taken by a stage that 'corpus' made" in result.stderr
    assert "remove" not in result.stderr and "Choose another --name" in result.stderr


def test_an_input_that_cannot_be_read_is_not_to_be_made_writable(command, tmp_path, monkeypatch):
    (tmp_path / "in.txt").write_text("x")
    monkeypatch.setattr("os.access", lambda path, mode: False)
    known = explain(PermissionError(13, "Permission denied", str(tmp_path / "in.txt")))
    assert known.exit_code == 4 and "chmod u+r" in str(known) and "writable" not in str(known)
    monkeypatch.setattr("os.access", lambda path, mode: True)
    known = explain(PermissionError(13, "Permission denied", str(tmp_path / "in.txt")))
    assert known.exit_code == 6 and "writable" in str(known)


def test_a_quotation_mark_that_is_never_closed_suggests_no_quoting(command, tmp_path):
    rows = [f"{line}" for line in LINES]
    rows[30] = '"' + rows[30]
    (tmp_path / "in.csv").write_text("\n".join(["text", *rows, ""]))
    result = command("ingest", "--corpus", "in.csv")
    assert result.returncode == 3 and "--no-quoting" in result.stderr and "fetch" not in result.stderr
    assert command("ingest", "--corpus", "in.csv", "--no-quoting", "--overwrite").returncode == 0
    assert Store.open(tmp_path / "store").rows == 60


def test_latin_1_is_named_in_words_with_its_remedy(command, tmp_path):
    texts = [f"le café numéro {n}" for n in range(20)]
    (tmp_path / "in.txt").write_text("\n".join(texts), "latin-1")
    result = command("ingest", "--corpus", "in.txt")
    assert result.returncode == 4 and "20 lines not_utf8" in result.stderr and "{" not in result.stderr
    assert "--encoding, such as latin-1" in result.stderr
    assert command("ingest", "--corpus", "in.txt", "--encoding", "latin-1").returncode == 0
    assert Store.open(tmp_path / "store").read("corpus")["text"].to_pylist() == texts
    assert command("ingest", "--corpus", "in.txt", "--encoding", "latin-99").returncode == 2


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("nothing://key:hidden@bucket/in.txt?signature=hidden", "no installed package knows addresses"),
        ("s3://?signature=hidden", "names no bucket"),
        ("s3://key:hidden@bucket/in.txt?signature=hidden", "unknown option 'signature'"),
    ],
)
def test_an_address_that_makes_no_sense(command, address, said):
    result = command("ingest", "--corpus", address)
    assert result.returncode == 2 and said in result.stderr and len(result.stderr.splitlines()) == 1
    assert "hidden" not in result.stdout + result.stderr


def test_1_percent_is_not_advised_against_itself(command, small):
    result = command("una", "--corpus", "in.txt", "--radius", "40%", "--background", "none")
    assert "the window covers" in result.stderr and "--radius 1%" not in result.stderr
    result = command("una", "--radius", "4000", "--background", "none", "--name", "wide")
    assert "the window covers" in result.stderr and "--radius 1% grows" in result.stderr


def test_a_recipe_file_that_is_not_there_is_called_a_file(command):
    result = command("run", "mine.toml")
    assert result.returncode == 2 and "mine.toml: no such file" in result.stderr
    assert "ending in .toml" not in result.stderr
    assert "ending in .toml" in command("run", "mine").stderr
