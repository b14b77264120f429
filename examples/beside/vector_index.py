"""Search by an adapted encoder in a plain vector index (usearch).

python vector_index.py mine.txt runs/adapt-mine/best < queries.txt
"""

import sys
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer
from usearch.index import Index


class Search:
    """Texts in an index, found by cosine."""

    def __init__(self, texts: list[str], encoder: str) -> None:
        self.texts, self.encoder = texts, SentenceTransformer(encoder, device="cpu")
        vectors = self.encoder.encode(texts)
        self.index = Index(ndim=vectors.shape[1], metric="cos")
        self.index.add(np.arange(len(texts)), vectors)

    def __call__(self, query: str, count: int = 5) -> list[tuple[float, str]]:
        """The nearest texts, each with its cosine, in descending order of it."""
        found = self.index.search(self.encoder.encode([query])[0], count)
        return [(1 - float(match.distance), self.texts[int(match.key)]) for match in found]


if __name__ == "__main__":
    search = Search(Path(sys.argv[1]).read_text("utf-8").splitlines(), sys.argv[2])
    for query in sys.stdin.read().splitlines():
        print(query, *(f"  {cosine:.2f}  {text}" for cosine, text in search(query)), sep="\n")
