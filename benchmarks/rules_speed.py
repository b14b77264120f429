"""Sentences a second of each rule over a store's texts and cached parses, edits included, in one process.

    augment-cli parse --corpus sentences.txt --store my-store
    OMP_NUM_THREADS=1 python -m benchmarks.rules_speed --store my-store [--rows 100000] [--rounds 3]

For each augmentation by rules or word lists, in every mode (or those that `--only` names): read the row
groups of texts, and of parses where it takes them, apply the rule, build texts, edits and columns as they are
written. The best of some rounds counts, in seconds of the processor (one thread), so that other work on the
machine counts little; the rules take turns within a round. Printed are sentences a second with and without
the reading, and the share of changed sentences, by rule; with
`--rows` of the whole corpus, that is its coverage. Nothing is written.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from augment_cli import augmentations
from augment_cli.runs.rows import rows_of_part
from augment_cli.runs.run import AugmentationRun, make_run
from augment_cli.runs.tables import as_table
from augment_cli.store.store import Store
from benchmarks.timing import markdown


def runs(store: Store, only: Collection[str] = ()) -> Iterator[AugmentationRun]:
    """Every augmentation that runs no model and needs no fit or file of its own, in each of its modes."""
    for name in augmentations.names():
        descriptor = augmentations.get(name)
        if descriptor.needs - {"parses"} or name == "embedding-neighbour" or (only and name not in only):
            continue
        modes = [field for field in dataclasses.fields(descriptor.parameters) if field.name == "mode"]
        for mode in modes[0].metadata["choices"] if modes else [None]:
            yield (make_run(name) if mode is None else make_run(name, mode=mode)).settled(store)


@dataclasses.dataclass(frozen=True)
class Measured:
    """Rows done, rows changed by each rule, seconds in all, seconds of reading."""

    rows: int
    rules: Counter[str]
    seconds: float
    reading: float


def measure(store: Store, run: AugmentationRun, rows: int) -> Measured:
    """One pass over at least so many rows, in whole row groups."""
    prepared = run.augmentation.prepare(run.parameters, run.resources(store))
    done, tables = 0, []
    reading = 0.0
    begin = time.process_time()
    for index in sorted(store.stage("parses").parts):
        groups = rows_of_part(store, index, run)
        while done < rows:
            before = time.process_time()
            batch = next(groups, None)
            reading += time.process_time() - before
            if batch is None:
                break
            table = as_table(run.augmentation, batch, prepared(batch))
            done += len(batch)
            tables.append(table)
    seconds = time.process_time() - begin
    changed = pa.concat_tables(tables).filter(pc.field("text").is_valid())
    rules = changed["rule"].to_pylist() if "rule" in changed.column_names else ["changed"] * len(changed)
    return Measured(done, Counter(rules), seconds, reading)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", type=Path, default=Path("store"))
    parser.add_argument("--rows", type=int, default=100_000, help="at most so many rows, whole row groups")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=(), help="these augmentations alone")
    options = parser.parse_args()
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    store = Store.open(options.store)
    everything = list(runs(store, options.only))
    for run in everything:  # load dictionaries and tables before the clock starts
        measure(store, run, 1)
    best: dict[int, Measured] = {}
    for _ in range(options.rounds):
        for place, run in enumerate(everything):
            result = measure(store, run, options.rows)
            best[place] = min(best.get(place, result), result, key=lambda item: item.seconds)
    table = []
    for place, run in enumerate(everything):
        result = best[place]
        name = " ".join([run.name, getattr(run.parameters, "mode", "")])
        rates = result.rows / result.seconds, result.rows / (result.seconds - result.reading)
        shares = (f"{rule} {count / result.rows:.2%}" for rule, count in result.rules.most_common())
        changed = f"{result.rules.total() / result.rows:.2%} ({', '.join(shares)})"
        table.append([name, f"{result.rows:,}", *(f"{rate:,.0f}" for rate in rates), changed])
    print(markdown(["rule", "rows", "sentences/s", "without reading", "changed"], table))


if __name__ == "__main__":
    main()
