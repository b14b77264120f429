"""The first map of a fit: a part's tokens, counted with term ids of the part's own.

What is counted lies in temporary files of `.work/`, one set for each part, until the reduction has joined
them (`fit.py`): the vocabulary, the tokens, and how the terms are written (`forms.py`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.store.parquet import write_ipc
from augment_cli.store.store import Store
from augment_cli.tfidf.forms import FormCounter
from augment_cli.tokenization import get_tokenizer

_ROWS_AT_ONCE = 1024  # whose pairs of row and term fit into a processor's cache


def count_part(
    store_path: Path,
    stage: str,
    index: int,
    tokenizer: str,
    folder: Path,
    keep_tokens: bool,
    with_forms: bool = False,
) -> int:
    """Tokenise and count one part; write its vocabulary to `folder`, and its tokens and forms if asked to."""
    table = Store.open(store_path).read_part(stage, index, ["text"])
    texts = pc.drop_null(table["text"]).combine_chunks()
    tokens = get_tokenizer(tokenizer)(texts)
    encoded = tokens.terms.dictionary_encode()
    terms, term_ids = encoded.dictionary, encoded.indices.to_numpy().astype(np.int32)
    counts, document_frequency, max_share = count_terms(term_ids, tokens.row_offsets, len(terms))
    vocabulary = pa.table(
        {"term": terms.cast(pa.string()), "document_frequency": document_frequency, "max_share": max_share}
    )
    vocabulary = vocabulary.replace_schema_metadata({"rows": str(len(texts))})
    write_ipc(counts_path(folder, stage, index), vocabulary)
    if keep_tokens:
        flat = {"start": tokens.starts, "end": tokens.ends, "count": counts}
        narrow = {name: _narrow(values) for name, values in flat.items()}
        write_ipc(tokens_path(folder, index), pa.table({"term": term_ids, **narrow}))
        write_ipc(lengths_path(folder, index), pa.table({"length": np.diff(tokens.row_offsets)}))
    if with_forms:
        forms = FormCounter(len(terms))
        forms.add(texts, tokens.row_offsets, term_ids, tokens.starts, tokens.ends)
        forms.write(folder, index)
    return len(texts)


def count_terms(
    term_ids: np.ndarray, row_offsets: np.ndarray, terms: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count each term in each row."""
    # Returns, for each token, how often its row has its term; for each term, how many rows have it, and the
    # largest share of a row's tokens that it makes up.
    counts = np.empty(len(term_ids), np.int32)
    document_frequency, max_share = np.zeros(terms, np.int64), np.zeros(terms)
    bits = terms.bit_length()
    for start in range(0, len(row_offsets) - 1, _ROWS_AT_ONCE):
        offsets = row_offsets[start : start + _ROWS_AT_ONCE + 1]
        lengths, first, last = np.diff(offsets), int(offsets[0]), int(offsets[-1])
        rows = np.repeat(np.arange(len(lengths)) << bits, lengths)
        # Arrow numbers distinct values with a hash table, which takes a third of the time of sorting them.
        encoded = pa.array(rows | term_ids[first:last]).dictionary_encode()
        numbers, pairs = encoded.indices.to_numpy(), encoded.dictionary.to_numpy()
        times = np.bincount(numbers)
        counts[first:last] = times[numbers]
        pair_terms = pairs & ((1 << bits) - 1)
        np.add.at(document_frequency, pair_terms, 1)
        np.maximum.at(max_share, pair_terms, times / lengths[pairs >> bits])
    return counts, document_frequency, max_share


def _narrow(values: np.ndarray) -> np.ndarray:
    """Numbers of at least 0 in the smallest type that holds them all: half the bytes to write and to read."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


# --- temporary files of a fit, in .work/


def counts_path(folder: Path, stage: str, index: int) -> Path:
    """Of a part's vocabulary: its terms, document frequencies, largest shares."""
    return folder / f"counts-{stage.replace('/', '-')}-{index:05d}.arrow"


def tokens_path(folder: Path, index: int) -> Path:
    """Of the tokens of a part of the corpus, flattened: term, start, end, count in the row."""
    return folder / f"tokens-{index:05d}.arrow"


def lengths_path(folder: Path, index: int) -> Path:
    """Of how many tokens each row of a part of the corpus has."""
    return folder / f"lengths-{index:05d}.arrow"
