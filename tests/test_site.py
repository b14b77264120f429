"""The documentation site: builds without a warning, and its reference has everything that the code has."""

import dataclasses
import re
import subprocess
import sys

import pytest

from augment_cli import augmentations
from augment_cli.contract.reasons import Reason
from augment_cli.version import __version__
from docs import reference
from tests.helpers.places import REPOSITORY
from train import components
from train.recipe import Recipe


def test_a_link_that_leaves_the_pages_becomes_a_path_or_leads_to_what_is_made_from_it():
    text = "[card](../../data/models/encoder/README.md#use), [una](../how-to/una.md), [rules](rules.md)"
    assert reference.for_the_site(text, "reference/parses") == (
        "card (`data/models/encoder/README.md`), [una](../how-to/una.md), [rules](rules.md)"
    )
    assert reference.for_the_site("[log](../benchmarks/LOG.md)", "index") == "log (`benchmarks/LOG.md`)"
    code = "[codes](../../augment_cli/errors/__init__.py)"
    assert reference.for_the_site(code, "explanation/promises") == "[codes](../reference/exit-codes.md)"
    assert reference.for_the_site(code, "reference/store") == "[codes](exit-codes.md)"


def test_git_ignores_the_pages_that_are_generated_and_no_others():
    ignored = re.findall(r"^/docs/reference/(.+)$", (REPOSITORY / ".gitignore").read_text("utf-8"), re.M)
    assert ignored == [f"{name}.md" for name in reference.PAGES]


def test_the_reference_has_every_command_augmentation_and_setting():
    commands = "\n".join(reference.commands())
    assert {"## ingest", "## score", "## report", "## pack"} <= set(commands.splitlines())
    assert "`--corpus`" in commands and "`--part-rows`" in commands
    made = "\n".join(reference.all_augmentations())
    assert {f"## {name}" for name in augmentations.names()} <= set(made.splitlines())
    recipes = "\n".join(reference.recipes())
    for file in (REPOSITORY / "train/recipes").glob("*.toml"):
        assert re.search(rf"^\| `{file.stem}` \| [^|]{{5,}} \|", recipes, re.M), file.stem
    assert "| `self` | `una`, every 5 steps | `nt-xent`, `tanh` |  |" in recipes
    assert re.search(r"^\| `adapt` \| [^|]+ \|  \|  \|  \| `agreement`, `teacher` \|$", recipes, re.M)
    settings = "\n".join(reference.settings())
    assert "| `temperature` | `0.05` |" in settings
    assert "| `alpha` | `1` | negatives are used in every alpha-th step, counted from 0 |" in settings
    for field in dataclasses.fields(Recipe):
        assert re.search(rf"\| `{field.name}` \| `.*` \| [^|]{{5,}} \|", settings), field.name
    for kind in ("losses", "heads", "additions"):
        for name in components.names(kind):
            assert re.search(rf"^### {name}\n\n.{{10,}}", settings, re.M), name
            if components.has_settings(kind, name):
                for field in dataclasses.fields(components.module(kind, name).Settings):
                    assert re.search(rf"\| `{field.name}` \| `.*` \| [^|]+ \|", settings), (name, field.name)


def test_the_reference_has_every_label_reason_and_exit_code():
    text = "\n".join(reference.reasons())
    for name in augmentations.names():
        assert re.search(rf"^\| `{name}` \| (same|other|neither) \| .{{5,}} \|$", text, re.M), name
    for reason in Reason:
        assert f"| `{reason}` | {reason.words}" in text
    codes = re.findall(r"^\| (\d+) \| .{4,} \|$", "\n".join(reference.exit_codes()), re.M)
    assert codes == ["0", "1", "2", "3", "4", "5", "6", "130"]


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    build = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "docs", str(tmp_path)]
    done = subprocess.run(build, cwd=REPOSITORY, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "reference" / "augmentations.html").read_text("utf-8")
    assert 'id="una"' in page
    assert "Columns that --where and --sort may name" in (
        (tmp_path / "reference" / "commands.html").read_text("utf-8")
    )
    for name in (
        "index",
        "tutorials/start",
        "explanation/promises",
    ):  # what axe calls serious: headings without a level, boxes out of reach
        text = (tmp_path / f"{name}.html").read_text("utf-8")
        assert 'role="heading"' in text and not re.search(r'role="heading"(?! aria-level)', text)
        assert not re.search(r"<pre>|<div class=\"table-wrapper", text)
    index = (tmp_path / "index.html").read_text("utf-8")
    assert not re.search(r'(?:src=|<link[^>]+href=)"https?:', index)  # nothing is fetched
    assert 'src="_images/flow.svg"' in index
    assert f'href="../{__version__}/index.html">{__version__}</a>' in index  # the menu of versions
