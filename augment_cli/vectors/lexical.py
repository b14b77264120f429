"""Lexical neighbours from the cached TF-IDF matrix: sparse products in blocks, the best k of each row.

The score is the cosine of two sentences' TF-IDF weights over the terms that at most a share `max_df` of the
sentences hold. Without the commonest terms a product touches a few thousand sentences instead of nearly all
(the work grows with the square of a term's sentences), and loses next to nothing: what every other sentence
holds weighs little.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.errors import needed
from augment_cli.store.parquet import write_array
from augment_cli.store.store import Store
from augment_cli.tfidf.term_table import stage_names
from augment_cli.tokenization import get_tokenizer
from augment_cli.vectors.search import Neighbours

# The most products of one block, before those of a sentence are added up: some 100 MB.
_BLOCK_PRODUCTS = 8_000_000
# Candidates of one product: what a row adds up for them stays in a core's cache. A million at once take five
# times as long.
_BLOCK_CANDIDATES = 131_072


def sparse_library() -> Any:
    """scipy.sparse."""
    with needed("scipy"):
        import scipy.sparse
    return scipy.sparse


@dataclass(frozen=True)
class LexicalIndex:
    """A corpus' TF-IDF weights, one unit row a sentence, and those of the candidates turned round."""

    matrix: Any  # rows of length 1, or without entries where no term is left
    candidates: list[Any]  # the candidates' rows, transposed, in blocks of columns
    row_ids: np.ndarray  # the candidates, rising

    @classmethod
    def build(cls, store: Store, fit: str | None, max_df: float, row_ids: np.ndarray) -> "LexicalIndex":
        """From a fit's stages; `row_ids` are the candidates, rising."""
        sparse = sparse_library()
        matrix_stage, terms_stage = stage_names(fit)
        kept = _kept_terms(store, terms_stage, max_df)
        # float32 and int32: 8 bytes an entry, some 120 a sentence; pointers of 64 bits would widen them.
        data, indices, lengths = [np.zeros(0, np.float32)], [np.zeros(0, np.int32)], []
        for index in range(len(store.parts)):
            for table in store.iterate_part(matrix_stage, index, ["term_ids", "weights"]):
                lists = {name: table[name].combine_chunks() for name in table.column_names}
                counts = lists["term_ids"].value_lengths().to_numpy(zero_copy_only=False)
                terms, weights = (lists[name].flatten().to_numpy() for name in ("term_ids", "weights"))
                rows = np.repeat(np.arange(len(counts)), counts)
                values, columns, sizes = distinct_entries(rows, terms, weights, kept, len(counts))
                data.append(values)
                indices.append(columns)
                lengths.append(sizes)
        pointers = np.concatenate([[0], np.cumsum(np.concatenate([*lengths, np.zeros(0, np.int64)]))])
        if pointers[-1] <= np.iinfo(np.int32).max:
            pointers = pointers.astype(np.int32)
        shape = (store.rows, len(kept))
        matrix = sparse.csr_array((np.concatenate(data), np.concatenate(indices), pointers), shape=shape)
        blocks = [matrix[some].T.tocsr() for some in _candidate_blocks(row_ids)]
        return cls(matrix, blocks, row_ids)

    def save(self, folder: Path) -> None:
        """Write the arrays, for workers to map; complete files only."""
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {"row_ids": self.row_ids, "shape": np.array([*self.matrix.shape])}
        blocks = {f"candidates-{number}": block for number, block in enumerate(self.candidates)}
        for name, part in {"matrix": self.matrix, **blocks}.items():
            arrays |= {f"{name}-{key}": getattr(part, key) for key in ("data", "indices", "indptr")}
        for name, array in arrays.items():
            temporary = folder / f".{name}.npy"
            write_array(temporary, array)
            temporary.replace(folder / f"{name}.npy")

    @classmethod
    @lru_cache(maxsize=1)
    def load(cls, folder: Path) -> "LexicalIndex":
        """Map what `save` wrote: all workers share the memory."""
        sparse = sparse_library()

        def array(name: str) -> np.ndarray:
            mapped: np.ndarray = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
            return mapped

        def part(name: str, shape: tuple[int, int]) -> Any:
            arrays = tuple(array(f"{name}-{key}") for key in ("data", "indices", "indptr"))
            return sparse.csr_array(arrays, shape=shape)

        row_ids, (rows, terms) = np.array(array("row_ids")), array("shape").tolist()
        blocks = [
            part(f"candidates-{number}", (terms, len(some)))
            for number, some in enumerate(_candidate_blocks(row_ids))
        ]
        return cls(part("matrix", (rows, terms)), blocks, row_ids)

    def search(self, low: int, high: int, own: np.ndarray, count: int, below: float = np.inf) -> Neighbours:
        """The `count` candidates nearest to each of the rows low … high−1; the rest as in `search.search`."""
        # Candidates that share no term are none.
        sparse, queries = sparse_library(), self.matrix[low:high]
        best = Neighbours.none(high - low, count)
        own_columns = np.searchsorted(self.row_ids, own)
        frequency = sum(np.diff(block.indptr).astype(np.int64) for block in self.candidates)
        work = np.add.reduceat(np.append(frequency[queries.indices], 0), queries.indptr[:-1])
        work[np.diff(queries.indptr) == 0] = 0
        for start, stop in _blocks(work):
            some = queries[start:stop]
            product = sparse.hstack([some @ block for block in self.candidates], format="csr")
            lengths = np.diff(product.indptr)
            is_own = product.indices == np.repeat(own_columns[start:stop], lengths)
            near = (product.data >= below) & ~is_own
            rows = np.repeat(np.arange(start, stop), lengths)
            best.too_near += np.bincount(rows[near], minlength=high - low)
            product.data[near | is_own] = 0
            for row, (first, last) in enumerate(
                zip(product.indptr[:-1], product.indptr[1:], strict=True), start
            ):
                scores, columns = product.data[first:last], product.indices[first:last]
                if len(scores) > count:
                    # All that are as good as the last one, so that the order decides between equal ones.
                    top = scores >= np.partition(scores, len(scores) - count)[len(scores) - count]
                    scores, columns = scores[top], columns[top]
                order = np.lexsort((columns, -scores))[:count]
                order = order[scores[order] > 0]
                best.scores[row, : len(order)] = scores[order]
                best.row_ids[row, : len(order)] = self.row_ids[columns[order]]
        return best


