"""Operations that make stages, each with its session and what all of them can be told.

A function takes the opened session first. What it needs is loaded when it is called.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from augment_cli.contract import operation
from augment_cli.contract.generate_parameters import GenerateParameters, ReadParameters
from augment_cli.contract.operation import NOTHING, Named, Offers, Option, positional, shared_argument
from augment_cli.contract.parameters import part_numbers, several
from augment_cli.contract.vector_parameters import CombineParameters, EmbedParameters, MineParameters

if TYPE_CHECKING:
    from augment_cli.process.reporter import Reporter
    from augment_cli.session import Session

Pipeline = Annotated[
    str | Path | None,
    Option(
        "spaCy pipeline that parses: an installed one, such as en_core_web_sm, or a folder "
        "[default: the shipped English one]"
    ),
]
Parts = Annotated[
    str | None,
    Option("make these parts only, such as 0-9,12; several such commands may run in one store at once"),
]
VectorsName = Annotated[str | None, Option("which vectors to read, where there are several")]
FitName = Annotated[str | None, Option("which fit to read, where there are several")]
Draws = Annotated[int, Option("how many times to ask, each a stage of its own")]
ScoredColumns = "cosine, nearest_cosine, length_ratio, edited_share, repeated_words, unknown_words"


@dataclass(frozen=True)
class Step:
    """An operation that makes stages: what is declared, and what its callers can tell it beside that."""

    function: Callable[..., Any]  # takes the session first; returns the stages to show, if any
    reads_corpus: bool  # makes the corpus where it is missing; else there must be a store
    has_workers: bool


def step(
    command: str = "", *, reads_corpus: bool = True, has_workers: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare an operation that makes stages; the value is its function for Python.

    That takes the store first, then what is positional, then keywords; it opens a session, makes what is
    missing before, and returns the store.
    """

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        own = operation.arguments_of(function)
        places = [one for one in own if one.option.is_positional]
        needs_store = any(one.default is NOTHING for one in places)
        places.insert(0, shared_argument("store", operation.Store, NOTHING if needs_store else "store"))
        others = [one for one in own if not one.option.is_positional]
        if has_workers:
            others.append(shared_argument("jobs", operation.Jobs, None))
            others.append(shared_argument("backend", operation.Backend, "loky"))
        others.append(shared_argument("overwrite", operation.Overwrite, False))
        declared_step = Step(function, reads_corpus, has_workers)
        call = operation.for_python(function, command, places, others, functools.partial(_run, declared_step))
        call.step = declared_step  # type: ignore[attr-defined]
        return call

    return declare


def session_of(
    store: Any,
    jobs: int | None = None,
    backend: str = "loky",
    *cluster: str | None,
    reporter: Reporter | None = None,
    **more: bool,
) -> Session:
    """A session as Python's callers have it: bars or a logger say how far it is."""
    from augment_cli.engine.engine import Engine
    from augment_cli.process.reporter import reporter_for_python
    from augment_cli.session import Session

    engine = Engine.for_this_machine(jobs, backend, *cluster)
    return Session(operation.plain(store), engine, reporter or reporter_for_python(), **more)


def _run(declared_step: Step, values: dict[str, Any]) -> Any:
    """Call a step from Python."""
    from augment_cli.api.stores import as_store
    from augment_cli.store.store import Store

    path, overwrite = operation.plain(values.pop("store", "store")), values.pop("overwrite", False)
    workers = values.pop("jobs", None if declared_step.has_workers else 1), values.pop("backend", "loky")
    if not declared_step.reads_corpus:
        path = Store.open(path).path  # there must be one
    own, shared = operation.grouped(declared_step.function, values), values.get("parts") is not None
    with session_of(path, *workers, shared=shared, overwrite=overwrite) as session:
        if declared_step.reads_corpus:
            session.ingest()
        declared_step.function(session, **own)
        return as_store(session.store)


def listed(names: str | Sequence[str]) -> tuple[str, ...]:
    """Names, which the command line divides by commas."""
    return tuple(name.strip() for one in several(names) for name in one.split(",") if name.strip())


