"""A store copied to an address and back: whole or not at all, verified, and no part twice."""

import contextlib
import shutil

import pytest

import augment_cli
from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, MixError, UsageError
from augment_cli.remote import files
from augment_cli.remote import publish as publishing
from augment_cli.remote.files import place_of
from augment_cli.reports.soundness import verify
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store


def manifest_of(folder):
    return (folder / "manifest.json").read_bytes()


def times_of(folder):
    files = [*folder.rglob("*.parquet"), folder / "manifest.json"]
    return {path: path.stat().st_mtime_ns for path in files}


@pytest.fixture
def bucket(tmp_path):
    return tmp_path / "bucket"


@pytest.fixture
def url(bucket):
    return bucket.as_uri()


@pytest.fixture
def published(store, url):
    return augment_cli.publish(store.path, url)


@pytest.fixture
def parts(store):
    return sum(len(store.stage(name).parts) for name in store.stages())


def test_there_and_back_is_the_same_store_and_nothing_is_copied_twice(
    store, published, url, bucket, tmp_path, parts
):
    assert (published.copied, published.kept, published.unfinished) == (parts, 0, [])
    assert published.bytes == sum(store.stage(name).bytes for name in store.stages())
    before = times_of(bucket)
    again = augment_cli.publish(store.path, url)
    assert (again.copied, again.kept) == (0, parts) and times_of(bucket) == before

    back = tmp_path / "back"
    assert augment_cli.fetch(url, back).copied == parts
    assert manifest_of(back) == manifest_of(bucket) == manifest_of(store.path)
    assert verify(Store.open(back)) == []
    before = times_of(back)
    again = augment_cli.fetch(url, back)
    assert (again.copied, again.kept) == (0, parts) and times_of(back) == before
    with Session(back, Engine(1)) as session:  # a live store like any other
        session.ingest()
        session.augment(make_run("uda"))


def test_more_stages_are_added_and_other_stores_are_refused(store, url, published, bucket, tmp_path):
    augment_cli.fetch(url, tmp_path / "back")
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run("uda"))
    assert augment_cli.publish(store.path, url).copied == 3
    assert augment_cli.fetch(url, tmp_path / "back").copied == 3

    there, fetched = manifest_of(bucket), manifest_of(tmp_path / "back")
    with Store.open(store.path).lock():
        Store.open(store.path).remove("una")
    with pytest.raises(MixError, match="with a stage una that this one does not have"):
        augment_cli.publish(store.path, url)
    with Session(store.path, Engine(1)) as session:
        session.augment(make_run("una", radius=5))
    with pytest.raises(MixError, match="whose stage una differs"):
        augment_cli.publish(store.path, url)
    assert manifest_of(bucket) == there
    assert augment_cli.publish(store.path, url, overwrite=True).copied == 3
    with pytest.raises(MixError, match="its stage una was made with other settings"):
        augment_cli.fetch(url, tmp_path / "back")
    assert manifest_of(tmp_path / "back") == fetched


def test_unfinished_stages_are_left_out_and_named(store, url, bucket):
    store.part_path("una.1", 1).unlink()
    assert augment_cli.publish(store.path, url).unfinished == ["una.1"]
    assert "una.1" not in augment_cli.open_store(bucket).stages()
    store.part_path("corpus", 1).unlink()
    with pytest.raises(BadInputError, match="no finished corpus"):
        augment_cli.publish(store.path, url)


def test_what_the_corpus_has_outgrown_is_left_out_and_named(store, url, tmp_path):
    (tmp_path / "more.txt").write_text("The heron waits by the other river.\n")
    augment_cli.ingest_corpus(tmp_path / "more.txt", store.path, append=True)
    done = augment_cli.publish(store.path, url)
    assert {"terms", "forms"} <= set(done.outgrown) and "tfidf" in done.unfinished
    augment_cli.fetch(url, tmp_path / "back")
    back = Store.open(tmp_path / "back")
    assert verify(back) == [] and back.rows == Store.open(store.path).rows


