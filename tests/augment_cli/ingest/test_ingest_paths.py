"""What --corpus may name; files that change while they are read; `ingest --overwrite`."""

import gzip
import io
import os

import polars as pl
import pytest

import augment_cli
from augment_cli import ingest as ingest_package
from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError
from augment_cli.ingest import IngestOptions, find_files, ingest
from augment_cli.reports.soundness import verify
from augment_cli.session import Session
from augment_cli.store.store import Store


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    (folder / "deep").mkdir(parents=True)
    (folder / "b.txt").write_text("from b\n")
    (folder / "a.txt.gz").write_bytes(gzip.compress(b"from a\n"))
    (folder / "deep" / "c.jsonl").write_text('{"text": "from c"}\n')
    (folder / "notes.pdf").write_text("not to be read\n")
    (folder / ".hidden.txt").write_text("not to be read\n")
    return folder


def test_a_folder_is_read_at_any_depth_in_order(corpus, read_paths):
    result = read_paths(corpus)
    assert result.texts == ["from a", "from b", "from c"]
    assert result.store.read("corpus")["source"].to_pylist() == ["a.txt.gz", "b.txt", "deep/c.jsonl"]


def test_globs_repeated_names_and_an_unknown_ending_named_outright(corpus, read_paths):
    result = read_paths(corpus / "*.txt*", corpus / "b.txt", corpus / "**" / "*.jsonl")
    assert result.texts == ["from a", "from b", "from c"]
    assert read_paths(corpus / "notes.pdf").texts == ["not to be read"]


@pytest.mark.parametrize(
    ("named", "words"),
    [
        *((name, r"no such file|no \.txt") for name in ("missing.txt", "no*match", "empty")),
        *(
            (name, r"(pipe\.log|/dev/zero): is a pipe.*--corpus -")
            for name in ("pipe.log", "*.log", "/dev/zero")
        ),
    ],
)
def test_what_names_nothing_or_a_pipe_or_device_is_an_error(tmp_path, monkeypatch, named, words):
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe.log")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInputError, match=words):
        find_files([named])


def test_standard_input_is_spooled_and_read(tmp_path, monkeypatch):
    store = Store.create(tmp_path / "store")
    for _ in range(2):  # the same input again changes nothing
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"one\n\xff\ntwo\n")))
        with store.lock():
            report = ingest(store, ["-"], IngestOptions())
    assert (report.kept, report.rejected) == (2, 1)
    assert store.read("corpus")["source"].to_pylist() == ["stdin", "stdin"]
    assert not (store.work / "stdin").exists()


def test_a_file_name_that_is_no_utf8(tmp_path, read_paths):
    path = tmp_path / os.fsdecode(b"caf\xe9.txt")
    path.write_text("one\n")
    assert read_paths(path).store.read("corpus")["source"].to_pylist() == ["caf\ufffd.txt"]


BEFORE = "".join(f"sentence number {n} of the first file\n" for n in range(2000))
AFTER = BEFORE.replace("first", "other")


def write(path, text):
    if path.suffix == ".parquet":
        pl.DataFrame({"text": text.splitlines()}).write_parquet(path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
    elif path.suffix == ".csv":
        path.write_text("text\n" + text)
    else:
        path.write_text(text)


def replaced(path, how):
    """The file with other bytes: written over, renamed over, or with its times put back."""
    state = path.stat()
    if how == "rename":
        other = path.with_name("other" + path.suffix)
        write(other, AFTER)
        other.rename(path)
    else:
        write(path, AFTER)
    if how == "times":
        os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))


@pytest.mark.parametrize("how", ["write", "rename", "times"])
@pytest.mark.parametrize("ending", ["txt", "txt.gz", "csv", "parquet"])
@pytest.mark.parametrize("moment", ["before its lines", "after its lines"])
def test_a_file_that_changes_between_digest_and_lines_is_refused(tmp_path, monkeypatch, how, ending, moment):
    path = tmp_path / f"corpus.{ending}"
    write(path, BEFORE)
    read_file = ingest_package.read_file

    def disturbed(file, *more):
        if moment == "before its lines":
            replaced(path, how)
        yield from read_file(file, *more)
        if moment == "after its lines":
            replaced(path, how)

    monkeypatch.setattr(ingest_package, "read_file", disturbed)
    store = Store.create(tmp_path / "store")
    options = IngestOptions(text_column="text" if ending in ("csv", "parquet") else None)
    with pytest.raises(BadInputError, match="changed while it was read"):
        ingest(store, [path], options)
    assert not (tmp_path / "store" / "manifest.json").exists()
    monkeypatch.undo()
    assert ingest(store, [path], options).kept == 2000
    assert all("other" in text for text in store.read("corpus")["text"].to_pylist())


def test_one_file_under_several_names_is_read_once(tmp_path):
    folder = tmp_path / "d"
    folder.mkdir()
    text = tmp_path / "a.txt"
    text.write_text("only this sentence\n")
    (folder / "link.txt").symlink_to(text)
    (folder / "up").symlink_to(tmp_path)
    (folder / "hard.txt").hardlink_to(text)
    for corpus in (
        [text, folder / ".." / "a.txt"],
        [text, folder / "link.txt"],
        [folder],
        [tmp_path / "**" / "*.txt"],
    ):
        store = Store.create(tmp_path / f"store-{len(list(tmp_path.iterdir()))}")
        report = ingest(store, corpus)
        assert store.read("corpus")["text"].to_pylist() == ["only this sentence"], corpus
        assert report.left_out and all(" is " in one for one in report.left_out)
    (tmp_path / "b.txt").write_text("only this sentence\n")  # an equal file is another file
    assert len(find_files([text, tmp_path / "b.txt"])) == 2


@pytest.mark.parametrize(
    ("encoding", "data", "kept"),
    [
        ("utf-8-sig", b"\xef\xbb\xbfGood line\nbad \xff line\nLast\n", ["Good line", "Last"]),
        ("utf-16-le", "Good line\nSecond line".encode("utf-16-le")[:-1], ["Good line"]),
        ("utf-16-le", "A\nba".encode("utf-16-le") + b"\x00\xd8" + "d\nB\n".encode("utf-16-le"), ["A", "B"]),
        ("utf-7", b"Good\nbad \xff line\nLast\n", ["Good", "Last"]),
        ("shift_jis", b"Good\nbad \x81\x20 line\nLast\n", ["Good", "Last"]),
        ("unicode-escape", b"Good\na \\ud800 heron\nLast\n", ["Good", "Last"]),
        ("hz", b"Good\na heron ~x waits\nLast\n", ["Good", "Last"]),
        ("cp1252", b"Good\nbad \x81 line\nLast\n", ["Good", "Last"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bytes_that_cannot_be_decoded_make_a_reject(read_bytes, encoding, data, kept):
    result = read_bytes(data, encoding=encoding)
    assert result.texts == kept
    assert [reason for _, reason in result.reasons] == ["not_utf8"]
    assert not any("\ufffd" in text for text in result.texts)


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
