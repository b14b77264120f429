"""Choose and tokenise the sentences of the denoising phase.

python -m data.builds.paraphraser.corpus FILE... --work FOLDER
"""

from __future__ import annotations

import argparse
from pathlib import Path

from data.builds.paraphraser import tokens
from data.builds.paraphraser.vocabulary import sample_lines

COUNT = 600_000
SHORTEST, LONGEST = 30, 220  # characters: no fragments, and few that are too long for the model
SEED = 7


def main() -> None:
    """Read the command line, sample, tokenise."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, help="gzipped text, one sentence a line")
    parser.add_argument("--work", type=Path, required=True, help="work folder with vocabulary/")
    args = parser.parse_args()
    if (args.work / "corpus.npz").exists():
        return
    lines = [line for line in sample_lines(args.files, COUNT, SEED) if SHORTEST <= len(line) <= LONGEST]
    rows = tokens.encode(lines, args.work / "vocabulary")
    tokens.save({"text": rows}, args.work / "corpus.npz")
    print(f"{len(rows):,} sentences, {rows.lengths.mean():.1f} tokens each")


if __name__ == "__main__":
    main()
