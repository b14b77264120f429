"""The reference pages, from the code: every command, augmentation, recipe and setting."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import typer

from augment_cli import augmentations, recipe
from augment_cli.cli import load_commands
from eval.tasks.registry import load_registry
from train import components
from train.loading import load_recipe
from train.recipe import Recipe

_OUTER = re.compile(r"\[([^\]]+)\]\(\.\./([^)]+)\)")
_SETTING = re.compile(r"^    (\w+): [^=\n]+=", re.M)


def without_outer_links(text: str) -> str:
    """Links that leave the folder of the pages as a name and a path."""
    return _OUTER.sub(lambda found: f"{found[1]} (`{found[2].split('#')[0]}`)", text)


def write(folder: Path) -> None:
    """Write all reference pages into a folder."""
    folder.mkdir(exist_ok=True)
    pages = {
        "commands": commands(),
        "augmentations": all_augmentations(),
        "recipes": recipes(),
        "settings": settings(),
        "evaluation-sets": evaluation_sets(),
    }
    for name, lines in pages.items():
        text = "\n".join(lines).rstrip() + "\n"
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
            (f"`--{item.name.replace('_', '-')}`", f"`{item.default}`", item.metadata["help"])
            for item in dataclasses.fields(descriptor.parameters)
            if "help" in item.metadata
        ]
        yield from _table(("parameter", "default", "what"), rows)


def recipes() -> Iterable[str]:
    """Augmentation recipes and training recipes."""
    yield from ("# Recipes", "", "## Augmentation recipes: `augment-cli run NAME`", "")
    yield from _table(("recipe", "what"), ((f"`{name}`", text) for name, text in recipe.summaries().items()))
    yield from ("## Training recipes: `python -m train NAME`", "")
    folder = Path(inspect.getfile(Recipe)).parent / "recipes"
    names = sorted(path.stem for path in folder.glob("*.toml"))
    yield from _table(("recipe", "what"), ((f"`{name}`", load_recipe(name).description) for name in names))


def settings() -> Iterable[str]:
    """Settings of a training recipe with their defaults; losses, heads and additions that there are."""
    yield from ("# Settings of a training recipe", "")
    yield from ("`--set KEY=VALUE` changes one; `train/recipe.py` has the reasons.", "")
    comments = _comments(inspect.getsource(Recipe))
    defaults: Mapping[str, Any] = Recipe().as_json()
    rows = ((f"`{name}`", f"`{defaults[name]}`", comments.get(name, "")) for name in defaults)
    yield from _table(("setting", "default", "what"), rows)
    for kind in ("losses", "heads", "additions"):
        names = ", ".join(f"`{name}`" for name in components.names(kind))
        yield from (f"## {kind.capitalize()}", "", f"{names}.", "")


def _comments(source: str) -> dict[str, str]:
    """The comment behind each setting."""
    found = {}
    for match in _SETTING.finditer(source):
        line = source[match.end() : source.find("\n", match.end())]
        found[match[1]] = line.partition("  # ")[2].strip()
    return found


def evaluation_sets() -> Iterable[str]:
    """The evaluation sets and where their files belong."""
    yield from ("# Evaluation sets", "", "`python -m eval MODEL --tasks NAME,…`", "")
    rows = ((f"`{task.name}`", task.protocol, f"`{task.file}`") for task in load_registry().values())
    yield from _table(("set", "protocol", "file in the data folder"), rows)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterable[str]:
    found = [[_cell(value) for value in row] for row in rows]
    if found:
        yield f"| {' | '.join(head)} |"
        yield "|" + "---|" * len(head)
        yield from (f"| {' | '.join(row)} |" for row in found)
        yield ""


def _cell(value: str) -> str:
    return " ".join(value.split()).replace("|", "\\|").replace("<", "&lt;")
