"""`python -m benchmarks.reproduce [plan|run|repeat|draw|bed]`: what is missing, run it, draw it.

Examples
--------
::

    make reproduce DATA=folder                      # the first draw, in order; again after a crash
    make reproduce ROW=una,best                     # two rows
    make reproduce PROFILE=tables ROW=una-beta      # a sweep
    make reproduce-plan                             # what is done and what it still takes
    make repeat ROW=simcse SEEDS=101                # one row once more, compared with what is recorded
    make bed                                        # the encoder that they start from
    make reproduce PROFILE=paper JOBS=1             # the papers' own setting: bert-base-uncased and a GPU
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from augment_cli.errors import MissingError, UsageError, UserError
from augment_cli.process.exit_codes import Command
from benchmarks.reproduce.comparisons import Scores
from benchmarks.reproduce.entries import Profile
from benchmarks.reproduce.grid import Grid
from train.machine.environment import prepare

if TYPE_CHECKING:
    from benchmarks.reproduce.document.primary import Finding

HERE = Path(__file__).parent


def parser() -> argparse.ArgumentParser:
    """The command's arguments."""
    arguments = argparse.ArgumentParser(
        prog="python -m benchmarks.reproduce",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = arguments.add_argument
    add("action", nargs="?", choices=("plan", "run", "repeat", "draw", "bed"), default="plan")
    add("--profile", default="draw-1", help="a profile of the grid (default draw-1)")
    add("--rows", default="", help="rows or sweeps, comma-separated (default: all)")
    add("--seeds", default="", help="instead of the profile's, comma-separated")
    add("--evaluations", default="", help="do these of the grid alone, comma-separated (default: all)")
    add("--data", type=Path, default=Path(os.environ.get("DATA", "../shared/data")), help="the data folder")
    add("--jobs", type=int, default=1, help="trainings at a time (default 1)")
    add("--grid", type=Path, default=HERE / "grid.toml", help="the grid (default: the one beside this file)")
    add("--results", type=Path, default=HERE / "results", help="folder of the results")
    add("--runs", type=Path, default=Path("runs/reproduce"), help="folder of stores and encoders")
    add("--pages", type=Path, default=HERE.parent / "results", help="folder of the document and its pictures")
    add("--allow-download", action="store_true", help="fetch hub models that are not on this machine")
    add("--remove-encoders", action="store_true", help="keep no trained encoder once it is scored")
    return arguments


_COMMAND = Command(interrupted="interrupted; finished results are kept, the same command continues")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit with its code."""
    prepare()
    try:
        _run(parser().parse_args(arguments))
    except (Exception, KeyboardInterrupt) as error:
        if (code := _COMMAND.exit_code(error)) is None:
            raise
        sys.exit(code)


def _run(args: argparse.Namespace) -> None:
    from benchmarks.reproduce import plan
    from benchmarks.reproduce.evidence import write_evidence
    from benchmarks.reproduce.grid import load_grid
    from benchmarks.reproduce.results import Results
    from benchmarks.reproduce.units import check_bed, make_units

    whole = grid = load_grid(args.grid)
    if args.profile not in grid.profiles:
        raise UsageError(f"no profile is called {args.profile!r}; there are: {', '.join(grid.profiles)}")
    profile = grid.profiles[args.profile]
    if profile.rates_from and args.action != "bed":
        from benchmarks.reproduce.rates import at_own_rates, skipped_rows

        chosen_by = Results(_results_file(args, whole.profiles[profile.rates_from]))
        skipped = skipped_rows(whole, profile, _stages(whole.of_profile(profile), profile, args))
        profile = at_own_rates(whole, profile, chosen_by, skipped)
        for name in skipped.keys() & {*profile.left_out}:
            print(f"{name} is left out: {skipped[name]}", file=sys.stderr)
    grid = grid.of_profile(profile)
    if args.action == "bed":
        print(_bed(grid, profile, args))
        return
    names = [name for name in args.rows.split(",") if name]
    if unknown := set(args.evaluations.split(",")) - set(grid.evaluations) - {""}:
        known = ", ".join(grid.evaluations)
        raise UsageError(f"no evaluation is called {', '.join(sorted(unknown))}; there are: {known}")
    try:
        seeds = [int(seed) for seed in args.seeds.split(",") if seed]
    except ValueError:
        raise UsageError(f"--seeds {args.seeds}: write whole numbers with commas, such as 42,0,1") from None
    if args.allow_download and profile.name not in grid.beds:
        from augment_cli.encoding.loading import load_encoder

        load_encoder(profile.encoder, allow_download=True)  # from now on it is on this machine
    results = Results(_results_file(args, profile))
    folder = args.runs / profile.name
    stages = _stages(grid, profile, args)
    # A repetition is compared with all seeds of its row.
    units = make_units(grid, profile, grid.rows, () if args.action == "repeat" else seeds)
    check_bed(grid.beds, profile.name, Path(profile.encoder), _results_file(args, profile))
    # Of all units, since a point of a sweep may be a row too, which is scored on more.
    chosen = {row.name for row in grid.choose(names)}
    units = [unit for unit in units if chosen & {unit.row.name, *unit.same}]
    entries = plan.make_plan(units, results, stages, profile)
    if args.action == "repeat":
        if not names:
            raise UsageError("name the rows to repeat: --rows simcse,una (ROW= with make)")
        from benchmarks.reproduce.repeat import announced

        _check_corpus(profile.corpus, args.data)
        is_bed = profile.name in grid.beds and not Path(profile.encoder).is_dir()
        # Before minutes go into a bed; an error, where nothing is recorded.
        print(
            announced(entries, seeds or profile.seeds[:1], stages, profile.encoder if is_bed else ""),
            flush=True,
        )
    wanted = args.action == "repeat" or (args.action == "run" and any(entry.missing for entry in entries))
    if wanted and profile.name in grid.beds and not Path(profile.encoder).is_dir():
        _check_corpus(grid.beds[profile.name].corpus, args.data)
        print(f"{profile.encoder} is made first, once, by a training of its own (`make bed`)", flush=True)
        print(_bed(grid, profile, args), flush=True)
        check_bed(grid.beds, profile.name, Path(profile.encoder), _results_file(args, profile))
        if args.action == "run":
            _run(args)  # units are named after the encoder, and this machine's is known only now
            return
    if args.action == "repeat":
        _repeat(entries, seeds or profile.seeds[:1], stages, args, folder)
        return
    if args.action != "draw":
        print(plan.show(entries, args.jobs, profile.waits_for), flush=True)
    if args.action == "run":
        _work(entries, stages, args, folder)
        results.read()
    from benchmarks.reproduce.draws import SAME

    of_draws = profile.rates_from or profile.name.startswith(SAME)
    if args.action != "plan" and (
        of_draws or profile.name in {other.rates_from for other in whole.profiles.values()}
    ):
        from benchmarks.reproduce.front_page import write_pages

        print(*write_pages(whole, args.results, args.pages), sep="\n")
    elif args.action != "plan":
        other, again = _scores_beside(whole, profile, args), _findings_of_fresh(whole, profile, args)
        print(write_evidence(grid, profile, results, stages, args.pages, other, again))


def _stages(grid: Grid, profile: Profile, args: argparse.Namespace) -> Any:
    from benchmarks.reproduce.stages import Stages

    size = f"store-{profile.rows}" if profile.rows else "store"
    folder = args.runs / profile.name / size
    return Stages(grid, profile, folder, args.data, max(1, args.jobs), args.allow_download)


def _scores_beside(whole: Grid, profile: Profile, args: argparse.Namespace) -> Scores:
    """The scores of the profile that this one's document is read together with."""
    return _scores(whole, whole.profiles[profile.together_with], args) if profile.together_with else {}


def _findings_of_fresh(whole: Grid, profile: Profile, args: argparse.Namespace) -> Sequence[Finding]:
    """The primary comparisons of the profile that repeats this one."""
    from benchmarks.reproduce.document.primary import findings

    again = next((one for one in whole.profiles.values() if one.together_with == profile.name), None)
    return findings(whole.of_profile(again), _scores(whole, again, args)) if again else ()


def _scores(whole: Grid, profile: Profile, args: argparse.Namespace) -> Scores:
    from benchmarks.reproduce.evidence import planned_scores
    from benchmarks.reproduce.results import Results

    grid, results = whole.of_profile(profile), Results(_results_file(args, profile))
    return planned_scores(grid, profile, results, _stages(grid, profile, args))[1]


def _check_corpus(patterns: Sequence[str], data: Path) -> None:
    """Say where the sentences should lie before anything is made."""
    for path in (data / pattern for pattern in patterns):
        if not any(path.parent.glob(path.name)):
            where = "--data (DATA= with make) names the folder with the corpora, which `make data` leaves out"
            raise MissingError(f"{path}: no such file; {where}")


def _repeat(
    entries: Sequence[Any], seeds: Sequence[int], stages: Any, args: argparse.Namespace, folder: Path
) -> None:
    """Print how each row comes out once more; exit with 1 if any lies outside its seeds."""
    from benchmarks.reproduce.repeat import repeat

    jobs = partial(_jobs, stages=stages, args=args, folder=folder)
    outside = False
    for inside, line in repeat(entries, seeds, jobs, folder / "repeat"):
        print(line, flush=True)
        outside |= not inside
    if outside:
        raise UserError(
            "a repetition lies outside what is recorded: settings, data, processor or libraries are others"
        )


def _results_file(args: argparse.Namespace, profile: Profile) -> Path:
    return Path(args.results) / f"{profile.name}.jsonl"


def _bed(grid: Grid, profile: Profile, args: argparse.Namespace) -> str:
    """Make the profile's bed and say how its digest compares with the recorded one."""
    from benchmarks.reproduce.bed import compared, make_bed

    if profile.name not in grid.beds:
        raise UsageError(f"profile {profile.name} has no bed; those with one: {', '.join(grid.beds)}")
    bed, target = grid.beds[profile.name], Path(profile.encoder)
    digest = make_bed(bed, target, target.with_name(f"{target.name}-work"), args.data)["digest"]
    return f"{target}: {digest}, {compared(bed, digest)}"


def _work(entries: Sequence[Any], stages: Any, args: argparse.Namespace, folder: Path) -> None:
    """Run what is missing, stages just before the first training that needs them."""
    import torch

    from benchmarks.reproduce import work
    from benchmarks.reproduce.plan import phases
    from benchmarks.reproduce.results import TRAINING

    chosen = {TRAINING, *args.evaluations.split(",")} if args.evaluations else None
    todo = phases(entries, chosen, keep=not args.remove_encoders)
    work.forget_before(folder)
    counter = f"{{}}/{len(todo)}"
    if args.jobs == 1:
        for number, job in enumerate(_jobs(todo, stages, args, folder), 1):
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
            for number, job in enumerate(_jobs(todo, stages, args, folder), 1):
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


def _jobs(todo: Sequence[Any], stages: Any, args: argparse.Namespace, folder: Path) -> Iterator[Any]:
    """The jobs in order, each when its stages are there; a stage that fails takes its rows with it."""
    from augment_cli.encoding.loading import load_encoder
    from benchmarks.reproduce.units import counts_tokens
    from benchmarks.reproduce.work import Job

    profile = stages.profile
    tokenizer = load_encoder(profile.encoder).tokenizer if todo else None
    tasks_of = {
        sweep: {name: stages.grid.tasks(name, profile, sweep=sweep) for name in stages.grid.evaluations}
        for sweep in (False, True)
    }
    also = {name: evaluation.also for name, evaluation in stages.grid.evaluations.items()}
    for unit, missing in todo:
        if unit.recipe is not None:
            try:
                stages.make(unit.stages, tokenizer)
            except MissingError as error:
                print(f"skipped {unit.name}: {error}", file=sys.stderr, flush=True)
                continue
        elif counts_tokens(unit.row.pooling or profile.pooling):
            stages.make(())  # the corpus, and the larger one that is counted in its place
        digests = {name: str(digest) for name, digest in stages.digests(unit.stages).items()}
        yield Job(
            unit,
            profile,
            tasks_of[bool(unit.row.sweep)],
            also,
            missing,
            digests,
            stages.folder,
            stages.counted,
            args.data,
            folder,
            _results_file(args, profile),
            not args.remove_encoders,
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
