"""Make the table of neighbouring words that the package ships, from sentences of Wikipedia and of books.

    python -m data.builds.collocations.build --text CORPUS/wiki_en-0[0-7].txt.gz CORPUS/books_en.txt.gz

Of words in lower case, numbers as 0 (years 0000). Sentences that are kept aside to be read go to `--skip`.
"""

import argparse
from pathlib import Path

import numpy as np
import pyarrow as pa

from augment_cli.resources import END, FOLDER, START, UNKNOWN, tokens
from data.builds import sentences, write

WORDS = 32_700
LEAST = 3  # times that a pair is met


def build(paths: list[Path], skipped: set[str], target: Path) -> None:
    """Write words.parquet and pairs.parquet."""
    target.mkdir(parents=True, exist_ok=True)
    numbers: dict[str, int] = {START: 0, END: 1, UNKNOWN: 2}
    parts = []
    for sentence in sentences(paths):
        if not sentence.strip() or sentence in skipped:
            continue
        row = [0, *(numbers.setdefault(word, len(numbers)) for word in tokens(sentence)), 1]
        parts.append(np.array(row, np.int32))
    flat = np.concatenate(parts)
    counts = np.bincount(flat)
    kept = np.argsort(-counts[3:], kind="stable")[:WORDS] + 3
    new = np.full(len(counts), 2, np.int32)
    new[[0, 1, *kept]] = [0, 1, *range(3, 3 + len(kept))]
    flat = new[flat]
    words = [START, END, UNKNOWN, *np.array(list(numbers), object)[kept]]
    write(
        target / "words.parquet",
        {"word": pa.array(words), "count": pa.array(np.bincount(flat, minlength=len(words)), pa.int32())},
    )
    inside = flat[1:] != 0
    keys, often = np.unique(flat[:-1][inside].astype(np.int64) << 16 | flat[1:][inside], return_counts=True)
    keys, often = keys[often >= LEAST], often[often >= LEAST]
    write(
        target / "pairs.parquet",
        {
            "first": pa.array((keys >> 16).astype(np.uint16)),
            "second": pa.array((keys & 0xFFFF).astype(np.uint16)),
            "count": pa.array(often, pa.int32()),
        },
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--text", type=Path, nargs="+", required=True, help="gzipped, a sentence a line")
    parser.add_argument("--skip", type=Path, nargs="*", default=[], help="sentences to leave out, one a line")
    parser.add_argument("--out", type=Path, default=FOLDER / "collocations")
    given = parser.parse_args()
    skipped = {line for path in given.skip for line in path.read_text("utf-8").splitlines()}
    build(given.text, skipped, given.out)
