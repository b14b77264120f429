"""What is watched while a run goes on: dev score, loss, collapse, speed; and how it ended."""

from pathlib import Path


def has_stsb(data: Path | None) -> bool:
    """Whether the data folder holds STS-B."""
    return data is not None and (data / "sts" / "stsb.tsv.gz").is_file()
