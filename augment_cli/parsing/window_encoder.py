"""spaCy's encoder of windows of words (`spacy.MaxoutWindowEncoder.v2`) as few passes over few numbers.

Each of its layers adds to a word's vector LayerNorm(max over pieces of W·[left; word; right] + b). thinc
also keeps what training would need: which piece was largest, the vectors before each step. For predictions
alone two thirds of the time do, with the same sums but for their last digits.

Source: the layers `residual(expand_window >> maxout >> layernorm)` of thinc 8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_EPSILON = np.float32(1e-8)  # of thinc's layer normalisation


def knows(config: Mapping[str, Any]) -> bool:
    """Whether an encoder of this configuration is one; a single layer is not wrapped as several are."""
    return config.get("@architectures") == "spacy.MaxoutWindowEncoder.v2" and config["depth"] > 1


def encode(model: Any, texts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The encoder's vectors of at least one text, float32 (tokens, width) each."""
    # Between texts stand `pad` rows of zeros, as in thinc: they are encoded, too, so that the sentences' ends
    # depend on their number.
    pad, width = model.attrs["pad"], texts[0].shape[1]
    starts = np.cumsum([pad, *(len(text) + pad for text in texts)])
    layers = [{node.name: node for node in layer.walk()} for layer in model.layers[0].layers]
    window = layers[0]["expand_window"].attrs["window_size"]
    # Zeros before the first row and behind the last, for their windows.
    padded = np.zeros((int(starts[-1]) + 2 * window, width), np.float32)
    rows = padded[window : len(padded) - window]
    for start, text in zip(starts, texts, strict=False):
        rows[start : start + len(text)] = text
    columns = np.empty((len(rows), (2 * window + 1) * width), np.float32)
    for layer in layers:
        for place in range(2 * window + 1):
            columns[:, place * width : (place + 1) * width] = padded[place : place + len(rows)]
        rows += _normalised(_largest_piece(columns, layer["maxout"]), layer["layernorm"])
    return [rows[start : start + len(text)] for start, text in zip(starts, texts, strict=False)]


def _largest_piece(columns: np.ndarray, maxout: Any) -> np.ndarray:
    weights, bias = maxout.get_param("W"), maxout.get_param("b")  # (width, pieces, columns), (width, pieces)
    # Piece after piece, so that each is a block of columns of the product.
    width, pieces, _ = weights.shape
    products = columns @ weights.transpose(1, 0, 2).reshape(pieces * width, -1).T
    products += bias.T.reshape(-1)
    largest: np.ndarray = products.reshape(len(columns), pieces, width).max(axis=1)
    return largest


def _normalised(vectors: np.ndarray, layer_norm: Any) -> np.ndarray:
    """Layer normalisation, in place."""
    vectors -= vectors.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", vectors, vectors) / np.float32(vectors.shape[1]) + _EPSILON
    vectors *= (variance ** np.float32(-0.5))[:, None]
    vectors *= layer_norm.get_param("G")
    vectors += layer_norm.get_param("b")
    return vectors
