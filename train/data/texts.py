"""Texts as the trainer knows them: token ids, and one number for each distinct text."""

from __future__ import annotations

import hashlib

import numpy as np

CORPUS = "corpus"  # the stage of the sentences themselves
SELF = "self"  # in place of a stage: the anchor again

Ids = np.ndarray | None  # token ids of one text, shape (length,); None where there is no such text
NO_IDS = np.zeros(0, dtype=np.int64)

# Text ids of what is not a text. All real ones are at least 0.
NO_SENTENCE = -2  # of a negative that stands for no sentence, such as noise
NO_TEXT = -1  # of padding, or of a negative that its augmentation could not make


def text_id(ids: Ids) -> int:
    """A number for a text as the encoder sees it: equal numbers mean equal texts.

    Parameters
    ----------
    ids : numpy.ndarray or None
        Token ids, cut and with special tokens, shape (length,), int64.

    Returns
    -------
    int
        63 bits of a digest, or `NO_TEXT` where there is no text.
    """
    if ids is None:
        return NO_TEXT
    return int.from_bytes(hashlib.blake2b(ids.tobytes(), digest_size=8).digest(), "little") >> 1
