"""Every loss begins its docstring with an example, which runs."""

import doctest

import pytest
import torch

from train import components


@pytest.mark.parametrize("name", components.names("losses"))
def test_the_example_of_a_loss(name):
    loss = components.module("losses", name)
    function = getattr(loss, components.function_name(name))
    example, *more = doctest.DocTestFinder().find(function, globs=vars(loss) | {"torch": torch})
    assert not more and 3 <= len(example.examples) <= 5
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
