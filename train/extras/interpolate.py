"""An encoder between two: the mean of a start's weights and of those trained from it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated

import typer

from augment_cli.errors import MissingError, UsageError
from eval.contract.arguments import call

WEIGHTS = "model.safetensors"


def interpolate(start: str, trained: Path, share: float, out: Path) -> None:
    """Write an encoder whose every weight is (1 − share) · the start's + share · the trained one's.

    A training moves an encoder along one direction; half of the way often has most of what was learned and
    costs less of what the start knew.

    Source: Wortsman et al. 2022 (WiSE-FT), equation 1.
    """
    from safetensors.torch import load_file

    from augment_cli.neural.loading import find_folder
    from train.outputs.folder import write_tensors

    if out.exists():
        raise UsageError(f"--out {out}: is there already; choose another folder")
    if not (trained / WEIGHTS).is_file():
        raise MissingError(
            f"{trained}: has no {WEIGHTS}; name a folder that a training wrote, such as runs/una/best"
        )
    first, last = load_file(find_folder(start, False, "START")[0] / WEIGHTS), load_file(trained / WEIGHTS)
    for name, weights in last.items():
        if name not in first or first[name].shape != weights.shape:
            raise UsageError(f"{trained}: was not trained from {start}: {name} is another there")
        if weights.is_floating_point():
            last[name] = first[name].to(weights).lerp(weights, share)
    shutil.copytree(trained, out)
    write_tensors(last, out / WEIGHTS, metadata={"format": "pt"})
    with (out / "README.md").open("a", encoding="utf-8") as card:
        card.write(f"\nEach weight is {1 - share:g} of the start's and {share:g} of the trained one's.\n")


def main(arguments: list[str]) -> None:
    """Write an encoder between a start and what was trained from it."""
    call(_command, "python -m train interpolate", arguments)


def _command(
    start: Annotated[
        str, typer.Argument(help="the encoder that the training began with; minilm, or a folder")
    ],
    trained: Annotated[Path, typer.Argument(help="folder of the trained encoder, such as runs/meaning/best")],
    out: Annotated[Path, typer.Option("--out", help="folder to write")],
    share: Annotated[float, typer.Option("--share", help="of the trained weights", min=0, max=1)] = 0.5,
) -> None:
    """Write an encoder between a start and what was trained from it."""
    from train.methods.adapt.columns import encoder_name

    interpolate(encoder_name(start), trained, share, out)
    print(out)
