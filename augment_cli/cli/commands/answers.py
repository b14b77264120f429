"""Commands about language models: ask one, and read its answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from augment_cli.cli import options
from augment_cli.cli.application import app
from augment_cli.cli.guard import guarded
from augment_cli.contract.generate_parameters import GenerateParameters, ReadParameters
from augment_cli.contract.parameters import declared, help_of
from augment_cli.errors import UsageError

_FAITHFUL = next(item for item in declared(ReadParameters) if item.name == "faithful")
Draws = Annotated[int, typer.Option("--draws", help="ask so many times, each a stage of its own")]
Sample = Annotated[
    int,
    typer.Option(
        "--sample",
        min=0,
        help="ask so many at most, keep their answers, say how long the rest takes, and stop; 0: ask all",
    ),
]
AnswersName = Annotated[str | None, typer.Option("--name", help="for answers beside the first")]


@app.command()
@guarded
@options.grouped
def generate(
    *,
    parameters: GenerateParameters,
    draws: Draws = 1,
    name: AnswersName = None,
    store: options.Store = options.DEFAULT_STORE,
    overwrite: options.Overwrite = False,
    dry_run: options.DryRun = False,
    sample: Sample = 0,
    output: options.Output,
) -> None:
    """Ask a language model about each sentence, and keep its answers as they come.

    Makes the stage answers-TEMPLATE, of which `read` makes texts. The model is on a server, or with
    --engine process in a folder. A server on this machine needs no key; for one that does, set
    AUGMENT_API_KEY. A run that was ended early goes on where it was.

    \b
    Examples:

        augment-cli generate --model NAME --rows 20 --name trial

        augment-cli generate --model NAME --template query --dry-run

        augment-cli generate --model NAME --sample 20

        augment-cli generate --model FOLDER --engine process
    """
    from augment_cli.session import Session
    from augment_cli.store.store import Store

    Store.open(store)  # there must be one
    if dry_run or sample:
        _look_ahead(parameters, name, store, overwrite, dry_run, sample, output)
        return
    with Session(store, None, output.reporter(), overwrite=overwrite) as session:
        session.generate(parameters, name, draws)
        output.show(session.store, session.results)


def _look_ahead(
    parameters: GenerateParameters,
    name: str | None,
    path: Path,
    overwrite: bool,
    dry_run: bool,
    sample: int,
    output: options.Output,
) -> None:
    """Say what is left to ask, and after some requests how long that takes."""
    from augment_cli.answers import generate as asking
    from augment_cli.answers.client import check_endpoint
    from augment_cli.cli import views
    from augment_cli.session import Session
    from augment_cli.store.store import Store

    if dry_run and sample:
        raise UsageError(f"--sample {sample}: asks, and --dry-run asks nobody; leave one of them out")
    reporter = output.reporter()
    numbers: dict[str, Any]
    if dry_run:
        if not parameters.runs_here:
            check_endpoint(parameters.endpoint, parameters.allow_remote)
        store = Store.open(path)
        work = asking.plan(store, parameters, name)
        stage, numbers = work.stage, asking.estimate(store, work)
    else:
        with Session(path, None, reporter, overwrite=overwrite) as session:
            stage, numbers = session.sample(parameters, sample, name)
    if output.as_json:
        views.print_json({"stage": stage, **numbers})
        return
    if sample:
        reporter.say(
            f"{stage}: {numbers['asked']:,} requests took {views.duration(numbers['seconds'])}; "
            f"{numbers['requests']:,} are left for each draw, and take about "
            f"{views.duration(numbers['seconds_left'])} at that speed, an estimate. The same command without "
            "--sample goes on"
        )
        return
    most = numbers["requests"] * parameters.max_tokens
    reporter.say(
        f"{stage}: {numbers['requests']:,} requests, about {numbers['prompt_tokens']:,} tokens to read (a "
        f"quarter of the characters), at most {most:,} to write, for each draw; --sample 20 asks 20 of them "
        "and says how long the rest takes"
    )


@app.command("llm-paraphrase")
@guarded
@options.grouped
def llm_paraphrase(
    *,
    parameters: GenerateParameters,
    faithful: Annotated[bool, typer.Option("--faithful", help=help_of(_FAITHFUL))] = False,
    draws: Draws = 1,
    name: AnswersName = None,
    store: options.Store = options.DEFAULT_STORE,
    overwrite: options.Overwrite = False,
    dry_run: options.DryRun = False,
    sample: Sample = 0,
    output: options.Output,
) -> None:
    """Ask a language model for paraphrases and read its answers: `generate` and `read` in one.

    Makes the stages answers-TEMPLATE and llm-TEMPLATE. To read in another way, use `read`: it asks nobody.

    \b
    Examples:

        augment-cli llm-paraphrase --model NAME

        augment-cli llm-paraphrase --model FOLDER --engine process --rows 20 --name trial
    """
    from augment_cli.session import Session
    from augment_cli.store.store import Store

    Store.open(store)  # there must be one
    if dry_run or sample:
        _look_ahead(parameters, name, store, overwrite, dry_run, sample, output)
        return
    with Session(store, None, output.reporter(), overwrite=overwrite) as session:
        stages = session.paraphrase(parameters, faithful, name, draws)
        output.show(session.store, session.results)
        output.show_examples(session.store, session.results, stages)


@app.command()
@guarded
@options.grouped
def read(
    *,
    answers: Annotated[
        str, typer.Argument(help="stage of answers", autocompletion=options.complete_stage)
    ] = "answers-paraphrase",
    parameters: ReadParameters,
    name: Annotated[str | None, typer.Option("--name", help="folder of the result, beside others")] = None,
    store: options.Store = options.DEFAULT_STORE,
    overwrite: options.Overwrite = False,
    output: options.Output,
) -> None:
    """Make texts of a model's answers: each row a text with its label, or the reason why there is none.

    Makes the stage llm-TEMPLATE, an augmentation like others. Nothing is asked: reading again costs nothing.

    \b
    Examples:

        augment-cli read answers-paraphrase --faithful

        augment-cli read answers-query
    """
    from augment_cli.session import Session
    from augment_cli.store.store import Store

    Store.open(store)  # there must be one
    with Session(store, None, output.reporter(), overwrite=overwrite) as session:
        stage = session.read(answers, parameters, name)
        output.show(session.store, session.results)
        output.show_examples(session.store, session.results, [stage])
