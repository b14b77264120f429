"""Where the shipped paraphraser's training starts: a new PEGASUS that already knows where to look.

A sequence-to-sequence model has to find out that most of a paraphrase is copied, and from where, before it
can
learn anything about paraphrasing; from random weights that takes longer than a CPU has. Both facts can be
written down instead:

- the word embeddings start from the factorised co-occurrence matrix, as the shipped encoder's do;
- some attention heads start as pointers. With sinusoidal positions a rotation of 32 of the frequencies turns
  "position i" into "position i - 1", so a head can look at the token before, or at the same place in the
  source; and a head whose keys hold the token *before* each source position finds the place where the last
  written word stands in the source, and copies the word after it (an induction head, Olsson et al. 2022).

Every weight is trained afterwards; all others are PEGASUS's random ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import PegasusConfig, PegasusForConditionalGeneration

from data.builds.encoder.start import REACH, embed_words
from data.builds.paraphraser.tokens import Rows

SHARPNESS = 64.0  # product of query and key gains: one position apart is then four nats less
FREQUENCIES = 32  # the fastest ones, where neighbouring positions differ most
CONTENT = 2.0  # gain of queries and of keys that compare words
COPY = 1.5  # gain of the values that carry a word to the output
NORM = 0.35  # length of a word embedding; times 16 it is half as long as the position's


def build(
    settings: dict[str, Any], vocabulary: int, rows: Rows, seed: int
) -> PegasusForConditionalGeneration:
    """Make the model that training starts from."""
    torch.manual_seed(seed)
    config = PegasusConfig(
        vocab_size=vocabulary,
        scale_embedding=True,
        activation_function="relu",
        dropout=0.0,
        init_std=0.02,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        forced_eos_token_id=1,
        **settings,
    )
    model = PegasusForConditionalGeneration(config)
    vectors = embed_words(count_meetings(rows, vocabulary), config.d_model)
    vectors *= NORM / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    met = torch.from_numpy(np.linalg.norm(vectors, axis=1) > NORM / 2)
    with torch.no_grad():
        model.model.shared.weight[met] = torch.from_numpy(vectors).float()[met]
        point(model, torch.Generator().manual_seed(seed))
    return model


def count_meetings(rows: Rows, vocabulary: int) -> np.ndarray:
    """How often two pieces stand within `REACH` of each other, shape (vocabulary, vocabulary), symmetric."""
    counts = np.zeros(vocabulary * vocabulary, dtype=np.float32)
    values = rows.ids.astype(np.int64)
    sentence = np.repeat(np.arange(len(rows)), rows.lengths)
    for distance in range(1, REACH + 1):
        same = sentence[distance:] == sentence[:-distance]
        pairs = values[:-distance][same] * vocabulary + values[distance:][same]
        counts += np.bincount(pairs, minlength=len(counts))
    square = counts.reshape(vocabulary, vocabulary)
    return square + square.T


def positions(d_model: int, shift: int = 0) -> Tensor:
    """Projection of a hidden state to `FREQUENCIES` of its position, turned by `shift` positions."""
    # PEGASUS puts the sines in the first half of the vector and the cosines in the second.
    # Returns Tensor, shape (2 * FREQUENCIES, d_model); applied to the embedding of position p it gives that
    # of position p + `shift`.
    half = d_model // 2
    angle = shift * 10000 ** (-2 * torch.arange(FREQUENCIES) / d_model)
    projection = torch.zeros(2 * FREQUENCIES, d_model)
    row = torch.arange(FREQUENCIES)
    projection[row, row], projection[row, half + row] = torch.cos(angle), torch.sin(angle)
    projection[FREQUENCIES + row, row] = -torch.sin(angle)
    projection[FREQUENCIES + row, half + row] = torch.cos(angle)
    return projection


def point(model: PegasusForConditionalGeneration, generator: torch.Generator) -> None:
    """Write the pointing heads into the first layers of encoder and decoder."""
    width = model.config.d_model
    size = width // model.config.encoder_attention_heads
    gain = SHARPNESS**0.5
    basis, _ = torch.linalg.qr(torch.randn(width, width, generator=generator))
    word = [basis[:, k * size : (k + 1) * size].T for k in range(width // size)]  # (size, width) each
    place, _ = torch.linalg.qr(torch.randn(width, width, generator=generator))
    before = place[:, :size].T  # where the encoder notes the token before

    def head(attention: Any, index: int, query: Tensor, key: Tensor, value: Tensor, output: Tensor) -> None:
        rows = slice(index * size, (index + 1) * size)
        for linear, weight in (("q_proj", query), ("k_proj", key), ("v_proj", value)):
            getattr(attention, linear).weight[rows] = weight
        attention.out_proj.weight[:, rows] = output

    encoder = model.model.encoder.layers[0].self_attn
    here = positions(width)[:size] * gain
    head(encoder, 0, positions(width, -1)[:size] * gain, here, word[0], before.T)
    head(encoder, 1, positions(width, 1)[:size] * gain, here, word[1], place[:, size : 2 * size])
    cross = model.model.decoder.layers[0].encoder_attn
    for index in range(2):  # copy the token at the same place …
        head(cross, index, here, here, word[index] * COPY, word[index].T)
    for index in range(2, 4):  # … and the token after the place of the last written word
        head(cross, index, word[0] * CONTENT, before * CONTENT, word[index] * COPY, word[index].T)
