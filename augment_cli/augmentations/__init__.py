"""The registry: each augmentation is one file in the folder of its family.

`eda/word_deletion.py` is `word-deletion`, and its `Augmentation` is the constant `WORD_DELETION`. A new
augmentation is that one file, and one golden file in the tests. A file without a constant of its own name
is a helper of its family.

An installed package adds augmentations of its own by entry points of the group `augment_cli.augmentations`,
such as ``shout = "my_package.shout:SHOUT"``; CONTRIBUTING.md shows a whole one.
"""

import ast
import importlib
import importlib.util
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from augment_cli.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from augment_cli.contract.augmentation import Augmentation

_POINT = re.compile(r"([\w.]+)(?:\s*:\s*([\w.]+))?(?:\s*\[.*\])?")
FAMILIES = ("una", "sda", "models", "augcse", "eda", "rules")
ENTRY_POINTS = "augment_cli.augmentations"
_NAME = "[a-z][a-z0-9-]*"


@dataclass(frozen=True)
class Place:
    """Where something is found."""

    module: str
    constant: str = ""  # its name in the module; "" where it is the module itself
    package: str = ""  # that provides it; "" for our own

    def source(self) -> str:
        """The module's source, read without running it."""
        found = importlib.util.find_spec(self.module)
        return Path(found.origin or "").read_text("utf-8") if found else ""

    def load(self, what: str) -> Any:
        """Import it; messages call it `what`, such as "augmentation 'shout'", and name the package."""
        try:
            if not self.module:
                raise ValueError("its entry point is not MODULE:CONSTANT")
            module = importlib.import_module(self.module)
            return getattr(module, self.constant) if self.constant else module
        except (
            Exception,
            SystemExit,
        ) as error:  # a package that ends the program ends it as if all were done
            if not self.package:
                raise
            raise UsageError(
                f"{self.described(what)} cannot be loaded: {type(error).__name__}: {error}; mend or "
                "uninstall the package"
            ) from error

    def described(self, what: str) -> str:
        """The words that errors begin with."""
        point = f"{self.module}:{self.constant}" if self.constant else self.module
        return f"the {what} of the package {self.package} ({point})"


@cache
def provided(group: str) -> Mapping[str, Sequence[Place]]:
    """What packages provide of a group, by name: one place each, several where packages conflict."""
    places: dict[str, list[Place]] = {}
    for point in sorted(metadata.entry_points(group=group), key=lambda point: (point.name, point.value)):
        match = _POINT.fullmatch(point.value.strip())
        module, constant = match.groups("") if match else ("", point.value)
        place = Place(module, constant, point.dist.name if point.dist else module)
        if place not in places.setdefault(point.name, []):
            places[point.name].append(place)
    return places


def the_only(places: Sequence[Place], what: str) -> Place:
    """The place of a name; `UsageError` if several packages provide one of that name."""
    place, *others = places
    if others:
        article = "an" if what[0] in "aeiou" else "a"
        packages = " and ".join(item.package or "augment-cli" for item in places)
        raise UsageError(f"{packages} each bring {article} {what}; uninstall one of them, or rename it")
    return place


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


def get(name: str) -> "Augmentation":
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
