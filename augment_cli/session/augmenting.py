"""Augmentations, and before them what they need."""

from __future__ import annotations

import functools
from collections.abc import Collection

from augment_cli.errors import IncompleteError, UsageError
from augment_cli.runs.run import AugmentationRun
from augment_cli.runs.stored import augment_store
from augment_cli.session.preparing import Preparing


class Augmenting(Preparing):
    """The step that makes an augmentation."""

    def augment(
        self,
        run: AugmentationRun,
        stage: str | None = None,
        draws: int = 1,
        parts: Collection[int] | None = None,
    ) -> list[str]:
        """Make `draws` independent draws of an augmentation, and before it what it needs."""
        # Where parts fail for good, the rest goes on; `IncompleteError` is raised at the session's end,
        # unless the failures are taken (`take_failures`).
        if draws < 1:
            raise UsageError(f"--draws {draws}: must be at least 1")
        run = run.settled(self.store, stage)
        run.check_named(self.store)
        run.check_language(run.pipeline(self.store))
        # Before what it needs is made, which may take long.
        self.store.check_name(run.of_draw(0, draws).folder(stage), run.name)
        if "tfidf" in run.needs:
            self.fit(name=run.fit, with_forms="forms" in run.needs)
        if "parses" in run.needs:
            self.parse(name=run.parses)
        for note in () if self.is_shared else run.notes(self.store):
            if note not in self._said:
                self._said.add(note)
                self.reporter.say(note)
        for warning in run.warnings(self.store):
            self.reporter.warn(warning)
        self.check_parts(parts)
        folders = []
        for draw in range(draws):
            one = run.of_draw(draw, draws)
            folders.append(one.folder(stage))
            self.make_room(folders[-1:], functools.partial(one.settings, self.store))
            with self.timed(folders[-1], self._rows_to_make(one, folders[-1], parts)) as progress:
                try:
                    augment_store(self.store, one, stage, self.engine, progress, parts)
                except IncompleteError as error:
                    self.failures.append(str(error))
        return folders

    def _rows_to_make(self, run: AugmentationRun, folder: str, parts: Collection[int] | None) -> int:
        """Rows that are left for a run to do: not those of finished parts, nor those beyond its `rows`."""
        finished = self.store.stage(folder).parts if folder in self.store.stages() else {}
        return sum(
            run.rows_in_reach(first, count)
            for index, (first, count) in enumerate(self.store.parts)
            if index not in finished and (parts is None or index in parts)
        )
