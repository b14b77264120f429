"""The subjects of all attacks, made once; a test file for each file of attacks, which workers share."""

from tests.helpers.attack_runs import cases
from tests.helpers.attack_subjects import bounded, subject

__all__ = ["bounded", "subject"]


def pytest_generate_tests(metafunc):
    if metafunc.function.__name__ == "test_it_is_met":
        name = metafunc.module.__name__.rpartition("test_")[2]
        metafunc.parametrize("case", cases(name), ids=str)
