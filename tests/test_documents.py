"""What documents name exists: paths, links, make targets, modules, functions, commands and their options."""

from __future__ import annotations

import configparser
import importlib
import re
import shlex
import tokenize
from functools import cache
from pathlib import Path

import pytest

from tests.helpers.commands import command_named
from tests.helpers.pages import DOCS, PAGES
from tests.helpers.places import REPOSITORY

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
