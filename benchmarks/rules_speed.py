"""Sentences a second of each rule over a store's texts and cached parses, edits included, in one process.

    augment-cli parse --corpus sentences.txt --store my-store
    OMP_NUM_THREADS=1 python -m benchmarks.rules_speed --store my-store [--rows 100000] [--rounds 3]

For each augmentation by rules or word lists, in every mode: read the row groups of texts, and of parses where
it takes them, apply the rule, build texts, edits and columns as they are written. The best of some rounds
counts, in seconds of the processor (one thread); the rules take turns within a round. Printed are sentences a
second and the share of changed sentences, by rule. Nothing is written.
"""

import argparse
import dataclasses
from collections import Counter
from collections.abc import Collection, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from augment_cli import augmentations
from augment_cli.runs.run import AugmentationRun, make_run
from augment_cli.runs.stored import rows_of_part
from augment_cli.runs.tables import as_table
from augment_cli.store.store import Store
from benchmarks import in_turns, markdown


def runs(store: Store, only: Collection[str] = ()) -> Iterator[AugmentationRun]:
    """Every augmentation that runs no model and needs no fit or file of its own, in each of its modes."""
    for name in augmentations.names():
        descriptor = augmentations.get(name)
        if descriptor.needs - {"parses"} or name == "embedding-neighbour" or (only and name not in only):
            continue
        modes = [field for field in dataclasses.fields(descriptor.parameters) if field.name == "mode"]
        for mode in modes[0].metadata["choices"] if modes else [None]:
            yield (make_run(name) if mode is None else make_run(name, mode=mode)).resolved(store)


def measure(store: Store, run: AugmentationRun, rows: int) -> tuple[int, Counter[str]]:
    """One pass over at least that many rows, in whole row groups: their number, and those rules changed."""
    prepared = run.augmentation.prepare(run.parameters, run.resources(store))
    done, tables = 0, []
    parts = sorted(store.stage("parses").parts)
    for batch in chain.from_iterable(rows_of_part(store, index, run) for index in parts):
        tables.append(as_table(run.augmentation, batch, prepared(batch)))
        done += len(batch)
        if done >= rows:
            break
    changed = pa.concat_tables(tables).filter(pc.field("text").is_valid())
    rules = changed["rule"].to_pylist() if "rule" in changed.column_names else ["changed"] * len(changed)
    return done, Counter(rules)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", type=Path, default=Path("store"))
    parser.add_argument("--rows", type=int, default=100_000, help="most rows, whole row groups")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=(), help="these augmentations alone")
    options = parser.parse_args()
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    store = Store.open(options.store)
    ways = {}
    for run in runs(store, options.only):
        measure(store, run, 1)  # loads dictionaries and tables before the clock starts
        name = " ".join([run.name, getattr(run.parameters, "mode", "")])
        ways[name] = partial(measure, store, run, options.rows)
    seconds, results = in_turns(ways, options.rounds)
    table = []
    for name, (rows, rules) in results.items():
        shares = (f"{rule} {count / rows:.2%}" for rule, count in rules.most_common())
        changed = f"{rules.total() / rows:.2%} ({', '.join(shares)})"
        table.append([name, f"{rows:,}", f"{rows / min(seconds[name]):,.0f}", changed])
    print(markdown(["rule", "rows", "sentences/s", "changed"], table))


if __name__ == "__main__":
    main()
