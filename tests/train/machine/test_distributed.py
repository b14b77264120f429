"""N ranks equal one rank at the same global batch; sums in shared memory are gloo's."""

import numpy as np
import pytest

from augment_cli.errors import UsageError
from tests.helpers.places import REPOSITORY
from tests.helpers.training import finished
from train.machine.distributed import join

WORKER = REPOSITORY / "tests" / "helpers" / "gradients_worker.py"


@pytest.fixture(scope="module")
def gradients(tiny_store, tiny_encoder, tmp_path_factory):
    folder, known = tmp_path_factory.mktemp("gradients"), {}

    def compute(ranks, fast="1"):
        if (ranks, fast) not in known:
            out = folder / f"{ranks}-{fast}.npz"
            finished(WORKER, tiny_store, tiny_encoder, out, ranks=ranks, AUGMENT_FAST=fast)
            known[ranks, fast] = dict(np.load(out))
        return known[ranks, fast]

    return compute


def relative(a, b):
    return np.linalg.norm(a - b) / (np.linalg.norm(b) or 1.0)


def is_magnified(name):
    """Whether what fp32 rounds comes out in full: from a static encoder's first step on."""
    # The table's Adagrad divides a row's first gradient by its own size, whatever it is, and a gradient of
    # nearly nothing is all rounding. The same settings in float64 say that it is that.
    kind, step, what = name.split("|")
    return kind.startswith("fp32") and kind.endswith("static") and (step != "0" or what == "table")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranks", "fast", "most"), [(2, "1", 1e-5), (4, "1", 1e-5), (1, "0", 1e-4), (2, "0", 1e-4)]
)
def test_ranks_and_the_libraries_own_code_agree_with_one(gradients, ranks, fast, most):
    """Over all losses, heads and additions; without our own code: transformers' layers and gloo's sum."""
    alone, other = gradients(1), gradients(ranks, fast)
    assert alone.keys() == other.keys()
    for name, value in alone.items():
        if not is_magnified(name):
            assert relative(other[name], value) <= (1e-10 if name.startswith("float64") else most), name


@pytest.mark.slow
def test_gradient_caching_changes_nothing(gradients):
    alone = gradients(1)
    names = [name for name in alone if "chunk 7" in name]
    assert {f"{kind} chunk 7|0|gradient" for kind in ("float64 neighbourhood", "float64 queue and noise")} < {
        *names
    }
    for name in names:
        limit = 1e-11 if name.startswith("float64") else 1e-5
        assert relative(alone[name], alone[name.replace("chunk 7", "chunk 0")]) <= limit, name


def test_more_processes_than_gpus_is_refused(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 1)
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    with pytest.raises(UsageError, match="--nproc-per-node 1"):
        join()


WORKER_OF_SHARED_SUM = REPOSITORY / "tests" / "helpers" / "shared_sum_worker.py"


@pytest.mark.parametrize(
    ("ranks", "ways"),
    [
        (2, ("shared", "refused", "elsewhere", "apart")),
        pytest.param(3, ("shared", "elsewhere"), marks=pytest.mark.slow),
    ],
)
def test_sums_are_those_of_gloo(ranks, ways):
    said = finished(WORKER_OF_SHARED_SUM, ranks, *ways)
    expected = [f"{way} slots {ranks + 1 if way == 'shared' else 0}" for way in ways]
    assert sorted(said.splitlines()) == sorted(expected * ranks)
