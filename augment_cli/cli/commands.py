"""Every command: made of its operation's declaration, or of an augmentation's, and the options beside.

The options, their help and the examples are declared in `augment_cli/api/`; what a command does and prints is
in `making.py` and `actions.py`. The help lists the commands in the order of this file.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from augment_cli import api, augmentations
from augment_cli.api.making import Parts, Pipeline, Step
from augment_cli.cli import options
from augment_cli.cli.application import AugmentationGroup, app, guarded
from augment_cli.cli.options import switch, valued
from augment_cli.contract.operation import arguments_of, described
from augment_cli.contract.parameters import DEFAULT_SEED, MOST_DRAWS, declared

if TYPE_CHECKING:
    from augment_cli.contract.augmentation import Augmentation

_PLANNED = ("parse", "embed", "score", "mine")  # --dry-run says which stages they would make
# Options about an earlier stage, which an augmentation has only where it may read that stage.
_READS = {"fit": "tfidf", "parses": "parses", "pipeline": "parses"}
_SHARED = [
    options.valued("seed", int, "seed of all draws", DEFAULT_SEED),
    options.valued(
        "draws", int, "independent draws, each a stage of its own: NAME, NAME.1, …", 1, min=1, max=MOST_DRAWS
    ),
    options.valued("stage", str | None, "folder of the result, beside others", flag="name"),
    options.valued("fit", str | None, "which fit to read, where there are several"),
    options.valued("parses", str | None, "which parses to read, where there are several"),
    options.shared("pipeline", Pipeline),
    options.valued("of", str | None, "stage whose texts it changes in place of the corpus's: --of antonym"),
    options.valued(
        "protect", str, "regular expression of what stays as it is, beside addresses and tags", ""
    ),
    options.switch("anyway", "though the corpus looks to be in another language"),
    options.STORE,
    *options.READING,
    *options.WORKERS,
    options.shared("parts", Parts),
    options.OVERWRITE,
    options.DRY_RUN,
    options.JSON,
    options.QUIET,
]


def add(
    function: Callable[..., Any],
    further: Sequence[inspect.Parameter] = (),
    defaults: Mapping[str, Any] = MappingProxyType({}),
    looks_ahead: bool = False,
) -> None:
    """Add the command of an operation: what it declares, some with other defaults, and further options."""
    step: Step | None = getattr(function, "step", None)
    offered = [one for one in arguments_of(function) if not one.option.python_only]
    own = [one for one in offered if one.name != "store" or one.option.is_positional]
    own = [replace(one, default=defaults.get(one.name, one.default)) for one in own]
    has_store = step is None and len(own) < len(offered)
    parameters = [*map(options.parameter_of, own), *[options.STORE] * has_store, *further]
    parameters += _of_step(step, function.command in _PLANNED) if step else ()  # type: ignore[attr-defined]
    is_argument = {one.name for one in own if one.option.is_positional}
    parameters.sort(key=lambda one: one.name not in is_argument)

    def command(**values: Any) -> None:
        from augment_cli.cli import actions, making  # which are heavy

        if step is not None:
            making.make(function, values, looks_ahead)
        else:
            of_one = making if hasattr(making, function.__name__) else actions
            getattr(of_one, function.__name__)(values)

    name = function.command  # type: ignore[attr-defined]
    text, commands, _ = described(function)
    command.__name__ = name
    command.__doc__ = text + "\n\n\b\nExamples:" + "".join(f"\n\n    {line}" for line in commands)
    app.command(name)(guarded(options.with_options(command, parameters)))


def _of_step(step: Step, has_plan: bool) -> list[inspect.Parameter]:
    """The options that commands share that make stages."""
    return [
        options.STORE,
        *(options.READING if step.reads_corpus else ()),
        *(options.WORKERS if step.has_workers else ()),
        options.OVERWRITE,
        *([options.DRY_RUN] if has_plan else ()),
        options.JSON,
        options.QUIET,
    ]


def make_command(name: str) -> Callable[..., None]:
    """A function with the signature that Typer turns into the augmentation's command."""
    descriptor = augmentations.get(name)
    own = declared(descriptor.parameters)
    reads = descriptor.needs | (frozenset({"parses"}) if descriptor.reads_parse_if_there else frozenset())
    common = [item for item in _SHARED if _READS.get(item.name) in {None, *reads}]

    def command(**values: Any) -> None:
        from augment_cli.cli.making import augment  # which is heavy

        parameters = {item.name: values.pop(item.name) for item in own}
        augment(name, parameters, dict.fromkeys(_READS) | values)

    command.__name__, command.__doc__ = name, _help_of_augmentation(name, descriptor)
    return guarded(options.with_options(command, [*map(options.option_of, own), *common]))


def _help_of_augmentation(name: str, descriptor: "Augmentation") -> str:
    """Help text: summary, what it makes, the paper, examples."""
    examples = "".join(f"\n\n    {line}" for line in descriptor.examples)
    return (
        f"{augmentations.summary(name)}\n\n"
        f"Makes a stage of {descriptor.kind}s, and before it whatever is missing. "
        f"Source: {descriptor.paper}.\n\n\b\nExamples:{examples}"
    )


AugmentationGroup.make_command = staticmethod(make_command)

add(api.adapt, [options.JSON, options.QUIET])

add(api.look, [options.JSON])
add(api.inspect, [options.JSON])
add(api.stats, [options.JSON])
add(api.status, [switch("settings", "also the parts and all settings, digests among them"), options.JSON])
add(api.list_augmentations, [switch("recipes", "the recipes of `augment-cli run`"), options.JSON])
add(api.report, [options.JSON])
add(api.verify, [options.JSON])
add(api.judge, [options.JSON])

add(api.ingest_corpus, [options.JSON, options.QUIET])
add(api.fit)
add(api.parse)
add(
    api.run_recipe,
    [
        *options.WORKERS,
        options.DRY_RUN,
        valued("report", str | None, "write the page of `augment-cli report` there"),
        switch("behind", "make all that is behind since files were appended, no recipe"),
        options.JSON,
        options.QUIET,
    ],
)
add(api.embed)
add(api.combine)
add(api.score)
add(api.mine)
_SAMPLE = valued(
    "sample",
    int,
    "ask at most this many, keep their answers, say how long the rest takes, and stop; 0: ask all",
    0,
    min=0,
)
add(api.generate, [options.DRY_RUN, _SAMPLE], looks_ahead=True)
add(api.llm_paraphrase, [options.DRY_RUN, _SAMPLE], looks_ahead=True)
add(api.read_answers)

add(api.convert_weights)
add(api.remove)
add(
    api.pack_table,
    [
        valued("out", str | None, "write the rows to this .csv or .jsonl file too"),
        valued(
            "beir",
            str | None,
            "with --split: write the held-out pairs to this folder too, as a retrieval set in BEIR's layout, "
            "each positive a query",
        ),
        valued("recipe", str | None, "TOML file with a [pack] table instead of these options"),
        *options.WORKERS,
        switch("dry_run", "say how many rows each filter costs, and stop"),
        options.JSON,
        options.QUIET,
    ],
)
add(api.card, (), {"title": None, "license_name": None})
add(api.doctor, [options.JSON])

add(api.publish, [options.QUIET, options.JSON])
add(api.fetch, [options.QUIET, options.JSON])
