"""The reference pages, from the code: every command, augmentation, recipe and setting."""

import dataclasses
import inspect
import posixpath
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import typer

from augment_cli import augmentations
from augment_cli.cli import load_commands
from augment_cli.contract.augmentation import entailment_of
from augment_cli.contract.parameters import declared, help_of, option_name
from augment_cli.contract.reasons import Reason
from augment_cli.errors import UserError
from augment_cli.process.exit_codes import VARIABLES
from augment_cli.reports.soundness import all_kinds
from augment_cli.runs import recipe
from augment_cli.store.kinds import MEANINGS, StageKind
from augment_cli.store.parquet import AUGMENTATION
from eval.tasks import load_registry
from train import components
from train.loading import RECIPES, load_recipe
from train.recipe import TABLES, Recipe

# Code that pages name in a link, and the page that is made from it.
_MADE_FROM = {
    "augment_cli/augmentations": "augmentations",
    "augment_cli/contract/augmentation.py": "reasons",
    "augment_cli/contract/reasons.py": "reasons",
    "augment_cli/errors/__init__.py": "exit-codes",
    "augment_cli/process/exit_codes.py": "environment",
    "augment_cli/store/kinds.py": "stage-columns",
}
_UPWARD = re.compile(r"\[([^\]]+)\]\((\.\./[^)]+)\)")


def for_the_site(text: str, page: str) -> str:
    """Links that leave the folder of the pages: to the page made from that code, else a name and a path.

    The generated pages are on the site alone, so that in the checkout a link leads to the code. `page` is
    named within the folder, without its ending.
    """

    def changed(found: re.Match[str]) -> str:
        folder = posixpath.dirname(page)
        target = posixpath.normpath(posixpath.join("docs", folder, found[2].partition("#")[0]))
        if made := _MADE_FROM.get(target):
            return f"[{found[1]}]({posixpath.relpath(f'reference/{made}.md', folder or '.')})"
        return found[0] if target.startswith("docs/") else f"{found[1]} (`{target}`)"

    return _UPWARD.sub(changed, text)


def write(folder: Path) -> None:
    """Write all reference pages into a folder, beside those written by hand."""
    folder.mkdir(exist_ok=True)
    for name, lines in PAGES.items():
        text = "\n".join(lines()).rstrip() + "\n"
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, encoding="utf-8")


def commands() -> Iterable[str]:
    """Every command of `augment-cli` that is not an augmentation, with its options."""
    group: Any = typer.main.get_command(load_commands())
    context = typer.Context(group, info_name="augment-cli")
    yield from ("# Commands", "", "What `augment-cli --help` and `augment-cli COMMAND --help` say.", "")
    for name in group.list_commands(context):
        if name in augmentations.names():
            continue
        command = group.get_command(context, name)
        yield from (f"## {name}", "")
        help_text = inspect.cleandoc(command.help or "").replace("\b\n", "")
        text, _, examples = help_text.partition("Examples:")
        yield from (text.strip(), "")
        if examples.strip():
            lines = [line.strip() for line in examples.strip().splitlines() if line.strip()]
            yield from ("```", *lines, "```", "")
        yield from _table(("option", "default", "what"), (_option(one) for one in command.params))


def _option(one: Any) -> tuple[str, str, str]:
    names = ", ".join(f"`{name}`" for name in (*one.opts, *one.secondary_opts) if name.startswith("-"))
    is_plain = one.default not in (None, "", ()) and not callable(one.default)
    default = f"`{one.default}`" if is_plain else ""
    return names or f"`{one.name.upper()}`", default, getattr(one, "help", "") or ""


def all_augmentations() -> Iterable[str]:
    """Every augmentation with what it makes, what it reads, its source and its parameters."""
    yield from ("# Augmentations", "")
    yield "Each is a command, `augment-cli NAME`, with the common options of `augment-cli una --help`, too."
    yield ""
    for name in augmentations.names():
        descriptor = augmentations.get(name)
        needs = ", ".join(sorted(descriptor.needs)) or "nothing but the text"
        yield from (f"## {name}", "", augmentations.summary(name), "")
        yield from (f"Makes {descriptor.kind}s; reads {needs}. Source: {descriptor.paper}.", "")
        rows = [
            (f"`{option_name(item)}`", f"`{item.default}`", help_of(item))
            for item in declared(descriptor.parameters)
        ]
        yield from _table(("parameter", "default", "what"), rows)


