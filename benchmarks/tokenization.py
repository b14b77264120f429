"""Speed of the fast tokeniser against NLTK, and on how many sentences the two give the same tokens.

    POLARS_MAX_THREADS=1 python -m benchmarks.tokenization --corpus '../shared/data/corpus/wiki_en-*.txt.gz'

One process gives every batch, in turn, to the fast tokeniser (`treebank`), to the exact one (`nltk`: NLTK
with offsets) and, for a tenth of them, to NLTK alone (terms without offsets). A row counts as identical where
all its terms and offsets are. Classes of differing rows are told apart by the first terms that differ.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import pyarrow as pa
from nltk.tokenize import word_tokenize

from augment_cli.tokenization import Tokens, get_tokenizer
from benchmarks.timing import in_turns, markdown, read_sentences

ALONE_SHARE = 10  # NLTK alone sees one row in ten


def tokens_of_each(texts: Sequence[str]) -> list[list[str]]:
    """What NLTK alone does: lower-cased terms, without offsets."""
    return [word_tokenize(text.lower(), preserve_line=True) for text in texts]


def rows_of(tokens: Tokens) -> list[list[tuple[str, int, int]]]:
    """Each row's (term, start, end)."""
    flat = list(zip(tokens.terms.to_pylist(), tokens.starts.tolist(), tokens.ends.tolist(), strict=True))
    bounds = tokens.row_offsets.tolist()
    return [flat[start:end] for start, end in pairwise(bounds)]


def are_equal(one: Tokens, other: Tokens) -> bool:
    """Whether two answers to the same batch are the same."""
    return (
        bool((one.row_offsets == other.row_offsets).all())
        and one.terms.cast(pa.large_string()).equals(other.terms.cast(pa.large_string()))
        and bool((one.starts == other.starts).all() and (one.ends == other.ends).all())
    )


def main() -> None:
    """Run and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--corpus", required=True, help="glob of gzipped text files, a sentence per line")
    parser.add_argument("--sentences", type=int, default=1_000_000)
    parser.add_argument("--batch", type=int, default=50_000, help="rows per call")
    options = parser.parse_args()

    texts = pa.array(read_sentences(options.corpus, options.sentences), pa.string())
    if not len(texts):
        raise SystemExit(f"no sentences in {options.corpus}")
    fast, exact = get_tokenizer("treebank"), get_tokenizer("nltk")
    seconds, classes = Counter[str](), Counter[tuple[str, str]]()
    for start in range(0, len(texts), options.batch):
        batch = texts.slice(start, options.batch)
        some = batch.take(pa.array(range(0, len(batch), ALONE_SHARE))).to_pylist()
        took, found = in_turns({"treebank": partial(fast, batch), "nltk": partial(exact, batch)}, 1)
        took |= in_turns({"NLTK alone": partial(tokens_of_each, some)}, 1)[0]
        seconds.update({name: values[0] for name, values in took.items()})
        if not are_equal(found["treebank"], found["nltk"]):
            for ours, theirs in zip(rows_of(found["treebank"]), rows_of(found["nltk"]), strict=True):
                if ours != theirs:
                    pairs = zip(ours, theirs, strict=False)
                    classes[next(((a[0], b[0]) for a, b in pairs if a != b), ("", "(count)"))] += 1
    seconds["NLTK alone"] *= ALONE_SHARE
    rows = [
        [name, f"{len(texts) / spent:,.0f}", f"{seconds['NLTK alone'] / spent:.1f}"]
        for name, spent in seconds.items()
    ]
    print(markdown(["tokenizer", "rows/s", "times NLTK alone"], rows))
    print(f"identical: {len(texts) - classes.total():,} of {len(texts):,} rows")
    for (our_term, their_term), count in classes.most_common(20):
        print(f"  {count:>6} rows: {our_term!r} where NLTK has {their_term!r}")


if __name__ == "__main__":
    main()
