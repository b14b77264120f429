"""Parse the sentences that pairs are made from, once, with the shipped English pipeline.

    python -m data.builds.paraphraser.parses FILE... --pipeline FOLDER --count N --out FOLDER

Writes ``parses-NNNN.parquet`` (columns text and those of the stage `parses`, 5,000 sentences each); files
that exist are not made again.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from augment_cli.parsing.tables import parse_texts
from data.builds.paraphraser.vocabulary import sample_lines

PART = 5_000
SHORTEST, LONGEST = 30, 200  # characters: fragments below, and above more than the model's 56 tokens
SEED = 43
COUNT = 250_000


def parse(lines: list[str], pipeline: Path, out: Path) -> None:
    """Parse `lines` into part files under `out`."""
    import spacy

    language = spacy.load(pipeline)
    out.mkdir(parents=True, exist_ok=True)
    for part, first in enumerate(range(0, len(lines), PART)):
        path = out / f"parses-{part:04d}.parquet"
        if path.exists():
            continue
        texts = pa.array(lines[first : first + PART], pa.string())
        temporary = path.with_suffix(".tmp")
        pq.write_table(parse_texts(language, texts).append_column("text", texts), temporary)
        temporary.replace(path)
        print(f"{first + PART:,} of {len(lines):,} sentences", flush=True)


def read(folder: Path) -> Iterator[pa.Table]:
    """Yield the parts in order."""
    for path in sorted(folder.glob("parses-*.parquet")):
        yield pq.read_table(path)


def main() -> None:
    """Read the command line, sample, parse."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, help="gzipped text, one sentence a line")
    parser.add_argument("--pipeline", type=Path, required=True, help="spaCy pipeline with UD labels")
    parser.add_argument("--count", type=int, default=COUNT, help="sentences to draw")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    lines = sample_lines(args.files, args.count, SEED)
    random.Random(SEED).shuffle(lines)  # so that any number of parts is a fair sample
    parse([line for line in lines if SHORTEST <= len(line) <= LONGEST], args.pipeline, args.out)


if __name__ == "__main__":
    main()
