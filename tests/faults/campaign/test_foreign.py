"""The attacks of foreign.toml, each on a copy of its subject."""

import shutil

import pytest

from tests.helpers.attack_cases import cases
from tests.helpers.attack_runs import attack


@pytest.mark.slow
@pytest.mark.parametrize("case", cases("foreign"), ids=str)
def test_it_is_met(case, subject, tmp_path):
    assert attack(case, subject(case.on), tmp_path) == []
    shutil.rmtree(tmp_path, ignore_errors=True)
