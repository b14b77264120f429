"""A rank that hangs or dies under torchrun: the others end and say why; a run goes on to the bit."""

import signal
import time

import psutil
import pytest

from tests.helpers.training import assert_same_bits, begun, options


@pytest.mark.slow
def test_a_stopped_process_ends_the_run_and_is_named(tiny_store, tiny_encoder, tmp_path):
    """As when a machine of a cluster hangs: torchrun's ranks end with a line instead of waiting for ever."""
    place = ["--store", tiny_store, "--encoder", tiny_encoder, "--out", tmp_path / "run"]
    changes = ("batch=16", "steps=100000", "log_every=1", "evaluate_every=0", "rank_timeout=2")
    said = tmp_path / "said"
    process = begun(said, "simcse", *place, *options(*changes), ranks=2)
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


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["0", "1", "launcher"])
def test_a_killed_process_ends_the_others_and_the_run_goes_on_to_the_bit(
    tiny_store, tiny_encoder, tmp_path, victim
):
    place = ["--store", tiny_store, "--encoder", tiny_encoder]
    changes = ["batch=16", "steps=300", "log_every=1", "evaluate_every=0", "checkpoint_every=5"]
    changes += ["rank_timeout=4"]

    def started(name):
        words = ["simcse", *place, "--out", tmp_path / name, *options(*changes)]
        return begun(tmp_path / f"{name}.txt", *words, ranks=2)

    process, log, said = started("run"), tmp_path / "run/log.jsonl", tmp_path / "run.txt"
    while not (log.exists() and len(log.read_text().splitlines()) > 12):
        assert process.poll() is None, said.read_text()
        time.sleep(0.05)
    ranks = psutil.Process(process.pid).children(recursive=True)
    named = {"launcher": process} | {one.environ()["RANK"]: one for one in ranks}
    named[victim].kill()
    assert process.wait(120) != 0
    assert not psutil.wait_procs(ranks, timeout=120)[1]
    line = {"launcher": "interrupted after step"}.get(victim, "another process of this training has ended")
    assert line in said.read_text() and "RuntimeError: [" not in said.read_text()
    for name in ("run", "undisturbed"):
        assert started(name).wait(240) == 0
    assert_same_bits(tmp_path / "run", tmp_path / "undisturbed")
