"""What all protocols have in common: they are found by their files, and tasks name them."""

import subprocess
import sys

import pytest

from augment_cli.errors import BadInputError
from eval import protocols
from eval.contract.protocol import Protocol
from eval.tasks.table import load_registry
from tests.helpers.places import REPOSITORY


def test_every_file_declares_a_protocol_and_every_task_names_one():
    assert all(isinstance(protocols.get(name), Protocol) for name in protocols.names())
    # Sets of --beir, --minimal-pairs and --meaning stand in no registry.
    elsewhere = {"retrieval", "minimal-pairs", "meaning"}
    assert {task.protocol for task in load_registry().values()} == set(protocols.names()) - elsewhere


def test_an_unknown_protocol_is_named_beside_those_that_exist():
    with pytest.raises(
        BadInputError, match="there is no protocol 'nearest-words'; protocols are clustering, "
    ):
        protocols.get("nearest-words")


def test_reading_the_declarations_loads_neither_torch_nor_scikit_learn():
    code = (
        "import sys; from eval import protocols; protocols.settings(); "
        "print([name for name in ('torch', 'sklearn', 'transformers') if name in sys.modules])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True
    )
    assert printed.stdout.strip() == "[]"
