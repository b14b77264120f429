"""The table that sentence-transformers trains on."""

from __future__ import annotations

import dataclasses
import functools

from augment_cli.errors import UsageError
from augment_cli.pack import (
    PACK_STAGE,
    SIDES,
    PackOptions,
    cost_of,
    cost_of_filters,
    pack,
    pack_settings,
)
from augment_cli.session.comparing import Comparing
from augment_cli.vectors.cosines import is_mined
from augment_cli.vectors.stages import CORPUS_STAGE, chosen_set


class Packing(Comparing):
    """The step that packs, and the vectors that it compares."""

    def pack(self, options: PackOptions, stage: str = PACK_STAGE, dry_run: bool = False) -> list[str]:
        """Make the table that sentence-transformers trains on; say what each filter and each column costs.

        Vectors that filters or scores need and that are missing are made before it, but not in a dry run,
        which stops when it has said what the filters cost.

        Returns
        -------
        list of str
            The stages: `stage`, or with a split `stage-train` and `stage-test`.
        """
        if options.compared:
            options = dataclasses.replace(options, vectors=chosen_set(self.store, options.vectors))
        self._price_filters(options, dry_run)
        if dry_run:
            return []
        sides = {stage: options}
        if options.split:
            sides = {f"{stage}-{side}": dataclasses.replace(options, side=side) for side in SIDES}
        for name, one in sides.items():
            self._make_room([name], functools.partial(pack_settings, self.store, one))
            with self._timed(name, self.store.rows) as progress:
                pack(self.store, one, name, self.engine, progress)
            if cost := cost_of(self.store, name):
                self.reporter.say(cost)
        return list(sides)

    def _price_filters(self, options: PackOptions, dry_run: bool) -> None:
        """Say before anything is written how many rows each filter costs; refuse what leaves none."""
        if options.compared and not dry_run:
            own = [name for name in options.compared if not is_mined(self.store, name)]
            self._embed_missing((CORPUS_STAGE, *own), None, options.vectors)
        if not options.filters and not dry_run:
            return
        costs = cost_of_filters(self.store, options)
        rows = costs.pop("rows")
        left = rows - sum(costs.values())
        said = [
            f"--{name.replace('_', '-')} {getattr(options, name):g} costs {cost:,}"
            for name, cost in costs.items()
        ]
        self.reporter.say("; ".join([f"{rows:,} rows without filters", *said, f"{left:,} left"]))
        if said and not left:
            raise UsageError(f"{self.store.path}: no row passes the filters ({'; '.join(said)}); loosen them")
