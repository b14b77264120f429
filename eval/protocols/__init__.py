"""The protocols: every file of this folder is one, and declares itself in its constant `PROTOCOL`.

A task of tasks.toml names its protocol by the file, `geometry-nli` for `geometry_nli.py`. A new protocol is
one new file. What a declaration says is described at `eval.contract.Protocol`; the formulas that
protocols share lie in `eval/measures`.
"""

import importlib
from functools import cache
from pathlib import Path

from augment_cli.errors import BadInputError
from eval.contract import Protocol, Setting


@cache
def _files() -> dict[str, Path]:
    return {path.stem.replace("_", "-"): path for path in sorted(Path(__file__).parent.glob("[a-z]*.py"))}


def names() -> list[str]:
    """Names of all protocols, sorted."""
    return list(_files())


def get(name: str) -> Protocol:
    """The protocol of a name."""
    if name not in _files():
        raise BadInputError(
            f"there is no protocol {name!r}; protocols are {', '.join(names())}: correct the task's entry"
        )
    module = importlib.import_module(f"{__name__}.{_files()[name].stem}")
    protocol: Protocol = module.PROTOCOL
    return protocol


def settings() -> list[Setting]:
    """The settings of all protocols, each once, sorted by name."""
    by_name = {setting.name: setting for name in names() for setting in get(name).settings}
    return [by_name[name] for name in sorted(by_name)]
