"""Word lists and tables that ship with the package; each folder or file says where it comes from."""

from pathlib import Path

FOLDER = Path(__file__).parent
