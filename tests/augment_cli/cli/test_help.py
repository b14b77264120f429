"""The help and its examples, how to cite, and that a parameter is declared once."""

import gzip
import inspect
import json
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest
import yaml

import augment_cli
from augment_cli import augmentations
from augment_cli.contract.generate_parameters import GenerateParameters, ReadParameters
from augment_cli.contract.ingest_options import IngestOptions, Tolerance
from augment_cli.contract.pack_options import PackOptions
from augment_cli.contract.parameters import check_parameters, declared, help_of, option_name
from augment_cli.contract.vector_parameters import EmbedParameters, MineParameters
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.runs.run import make_run
from augment_cli.session import SAMPLE, Session
from augment_cli.syntax.tree import words
from augment_cli.version import RELEASED, __version__
from docs import reference
from tests.helpers.commands import command_named
from tests.helpers.places import REPOSITORY

COMMANDS = words(
    "card doctor embed fetch fit ingest inspect list mine pack parse publish remove run score stats status "
    "verify"
)
# Of the augmentations one stands for all in the quick suite; these run models, or many commands.
SLOW = {*augmentations.names(), "run", "parse", "stats", "embed", "score", "mine"} - {"crop"}
HEAVY = words("msgspec numpy pyarrow polars torch spacy transformers nltk scipy joblib dask")


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from augment_cli.cli import main\n"
        "for words in ('--help', '--version', 'list --help', 'ingest --help'):\n"
        "    sys.argv = ['augment-cli', *words.split()]\n"
        "    try: main()\n    except SystemExit: pass\n"
        f"    print('LOADED', [name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert re.findall("LOADED .*", result.stdout) == ["LOADED []"] * 4


