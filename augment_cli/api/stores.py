"""A store with the operations as methods, each made from its declaration: `store.inspect("una", count=3)`."""

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from augment_cli.contract.operation import DECLARED
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
            command = function.command.replace("-", "_")  # type: ignore[attr-defined]
            name = function.__name__ if command in added or hasattr(StoreOfStages, command) else command
            setattr(Store, name, _method_of(function))
            added.add(name)


_add_methods()
