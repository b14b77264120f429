"""All steps of a store in one object."""

from __future__ import annotations

from typing import Self

from augment_cli.errors import IncompleteError
from augment_cli.session.asking import Asking
from augment_cli.session.augmenting import Augmenting
from augment_cli.session.packing import Packing
from augment_cli.session.reading import Reading


class Session(Reading, Augmenting, Packing, Asking):
    """A store, an engine and a reporter, with one method for each kind of stage.

    Used as `with Session(…) as session:`, which holds the store's lock.
    """

    def __enter__(self) -> Self:
        self._lock.enter_context(self.store.lock(self.is_shared))
        self.store.reload()  # another run may have written between opening and locking
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        try:
            if kind is not None:
                self.store.discard_if_empty(with_folder=self._is_new)
        finally:
            self._lock.close()
        if kind is None and self.failures:
            raise IncompleteError("\n".join(self.failures))

    def take_failures(self) -> list[str]:
        """Messages about parts that failed for good; once taken, they are the caller's to report."""
        failures, self.failures = self.failures, []
        return failures