def test_a_publishing_that_stops_anywhere_is_no_store_and_goes_on(store, url, bucket, tmp_path, monkeypatch):
    """Stopped at each part: nothing there is taken for a store; the next command copies the rest only."""
    kept = publishing.write
    for stop in range(1, 5):
        written = []

        def write(place, chunks, stop=stop, written=written):
            if len(written) == stop:
                kept(place, [next(iter(chunks))[:50]])  # half of it is there
                raise KeyboardInterrupt
            written.append(place)
            kept(place, chunks)

        monkeypatch.setattr(publishing, "write", write)
        with pytest.raises(KeyboardInterrupt):
            augment_cli.publish(store.path, url)
        with pytest.raises(BadInputError, match="no whole store here"):
            augment_cli.fetch(url, tmp_path / "back")
        assert not (tmp_path / "back").exists() and not (bucket / "manifest.json").exists()
    monkeypatch.setattr(publishing, "write", kept)
    done = augment_cli.publish(store.path, url)
    assert done.kept == 1 + 2 + 3 + 4 and manifest_of(bucket) == manifest_of(store.path)


def test_an_overwriting_that_stops_is_no_store(store, url, published, bucket, monkeypatch):
    with Store.open(store.path).lock():
        Store.open(store.path).remove("una")

    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(publishing, "_give", stop)
    with pytest.raises(KeyboardInterrupt):
        augment_cli.publish(store.path, url, overwrite=True)
    assert not (bucket / "manifest.json").exists()


def test_a_fetching_that_stops_anywhere_goes_on(store, url, published, tmp_path, monkeypatch, parts):
    kept = publishing._take
    for stop in range(parts):
        taken = []

        def take(*arguments, stop=stop, taken=taken):
            if taken:
                raise KeyboardInterrupt
            taken.append(arguments)
            return kept(*arguments)

        monkeypatch.setattr(publishing, "_take", take)
        with pytest.raises(KeyboardInterrupt) if stop < parts - 1 else contextlib.nullcontext():
            augment_cli.fetch(url, tmp_path / "back")
        here = Store.open(tmp_path / "back")
        assert sum(len(here.stage(name).parts) for name in here.stages()) == stop + 1
        assert [name for name in here.stages() if here.has(name)] == [
            name for name in here.stages() if here.stage(name).is_complete
        ]
    assert manifest_of(tmp_path / "back") == manifest_of(store.path)


def test_a_kill_among_parts_that_come_fast_loses_no_more(store, url, published, tmp_path, monkeypatch):
    kept = Store._write_manifest

    def die(opened):
        if len(list(opened.path.rglob("part-*.parquet"))) > 2:  # as a kill does, with no entry at all
            raise OSError(5, "killed")
        kept(opened)

    with monkeypatch.context() as patch, pytest.raises(OSError, match="killed"):
        patch.setattr(Store, "_write_manifest", die)
        patch.setattr("augment_cli.store.store._SECONDS_TOGETHER", 1e6)
        augment_cli.fetch(url, tmp_path / "killed")
    killed = Store.open(tmp_path / "killed")
    assert not any(killed.has(name) for name in store.stages())
    augment_cli.fetch(url, tmp_path / "killed")
    assert manifest_of(tmp_path / "killed") == manifest_of(store.path)
    assert verify(Store.open(tmp_path / "killed")) == []


@pytest.mark.parametrize("spoil", ["longer", "missing"])
def test_a_part_that_is_damaged_on_the_way_back_is_not_taken(store, url, published, bucket, tmp_path, spoil):
    path = bucket / "una" / "part-00001.parquet"
    path.unlink() if spoil == "missing" else path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(
        BadInputError, match=r"una/part-00001\.parquet: .*run `augment_cli\.publish\("
    ) as raised:
        augment_cli.fetch(f"{url}?signature=hidden", tmp_path / "back")
    assert "hidden" not in str(raised.value)
    back = Store.open(tmp_path / "back")
    assert 1 not in back.stage("una").parts and 0 in back.stage("una").parts
    assert not list((back.work / "parts").rglob("*.parquet"))
    assert augment_cli.publish(store.path, url).copied == 1  # as the message says
    augment_cli.fetch(url, tmp_path / "back")
    assert manifest_of(tmp_path / "back") == manifest_of(store.path)


