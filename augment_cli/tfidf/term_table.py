"""The fitted term table in memory, with prefix sums to draw from any window; how each term is written.

The table has its terms in lower case, as the paper has. Whoever puts a term into somebody's sentence needs
`Putin` and `NATO` again; so the tokens inside sentences, where a capital says something, are counted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.engine.engine import Engine
from augment_cli.store.parquet import FORMS, ROW_GROUP_ROWS, read_ipc, read_parquet, write_ipc
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import Store
from augment_cli.text.spans import CodePoints, ranges
from augment_cli.text.surface import (
    ALPHANUMERIC,
    AS_IT_IS,
    CAPITALISED,
    CAPITALS,
    LOWER,
    UPPER,
    capitalised,
    character_classes,
    cut,
)
from augment_cli.tokenization import Tokens

TFIDF_STAGE = "tfidf"
TERMS_STAGE = "terms"
FORMS_STAGE = "forms"
FORMS_VERSION = 1
MIXED = 3  # a case beside those of `text.surface`
# What is counted of each term: at the beginning of sentences with a capital, then inside them.
CASES = ["beginning", "small", "capitalised", "capitals"]
UNKNOWN = -1  # capitalised, but met at the beginning of sentences only


@dataclass(frozen=True, eq=False)
class TermTable:
    """Terms by falling maximum score; a term's id is its rank."""

    terms: pa.StringArray
    idf: np.ndarray
    max_score: np.ndarray
    # how each term is mostly written inside sentences; empty where that was not counted
    cases: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int8))
    # the spelling of each term whose case is `MIXED`
    mixed: Mapping[int, str] = field(default_factory=dict)
    document_frequency: np.ndarray | None = None  # how many sentences have each term

    @classmethod
    def read(cls, store: Store, stage: str, forms: str | None = None) -> "TermTable":
        """Read a fit's term table from a store, with the spellings of the stage `forms` where it is given."""
        # The last one read is kept, since a worker reads the same table for each of its parts; its content
        # is in the key, so that a table fitted anew is never mistaken for it.
        content = [
            (store.verified_path(name, 0), store.stage(name).digest) for name in (stage, forms) if name
        ]
        return _read_terms(*content)

    def __len__(self) -> int:
        return len(self.terms)

    @cached_property
    def prefix_sums(self) -> np.ndarray:
        """float64 (V+1,): sum of the maximum scores of all terms before each rank."""
        return np.append(0.0, np.cumsum(self.max_score))

    @property
    def documents(self) -> int:
        """How many sentences the table was fitted on: N = N_t·exp(idf)."""
        if self.document_frequency is None or not len(self):
            return 0
        return round(float(self.document_frequency[0] * np.exp(self.idf[0])))

    @cached_property
    def shares(self) -> np.ndarray:
        """float64 (V,): the largest share of a sentence that each term makes up; 0 where the idf is 0."""
        known = self.idf > 0
        return np.expm1(np.divide(self.max_score, self.idf, out=np.zeros(len(self)), where=known))

    def ids_of(self, terms: pa.Array) -> np.ndarray:
        """int32 ids of terms; −1 for those not in the table."""
        return pc.fill_null(pc.index_in(terms.cast(pa.string()), self.terms), -1).to_numpy().astype(np.int32)

    def weigh(self, tokens: Tokens) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Row, id (−1: unknown) and TF-IDF weight of each token of new texts, whose idf is the table's."""
        lengths = np.diff(tokens.row_offsets)
        rows = np.repeat(np.arange(len(lengths)), lengths)
        words = tokens.terms.dictionary_encode()
        codes = words.indices.to_numpy().astype(np.int64)
        keys = rows * max(len(words.dictionary), 1) + codes
        _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
        ids = self.ids_of(words.dictionary)[codes]
        return rows, ids, np.log1p(counts[inverse] / lengths[rows]) * np.append(self.idf, 0.0)[ids]

    def draw_ids(
        self, ids: np.ndarray, radius: int, uniforms: np.ndarray, include_self: bool = False
    ) -> np.ndarray:
        """Draw for each rank i one of the ranks i−radius … i+radius, with probability ∝ maximum score."""
        # The window is cut at the table's ends. Where all its scores are zero, every rank in it is equally
        # likely. −1 where it holds no term (radius 0, or a table of one term).
        ids = ids.astype(np.int64)
        low = np.maximum(ids - radius, 0)
        high = np.minimum(ids + radius, len(self) - 1) + 1
        skipped = np.full(len(ids), not include_self)
        return self.draw_between(low, high, ids, skipped, uniforms)

    def draw_between(
        self, low: np.ndarray, high: np.ndarray, ids: np.ndarray, skipped: np.ndarray, uniforms: np.ndarray
    ) -> np.ndarray:
        """Draw for each window low … high−1 one of its ranks, with probability ∝ maximum score."""
        # All (m,). ids: a rank in each window, or its upper bound; skipped: whether that must not be drawn;
        # uniforms: in [0, 1). The result is −1 where a window holds nothing to draw.
        sums = self.prefix_sums
        own = np.zeros(len(ids))
        own[skipped] = self.max_score[ids[skipped]]
        # Weight before i, then weight behind i: skipping i's own weight skips i.
        before = sums[ids] - sums[low]
        weight = sums[high] - sums[low] - own
        target = uniforms * weight
        target += np.where(target >= before, own, 0.0)
        target += sums[low]
        drawn = self._ranks_of(target)

        # All-zero windows: uniform over the ranks.
        choices = high - low - skipped
        flat = weight <= 0
        if flat.any():
            step = np.minimum((uniforms * choices).astype(np.int64), np.maximum(choices - 1, 0))
            uniform_draw = low + step
            uniform_draw += skipped & (uniform_draw >= ids)
            drawn = np.where(flat, uniform_draw, drawn)
        drawn = np.clip(drawn, low, high - 1)
        # Rounding at the very edge of an interval can still land on i: take its neighbour.
        edge = skipped & (drawn == ids)
        drawn = np.where(edge, np.where(ids + 1 < high, ids + 1, ids - 1), drawn)
        return np.where(choices > 0, drawn, -1).astype(np.int32)

    def _ranks_of(self, targets: np.ndarray) -> np.ndarray:
        """int64 (m,): the rank in whose interval of the prefix sums each of some numbers lies."""
        # In rising order: a look-up near the last one finds its numbers in the cache.
        order = np.argsort(targets)
        ranks = np.empty(len(targets), np.int64)
        ranks[order] = np.searchsorted(self.prefix_sums, targets[order], side="right") - 1
        return ranks

    def draw_any(self, ids: np.ndarray, uniforms: np.ndarray, include_self: bool = False) -> np.ndarray:
        """Draw for each rank any rank of the table with equal probability (the random-term ablation)."""
        choices = len(self) - (0 if include_self else 1)
        if choices <= 0:
            return np.full(len(ids), -1, np.int32)
        drawn = np.minimum((uniforms * choices).astype(np.int64), choices - 1)
        if not include_self:
            drawn += drawn >= ids
        return drawn.astype(np.int32)

    @cached_property
    def surface_forms(self) -> pa.StringArray:
        """3V strings: terms as they stand, then capitalised, then in capitals, as `case_pattern` counts."""
        # NLTK's `` and '' stand for a double quotation mark, and become one again.
        plain = pc.replace_substring_regex(self.terms, "^(``|'')$", '"')
        return pa.concat_arrays([plain, capitalised(plain), pc.utf8_upper(plain)])


