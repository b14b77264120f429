"""How each term of a fit is written: small, capitalised, in capitals, or mixed, as `McDonald` is.

The term table has its terms in lower case, as the paper has. Whoever puts a term into somebody's sentence
needs `Putin` and `NATO` again; so the tokens inside sentences, where a capital says something, are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from augment_cli.engine.engine import Engine
from augment_cli.store.parquet import FORMS, ROW_GROUP_ROWS, read_ipc, write_ipc
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import Store
from augment_cli.text.spans import CodePoints, ranges
from augment_cli.text.surface import ALPHANUMERIC, LOWER, UPPER, character_classes, cut
from augment_cli.tfidf.term_table import FORMS_STAGE, forms_name, stage_names

VERSION = 1
# Cases as `text.letter_case` numbers them, then those it does not know.
AS_IT_IS, CAPITALISED, CAPITALS, MIXED = range(4)
# What is counted of each term: at the beginning of sentences with a capital, then inside them.
CASES = ["beginning", "small", "capitalised", "capitals"]
UNKNOWN = -1  # capitalised, but met at the beginning of sentences only


@dataclass(frozen=True)
class FormCounts:
    """How often the V terms of a fit are written in each way."""

    # tokens that begin sentences with a capital; inside sentences those in small letters, capitalised (and
    # mixed), and in capitals
    cases: np.ndarray
    spellings: pa.Table  # of the mixed ones: `term`, `form`, and how often, `count`


def forms_settings(store: Store, fit: str | None = None) -> Settings:
    """What the stage depends on."""
    inputs = {name: store.stage(name).digest for name in ("corpus", *stage_names(fit))}
    return Settings(FORMS_STAGE, VERSION, {}, inputs=inputs, libraries=library_versions(["numpy", "pyarrow"]))


def make_forms(
    store: Store,
    fit: str | None = None,
    engine: Engine | None = None,
    progress: Callable[[int], None] = lambda rows: None,
    counted: FormCounts | None = None,
) -> None:
    """Count the forms of a fit's terms in the corpus; a stage that is there is kept."""
    # counted: what the fit has counted on its way; otherwise its matrix is read again
    stage, settings = forms_name(fit), forms_settings(store, fit)
    if not store.begin(stage, settings, expected_parts=1):
        return
    if counted is None:
        counted = _count_again(store, fit, settings, engine or Engine(), progress)
    else:
        progress(store.rows)
    store.commit(store.write_part(stage, 0, FORMS, [_columns(counted)], settings, {}))
    store.clean_work(stage)


def _count_again(
    store: Store, fit: str | None, settings: Settings, engine: Engine, progress: Callable[[int], None]
) -> FormCounts:
    """From the matrix of a fit."""
    work = store.work / forms_name(fit) / settings.fingerprint[:16]
    work.mkdir(parents=True, exist_ok=True)
    matrix, table = stage_names(fit)
    terms = store.stage(table).rows
    arguments = {"store_path": store.path, "stage": matrix, "folder": work, "terms": terms}
    calls = [arguments | {"index": index} for index in range(len(store.parts))]
    engine.run("augment_cli.tfidf.forms:count_part", calls, progress)
    return read_counts(work, dict.fromkeys(range(len(store.parts))), terms)


def count_part(store_path: Path, stage: str, index: int, folder: Path, terms: int) -> int:
    """Count the forms of one part from its matrix; writes them to `folder`."""
    store = Store.open(store_path)
    counter, rows = FormCounter(terms), 0
    matrix = store.iterate_part(stage, index, ["term_ids", "starts", "ends"])
    for corpus in store.iterate_part("corpus", index, ["text"]):
        tokens = next(matrix)
        lists = {name: tokens[name].combine_chunks() for name in tokens.column_names}
        offsets = lists["term_ids"].offsets.to_numpy().astype(np.int64)
        ids, starts, ends = (column.flatten().to_numpy() for column in lists.values())
        counter.add(corpus["text"].combine_chunks(), offsets - offsets[0], ids, starts, ends)
        rows += corpus.num_rows
    counter.write(folder, index)
    return rows


