"""How to cite: the command's BibTeX and CITATION.cff name the same version."""

import re

import yaml

from augment_cli.version import RELEASED, __version__
from tests.helpers.places import REPOSITORY


def test_the_entry_is_bibtex_of_this_version(command):
    done = command("--cite")
    assert done.returncode == 0 and done.stdout.startswith("@software{augment_cli,\n")
    fields = dict(re.findall(r"^ +(\w+) += \{(.*?)\},?$", done.stdout, re.M))
    assert fields["version"] == __version__ and fields["year"] == RELEASED[:4]
    assert done.stdout.count("{") == done.stdout.count("}")


def test_the_citation_file_says_the_same():
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == __version__ and str(citation["date-released"]) == RELEASED
    changelog = (REPOSITORY / "CHANGELOG.md").read_text("utf-8")
    assert f"## [{__version__}] - {RELEASED}" in changelog
