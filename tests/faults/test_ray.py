"""The same bytes on a Ray cluster of worker processes, also when a worker or the command is killed."""

import re
import subprocess
import sys
import tempfile

import psutil
import pytest

from augment_cli.engine.engine import Engine
from augment_cli.errors import IncompleteError, MissingError
from tests.helpers.cluster_runs import (
    Cluster,
    expected,
    folder,
    test_a_worker_is_killed_half_way,
    test_same_bytes,
    test_the_command_is_killed_half_way,
)

ray = pytest.importorskip(
    "ray", reason="Ray is 240 MB, so `dev` leaves it out: pip install 'augment-cli[ray]'"
)
__all__ = ["expected", "folder"]
__all__ += ["test_a_worker_is_killed_half_way", "test_same_bytes", "test_the_command_is_killed_half_way"]
pytestmark = pytest.mark.slow


def workers_of(head):
    """The processes that run calls, or have run some."""
    children = psutil.Process(head).children(recursive=True)
    return [child for child in children if child.name() in ("ray::call_on_ray", "ray::IDLE")]


@pytest.fixture(scope="module")
def cluster():
    """A head node with two workers and a GPU that it only claims."""
    with tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as folder:
        start = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", "--port", "0"]
        start += ["--num-cpus", "2", "--num-gpus", "1", "--object-store-memory", "100000000"]
        start += ["--include-dashboard", "false", "--disable-usage-stats", "--temp-dir", folder]
        head = subprocess.Popen(
            start, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        try:
            assert head.stdout is not None
            found = (re.search(r"--address=\'([^\']+)\'", line) for line in head.stdout)
            address = next(match[1] for match in found if match)
            yield Cluster(["--backend", "ray", "--address", address], lambda: workers_of(head.pid))
        finally:
            ray.shutdown()
            processes = [*psutil.Process(head.pid).children(recursive=True), psutil.Process(head.pid)]
            for process in processes:
                process.kill()
            head.communicate(timeout=60)


def run(engine, function, calls):
    results = []
    engine.run(f"tests.helpers.engine_calls:{function}", calls, results.append)
    return results


def test_workers_that_die_are_replaced_and_a_deadly_call_fails_alone(cluster, tmp_path):
    engine = Engine(backend="ray", address=cluster.options[-1])
    calls = [{"number": number, "flag": str(tmp_path / "flag")} for number in range(3)]
    assert sorted(run(engine, "kill_once", calls)) == [0, 1, 2]
    with pytest.raises(IncompleteError, match="1 of 4 pieces of work killed every worker"):
        run(engine, "square", [{"number": number, "deadly": (2,)} for number in range(4)])


def test_an_error_of_the_call_is_its_own(cluster):
    with pytest.raises(ValueError, match=r"^number 1$"):
        run(Engine(backend="ray", address=cluster.options[-1]), "fail", [{"number": 1}])


def test_a_call_that_needs_a_gpu_has_one_to_itself(cluster):
    calls = [{"name": "CUDA_VISIBLE_DEVICES"}] * 2
    settings = {"backend": "ray", "address": cluster.options[-1]}
    assert run(Engine(**settings, needs_gpu=True), "setting", calls) == ["0", "0"]
    assert run(Engine(**settings), "setting", [{"name": "POLARS_MAX_THREADS"}]) == ["1"]


def test_no_cluster_there():
    ray.shutdown()  # of the tests before
    with pytest.raises(MissingError, match="no Ray cluster takes this machine"):
        run(Engine(backend="ray", address="127.0.0.1:9"), "square", [{"number": 1}])
