"""generate against a server that others wrote: `transformers serve`, with a small model, on this machine."""

import contextlib
import socket
import subprocess
import sys
import time
import urllib.request

import pytest

from augment_cli import api
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
def lines():
    return SENTENCES[:ROWS]


def test_it_answers_as_the_same_model_does_in_this_process(store, answers, model, port):
    folder, alike = model("llama"), {"temperature": 0.0, "max_tokens": 10}
    with served(folder, port):
        endpoint = f"http://127.0.0.1:{port}/v1"
        api.llm_paraphrase(store, model=folder, endpoint=endpoint, concurrency=3, **alike)
        refused = api.generate(store, model="another", endpoint=endpoint, name="other", max_failures=1.0)
    api.generate(store, model=folder, engine="process", precision="fp32", name="here", **alike)
    there, here = answers(), answers("here")
    for name in ("answer", "prompt_tokens", "completion_tokens"):
        assert [row[name] for row in there] == [row[name] for row in here], name
    for row, own in zip(there, here, strict=True):  # it says length, too, where the last token is the end
        assert row["finish"] == own["finish"] or own["completion_tokens"] == 10
    assert {row["model"] for row in there} == {f"{folder}@main"}  # what it calls itself
    assert all("pinned to" in row["error"] for row in refused.read("other").to_pylist())
    assert not verify(Store.open(store))
    read = Store.open(store).read("llm-paraphrase").to_pylist()
    assert all((row["text"] is None) != (row["reason"] is None) for row in read)
