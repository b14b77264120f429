"""How each term of a fit is written: small, capitalised, in capitals, or mixed, as `McDonald` is.

The term table has its terms in lower case, as the paper has. Whoever puts a term into somebody's sentence
needs `Putin` and `NATO` again; so the tokens inside sentences, where a capital says something, are counted.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa

from augment_cli.engine.engine import Engine
from augment_cli.store.parquet import read_ipc, write_ipc
from augment_cli.store.schema import FORMS
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import Store
from augment_cli.text.letter_case import ALPHANUMERIC, LOWER, UPPER, character_classes
from augment_cli.text.spans import CodePoints, ranges
from augment_cli.text.surface import cut
from augment_cli.tfidf.fit import stage_names

VERSION = 1
FORMS_STAGE = "forms"
# Cases as `text.letter_case` numbers them, then those it does not know.
AS_IT_IS, CAPITALISED, CAPITALS, MIXED = range(4)
# What is counted of each term: at the beginning of sentences with a capital, then inside them.
CASES = ["beginning", "small", "capitalised", "capitals"]
UNKNOWN = -1  # capitalised, but met at the beginning of sentences only


def forms_name(fit: str | None) -> str:
    """Folder of a fit's forms: `forms`, or `forms-NAME`."""
    return FORMS_STAGE if not fit else f"{FORMS_STAGE}-{fit}"


def forms_settings(store: Store, fit: str | None = None) -> Settings:
    """What the stage depends on."""
    inputs = {name: store.stage(name).digest for name in ("corpus", *stage_names(fit))}
    return Settings(FORMS_STAGE, VERSION, {}, inputs=inputs, libraries=library_versions(["numpy", "pyarrow"]))


def make_forms(
    store: Store,
    fit: str | None = None,
    engine: Engine | None = None,
    progress: Callable[[int], None] = lambda rows: None,
) -> None:
    """Count the forms of a fit's terms in the corpus; a stage that is there is kept.

    Parameters
    ----------
    store : Store
        With a complete fit; the caller holds its lock.
    fit : str, optional
        Which, where there are several.
    engine : Engine, optional
    progress : callable, optional
        Called with the number of rows done since the last call.
    """
    stage, settings = forms_name(fit), forms_settings(store, fit)
    if not store.begin(stage, settings, expected_parts=1):
        return
    work = store.work / stage / settings.fingerprint[:16]
    work.mkdir(parents=True, exist_ok=True)
    matrix, table = stage_names(fit)
    terms = store.stage(table).rows
    arguments = {"store_path": store.path, "stage": matrix, "folder": work, "terms": terms}
    calls = [arguments | {"index": index} for index in range(len(store.parts))]
    (engine or Engine()).run("augment_cli.tfidf.forms:count_part", calls, progress)
    counts = np.zeros((4, terms), np.int64)
    spellings = []
    for index in range(len(store.parts)):
        counts += np.vstack([column.to_numpy() for column in read_ipc(_counts_path(work, index)).columns])
        spellings.append(read_ipc(_spellings_path(work, index)))
    columns = _columns(counts, pa.concat_tables(spellings))
    store.commit(store.write_part(stage, 0, FORMS, [columns], settings, {}))
    store.clean_work(stage)


def count_part(store_path: Path, stage: str, index: int, folder: Path, terms: int) -> int:
    """Count the forms of one part; writes them and the mixed spellings to `folder`.

    The columns of V counts: tokens that begin sentences with a capital; inside sentences those in small
    letters, capitalised (and mixed), and in capitals.

    Returns
    -------
    int
        Number of rows counted.
    """
    store = Store.open(store_path)
    counts = np.zeros((4, terms), np.int64)
    rows, spellings = 0, [pa.table({"term": pa.array([], pa.int32()), "form": pa.array([], pa.string())})]
    matrix = store.iterate_part(stage, index, ["term_ids", "starts", "ends"])
    for corpus in store.iterate_part("corpus", index, ["text"]):
        texts = CodePoints.of(corpus["text"].combine_chunks())
        tokens = next(matrix)
        lists = {name: tokens[name].combine_chunks() for name in tokens.column_names}
        offsets = lists["term_ids"].offsets.to_numpy().astype(np.int64)
        flat = {name: column.flatten().to_numpy() for name, column in lists.items()}
        _count(texts, offsets - offsets[0], flat, counts, spellings)
        rows += corpus.num_rows
    write_ipc(_counts_path(folder, index), pa.table(list(counts), names=CASES))
    joined = pa.concat_tables(spellings).group_by(["term", "form"], use_threads=False)
    write_ipc(_spellings_path(folder, index), joined.aggregate([([], "count_all")]))
    return rows


