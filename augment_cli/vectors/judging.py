"""What a classifier in a local folder says of sentences: entailment of a pair, acceptability of one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.errors import BadInputError
from augment_cli.models.reasons import tokenizing
from augment_cli.neural.batches import batches_by_length
from augment_cli.neural.loading import ModelFolder, load_tokenizer, load_weights, read_config
from augment_cli.neural.runtime import dtype_of, inference

BATCH_TOKENS = 2_048
# Labels by what publishers call them, lower-cased.
_ACCEPTABLE = ("acceptable", "grammatical", "label_1", "1")


def entailment_labels(folder: Path) -> dict[str, int]:
    """Which of a model's outputs are `entailment` and `contradiction`.

    Raises
    ------
    BadInputError
        If its labels do not say so.
    """
    labels = _labels(folder)
    named: dict[str, int] = {
        wanted: number
        for wanted in ("entailment", "contradiction")
        for name, number in labels.items()
        if name == wanted
    }
    if "entailment" not in named:
        raise BadInputError(
            f"{folder}: none of its labels ({', '.join(labels)}) is 'entailment'; give a model for natural "
            "language inference whose config.json names its labels (id2label)"
        )
    return named


def acceptability_labels(folder: Path) -> dict[str, int]:
    """Which of a model's outputs is `acceptability`: a label of that name, or the second of two.

    Raises
    ------
    BadInputError
        If its labels do not say so.
    """
    labels = _labels(folder)
    for name in _ACCEPTABLE:
        if name in labels and len(labels) == 2:
            return {"acceptability": labels[name]}
    raise BadInputError(
        f"{folder}: has the labels {', '.join(labels)}; give a classifier of two labels, of which "
        "one is called 'acceptable', or which are numbered 0 and 1 as in CoLA"
    )


def _labels(folder: Path) -> dict[str, int]:
    names = read_config(folder).id2label or {}
    return {str(name).lower(): int(number) for number, name in names.items()}


@lru_cache(maxsize=2)
def _load(model: ModelFolder, precision: str) -> tuple[Any, Any]:
    weights = load_weights(model.path, "AutoModelForSequenceClassification", dtype_of(precision), "cpu")
    return load_tokenizer(model.path), weights


def probabilities(
    model: ModelFolder, precision: str, texts: Sequence[str], seconds: Sequence[str] | None = None
) -> np.ndarray:
    """What a classifier gives each label, float32 (n, labels).

    Parameters
    ----------
    model : ModelFolder
    precision : {"fp32", "bf16"}
    texts : sequence of str
        Sentences, or the first ones (premises) of pairs.
    seconds : sequence of str, optional
        The second ones (hypotheses).
    """
    import torch

    from augment_cli.encoding.loading import longest_input

    tokenizer, weights = _load(model, precision)
    limit = longest_input(weights, tokenizer)
    with tokenizing(model.path):
        encoded = tokenizer(
            list(texts), None if seconds is None else list(seconds), truncation=True, max_length=limit
        )
    answers = np.zeros((len(texts), weights.config.num_labels), np.float32)
    with inference(1):
        for rows in batches_by_length([len(ids) for ids in encoded["input_ids"]], BATCH_TOKENS):
            batch = {key: [values[row] for row in rows] for key, values in encoded.items()}
            logits = weights(**tokenizer.pad(batch, return_tensors="pt")).logits.float()
            answers[rows] = torch.softmax(logits, dim=-1).numpy()
    return answers
