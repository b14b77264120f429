"""Workers of a cluster with other libraries than those that a stage is stamped with make nothing."""

import os
import socket

import pytest

from augment_cli.engine import backends
from augment_cli.engine.backends import call_elsewhere, versions_of
from augment_cli.errors import MixError
from augment_cli.store.settings import Settings


def test_versions_are_those_of_the_settings_wherever_they_stand_in_a_call():
    settings = Settings("una", 1, libraries={"polars": "1", "spacy": "2"})
    own = {name: backends._installed(name) for name in ("augment-cli", "numpy", "pyarrow")}
    for arguments in ({"settings": settings}, {"sides": {"pack": ("options", settings)}}, {"a": [settings]}):
        assert versions_of([arguments]) == own | {"polars": "1", "spacy": "2"}
    assert versions_of([{"index": 3, "libraries": "none"}]) == versions_of([]) == own


def test_the_same_versions_are_called():
    assert call_elsewhere("os.path:join", {"a": "x"}, versions_of([])) == "x"


@pytest.mark.parametrize(("name", "there"), [("numpy", None), ("a-library", "(not installed)")])
def test_another_version_is_refused_before_anything_is_made(name, there):
    here = f"worker {socket.gethostname()} (process {os.getpid()}) has {name} "
    expected = here + (there or backends._installed(name)) + ", and this machine 0.0.1"
    with pytest.raises(MixError) as refusal:
        call_elsewhere("os:abort", {}, {name: "0.0.1"})
    assert str(refusal.value).startswith(expected) and "\n" not in str(refusal.value)
