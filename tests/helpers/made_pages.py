"""Stores whose text would like to be something else, for pages."""

from augment_cli.runs.run import make_run
from tests.helpers.made_stores import store_of

HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> &amp; the \u202e river \x1b flows by {{ house }}"
)


def made(folder, lines, **parameters):
    """A store of some lines and `una`."""
    return store_of(folder, lines, make_run("una", **parameters))


def hostile_store(folder):
    """A store whose sentences are markup, templates and marks that turn the direction of text."""
    lines = [HOSTILE.replace("\x1b", "")] * 3 + [f"the river {n} flows" for n in range(30)] + ["a\x1bb"]
    return made(folder, lines, radius=4)
