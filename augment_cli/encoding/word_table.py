"""An encoder's bare word table as an encoder: what a method that trains its layers has to beat."""

from __future__ import annotations

import hashlib

import numpy as np
import torch

from augment_cli.encoding import transforms
from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.static import StaticEncoder, StaticTable
from augment_cli.encoding.words_apart import TokenCounts
from augment_cli.errors import UsageError

POOLINGS = ("table", "idf:table", "sif:table", "zipf:table", "zipf-idf:table")


def word_table(encoder: Encoder, pooling: str, counts: TokenCounts | None = None) -> StaticEncoder:
    """The word table of an encoder, its rows weighted or whitened: no position, no layer."""
    if pooling not in POOLINGS:
        raise UsageError(f"unknown pooling {pooling!r} of a word table; choose one of {', '.join(POOLINGS)}")
    table = encoder.model.get_input_embeddings().weight.detach().float().cpu().numpy()
    kind = pooling.rpartition(":")[0]
    if kind and counts is None:
        raise UsageError(f"pooling {pooling!r} counts tokens of a corpus; name its store (--counts)")
    if counts is not None and kind:
        if len(counts.occurrences) != len(table):
            raise UsageError(f"counts of {len(counts.occurrences)} tokens do not fit {len(table)} words")
        if kind.startswith("zipf"):
            table = transforms.fit(table, weights=counts.probability)(table)
        if not kind.endswith("zipf"):
            table = table * counts.weights(kind.removeprefix("zipf-"))[:, None]
    table = np.ascontiguousarray(table, dtype=np.float32)
    digest = hashlib.sha256(table.tobytes()).hexdigest()
    found = StaticTable(torch.from_numpy(table))
    return StaticEncoder(found, encoder.tokenizer, pooling, digest=digest, name=encoder.name)
