"""Where `report --out`, `run --report` and `pack --out` may write: never over what something else wrote."""

import os

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.reports.soundness import verify
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.named_files import lies_within
from augment_cli.store.store import Store

LINES = [f"the river number {n} flows by house {n * n}" for n in range(12)]
COMMANDS = {"report": "out.html", "pack": "out.jsonl"}


@pytest.fixture
def here(tmp_path):
    """A folder with a corpus of pairs and a store made of it."""
    (tmp_path / "in.csv").write_text("anchor,positive\n" + "".join(f"{line},{line}\n" for line in LINES))
    with Session(tmp_path / "store", Engine(1)) as session:
        session.ingest([tmp_path / "in.csv"], IngestOptions(text_column="anchor"))
        session.augment(make_run("crop"))
        session.augment(make_run("una", radius=4))
    return tmp_path


def contents_of(folder):
    return {
        path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and ".work" not in path.parts
    }


def run(command, name, out):
    return command(name, "--out", out, *(["--labels", "kind", "--jobs", "1"] if name == "pack" else []))


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("place", ["other", "other/corpus", "other/.work"])
def test_another_store_is_no_place_either(command, here, name, place):
    with Session(here / "other", Engine(1)) as session:
        session.ingest([here / "in.csv"], IngestOptions(text_column="anchor"))
    before = contents_of(here / "other")
    done = run(command, name, here / place / COMMANDS[name])
    assert done.returncode == 2 and "other is a store" in done.stderr, done.stderr
    assert contents_of(here / "other") == before and verify(Store.open(here / "other")) == []


@pytest.mark.parametrize(
    "words",
    [
        "una --name {}",
        "fit --name {}",
        "pack --labels kind --name {}",
        "report --out {}.html",
        "crop --store {}",
    ],
)
def test_a_name_that_is_too_long_is_refused_as_one(command, here, words):
    done = command(*words.format("a" * 300).split(), *([] if "--store" in words else ["--store", "store"]))
    assert done.returncode == 2, done.stderr
    assert "too long" in done.stderr or "at most 200" in done.stderr
    assert "repair" not in done.stderr and verify(Store.open(here / "store")) == []


@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_no_regular_file_is_refused(command, here, name):
    out = COMMANDS[name]
    os.mkfifo(here / "pipe")
    (here / "folder").mkdir()
    for kind, word in (("pipe", "a pipe, a socket or a device"), ("folder", "is a folder")):
        (here / out).symlink_to(here / kind)
        done = run(command, name, out)
        assert done.returncode == 2 and word in done.stderr, done.stderr
        assert (here / out).is_symlink()
        (here / out).unlink()
    (here / "pipe").rename(here / out)
    assert run(command, name, out).returncode == 2 and (here / out).is_fifo()


@pytest.mark.parametrize("name", COMMANDS)
def test_nothing_is_put_into_the_store(command, here, name):
    out = COMMANDS[name]
    (here / "link").symlink_to(here / "store" / "una")
    before = contents_of(here / "store")
    for place in (f"store/{out}", f"store/una/{out}", f"link/{out}"):
        done = run(command, name, place)
        assert done.returncode == 2 and "lies in the store" in done.stderr, (place, done.stderr)
    assert contents_of(here / "store") == before
    assert verify(Store.open(here / "store")) == []


def test_the_manifest_stays_whatever_leads_to_it(command, here):
    before = (here / "store" / "manifest.json").read_bytes()
    (here / "page.html").symlink_to("store/manifest.json")
    for out in ("store/manifest.json", "page.html"):
        assert command("report", "--out", out).returncode == 2
    (here / "rules.toml").write_text('[[run]]\naugmentation = "crop"\n')
    done = command("run", "rules.toml", "--report", "store/manifest.json")
    assert done.returncode == 2 and "lies in the store" in done.stderr
    assert (here / "store" / "manifest.json").read_bytes() == before


@pytest.mark.parametrize("name", COMMANDS)
def test_only_an_earlier_file_of_its_own_is_replaced(command, here, name):
    out = here / COMMANDS[name]
    out.write_text("<!doctype html><title>Report of mine</title>\n")
    done = run(command, name, out)
    assert done.returncode == 2 and "exists, and was not written by this command" in done.stderr
    assert "Report of mine" in out.read_text()
    out.write_text("")  # as mktemp makes it
    for _ in range(2):
        assert run(command, name, out).returncode == 0
    assert len(out.read_bytes()) > 100


def test_each_file_of_a_split_is_looked_at_before_any_work(command, here):
    (here / "pairs-test.csv").write_text("mine\n")
    done = command("pack", "--labels", "kind", "--split", "0.5", "--out", "pairs.csv")
    assert done.returncode == 2 and "pairs-test.csv: exists" in done.stderr
    assert Store.open(here / "store").stages()[-1] == "una"


def test_a_packed_file_never_replaces_the_corpus(command, here):
    before = (here / "in.csv").read_bytes()
    done = run(command, "pack", "in.csv")
    assert done.returncode == 2 and "that the corpus of store was read from" in done.stderr
    assert (here / "in.csv").read_bytes() == before
    (here / "again.csv").write_bytes(before)  # of another name, with the columns of a packed file
    assert run(command, "pack", "again.csv").returncode == 0


def test_what_lies_within_a_folder(tmp_path):
    (tmp_path / "store" / "una").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "store")
    for path in ("store", "store/x", "store/una/x", "link", "link/new/x", "store/una/../x"):
        assert lies_within(tmp_path / path, tmp_path / "store"), path
        assert lies_within(tmp_path / path, tmp_path / "link"), path
    for path in ("x", "store-2/x", "store/../x", "link/../x"):
        assert not lies_within(tmp_path / path, tmp_path / "store"), path
