"""What is there is kept, what is missing is made again to the same bytes, other settings are refused."""

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, MixError, UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from tests.helpers.undisturbed import digests_of_parts


def run_again(path, **parameters):
    with Session(path, Engine(1), sample=True) as session:
        session.ingest()
        session.augment(make_run("una", radius=4, **parameters), draws=2)
        return {result.stage: result.was_made for result in session.results}


def test_a_second_run_changes_nothing(store):
    before = {path: path.stat().st_mtime_ns for path in store.path.rglob("*.parquet")}
    assert run_again(store.path) == {"una": False, "una.1": False}
    assert {path: path.stat().st_mtime_ns for path in store.path.rglob("*.parquet")} == before


@pytest.mark.parametrize("stage", ["tfidf", "terms", "una", "una.1"])
def test_a_deleted_or_cut_part_is_made_again_to_the_same_bytes(store, stage):
    before, manifest = digests_of_parts(store.path), (store.path / "manifest.json").read_bytes()
    last = max(store.stage(stage).parts)
    store.part_path(stage, last).unlink()
    run_again(store.path)
    assert digests_of_parts(store.path) == before
    data = store.part_path(stage, 0).read_bytes()
    store.part_path(stage, 0).write_bytes(data[:-1])
    run_again(store.path)
    assert digests_of_parts(store.path) == before
    assert (store.path / "manifest.json").read_bytes() == manifest


def test_a_corpus_with_a_missing_part_wants_its_files_again(store, made_store):
    before = digests_of_parts(store.path)
    store.part_path("corpus", 1).unlink()
    with pytest.raises(UsageError, match="its corpus is unfinished; give the same --corpus again"):
        run_again(store.path)
    with Session(store.path, Engine(1)) as session:
        session.ingest([made_store.parent / "in.txt"], IngestOptions(part_rows=20), max_rejects=1)
    assert digests_of_parts(store.path) == before


def test_other_settings_are_refused_by_name(store):
    before = digests_of_parts(store.path)
    with pytest.raises(MixError, match=r"una: made with parameters\.beta = 0\.5, now 0\.25"):
        run_again(store.path, beta=0.25)
    with pytest.raises(MixError, match=r"una: made with parameters\.avoid"):  # no such list in the paper
        run_again(store.path, surface="reference")
    assert digests_of_parts(store.path) == before


SETTINGS = Settings("x", 1, {"a": 1}, 0, {"corpus": "c"}, {"words": "w"}, {"numpy": "2.0"})


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"version": 2}, "version = 1, now 2"),
        ({"parameters": {"a": 1, "b": 3}}, r"parameters\.b = null, now 3"),
        ({"seed": 1}, "seed = 0, now 1"),
        ({"inputs": {"corpus": "d"}}, r'inputs\.corpus = "c", now "d"'),
        ({"resources": {"words": "v"}}, r'resources\.words = "w", now "v"'),
        ({"libraries": {"numpy": "2.1"}}, r'libraries\.numpy = "2\.0", now "2\.1"'),
    ],
)
def test_every_kind_of_difference_is_named(tmp_path, changes, key):
    store = Store.create(tmp_path)
    store.set_row_ranges([(0, 1)])
    store.begin("stage", SETTINGS)
    assert store.begin("stage", SETTINGS) == [0]
    with pytest.raises(MixError, match=key):
        store.begin("stage", Settings(**(vars(SETTINGS) | changes)))


def test_a_folder_with_other_files_is_no_store(tmp_path):
    (tmp_path / "holiday.jpg").touch()
    with pytest.raises(BadInputError, match="other files and no manifest"):
        Store.create(tmp_path)
    with pytest.raises(BadInputError, match="is a file, a store is a folder"):
        Store.create(tmp_path / "holiday.jpg")
    with pytest.raises(BadInputError, match="no store here"):
        Store.open(tmp_path)
