"""A parameter is declared once: command, Python signature, reference page and check say the same of it."""

import inspect
import re

import pytest

import augment_cli
from augment_cli.contract.generate_parameters import GenerateParameters, ReadParameters
from augment_cli.contract.ingest_options import IngestOptions, Tolerance
from augment_cli.contract.pack_options import PackOptions
from augment_cli.contract.parameters import check_parameters, declared, help_of, option_name
from augment_cli.contract.vector_parameters import EmbedParameters, MineParameters
from augment_cli.errors import UsageError
from docs import reference
from tests.helpers.commands import command_named

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
    """The options of a command by name."""
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


@pytest.mark.parametrize(
    "arguments",
    [
        ("embed", "--max-length", "-1"),
        ("mine", "--margin", "3.0"),
        ("una", "--part-rows", "0"),
        ("ingest", "--max-rejects", "1.5"),
    ],
)
def test_the_command_ends_with_a_line_about_the_option(command, arguments):
    result = command(*arguments, "--store", "store")
    assert result.returncode == 2
    assert result.stderr.startswith(f"augment-cli: {arguments[1]} {arguments[2]}: must be")
    assert result.stderr.count("\n") == 1