@lru_cache(maxsize=2)  # with the forms and without
def _read_terms(content: tuple[Path, str], forms: tuple[Path, str] | None = None) -> TermTable:
    """From the files of the stages and their digests."""
    table = read_parquet(content[0], ["term", "idf", "max_score", "document_frequency"])
    cases, mixed = np.zeros(0, np.int8), {}
    if forms is not None:
        written = read_parquet(forms[0], ["case", "mixed"])
        cases = written["case"].to_numpy()
        places = np.flatnonzero(written["mixed"].is_valid().to_numpy())
        spellings = written["mixed"].take(pa.array(places)).to_pylist()
        mixed = dict(zip(places.tolist(), spellings, strict=True))
    return TermTable(
        table["term"].combine_chunks(),
        table["idf"].to_numpy(),
        table["max_score"].to_numpy(),
        cases,
        mixed,
        table["document_frequency"].to_numpy(),
    )


def stage_names(fit: str | None) -> tuple[str, str]:
    """Folders of a fit's matrix and term table: `tfidf` and `terms`, or `tfidf-NAME` and `terms-NAME`."""
    return (TFIDF_STAGE, TERMS_STAGE) if not fit else (f"{TFIDF_STAGE}-{fit}", f"{TERMS_STAGE}-{fit}")


def forms_name(fit: str | None) -> str:
    """Folder of a fit's forms: `forms`, or `forms-NAME`."""
    return FORMS_STAGE if not fit else f"{FORMS_STAGE}-{fit}"


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
    return Settings(
        FORMS_STAGE, FORMS_VERSION, {}, inputs=inputs, libraries=library_versions(["numpy", "pyarrow"])
    )


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
    engine.run("augment_cli.tfidf.term_table:count_part", calls, progress)
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
        write_ipc(work_file(folder, "cases", index), pa.table(list(self._cases), names=CASES))
        joined = pa.concat_tables(self._spellings).group_by(["term", "form"], use_threads=False)
        write_ipc(work_file(folder, "spellings", index), joined.aggregate([([], "count_all")]))


def read_counts(folder: Path, parts: Mapping[int, np.ndarray | None], terms: int) -> FormCounts:
    """The counts that `FormCounter.write` left of some parts, together."""
    # parts: for each the ids of the terms as it numbered them; None where it counted by the fit's ids
    cases, spellings = np.zeros((len(CASES), terms), np.int64), []
    for index, ids in parts.items():
        counted = [column.to_numpy() for column in read_ipc(work_file(folder, "cases", index)).columns]
        written = read_ipc(work_file(folder, "spellings", index))
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


def work_file(folder: Path, what: str, index: int) -> Path:
    """A temporary file of a fit, with something of a part."""
    return folder / f"{what}-{index:05d}.arrow"


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
