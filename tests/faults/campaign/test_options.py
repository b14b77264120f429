"""The attacks of options.toml, each on a copy of its subject."""

from tests.helpers.attack_runs import test_it_is_met as test_it_is_met
