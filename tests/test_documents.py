"""What documents name exists and runs, numbers were measured, and the site has all that the code has."""

from __future__ import annotations

import configparser
import csv
import dataclasses
import importlib
import itertools
import re
import shlex
import subprocess
import sys
import threading
import tokenize
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

import augment_cli
from augment_cli import augmentations
from augment_cli.contract.reasons import Reason
from augment_cli.process.exit_codes import VARIABLES
from augment_cli.reports.soundness import all_kinds
from augment_cli.store.kinds import MEANINGS
from augment_cli.version import __version__
from benchmarks import read_lines, snli_negatives
from benchmarks.reproduce.grid import GRID, load_grid
from benchmarks.reproduce.table import (
    averages,
    comparison_table,
    differences,
    draws,
    fresh,
    fresh_table,
    measured,
)
from benchmarks.reproduce.table import gain as gain_of
from docs import reference
from tests.helpers.commands import command_named, typed
from tests.helpers.pages import DOCS, PAGES
from tests.helpers.places import REPOSITORY
from train import components
from train.loading import RECIPES
from train.recipe import TABLES, Recipe

CHANGES = REPOSITORY / "CHANGELOG.md"  # names what is gone, too
DOCUMENTS = [
    *sorted(set(REPOSITORY.glob("*.md")) - {CHANGES}),
    *PAGES,
    *sorted(REPOSITORY.glob("augment_cli/*/*/README.md")),
    *sorted(REPOSITORY.glob("train/methods/*/README.md")),
    REPOSITORY / "skills/augment-cli/SKILL.md",
    REPOSITORY / "augment_cli/sample/README.md",
    REPOSITORY / "data/models/encoder/README.md",
]
TREES = ("augment_cli", "train", "eval", "data", "docs", "tests", "benchmarks")
PACKAGES = ("augment_cli", "train", "eval", "data", "benchmarks")
# Parts of a name that stand for any name: `eval/protocols/NAME.py`, `part-NNNNN.parquet`.
ANY = re.compile(r"NAME|PROFILE|N{2,}|<\w+>")


def names_of(documents: list[Path]) -> list[str]:
    return [str(document.relative_to(REPOSITORY)) for document in documents]


every_document = pytest.mark.parametrize("document", DOCUMENTS, ids=names_of(DOCUMENTS))


@cache
def parts_of(document: Path) -> tuple[str, list[str]]:
    """The text without its code blocks, and the lines of those blocks, without those that are diffs."""
    text, code, language = [], [], None
    for line in document.read_text("utf-8").splitlines():
        if line.lstrip().startswith("```"):
            language = line.strip("` ") if language is None else None
        elif language is not None:
            if language != "diff":
                code.append(line)
        elif line.startswith("    ") and (not text or not text[-1].strip() or text[-1] == "    "):
            code.append(line.strip())
            text.append("    ")
        else:
            text.append(line)
    return "\n".join(text), code