def _counts_path(folder: Path, index: int) -> Path:
    return folder / f"counts-{index:05d}.arrow"


def _spellings_path(folder: Path, index: int) -> Path:
    return folder / f"spellings-{index:05d}.arrow"


def _count(
    texts: CodePoints,
    offsets: np.ndarray,
    tokens: dict[str, np.ndarray],
    counts: np.ndarray,
    spellings: list[pa.Table],
) -> None:
    """Add the tokens of some rows to `counts` and `spellings`; `offsets` are those of the rows' tokens."""
    lengths, classes = np.diff(offsets), character_classes()
    starts = np.repeat(texts.offsets[:-1], lengths) + tokens["starts"]
    flags = classes[texts.values[starts]]
    words = np.flatnonzero((flags & ALPHANUMERIC > 0) & (tokens["term_ids"] >= 0))
    ids, starts, has_capital = tokens["term_ids"][words], starts[words], flags[words] & UPPER > 0
    owners = np.repeat(np.arange(len(lengths)), lengths)[words]
    # The first word of a row, behind quotation marks and brackets if there are any.
    first = np.append(True, owners[1:] != owners[:-1])[: len(words)]
    np.add.at(counts[0], ids[first & has_capital], 1)
    np.add.at(counts[1], ids[~first & ~has_capital], 1)
    capital = np.flatnonzero(~first & has_capital)
    if not len(capital):
        return
    ids, owners, starts = ids[capital], owners[capital], starts[capital]
    sizes = np.maximum((tokens["ends"] - tokens["starts"])[words[capital]], 1)
    inside, begins = classes[texts.values[ranges(starts, sizes)]], np.cumsum(sizes) - sizes
    several = np.add.reduceat(inside & UPPER, begins, dtype=np.int64) > 1
    small = np.bitwise_or.reduceat(inside & LOWER, begins) > 0
    np.add.at(counts[2], ids[~several | small], 1)
    np.add.at(counts[3], ids[several & ~small], 1)
    mixed = np.flatnonzero(several & small)
    owners, starts, sizes = owners[mixed], starts[mixed], sizes[mixed]
    forms = cut(texts.data, texts.bytes_at(owners, starts), texts.bytes_at(owners, starts + sizes))
    spellings.append(pa.table({"term": pa.array(ids[mixed], pa.int32()), "form": forms}))


def _columns(counts: np.ndarray, spellings: pa.Table) -> pa.Table:
    """The stage's columns (schema `FORMS`) from the counts of all parts."""
    beginning, small, capitalised, capitals = counts
    case = np.where(capitalised > small, CAPITALISED, AS_IT_IS)
    case = np.where(capitals > np.maximum(small, capitalised), CAPITALS, case)
    case = np.where((small + capitalised + capitals == 0) & (beginning > 0), UNKNOWN, case).astype(np.int8)

    # A spelling of its own counts where more than half of a term's tokens inside sentences have it.
    total = spellings.group_by(["term", "form"], use_threads=False).aggregate([("count_all", "sum")])
    ids, times = total["term"].to_numpy(), total["count_all_sum"].to_numpy()
    usual = np.flatnonzero(2 * times > (small + capitalised + capitals)[ids])
    case[ids[usual]] = MIXED
    mixed = np.full(len(case), None, object)
    mixed[ids[usual]] = total["form"].take(pa.array(usual)).to_pylist()
    return pa.table({"case": case, "mixed": pa.array(mixed, pa.string())}).cast(FORMS)
