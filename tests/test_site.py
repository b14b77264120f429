"""The documentation site: builds without a warning, and its reference has everything that the code has."""

import dataclasses
import itertools
import re
import subprocess
import sys

import pytest

from augment_cli import augmentations
from augment_cli.contract.reasons import Reason
from augment_cli.process.exit_codes import VARIABLES
from augment_cli.reports.soundness import all_kinds
from augment_cli.store.kinds import MEANINGS
from augment_cli.version import __version__
from docs import reference
from tests.helpers.places import REPOSITORY
from train import components
from train.loading import RECIPES
from train.recipe import TABLES, Recipe


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
    for name in RECIPES:
        assert re.search(rf"^\| `{name}` \| [^|]{{5,}} \|", recipes, re.M), name
    assert "| `self` | `una`, every 5 steps | `nt-xent`, `tanh` |  |" in recipes
    assert re.search(r"^\| `adapt` \| [^|]+ \|  \|  \|  \| `agreement`, `teacher` \|$", recipes, re.M)
    settings = "\n".join(reference.settings())
    assert "| `temperature` | `0.05` |" in settings
    assert "| `alpha` | `1` | negatives are used in every alpha-th step, counted from 0 |" in settings
    tables = [dataclasses.fields(kind) for kind in TABLES.values()]
    for field in (*dataclasses.fields(Recipe), *itertools.chain(*tables)):
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


def test_every_column_of_every_kind_of_stage_has_its_type_and_meaning():
    text = "\n".join(reference.stage_columns())
    columns = {
        column.name for kind in all_kinds().values() for schema in kind.columns.values() for column in schema
    }
    assert columns == MEANINGS.keys()
    for name in columns:
        assert re.search(rf"^\| `{name}` \| `[\w&;>:, \[\]]+` \| [^|]{{5,}} \|$", text, re.M), name
    assert all(kind.columns for kind in all_kinds().values())


# What launchers give, and what this package sets for libraries beneath it.
NOT_FOR_PEOPLE = {
    *("MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "PYTHONPATH"),
    *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_WAIT_POLICY"),
    *("THP_MEM_ALLOC_ENABLE", "POLARS_MAX_THREADS"),
}


def test_every_environment_variable_that_is_read_is_in_the_reference():
    read = set()
    for folder in ("augment_cli", "train", "eval"):
        for path in (REPOSITORY / folder).rglob("*.py"):
            if "environ" in (code := path.read_text("utf-8")):
                read |= set(re.findall(r'"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|DATA|CXX|RANK)"', code))
    assert {"AUGMENT_API_KEY", "AUGMENT_FAST", "DATA", "CXX"} <= read - NOT_FOR_PEOPLE <= VARIABLES.keys()
    text = "\n".join(reference.environment_variables())
    assert all(f"| `{name}` | " in text for name in VARIABLES)


def test_the_glossary_has_every_word_once():
    words = re.findall(r"^\| `?([^|`]+)`? \| [^|]{5,} \| [^|]*\|$", "\n".join(reference.glossary()), re.M)
    assert {"stage", "draw", "recipe", "una", "info-nce", "teacher"} <= set(words)
    assert words[1:] == sorted(words[1:], key=str.lower) and len(words) == len(set(words))


def sentences(text):
    """The sentences and cells of a page that have eight words or more, as words."""
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    for block in re.split(r"\n\s*\n|\n(?=[-|] )|\|", text):
        for sentence in re.split(r"(?<=[.:;?!])\s+", " ".join(block.split())):
            if len(words := re.findall(r"\w+", sentence.lower())) >= 8:
                yield " ".join(words)


def test_nothing_is_described_twice():
    """Neither by hand on two pages, nor by hand what the reference has from the code."""
    generated = {sentence for make in reference.PAGES.values() for sentence in sentences("\n".join(make()))}
    pages = [page for page in (REPOSITORY / "docs").rglob("*.md") if "_build" not in page.parts]
    pages = [page for page in pages if page.parent.name != "reference" or page.stem not in reference.PAGES]
    pages += [REPOSITORY / "CONTRIBUTING.md"]
    seen = {}
    for page in pages:
        for sentence in set(sentences(page.read_text("utf-8"))):
            assert sentence not in generated or page.name == "concepts.md", (page.name, sentence)
            assert sentence not in seen, (page.name, seen.get(sentence), sentence)
            seen[sentence] = page.name
    assert len(seen) > 500 and len(generated) > 500


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
