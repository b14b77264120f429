"""`python -m benchmarks.reproduce [plan|run|repeat|table|bed]`: what is missing, run it, compare it.

Examples
--------
::

    make reproduce DATA=folder                      # the first draw, in order; again after a crash
    make reproduce ROW=una,best                     # two rows
    make reproduce-plan                             # what is done and what it still takes
    make repeat ROW=simcse SEEDS=101                # one row once more, compared with what is recorded
    make bed                                        # the encoder that they start from
    python -m benchmarks.reproduce table            # what the recorded results say, with intervals
    make reproduce PROFILE=una-table-1 ENCODER=bert-base-uncased=folder CORPUS=wiki1m.txt   # a paper's table
"""

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from augment_cli.errors import MissingError, UsageError, UserError
from augment_cli.process.exit_codes import Command
from augment_cli.store.files import sha256_of_json
from train.machine import prepare

HERE = Path(__file__).parent


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(
        prog="python -m benchmarks.reproduce",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = arguments.add_argument
    add("action", nargs="?", choices=("plan", "run", "repeat", "table", "bed"), default="plan")
    add("--profile", default="draw-1", help="a profile of the grid (default draw-1)")
    add("--rows", default="", help="rows, comma-separated (default: all)")
    add("--seeds", default="", help="instead of the profile's, comma-separated")
    add("--data", type=Path, default=Path(os.environ.get("DATA", "../shared/data")), help="the data folder")
    add("--jobs", type=int, default=1, help="trainings at a time (default 1)")
    add("--grid", type=Path, default=HERE / "grid.toml", help="the grid (default: the one beside this file)")
    add("--results", type=Path, default=HERE / "results", help="folder of the results")
    add("--runs", type=Path, default=Path("runs/reproduce"), help="folder of stores and encoders")
    add(
        "--encoder",
        default="",
        help="FOLDER for all rows, or NAME=FOLDER,… for what starts from NAME or runs it",
    )
    add("--corpus", default="", help="a file in place of the profile's, one sentence a line")
    add("--limit", type=int, default=0, help="the first N sentences only")
    add(
        "--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="settings of all trainings"
    )
    add("--allow-download", action="store_true", help="fetch hub models that are not on this machine")
    add("--remove-encoders", action="store_true", help="keep no trained encoder once it is scored")
    return arguments


_COMMAND = Command(interrupted="interrupted; finished results are kept, the same command continues")


def main(arguments: Sequence[str] | None = None) -> None:
    prepare()
    try:
        _run(parser().parse_args(arguments))
    except (Exception, KeyboardInterrupt) as error:
        if (code := _COMMAND.exit_code(error)) is None:
            raise
        sys.exit(code)


def _run(args: argparse.Namespace) -> None:
    from benchmarks.reproduce import plan
    from benchmarks.reproduce.grid import load_grid
    from benchmarks.reproduce.plan import Pace
    from benchmarks.reproduce.stages import Stages
    from benchmarks.reproduce.table import paper_table, tables
    from benchmarks.reproduce.units import Results, check_bed, make_units

    grid = load_grid(args.grid)
    if args.profile not in grid.profiles:
        raise UsageError(f"no profile is called {args.profile!r}; there are: {', '.join(grid.profiles)}")
    profile = grid.profiles[args.profile]
    if args.action == "table" and not profile.source:
        print(tables(grid, args.results))
        return
    grid, profile = _chosen(grid, profile, args)
    bed = grid.bed_of(profile)
    if args.action == "bed":
        print(_bed(bed, args))
        return
    rows = grid.choose(profile, [name for name in args.rows.split(",") if name])
    try:
        seeds = [int(seed) for seed in args.seeds.split(",") if seed]
    except ValueError:
        raise UsageError(f"--seeds {args.seeds}: write whole numbers with commas, such as 42,0,1") from None
    if args.allow_download and not bed:
        from augment_cli.encoding.loading import load_encoder

        for start in {row.encoder or profile.encoder for row in rows}:
            load_encoder(start, allow_download=True)  # from now on it is on this machine
    file = args.results / f"{profile.name}.jsonl"
    folder = args.runs / profile.name
    read = ("store", *([str(profile.rows)] if profile.rows else []), *([_named(args)] if args.corpus else []))
    store = args.runs / (profile.store or profile.name) / "-".join(read)
    stages = Stages(grid, profile, store, args.data, max(1, args.jobs), args.allow_download)
    check_bed(bed, file)
    # A repetition is compared with all seeds of its row.
    units = make_units(grid, profile, rows, () if args.action == "repeat" else seeds)
    is_missing = bed is not None and not Path(bed.encoder).is_dir()
    pace = Pace() if args.action == "plan" and not is_missing else None
    entries = plan.make_plan(units, Results(file), stages, pace)
    again = seeds or profile.seeds[:1]
    if args.action == "repeat":
        if not args.rows:
            raise UsageError("name the rows to repeat: --rows simcse,una (ROW= with make)")
        from benchmarks.reproduce.plan import announced

        _check_corpus(profile.corpus, args.data)
        # Before minutes go into a bed; an error, where nothing is recorded.
        print(announced(entries, again, stages, profile.encoder if is_missing else ""), flush=True)
    wanted = args.action == "repeat" or (args.action == "run" and any(entry.missing for entry in entries))
    if wanted and bed is not None and is_missing:
        _check_corpus(bed.corpus, args.data)
        print(f"{profile.encoder} is made first, once, by a training of its own (`make bed`)", flush=True)
        print(_bed(bed, args), flush=True)
        check_bed(bed, file)
        if args.action == "run":
            _run(args)  # units are named after the encoder, and this machine's is known only now
            return
    jobs = partial(_jobs, stages=stages, args=args, folder=folder, file=file)
    if args.action == "repeat":
        _repeat(entries, again, jobs, folder)
        return
    if args.action != "table":
        print(plan.show(entries, args.jobs, profile.waits_for), flush=True)
    if args.action == "run":
        _work([(entry.unit, entry.missing) for entry in entries if entry.missing], jobs, args)
    if args.action != "plan" and profile.source:
        print(paper_table(profile, plan.make_plan(units, Results(file), stages)), flush=True)


def _chosen(grid: Any, profile: Any, args: argparse.Namespace) -> tuple[Any, Any]:
    """The grid and the profile with the encoders, the corpus and the settings that the command names."""
    places = dict(item.rpartition("=")[::2] for item in args.encoder.split(",") if item)
    own = {row.name: row for row in grid.choose(profile, [])}
    known = {profile.encoder, *(row.encoder for row in own.values())}
    known |= {word for commands in grid.stages.values() for words in commands for word in words}
    if unknown := sorted(places.keys() - known - {""}):
        raise UsageError(
            f"--encoder {unknown[0]}=…: no row of {profile.name} starts from it, no stage runs it"
        )

    def start(name: str) -> str:
        return str(places.get(name, places.get("", name)))

    rows = {name: replace(row, encoder=row.encoder and start(row.encoder)) for name, row in own.items()}
    stages = {
        name: tuple(tuple(places.get(word, word) for word in words) for words in commands)
        for name, commands in grid.stages.items()
    }
    changed: dict[str, Any] = {"encoder": start(profile.encoder), "rows": args.limit or profile.rows}
    if args.corpus:
        changed |= {"corpus": (str(Path(args.corpus).resolve()),), "ingest": ()}
    if args.set:
        of_row = profile.of_row
        changed["of_row"] = {name: (*of_row.get(name, ()), *args.set) for name in profile.only}
    return replace(grid, variants={profile.name: rows}, stages=stages), replace(profile, **changed)


def _named(args: argparse.Namespace) -> str:
    """A name for the store of a corpus of one's own: another file, or another state of it, has another."""
    path = Path(args.corpus).resolve()
    if not path.is_file():
        raise MissingError(f"--corpus {args.corpus}: no such file")
    status = path.stat()
    return sha256_of_json([str(path), status.st_size, status.st_mtime_ns])[:8]


def _check_corpus(patterns: Sequence[str], data: Path) -> None:
    """Say where the sentences should lie before anything is made."""
    for path in (data / pattern for pattern in patterns):
        if not any(path.parent.glob(path.name)):
            where = "--data (DATA= with make) names the folder with the corpora, which `make data` leaves out"
            raise MissingError(f"{path}: no such file; {where}")


def _repeat(entries: Sequence[Any], seeds: Sequence[int], jobs: Any, folder: Path) -> None:
    """Print how each row comes out once more; exit with 1 if any lies outside its seeds."""
    from benchmarks.reproduce.plan import repeat

    outside = False
    for inside, line in repeat(entries, seeds, jobs, folder / "repeat"):
        print(line, flush=True)
        outside |= not inside
    if outside:
        raise UserError(
            "a repetition lies outside what is recorded: settings, data, processor or libraries are others"
        )


def _bed(bed: Any, args: argparse.Namespace) -> str:
    """Make the profile's bed and say how its digest compares with the recorded one."""
    from benchmarks.reproduce.work import compared, make_bed

    if bed is None:
        raise UsageError(f"profile {args.profile} has no bed; it starts from another encoder")
    digest = make_bed(bed, args.data)
    return f"{bed.encoder}: {digest}, {compared(bed, digest)}"


def _work(todo: Sequence[Any], jobs: Any, args: argparse.Namespace) -> None:
    """Run what is missing, stages just before the first training that needs them."""
    import torch

    from benchmarks.reproduce import work

    counter = f"{{}}/{len(todo)}"
    if args.jobs == 1:
        for number, job in enumerate(jobs(todo), 1):
            began = time.perf_counter()
            _report(counter.format(number), job.unit.name, work.do(job), time.perf_counter() - began)
        return
    threads = max(1, (os.cpu_count() or 1) // args.jobs)
    running: dict[Future[Any], tuple[int, str, float]] = {}
    # A process each: after several trainings of unlike shapes the freed memory that is kept for reuse lies so
    # scattered that the next one took half as long again. On a GPU starting a process takes longer than that.
    pool = ProcessPoolExecutor(
        args.jobs,
        multiprocessing.get_context("spawn"),
        work.start_worker,
        (threads,),
        max_tasks_per_child=None if torch.cuda.is_available() else 1,
    )
    with pool:
        try:
            for number, job in enumerate(jobs(todo), 1):
                running[pool.submit(work.do, job)] = (number, job.unit.name, time.perf_counter())
                while len(running) >= args.jobs:
                    _collect(running, counter)
            while running:
                _collect(running, counter)
        except BrokenProcessPool as error:
            raise UserError(
                "a worker process died (out of memory?); finished results are kept: run the same command "
                "again, with fewer jobs"
            ) from error


def _collect(running: dict[Any, tuple[int, str, float]], counter: str) -> None:
    for future in wait(running, return_when=FIRST_COMPLETED).done:
        number, name, began = running.pop(future)
        _report(counter.format(number), name, future.result(), time.perf_counter() - began)


def _jobs(
    todo: Sequence[Any], stages: Any, args: argparse.Namespace, folder: Path, file: Path
) -> Iterator[Any]:
    """The jobs in order, each when its stages are there; a stage that fails takes its rows with it."""
    from augment_cli.encoding.loading import load_encoder
    from benchmarks.reproduce.units import counts_tokens
    from benchmarks.reproduce.work import Job

    profile = stages.profile
    tokenizer = cache(lambda start: load_encoder(start).tokenizer)
    for unit, missing in todo:
        if unit.recipe is not None:
            try:
                stages.make(unit.stages, tokenizer(unit.start))
            except MissingError as error:
                print(f"skipped {unit.name}: {error}", file=sys.stderr, flush=True)
                continue
        elif counts_tokens(unit.pooling):
            stages.make(())  # the corpus, and the larger one that is counted in its place
        digests = {name: str(digest) for name, digest in stages.digests(unit.stages).items()}
        keep = not args.remove_encoders
        yield Job(
            unit, profile, missing, digests, stages.folder, stages.counted, args.data, folder, file, keep
        )


def _report(count: str, name: str, scores_of: dict[str, Any], seconds: float) -> None:
    words = [
        f"{key} {value:.4g}"
        for scores in scores_of.values()
        for key, value in scores.items()
        if isinstance(value, float) and not key.startswith(("seconds", "cpu"))
    ]
    failed = [scores["failed"] for scores in scores_of.values() if "failed" in scores]
    print(f"{count} {name} ({seconds:.0f} s): {' '.join(failed or words)}", flush=True)
