"""Seconds and memory of lexical mining, and of dense search, on sentences of a folder.

    python -m benchmarks.mine_speed --corpus '../shared/data/corpus/wiki_en-0*.gz' --rows 100000

A store is made in a temporary folder: ingest and fit first, timed apart, then `mine --by tfidf`. With
`--dense`, random unit vectors of the given dimension stand for an encoder's; its own time is
`benchmarks.embed_speed`'s. With `--jobs 1` all of it runs in this process, so that CPU seconds and memory are
the whole; on a machine that others use too they say more than seconds on the clock.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time

import numpy as np

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.session import Session
from augment_cli.vectors.mine_parameters import MineParameters
from augment_cli.vectors.search import search
from augment_cli.vectors.stages import unit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--max-df", type=float, default=MineParameters().max_df)
    parser.add_argument("--dense", type=int, default=0, metavar="DIMENSION")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        Session(folder, Engine.for_this_machine(options.jobs)) as session,
    ):
        session.ingest([options.corpus], IngestOptions(limit=options.rows))
        session.fit()
        began = time.process_time()
        session.mine(MineParameters(max_df=options.max_df))
        spent = time.process_time() - began
        print(f"{session.store.rows:,} rows, {session.engine.jobs} workers")
        for result in session.results:
            print(f"{result.stage}: {result.seconds:.1f} s")
        parts = session.store.stage("mined-tfidf").parts.values()
        print({key: sum(part.statistics[key] for part in parts) for key in next(iter(parts)).statistics})
    print(f"mining: {spent:.1f} CPU seconds of this process")
    print(f"this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most")
    if options.dense:
        dense(options.rows, options.dense)


def dense(rows: int, dimension: int) -> None:
    vectors, _ = unit(np.random.default_rng(0).normal(size=(rows, dimension)).astype(np.float32))
    queries = np.arange(min(rows, 8_192))
    start = time.process_time()
    blocks = (
        (np.arange(low, min(low + 8_192, rows)), vectors[low : low + 8_192]) for low in range(0, rows, 8_192)
    )
    search(vectors[queries], queries, blocks, 50)
    took = time.process_time() - start
    print(
        f"dense: {len(queries):,} queries in {took:.1f} CPU s, so {took * rows / len(queries):.0f} s for all"
    )


if __name__ == "__main__":
    main()
