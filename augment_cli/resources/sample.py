"""Where the shipped sample of sentences lies."""

from pathlib import Path

SAMPLE = Path(__file__).parents[1] / "sample" / "sentences.txt"
