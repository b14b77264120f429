"""Two encoders on labelled texts: whatever names or objects people give, as the evaluator takes them."""

import contextlib
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from augment_cli import places
from augment_cli.errors import UsageError, UserError


def encode_of(encoder: Any) -> Callable[[Sequence[str]], np.ndarray]:
    """The method `encode` of an encoder, or of the one that a name or folder stands for; texts once each."""
    if isinstance(encoder, str | Path):
        from augment_cli.encoding.loading import load_encoder

        return load_encoder(encoder).encode
    if not callable(getattr(encoder, "encode", None)):
        kind = type(encoder).__name__
        raise UsageError(f"{kind}: not an encoder; give a name, a folder, or what has a method `encode`")
    known: dict[str, np.ndarray] = {}

    def encode(texts: Sequence[str]) -> np.ndarray:
        if new := [text for text in dict.fromkeys(texts) if text not in known]:
            known.update(zip(new, np.asarray(encoder.encode(new), np.float32), strict=True))
        return np.stack([known[text] for text in texts])

    return encode


@contextlib.contextmanager
def labelled_file(texts: Any) -> Iterator[tuple[Path, str]]:
    """A file of labelled texts, the one that is named or one made of a table, and what people call it."""
    if isinstance(texts, str | Path):
        yield Path(texts), str(texts)
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "texts.parquet"
        pl.DataFrame(texts).write_parquet(file)
        yield file, "texts"


def evaluate(before: Any, after: Any, texts: Any, text_column: str, label_column: str) -> pl.DataFrame:
    """Two encoders on labelled texts, a row for each measure."""
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
