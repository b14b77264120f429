"""An encoder between the one that a training began with and the one that it made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from augment_cli.errors import MixError, UsageError
from augment_cli.store.files import check_output_folder
from eval.contract.arguments import call

if TYPE_CHECKING:
    from augment_cli.encoding.encoder import Encoder


def interpolate(start: Encoder, trained: Encoder, share: float) -> None:
    """Move the trained weights to start + share · (trained − start), `share` from 0 to 1.

    Raises `MixError` where the two differ in their weights' names or shapes.

    Source: Wortsman et al. 2022 (Robust fine-tuning of zero-shot models, WiSE-FT), equation 1.
    """
    import torch

    ours, theirs = trained.model.state_dict(), start.model.state_dict()
    shapes = [{name: tensor.shape for name, tensor in weights.items()} for weights in (ours, theirs)]
    if shapes[0] != shapes[1]:
        raise MixError(
            f"{start.name} and {trained.name} have other weights; name the encoder that the training "
            "began with"
        )
    with torch.no_grad():
        for name, tensor in ours.items():
            if tensor.is_floating_point():
                tensor.copy_(theirs[name].lerp(tensor, share))


def main(arguments: list[str]) -> None:
    """Write an encoder between two."""
    call(_write, "python -m train interpolate", arguments)


def _write(
    start: Annotated[str, typer.Argument(help="folder or name of the encoder that the training began with")],
    trained: Annotated[str, typer.Argument(help="folder of the one it made, such as runs/mine/best")],
    out: Annotated[Path, typer.Option(help="folder of the encoder; must not exist yet")],
    share: Annotated[float, typer.Option(help="of the way that the weights go, above 0, below 1")] = 0.7,
) -> None:
    """Write an encoder between two, which keeps more of the start and has less of the training."""
    if not 0 < share < 1:
        raise UsageError(f"--share {share:g}: must be above 0 and below 1; the two ends are there already")
    check_output_folder(out, "--out")
    if out.exists():
        raise UsageError(f"{out} exists; name a new folder as --out")
    from augment_cli.encoding.loading import load_encoder  # loads torch
    from train.model.start import refuse_what_would_be_lost
    from train.outputs.export import export

    encoder = load_encoder(trained)
    refuse_what_would_be_lost(encoder)
    interpolate(load_encoder(start), encoder, share)
    export(encoder, out)
    print(f"{out}: {share:g} of the way from {start} to {trained}")