def spans_of(text: str) -> list[str]:
    """The code spans of a text, each on one line."""
    return [re.sub(r"\s+", " ", span) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", text)]


def command_lines(document: Path, first_word: str) -> list[str]:
    """Code that begins with a word, from blocks and spans, without comments; continued lines are joined."""
    text, code = parts_of(document)
    joined = re.sub(r"\\\n\s*", " ", "\n".join(code))
    lines = [line.strip() for line in joined.splitlines()] + spans_of(text)
    return [line for line in lines if re.match(rf"{re.escape(first_word)}(\s|$)", line)]


def exists(path: str) -> bool:
    """Whether a path of the repository exists; NAME and its like stand for any name, braces for a choice."""
    pattern = ANY.sub("*", path).rstrip("/")
    return any(REPOSITORY.glob(pattern)) if "*" in pattern else (REPOSITORY / pattern).exists()


@every_document
def test_paths(document):
    text, code = parts_of(document)
    paths = [span for span in spans_of(text) if re.match(rf"({'|'.join(TREES)})/", span)]
    for line in code:
        paths += [word for word in line.split() if re.fullmatch(rf"({'|'.join(TREES)})/[\w./-]+", word)]
    for path in paths:
        file, _, test = path.partition("::")
        if " " in file:
            continue
        assert exists(file), f"{path}: there is no such file"
        if test:
            source = (REPOSITORY / file).read_text("utf-8")
            assert re.search(rf"(def|class) {test}\b", source), f"{path}: nothing there has this name"


def test_every_room_is_on_the_map_with_its_layer():
    rules = configparser.ConfigParser()
    rules.read(REPOSITORY / "setup.cfg")
    contracts = [rules[name] for name in rules.sections() if rules[name].get("exhaustive")]
    layers = {
        f"{contract['containers'].strip()}/{room.strip()}": number
        for contract in contracts
        for number, line in enumerate(reversed(contract["layers"].strip().splitlines()))
        for room in line.split("|")
        if room.strip() != "__main__"
    }
    rows = re.findall(
        r"^\| (\d+) \| `([\w/]+)(?:/|\.py)` \|", (REPOSITORY / "ARCHITECTURE.md").read_text("utf-8"), re.M
    )
    assert {place: int(number) for number, place in rows} == layers
    for tree in ("augment_cli", "train", "eval"):
        numbers = [int(number) for number, place in rows if place.startswith(tree)]
        assert numbers == sorted(numbers, reverse=True)


@pytest.mark.parametrize("document", [*DOCUMENTS, CHANGES], ids=names_of([*DOCUMENTS, CHANGES]))
def test_links(document):
    for target in re.findall(r"\]\(([^)\s]+)\)", parts_of(document)[0]):
        if not target.startswith(("http://", "https://", "#")):
            assert (document.parent / target.partition("#")[0]).exists(), f"{target} leads nowhere"


@every_document
def test_make_targets(document):
    makefile = (REPOSITORY / "Makefile").read_text("utf-8")
    targets = " ".join(re.findall(r"^([\w -]+):(?!=)", makefile, re.MULTILINE)).split()
    for line in command_lines(document, "make"):
        for word in shlex.split(line, comments=True)[1:]:
            if "=" not in word and not word.startswith("-"):
                assert word in targets, f"{line}: there is no target {word}"


@every_document
def test_modules_and_their_options(document):
    for line in command_lines(document, "python") + command_lines(document, "torchrun"):
        match = re.search(r"-m (\w+(?:\.\w+)*)(.*)", line.partition(" #")[0])
        if match is None or match[1].partition(".")[0] not in PACKAGES or ANY.search(match[1]):
            continue
        place = REPOSITORY / match[1].replace(".", "/")
        assert place.with_suffix(".py").is_file() or (place / "__main__.py").is_file(), (
            f"{line}: no such module"
        )
        sources = sorted(place.glob("**/*.py")) if place.is_dir() else [place.with_suffix(".py")]
        source = "".join(file.read_text("utf-8") for file in sources)
        for other in re.findall(r"^from (benchmarks\.\w+) import", source, re.M):  # may have common options
            source += (REPOSITORY / f"{other.replace('.', '/')}.py").read_text("utf-8")
        for option in re.findall(r"(?<!\S)--[a-z-]+", match[2]):
            name = option[2:].replace("-", "_")
            field = rf"^    {name}: (?:Annotated\[|.* = (?:option|parameter)\()"  # an option of that name
            known = f'"{option}"' in source or re.search(field, source, re.MULTILINE)
            assert known, f"{line}: {match[1]} has no option {option}"


@every_document
def test_names_of_python(document):
    for span in spans_of(parts_of(document)[0]):
        match = re.match(rf"(({'|'.join(PACKAGES)})(?:\.\w+)+)(\(|$)", span)
        if match is None or match[1].endswith((".py", ".md", ".toml")):
            continue
        package, *rest = match[1].split(".")
        place = importlib.import_module(package)
        for name in rest:
            try:
                place = getattr(place, name)
            except AttributeError:
                place = importlib.import_module(f"{place.__name__}.{name}")


@cache
def options_of(name: str) -> set[str]:
    """The options of a command of `augment-cli`."""
    parameters = command_named(name).params
    return {option for parameter in parameters for option in (*parameter.opts, *parameter.secondary_opts)}


@every_document
def test_commands_and_their_options(document):
    for line in command_lines(document, "augment-cli"):
        words = shlex.split(line.partition(" #")[0].replace("$((", "").replace("))", ""))[1:]
        if not words or words[0].startswith("-") or not words[0].islower():
            continue
        for word in words[1:]:
            option = word.partition("=")[0]
            if re.fullmatch(r"--?[a-z][a-z-]*", option):
                known = options_of(words[0]) | {"--help", "-h"}
                assert option in known, f"{line}: augment-cli {words[0]} has no option {option}"


def avoided():
    """The phrases that the style page warns of."""
    style = (DOCS / "STYLE.md").read_text("utf-8")
    found = [row[0] for row in re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", style, re.M) if row[0] != "not"]
    assert len(found) > 8
    return found


def test_the_pages_avoid_what_the_style_page_lists():
    for page in [*PAGES, *REPOSITORY.glob("*.md")]:
        text = " ".join(page.read_text("utf-8").lower().split())
        found = [phrase for phrase in avoided() if phrase in text]
        assert page.name == "STYLE.md" or not found, f"{page.name}: {found}; see docs/STYLE.md"


@pytest.mark.parametrize("package", PACKAGES)
def test_so_do_docstrings_comments_messages_and_help(package):
    # Single words stand in lists of English, too, and `in order to` among the phrases that a rule looks for.
    phrases = [phrase for phrase in [*avoided(), "so many"] if " " in phrase and phrase != "in order to"]
    for file in sorted((REPOSITORY / package).rglob("*.py")):
        with tokenize.open(file) as source:
            tokens = list(tokenize.generate_tokens(source.readline))
        for token in tokens:
            if token.type in (tokenize.COMMENT, tokenize.STRING):
                text = " ".join(token.string.lower().split())
                found = [phrase for phrase in phrases if phrase in text]
                assert not found, f"{file}, line {token.start[0]}: {found}; see docs/STYLE.md"


README = (REPOSITORY / "README.md").read_text("utf-8")
ANSWER = README.partition("## Does it work?")[2].partition("\n## ")[0]
VERDICT = re.compile(r"\| (ahead|unclear|behind) \|")
VERDICTS = re.findall(r"^- (.+?)(?=^- |\n\n)", ANSWER, re.M | re.S)


def numbers_of(text):
    """The numbers of a text, without those of names (STS-B, MiniLM) and links."""
    plain = re.sub(r"\]\([^)]+\)", "]", text)
    return [
        float(found.replace(",", "")) for found in re.findall(r"(?<![\w.])[+-]?\d[\d,]*(?:\.\d+)?", plain)
    ]


def sentences_of(text):
    """The sentences of the prose: without blocks, tables, headings and pictures."""
    text = re.sub(r"^```.*?^```|^!\[.*$|^[|#].*$", "", text, flags=re.M | re.S)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("**", "")
    paragraphs = re.split(r"\n\s*\n|^- ", text, flags=re.M)
    return [one for part in paragraphs for one in re.split(r"(?<=[.!?])\s+", " ".join(part.split())) if one]


def test_it_is_short_and_its_sentences_and_picture_are():
    assert len(README.splitlines()) <= 70
    for sentence in sentences_of(README):
        assert len(sentence.split()) <= 25, sentence
    (picture,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    assert (REPOSITORY / picture).stat().st_size < 150_000


def test_it_leads_to_every_page_that_says_how():
    for page in (REPOSITORY / "docs/how-to").glob("*.md"):
        assert re.search(rf"\]\(docs/how-to/{page.name}[#)]", README), page.name


def of_minilm(name):
    """The lines of a file of adaptation that are of MiniLM."""
    lines = read_lines(REPOSITORY / f"benchmarks/adapt_{name}.jsonl")
    return [line for line in lines if line["model"] == "MiniLM"]


def main_score(line):
    return line.get("accuracy", line.get("accuracy_10"))


@pytest.fixture(scope="module")
def adaptation():
    """By domain: the mean change of the main score, purity and STS-B over the trainings of MiniLM."""
    lines = of_minilm("domains")
    changes = {}
    for start in (line for line in lines if line["encoder"] == "start"):
        own = [line for line in lines if line["domain"] == start["domain"] and line["encoder"] == "best"]
        assert len(own) == 3  # seeds
        scores = (main_score, lambda line: line["purity_10"], lambda line: line["stsb"])
        changes[start["domain"]] = [mean(map(score, own)) - score(start) for score in scores]
    return changes


def test_what_it_says_of_adaptation_was_measured(adaptation):
    main, _, stsb = zip(*adaptation.values(), strict=True)
    expected = [len(main), min(main), max(main), -mean(stsb)]
    assert numbers_of(VERDICTS[1]) == [round(one, 1) for one in expected]
    unchanged = {one["corpus"] for one in of_minilm("corpora") if not any(one["gain"].values())}
    assert {"movie reviews", "product reviews", "books", "captions"} <= unchanged


def test_what_it_says_of_the_lookup_was_measured(adaptation):
    lines = of_minilm("domains")
    start = {line["domain"]: main_score(line) for line in lines if line["encoder"] == "start"}

    def gain(kind):
        return mean(main_score(line) - start[line["domain"]] for line in lines if line["encoder"] == kind)

    said = (
        f"`--lookup`) gains {gain('lookup of best'):.1f} points on them, {gain('lookup'):.1f} untrained, and"
    )
    own = mean(main for main, _, _ in adaptation.values())
    assert f"{said} adaptation by itself {own:.1f}" in " ".join(README.split())


def test_what_the_how_to_says_of_adaptation_was_measured(adaptation):
    page = " ".join((REPOSITORY / "docs/how-to/adapt.md").read_text("utf-8").split())
    main, purity, stsb = zip(*adaptation.values(), strict=True)
    (news,) = (one for one in of_minilm("corpora") if one["corpus"] == "news")
    for low, high, digits in ((min(main), max(main), 1), (min(purity), max(purity), 0)):
        assert f"{low:.{digits}f} to {high:.{digits}f}" in page
    for lost in (-mean(stsb), -min(stsb), -news["gain"]["stsb"]):
        assert f"{lost:.1f}" in page


OF_SNLI = read_lines(snli_negatives.RESULTS)
BY_RULE = "negation, antonym, una --same pos"


def test_what_it_says_of_augmentations_was_measured():
    grid = load_grid()
    small, large = (measured(GRID.parent / "results", draws(grid, rows)) for rows in (2_560, 20_000))
    verdicts = [row[-1] for row in comparison_table(grid, small)[1:]]
    assert {*verdicts} == {"unclear"}  # beside the control at its best rate
    swaps, una = (mean(differences(small, row, "simcse-ntxent")) for row in ("eda-swap", "una"))
    assert swaps > una
    assert "ahead" not in [row[7] for row in comparison_table(grid, large)[1:]]
    again = fresh(GRID.parent / "results")
    of_una = [
        mean(differences(again, f"una@{rate}", f"simcse-ntxent@{rate}", measure))
        for rate in ("2e-4", "3e-4")
        for measure in ("average", "sick")
    ]
    by_rule, by_people = (mean(snli_negatives.gains(OF_SNLI, way, "sick")) for way in (BY_RULE, "people"))
    most = max(map(abs, of_una))
    assert numbers_of(VERDICTS[2]) == [round(by_rule, 1), round(by_people, 1), 2_560, round(most, 1)]


def test_what_it_says_of_meaning_was_measured():
    with (REPOSITORY / "benchmarks/meaning.csv").open(encoding="utf-8", newline="") as file:
        found = {(line["model"], line["task"]): float(line["score"]) for line in csv.DictReader(file)}
    shares = [found[f"{name}, let through", "meaning"] for name in ("minilm", "both", "verifier")]
    assert numbers_of(VERDICTS[0]) == [*map(round, shares)]
    assert found["both", "cranfield"] >= found["minilm", "cranfield"]


def test_the_table_of_results_was_measured():
    # SNLI's rows come first, then the fresh draws', in the grid's order.
    grid = load_grid()
    found = measured(GRID.parent / "results", draws(grid, 2_560))
    page = (REPOSITORY / "benchmarks/results/results.md").read_text("utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if VERDICT.search(line)]
    for way, *cells in snli_negatives.difference_rows(OF_SNLI):
        of_draws = snli_negatives.gains(OF_SNLI, way, "sick")
        assert rows.pop(0)[1:] == ["no negatives", f"{len(of_draws)} of SNLI", *cells, "–"]
    again = fresh_table(grid, fresh(GRID.parent / "results"))[1:]
    for shown, row in zip(rows[: len(again)], again, strict=True):
        rate, sts, of_sts, sick, of_sick = (row[place] for place in (2, 3, 7, 8, 12))
        assert shown[2:] == [f"15 fresh, {rate}", sts, of_sts, sick, of_sick, "–"]
    table = comparison_table(grid, found)[1:]
    for shown, row in zip(rows[len(again) :], table, strict=True):
        paper, sts, of_sts, sick, of_sick = (row[place] for place in (2, 3, 7, 8, 12))
        assert shown[2:] == ["5", sts, of_sts, sick, of_sick, paper]
    words = " ".join(page.split())
    least, adjusted = min((float(row[start]), float(row[start + 1])) for row in again for start in (4, 9))
    assert f"the least is {least:.3f}, after it {adjusted:.3f}" in words
    una, modals = (
        differences(found, row, "simcse-ntxent", measure)
        for row, measure in (("una", "sick"), ("modals", "average"))
    )
    large = measured(GRID.parent / "results", draws(grid, 20_000))
    log = " ".join((REPOSITORY / "benchmarks/LOG.md").read_text("utf-8").split())
    for gains in (differences(large, one.better, one.worse) for one in grid.comparisons):
        assert not gains or gain_of(gains) in log
    at_any_rate = [
        gain
        for control in ("simcse-ntxent", "simcse-ntxent-3e-4", "simcse-ntxent-5e-4")
        for gain in differences(found, "una", control, "sick")
    ]
    assert len(at_any_rate) == 15 and min(at_any_rate) > 0  # so the log
    behind = mean(differences(large, "modals", "simcse-ntxent"))
    assert f"UNA, by {mean(una):.2f} of SICK" in words
    assert f"MODALS, by {mean(modals):.2f} of STS, is {-behind:.2f} behind with 20,000 sentences" in words
    levels = averages(found)
    for name in ("word-table-idf", "best"):
        assert f"({levels[name]:.1f})" in page
    assert max(levels.values()) == levels["best"]


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
    *("THP_MEM_ALLOC_ENABLE", "POLARS_MAX_THREADS", "ARROW_DEFAULT_MEMORY_POOL"),
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


MAP = (REPOSITORY / "ARCHITECTURE.md").read_text("utf-8")
SECTION = MAP.partition("## What runs\n")[2].partition("\n## ")[0]
NAMED = dict(re.findall(r"^\| `(\w+)` \| (.*)$", SECTION, re.M))
ROWS = {name: re.findall(r"`([\w/]+\.py)::(\w+)`", row) for name, row in NAMED.items()}
TEXTS = [
    "The river flows through the old town.",
    "A heron waits by the bridge.",
    "The keeper opened the heavy door in 1999.",
    "Rain fell on the market all day.",
    "The children counted seven boats.",
    "An old map hung beside the window.",
] * 2
SETTINGS = ("steps=1", "workers=0", "precision=fp32", "evaluate_every=0", "batch=4")
FEW = [word for setting in SETTINGS for word in ("--set", setting)]


def train(recipe, encoder, store, *changes):
    places = ["--store", store, "--encoder", REPOSITORY / "data/models" / encoder]
    done = typed("train", recipe, *places, "--out", f"{store}-{len(changes)}", *FEW, *changes)
    assert done.returncode == 0, done.stderr


RUNS: dict[str, Callable[..., Any]] = {
    "una": lambda store: augment_cli.run("una", store, jobs=1),
    "dn": lambda store: augment_cli.run("dn", store, jobs=1),
    "pi": lambda store: augment_cli.run("pi", store, jobs=1),
    "paraphrase": lambda store, writer: augment_cli.run("paraphrase", store, model=writer, rows=2, jobs=1),
    "pack": lambda store: augment_cli.pack_table(store, positives=["corpus"], jobs=1),
    "train": lambda store: train("simcse", "encoder", store),
    # Of so few texts nothing is taught; then the teacher is named, and it is.
    "adapt": lambda store: [
        train("adapt", "static", store),
        train("adapt", "static", store, "--set", "teacher.vectors=start"),
    ],
}


def traced(run):
    """The functions of this repository that a call runs, as (file, name)."""
    found = set()

    def note(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(str(REPOSITORY)):
            file = Path(frame.f_code.co_filename).relative_to(REPOSITORY)
            found.add((str(file), frame.f_code.co_name))

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    return found


def test_every_run_is_on_the_map():
    assert ROWS.keys() == RUNS.keys()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "adapt" else name for name in RUNS]
)
def test_what_the_map_names_has_run(name, tmp_path, model):
    store = tmp_path / "store"
    augment_cli.ingest_corpus(store=store, texts=TEXTS)
    if name == "pack":
        augment_cli.run("una", store, jobs=1)
    # Paraphrases are written by a small model, as none ships.
    models = [model("pegasus")] if name == "paraphrase" else []
    found = traced(lambda: RUNS[name](store, *models))
    missing = [f"{file}::{function}" for file, function in ROWS[name] if (file, function) not in found]
    assert not missing, f"{name} does not run {missing}"
