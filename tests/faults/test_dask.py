"""The same bytes on a Dask cluster of worker processes, also when a worker or the command is killed."""

import os
import re

import psutil
import pytest

from augment_cli.store.store import Store
from tests.helpers.cluster_runs import (
    Cluster,
    dask_cluster,
    expected,
    finish,
    folder,
    ingest,
    test_a_worker_is_killed_half_way,
    test_same_bytes,
    test_the_command_is_killed_half_way,
    una,
)

__all__ = ["expected", "folder"]
__all__ += ["test_a_worker_is_killed_half_way", "test_same_bytes", "test_the_command_is_killed_half_way"]
pytestmark = pytest.mark.slow


def on_cluster(address):
    return ["--backend", "dask", "--scheduler", address]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with dask_cluster(tmp_path_factory.mktemp("cluster")) as (address, nanny):

        def workers():
            children = psutil.Process(nanny).children(recursive=True)
            return [child for child in children if "spawn" in str(child.cmdline())]

        yield Cluster(on_cluster(address), workers)


def test_workers_with_another_library_make_nothing(folder, expected, tmp_path):
    for name in ("numpy", "pyarrow"):
        metadata = tmp_path / "site" / f"{name}-0.0.1.dist-info" / "METADATA"
        metadata.parent.mkdir(parents=True)
        metadata.write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.0.1\n")
    ingest(folder, "mixed")
    path = os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")])
    with dask_cluster(tmp_path, PYTHONPATH=path) as (address, _):
        code, errors = finish(una(folder, "mixed", *on_cluster(address)))
    assert code == 5 and re.search(
        r"worker \S+ \(process \d+\) has numpy 0\.0\.1, and this machine", errors
    ), errors
    assert "Traceback" not in errors and "numpy 0.0.1" in errors.splitlines()[-1]  # after Dask's own warning
    store = Store.open(folder / "mixed")
    assert {name for name in store.stages() if store.stage(name).parts} == {"corpus", "rejects"}
