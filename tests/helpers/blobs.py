"""Embeddings of classes with known centres."""

import numpy as np


def blobs(n, classes=2, spread=1.0, dimension=4, seed=0):
    """Vectors (n, dimension) around one centre a class, and their labels; `spread` is that of the noise."""
    generator = np.random.default_rng(seed)
    labels = np.array([f"c{i % classes}" for i in range(n)])
    centres = np.random.default_rng(7).normal(size=(classes, dimension)) * 3
    vectors = centres[[int(label[1:]) for label in labels]] + generator.normal(size=(n, dimension)) * spread
    return vectors.astype(np.float32), labels