def reasons() -> Iterable[str]:
    """The labels of augmentations, and why a row is unchanged or a line was set aside."""
    yield from ("# Labels and reasons", "", "## Labels of a changed row", "")
    yield "*same*, *other* or *neither*, by default; `augment-cli list --json` has them, too."
    yield ""
    labels = ((name, entailment_of(augmentations.get(name))) for name in augmentations.names())
    yield from _table(
        ("augmentation", "label", "because"), ((f"`{name}`", it.label, it.reason) for name, it in labels)
    )
    yield from ("## Reasons of an unchanged row, and of a line that was set aside", "")
    yield from ("The column `reason` of a stage, and of `rejects`.", "")
    yield from _table(("reason", "when"), ((f"`{reason}`", reason.words) for reason in Reason))


def exit_codes() -> Iterable[str]:
    """What a command ends with."""
    yield from ("# Exit codes", "", "Of `augment-cli`, `python -m train` and `python -m eval`.", "")
    ours = {
        kind.exit_code: inspect.cleandoc(kind.__doc__ or "")
        for kind in UserError.__subclasses__()
        if kind.exit_code != UserError.exit_code
    }
    codes = {0: "Done.", 1: "An internal error.", **ours, 130: "Interrupted by Ctrl-C."}
    yield from _table(("code", "when"), ((f"{code}", words) for code, words in sorted(codes.items())))


def recipes() -> Iterable[str]:
    """Augmentation recipes and training recipes."""
    yield from ("# Recipes", "", "## Augmentation recipes: `augment-cli run NAME`", "")
    yield from _table(("recipe", "what"), ((f"`{name}`", text) for name, text in recipe.summaries().items()))
    yield from ("## Training recipes: `python -m train NAME`", "")
    head = ("recipe", "what", "positives", "negatives", "loss, head", "additions")
    yield from _table(head, (_training_recipe(load_recipe(name)) for name in RECIPES))


def _training_recipe(one: Recipe) -> tuple[str, ...]:
    """What a training recipe reads and adds; a contrastive loss of weight 0 is not trained."""
    contrast = one.objective == "contrastive" and one.contrast.weight > 0 and one.epochs + one.steps > 0
    often = "" if one.alpha == 1 else f", every {one.alpha} steps"
    return (
        f"`{one.name}`",
        one.description,
        _names(one.positives) if contrast else "",
        f"{_names(one.negatives)}{often}" if one.negatives else "",
        f"`{one.loss}`, `{one.head}`" if contrast else "",
        _names(one.additions),
    )


