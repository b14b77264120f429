"""The registry: every file in `terms/`, `syntax/`, `words/` and `models/` is one augmentation.

`words/word_deletion.py` is `word-deletion`, and its `Augmentation` is the constant `WORD_DELETION`. A new
augmentation is that one file, and one golden file in the tests. What several of them share is in the
`shared/` folders, which are not looked at here.
"""

from __future__ import annotations

import ast
import importlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from augment_cli.errors import UsageError

if TYPE_CHECKING:
    from augment_cli.contract.augmentation import Augmentation

# What an augmentation reads: TF-IDF, cached parses, the words of the text, a model's answers.
GROUPS = ("terms", "syntax", "words", "models")


@cache
def _files() -> dict[str, Path]:
    here = Path(__file__).parent
    files = [file for group in GROUPS for file in sorted((here / group).glob("[a-z]*.py"))]
    return {file.stem.replace("_", "-"): file for file in files}


def names() -> list[str]:
    """Names of all augmentations, group by group."""
    return list(_files())


def summary(name: str) -> str:
    """What an augmentation does, in one line: the first of its file's docstring, read without running it."""
    docstring = ast.get_docstring(ast.parse(_files()[name].read_text("utf-8"))) or ""
    return docstring.partition("\n")[0]


def get(name: str) -> Augmentation:
    """The descriptor of an augmentation.

    Parameters
    ----------
    name : str
        As the command has it, such as `word-deletion`.

    Raises
    ------
    UsageError
        If no augmentation has that name.
    """
    if name not in _files():
        raise UsageError(f"there is no augmentation {name!r}; there are {', '.join(_files())}")
    file = _files()[name]
    module = importlib.import_module(f"{__name__}.{file.parent.name}.{file.stem}")
    return getattr(module, file.stem.upper())
