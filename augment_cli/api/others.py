"""The other operations: a store is handed on or made smaller; encoders are adapted and compared."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from augment_cli.api.looking import Progress, store_of
from augment_cli.contract.ingest_options import IngestOptions
from augment_cli.contract.operation import Offers, Option, Store, operation, plain, positional
from augment_cli.contract.parameters import several

if TYPE_CHECKING:
    import polars as pl

    from augment_cli.adaptation import Adapted
    from augment_cli.remote.publish import Copied


AnEncoder = Annotated[
    str | Path,
    Option(
        "to start from: a folder, a hub name that is on this machine, minilm (all-MiniLM-L6-v2), or static"
    ),
]


Address = Annotated[
    str,
    positional(
        "where the store is published, such as s3://bucket/folder or gs://bucket/folder", metavar="URL"
    ),
]


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
    prompt: Annotated[
        str, Option("put before every text, such as 'query: ' for e5; the result keeps it")
    ] = "",
) -> "Adapted":
    """Adapt a sentence encoder to your own unlabelled texts, and say whether that helped.

    The encoder comes out as a folder for sentence-transformers, in `best` of the run's folder. The start is
    given back where nothing beats it. A run that was ended early is continued by the same command. Where a
    table's column of texts is not named, it is guessed and said.

    augment-cli adapt mine.txt
    augment-cli adapt titles.csv --text-column title --encoder static --out runs/titles
    augment-cli adapt mine.csv --lookup
    augment-cli adapt mine.txt --encoder intfloat/multilingual-e5-small --prompt "query: "

    >>> encoder, verdict = augment_cli.adapt("static", ["The river flows."] * 3)  # doctest: +SKIP
    >>> verdict.outcome  # doctest: +SKIP
    'same'
    """
    from augment_cli import adaptation
    from augment_cli.process.reporter import reporter_for_python

    reporter = reporter_for_python()
    given = (encoder, texts, reading, out, settings, lookup, allow_download, prompt)
    return adaptation.loaded(adaptation.adapt(*given, reporter))


@operation()
def evaluate(
    before: Annotated[Any, Option("an encoder: its name or folder, or an object with the method `encode`")],
    after: Annotated[Any, Option("another one")],
    texts: Annotated[Any, Option("texts with a class each: a file, a data frame or an Arrow table")],
    *,
    text_column: Annotated[str, Option("column of the texts")] = "text",
    label_column: Annotated[str, Option("column of the classes")] = "label",
) -> "pl.DataFrame":
    """Compare two encoders by your own labels: clusters, nearest neighbours, few examples a class.

    A row for each measure, in percent: both scores, their difference, and its 95 % interval.
    Leave these texts out of what an encoder was adapted to.

    >>> found = augment_cli.evaluate("static", "runs/adapt-mine/best", "mine.csv")  # doctest: +SKIP
    >>> found.columns  # doctest: +SKIP
    ['measure', 'before', 'after', 'difference', 'low', 'high', 'p']
    """
    from augment_cli import labelled

    return labelled.evaluate(before, after, texts, text_column, label_column)


@operation()
def card(
    store: Store = "store",
    *,
    title: Annotated[str, Option("name of the data set; asked for on a terminal")] = "Augmented sentences",
    license_name: Annotated[
        str, Option("of the corpus: cc0-1.0, …; asked for on a terminal", "license")
    ] = "unknown",
    language: Annotated[str, Option("of the corpus, such as en; by default what its texts look like")] = "",
) -> str:
    """Write the dataset card: README.md at the store's root, as dataset hubs read it.

    augment-cli card
    augment-cli card --title 'River sentences' --license cc0-1.0

    >>> "license: cc0-1.0" in augment_cli.card("store", title="Rivers", license_name="cc0-1.0")
    True
    """
    from augment_cli.reports.report import write_card

    opened = store_of(store)
    with opened.lock():
        opened.reload()
        return write_card(opened, title, license_name, language)


@operation()
def remove(
    stages: Annotated[str | Sequence[str], positional("one or more, such as una", "stage", repeats=True)],
    store: Store = "store",
    *,
    with_descendants: Annotated[bool, Option("delete what was made from them too")] = False,
) -> list[str]:
    """Delete stages of a store, so that they can be made with other settings.

    In Python it returns what was made from them and is kept.

    augment-cli remove una
    augment-cli remove tfidf terms --with-descendants

    >>> augment_cli.remove("una", "store")
    []
    """
    from augment_cli.store.store import Store as StoreOfStages

    names, path = list(several(stages)), store_of(store).path
    with StoreOfStages.open(path).lock():
        opened = StoreOfStages.open(path)
        for name in names:
            opened.stage(name)
        hanging = opened.made_from(*names)
        if with_descendants:
            names, hanging = [*names, *hanging], []
        opened.remove(*dict.fromkeys(names))
    if isinstance(store, StoreOfStages):
        store.reload()
    return hanging


@operation()
def doctor(store: Store = "store") -> list[dict[str, Any]]:
    """What each stage needs, whether this machine has it, and the line that gets it.

    augment-cli doctor
    augment-cli doctor --json

    >>> [one["ready"] for one in augment_cli.doctor() if one["what"] == "una"]
    [True]
    """
    from augment_cli.reports.doctor import examine

    return examine(Path(plain(store)))


@operation()
def publish(
    store: Annotated[str | Path, positional("folder of the store")],
    address: Address,
    *,
    overwrite: Annotated[bool, Option("replace another store that is published there")] = False,
    progress: Progress = lambda rows: None,
) -> "Copied":
    """Copy a store's finished stages to an object store; its manifest comes last.

    Parts that are there with the right SHA-256 are not copied again, so the same command resumes, and after
    more stages were made it copies these. What was copied is read back and compared. Credentials are those
    that the provider's own tools find.

    augment-cli publish store s3://bucket/folder
    augment-cli publish store s3://bucket/folder --overwrite
    """
    from augment_cli.remote.publish import publish as copy

    return copy(plain(store), address, overwrite=overwrite, progress=progress)


@operation()
def fetch(
    address: Address,
    store: Annotated[str | Path, positional("folder to make of it")] = "store",
    *,
    progress: Progress = lambda rows: None,
) -> "Copied":
    """Copy a published store into a folder, every part's SHA-256 verified.

    The same command resumes, and takes what was published since.

    augment-cli fetch s3://bucket/folder
    augment-cli fetch s3://bucket/folder fetched-store
    """
    from augment_cli.remote.publish import fetch as copy

    return copy(address, plain(store), progress=progress)


@operation("convert-weights")
def convert_weights(folder: Annotated[str | Path, positional("folder with pytorch_model*.bin")]) -> Path:
    """Convert a model's pickled weights to safetensors, which is all that is ever loaded.

    The pickle is read with `torch.load(weights_only=True)`, so no code in it runs.

    augment-cli convert-weights models/pegasus_paraphrase
    """
    from augment_cli.neural.converted import convert_weights as convert

    return convert(Path(folder))
