"""Commands about language models: ask one on a server, and read its answers."""

from __future__ import annotations

from typing import Annotated

import typer

from augment_cli.cli import options
from augment_cli.cli.application import app
from augment_cli.cli.guard import guarded
from augment_cli.contract.generate_parameters import GenerateParameters, ReadParameters


@app.command()
@guarded
@options.grouped
def generate(
    *,
    parameters: GenerateParameters,
    draws: Annotated[int, typer.Option("--draws", help="ask so many times, each a stage of its own")] = 1,
    name: Annotated[str | None, typer.Option("--name", help="for answers beside the first")] = None,
    store: options.Store = options.DEFAULT_STORE,
    overwrite: options.Overwrite = False,
    dry_run: options.DryRun = False,
    output: options.Output,
) -> None:
    """Ask a language model on a server about each sentence, and keep its answers as they come.

    Makes the stage answers-TEMPLATE, of which `read` makes texts. A server on this machine needs no key; for
    one that does, set AUGMENT_API_KEY. A run that was ended early goes on where it was.

    \b
    Examples:

        augment-cli generate --model NAME --rows 20 --name trial

        augment-cli generate --model NAME --template query --dry-run
    """
    from augment_cli.answers import generate as asking
    from augment_cli.answers.client import check_endpoint
    from augment_cli.cli import views
    from augment_cli.session import Session
    from augment_cli.store.store import Store

    opened = Store.open(store)  # there must be one
    check_endpoint(parameters.endpoint, parameters.allow_remote)
    if dry_run:
        work = asking.plan(opened, parameters, name)
        numbers = asking.estimate(opened, work)
        if output.as_json:
            views.print_json({"stage": work.stage, **numbers})
        else:
            most = numbers["requests"] * parameters.max_tokens
            output.reporter().say(
                f"{work.stage}: {numbers['requests']:,} requests, about {numbers['prompt_tokens']:,} tokens "
                f"to read (a quarter of the characters), at most {most:,} to write, for each draw; "
                "--rows 20 --name trial shows how long that takes"
            )
        return
    with Session(store, None, output.reporter(), overwrite=overwrite) as session:
        session.generate(parameters, name, draws)
        output.show(session.store, session.results)


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
