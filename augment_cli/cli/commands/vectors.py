"""Commands about sentence vectors: make them, score texts by them, mine negatives with them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from augment_cli.cli import options
from augment_cli.cli.application import app
from augment_cli.cli.guard import guarded
from augment_cli.contract.combine_parameters import CombineParameters
from augment_cli.contract.embed_parameters import EmbedParameters
from augment_cli.contract.ingest_options import IngestOptions, Tolerance
from augment_cli.contract.mine_parameters import MineParameters
from augment_cli.contract.parameters import declared, help_of

_MODEL = next(item for item in declared(EmbedParameters) if item.name == "model")
Model = Annotated[str | None, typer.Option("--model", help=f"{help_of(_MODEL)} [default: {_MODEL.default}]")]
VectorsName = Annotated[
    str | None, typer.Option("--vectors", help="which vectors to read, where there are several")
]
FitName = Annotated[str | None, typer.Option("--fit", help="which fit to read, where there are several")]


def _show_plan(
    store: Path,
    corpus: list[str] | None,
    reading: IngestOptions | None,
    needed: list[tuple[str, str]],
    as_json: bool,
) -> None:
    from augment_cli.cli import views
    from augment_cli.reports.plan import plan_stages

    views.show_plan(plan_stages(store, corpus, reading or IngestOptions(), needed), as_json)


@app.command()
@guarded
@options.grouped
def embed(
    *,
    stage: Annotated[
        str, typer.Argument(help="whose texts to embed, such as una", autocompletion=options.complete_stage)
    ] = "corpus",
    parameters: EmbedParameters,
    name: Annotated[str | None, typer.Option("--name", help="for vectors beside the first")] = None,
    store: options.Store = options.DEFAULT_STORE,
    corpus: options.Corpus = None,
    reading: IngestOptions,
    tolerance: Tolerance,
    workers: options.Workers,
    overwrite: options.Overwrite = False,
    dry_run: options.DryRun = False,
    output: options.Output,
) -> None:
    """Make sentence vectors of the corpus, or of any stage with texts, by a local encoder.

    They are a stage: vectors for the corpus, vectors-STAGE for another, in half precision, null where there
    is no text. Each distinct text is encoded once; a run that was ended early resumes where it was.

    \b
    Examples:

        augment-cli embed --rows 100

        augment-cli embed una --precision fp32
    """
    from augment_cli.session import Session
    from augment_cli.vectors.stages import vectors_name

    if dry_run:
        needed = [(vectors_name(stage, name), "vectors")]
        _show_plan(store, corpus, reading, needed, output.as_json)
        return
    with Session(store, workers.engine(), output.reporter(), overwrite=overwrite, sample=True) as session:
        session.ingest(corpus, reading, **vars(tolerance))
        session.embed(stage, parameters, name)
        output.show(session.store, session.results)


@app.command()
@guarded
@options.grouped
def combine(
    *,
    sets: Annotated[
        list[str], typer.Argument(help="sets of vectors, as embed --name called them; - for the one without")
    ],
    parameters: CombineParameters,
    name: Annotated[str, typer.Option("--name", help="of the set that comes out")] = "combined",
    store: options.Store = options.DEFAULT_STORE,
    workers: options.Workers,
    overwrite: options.Overwrite = False,
    output: options.Output,
) -> None:
    """Combine sets of vectors to one, smoothed over each sentence's nearest neighbours: a teacher.

    Each set is centred, scaled and weighted, and the sentences' TF-IDF vectors join them. Then every vector
    moves towards its nearest ones. `mine --vectors NAME` reads it, and so does a trainer's [teacher].

    \b
    Examples:

        augment-cli combine - --name smooth

        augment-cli combine - --lexical 0 --rounds 1 --name smoother
    """
    from augment_cli.session import Session
    from augment_cli.store.store import Store

    Store.open(store)  # there must be one
    with Session(store, workers.engine(), output.reporter(), overwrite=overwrite) as session:
        session.combine(["" if one == "-" else one for one in sets], name, parameters)
        output.show(session.store, session.results)


@app.command()
@guarded
@options.grouped
def score(
    *,
    stage: Annotated[
        str, typer.Argument(help="whose texts to score, such as una", autocompletion=options.complete_stage)
    ],
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            help="some of cosine, nearest_cosine, length_ratio, edited_share, repeated_words, unknown_words, "
            "separated by commas [default: all]",
        ),
    ] = None,
    nli: Annotated[
        str, typer.Option("--nli", help="folder of a model for inference: adds entailment, contradiction")
    ] = "",
    acceptability: Annotated[
        str, typer.Option("--acceptability", help="folder of a classifier such as CoLA's: adds acceptability")
    ] = "",
    cross_encoder: Annotated[
        str,
        typer.Option(
            "--cross-encoder", help="folder of a CrossEncoder of sentence-transformers: adds cross_encoder"
        ),
    ] = "",
    judge: Annotated[
        str,
        typer.Option(
            "--judge",
            help="stage that `read` made of a judge's answers: adds judged_same, judged_other (1 or 0)",
            autocompletion=options.complete_stage,
        ),
    ] = "",
    model: Model = None,
    vectors: VectorsName = None,
    fit: FitName = None,
    name: Annotated[str | None, typer.Option("--name", help="for scores beside the first")] = None,
    store: options.Store = options.DEFAULT_STORE,
    workers: options.Workers,
    overwrite: options.Overwrite = False,
    dry_run: options.DryRun = False,
    output: options.Output,
) -> None:
    """Score a stage's texts against their originals and the corpus: columns, not verdicts.

    Makes the stage scores-STAGE, and before it the vectors and the fit that are missing. See what came out
    with `augment-cli stats scores-STAGE` and `augment-cli inspect STAGE --sort cosine`.

    \b
    Examples:

        augment-cli score una --columns length_ratio,edited_share,repeated_words

        augment-cli score una --columns cosine
    """
    from augment_cli.session import Session
    from augment_cli.store.store import Store
    from augment_cli.tfidf.names import stage_names
    from augment_cli.vectors.score import COLUMNS, ScoreOptions, scores_name
    from augment_cli.vectors.stages import vectors_name

    chosen = COLUMNS if columns is None else tuple(filter(None, map(str.strip, columns.split(","))))
    wanted = ScoreOptions(chosen, nli, acceptability, vectors, fit, cross_encoder, judge)
    encoder = None if model is None else EmbedParameters(model=model)
    opened = Store.open(store)  # there must be one
    if dry_run:
        needed = [(stage_names(fit)[0], "tfidf")] if "unknown_words" in chosen else []
        if wanted.needs_vectors:
            needed += [(vectors_name(of, vectors), "vectors") for of in ("corpus", stage)]
        kind = "scores" if "nearest_cosine" in chosen else "augmentation"
        _show_plan(opened.path, None, None, [*needed, (scores_name(stage, name), kind)], output.as_json)
        return
    with Session(store, workers.engine(), output.reporter(), overwrite=overwrite, sample=True) as session:
        session.score(stage, wanted, name, encoder)
        output.show(session.store, session.results)


@app.command()
@guarded
@options.grouped
def mine(
    *,
    parameters: MineParameters,
    model: Model = None,
    vectors: VectorsName = None,
    fit: FitName = None,
    name: Annotated[str | None, typer.Option("--name", help="folder of the result, beside others")] = None,
    store: options.Store = options.DEFAULT_STORE,
    corpus: options.Corpus = None,
    reading: IngestOptions,
    tolerance: Tolerance,
    workers: options.Workers,
    overwrite: options.Overwrite = False,
    dry_run: options.DryRun = False,
    output: options.Output,
) -> None:
    """Mine hard negatives from the corpus itself: other sentences that are near, but not too near.

    Makes the stage mined-tfidf or mined-vectors, and before it the fit or the vectors that are missing.
    Equal sentences and near-duplicates are never taken. With --positive, rows that have no positive get no
    negative.

    \b
    Examples:

        augment-cli mine --range-min 5 --max-score 0.6

        augment-cli mine --by vectors --negatives 2 --sampling random --relative-margin 0.1
    """
    from augment_cli.session import Session
    from augment_cli.tfidf.names import stage_names
    from augment_cli.vectors.mine_parameters import mined_names
    from augment_cli.vectors.stages import vectors_name

    parameters.check()
    if dry_run:
        needed = [(stage_names(fit)[0], "tfidf")]
        if parameters.by == "vectors":
            of = ["corpus", *([parameters.positive] if parameters.positive else [])]
            needed = [(vectors_name(one, vectors), "vectors") for one in of]
        first, *further = mined_names(parameters, name)
        # Further negatives come out of the same search.
        needed += [(first, f"mined-{parameters.by}"), *((one, "augmentation") for one in further)]
        _show_plan(store, corpus, reading, needed, output.as_json)
        return
    encoder = None if model is None else EmbedParameters(model=model)
    with Session(store, workers.engine(), output.reporter(), overwrite=overwrite, sample=True) as session:
        session.ingest(corpus, reading, **vars(tolerance))
        session.mine(parameters, name, fit, vectors, encoder)
        output.show(session.store, session.results)
