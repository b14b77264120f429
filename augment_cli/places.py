"""Where train/, eval/ and data/ are, and what their commands are called: beside a checkout, and in a wheel.

In a checkout these folders are beside the package. A wheel has them in the package's folder `checkout`
(setup.cfg), as top-level modules of such names would be in everybody's way; `augment-train`, `augment-eval`
and `augment-data` put that folder on the path.
"""

import importlib
import os
import runpy
import sys
from pathlib import Path
from types import ModuleType

_INSIDE = Path(__file__).parent / "checkout"
_IS_WHEEL = _INSIDE.is_dir()
# The folder that train/, eval/ and data/ are in.
CHECKOUT = _INSIDE if _IS_WHEEL else Path(__file__).parents[1]
STATIC = "data/models/static"
# What a checkout's commands are elsewhere; " -m train" follows the options of torchrun.
_COMMANDS = {
    "python -m train": "augment-train",
    " -m train": " --no-python augment-train",
    "python -m eval": "augment-eval",
    "python -m data.fetch": "augment-data",
    "`make data`": "`augment-data`",
}
_by_command = _IS_WHEEL


def run(module: str) -> None:
    """Run a module of the checkout as `python -m` does, from any folder; child processes find it, too."""
    global _by_command
    _by_command = True
    folder = str(CHECKOUT)
    sys.path.insert(0, folder)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def module(name: str) -> ModuleType:
    """A module of train/, eval/ or data/, which a wheel keeps out of everybody's way."""
    if str(CHECKOUT) not in sys.path:
        sys.path.append(str(CHECKOUT))
    return importlib.import_module(name)


def as_typed(text: str) -> str:
    """A message that names commands of a checkout, with the names that they have for who reads it."""
    for there, here in _COMMANDS.items() if _by_command else ():
        text = text.replace(there, here)
    return text


def shipped(name: str | Path) -> str:
    """An encoder that ships, such as `static`, as a path that any folder finds; else the name."""
    name = STATIC if str(name) == "static" and not Path(name).exists() else str(name)
    there = name.startswith("data/models/") and not Path(name).exists() and (CHECKOUT / name).is_dir()
    return str(CHECKOUT / name) if there else name
