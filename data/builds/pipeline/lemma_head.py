"""The student's lemmatizer with more edit trees than gold trees alone can teach.

spaCy takes the lemmatizer's labels from the data it is initialized with, the gold trees, where "Written" at a
sentence's start is too rare to have a tree of its own, and counts every word without a label as label 0 while
it trains. So after training, the linear layer that chooses the edit tree is learned once more, on the same
vectors (the shared layers stay as they are), with the commonest trees of gold and silver as its labels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from torch.nn import functional as F

LABELS = 1_000  # edit trees; each costs 400 bytes
EPOCHS, BATCH, RATE = 5, 4_096, 2e-3
UNKNOWN = -100  # a word whose lemma is not known, or needs a rarer tree


def read_training(nlp: Language, folder: Path) -> Iterator[Doc]:
    """Read the documents of a folder's ``.spacy`` files, file by file in order of their names."""
    for path in sorted(folder.glob("*.spacy")):
        yield from DocBin().from_disk(path).get_docs(nlp.vocab)


def choose_trees(lemmatizer: Any, pairs: Counter[tuple[str, str]], count: int) -> list[int]:
    """Return the ids of the `count` edit trees that serve most words, by falling number of words."""
    trees: Counter[int] = Counter()
    for (word, lemma), times in pairs.items():
        trees[lemmatizer.trees.add(word, lemma)] += times
    return [tree for tree, _ in trees.most_common(count)]


def read_vectors(nlp: Language, docs: Iterable[Doc], unit: dict[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the shared layers' word vectors, (words, width) as float16, and the words' labels, (words,)."""
    # The documents are divided anew by the pipeline's tokenizer, whose words carry what it knows about them
    # ("n't" is "not"); where it divides otherwise, the document is left out. So are words without a label.
    lemmatizer: Any = nlp.get_pipe("trainable_lemmatizer")
    encoder: Any = nlp.get_pipe("tok2vec")
    vectors, labels = [], []
    rest = iter(docs)
    while batch := list(islice(rest, 500)):
        pairs = [(nlp.make_doc(doc.text), doc) for doc in batch]
        same = [(new, doc) for new, doc in pairs if [t.text for t in new] == [t.text for t in doc]]
        if not same:
            continue
        rows = np.concatenate(encoder.model.predict([new for new, _ in same]))
        trees = [
            unit.get(lemmatizer.trees.add(token.text, token.lemma_), UNKNOWN) if token.lemma_ else UNKNOWN
            for _, doc in same
            for token in doc
        ]
        known = np.array(trees) != UNKNOWN
        vectors.append(rows[known].astype(np.float16))
        labels.append(np.array(trees)[known])
    return np.concatenate(vectors), np.concatenate(labels)


def learn(vectors: np.ndarray, labels: np.ndarray, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Fit a softmax layer; returns weights (count, width) and biases (count,)."""
    generator = torch.Generator().manual_seed(seed)
    x, y = torch.from_numpy(vectors), torch.from_numpy(labels)
    weight = torch.zeros(count, x.shape[1], requires_grad=True)
    bias = torch.zeros(count, requires_grad=True)
    optimizer = torch.optim.Adam([weight, bias], lr=RATE)
    steps = EPOCHS * -(-len(x) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(x), generator=generator).split(BATCH):
            loss = F.cross_entropy(F.linear(x[rows].float(), weight, bias), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return weight.detach().numpy(), bias.detach().numpy()


def replace_head(lemmatizer: Any, trees: Sequence[int], weight: np.ndarray, bias: np.ndarray) -> None:
    """Give a lemmatizer other edit trees as labels, and the softmax layer that chooses among them."""
    for node in lemmatizer.model.walk():
        if "softmax" in node.name and node.has_dim("nO"):  # the layer and what wraps it
            node._dims["nO"] = len(trees)  # set_dim refuses where there are weights
        if node.name == "softmax":
            node.set_param("W", weight)
            node.set_param("b", bias)
    lemmatizer.cfg["labels"] = list(trees)
    lemmatizer.tree2label = {tree: label for label, tree in enumerate(trees)}


def relearn(nlp: Language, training: Path, share: int, seed: int) -> None:
    """Learn the lemmatizer's last layer anew, in place."""
    lemmatizer = nlp.get_pipe("trainable_lemmatizer")
    pairs: Counter[tuple[str, str]] = Counter()
    for doc in read_training(nlp, training):
        pairs.update((token.text, token.lemma_) for token in doc if token.lemma_)
    trees = choose_trees(lemmatizer, pairs, LABELS)
    unit = {tree: label for label, tree in enumerate(trees)}
    vectors, labels = read_vectors(nlp, islice(read_training(nlp, training), 0, None, share), unit)
    weight, bias = learn(vectors, labels, len(trees), seed)
    replace_head(lemmatizer, trees, weight, bias)
