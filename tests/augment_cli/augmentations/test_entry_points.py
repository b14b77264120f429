"""Augmentations of other packages: the one in examples/package, and what can be wrong with one."""

import json
import re
import sys
import tomllib
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from augment_cli import augmentations
from augment_cli.contract.augmentation import Resources
from augment_cli.contract.rows import Rows
from augment_cli.errors import ContractError
from augment_cli.runs.tables import as_table
from augment_cli.text.spans import CodePoints
from tests.helpers.installing import install
from tests.helpers.made_stores import store_of
from tests.helpers.places import REPOSITORY


def printed() -> tuple[dict[str, str], str]:
    """The entry points and the module of the package in examples/package."""
    folder = REPOSITORY / "examples/package"
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    points = project["entry-points"]["augment_cli.augmentations"]
    return points, (folder / "shouting.py").read_text("utf-8")


@pytest.fixture
def call(command, tmp_path, monkeypatch):
    def forget() -> None:
        for module in ("shouting", "hostile"):
            sys.modules.pop(module, None)
        augmentations.provided.cache_clear()
        augmentations._places.cache_clear()

    def run(*arguments: str) -> Any:
        forget()
        return command(*arguments)

    monkeypatch.syspath_prepend(tmp_path / "site")
    yield run
    monkeypatch.undo()
    forget()


@pytest.mark.slow
def test_the_printed_package(tmp_path, process):
    def call(*arguments: str) -> Any:
        return process(*arguments, cwd=tmp_path, PYTHONPATH=f"{tmp_path / 'site'}:{REPOSITORY}")

    points, module = printed()
    install(tmp_path / "site", "shouting", points, shouting=module)
    assert "Put exclamation marks at the end" in call("--help").stdout
    assert "how many exclamation marks" in call("shout", "--help").stdout
    (tmp_path / "in.txt").write_text("The heron waits.\nIt is a grey day\n")
    made = call("shout", "--marks", "2", "--corpus", "in.txt", "--jobs", "2", "--json")
    assert made.returncode == 0, made.stderr
    rows = json.loads(call("inspect", "shout", "--json").stdout)
    assert sorted(row["text"] for row in rows) == ["It is a grey day!!", "The heron waits.!!"]
    again = call("shout", "--marks", "3")
    assert again.returncode == 5
    assert "marks" in again.stderr
    assert call("verify").returncode == 0


SHOUT = {"shout": "shouting:SHOUT"}


@pytest.mark.parametrize(
    ("points", "right", "wrong", "message"),
    [
        ({"una": "shouting:SHOUT"}, "", "", "augment-cli and shouting each bring an augmentation 'una'"),
        ({"loud": "no_such_module:LOUD"}, "", "", "of the package shouting .* cannot be loaded"),
        ({"loud": "shouting:QUIET"}, "", "", "cannot be loaded: AttributeError"),
        ({"loud": "shouting:dataclass"}, "", "", "is function; it must be an `Augmentation`"),
        ({"loud": "shouting:SHOUT"}, "", "", "calls itself 'shout'"),
        # The descriptor is not as agreed.
        (SHOUT, 'kind="positive"', 'kind="positiv"', "kind = 'positiv': choose one of negative, positive"),
        (SHOUT, "needs=frozenset()", 'needs=frozenset({"parse"})', "needs parse: choose among tfidf, parses"),
        (SHOUT, 'parameter(1, "how many exclamation marks", minimum=1)', "1", "marks: make it with `para"),
    ],
)
def test_a_package_with_a_fault_is_named(points, right, wrong, message, tmp_path, call):
    module, (name,) = printed()[1], points
    assert right in module
    install(tmp_path / "site", "shouting", points, shouting=module.replace(right, wrong or right))
    refused = call(name)
    assert refused.returncode == 2
    assert re.search(message, re.sub(r"\s+", " ", refused.stderr))
    assert "Traceback" not in refused.stderr and "our fault" not in refused.stderr
    # The rest goes on as if nothing had happened.
    assert call("--help").returncode == 0
    assert {"una", name} <= {entry["name"] for entry in json.loads(call("list", "--json").stdout)}


@pytest.mark.parametrize(
    ("points", "source", "name", "message"),
    [
        ({"bye": "hostile:BYE"}, "import sys; sys.exit(0)", "bye", "cannot be loaded: SystemExit: 0"),
        ({"bye": "../../x"}, "", "bye", "is not MODULE:CONSTANT"),
        ({"../evil": "hostile:BYE"}, "BYE = 3", "../evil", "No such command"),
    ],
)
def test_a_hostile_package_stops_its_own_command_alone(points, source, name, message, tmp_path, call):
    store_of(tmp_path, ["the river flows by the house"], "random-swap")
    install(tmp_path / "site", "hostile", points | {"verify": "hostile:BYE"}, hostile=source)
    refused = call(name)
    assert refused.returncode == 2 and message in re.sub(r"\s+", " ", refused.stderr)
    verified = call("verify", "--store", "store")
    assert verified.returncode == 0 and "every part is as it was committed" in verified.stdout


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("return Outcome(", "Outcome(", "returned NoneType instead of an `Outcome`"),
        ("np.full(len(rows),", "np.full(3,", "returned 3 reasons for 2 rows"),
        ("insert(filled,", "insert(filled + 1,", "an edit of row 2 where there are 2 rows"),
        ("lengths[filled],", "lengths[filled] + 5,", "do not fit: edit 21:21 of row 0 is not a span"),
    ],
)
def test_an_outcome_that_is_not_as_agreed(right, wrong, message, monkeypatch):
    module: dict[str, Any] = {"__name__": "shouting"}
    monkeypatch.setitem(sys.modules, "shouting", ModuleType("shouting"))
    source = printed()[1]
    assert right in source
    exec(source.replace(right, wrong), module)
    texts = pa.array(["The heron waits.", "It is late."])
    rows = Rows(np.arange(2), texts, CodePoints.of(texts))
    shout = module["SHOUT"]
    prepared = shout.prepare(shout.parameters(), Resources(0, 0))
    with pytest.raises(ContractError, match=re.escape(message)) as caught:
        as_table(shout, rows, prepared(rows))
    assert "'shout' (module shouting)" in str(caught.value)


def test_the_doctor_names_a_package_that_cannot_be_loaded(tmp_path, call):
    install(tmp_path / "site", "shouting", {"loud": "no_such_module:LOUD"})
    entries = {entry["what"]: entry for entry in json.loads(call("doctor", "--json").stdout)}
    assert "package shouting" in entries["loud"]["get"]
