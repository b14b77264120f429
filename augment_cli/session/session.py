"""All steps of a store in one object."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Self

from augment_cli.engine.engine import Engine
from augment_cli.errors import IncompleteError, UsageError
from augment_cli.session.asking import Asking
from augment_cli.session.augmenting import Augmenting
from augment_cli.session.comparing import Comparing
from augment_cli.session.opened import Opened
from augment_cli.session.packing import Packing
from augment_cli.session.preparing import Preparing
from augment_cli.session.reading import Reading
from augment_cli.session.reporter import Reporter, Silent
from augment_cli.store.store import Store


class Session:
    """A store, an engine and a reporter, with one method for each kind of stage.

    Used as `with Session(…) as session:`, which holds the store's lock.
    """

    # results: what happened to each stage so far
    # store: folder of the store; made if it is not there
    # engine: one worker for each core by default
    # shared: let other processes make other parts of the same stages at the same time (`--parts`)
    # overwrite: delete a stage that is there with other settings, and what was made from it, instead of
    # refusing. Only the stage that is asked for is meant, not the earlier ones that it needs.
    # sample: take the shipped sample where no corpus is named and the store has none, and say so

    def __init__(
        self,
        store: str | Path,
        engine: Engine | None = None,
        reporter: Reporter | None = None,
        shared: bool = False,
        overwrite: bool = False,
        sample: bool = False,
    ) -> None:
        if shared and overwrite:
            raise UsageError("--overwrite deletes stages, and --parts lets others write to them; choose one")
        self._is_new, self._is_shared = not Path(store).exists(), shared
        self._lock = contextlib.ExitStack()
        self.store, self.reporter = Store.create(store), reporter or Silent()
        self.engine = engine or Engine.for_this_machine()
        opened = Opened(self.store, self.engine, self.reporter, shared, overwrite)
        self.results = opened.results
        reading, preparing = Reading(opened, sample), Preparing(opened)
        comparing = Comparing(opened, preparing)
        self._augmenting = Augmenting(opened, preparing)
        self.ingest, self.append = reading.ingest, reading.append
        self.fit, self.parse = preparing.fit, preparing.parse
        self.augment = self._augmenting.augment
        self.embed, self.combine = comparing.embed, comparing.combine
        self.score, self.mine = comparing.score, comparing.mine
        asking = Asking(opened)
        self.generate, self.sample = asking.generate, asking.sample
        self.read, self.paraphrase = asking.read, asking.paraphrase
        self.pack = Packing(opened, comparing).pack

    def __enter__(self) -> Self:
        self._lock.enter_context(self.store.lock(self._is_shared))
        self.store.reload()  # another run may have written between opening and locking
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        try:
            if kind is not None:
                self.store.discard_if_empty(with_folder=self._is_new)
        finally:
            self._lock.close()
        if kind is None and self._augmenting.failures:
            raise IncompleteError("\n".join(self._augmenting.failures))

    def take_failures(self) -> list[str]:
        """Messages about parts that failed for good; once taken, they are the caller's to report."""
        failures, self._augmenting.failures = self._augmenting.failures, []
        return failures