def test_what_was_written_is_read_back(store, url, bucket, monkeypatch):
    kept = files.write
    monkeypatch.setattr(
        publishing, "write", lambda place, chunks: kept(place, [b"".join(chunks)[:-1] + b"?"])
    )
    with pytest.raises(BadInputError, match="what was written reads differently"):
        augment_cli.publish(store.path, url)
    assert not (bucket / "manifest.json").exists()


def test_a_forged_or_foreign_manifest_is_refused(store, url, published, bucket, tmp_path):
    for data in (b"", b"[]", b"{}", manifest_of(bucket).replace(b'"rows": 20', b'"rows": 21')):
        (bucket / "manifest.json").write_bytes(data)
        with pytest.raises(BadInputError, match=r"manifest\.json: .*publish it again with overwrite="):
            augment_cli.fetch(url, tmp_path / "back")
        assert not (tmp_path / "back").exists()
        with pytest.raises(BadInputError, match="publish it again with overwrite="):
            augment_cli.publish(store.path, url)
    assert augment_cli.publish(store.path, url, overwrite=True).copied == 0  # as it says
    assert manifest_of(bucket) == manifest_of(store.path)


def test_a_file_that_is_there_is_replaced_as_a_whole(bucket, url):
    place = place_of(url).at("manifest.json")
    files.write(place, [b"old"])

    def stopping():
        yield b"ne"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.write(place, stopping())
    assert (bucket / "manifest.json").read_bytes() == b"old"
    files.write(place, [b"ne", b"w"])
    assert (bucket / "manifest.json").read_bytes() == b"new" and len(list(bucket.iterdir())) == 1


def test_another_store_in_the_folder_is_left_alone(store, url, published, tmp_path):
    other = tmp_path / "other"
    augment_cli.ingest_corpus(texts=["one river", "two rivers"], store=other)
    before = manifest_of(other)
    with pytest.raises(MixError, match="is another store than file://"):
        augment_cli.fetch(url, other)
    assert manifest_of(other) == before


@pytest.mark.parametrize("opening", [Store.open, Store.create, Session, augment_cli.fit])
@pytest.mark.parametrize("address", ["s3://key:hidden@bucket/store", "gs://bucket/store?s=hidden"])
def test_a_live_store_on_an_object_store_is_refused(opening, address):
    with pytest.raises(
        UsageError, match=r"a live store lies in a folder.*augment[-_]cli[ .]publish"
    ) as raised:
        opening(address)
    assert "hidden" not in str(raised.value)


@pytest.mark.parametrize("call", [augment_cli.publish, lambda store, url: augment_cli.fetch(url, store)])
def test_a_path_in_the_place_of_an_address(store, call):
    with pytest.raises(UsageError, match="is not an address"):
        call(store.path, "folder/of/mine")


def test_the_commands(store, bucket, url, command, tmp_path):
    shutil.copytree(store.path, tmp_path / "mine", dirs_exist_ok=True)
    (tmp_path / "mine" / "README.md").write_text("# A card\n")
    made = command("publish", "mine", f"{url}?s=hidden")
    assert made.returncode == 0 and "mine is published" in made.stdout
    assert (bucket / "README.md").read_text() == "# A card\n"
    fetched = command("fetch", f"{url}?s=hidden", "back", "--json")
    assert fetched.returncode == 0 and '"kept": 0' in fetched.stdout
    refused = command("publish", "mine", "s3://key:hidden@bucket/x?signature=1")
    assert refused.returncode == 2
    lost = command("publish", "mine", "memory://bucket/x")
    assert lost.returncode == 2 and "own memory, which ends with it" in lost.stderr
    for result in (made, fetched, refused):
        assert "hidden" not in result.stdout + result.stderr


def test_a_store_is_not_published_into_itself(store, tmp_path):
    folder = tmp_path / "corpus"  # the name of one of its stages
    shutil.copytree(store.path, folder)
    (tmp_path / "link").symlink_to(folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    for place in (folder, folder / "una", folder / "new", tmp_path / "link" / "new", tmp_path):
        with pytest.raises(UsageError, match="the store that is published; give an address outside it"):
            augment_cli.publish(folder, place.as_uri(), overwrite=True)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus", "link", "store"]