def test_to_know_all_augmentations_loads_no_library_of_models():
    """Every command's report does, that of `una` on a few texts too."""
    code = (
        "import sys; from augment_cli import augmentations as all\n"
        "for name in all.names(): all.get(name)\n"
        "print([name for name in ('torch', 'transformers', 'spacy') if name in sys.modules])\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


def test_the_help_lists_every_command(command):
    result = command("--help")
    assert result.returncode == 0
    for name in [*augmentations.names(), *COMMANDS]:
        assert re.search(rf"\b{name}\b", result.stdout)
    assert "Exit codes" in result.stdout


def examples_of(help_text: str) -> list[str]:
    """The lines under Examples, joined where the terminal wrapped them."""
    section = help_text.partition("Examples:")[2]
    examples: list[str] = []
    for line in section.splitlines():
        line = line.strip()
        if line.startswith(("╭", "┌")) or "Options" in line:
            break
        if re.match(r"(augment-cli|cat) ", line):
            examples.append(line)
        elif line and examples:
            examples[-1] += " " + line
    return examples


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("examples")
    lines = [f"the heron of river {n} waits near bridge {n % 7}" for n in range(40)]
    (folder / "sentences.txt").write_text("\n".join(lines) + "\n")
    (folder / "more.txt").write_text("the boat drifts\n")
    (folder / "corpus").mkdir()
    rows = [json.dumps({"body": line, "id": n}) for n, line in enumerate(lines)]
    (folder / "corpus" / "a.jsonl.gz").write_bytes(gzip.compress("\n".join(rows).encode()))
    (folder / "pairs.csv").write_text("anchor,positive\na heron waits,a bird is waiting\na river flows,\n")
    vectors = "river 1 0\nheron 0.9 0.1\nbridge 0 1\n"
    (folder / "glove.6B.50d.txt").write_text(vectors)
    (folder / "vectors.txt").write_text("river\nheron\n")
    np.save(folder / "vectors.npy", np.eye(2))
    # A tenth of the sample: the examples are to work, not to work long.
    few = folder / "few.txt"
    few.write_text("".join(SAMPLE.read_text("utf-8").splitlines(keepends=True)[:140]), "utf-8")
    with Session(folder / "store", Engine(1)) as session:
        session.ingest([few])
        session.fit()
        session.augment(make_run("una", beta=0.5, radius=5))
    few.unlink()
    return folder


@pytest.fixture(scope="module")
def parsed_folder(folder, tmp_path_factory):
    """The same with parses by the shipped pipeline in the store, made once for all rules on syntax."""
    parsed = tmp_path_factory.mktemp("parsed") / "examples"
    shutil.copytree(folder, parsed)
    augment_cli.parse(parsed / "store", jobs=1)
    return parsed


def _with_the_slow_marked(names):
    return [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in names]


_WITHOUT_A_MODEL = [name for name in augmentations.names() if "model" not in augmentations.get(name).needs]


@pytest.mark.parametrize("name", _with_the_slow_marked([*_WITHOUT_A_MODEL, *sorted(COMMANDS)]))
def test_every_example_works(command, folder, request, tmp_path, name):
    help_text = command(name, "--help").stdout
    examples = examples_of(help_text)
    assert examples, help_text
    needs = augmentations.get(name).needs if name in augmentations.names() else frozenset()
    if "parses" in needs:
        folder = request.getfixturevalue("parsed_folder")
    for number, example in enumerate(examples):
        place = tmp_path / str(number)
        shutil.copytree(folder, place)
        is_rule = name in augmentations.names() and "parses" not in needs
        if is_rule or name in ("run", "fit", "parse", "ingest"):
            # These make stages: they start where nothing is there, as in a fresh clone.
            shutil.rmtree(place / "store")
        if "--fit frequent" in example:
            assert command("fit", "--min-df", "2", "--name", "frequent", cwd=place).returncode == 0
        goes_on = "--append" in example or "--behind" in example
        if "my-store" in example and (goes_on or name in ("status", "verify")):
            shutil.copytree(folder / "store", place / "my-store")
        stdin = ""
        if example.startswith("cat "):
            source, _, example = example.partition("|")
            stdin = (place / source.split()[1]).read_text()
        if name in ("publish", "fetch"):  # a folder stands for the bucket
            published = (place / "bucket").as_uri()
            example = example.replace("s3://bucket", published)
            if name == "fetch":
                assert command("publish", "store", f"{published}/folder", cwd=place).returncode == 0
        program, *typed = shlex.split(example)
        assert program == "augment-cli"
        result = command(*typed, cwd=place, stdin=stdin)
        assert result.returncode == 0, f"{example}\n{result.stderr}"


def test_a_misspelled_command_is_answered_with_those_like_it(command):
    refused = command("unaa")
    assert refused.returncode == 2
    assert "No such command 'unaa'. Did you mean 'una' or 'aa'?" in refused.stderr
    assert "`augment-cli --help` lists all." in command("zzzzz").stderr


def test_a_file_in_the_place_of_no_option_is_told_its_option(command):
    for name in ("ingest", "una"):
        refused = command(name, "titles.csv")
        assert refused.returncode == 2 and "(titles.csv); name files with --corpus" in refused.stderr
    assert "--corpus" not in command("stats", "una", "titles.csv").stderr


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


FUNCTIONS = {
    "ingest": (augment_cli.ingest_corpus, (IngestOptions, Tolerance)),
    "embed": (augment_cli.embed, (EmbedParameters,)),
    "mine": (augment_cli.mine, (MineParameters,)),
    "pack": (augment_cli.pack_table, (PackOptions,)),
    "generate": (augment_cli.generate, (GenerateParameters,)),
    "llm-paraphrase": (augment_cli.llm_paraphrase, (GenerateParameters,)),
    "read": (augment_cli.read_answers, (ReadParameters,)),
}
PARAMETERS = [
    (command, kind, item)
    for command, (_, kinds) in FUNCTIONS.items()
    for kind in kinds
    for item in declared(kind)
]
IDS = [f"{command}-{item.name}" for command, _, item in PARAMETERS]
READING = ("ingest", "fit", "parse", "run", "embed", "mine", "una", "crop", "paraphrase")


def unwrapped(text):
    return " ".join(text.split())


def is_not_given(value):
    return value is None or value == () or value is False


@pytest.fixture(scope="module")
def reference_page():
    """The rows of each command's table on the reference page: (command, option) to (default, what)."""
    rows = {}
    for section in "\n".join(reference.commands()).split("\n## ")[1:]:
        for line in section.splitlines():
            if line.startswith("| `"):
                names, default, what = re.split(r"(?<!\\) \| ", line[2:-2])
                rows[section.partition("\n")[0], names.split("`")[1]] = default, what.replace("\\|", "|")
    return rows


@pytest.fixture(scope="module")
def options():
    return {
        command: {option.opts[0]: option for option in command_named(command).params}
        for command in {*FUNCTIONS, *READING}
    }


@pytest.mark.parametrize(("command", "kind", "item"), PARAMETERS, ids=IDS)
def test_command_signature_and_reference_agree(command, kind, item, options, reference_page):
    wanted, name, default = unwrapped(help_of(item)), option_name(item), item.metadata["unset"]
    option = options[command][name]
    assert unwrapped(option.help) == wanted
    assert option.default == default or (is_not_given(option.default) and is_not_given(default))
    said, what = reference_page[command, name]
    assert what == wanted.replace("<", "&lt;")
    assert said == ("" if option.default in (None, "", ()) else f"`{option.default}`")
    function = FUNCTIONS[command][0]
    signature = inspect.signature(function).parameters[item.name]
    assert signature.default == default and signature.kind is signature.KEYWORD_ONLY
    if kind is not Tolerance:  # which stands in several signatures, with a sentence of its own
        described = re.search(rf"^{item.name} : .*\n((?:    .*\n?)+)", function.__doc__, re.M)
        assert unwrapped(described[1]) == wanted


@pytest.mark.parametrize("command", READING)
def test_all_that_read_a_corpus_have_the_same_options(command, options):
    for item in (*declared(IngestOptions), *declared(Tolerance)):
        option = options[command][option_name(item)]
        assert option.help == help_of(item) and option.rich_help_panel == "Reading the corpus"


def beyond(item):
    """Values just outside what a parameter allows."""
    step = 1 if isinstance(item.default, int) or "int" in str(item.type) else 0.5
    if item.metadata["minimum"] is not None:
        yield item.metadata["minimum"] - step
    if item.metadata["above"] is not None:
        yield item.metadata["above"]
    if item.metadata["maximum"] is not None:
        yield item.metadata["maximum"] + step
    if item.metadata["choices"] is not None:
        yield "nonsense"


@pytest.mark.parametrize(("command", "kind", "item"), PARAMETERS, ids=IDS)
def test_the_class_refuses_what_is_out_of_range_and_names_the_option(command, kind, item):
    for value in beyond(item):
        with pytest.raises(UsageError, match=f"^{option_name(item)} {re.escape(str(value))}: "):
            check_parameters(kind(**{item.name: value}))
