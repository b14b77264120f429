"""What --corpus may name: files, folders, globs, standard input; and where row names come from."""

import gzip
import io
import os

import pytest

from augment_cli.errors import BadInputError, MixError
from augment_cli.ingest import IngestOptions, find_files, ingest
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


@pytest.mark.parametrize("name", ["missing.txt", "no*match", "empty"])
def test_what_names_nothing_is_an_error(tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInputError, match=r"no such file|no \.txt"):
        find_files([tmp_path / name])


@pytest.mark.parametrize("named", ["pipe.txt", "*.txt", "/dev/zero"])
def test_a_pipe_or_device_is_refused_instead_of_waited_for(tmp_path, monkeypatch, named):
    os.mkfifo(tmp_path / "pipe.txt")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInputError, match=r"(pipe\.txt|/dev/zero): is a pipe.*--corpus -"):
        find_files([named])


def test_parts_do_not_depend_on_where_corpus_and_store_lie(corpus, tmp_path, read_paths):
    elsewhere = tmp_path / "some" / "where" / "else"
    elsewhere.parent.mkdir(parents=True)
    first = read_paths(corpus)
    corpus.rename(elsewhere)
    second = read_paths(elsewhere)
    for stage in ("corpus", "rejects"):
        assert first.store.stage(stage).digest == second.store.stage(stage).digest
    assert first.store.stage("corpus").settings == second.store.stage("corpus").settings


def test_standard_input_is_spooled_and_read(tmp_path, monkeypatch):
    store = Store.create(tmp_path / "store")
    for _ in range(2):  # the same input again changes nothing
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"one\n\xff\ntwo\n")))
        with store.lock():
            report = ingest(store, ["-"], IngestOptions())
    assert (report.kept, report.rejected) == (2, 1)
    assert store.read("corpus")["source"].to_pylist() == ["stdin", "stdin"]
    assert not (store.work / "stdin").exists()


def test_input_changed_by_one_byte_is_named(corpus, tmp_path):
    store = Store.create(tmp_path / "store")
    with store.lock():
        ingest(store, [corpus])
        (corpus / "b.txt").write_text("from B\n")
        with pytest.raises(MixError, match=r"inputs\.files"):
            ingest(store, [corpus])
        with pytest.raises(MixError, match=r"parameters\.limit = null, now 1"):
            ingest(store, [corpus], IngestOptions(limit=1))


def test_a_file_name_that_is_no_utf8(tmp_path, read_paths):
    path = tmp_path / os.fsdecode(b"caf\xe9.txt")
    path.write_text("one\n")
    assert read_paths(path).store.read("corpus")["source"].to_pylist() == ["caf\ufffd.txt"]
