"""Commands about models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from augment_cli.cli.application import app
from augment_cli.cli.guard import guarded
from augment_cli.errors.visible import visible


@app.command("convert-weights")
@guarded
def convert_weights(folder: Annotated[Path, typer.Argument(help="folder with pytorch_model*.bin")]) -> None:
    """Convert a model's pickled weights to safetensors, which is all that is ever loaded.

    The pickle is read with `torch.load(weights_only=True)`, so no code in it runs.

    \b
    Examples:

        augment-cli convert-weights models/pegasus_paraphrase
    """
    from augment_cli.neural.conversion import convert_weights as convert

    print(f"{visible(convert(folder))}: written; the pickled file may be deleted")
