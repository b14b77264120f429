"""The registry: each augmentation is one file in the folder of its family.

`eda/word_deletion.py` is `word-deletion`, and its `Augmentation` is the constant `WORD_DELETION`. A new
augmentation is that one file, and one golden file in the tests. A file without a constant of its own name
is a helper of its family.

An installed package adds augmentations of its own by entry points of the group `augment_cli.augmentations`,
such as ``shout = "my_package.shout:SHOUT"``; CONTRIBUTING.md shows a whole one.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from augment_cli.contract.plugins import Place, provided, the_only
from augment_cli.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from augment_cli.contract.augmentation import Augmentation

FAMILIES = ("una", "sda", "models", "augcse", "eda", "rules")
ENTRY_POINTS = "augment_cli.augmentations"
_NAME = "[a-z][a-z0-9-]*"


@cache
def _places() -> dict[str, list[Place]]:
    here = Path(__file__).parent
    places = {
        file.stem.replace("_", "-"): [Place(f"{__name__}.{family}.{file.stem}", constant)]
        for family in FAMILIES
        for file in sorted((here / family).glob("[a-z]*.py"))
        if re.search(rf"^{(constant := file.stem.upper())}\b.* = ", file.read_text("utf-8"), re.M)
    }
    for name, found in provided(ENTRY_POINTS).items():
        if re.fullmatch(_NAME, name):  # else no command, and no folder, can be called so
            places[name] = [*places.get(name, []), *found]
    return places


def names() -> list[str]:
    """Names of all augmentations: our own, family by family, then those of other installed packages."""
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
