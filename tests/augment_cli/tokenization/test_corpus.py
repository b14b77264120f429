"""Real sentences: the fast tokeniser against NLTK, terms and offsets."""

import gzip
from itertools import islice, pairwise

import numpy as np
import pyarrow as pa
import pytest

from augment_cli.tokenization import get_tokenizer


def read(path, start, count):
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return pa.array([line.rstrip("\n") for line in islice(lines, start, start + count)], pa.string())


def share_identical(texts) -> float:
    """Share of rows with the same terms at the same places."""
    rows = []
    for tokens in (get_tokenizer("treebank")(texts), get_tokenizer("nltk")(texts)):
        flat = list(zip(tokens.terms.to_pylist(), tokens.starts.tolist(), tokens.ends.tolist(), strict=True))
        rows.append([flat[start:end] for start, end in pairwise(tokens.row_offsets.tolist())])
    return float(np.mean([ours == theirs for ours, theirs in zip(*rows, strict=True)]))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_wikipedia_sentences(data_folder, part):
    texts = read(data_folder / "corpus" / f"wiki_en-{part:02d}.txt.gz", 7000 * part, 20_000)
    assert len(texts) == 20_000
    assert share_identical(texts) >= 0.9999


@pytest.mark.slow
@pytest.mark.parametrize("name", ["books_en", "zh_wiki", "zh_wiki_short", "zh_simclue"])
def test_other_kinds_of_text(data_folder, name):
    texts = read(data_folder / "corpus" / f"{name}.txt.gz", 0, 10_000)
    assert share_identical(texts) >= 0.9999


@pytest.mark.slow
def test_a_million_sentences_point_into_their_text(data_folder):
    tokenizer = get_tokenizer("treebank")
    for part in range(10):
        texts = read(data_folder / "corpus" / f"wiki_en-{part:02d}.txt.gz", 0, 100_000)
        tokens = tokenizer(texts)
        counts = np.diff(tokens.row_offsets)
        assert counts.min() > 0 and tokens.row_offsets[-1] == len(tokens.terms)
        inner = np.ones(len(tokens.starts), bool)
        inner[tokens.row_offsets[:-1]] = False
        assert (tokens.starts < tokens.ends).all()
        assert (tokens.starts[1:] >= tokens.ends[:-1])[inner[1:]].all()
        # Spot checks, because a loop over all of them takes minutes.
        for row, text in enumerate(texts[:2000].to_pylist()):
            here = slice(tokens.row_offsets[row], tokens.row_offsets[row + 1])
            for term, start, end in zip(
                tokens.terms[here.start : here.stop].to_pylist(),
                tokens.starts[here].tolist(),
                tokens.ends[here].tolist(),
                strict=True,
            ):
                assert text[start:end].lower() == term or term in ("``", "''")
