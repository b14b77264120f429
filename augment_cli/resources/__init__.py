"""Word lists and tables that ship with the package; each folder or file says where it comes from."""

from functools import cache
from pathlib import Path

from augment_cli.errors import MissingError
from augment_cli.store.files import sha256_of_file

FOLDER = Path(__file__).parent
GET = "pip install --force-reinstall --no-deps augment-cli"
# What must be there, and `doctor` looks for; a list of words is looked for by whoever reads it, too.
TABLES = (
    *(f"wordnet/{name}.parquet" for name in ("entries", "senses", "synsets", "antonyms", "forms")),
    *(f"places/{name}.parquet" for name in ("cities", "small_cities", "countries")),
    "terms/english.parquet",
    *(f"collocations/{name}.parquet" for name in ("words", "pairs")),
)


def shipped(name: str) -> Path:
    """The file of a resource, `wordnet/forms.parquet` or `words/colours.txt`."""
    path = FOLDER / name
    if not path.is_file():
        raise MissingError(f"{path}: this installation lacks it; {GET}")
    return path


@cache
def shipped_digest(name: str) -> str:
    """SHA-256 of a resource's file, for the fingerprint of what is made with it."""
    return sha256_of_file(shipped(name))
