"""The registry: every file in `terms/`, `syntax/`, `words/` and `models/` is one augmentation.

`words/word_deletion.py` is `word-deletion`, and its `Augmentation` is the constant `WORD_DELETION`. A new
augmentation is that one file, and one golden file in the tests. What several of them share is in the
`shared/` folders, which are not looked at here.

An installed package adds augmentations of its own by entry points of the group `augment_cli.augmentations`,
such as ``shout = "my_package.shout:SHOUT"``; CONTRIBUTING.md shows a whole one.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from augment_cli.contract.plugins import Place, brought, the_only
from augment_cli.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from augment_cli.contract.augmentation import Augmentation

# What an augmentation reads: TF-IDF, cached parses, the words of the text, a model's answers.
GROUPS = ("terms", "syntax", "words", "models")
ENTRY_POINTS = "augment_cli.augmentations"


@cache
def _places() -> dict[str, list[Place]]:
    here = Path(__file__).parent
    files = [file for group in GROUPS for file in sorted((here / group).glob("[a-z]*.py"))]
    places = {
        file.stem.replace("_", "-"): [Place(f"{__name__}.{file.parent.name}.{file.stem}", file.stem.upper())]
        for file in files
    }
    for name, found in brought(ENTRY_POINTS).items():
        places[name] = [*places.get(name, []), *found]
    return places


def names() -> list[str]:
    """Names of all augmentations: our own, group by group, then those of other installed packages."""
    return list(_places())


def summary(name: str) -> str:
    """What an augmentation does, in one line: the first of its file's docstring, read without running it."""
    place = _places()[name][0]
    try:
        docstring = ast.get_docstring(ast.parse(place.source())) or ""
    except (ImportError, OSError, SyntaxError, ValueError) as error:
        if not place.package:
            raise
        return f"cannot be loaded from the package {place.package} ({error})"  # the other commands still work
    return docstring.partition("\n")[0]


def get(name: str) -> Augmentation:
    """The descriptor of an augmentation."""
    if name not in _places():
        alike = did_you_mean(name, _places())
        raise UsageError(f"there is no augmentation {name!r}.{alike} There are {', '.join(_places())}")
    place = the_only(_places()[name], what := f"augmentation {name!r}")
    descriptor: Augmentation = place.load(what)
    if place.package:
        _check(descriptor, name, place.described(what))
    return descriptor


def _check(descriptor: object, name: str, where: str) -> None:
    """What a package brings as an augmentation."""
    from augment_cli.contract.augmentation import Augmentation

    if not isinstance(descriptor, Augmentation):
        raise UsageError(f"{where} is {type(descriptor).__name__}; it must be an `Augmentation`")
    if descriptor.name != name:
        raise UsageError(f"{where} calls itself {descriptor.name!r}; both names must be the same")