@step()
def fit(
    session: Session,
    min_df: Annotated[int, Option("leave out terms of fewer sentences", minimum=1)] = 1,
    tokenizer: Annotated[
        str, Option("treebank (fast), nltk (exact), characters (Chinese and the like), or module:callable")
    ] = "treebank",
    stages: Annotated[
        str | Sequence[str], Option("stages to count together, such as corpus,uda", "on")
    ] = "corpus",
    terms_of: Annotated[str, Option("another store, whose fitted terms weigh this one's texts")] = "",
    name: Annotated[str | None, Option("for a second fit beside the first")] = None,
) -> None:
    """Fit the TF-IDF matrix and the table of each term's maximum score.

    augment-cli fit
    augment-cli fit --min-df 2 --name frequent
    augment-cli una --fit frequent --radius 1% --name una-frequent

    >>> augment_cli.fit("store", min_df=2, name="frequent").has("terms-frequent")
    True
    """
    from augment_cli.tfidf.fit import FitOptions

    session.fit(FitOptions(tokenizer, min_df, listed(stages), terms_of), name)


@step()
def parse(
    session: Session,
    pipeline: Pipeline = None,
    name: Annotated[
        str | None, Option("for parses beside the first, which an augmentation reads with --parses NAME")
    ] = None,
    parts: Parts = None,
) -> None:
    """Parse the corpus once with a spaCy pipeline: lemmas, tags and dependencies of every token.

    The augmentations that work on syntax read this and need no spaCy; they make it themselves where it is
    missing. A run that was ended early resumes where it was.

    augment-cli parse
    augment-cli parse --corpus sentences.txt --store my-store --dry-run
    augment-cli parse --limit 100 --name first

    >>> augment_cli.parse("store").stage("parses").rows
    6
    """
    session.parse(pipeline, name, part_numbers(parts))


@step()
def embed(
    session: Session,
    stage: Annotated[str, positional("whose texts to embed, such as una", "stage")] = "corpus",
    parameters: EmbedParameters | None = None,
    name: Annotated[str | None, Option("for vectors beside the first")] = None,
) -> None:
    """Make sentence vectors of the corpus, or of any stage with texts, by a local encoder.

    They are a stage: vectors for the corpus, vectors-STAGE for another, in half precision, null where there
    is no text. Each distinct text is encoded once; a run that was ended early resumes where it was. In
    Python `augment_cli.vectors.stages.VectorStage.open(store, stage)` reads them as arrays.

    augment-cli embed --rows 100
    augment-cli embed una --precision fp32

    >>> augment_cli.embed("store", model="words.txt").stage("vectors").rows
    6
    """
    session.embed(stage, parameters, name)


@step(reads_corpus=False)
def combine(
    session: Session,
    sets: Annotated[
        Sequence[str],
        positional("sets of vectors, as embed --name called them; - for the one without", repeats=True),
    ],
    parameters: CombineParameters | None = None,
    name: Annotated[str, Option("of the set that comes out")] = "combined",
) -> None:
    """Combine sets of vectors to one, smoothed over each sentence's nearest neighbours: a teacher.

    Each set is centred, scaled and weighted, and the sentences' TF-IDF vectors join them. Then every vector
    moves towards its nearest ones. `mine --vectors NAME` reads it, and so does a trainer's [teacher].

    augment-cli combine - --name smooth
    augment-cli combine - --lexical 0 --rounds 1 --name smoother

    >>> store = augment_cli.embed("store", model="words.txt")
    >>> augment_cli.combine("store", [""], name="smooth", neighbours=2).stage("vectors-smooth").rows
    6
    """
    session.combine(["" if one == "-" else one for one in several(sets)], name, parameters)


@step(reads_corpus=False)
def score(
    session: Session,
    stage: Annotated[str, positional("whose texts to score, such as una", "stage")] = "una",
    columns: Annotated[
        str | Sequence[str] | None, Option(f"some of {ScoredColumns}, separated by commas [default: all]")
    ] = None,
    nli: Annotated[str, Option("folder of a model for inference: adds entailment, contradiction")] = "",
    acceptability: Annotated[str, Option("folder of a classifier such as CoLA's: adds acceptability")] = "",
    cross_encoder: Annotated[
        str, Option("folder of a CrossEncoder of sentence-transformers: adds cross_encoder")
    ] = "",
    judge: Annotated[
        str,
        Option(
            "stage that `read` made of a judge's answers: adds judged_same, judged_other (1 or 0)",
            completes="stage",
        ),
    ] = "",
    verifier: Annotated[
        str, Option("folder of a verifier: adds turned, how likely a text turns what its original says")
    ] = "",
    parameters: Annotated[EmbedParameters | None, Offers(("model",))] = None,
    vectors: VectorsName = None,
    fit: FitName = None,
    name: Annotated[str | None, Option("for scores beside the first")] = None,
) -> None:
    """Score a stage's texts against their originals and the corpus: columns, not verdicts.

    Makes the stage scores-STAGE, and before it the vectors and the fit that are missing. See what came out
    with `augment-cli stats scores-STAGE` and `augment-cli inspect STAGE --sort cosine`.

    augment-cli score una --columns length_ratio,edited_share,repeated_words
    augment-cli score una --columns cosine

    >>> augment_cli.score("store", "una", columns=["length_ratio"]).frame("scores-una").columns
    ['row_id', 'length_ratio']
    """
    from augment_cli.vectors.score import COLUMNS, ScoreOptions

    chosen = COLUMNS if columns is None else listed(columns)
    options = ScoreOptions(chosen, nli, acceptability, vectors, fit, cross_encoder, judge, verifier)
    session.score(stage, options, name, parameters)


