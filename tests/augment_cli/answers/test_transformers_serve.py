"""generate against a server that others wrote: `transformers serve`, with a small model, on this machine."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

from augment_cli import api
from augment_cli.answers import asking
from augment_cli.errors import IncompleteError
from augment_cli.reports.report import rows_in_work
from augment_cli.reports.soundness import verify
from augment_cli.store.store import Store
from tests.helpers.commands import ENVIRONMENT
from tests.helpers.tiny_models import SENTENCES

for package in ("fastapi", "openai", "uvicorn"):
    pytest.importorskip(package, reason="`dev` leaves it out: pip install 'transformers[serving]'")

pytestmark = pytest.mark.slow
ROWS = 12


@contextlib.contextmanager
def served(folder, port):
    """The server in a process of its own; the value is that process, once it listens."""
    words = ["serve", str(folder), "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"]
    process = subprocess.Popen(
        [sys.executable, "-m", "transformers.cli.transformers", *words],
        env=ENVIRONMENT | {"HF_HUB_OFFLINE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 120
        while time.monotonic() < until and process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                    break
            except OSError:
                time.sleep(0.2)
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture
def store(tmp_path):
    (tmp_path / "in.txt").write_text("\n".join(SENTENCES[:ROWS]) + "\n")
    api.ingest_corpus(tmp_path / "in.txt", tmp_path / "store", part_rows=5)
    return tmp_path / "store"


def answers(store, stage="answers-paraphrase"):
    return Store.open(store).read(stage).to_pylist()


def test_it_answers_as_the_same_model_does_in_this_process(store, model, port):
    folder, alike = model("llama"), {"temperature": 0.0, "max_tokens": 10}
    with served(folder, port):
        endpoint = f"http://127.0.0.1:{port}/v1"
        api.llm_paraphrase(store, model=folder, endpoint=endpoint, concurrency=3, **alike)
        refused = api.generate(store, model="another", endpoint=endpoint, name="other", max_failures=1.0)
    api.generate(store, model=folder, engine="process", precision="fp32", name="here", **alike)
    there, here = answers(store), answers(store, "here")
    for name in ("answer", "prompt_tokens", "completion_tokens"):
        assert [row[name] for row in there] == [row[name] for row in here], name
    for row, own in zip(there, here, strict=True):  # it says length, too, where the last token is the end
        assert row["finish"] == own["finish"] or own["completion_tokens"] == 10
    assert {row["model"] for row in there} == {f"{folder}@main"}  # what it calls itself
    assert all("pinned to" in row["error"] for row in refused.read("other").to_pylist())
    assert not verify(Store.open(store))
    read = Store.open(store).read("llm-paraphrase").to_pylist()
    assert all((row["text"] is None) != (row["reason"] is None) for row in read)


def test_it_may_be_killed_and_started_again(store, model, port, monkeypatch):
    monkeypatch.setattr(asking, "_FIRST_WAIT", 0.0)
    folder, endpoint = model("llama"), f"http://127.0.0.1:{port}/v1"
    with served(folder, port) as process:

        def kill():
            until = time.monotonic() + 60
            while not sum(rows_in_work(Store.open(store)).values()) and time.monotonic() < until:
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        with pytest.raises(IncompleteError, match="goes on from the answers that are there"):
            api.generate(store, model=folder, endpoint=endpoint, concurrency=1, max_tokens=200)
        killer.join()
    kept = sum(rows_in_work(Store.open(store)).values())
    assert kept
    with served(folder, port):
        api.generate(store, model=folder, endpoint=endpoint, concurrency=1, max_tokens=200)
    rows = answers(store)
    assert len(rows) == ROWS and all(row["answer"] is not None for row in rows)