def _names(values: Iterable[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def settings() -> Iterable[str]:
    """Settings of a training recipe; losses, heads and additions with what they do and their own settings."""
    yield from ("# Settings of a training recipe", "", "`--set KEY=VALUE` changes one.", "")
    yield from _fields(Recipe)
    flat = "`--set TABLE.KEY=VALUE` changes one. So does the name in brackets, or else the key, alone."
    yield from ("## Tables", "", flat, "")
    for name, kind in TABLES.items():
        yield from (f"### [{name}]", "")
        yield from _fields(kind)
    for kind, words in _COMPONENTS.items():
        yield from (f"## {kind.capitalize()}", "", words, "")
        for name in components.names(kind):
            yield from _component(kind, name)


_COMPONENTS: dict[components.Kind, str] = {
    "losses": "`loss = NAME`; its own settings stand in `[loss_settings]`.",
    "heads": "`head = NAME`; never saved with the encoder.",
    "additions": "A table `[NAME]`, or `--set NAME.KEY=VALUE`, turns one on.",
}


def _component(kind: components.Kind, name: str) -> Iterable[str]:
    """A loss, head or addition: its first line, its source, its settings."""
    doc, file = _doc_of(kind, name), components.module(kind, name)
    yield from (f"### {name}", "", doc.partition("\n\n")[0], "")
    if source := re.search(r"^Source: (.+?)(?:\n\n|\Z)", doc, re.M | re.S):
        yield from (f"Source: {source[1]}", "")
    if hasattr(file, "Settings"):
        yield from _fields(file.Settings)


def _doc_of(kind: components.Kind, name: str) -> str:
    thing = getattr(components.module(kind, name), components.member(kind, name))
    return inspect.cleandoc(thing.__doc__ or "")


def _fields(kind: Any) -> Iterable[str]:
    """A dataclass of settings as a table: default, what it is, what it may be."""
    defaults = kind()
    rows = []
    for item in dataclasses.fields(kind):
        about = item.metadata.get("help", "")
        if choices := item.metadata.get("choices"):
            about += f" ({', '.join(choices)})"
        if flat := item.metadata.get("option"):
            about += f" (`{flat}`)"
        default = getattr(defaults, item.name)
        shown = {} if dataclasses.is_dataclass(default) else default
        rows.append((f"`{item.name}`", f"`{list(shown) if isinstance(shown, tuple) else shown}`", about))
    yield from _table(("setting", "default", "what"), rows)


def evaluation_sets() -> Iterable[str]:
    """The evaluation sets and where their files belong."""
    yield from ("# Evaluation sets", "", "`python -m eval MODEL --tasks NAME,…`", "")
    rows = ((f"`{task.name}`", task.protocol, f"`{task.file}`") for task in load_registry().values())
    yield from _table(("set", "protocol", "file in the data folder"), rows)


def stage_columns() -> Iterable[str]:
    """The columns and types of every kind of stage."""
    yield from ("# Stage columns", "", "For anyone who reads the Parquet files of a store.", "")
    shared = AUGMENTATION.names
    own: dict[tuple[str, ...], list[str]] = {}
    others = {}
    for kind in all_kinds().values():
        for folder, schema in kind.columns.items():
            if kind.maker in augmentations.names():
                own.setdefault(tuple(name for name in schema.names if name not in shared), []).append(folder)
            else:
                others[folder] = schema
    yield from _columns_table("Every augmentation", AUGMENTATION)
    rows = ((_names(folders), _names(names)) for names, folders in own.items() if names)
    yield from ("Some have further ones:", "", *_table(("augmentation", "further columns"), rows))
    further = {column.name: column for kind in all_kinds().values() for column in _own_columns(kind)}
    yield from _columns_table("Further columns of augmentations", pa.schema(list(further.values())))
    for folder, schema in others.items():
        yield from _columns_table(f"`{folder}`", schema)


def _own_columns(kind: StageKind) -> Iterable[pa.Field]:
    if kind.maker in augmentations.names():
        yield from list(kind.columns[kind.maker])[len(AUGMENTATION) :]


def _columns_table(title: str, schema: pa.Schema) -> Iterable[str]:
    rows = ((f"`{column.name}`", f"`{_type_of(column.type)}`", MEANINGS[column.name]) for column in schema)
    yield from (f"## {title}", "", *_table(("column", "type", "what"), rows))


def _type_of(kind: pa.DataType) -> str:
    return re.sub(r"(<|, )(item|element): ", r"\1", str(kind)).replace(" not null", "")


def environment_variables() -> Iterable[str]:
    """What the environment can set."""
    yield from ("# Environment variables", "", "For anyone who sets up a machine, a container or a job.", "")
    yield from _table(("variable", "for"), ((f"`{name}`", text) for name, text in VARIABLES.items()))


def glossary() -> Iterable[str]:
    """Every word of the documents in one alphabetical list, each with where it is explained."""
    found = [*_concepts(), *_words_of_the_code()]
    found += [(f"`{name}`", augmentations.summary(name), "augmentations") for name in augmentations.names()]
    for kind in _COMPONENTS:
        for name in components.names(kind):
            found.append((f"`{name}`", _doc_of(kind, name).partition("\n\n")[0], "settings"))
    yield from ("# Glossary", "", "For anyone who met a word and wants to know where it is explained.", "")
    rows = (
        (word, text, f"[{page.rpartition('/')[2]}]({page}.md)" if page else "") for word, text, page in found
    )
    yield from _table(
        ("word", "what", "explained in"), sorted(rows, key=lambda row: row[0].strip("`").lower())
    )


def _concepts() -> Iterable[tuple[str, str, str]]:
    """The definitions of the page on concepts, their first sentences."""
    text = (Path(__file__).parent / "explanation" / "concepts.md").read_text("utf-8")
    for word, meaning in re.findall(r"^(\w[\w ]*)\n: ((?:.+\n)+)", text, re.M):
        sentence = re.split(r"(?<=\.) (?=[A-Z])", " ".join(meaning.split()))[0]
        yield word.lower(), re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", sentence), "../explanation/concepts"


def _words_of_the_code() -> Iterable[tuple[str, str, str]]:
    text = (Path(__file__).parents[1] / "ARCHITECTURE.md").read_text("utf-8")
    table = text.partition("\n## Glossary\n")[2].partition("\n## ")[0]
    for word, meaning in re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", table, re.M)[1:]:
        yield word, meaning, ""


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterable[str]:
    found = [[_cell(value) for value in row] for row in rows]
    if found:
        yield f"| {' | '.join(head)} |"
        yield "|" + "---|" * len(head)
        yield from (f"| {' | '.join(row)} |" for row in found)
        yield ""


def _cell(value: str) -> str:
    return " ".join(value.split()).replace("|", "\\|").replace("<", "&lt;")


# Each is a page of `docs/reference/` that nobody writes by hand, and that git ignores.
PAGES: dict[str, Callable[[], Iterable[str]]] = {
    "commands": commands,
    "augmentations": all_augmentations,
    "reasons": reasons,
    "recipes": recipes,
    "settings": settings,
    "evaluation-sets": evaluation_sets,
    "exit-codes": exit_codes,
    "stage-columns": stage_columns,
    "environment": environment_variables,
    "glossary": glossary,
}
