"""The pinned versions are ones that every promised Python can install."""

import configparser
from importlib import metadata

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.helpers.places import REPOSITORY


def pinned():
    lines = (REPOSITORY / "constraints.txt").read_text("utf-8").splitlines()
    return dict(line.split("==") for line in lines)


def oldest_python():
    settings = configparser.ConfigParser()
    settings.read(REPOSITORY / "setup.cfg", "utf-8")
    (promised,) = SpecifierSet(settings["options"]["python_requires"])
    assert promised.operator == ">="
    return f"{promised.version}.0"


def test_they_install_on_the_oldest_python_that_is_promised():
    versions = {canonicalize_name(name): version for name, version in pinned().items()}
    oldest, checked = oldest_python(), 0
    for distribution in metadata.distributions():
        name = canonicalize_name(distribution.metadata["Name"])
        if versions.get(name) != distribution.version.partition("+")[0]:
            continue
        # A single one that cannot be had there sends pip through old versions of all others for ten minutes.
        needed = distribution.metadata.json.get("requires_python", "")
        assert SpecifierSet(str(needed)).contains(oldest), (
            f"{name} {distribution.version} needs Python {needed}"
        )
        checked += 1
    assert checked > 0.9 * len(versions)
