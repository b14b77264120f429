"""The table that sentence-transformers trains on."""

from __future__ import annotations

import dataclasses
import functools

from augment_cli.pack import (
    PACK_STAGE,
    PackOptions,
    check_cost,
    cost_of,
    cost_of_filters,
    costs_of_parts,
    pack,
    pack_settings,
    sides_of,
)
from augment_cli.session.comparing import Comparing
from augment_cli.vectors.cosines import is_mined
from augment_cli.vectors.stages import CORPUS_STAGE, chosen_set


class Packing(Comparing):
    """The step that packs, and the vectors that it compares."""

    def pack(self, options: PackOptions, stage: str = PACK_STAGE, dry_run: bool = False) -> list[str]:
        """Make the table that sentence-transformers trains on; say what each filter and each column costs."""
        # Vectors that filters or scores need and that are missing are made before it, but not in a dry run,
        # which stops when it has said what the filters cost.
        if options.compared:
            options = dataclasses.replace(options, vectors=chosen_set(self.store, options.vectors))
        if dry_run:
            self.reporter.say(check_cost(self.store, options, cost_of_filters(self.store, options)))
            return []
        if options.compared:
            own = [name for name in options.compared if not is_mined(self.store, name)]
            self.embed_missing((CORPUS_STAGE, *own), None, options.vectors)
        first, *further = sides = sides_of(options, stage)
        for name, one in sides.items():
            settings = functools.partial(pack_settings, self.store, one)
            if options.is_filtered and self.must_make_room(
                [name], settings
            ):  # nothing is deleted for nothing
                check_cost(self.store, options, cost_of_filters(self.store, options))
            self.make_room([name], settings)
        with self.timed(first, self.store.rows) as progress:
            pack(self.store, options, stage, self.engine, progress)
        results = self.results
        results += [dataclasses.replace(results[-1], stage=name) for name in further]
        parts = [part for name in sides for part in self.store.stage(name).parts.values()]
        if options.is_filtered and (costs := costs_of_parts(options, parts)):
            self.reporter.say(check_cost(self.store, options, costs))
        for name in sides:
            if cost := cost_of(self.store, name):
                self.reporter.say(cost)
        return list(sides)
