"""A rank that hangs under torchrun: the others end, and it is named."""

import os
import signal
import subprocess
import time

import psutil
import pytest

from tests.helpers.places import REPOSITORY
from tests.helpers.training import options, python


@pytest.mark.slow
def test_a_stopped_process_ends_the_run_and_is_named(tiny_store, tiny_encoder, tmp_path):
    """As when a machine of a cluster hangs: torchrun's ranks end with a line instead of waiting for ever."""
    place = ["--store", tiny_store, "--encoder", tiny_encoder, "--out", tmp_path / "run"]
    changes = ("batch=16", "steps=100000", "log_every=1", "evaluate_every=0", "rank_timeout=2")
    command = python("-m", "train", "simcse", *place, *options(*changes), ranks=2)
    said = tmp_path / "said"
    with said.open("w") as file:
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        process = subprocess.Popen(command, cwd=REPOSITORY, env=environment, stderr=file, stdout=file)
    try:
        log = tmp_path / "run/log.jsonl"
        while not (log.exists() and log.stat().st_size > 1_000):
            assert process.poll() is None, said.read_text()
            time.sleep(0.1)
        ranks = {one.environ()["RANK"]: one for one in psutil.Process(process.pid).children(recursive=True)}
        ranks["1"].send_signal(signal.SIGSTOP)
        while "error: rank" not in said.read_text():
            assert process.poll() is None, said.read_text()
            time.sleep(0.1)
        ranks["1"].kill()
        assert process.wait(120) != 0
    finally:
        for one in psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []:
            one.kill()
        process.kill()
    assert f"error: rank 1 (process {ranks['1'].pid} on " in said.read_text()
    assert "gives no sign of life" in said.read_text()
