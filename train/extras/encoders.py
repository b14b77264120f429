"""Encoders without training: nearest neighbours for people, an encoder between two, another pooling."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from augment_cli.errors import MixError, UsageError
from augment_cli.errors.visible import visible
from augment_cli.store.store import Store
from eval.measures.geometry import unit
from train.outputs import check_new_folder

if TYPE_CHECKING:
    from augment_cli.encoding.encoder import Encoder

TEXTS = 10_000  # among which neighbours are looked for
_Out = Annotated[Path, typer.Option(help="folder of the encoder; must not exist yet")]


def nearest(texts: list[str], vectors: np.ndarray, count: int) -> list[tuple[str, str, float]]:
    """Some texts, evenly spaced, each with its nearest other text and their cosine."""
    scaled = unit(vectors)
    found = []
    for row in np.unique(np.linspace(0, len(texts) - 1, count + 2).round().astype(int)[1:-1]):
        cosines = scaled @ scaled[row]
        cosines[[text == texts[row] for text in texts]] = -np.inf
        best = int(cosines.argmax())
        if np.isfinite(cosines[best]):
            found.append((texts[row], texts[best], float(cosines[best])))
    return found


def interpolate(start: "Encoder", trained: "Encoder", share: float) -> None:
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


def _print_nearest(
    encoder: Annotated[str, typer.Argument(help="folder of an encoder, such as runs/static/best")],
    store: Annotated[Path, typer.Option(help="store with the corpus")] = Path("store"),
    count: Annotated[int, typer.Option(help="how many examples")] = 3,
) -> None:
    """Nearest neighbours for people: what an encoder takes for alike in a corpus."""
    from augment_cli.encoding.loading import load_encoder  # loads torch
    from train.methods.whitening import spaced_texts

    if not 1 <= count <= TEXTS:
        raise UsageError(f"--count {count}: must be from 1 to {TEXTS:,}")
    texts = spaced_texts(Store.open(store), TEXTS)
    for text, other, cosine in nearest(texts, load_encoder(encoder).encode(texts), count):
        print(f"{visible(text)}\n  nearest, cosine {cosine:.2f}: {visible(other)}")


def _write_between(
    start: Annotated[str, typer.Argument(help="folder or name of the encoder that the training began with")],
    trained: Annotated[str, typer.Argument(help="folder of the one it made, such as runs/mine/best")],
    out: _Out,
    share: Annotated[float, typer.Option(help="of the way that the weights go, above 0, below 1")] = 0.7,
) -> None:
    """Write an encoder between two, which keeps more of the start and has less of the training."""
    if not 0 < share < 1:
        raise UsageError(f"--share {share:g}: must be above 0 and below 1; the two ends are there already")
    check_new_folder(out)
    from augment_cli.encoding.loading import load_encoder  # loads torch
    from train.model import refuse_what_would_be_lost
    from train.outputs.export import export

    encoder = load_encoder(trained)
    refuse_what_would_be_lost(encoder)
    interpolate(load_encoder(start), encoder, share)
    export(encoder, out)
    print(f"{out}: {share:g} of the way from {start} to {trained}")


def _write_pooled(
    encoder: Annotated[str, typer.Argument(help="folder or name of an encoder")],
    pooling: Annotated[
        str, typer.Argument(help="negations:mean, in which English negations weigh more; mean, cls, max, …")
    ],
    out: _Out,
) -> None:
    """Write an encoder with another pooling, without any training."""
    check_new_folder(out)
    from augment_cli.encoding.loading import load_encoder
    from train.model import refuse_what_would_be_lost
    from train.outputs.export import check_pooling, export

    check_pooling(pooling)
    changed = load_encoder(encoder, pooling=pooling)
    refuse_what_would_be_lost(changed)
    export(changed, out)
    print(f"{out}: {encoder} with the pooling {pooling}")


COMMANDS = {"nearest": _print_nearest, "interpolate": _write_between, "pooling": _write_pooled}
