"""A store opened to make stages in it: the earlier ones that are missing, then the one asked for.

The commands and the Python interface both work through a `Session`.
"""

from __future__ import annotations

from typing import Self

from augment_cli.errors import IncompleteError
from augment_cli.resources.sample import SAMPLE
from augment_cli.session.base import StageResult
from augment_cli.session.corpus import CorpusSteps
from augment_cli.session.reporter import Reporter, Silent
from augment_cli.session.vectors import AnswerSteps, VectorSteps

__all__ = ["SAMPLE", "Reporter", "Session", "Silent", "StageResult"]


class Session(CorpusSteps, VectorSteps, AnswerSteps):
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
