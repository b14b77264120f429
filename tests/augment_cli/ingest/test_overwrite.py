"""`ingest --overwrite`: a corpus that cannot be read costs nobody the one that is there."""

import pytest

import augment_cli
from augment_cli.engine.engine import Engine
from augment_cli.errors import UserError
from augment_cli.ingest import IngestOptions
from augment_cli.reports.soundness import verify
from augment_cli.session import Session
from augment_cli.store.store import Store

LINES = "".join(f"the river number {n} flows by house {n * n}\n" for n in range(60))


@pytest.fixture
def made(tmp_path, command):
    """A store of sixty sentences with a stage made from them; where it is, and what is in it."""
    (tmp_path / "in.txt").write_text(LINES)
    assert command("crop", "--corpus", "in.txt", "--part-rows", "25").returncode == 0
    return tmp_path / "store"


def files_in(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".work" not in path.parts
    }


@pytest.mark.parametrize(
    ("name", "content", "options", "code"),
    [
        ("c.csv", b"id,sentence\n1,The river flows.\n", (), 2),
        ("c.csv", b"text\nThe river flows.\n", ("--id-column", "id"), 2),
        ("c.txt", b"\xff\xfe\n\xff\n", (), 4),
        ("c.txt", b"", (), 4),
        ("c.txt", b"%PDF-1.7\n", (), 4),
        ("c.jsonl", b"{broken\n", (), 4),
        ("c.txt", b"The river flows.\n", ("--text-column", "text"), 2),
        ("c.txt", b"The river flows.\n\xff\n", ("--strict",), 4),
    ],
)
def test_what_cannot_be_read_leaves_the_store_as_it_was(command, made, name, content, options, code):
    before = files_in(made)
    (made.parent / name).write_bytes(content)
    result = command("ingest", "--corpus", name, "--overwrite", *options)
    assert result.returncode == code, result.stderr
    assert "removed" not in result.stderr and files_in(made) == before
    assert command("crop").returncode == 0 and verify(Store.open(made)) == []


def test_the_second_file_counts_as_the_first(command, made):
    before = files_in(made)
    (made.parent / "a.csv").write_text("text\n" + LINES)
    (made.parent / "b.csv").write_text("sentence\n" + LINES)
    result = command("ingest", "--corpus", "a.csv", "--corpus", "b.csv", "--overwrite")
    assert result.returncode == 2 and "b.csv: has no column 'text'" in result.stderr
    assert files_in(made) == before


def test_what_can_be_read_takes_its_place(command, made, tmp_path):
    (tmp_path / "other.txt").write_text("Another river flows.\n" * 70)
    result = command("ingest", "--corpus", "other.txt", "--overwrite")
    assert result.returncode == 0 and "--overwrite: removed corpus, rejects, crop" in result.stderr
    assert command("ingest", "--corpus", "other.txt", "--store", "beside").returncode == 0
    assert files_in(made) == files_in(tmp_path / "beside") and verify(Store.open(made)) == []


@pytest.mark.parametrize("step", ["remove", "commit"])
def test_stopped_between_the_two_it_is_one_of_them_or_none(made, tmp_path, monkeypatch, step):
    (tmp_path / "other.txt").write_text("Another river flows.\n" * 70)
    before = files_in(made)

    def stop(*arguments):
        raise KeyboardInterrupt

    def read():
        with Session(made, Engine(1), overwrite=True) as session:
            session.ingest([tmp_path / "other.txt"], IngestOptions(part_rows=25))

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Store, step, stop)
        read()
    if step == "remove":
        assert files_in(made) == before
    else:
        assert augment_cli.open_store(made).stages() == []
    read()
    assert augment_cli.open_store(made).rows == 70 and verify(Store.open(made)) == []


def test_texts_in_memory_that_are_none(made):
    before = files_in(made)
    with pytest.raises(UserError), Session(made, Engine(1), overwrite=True) as session:
        session.ingest(texts=["", " "])
    assert files_in(made) == before