class FormCounter:
    """Counts of how some terms are written in the rows of a part."""

    def __init__(self, terms: int) -> None:
        self._cases = np.zeros((len(CASES), terms), np.int64)
        self._spellings = [pa.table({"term": pa.array([], pa.int32()), "form": pa.array([], pa.string())})]

    def add(
        self,
        texts: pa.StringArray,
        offsets: np.ndarray,
        ids: np.ndarray,
        starts: np.ndarray,
        ends: np.ndarray,
    ) -> None:
        """Count the tokens of n texts."""
        # offsets: (n+1,), tokens of text i are offsets[i]:offsets[i+1]; ids: −1 for one that is not counted;
        # starts, ends: code points, half-open
        for first in range(0, len(texts), ROW_GROUP_ROWS):
            bounds = offsets[first : first + ROW_GROUP_ROWS + 1]
            tokens = slice(int(bounds[0]), int(bounds[-1]))
            some = CodePoints.of(texts.slice(first, ROW_GROUP_ROWS))
            self._add(some, np.diff(bounds), ids[tokens], starts[tokens], ends[tokens])

    def _add(
        self, texts: CodePoints, lengths: np.ndarray, ids: np.ndarray, starts: np.ndarray, ends: np.ndarray
    ) -> None:
        classes, sizes = character_classes(), ends - starts
        starts = np.repeat(texts.offsets[:-1], lengths) + starts
        flags = classes[texts.values[starts]]
        words = np.flatnonzero((flags & ALPHANUMERIC > 0) & (ids >= 0))
        ids, starts, has_capital = ids[words], starts[words], flags[words] & UPPER > 0
        owners = np.repeat(np.arange(len(lengths)), lengths)[words]
        # The first word of a row, behind quotation marks and brackets if there are any.
        first = np.append(True, owners[1:] != owners[:-1])[: len(words)]
        np.add.at(self._cases[0], ids[first & has_capital], 1)
        np.add.at(self._cases[1], ids[~first & ~has_capital], 1)
        capital = np.flatnonzero(~first & has_capital)
        if not len(capital):
            return
        ids, owners, starts = ids[capital], owners[capital], starts[capital]
        sizes = np.maximum(sizes[words[capital]], 1)
        inside, begins = classes[texts.values[ranges(starts, sizes)]], np.cumsum(sizes) - sizes
        several = np.add.reduceat(inside & UPPER, begins, dtype=np.int64) > 1
        small = np.bitwise_or.reduceat(inside & LOWER, begins) > 0
        np.add.at(self._cases[2], ids[~several | small], 1)
        np.add.at(self._cases[3], ids[several & ~small], 1)
        mixed = np.flatnonzero(several & small)
        owners, starts, sizes = owners[mixed], starts[mixed], sizes[mixed]
        forms = cut(texts.data, texts.bytes_at(owners, starts), texts.bytes_at(owners, starts + sizes))
        self._spellings.append(pa.table({"term": pa.array(ids[mixed], pa.int32()), "form": forms}))

    def write(self, folder: Path, index: int) -> None:
        """Leave the counts of a part in a folder."""
        write_ipc(_cases_path(folder, index), pa.table(list(self._cases), names=CASES))
        joined = pa.concat_tables(self._spellings).group_by(["term", "form"], use_threads=False)
        write_ipc(_spellings_path(folder, index), joined.aggregate([([], "count_all")]))


def read_counts(folder: Path, parts: Mapping[int, np.ndarray | None], terms: int) -> FormCounts:
    """The counts that `FormCounter.write` left of some parts, together."""
    # parts: for each the ids of the terms as it numbered them; None where it counted by the fit's ids
    cases, spellings = np.zeros((len(CASES), terms), np.int64), []
    for index, ids in parts.items():
        counted = [column.to_numpy() for column in read_ipc(_cases_path(folder, index)).columns]
        written = read_ipc(_spellings_path(folder, index))
        if ids is None:
            cases += np.vstack(counted)
        else:
            for case, of_part in zip(cases, counted, strict=True):
                case[ids] += of_part  # no term is twice in a part's vocabulary
            written = written.set_column(0, "term", pa.array(ids[written["term"].to_numpy()], pa.int32()))
        spellings.append(written)
    total = pa.concat_tables(spellings).group_by(["term", "form"], use_threads=False)
    return FormCounts(
        cases, total.aggregate([("count_all", "sum")]).rename_columns(["term", "form", "count"])
    )


def _cases_path(folder: Path, index: int) -> Path:
    return folder / f"cases-{index:05d}.arrow"


def _spellings_path(folder: Path, index: int) -> Path:
    return folder / f"spellings-{index:05d}.arrow"


def _columns(counted: FormCounts) -> pa.Table:
    """The stage's columns (schema `FORMS`) from the counts of all parts."""
    beginning, small, capitalised, capitals = counted.cases
    case = np.where(capitalised > small, CAPITALISED, AS_IT_IS)
    case = np.where(capitals > np.maximum(small, capitalised), CAPITALS, case)
    case = np.where((small + capitalised + capitals == 0) & (beginning > 0), UNKNOWN, case).astype(np.int8)

    # A spelling of its own counts where more than half of a term's tokens inside sentences have it.
    ids, times = counted.spellings["term"].to_numpy(), counted.spellings["count"].to_numpy()
    usual = np.flatnonzero(2 * times > (small + capitalised + capitals)[ids])
    case[ids[usual]] = MIXED
    mixed = np.full(len(case), None, object)
    mixed[ids[usual]] = counted.spellings["form"].take(pa.array(usual)).to_pylist()
    return pa.table({"case": case, "mixed": pa.array(mixed, pa.string())}).cast(FORMS)
