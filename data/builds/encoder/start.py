"""Where the shipped encoder's pretraining starts: a new BERT whose word embeddings know which words meet.

    python -m data.builds.encoder.start --store STORE --tokenizer FOLDER --out FOLDER

Masked language modelling needs thousands of steps before it has learned more than word frequencies. The
factorised co-occurrence matrix (Levy & Goldberg 2014: positive pointwise mutual information, singular value
decomposition) holds that knowledge after a minute, so on a CPU the word embeddings start from it. All other
weights are BERT's random ones.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.utils.extmath import randomized_svd

from augment_cli.store.store import Store
from train.data.tokens import cache_tokens
from train.loading import load_recipe
from train.model.start import start
from train.outputs.export import export

REACH = 5  # words to each side that count as met
SENTENCES = 400_000  # enough for 11,520 pieces
SMOOTHING = 0.75  # of the context distribution, against the bias of mutual information towards rare words
NORM = 0.5  # length of a word embedding: BERT's normal(0, 0.02) in 256 dimensions has 0.32
SEED = 42


def count_meetings(store: Store, stage: str, vocabulary: int) -> np.ndarray:
    """How often two pieces stand within `REACH` of each other, shape (vocabulary, vocabulary), symmetric."""
    counts = np.zeros(vocabulary * vocabulary, dtype=np.float32)
    seen = 0
    for part, (_, rows) in enumerate(store.parts):
        ids = store.read_part(stage, part, ["ids"])["ids"].combine_chunks()
        values = ids.values.to_numpy().astype(np.int64)
        sentence = np.repeat(np.arange(len(ids)), np.diff(ids.offsets.to_numpy()))
        for distance in range(1, REACH + 1):
            same = sentence[distance:] == sentence[:-distance]
            pairs = values[:-distance][same] * vocabulary + values[distance:][same]
            met, times = np.unique(pairs, return_counts=True)
            counts[met] += times
        seen += rows
        if seen >= SENTENCES:
            break
    square = counts.reshape(vocabulary, vocabulary)
    return square + square.T


def embed_words(counts: np.ndarray, dimensions: int) -> np.ndarray:
    """Word vectors of length `NORM` from co-occurrence counts, shape (vocabulary, dimensions)."""
    words, contexts = counts.sum(axis=1), counts.sum(axis=0) ** SMOOTHING
    expected = np.outer(words / words.sum(), contexts / contexts.sum()) * counts.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.log(counts / expected)
    information[~(information > 0)] = 0.0
    left, singular, _ = randomized_svd(information, dimensions, n_iter=3, random_state=SEED)
    vectors = left * np.sqrt(singular)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(lengths, 1e-9) * NORM


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--store", type=Path, required=True, help="store with the sentences")
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder of vocabulary.py")
    parser.add_argument("--out", type=Path, required=True, help="folder for the encoder")
    args = parser.parse_args()
    encoder = start(args.tokenizer, load_recipe("mlm"), torch.device("cpu"))
    store = Store.open(args.store)
    stage = cache_tokens(store, "corpus", encoder.tokenizer)
    embeddings: Any = encoder.model.get_input_embeddings()
    vocabulary, dimensions = embeddings.weight.shape
    vectors = embed_words(count_meetings(Store.open(args.store), stage, vocabulary), dimensions)
    met = torch.from_numpy(np.linalg.norm(vectors, axis=1) > NORM / 2)
    with torch.no_grad():
        embeddings.weight[met] = torch.from_numpy(vectors).float()[met]
    export(encoder, args.out)
    print(f"{int(met.sum())} of {vocabulary} word embeddings from co-occurrence, in {args.out}")


if __name__ == "__main__":
    main()
