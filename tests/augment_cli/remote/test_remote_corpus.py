"""A corpus at an address is the corpus that a path would give, to the byte of the store."""

import asyncio
import contextlib
import dataclasses
import gzip
import json
import re

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import augment_cli
from augment_cli.errors import BadInputError, MissingError, UsageError
from augment_cli.ingest import find_files
from augment_cli.remote import files
from augment_cli.remote.files import find_files_at, place_of

LINES = [f"the heron of river {number} waits near bridge {number % 7}" for number in range(200)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus") / "with space"
    (folder / "deep").mkdir(parents=True)
    text = "".join(f"{line}\n" for line in LINES).encode()
    (folder / "a.txt").write_bytes(text)
    (folder / "b.txt.gz").write_bytes(gzip.compress(text))
    (folder / "c.txt.zst").write_bytes(pa.compress(text, "zstd", asbytes=True))
    (folder / "deep" / "d.jsonl").write_text("".join(json.dumps({"text": line}) + "\n" for line in LINES))
    (folder / "deep" / "e.csv").write_text("text\n" + "".join(f"{line}\n" for line in LINES))
    pq.write_table(
        pa.table({"other": LINES, "text": LINES}), folder / "deep" / "f.parquet", row_group_size=50
    )
    (folder / "deep" / "g#h? %20é.txt").write_text("a name that is not only letters\n")
    (folder / "notes.pdf").write_text("not to be read\n")
    (folder / ".cache").mkdir()
    (folder / ".cache" / "more.pdf").write_text("not to be read\n")
    (folder / ".hidden.txt").write_text("not to be read\n")
    return folder


@pytest.fixture(scope="module")
def local_manifest(folder, tmp_path_factory):
    store = tmp_path_factory.mktemp("local") / "store"
    assert augment_cli.ingest_corpus(folder, store).kept == 6 * len(LINES) + 1
    return (store / "manifest.json").read_bytes()


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_the_store_is_the_one_of_a_local_corpus(folder, local_manifest, tmp_path, kind):
    address = f"{folder.as_uri()}/?signature=hidden"
    if kind == "memory":
        address = "memory://bucket/corpus"
        fsspec.filesystem("memory").put(f"{folder}/", "/bucket/corpus", recursive=True)
    augment_cli.ingest_corpus(address, tmp_path / "store")
    assert (tmp_path / "store" / "manifest.json").read_bytes() == local_manifest
    augment_cli.ingest_corpus(address, tmp_path / "store")  # the same again: nothing to do


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("*.txt", ["a.txt"]),
        ("*.txt*", ["a.txt", "b.txt.gz", "c.txt.zst"]),
        ("**/[ab]*.txt", ["a.txt"]),
        ("d*/[d-f]*", ["d.jsonl", "e.csv", "f.parquet"]),
        ("notes.pdf", ["notes.pdf"]),
        (".h*", [".hidden.txt"]),
    ],
)
def test_globs_mean_what_they_mean_in_paths(folder, pattern, names):
    remote, _ = find_files_at(f"{folder.as_uri()}/{pattern}")
    assert [file.name for file in remote] == names
    assert [path.name for path, _ in find_files([folder / pattern])] == names


def test_names_of_files_from_several_places(folder):
    address = folder.as_uri()
    alone = find_files([f"{address}/a.txt", f"{address}/deep/e.csv", f"{address}/a.txt"])
    assert [name for _, name in alone] == ["a.txt", "deep/e.csv"]
    mixed = find_files([folder / "a.txt", f"{address}/deep/e.csv?signature=hidden"])
    assert [name for _, name in mixed] == ["a.txt", f"file://{folder}/deep/e.csv"]


NOWHERE = ["missing.txt", "no*match", "missing/", "notes.pdf/x"]


@pytest.mark.parametrize(
    ("address", "kind", "said"),
    [
        *((f"FOLDER/{name}", BadInputError, "correct the address") for name in NOWHERE),
        ("s3://*/a.txt", UsageError, "names no bucket"),
        ("s3://bucket/a?.txt", UsageError, "unknown option '.txt'"),
        ("s3://?signature=1", UsageError, "names no bucket"),
    ],
)
def test_what_names_nothing_or_makes_no_sense_is_an_error(folder, address, kind, said):
    with pytest.raises(kind, match=re.escape(said)):
        find_files([address.replace("FOLDER", folder.as_uri())])


def test_files_of_two_servers_are_two_even_under_one_name(folder):
    address = f"{folder.as_uri()}/a.txt"
    assert len(find_files([f"{address}?server=1", f"{address}?server=2", f"{address}?server=1"])) == 2


def test_google_is_asked_by_pyarrow():
    place = place_of("gs://anonymous@bucket/folder/a b.txt")
    assert place.filesystem.type_name == "gcs"
    assert place.path == "bucket/folder/a b.txt" and str(place) == "gs://bucket/folder/a b.txt"


def test_plans_and_status_take_addresses(folder, tmp_path, command):
    address = f"{folder.as_uri()}/*.gz"
    planned = command("una", "--corpus", address, "--dry-run")
    assert planned.returncode == 0 and not (tmp_path / "store").exists()
    augment_cli.ingest_corpus(address, tmp_path / "store")
    status = command("status", "--corpus", address)
    assert status.returncode == 0 and "sha256" not in status.stdout + status.stderr
    other = command("status", "--corpus", f"{folder.as_uri()}/a.txt")
    assert other.stdout != status.stdout


