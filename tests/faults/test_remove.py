"""A failure or a kill at any moment of a removal, or of --overwrite: nothing of the old stage stays."""

import itertools
import shutil

import polars
import pytest

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.reports.soundness import left_over, verify
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store
from tests.helpers.file_faults import ERRORS, Crash, failed_at
from tests.helpers.made_stores import store_of
from tests.helpers.undisturbed import LINES, contents, digests_of_parts

OLD, NEW = 20, 6  # rows


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("remove")
    (folder / "new.txt").write_text("\n".join(f"{line} today" for line in LINES[:NEW]))
    store_of(folder, LINES[:OLD], "crop", "random-swap", part_rows=4)
    return folder


def remove(store, files):
    opened = Store.open(store)
    with opened.lock():
        opened.reload()
        opened.remove(*(name for name in ("crop", "random-swap") if name in opened.stages()))


def overwrite(store, files):
    """Another, smaller corpus in the place of the first; all stages of that go."""
    with Session(store, Engine(1), overwrite=True) as session:
        session.ingest([files / "new.txt"], IngestOptions(part_rows=4), max_rejects=1)


def remake(store, files):
    with Session(store, Engine(1)) as session:
        session.augment(make_run("crop", rate=0.4))


@pytest.fixture(scope="module")
def after(files):
    made = {}
    for act in (remove, overwrite):
        store = files / act.__name__
        shutil.copytree(files / "store", store)
        act(store, files)
        assert verify(Store.open(store)) == [], act.__name__
        made[act] = contents(store)
        remake(store, files)
        made[act, remake] = digests_of_parts(store)
    return made


def globbed(store, stage):
    """How many rows the line finds that the command prints after a stage is made."""
    return polars.read_parquet(store / stage / "*.parquet").height


def fail_at(act, number, error, folder, files, after):
    store = folder / f"{act.__name__}-{number}"
    shutil.copytree(files / "store", store)
    faults, _ = failed_at(number, error, lambda: act(store, files))
    opened = Store.open(store)
    known = ["left by a removal that was interrupted", "run it again to resume"]
    unknown = [line for line in verify(opened) if not any(word in line for word in known)]
    new = (str(store / "corpus"), str(store / "rejects"))  # parts that got their names, and no entry yet
    assert [line for line in unknown if not (line.startswith(new) and "not in the manifest" in line)] == []
    for stage in opened.stages():
        for index in opened.stage(stage).parts:
            opened.read_part(stage, index)
    with opened.lock():  # whoever comes next
        pass
    assert left_over(opened) == []
    for stage in ("crop", "random-swap"):
        assert (store / stage).exists() == (stage in Store.open(store).stages())
    act(store, files)
    assert contents(store) == after[act], faults.names[number - 1]
    remake(store, files)
    assert digests_of_parts(store) == after[act, remake]
    assert globbed(store, "crop") == globbed(store, "corpus") == Store.open(store).rows
    shutil.rmtree(store)
    return faults.was_hit


@pytest.mark.parametrize("act", [remove, overwrite])
@pytest.mark.parametrize(
    "error", [pytest.param(name, marks=[] if name == "crash" else pytest.mark.slow) for name in ERRORS]
)
def test_some_operations_of_a_removal_fail(act, error, memory_folder, files, after):
    for number in range(1, 80, 13):
        fail_at(act, number, error, memory_folder, files, after)


@pytest.mark.slow
@pytest.mark.parametrize("act", [remove, overwrite])
@pytest.mark.parametrize("error", list(ERRORS))
def test_every_operation_of_a_removal_fails(act, error, memory_folder, files, after):
    for number in itertools.count(1):
        if not fail_at(act, number, error, memory_folder, files, after):
            break
    assert number > 20


def killed(store, files):
    """A removal that dies when it begins to delete a stage's folder."""

    def die(path, **options):
        if path == store / "crop":
            raise Crash

    shutil.copytree(files / "store", store)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(Crash):
        patch.setattr(shutil, "rmtree", die)
        remove(store, files)


def test_a_killed_removal_is_named_and_finished_by_whoever_writes_next(tmp_path, files, command):
    store = tmp_path / "store"
    killed(store, files)
    opened = Store.open(store)
    assert opened.half_removed() == [store / "crop", store / "random-swap"]
    lines = [line for line in verify(opened) if "left by a removal that was interrupted" in line]
    assert [line.partition(":")[0] for line in lines] == [str(store / "crop"), str(store / "random-swap")]
    for form in ([], ["--json"]):
        result = command("status", "--store", store, *form)
        assert result.returncode == 0 and f"{store / 'crop'}: left by a removal" in result.stderr
    remake(store, files)
    assert verify(Store.open(store)) == [] and not (store / "random-swap").exists()


def test_two_that_write_together_finish_it_once(tmp_path, files):
    store = tmp_path / "store"
    killed(store, files)
    first, second = Store.open(store), Store.open(store)
    with first.lock(shared=True), second.lock(shared=True):
        assert not (store / "crop").exists() and first.half_removed() == []


def test_a_damaged_or_forged_note_deletes_nothing_that_is_not_the_store_s(tmp_path, files):
    store, beside = tmp_path / "store", tmp_path / "beside"
    shutil.copytree(files / "store", store)
    before = digests_of_parts(store)
    beside.mkdir()
    for value in (
        "{",
        "[[[",
        '["../beside", "/", "", ".work", "crop", "crop/x", "CROP", 3, null]',
        "{}",
        "7",
    ):
        (store / ".work" / "remove.json").write_text(value)
        with Store.open(store).lock():
            pass
        assert digests_of_parts(store) == before and beside.exists(), value
        assert verify(Store.open(store)) == []


def test_old_parts_without_a_note_go_before_a_stage_of_that_name_has_its_first(tmp_path, files):
    # As versions left them that took no note.
    store = tmp_path / "store"
    shutil.copytree(files / "store", store)
    remove(store, files)
    shutil.copytree(files / "store" / "crop", store / "crop")
    shutil.copy(store / "crop" / "part-00000.parquet", store / "crop" / "part-00017.parquet")
    (store / "crop" / "notes.txt").write_text("a person's own")
    remake(store, files)
    assert globbed(store, "crop") == OLD
    assert (store / "crop" / "notes.txt").read_text() == "a person's own"
