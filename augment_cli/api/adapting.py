"""The operations on encoders: one is adapted to texts, two are compared by labels."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from augment_cli.contract.ingest_options import IngestOptions
from augment_cli.contract.operation import Offers, Option, operation, positional
from augment_cli.errors import UsageError, UserError

if TYPE_CHECKING:
    import polars as pl

    from augment_cli.session.adapting import Verdict

_MAPPED_TOKENS = 128  # of a text on a map
_TABLES = (".csv", ".tsv", ".jsonl", ".parquet")  # files of texts, never encoders

AnEncoder = Annotated[
    str | Path,
    Option(
        "to start from: a folder, a hub name that is on this machine, minilm (all-MiniLM-L6-v2), or static"
    ),
]


class Adapted(NamedTuple):
    """An adapted encoder and how it came out."""

    encoder: Any  # a SentenceTransformer; where that library is missing, our own with the method `encode`
    verdict: Verdict


@operation("adapt")
def adapt(
    encoder: AnEncoder = "minilm",
    texts: Annotated[
        Any,
        positional(
            "file of texts (.txt, .csv, .tsv, .jsonl, .parquet); in Python also a list, a data frame or an "
            "Arrow table; by default the shipped sample",
            metavar="FILE",
        ),
    ] = None,
    *,
    reading: Annotated[
        IngestOptions | None,
        Offers(("text_column", "encoding", "format", "separator", "limit", "line_breaks")),
    ] = None,
    out: Annotated[
        str | Path | None, Option("folder of the run and of its encoder [default: runs/adapt-FILE]")
    ] = None,
    settings: Annotated[
        Sequence[str], Option("change a setting of the training, such as steps=120", "set", repeats=True)
    ] = (),
    lookup: Annotated[
        bool, Option("make a lookup too, which finds topics and classes better, and the one text worse")
    ] = False,
    allow_download: Annotated[bool, Option("fetch a hub encoder that is not on this machine")] = False,
) -> Adapted:
    """Adapt a sentence encoder to your own unlabelled texts, and say whether that helped.

    The encoder comes out as a folder for sentence-transformers, in `best` of the run's folder. The start is
    given back where nothing beats it. A run that was ended early is continued by the same command. Where a
    table's column of texts is not named, it is guessed and said.

    Commands
    --------
    augment-cli adapt mine.txt
    augment-cli adapt titles.csv --text-column title --encoder static --out runs/titles
    augment-cli adapt mine.csv --lookup

    Examples
    --------
    >>> import augment_cli
    >>> encoder, verdict = augment_cli.adapt("static", ["The river flows."] * 3)  # doctest: +SKIP
    >>> verdict.outcome  # doctest: +SKIP
    'same'
    """
    from augment_cli.session.reporter import reporter_for_python

    verdict = adapt_for(encoder, texts, reading, out, settings, lookup, allow_download, reporter_for_python())
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        from augment_cli.encoding.loading import load_encoder

        return Adapted(load_encoder(verdict.folder), verdict)
    return Adapted(SentenceTransformer(str(verdict.folder), device="cpu"), verdict)


def adapt_for(
    encoder: str | Path,
    texts: Any,
    reading: IngestOptions | None,
    out: str | Path | None,
    settings: Sequence[str],
    lookup: bool,
    allow_download: bool,
    reporter: Any,
) -> Verdict:
    """Adapt, for Python and for the command line."""
    from augment_cli.session import adapting

    if not isinstance(encoder, str | Path) or Path(encoder).suffix in _TABLES:
        raise UsageError("adapt: the encoder comes first, the texts second, as in adapt('minilm', texts)")
    place, options = None if out is None else Path(out), reading or IngestOptions()
    changes = (settings,) if isinstance(settings, str) else tuple(settings)
    verdict = adapting.adapt(texts, str(encoder), options, place, changes, lookup, allow_download, reporter)
    return _with_page(verdict, encoder, reporter)


def _with_page(verdict: Verdict, start: str | Path, reporter: Any) -> Verdict:
    """The verdict with its page, which is made once, and of enough texts."""
    from augment_cli.pages import adaptation, maps
    from augment_cli.places import shipped
    from augment_cli.reports.choosing import choose_rows
    from augment_cli.store.store import Store

    run = verdict.folder.parent
    page = run / adaptation.NAME
    if not page.is_file() or page.stat().st_mtime < (run / "log.jsonl").stat().st_mtime:
        rows = choose_rows(Store.open(run / "store"), "corpus", maps.MOST)
        texts = list(dict.fromkeys(row["text"] for row in rows))
        if len(texts) < maps.FEWEST:
            return verdict
        from augment_cli.encoding.loading import load_encoder

        reporter.say(f"page: a map of {len(texts)} texts before and after")
        vectors = [
            load_encoder(folder, max_length=_MAPPED_TOKENS).encode(texts)
            for folder in (shipped(str(start)), verdict.folder)
        ]
        said = {"message": verdict.message, "scores": verdict.scores, "following": verdict.following}
        adaptation.write_adaptation(run, f"Adaptation {run.name}", said, texts, *vectors)
    following = (*verdict.following, f"page: {page}")
    return dataclasses.replace(verdict, page=page, following=following)


@operation()
def evaluate(
    before: Annotated[Any, Option("an encoder: its name or folder, or an object with the method `encode`")],
    after: Annotated[Any, Option("another one")],
    texts: Annotated[Any, Option("texts with a class each: a file, a data frame or an Arrow table")],
    *,
    text_column: Annotated[str, Option("column of the texts")] = "text",
    label_column: Annotated[str, Option("column of the classes")] = "label",
) -> pl.DataFrame:
    """Compare two encoders by your own labels: clusters, nearest neighbours, few examples a class.

    A row for each measure, in percent: both scores, their difference, and its 95 % interval.
    Leave these texts out of what an encoder was adapted to.

    Examples
    --------
    >>> import augment_cli
    >>> found = augment_cli.evaluate("static", "runs/adapt-mine/best", "mine.csv")  # doctest: +SKIP
    >>> found.columns  # doctest: +SKIP
    ['measure', 'before', 'after', 'difference', 'low', 'high', 'p']
    """
    import polars as pl

    from augment_cli import places
    from augment_cli.session.adapting import encode_of, labelled_file

    encoders = {"before": encode_of(before), "after": encode_of(after)}
    with labelled_file(texts) as (file, name):
        try:
            rows, left_out = places.module("eval.labelled").compare_on_labels(
                encoders, file, text_column, label_column
            )
        except UserError as error:
            error.args = (str(error).replace(str(file), name),)
            raise
    for said in left_out:
        warnings.warn(said.replace(str(file), name), stacklevel=2)
    return pl.DataFrame(rows)
