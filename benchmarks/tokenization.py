"""Speed of the fast tokeniser against NLTK, and on how many sentences the two give the same tokens.

    POLARS_MAX_THREADS=1 python -m benchmarks.tokenization --corpus '../shared/data/corpus/wiki_en-*.txt.gz'

One process reads the sentences and gives every batch, in turn, to the fast tokeniser (`treebank`), to
the exact one (`nltk`: NLTK with offsets) and, for a tenth of them, to NLTK alone (terms without
offsets), so that all three meet the same load of the machine. A row counts as identical where all its
terms and offsets are. Classes of differing rows are told apart by the first terms that differ.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import islice, pairwise
from typing import Any, TypeVar

import pyarrow as pa
from nltk.tokenize import word_tokenize
from rich.console import Console
from rich.table import Table

from augment_cli.tokenization import Tokens, get_tokenizer
from benchmarks.corpora import read_sentences

ALONE_SHARE = 10  # NLTK alone sees one row in so many

Result = TypeVar("Result")


class Stopwatch:
    """Seconds and rows by name."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.rows: Counter[str] = Counter()

    def __call__(self, name: str, rows: Sequence[Any], work: Callable[[Any], Result]) -> Result:
        """Count the rows and the seconds that `work` takes over them, and return its result."""
        start = time.perf_counter()
        result = work(rows)
        self.seconds[name] += time.perf_counter() - start
        self.rows[name] += len(rows)
        return result


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

    fast, exact = get_tokenizer("treebank"), get_tokenizer("nltk")
    fast(pa.array(["warm up", "É"]))
    exact(pa.array(["warm up"]))
    watch = Stopwatch()
    classes: Counter[tuple[str, str]] = Counter()
    token_count = 0
    source = read_sentences(options.corpus, options.sentences)
    while batch := list(islice(source, options.batch)):
        texts = pa.array(batch, pa.string())
        ours = watch("treebank", texts, fast)
        theirs = watch("nltk", texts, exact)
        watch("NLTK alone", batch[::ALONE_SHARE], tokens_of_each)
        token_count += len(ours.terms)
        if not are_equal(ours, theirs):
            for our_row, their_row in zip(rows_of(ours), rows_of(theirs), strict=True):
                if our_row != their_row:
                    pairs = zip(our_row, their_row, strict=False)
                    first = next(((a[0], b[0]) for a, b in pairs if a != b), ("", "(count)"))
                    classes[first] += 1

    total = watch.rows["treebank"]
    if not total:
        raise SystemExit(f"no sentences in {options.corpus}")
    rates = {name: watch.rows[name] / watch.seconds[name] for name in watch.seconds}
    table = Table("tokenizer", "rows", "seconds", "rows/s", "ratio to NLTK alone", title="One process")
    for name in ("treebank", "nltk", "NLTK alone"):
        ratio = rates[name] / rates["NLTK alone"]
        table.add_row(
            name, f"{watch.rows[name]:,}", f"{watch.seconds[name]:.2f}", f"{rates[name]:,.0f}", f"{ratio:.1f}"
        )
    console = Console()
    console.print(table)
    differing = sum(classes.values())
    console.print(
        f"{token_count / total:.1f} tokens a row; identical: {total - differing:,} of {total:,} rows "
        f"({100 * (1 - differing / total):.4f} %); peak memory of the process "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB"
    )
    for (our_term, their_term), count in classes.most_common(20):
        console.print(f"  {count:>6} rows: {our_term!r} where NLTK has {their_term!r}", markup=False)


if __name__ == "__main__":
    main()
