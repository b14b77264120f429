"""A rank that hangs or dies under torchrun: the others end and say why; a run goes on to the bit."""

import signal
import time

import psutil
import pytest

from tests.helpers.training import assert_same_bits, begun, options

ENDED = "another process of this training has ended"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("victim", "number", "line"),
    [
        ("0", signal.SIGKILL, ENDED),
        ("1", signal.SIGKILL, ENDED),
        ("launcher", signal.SIGKILL, "interrupted after step"),
        ("1", signal.SIGSTOP, "gives no sign of life"),  # as when a machine of a cluster hangs
    ],
)
def test_a_struck_process_ends_the_others_and_the_run_goes_on_to_the_bit(
    tiny_store, tiny_encoder, tmp_path, victim, number, line
):
    place = ["--store", tiny_store, "--encoder", tiny_encoder]
    changes = ["batch=16", "steps=300", "log_every=1", "evaluate_every=0", "checkpoint_every=5"]
    changes += ["rank_timeout=4"]

    def started(name):
        words = ["simcse", *place, "--out", tmp_path / name, *options(*changes)]
        return begun(tmp_path / f"{name}.txt", *words, ranks=2)

    process, log, said = started("run"), tmp_path / "run/log.jsonl", tmp_path / "run.txt"

    def wait_until(is_there):
        while not is_there():
            assert process.poll() is None, said.read_text()
            time.sleep(0.05)

    wait_until(lambda: log.exists() and len(log.read_text().splitlines()) > 12)
    ranks = psutil.Process(process.pid).children(recursive=True)
    named = {"launcher": process} | {one.environ()["RANK"]: one for one in ranks}
    named[victim].send_signal(number)
    if number == signal.SIGSTOP:
        wait_until(lambda: f"error: rank 1 (process {named['1'].pid} on " in said.read_text())
        named["1"].kill()
    assert process.wait(120) != 0
    assert not psutil.wait_procs(ranks, timeout=120)[1]
    assert line in said.read_text() and "RuntimeError: [" not in said.read_text()
    for name in ("run", "undisturbed"):
        assert started(name).wait(240) == 0
    assert_same_bits(tmp_path / "run", tmp_path / "undisturbed")
