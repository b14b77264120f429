"""Models that come with the package, and what identifies any model."""

from __future__ import annotations

from pathlib import Path

from augment_cli.errors import MissingError

ENGLISH_PIPELINE = "english"
PARAPHRASER = "paraphraser"


def shipped_pipeline() -> Path:
    """Folder of the shipped English spaCy pipeline; loading it needs `augment-cli[parse]`."""
    return _shipped(
        ENGLISH_PIPELINE,
        "config.cfg",
        "the shipped English pipeline is not there; install augment-cli anew, or name an installed pipeline "
        "or a folder with --pipeline",
    )


def shipped_paraphraser() -> Path:
    """Folder of the shipped small PEGASUS; loading it needs `augment-cli[neural]`."""
    return _shipped(
        PARAPHRASER,
        "config.json",
        "this installation came without a paraphraser; name a folder or a hub model with --model (the "
        "paper's: tuner007/pegasus_paraphrase), or make the small one with `make paraphraser` in a checkout",
    )


def _shipped(name: str, mark: str, message: str) -> Path:
    """A folder beside this file, if it holds the file `mark`."""
    folder = Path(__file__).parent / name
    if not (folder / mark).is_file():
        raise MissingError(f"{folder}: {message}")
    return folder
