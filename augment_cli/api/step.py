"""Operations that make stages: they have a session, and what all of them can be told."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from augment_cli.contract import operation
from augment_cli.contract.operation import NOTHING, shared_argument

if TYPE_CHECKING:
    from augment_cli.process.reporter import Reporter
    from augment_cli.session import Session


@dataclass(frozen=True)
class Step:
    """An operation that makes stages: what is declared, and what its callers can tell it beside that."""

    function: Callable[..., Any]  # takes the session first; returns the stages to show, if any
    reads_corpus: bool  # makes the corpus where it is missing; else there must be a store
    has_workers: bool


def step(
    command: str = "", *, reads_corpus: bool = True, has_workers: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare an operation that makes stages; the value is its function for Python.

    That takes the store first, then what is positional, then keywords; it opens a session, makes what is
    missing before, and returns the store.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        own = operation.arguments_of(function)
        places = [one for one in own if one.option.is_positional]
        needs_store = any(one.default is NOTHING for one in places)
        places.insert(0, shared_argument("store", operation.Store, NOTHING if needs_store else "store"))
        others = [one for one in own if not one.option.is_positional]
        if has_workers:
            others.append(shared_argument("jobs", operation.Jobs, None))
            others.append(shared_argument("backend", operation.Backend, "loky"))
        others.append(shared_argument("overwrite", operation.Overwrite, False))
        declared_step = Step(function, reads_corpus, has_workers)
        call = operation.for_python(function, command, places, others, functools.partial(_run, declared_step))
        call.step = declared_step  # type: ignore[attr-defined]
        return call

    return declare


def session_of(
    store: Any,
    jobs: int | None = None,
    backend: str = "loky",
    *cluster: str | None,
    reporter: "Reporter | None" = None,
    **more: bool,
) -> "Session":
    """A session as Python's callers have it: bars or a logger say how far it is."""
    from augment_cli.engine.engine import Engine
    from augment_cli.process.reporter import reporter_for_python
    from augment_cli.session import Session

    engine = Engine.for_this_machine(jobs, backend, *cluster)
    return Session(operation.plain(store), engine, reporter or reporter_for_python(), **more)


def _run(declared_step: Step, values: dict[str, Any]) -> Any:
    """Call a step from Python."""
    from augment_cli.api.stores import as_store
    from augment_cli.store.store import Store

    path, overwrite = operation.plain(values.pop("store", "store")), values.pop("overwrite", False)
    workers = values.pop("jobs", None if declared_step.has_workers else 1), values.pop("backend", "loky")
    if not declared_step.reads_corpus:
        path = Store.open(path).path  # there must be one
    own, shared = operation.grouped(declared_step.function, values), values.get("parts") is not None
    with session_of(path, *workers, shared=shared, overwrite=overwrite) as session:
        if declared_step.reads_corpus:
            session.ingest()
        declared_step.function(session, **own)
        return as_store(session.store)