@step()
def mine(
    session: Session,
    parameters: MineParameters,
    model: Annotated[str | None, Option("the encoder, where vectors are missing")] = None,
    vectors: VectorsName = None,
    fit: FitName = None,
    stage: Annotated[str | None, Option("folder of the result, beside others", "name")] = None,
) -> None:
    """Mine hard negatives from the corpus itself: other sentences that are near, but not too near.

    Makes the stage mined-tfidf or mined-vectors, and before it the fit or the vectors that are missing.
    Equal sentences and near-duplicates are never taken. With --positive, rows that have no positive get no
    negative.

    augment-cli mine --range-min 5 --max-score 0.6
    augment-cli mine --by vectors --negatives 2 --sampling random --relative-margin 0.1

    >>> augment_cli.mine("store", max_df=1).stage("mined-tfidf").rows
    6
    """
    encoder = None if model is None else EmbedParameters(model=model)
    session.mine(parameters, stage, fit, vectors, encoder)


@step(reads_corpus=False, has_workers=False)
def generate(session: Session, parameters: GenerateParameters, draws: Draws = 1, name: Named = None) -> None:
    """Ask a language model about each sentence, and keep its answers as they come.

    Makes the stage answers-TEMPLATE, of which `read` makes texts. The model is on a server, or with
    --engine process in a folder. A server on this machine needs no key; for one that does, set
    AUGMENT_API_KEY. A run that was ended early goes on where it was.

    augment-cli generate --model NAME --rows 20 --name trial
    augment-cli generate --model NAME --template query --dry-run
    augment-cli generate --model NAME --sample 20
    augment-cli generate --model FOLDER --engine process

    >>> augment_cli.generate("store", model="small", endpoint="http://example.org/v1")
    Traceback (most recent call last):
        ...
    augment_cli.errors.UsageError: the endpoint http://example.org/v1: is not on this machine...
    """
    session.generate(parameters, name, draws)


@step("llm-paraphrase", reads_corpus=False, has_workers=False)
def llm_paraphrase(
    session: Session,
    parameters: GenerateParameters,
    faithful: Annotated[
        bool,
        Option("turn down what loses, adds or invents names, numbers or words, as paraphrase does (English)"),
    ] = False,
    draws: Draws = 1,
    name: Named = None,
) -> list[str]:
    """Ask a language model for paraphrases and read its answers: `generate` and `read` in one.

    Makes the stages answers-TEMPLATE and llm-TEMPLATE. To read in another way, use `read`: it asks nobody.

    augment-cli llm-paraphrase --model NAME
    augment-cli llm-paraphrase --model FOLDER --engine process --rows 20 --name trial

    >>> augment_cli.llm_paraphrase("store", model="small", rows=20)  # doctest: +SKIP
    """
    return session.paraphrase(parameters, faithful, name, draws)


@step("read", reads_corpus=False, has_workers=False)
def read_answers(
    session: Session,
    answers: Annotated[str, positional("stage of answers", "stage")] = "answers-paraphrase",
    parameters: ReadParameters | None = None,
    name: Annotated[str | None, Option("folder of the result, beside others")] = None,
) -> list[str]:
    """Make texts of a model's answers: each row a text with its label, or the reason why there is none.

    Makes the stage llm-TEMPLATE, an augmentation like others. Nothing is asked: reading again costs nothing.

    augment-cli read answers-paraphrase --faithful
    augment-cli read answers-query

    >>> augment_cli.read_answers("store", "corpus")
    Traceback (most recent call last):
        ...
    augment_cli.errors.UsageError: corpus: holds no answers...
    """
    return [session.read(answers, parameters, name)]
