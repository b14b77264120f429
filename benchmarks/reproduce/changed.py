"""How many of a draw's sentences each augmentation changes: `results/changed.jsonl`, a line for each stage.

    python -m benchmarks.reproduce.changed --data ../shared/data

Makes the stages of the five draws again, without a training: half an hour on one core. Each must have the
digest that the draw's trainings have recorded.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import mean

from augment_cli.errors import UserError
from augment_cli.store.store import Store
from benchmarks.reproduce.entries import Profile
from benchmarks.reproduce.grid import Grid, load_grid
from benchmarks.reproduce.stages import Stages
from benchmarks.reproduce.units import make_units
from benchmarks.result_lines import add_line, read_lines
from train.data.texts import CORPUS

FILE = "changed.jsonl"


def texts_of(grid: Grid, profile: Profile) -> dict[str, tuple[str, ...]]:
    """The stages that each row of a profile reads beside its corpus."""
    own = grid.of_profile(profile)
    units = make_units(own, profile, own.rows)
    every = {unit.row.name: tuple(name for name in unit.stages if name != CORPUS) for unit in units}
    return {row: names for row, names in every.items() if names}


def shares(folder: Path) -> dict[str, float]:
    """Per cent of the sentences that each stage changes, on average over the draws that are counted."""
    found: dict[str, list[float]] = {}
    for line in read_lines(folder / FILE):
        found.setdefault(line["stage"], []).append(100 * line["changed"] / line["rows"])
    return {stage: mean(values) for stage, values in found.items()}


def remark(grid: Grid, profile: Profile, folder: Path) -> str:
    """A sentence with the share of each row; empty where nothing is counted."""
    # Rows with two stages are not in it: theirs are those of rows with one.
    share_of = shares(folder)
    rows = {
        grid.row(row).title: sorted(share_of[name] for name in names)
        for row, names in texts_of(grid, profile).items()
        if {*names} <= share_of.keys()
    }
    if not rows:
        return ""
    alone = sorted((found[0], title) for title, found in rows.items() if len(found) == 1)
    several = [
        f"{title} has {len(found)} augmentations, which change {', '.join(f'{one:.0f}' for one in found)} %"
        for title, found in rows.items()
        if len(found) > 2
    ]
    said = "; ".join([", ".join(f"{title} {share:.0f} %" for share, title in alone), *several])
    return (
        f"Of the sentences these change, on average over the draws: {said}. What is not changed is its own "
        "positive."
    )


def _count(store: Store | None, stage: str) -> dict[str, int]:
    assert store is not None  # its stages were made
    parts = store.stage(stage).parts.values()
    return {"rows": store.rows, "changed": sum(int(part.statistics["changed"]) for part in parts)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--runs", type=Path, default=Path("runs/reproduce"), help="folder of stores")
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "results")
    options = parser.parse_args()
    grid, lines = load_grid(), read_lines(options.results / FILE)
    for name in (name for name in grid.profiles if name.startswith("draw-")):
        profile = grid.profiles[name]
        recorded = {
            stage: digest
            for line in read_lines(options.results / f"{name}.jsonl")
            for stage, digest in line["data"].items()
        }
        stages = Stages(grid, profile, options.runs / name / f"store-{profile.rows}", options.data)
        for stage in dict.fromkeys(one for names in texts_of(grid, profile).values() for one in names):
            key = {"draw": name, "stage": stage, "digest": recorded[stage]}
            if any(key.items() <= line.items() for line in lines):
                continue
            try:
                stages.make((stage,))
            except UserError as error:
                sys.exit(f"{name}: {error}")
            if stages.digests((stage,)) != {stage: recorded[stage]}:
                sys.exit(f"{name}: {stage} is not the recorded one, whose digest is {recorded[stage]}")
            add_line(options.results / FILE, lines, key | _count(stages.open(), stage))


if __name__ == "__main__":
    main()
