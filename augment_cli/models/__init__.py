"""Models that come with the package, and what identifies any model."""

from __future__ import annotations

from pathlib import Path

ENGLISH_PIPELINE = "english"
PARAPHRASER = "paraphraser"


def shipped_pipeline() -> Path:
    """Folder of the shipped English spaCy pipeline; loading it needs `augment-cli[parse]`.

    Raises
    ------
    MissingError
        If this installation came without it.
    """
    from augment_cli.errors import MissingError

    folder = Path(__file__).parent / ENGLISH_PIPELINE
    if not (folder / "config.cfg").is_file():
        raise MissingError(
            f"{folder}: the shipped English pipeline is not there; install augment-cli anew, or name an "
            "installed pipeline or a folder with --pipeline"
        )
    return folder


def shipped_paraphraser() -> Path:
    """Folder of the shipped small PEGASUS; loading it needs `augment-cli[neural]`.

    Raises
    ------
    MissingError
        If this installation came without it.
    """
    from augment_cli.errors import MissingError

    folder = Path(__file__).parent / PARAPHRASER
    if not (folder / "config.json").is_file():
        raise MissingError(
            f"{folder}: this installation came without a paraphraser; name a folder or a hub model with "
            "--model (the paper's: tuner007/pegasus_paraphrase), or make the small one with "
            "`make paraphraser` in a checkout"
        )
    return folder
