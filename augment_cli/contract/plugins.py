"""What other installed packages provide by entry points: augmentations, and parts of trainings."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from augment_cli.errors import UsageError

_POINT = re.compile(r"([\w.]+)(?:\s*:\s*([\w.]+))?(?:\s*\[.*\])?")


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
