"""Finding components by their files: a loss, a head or an addition is one file, and no list names it.

============  =======================================  ========================================
folder        a recipe says                            and gets
============  =======================================  ========================================
`losses`      ``loss = "nt-xent"``                     the function `nt_xent` of `nt_xent.py`
`heads`       ``head = "batch-norm"``                  the class `BatchNormHead` of `batch_norm.py`
`additions`   a table ``[soft_negative]``              the class `SoftNegative` of `soft_negative.py`
============  =======================================  ========================================

Files whose names begin with `base` hold what the files of a folder share; they are not components.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
from pathlib import Path
from types import ModuleType
from typing import Literal

from augment_cli.errors import UsageError

Kind = Literal["losses", "heads", "additions"]
_ONE = {"losses": "loss", "heads": "head", "additions": "addition"}


def names(kind: Kind) -> tuple[str, ...]:
    """What the components of a kind are called in recipes, sorted: the files' names without the ending."""
    # Losses and heads, which are values in a recipe, are written with hyphens; additions, which are the names
    # of tables, with underscores.
    files = (Path(__file__).parent / kind).glob("[a-z]*.py")
    stems = (path.stem for path in files if not path.stem.startswith("base"))
    return tuple(sorted(stem if kind == "additions" else stem.replace("_", "-") for stem in stems))


def module(kind: Kind, name: str) -> ModuleType:
    """The file of a component, by the name that recipes give it; `UsageError` where there is none."""
    if name not in names(kind):
        raise UsageError(f"unknown {_ONE[kind]} {name!r}; choose one of {', '.join(names(kind))}")
    return importlib.import_module(f"train.{kind}.{function_name(name)}")


def has_settings(kind: Kind, name: str) -> bool:
    """Whether a component's file has a class `Settings`; read without running it, which would load torch."""
    path = Path(__file__).parent / kind / f"{function_name(name)}.py"
    body = ast.parse(path.read_text("utf-8")).body
    return any(isinstance(node, ast.ClassDef) and node.name == "Settings" for node in body)


@functools.cache  # asked for in every step
def layout(loss: str) -> str:
    """How negatives reach a loss: ``columns`` or ``pool``, its constant `LAYOUT`; does not load torch."""
    path = Path(__file__).parent / "losses" / f"{function_name(loss)}.py"
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "LAYOUT":
            return str(ast.literal_eval(node.value))
    raise UsageError(f'{path}: LAYOUT is missing; write LAYOUT = "columns" or "pool"')


def function_name(name: str) -> str:
    """``nt-xent`` becomes ``nt_xent``."""
    return name.replace("-", "_")


def class_name(name: str) -> str:
    """``soft_negative`` and ``soft-negative`` become ``SoftNegative``."""
    return "".join(part.title() for part in re.split("[-_]", name))
