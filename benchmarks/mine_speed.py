"""Seconds and memory of lexical mining on sentences of a folder.

    python -m benchmarks.mine_speed --corpus '../shared/data/corpus/wiki_en-0*.gz' --rows 100000

A store is made in a temporary folder: ingest and fit first, timed apart, then `mine --by tfidf`. With
`--jobs 1` all of it runs in this process, so that CPU seconds and memory are the whole.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.session import Session
from augment_cli.vectors.mine_parameters import MineParameters


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--max-df", type=float, default=MineParameters().max_df)
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


if __name__ == "__main__":
    main()
