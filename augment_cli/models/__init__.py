"""Models that come with the package, and what identifies any model."""

from pathlib import Path

from augment_cli.errors import MissingError

ENGLISH_PIPELINE = "english"


def shipped_pipeline() -> Path:
    """Folder of the shipped English spaCy pipeline; loading it needs `augment-cli[parse]`."""
    folder = Path(__file__).parent / ENGLISH_PIPELINE
    if not (folder / "config.cfg").is_file():
        raise MissingError(
            f"{folder}: the shipped English pipeline is not there; install augment-cli anew, or name an "
            "installed pipeline or a folder with --pipeline"
        )
    return folder
