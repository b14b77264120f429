"""A store with the operations as methods (`store.inspect("una", count=3)`), and those that make stages."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from augment_cli.contract import operation
from augment_cli.contract.operation import DECLARED, NOTHING, shared_argument
from augment_cli.errors.python_words import speaking_python
from augment_cli.pages.notebook import store_html
from augment_cli.store.store import Store as StoreOfStages


class Store(StoreOfStages):
    """A store, whose methods have the names of the commands.

    Those of a store's own stand above them: `read` gives a stage's table, and a language model's answers are
    read with `read_answers`; `run` takes an augmentation, `run_recipe` a recipe. A method that makes stages
    returns this store. `Store.open` opens one that is there, `Store.create` begins another.

    Examples
    --------
    >>> import augment_cli
    >>> store = augment_cli.Store.open("store")
    >>> [row["row_id"] for row in store.inspect("una", rows=[2])]
    [2]
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def _repr_html_(self) -> str:
        return store_html(self)


def as_store(store: StoreOfStages) -> Store:
    """The same store with the operations as methods."""
    return Store(store.path, store.parts, store._stages)


def _method_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """An operation of whose arguments the store is the object itself."""
    own = inspect.signature(function)
    others = own.replace(parameters=[one for one in own.parameters.values() if one.name != "store"])
    by_place = [name for name, one in others.parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD]
    spoken = speaking_python(function)

    @functools.wraps(function)
    def method(self: Store, *given: Any, **named: Any) -> Any:
        places = dict(zip(by_place, given, strict=False))
        if len(places) < len(given):
            raise TypeError(
                f"{function.__name__}: takes {len(places)} values by their place, {len(given)} are given"
            )
        try:
            result = spoken(store=self, **places, **named)
        finally:
            self.reload()
        return self if isinstance(result, StoreOfStages) else result

    itself = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    method.__signature__ = others.replace(parameters=[itself, *others.parameters.values()])  # type: ignore[attr-defined]
    return method


def _add_methods() -> None:
    added = set[str]()
    for function in DECLARED:
        if "store" in inspect.signature(function).parameters:
            command = getattr(function, "command", "").replace("-", "_") or function.__name__
            name = function.__name__ if command in added or hasattr(StoreOfStages, command) else command
            setattr(Store, name, _method_of(function))
            added.add(name)


_add_methods()


@dataclass(frozen=True)
class Step:
    """An operation that makes stages: what is declared, and what its callers can tell it beside that."""

    function: Callable[..., Any]  # takes the session first; returns the stages to show, if any
    reads_corpus: bool  # makes the corpus where it is missing; else there must be a store
    has_workers: bool
    plan: Callable[..., list[tuple[str, str]]] | None  # the stages that it needs, and their kinds


def step(
    command: str = "",
    *,
    reads_corpus: bool = True,
    has_workers: bool = True,
    plan: Callable[..., list[tuple[str, str]]] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare an operation that makes stages; the value is its function for Python.

    That takes the store first, then what is positional, then keywords; it opens a session, makes what is
    missing before, and returns the store.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        own = operation.arguments_of(function)
        positional = [one for one in own if one.option.is_positional]
        needs_store = any(one.default is NOTHING for one in positional)
        default = NOTHING if needs_store else "store"
        positional.insert(0, shared_argument("store", operation.Store, default))
        keywords = [one for one in own if not one.option.is_positional]
        if has_workers:
            keywords.append(shared_argument("jobs", operation.Jobs, None))
            keywords.append(shared_argument("backend", operation.Backend, "loky"))
        keywords.append(shared_argument("overwrite", operation.Overwrite, False))
        signature = operation.signature_of(positional, keywords)
        declared_step = Step(function, reads_corpus, has_workers, plan)

        @functools.wraps(function)
        def call(*given: Any, **named: Any) -> Any:
            named = operation.by_parameter([*positional, *keywords], named)
            operation.refuse_unknown(function.__name__, named, signature.parameters)
            values = signature.bind(*given, **named).arguments
            operation.refuse_swapped(function.__name__, values)
            return _run(declared_step, values)

        call.__signature__, call.step = signature, declared_step  # type: ignore[attr-defined]
        call.command = command or function.__name__  # type: ignore[attr-defined]
        return operation.documented(call, [*positional, *keywords])

    return declare


def _run(declared_step: Step, values: dict[str, Any]) -> Any:
    """Call a step from Python: bars or a logger say how far it is."""
    from augment_cli.engine.engine import Engine
    from augment_cli.process.reporter import reporter_for_python
    from augment_cli.session import Session
    from augment_cli.store.store import Store

    path, overwrite = operation.plain(values.pop("store", "store")), values.pop("overwrite", False)
    jobs = values.pop("jobs", None) if declared_step.has_workers else 1
    engine = Engine.for_this_machine(jobs, values.pop("backend", "loky"))
    if not declared_step.reads_corpus:
        path = Store.open(path).path  # there must be one
    own, shared = operation.grouped(declared_step.function, values), values.get("parts") is not None
    with Session(path, engine, reporter_for_python(), shared, overwrite) as session:
        if declared_step.reads_corpus:
            session.ingest()
        declared_step.function(session, **own)
        return as_store(session.store)
