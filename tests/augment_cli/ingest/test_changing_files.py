"""A file that changes while it is read is never taken in; one that is named twice is read once."""

import gzip
import os

import polars as pl
import pytest

from augment_cli import ingest as ingest_package
from augment_cli.errors import BadInputError
from augment_cli.ingest import IngestOptions, find_files, ingest
from augment_cli.store.store import Store

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


def test_the_digest_is_of_the_very_bytes_that_are_parsed(tmp_path, monkeypatch):
    path = tmp_path / "corpus.txt"
    path.write_text(BEFORE)
    (file, _), *_ = find_files([path])
    file.sha256()
    with file.open() as stream:
        stream.read()
    file.refuse_change()
    # A clock that lies.
    monkeypatch.setattr("augment_cli.ingest.streams._state", lambda path: file._found)
    path.write_text(AFTER)
    with file.open() as stream:
        stream.read()
    with pytest.raises(BadInputError, match="changed while it was read"):
        file.refuse_change()


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
        ("utf-16", "Good line\nSecond line".encode("utf-16")[:-1], ["Good line"]),
        ("utf-16-le", "Good line\nSecond line".encode("utf-16-le")[:-1], ["Good line"]),
        ("utf-16-le", "A\nba".encode("utf-16-le") + b"\x00\xd8" + "d\nB\n".encode("utf-16-le"), ["A", "B"]),
        ("utf-32-le", "A\nb".encode("utf-32-le") + b"\xff" * 4 + "\nB\n".encode("utf-32-le"), ["A", "B"]),
        ("utf-7", b"Good\nbad \xff line\nLast\n", ["Good", "Last"]),
        ("shift_jis", b"Good\nbad \x81\x20 line\nLast\n", ["Good", "Last"]),
        ("gbk", b"Good\nbad \xff\xfe line\nLast\n", ["Good", "Last"]),
        ("unicode-escape", b"Good\na \\ud800 heron\nLast\n", ["Good", "Last"]),
        ("unicode-escape", b"Good\na \\x heron\nLast\n", ["Good", "Last"]),
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
