"""`compile = true`: the same losses, and a plain word where nothing can compile."""

import pytest

from augment_cli.errors import MissingError
from train.loading import make_recipe
from train.machine.distributed import join
from train.machine.threads import check_compiler
from train.outputs.log import read_log
from train.prepare import Run
from train.run import train


def losses(store, encoder, out, **values):
    recipe = make_recipe(
        {"batch": 16, "steps": 4, "log_every": 1, "evaluate_every": 0, "dropout": 0.0} | values
    )
    train(Run(recipe, store, str(encoder), out), join())
    return [event["loss"] for event in read_log(out / "log.jsonl") if event["event"] == "step"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_same_losses(tiny_store, tiny_encoder, tmp_path, precision):
    try:
        check_compiler()
    except MissingError as error:
        pytest.skip(str(error))
    plain = losses(tiny_store, tiny_encoder, tmp_path / "plain", precision=precision)
    compiled = losses(tiny_store, tiny_encoder, tmp_path / "compiled", precision=precision, compile=True)
    assert len(plain) == 4
    assert compiled == pytest.approx(plain, rel=1e-4 if precision == "fp32" else 3e-2)


def test_without_a_compiler_the_run_does_not_begin(tiny_store, tiny_encoder, tmp_path, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(MissingError, match=r"no-such-compiler.*apt-get install g\+\+.*compile = false"):
        losses(tiny_store, tiny_encoder, tmp_path / "run", compile=True)
    assert not (tmp_path / "run").exists()
