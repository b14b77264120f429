"""What the functions share: a session, and options made of keywords."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError, did_you_mean
from augment_cli.session import Session
from augment_cli.session.in_python import reporter_for_python


def session_of(store: str | Path, jobs: int | None, overwrite: bool, backend: str = "loky") -> Session:
    """A session on a store, which says in a notebook or to the logger what it does."""
    return Session(store, Engine.for_this_machine(jobs, backend), reporter_for_python(), overwrite=overwrite)


def options_of(kind: Any, given: Mapping[str, Any], function: str) -> Any:
    """Options made of keywords."""
    refuse_unknown(kind, given, function)
    return kind(**given)


def refuse_unknown(kind: Any, given: Mapping[str, Any], function: str) -> None:
    """Refuse keywords that options do not have, and say which they have."""
    known = [field.name for field in dataclasses.fields(kind)]
    if unknown := [name for name in given if name not in known]:
        alike = did_you_mean(unknown[0], known)
        raise UsageError(f"{function}: has no parameter {unknown[0]!r}; it has {', '.join(known)}.{alike}")
