"""Damage, strangers and traps: named with their file, never used."""

import pickle
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from augment_cli.errors import BadInputError, UsageError
from augment_cli.reports import soundness
from augment_cli.store import parquet
from augment_cli.store.settings import Settings


@pytest.mark.parametrize("seed", range(12))
def test_a_flipped_bit_anywhere_is_named_and_not_used(store, seed):
    draws = random.Random(seed)
    stage = draws.choice(store.stages())
    path = store.part_path(stage, draws.choice(list(store.stage(stage).parts)))
    data = bytearray(path.read_bytes())
    data[draws.randrange(len(data))] ^= 1 << draws.randrange(8)
    path.write_bytes(data)
    with pytest.raises(BadInputError, match=str(path)):
        store.read(stage)
    assert any(str(path) in problem for problem in soundness.verify(store))


@pytest.mark.parametrize("where", ["page", "footer"])
def test_page_checksums_and_footer_are_checked_without_a_digest_too(store, where):
    path = store.part_path("una", 0)
    data = bytearray(path.read_bytes())
    column = pq.read_metadata(path).row_group(0).column(1)
    data[column.data_page_offset + column.total_compressed_size - 5 if where == "page" else -5] ^= 1
    path.write_bytes(data)
    with pytest.raises(BadInputError, match=f"{path}: cannot be read as a Parquet part"):
        parquet.read_parquet(path)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.unlink(),
        lambda path: path.write_bytes(path.read_bytes()[:-100]),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes() + b"x"),
        lambda path: path.write_bytes(pickle.dumps(["a pickle"])),
        lambda path: (path.unlink(), path.mkdir()),
    ],
)
def test_missing_cut_empty_longer_pickled_or_a_folder(store, spoil):
    path = store.part_path("una", 1)
    spoil(path)
    with pytest.raises(BadInputError, match=str(path)):
        store.read("una")
    assert any(str(path) in problem for problem in soundness.verify(store))


def test_a_part_of_another_run_at_a_parts_name(store):
    """Same columns, same rows: only the digest tells."""
    store.part_path("una", 0).write_bytes(store.part_path("una.1", 0).read_bytes())
    with pytest.raises(BadInputError, match="or from another run"):
        store.read_part("una", 0)
    problems = soundness.verify(store)
    assert any("its fingerprint differs" in problem for problem in problems)


def test_stray_files_are_named_by_verify(store):
    for name in ("part-00099.parquet", "notes.txt"):
        (store.path / "una" / name).write_text("stray")
    (store.path / "una" / "sub").mkdir()
    found = sorted(problem.split(":")[0].rpartition("/")[2] for problem in soundness.verify(store))
    assert found == ["notes.txt", "part-00099.parquet", "sub"]
    assert store.read("una").num_rows == 60  # our own reading goes by the manifest


@pytest.mark.parametrize(
    "name", ["../out", "/tmp/out", "a/../../out", "", ".work", "Una", "a//b", "a b", "una/x", "manifest.json"]
)
def test_stage_names_cannot_lead_out_or_into_another_stage(store, name):
    with pytest.raises(UsageError, match=r"is not a valid stage name|lies inside stage"):
        store.begin(name, Settings("x", 1))


@pytest.mark.parametrize("target", ["folder", "file", "work", "removed"])
def test_symbolic_links_out_of_the_store_are_not_followed(store, tmp_path, target):
    outside = tmp_path / "outside"
    place = {"file": store.part_path("una", 0), "work": store.work}.get(target, store.path / "una")
    place.rename(outside)
    place.symlink_to(outside)
    with pytest.raises(BadInputError, match="is a symbolic link"):
        if target == "work":
            with store.lock():
                pass
        else:
            store.remove("una") if target == "removed" else store.read("una")
    assert outside.is_file() or list(outside.iterdir())


def test_a_part_that_claims_more_than_memory_is_refused(tmp_path, monkeypatch):
    """A row group of zeros packs 1:30000, so the claimed size is looked at before anything is read."""
    pq.write_table(pa.table({"x": pa.array([0.0]).take(pa.array([0] * 500_000))}), tmp_path / "bomb.parquet")
    monkeypatch.setattr(parquet, "_MAX_ROW_GROUP_BYTES", 1000)
    with pytest.raises(BadInputError, match="claims"):
        parquet.read_parquet(tmp_path / "bomb.parquet")


def test_a_thread_that_cannot_start_is_no_damage(store, monkeypatch):
    message = "Unknown error: Failed to launch worker thread: Resource temporarily unavailable"

    def opened(*_, **__):
        raise pa.ArrowException(message)

    monkeypatch.setattr(pq, "ParquetFile", opened)
    with pytest.raises(MemoryError, match=f"part-00000.parquet: {message}"):
        parquet.read_parquet(store.path / "una" / "part-00000.parquet")


@pytest.mark.parametrize("size", [8, 1 << 20, (1 << 31) - 1, (1 << 32) - 1])
def test_an_oversized_footer_is_refused(tmp_path, size):
    (tmp_path / "a.parquet").write_bytes(b"PAR1" + b"\x15" * 100 + size.to_bytes(4, "little") + b"PAR1")
    with pytest.raises(BadInputError, match=r"a\.parquet: cannot be read as a Parquet part"):
        parquet.read_parquet(tmp_path / "a.parquet")


def test_nothing_in_the_package_reads_or_writes_pickle():
    package = Path(parquet.__file__).parents[1]
    sources = {path: path.read_text("utf-8") for path in package.rglob("*.py")}
    assert len(sources) > 30
    banned = ("import pickle", "from pickle", "allow_pickle=True", "joblib.dump", "joblib.load", "shelve")
    assert [(path.name, word) for path, text in sources.items() for word in banned if word in text] == []
