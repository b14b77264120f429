"""The layers of an encoder, from the embeddings up, where its architecture names them as BERT does."""

from torch import nn


def known_layers(encoder: nn.Module) -> list[nn.Module]:
    """The embedding layer, then each above it (as BERT and MPNet have them); [] of other encoders."""
    inner = getattr(encoder, "encoder", None) or getattr(encoder, "transformer", None)
    layers, embeddings = getattr(inner, "layer", None), getattr(encoder, "embeddings", None)
    return [] if layers is None or embeddings is None else [embeddings, *layers]


def freeze(encoder: nn.Module, share: float) -> bool:
    """Leave the embeddings and a share of the layers untrained; whether it knows which these are."""
    layers = known_layers(encoder)
    for layer in layers[: 1 + int(share * (len(layers) - 1))]:
        layer.requires_grad_(False)
    return bool(layers)
