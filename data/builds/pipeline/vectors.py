"""Static word vectors from plain sentences: floret, fastText with a small hashed table.

Every word is the mean of a few rows that its whole form and its character n-grams hash to, so that 18,000
rows serve all words, unknown ones too (https://github.com/explosion/floret). Lower-cased: the student sees
case by other features.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import spacy

from data.builds.frame import sentences

# Continuous bag of words with a short reach: vectors that say what a word does rather than what it is about.
SETTINGS = {
    "model": "cbow",
    "mode": "floret",
    "hashCount": 2,
    "bucket": 18_000,
    "minn": 4,
    "maxn": 5,
    "dim": 64,
    "minCount": 10,
    "epoch": 5,
    "ws": 3,
    "neg": 5,
    "lr": 0.05,
    "thread": 1,
}


def write_tokens(paths: Iterable[Path], out: Path) -> int:
    """Write the sentences of gzipped text files as lower-cased tokens between spaces; returns how many."""
    count = 0
    temporary = out.with_suffix(".part")
    with temporary.open("w", encoding="utf-8") as target:
        for path in paths:
            # A new tokenizer a file: the store of strings would otherwise grow with every new word.
            tokenizer = spacy.blank("en").tokenizer
            for line in sentences([path]):
                words = [token.lower_ for token in tokenizer(line.strip()) if not token.is_space]
                target.write(" ".join(words) + "\n")
                count += 1
    temporary.rename(out)
    return count


def train_vectors(tokens: Path, out: Path) -> None:
    """Train floret vectors on a file of tokens and write them in floret's text format."""
    import floret  # in the extra `builds`, which nothing but this step needs

    model = floret.train_unsupervised(str(tokens), **SETTINGS)
    temporary = out.with_suffix(".part")
    model.save_floret_vectors(str(temporary))
    temporary.rename(out)


def corpus_files(data: Path, wiki: int) -> Sequence[Path]:
    """Return the first `wiki` files of Wikipedia sentences and the one of books."""
    return [*sorted((data / "corpus").glob("wiki_en-*.txt.gz"))[:wiki], data / "corpus" / "books_en.txt.gz"]
