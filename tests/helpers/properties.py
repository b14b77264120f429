"""How many examples a property is tried on: all in the slow suite, a fifth of them in the quick one."""

import os

from hypothesis import HealthCheck, settings

USUAL = 50
QUICK_SHARE = 5  # one of so many


def load_profile(is_quick: bool) -> None:
    """Set how properties are tried; HYPOTHESIS_EXAMPLES=1000 looks harder, everywhere in proportion."""
    number = int(os.environ.get("HYPOTHESIS_EXAMPLES", str(USUAL)))
    # Tests assert no times, and a busy machine is no reason to fail.
    settings.register_profile(
        "timeless",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        max_examples=max(1, number // QUICK_SHARE) if is_quick else number,
    )
    settings.load_profile("timeless")


def examples(number: int, *unchecked: HealthCheck) -> settings:
    """So many examples where the usual property has `USUAL`; health checks that are not made."""
    return settings(
        max_examples=max(1, number * settings.default.max_examples // USUAL),
        suppress_health_check=[HealthCheck.too_slow, *unchecked],
    )
