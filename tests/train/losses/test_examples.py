"""Every loss begins its docstring with an example, which runs."""

import doctest
import inspect

import pytest
import torch

from train import components
from train.methods.cosent.angle_addition import angle_similarity
from train.methods.cosent.cosent_addition import cosent


@pytest.mark.parametrize("name", components.names("losses"))
def test_the_example_of_a_loss(name):
    loss = components.module("losses", name)
    function = getattr(loss, components.function_name(name))
    example, *more = doctest.DocTestFinder().find(function, globs=vars(loss) | {"torch": torch})
    assert not more and 3 <= len(example.examples) <= 5
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


@pytest.mark.parametrize("function", [cosent, angle_similarity])
def test_the_example_of_a_loss_of_pairs_with_scores(function):
    (example,) = doctest.DocTestFinder().find(
        function, globs=vars(inspect.getmodule(function)) | {"torch": torch}
    )
    assert 3 <= len(example.examples) <= 5
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0
