"""How a model is run; `augment_cli/neural/runtime.py` does so."""

from __future__ import annotations

from dataclasses import dataclass

from augment_cli.contract.parameters import parameter


def precision_parameter() -> str:
    """The parameter `precision` of whatever runs a model."""
    return parameter(
        "auto",
        "of the model's numbers; auto: bf16 on a GPU and on CPUs that compute in it, else fp32",
        choices=("auto", "fp32", "bf16"),
    )


def device_parameter() -> str:
    """The parameter `device`."""
    return parameter("auto", "auto takes the GPUs if there are any", choices=("auto", "cpu", "cuda"))


def batch_tokens_parameter() -> int:
    """The parameter `batch_tokens`."""
    return parameter(0, "most input tokens in a batch; 0: 1024 on a CPU, 16384 on a GPU", minimum=0)


@dataclass(frozen=True)
class RuntimeParameters:
    """Options of every augmentation that runs a model."""

    precision: str = precision_parameter()
    device: str = device_parameter()
    batch_tokens: int = batch_tokens_parameter()
    threads: int = parameter(1, "CPU threads of each worker", minimum=1, maximum=1024)
    rows: int = parameter(
        0, "run the model on the first N sentences only, the others stay unchanged; 0 for all", minimum=0
    )
    allow_download: bool = parameter(False, "fetch a model that is not on this machine from the hub")