def _kept_terms(store: Store, terms_stage: str, max_df: float) -> np.ndarray:
    """Which terms at most a share `max_df` of the sentences hold, bool (V,)."""
    frequency = store.read(terms_stage, ["document_frequency"])["document_frequency"].to_numpy()
    kept: np.ndarray = frequency <= max(1.0, max_df * store.rows)
    return kept


def _candidate_blocks(row_ids: np.ndarray) -> list[np.ndarray]:
    """The candidates of each block; one without any where there are none."""
    starts = range(0, max(len(row_ids), 1), _BLOCK_CANDIDATES)
    return [row_ids[start : start + _BLOCK_CANDIDATES] for start in starts]


def distinct_entries(
    rows: np.ndarray, terms: np.ndarray, weights: np.ndarray, kept: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One entry for each row and term from token occurrences, rows made unit length."""
    # kept: bool (V,), which terms count; the term id of an unknown token is −1.
    # Returns weights and term ids, rising within a row, and how many each row has.
    counts = terms >= 0
    counts[counts] = kept[terms[counts]] & (weights[counts] > 0)
    keys, place = np.unique(rows[counts] * len(kept) + terms[counts], return_index=True)
    entry_rows, entry_terms = np.divmod(keys, len(kept))
    values = weights[counts][place]
    lengths = np.sqrt(np.bincount(entry_rows, weights=values**2, minlength=count))
    data = (values / lengths[entry_rows]).astype(np.float32)
    return data, entry_terms.astype(np.int32), np.bincount(entry_rows, minlength=count)


def _blocks(work: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges of rows whose products stay within `_BLOCK_PRODUCTS`; a single row may exceed it."""
    start, total = 0, 0
    for row, products in enumerate(work.tolist()):
        if row > start and total + products > _BLOCK_PRODUCTS:
            yield start, row
            start, total = row, 0
        total += products
    if start < len(work):
        yield start, len(work)


class TextWeigher:
    """TF-IDF rows of other texts than the corpus', with a fit's idf."""

    def __init__(self, store: Store, fit: str | None, max_df: float) -> None:
        from augment_cli.tfidf.term_table import TermTable

        terms_stage = stage_names(fit)[1]
        self._terms = TermTable.read(store, terms_stage)
        self._tokenizer = get_tokenizer(store.stage(terms_stage).settings["parameters"]["tokenizer"])
        self._kept = _kept_terms(store, terms_stage, max_df)

    def __call__(self, texts: Any) -> Any:
        """Unit rows, scipy.sparse.csr_array (n, V), of a column of n texts without nulls."""
        rows, ids, weights = self._terms.weigh(self._tokenizer(texts))
        data, indices, sizes = distinct_entries(rows, ids.astype(np.int64), weights, self._kept, len(texts))
        pointers = np.concatenate([[0], np.cumsum(sizes)])
        return sparse_library().csr_array((data, indices, pointers), shape=(len(texts), len(self._kept)))