class Cutting:
    """A file system whose streams break after some bytes, so often, with an error or by ending there."""

    type_name = "cutting"

    def __init__(self, filesystem, after, times, ends=False):
        self._filesystem, self.after, self.times, self.ends = filesystem, after, times, ends
        self.asked = 0

    def get_file_info(self, path):
        return self._filesystem.get_file_info(path)

    def open_input_file(self, path):
        outer, file = self, self._filesystem.open_input_file(path)

        class Stream:
            seek = staticmethod(file.seek)

            def read(self, count):
                outer.asked += count
                if outer.times and file.tell() + count > outer.after:
                    if file.tell() >= outer.after:
                        outer.times -= 1
                        if outer.ends:
                            return b""
                        raise OSError("curlCode: 56, hidden: the connection was reset")
                    count = outer.after - file.tell()
                return file.read(count)

        return Stream()


@pytest.fixture
def cutting(monkeypatch):
    monkeypatch.setattr(files, "_FIRST_PAUSE", 0)

    def begin(after, times, ends=False):
        systems = []

        def opened(address):
            place = place_of(address)
            systems.append(Cutting(place.filesystem, after, times, ends))
            return dataclasses.replace(place, filesystem=systems[-1])

        monkeypatch.setattr(files, "place_of", opened)
        return systems

    return begin


@pytest.mark.parametrize("ends", [False, True])
@pytest.mark.parametrize("name", ["a.txt", "b.txt.gz", "c.txt.zst", "deep/d.jsonl", "deep/f.parquet"])
def test_a_connection_that_is_cut_is_made_again_where_it_broke(folder, tmp_path, cutting, name, ends):
    cutting(after=300, times=2, ends=ends)
    assert augment_cli.ingest_corpus(f"{folder.as_uri()}/{name}", tmp_path / "store").kept == len(LINES)
    augment_cli.ingest_corpus(folder / name, tmp_path / "local")
    made, local = (tmp_path / store / "manifest.json" for store in ("store", "local"))
    assert made.read_bytes() == local.read_bytes()


@pytest.mark.parametrize("name", ["a.txt", "b.txt.gz", "c.txt.zst", "deep/e.csv", "deep/f.parquet"])
@pytest.mark.parametrize("second_reading", [False, True])
def test_a_connection_that_stays_cut_leaves_no_store(
    folder, tmp_path, cutting, monkeypatch, name, second_reading
):
    cutting(after=300, times=1000, ends=name == "a.txt")
    if second_reading:  # the digest is made, and the lines cannot be read: never half a corpus
        monkeypatch.setattr(files.RemoteFile, "sha256", lambda file: "0" * 64)
    with pytest.raises(MissingError, match=r"the connection failed.*run the same command again") as raised:
        augment_cli.ingest_corpus(f"{folder.as_uri()}/{name}?signature=hidden-words", tmp_path / "store")
    assert "hidden-words" not in str(raised.value)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(("name", "has_time"), [("a.txt", True), ("a.txt", False), ("deep/f.parquet", False)])
def test_a_file_that_changes_between_its_two_readings_is_refused(
    folder, tmp_path, monkeypatch, name, has_time
):
    """Where its server tells no time of writing, as on the web, and the size stays, by its bytes."""
    path = tmp_path / name.rpartition("/")[2]
    path.write_bytes((folder / name).read_bytes())
    kept, found = files.RemoteFile.sha256, files.find_file

    def then_change(file):
        digest = kept(file)
        path.write_bytes(path.read_bytes().replace(b"heron", b"herons" if has_time else b"egret"))
        return digest

    monkeypatch.setattr(files.RemoteFile, "sha256", then_change)
    if not has_time:
        monkeypatch.setattr(files, "find_file", lambda place: dataclasses.replace(found(place), changed=None))
    with pytest.raises(BadInputError, match="changed while it was read"):
        augment_cli.ingest_corpus(path.as_uri(), tmp_path / "store")
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("status", "asked", "given", "is_right"),
    [
        (206, "bytes=18-91", "bytes 18-91/92", True),
        (206, "bytes=18-91", "bytes 18-40/92", True),  # less than was asked for is asked for again
        (206, "bytes=18-91", "bytes 0-17/92", False),
        (206, "bytes=0-91", "bytes 5-91/92", False),
        (200, "bytes=18-91", None, True),
        (206, None, "bytes 0-17/92", True),
    ],
)
def test_a_web_server_that_gives_other_bytes_than_were_asked_for(status, asked, given, is_right):
    class Response:
        def __init__(self):
            self.status, self.headers = status, {"Content-Range": given} if given else {}
            self.request_info = self if asked is None else type("Request", (), {"headers": {"Range": asked}})

    raised = contextlib.nullcontext() if is_right else pytest.raises(OSError, match=r"asked for .*, and gave")
    with raised:
        asyncio.run(files.right_range(Response()))


def test_addresses_of_the_web_are_read_with_that_check(monkeypatch):
    given = {}

    def url_to_fs(address, **options):
        given[address] = options
        return fsspec.filesystem("memory"), "a.txt"

    monkeypatch.setattr(fsspec, "url_to_fs", url_to_fs)
    for address in ("http://a.example.org/a.txt", "https://a.example.org/a.txt", "memory://bucket/a.txt"):
        place_of(address)
    checked = [options.get("client_kwargs") for options in given.values()]
    assert checked == [{"raise_for_status": files.right_range}] * 2 + [None]


def test_a_limit_reads_no_more_lines_than_it_needs(tmp_path, cutting):
    """Streamed: beside the digest, which is of the whole file, only the beginning is asked for."""
    path = tmp_path / "long.txt"
    path.write_bytes(b"a river flows by the old mill\n" * 1_000_000)
    systems = cutting(after=1 << 40, times=0)
    augment_cli.ingest_corpus(path.as_uri(), tmp_path / "store", limit=10)
    assert sum(system.asked for system in systems) < 1.8 * path.stat().st_size
