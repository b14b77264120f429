"""A model in a store: nothing finished is ever lost, parts are the same bytes after any interruption."""

import contextlib
import dataclasses
import signal

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.errors import MissingError, MixError
from augment_cli.pages import terminal as views
from augment_cli.pages.facts import facts_of
from augment_cli.reports import report
from augment_cli.reports.soundness import verify
from augment_cli.runs.run import make_run
from augment_cli.session import Session, Silent
from augment_cli.session.base import StageResult
from augment_cli.store.files import sha256_of_file
from augment_cli.store.journal import Journal
from augment_cli.store.store import Store
from tests.helpers.made_stores import store_of
from tests.helpers.tiny_models import SENTENCES
from tests.helpers.vector_stages import Died, die_after

# Random weights write no English, so the guards on it are off.
UNGUARDED = {"faithful": False, "surprise": 0.0, "candidates": 1}
FAST = {"precision": "fp32", "device": "cpu", "batch_tokens": 60, "beams": 3} | UNGUARDED


def make(path, run, jobs=1):
    with Session(path, Engine(jobs)) as session:
        session.ingest()
        session.augment(run)
        return session.store


def digests(path):
    return {str(part.relative_to(path)): sha256_of_file(part) for part in sorted(path.glob("*/*.parquet"))}


BATCHES = "*/*/part-*/piece-*.parquet"


def journalled(path):
    return sorted((path / ".work").glob(BATCHES))


@pytest.fixture(scope="session")
def run(model):
    return make_run("paraphrase", model=model("bart"), **FAST)


@pytest.fixture(scope="session")
def expected(run, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    return digests(store_of(folder, SENTENCES, run, part_rows=25).path)


@pytest.mark.slow
@pytest.mark.parametrize("batches", [0, 7])
def test_a_dead_run_resumes_and_loses_one_batch(store_path, run, expected, monkeypatch, batches):
    first = die_after(monkeypatch, batches)
    with pytest.raises(Died):
        make(store_path, run)
    assert len(first) == batches
    monkeypatch.undo()
    entries = {entry["stage"]: entry for entry in report.status(Store.open(store_path))}
    made = entries.get("paraphrase", {"rows": 0, "rows_in_work": 0})
    assert made["rows"] + made["rows_in_work"] == sum(rows for _, _, rows in first)
    assert ("paraphrase" in entries) == bool(batches)
    second = die_after(monkeypatch, -1)
    store = make(store_path, run)
    assert digests(store_path) == expected
    assert not set(first) & set(second)
    everything = len(first) + len(second)
    assert everything == len(set(first) | set(second)) > 12
    assert verify(store) == []
    assert journalled(store_path) == []


def test_the_share_that_is_changed_is_of_the_rows_that_were_asked_for(store_path, run, capsys):
    asked = dataclasses.replace(run, parameters=dataclasses.replace(run.parameters, rows=20))
    store = make(store_path, asked)
    entry = report.stats(store, "paraphrase")
    assert (entry["rows"], entry["rows_asked"]) == (len(SENTENCES), 20) and 10 < entry["changed"] <= 20
    assert entry["changed_share"] == entry["changed"] / 20 == facts_of(store, "paraphrase").changed_share
    views.show_run(store, [StageResult("paraphrase", 1.0, was_made=True)])
    assert f"{5 * entry['changed']:.1f} % of 20" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rows", "total"),
    [
        pytest.param(0, len(SENTENCES), marks=pytest.mark.slow),
        (7, 7),
        pytest.param(30, 30, marks=pytest.mark.slow),
    ],
)
def test_progress_counts_what_the_model_is_run_on(store_path, run, rows, total):
    class Counting(Silent):
        @contextlib.contextmanager
        def progress(self, stage, count):
            done = []
            yield done.append
            if stage == "paraphrase":
                seen.append((count, sum(done)))

    seen = []
    one = dataclasses.replace(run, parameters=dataclasses.replace(run.parameters, rows=rows))
    for _ in range(2):  # the second time there is nothing left to do
        with Session(store_path, Engine(1), Counting()) as session:
            session.ingest()
            session.augment(one)
    assert seen == [(total, total), (0, 0)]


def test_ctrl_c_finishes_the_running_batch_alone(store_path, run, expected, monkeypatch, capsys):
    real, kept = Journal.write, []

    def write(self, index, number, table):
        if number != "plan":
            kept.append(number)
        if len(kept) == 4:
            signal.raise_signal(signal.SIGINT)
        real(self, index, number, table)

    monkeypatch.setattr(Journal, "write", write)
    with pytest.raises(KeyboardInterrupt):
        make(store_path, run)
    assert len(kept) == 4
    assert "Finishing the running batches" in capsys.readouterr().err
    make(store_path, run)
    assert digests(store_path) == expected


@pytest.mark.slow
def test_running_out_of_memory_cuts_a_batch_and_is_recorded(store_path, run, expected, monkeypatch):
    from augment_cli.neural.generation import Seq2Seq

    real = Seq2Seq.write

    def write(self, ids, key, row_ids):
        if len(ids) > 4:
            raise RuntimeError("CUDA out of memory. Tried to allocate 20 GiB")
        return real(self, ids, key, row_ids)

    monkeypatch.setattr(Seq2Seq, "write", write)
    store = make(store_path, run)
    assert report.stats(store, "paraphrase")["memory_splits"] > 2
    assert store.read("paraphrase").num_rows == 60
    assert digests(store_path) == expected  # in fp32, and with no tie among these

    def nothing_fits(self, ids, key, row_ids):
        raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory")

    store.remove("paraphrase")
    monkeypatch.setattr(Seq2Seq, "write", nothing_fits)
    with pytest.raises(MissingError, match="a single sentence; use fewer --jobs"):
        make(store_path, run)


def test_another_error_is_no_lack_of_memory(store_path, run, monkeypatch):
    from augment_cli.neural.generation import Seq2Seq

    def broken(self, ids, key, row_ids):
        raise RuntimeError("shapes do not match")

    monkeypatch.setattr(Seq2Seq, "write", broken)
    with pytest.raises(RuntimeError, match="shapes do not match"):
        make(store_path, run)


def test_the_model_and_the_libraries_decide_reuse(store_path, run, model, monkeypatch):
    settings = run.settings(Store.open(store_path))
    assert {"torch", "transformers", "tokenizers"} <= settings.libraries.keys()
    assert len(settings.resources["model"]) == 64
    assert settings.parameters["architecture"] == "BartForConditionalGeneration"
    assert model("bart") not in str(settings.as_json())
    make(store_path, run)
    with pytest.raises(MixError, match=r"architecture|resources\.model"):
        make(store_path, make_run("paraphrase", model=model("pegasus"), **FAST))


def test_parts_and_draws(store_path, model):
    run = make_run("mask-fill", model=model("bert"), precision="fp32", batch_tokens=60)
    with Session(store_path, Engine(1), shared=True) as session:
        session.augment(run, parts={1})
    assert sorted(Store.open(store_path).stage("mask-fill").parts) == [1]
    with Session(store_path, Engine(1)) as session:
        session.augment(run, draws=2)
    store = Store.open(store_path)
    assert store.read("mask-fill")["text"] != store.read("mask-fill.1")["text"]
    assert store.read("mask-fill")["row_id"].to_pylist() == list(range(60))
    assert verify(store) == []
