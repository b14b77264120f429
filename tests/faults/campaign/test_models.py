"""The attacks of models.toml, each on a copy of its subject."""

from tests.helpers.attack_runs import test_it_is_met as test_it_is_met
