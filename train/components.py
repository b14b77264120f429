"""Losses, heads and additions, found by their files: no list names them.

============  =======================================  ========================================
folder        a recipe says                            and gets
============  =======================================  ========================================
`losses`      ``loss = "info-nce"``                    the function `info_nce` of `info_nce.py`
`heads`       ``head = "batch-norm"``                  the class `BatchNormHead`
`additions`   a table ``[soft_negative]``              the class `SoftNegative` of `soft_negative.py`
============  =======================================  ========================================

These are the folders of the core. A method has one folder in `train/methods`: its files `X_loss.py`,
`X_head.py` and `X_addition.py` are the loss, the head and the addition X. A core file whose name begins with
`base` holds what others share and is no component. What a setting of the core turns on, such as a whitening
after training, is a module of `train/methods` or `train/extras`, which `part` loads then.

An installed package adds components by entry points of the groups `augment_cli.losses`, `augment_cli.heads`
and `augment_cli.additions`, each the name of a module that holds what a file here would:
``hinge = "my_package.hinge"``.
"""

import ast
import functools
import importlib
import re
from pathlib import Path
from types import ModuleType
from typing import Literal

from augment_cli.augmentations import Place, provided, the_only
from augment_cli.errors import UsageError

Kind = Literal["losses", "heads", "additions"]
HERE = Path(__file__).parent
_ONE = {"losses": "loss", "heads": "head", "additions": "addition"}


@functools.cache
def _own(kind: Kind) -> dict[str, Place]:
    """The components of the core and of the methods, by the names that recipes give them."""
    one = f"_{_ONE[kind]}"
    core = (file for file in HERE.glob(f"{kind}/[a-z]*.py") if not file.stem.startswith("base"))
    files = {file.stem: file for file in core}
    files |= {file.stem.removesuffix(one): file for file in HERE.glob(f"methods/*/*{one}.py")}
    # Losses and heads, which are values in a recipe, are written with hyphens; additions, which are the names
    # of tables, with underscores.
    return {
        stem if kind == "additions" else stem.replace("_", "-"): Place(
            ".".join(files[stem].relative_to(HERE.parent).with_suffix("").parts)
        )
        for stem in sorted(files)
    }


def names(kind: Kind) -> tuple[str, ...]:
    """What the components of a kind are called in recipes, sorted: the files' names without the ending."""
    return tuple(sorted({*_own(kind), *provided(f"augment_cli.{kind}")}))


def _place(kind: Kind, name: str) -> Place:
    own = [place] if (place := _own(kind).get(name)) else []
    found = [*own, *provided(f"augment_cli.{kind}").get(name, [])]
    if not found:
        raise UsageError(f"unknown {_ONE[kind]} {name!r}; choose one of {', '.join(names(kind))}")
    return the_only(found, _what(kind, name))


def module(kind: Kind, name: str) -> ModuleType:
    """The file of a component, by the name that recipes give it; `UsageError` where there is none."""
    place = _place(kind, name)
    file: ModuleType = place.load(_what(kind, name))
    wanted = [member(kind, name), *(("LAYOUT", "FURTHER_NEGATIVES") if kind == "losses" else ())]
    if missing := [one for one in wanted if not hasattr(file, one)]:
        where = place.described(_what(kind, name)) if place.package else file.__file__
        raise UsageError(f"{where} has no {' and no '.join(missing)}; see docs/how-to/add-a-loss.md")
    return file


def member(kind: Kind, name: str) -> str:
    """What a component is called in its file: ``nt_xent``, ``BatchNormHead``, ``SoftNegative``."""
    if kind == "losses":
        return name.replace("-", "_")
    words = "".join(word.title() for word in re.split("[-_]", name))
    return words + ("Head" if kind == "heads" else "")


def _tree(kind: Kind, name: str) -> ast.Module:
    """A component's source, read without running it, which would load torch."""
    place = _place(kind, name)
    if not place.package:
        return ast.parse(HERE.parent.joinpath(*place.module.split(".")).with_suffix(".py").read_text("utf-8"))
    try:
        return ast.parse(place.source())
    except (ImportError, OSError, SyntaxError, ValueError) as error:
        where = place.described(_what(kind, name))
        raise UsageError(f"{where} cannot be read: {error}; mend or uninstall the package") from error


def _what(kind: Kind, name: str) -> str:
    return f"{_ONE[kind]} {name!r}"


def has_settings(kind: Kind, name: str) -> bool:
    """Whether a component's file has a class `Settings`."""
    body = _tree(kind, name).body
    return any(isinstance(node, ast.ClassDef) and node.name == "Settings" for node in body)


@functools.cache  # asked for in every step
def layout(loss: str) -> str:
    """How negatives reach a loss: ``columns`` or ``pool``, its constant `LAYOUT`."""
    for node in _tree("losses", loss).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "LAYOUT":
            return str(ast.literal_eval(node.value))
    where = _place("losses", loss).module
    raise UsageError(f'{where}: LAYOUT is missing; write LAYOUT = "columns" or "pool"')


def part(name: str) -> ModuleType:
    """A module of `train.methods` or `train.extras`, loaded where a setting asks for what it does."""
    return importlib.import_module(f"train.{name}")
