"""The kinds of stages that come of asking a model: its answers, and the texts that are read from them."""

import pyarrow as pa

from augment_cli.answers import generate, read
from augment_cli.contract.generate_parameters import DECIDING, DECIDING_LATER, GenerateParameters
from augment_cli.runs.kinds import check_edited
from augment_cli.store.kinds import StageKind, exact_columns, other_rows
from augment_cli.store.manifest import Stage
from augment_cli.store.refusals import options_again
from augment_cli.store.store import Store


def _describe_answers(stage: Stage) -> str:
    stored = stage.settings["parameters"]
    if "model" not in stored:
        return "A language model's answers, as they came."
    return (
        f"Answers of {stored['model']} to the template {stored['template']} "
        f"(version {stored['template_version']}), as they came."
    )


def _check_answers(store: Store, stage: Stage, index: int, table: pa.Table) -> list[str]:
    if problems := exact_columns(table, generate.ANSWERS) or other_rows(store, index, table):
        return problems
    both = table["answer"].is_valid().to_numpy() & table["error"].is_valid().to_numpy()
    return ["has rows with both an answer and an error"] if both.any() else []


def _asking(store: Store, name: str) -> list[str]:
    settings = store.stage(name).settings
    stored, usual = settings["parameters"], GenerateParameters()
    names = ("template", *DECIDING, *DECIDING_LATER, "precision")
    model = "FOLDER" if "model" in settings["resources"] else stored["model"]
    words = ["generate", "--model", model, *options_again(settings, usual, names)]
    words += ["--seed", str(settings["seed"])] if settings["seed"] != usual.seed else []
    base, draw = name.removesuffix(f".{stored['draw']}"), stored["draw"]
    words += ["--draws", str(draw + 1)] if draw else []
    usual_name = generate.answers_name(stored["template"], None, 0)
    return words + ([] if base == usual_name else ["--name", base])


def _reading(store: Store, name: str) -> list[str]:
    settings = store.stage(name).settings
    answers = settings["parameters"]["answers"]
    words = ["read", answers, *(["--faithful"] if settings["parameters"]["faithful"] else [])]
    return words + ([] if name == read.read_name(answers) else ["--name", name])


KINDS = (
    StageKind(
        generate.ANSWERS_STAGE,
        {generate.ANSWERS_STAGE: generate.ANSWERS},
        version=lambda: generate.VERSION,
        describe=_describe_answers,
        check=_check_answers,
        goes_by_part=lambda settings: not settings["parameters"].get("of"),
        command=_asking,
    ),
    StageKind(
        read.READ_STAGE,
        {"llm": read.SCHEMA},
        version=lambda: read.VERSION,
        describe=lambda stage: "Texts read from a language model's answers, each with its label.",
        check=lambda store, stage, index, table: check_edited(store, index, table, read.SCHEMA),
        # Texts of a second stage may be read, too: then it is made anew.
        goes_by_part=lambda settings: len(settings["inputs"]) == 2,
        command=_reading,
    ),
)
