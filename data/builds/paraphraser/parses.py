"""Parse the sentences that pairs are made from, once, with the shipped English pipeline.

    python -m data.builds.paraphraser.parses FILE... --pipeline FOLDER --count N --out FOLDER

Writes ``parses-NNNN.spacy`` (spaCy's own format, 5,000 sentences each); files that exist are not made again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from data.builds.paraphraser.vocabulary import sample_lines

PART = 5_000
SHORTEST, LONGEST = 30, 200  # characters: fragments below, and above more than the model's 56 tokens
KEPT = ["ORTH", "SPACY", "LEMMA", "POS", "TAG", "DEP", "HEAD"]
SEED = 43
COUNT = 250_000


def parse(lines: list[str], pipeline: Path, out: Path) -> None:
    """Parse `lines` into part files under `out`."""
    import spacy
    from spacy.tokens import DocBin

    language = spacy.load(pipeline)
    out.mkdir(parents=True, exist_ok=True)
    for part, first in enumerate(range(0, len(lines), PART)):
        path = out / f"parses-{part:04d}.spacy"
        if path.exists():
            continue
        bin = DocBin(attrs=KEPT, docs=language.pipe(lines[first : first + PART], batch_size=256))
        temporary = path.with_suffix(".tmp")
        bin.to_disk(temporary)
        temporary.replace(path)
        print(f"{first + PART:,} of {len(lines):,} sentences", flush=True)


def read(folder: Path) -> Iterator[object]:
    """Yield the parsed documents in order."""
    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    vocab = Vocab()
    for path in sorted(folder.glob("parses-*.spacy")):
        yield from DocBin().from_disk(path).get_docs(vocab)


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
    import random

    random.Random(SEED).shuffle(lines)  # so that any number of parts is a fair sample
    parse([line for line in lines if SHORTEST <= len(line) <= LONGEST], args.pipeline, args.out)


if __name__ == "__main__":
    main()
