"""An encoder with another pooling, without any training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from augment_cli.errors import UsageError
from augment_cli.store.files import check_output_folder
from eval.contract.arguments import call


def main(arguments: list[str]) -> None:
    """Write an encoder with another pooling."""
    call(_write, "python -m train pooling", arguments)


def _write(
    encoder: Annotated[str, typer.Argument(help="folder or name of an encoder")],
    pooling: Annotated[
        str, typer.Argument(help="negations:mean, in which English negations weigh more; mean, cls, max, …")
    ],
    out: Annotated[Path, typer.Option(help="folder of the encoder; must not exist yet")],
) -> None:
    """Write an encoder with another pooling, without any training."""
    check_output_folder(out, "--out")
    if out.exists():
        raise UsageError(f"{out} exists; name a new folder as --out")
    from augment_cli.encoding.loading import load_encoder  # loads torch
    from train.model.start import refuse_what_would_be_lost
    from train.outputs.export import check_pooling, export

    check_pooling(pooling)
    changed = load_encoder(encoder, pooling=pooling)
    refuse_what_would_be_lost(changed)
    export(changed, out)
    print(f"{out}: {encoder} with the pooling {pooling}")
