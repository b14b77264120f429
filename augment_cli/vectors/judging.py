"""What a model in a local folder says of sentences: entailment of a pair, acceptability of one, relevance."""

import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.errors import BadInputError
from augment_cli.models.claims import tokenizing
from augment_cli.models.digest import read_json
from augment_cli.neural.loading import ModelFolder, load_tokenizer, load_weights, read_config
from augment_cli.neural.runtime import batches_by_length, dtype_of, inference

BATCH_TOKENS = 2_048
_PAIRS_AT_ONCE = 8_192  # tokenised
# Labels by what publishers call them, lower-cased.
_ACCEPTABLE = ("acceptable", "grammatical", "label_1", "1")


def entailment_labels(folder: Path) -> dict[str, int]:
    """Which of a model's outputs are `entailment` and `contradiction`."""
    labels = _labels(folder)
    named: dict[str, int] = {name: labels[name] for name in ("entailment", "contradiction") if name in labels}
    if "entailment" not in named:
        raise BadInputError(
            f"{folder}: none of its labels ({', '.join(labels)}) is 'entailment'; give a model for natural "
            "language inference whose config.json names its labels (id2label)"
        )
    return named


def acceptability_labels(folder: Path) -> dict[str, int]:
    """Which of a model's outputs is `acceptability`: a label of that name, or the second of two."""
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
def _load(model: ModelFolder) -> tuple[Any, Any]:
    weights = load_weights(model.path, "AutoModelForSequenceClassification", dtype_of("fp32"), "cpu")
    return load_tokenizer(model.path), weights


def probabilities(
    model: ModelFolder, texts: Sequence[str], seconds: Sequence[str] | None = None
) -> np.ndarray:
    """What a classifier gives each label, float32 (n, labels)."""
    import torch

    return torch.softmax(torch.from_numpy(_logits(model, texts, seconds)), dim=-1).numpy()


def _logits(
    model: ModelFolder, texts: Sequence[str], seconds: Sequence[str] | None, longest: int | None = None
) -> np.ndarray:
    from augment_cli.encoding.loading import longest_input

    tokenizer, weights = _load(model)
    limit = min(longest_input(weights.config, tokenizer), longest or sys.maxsize)
    with tokenizing(model.path):
        encoded = tokenizer(
            list(texts), None if seconds is None else list(seconds), truncation=True, max_length=limit
        )
    answers = np.zeros((len(texts), weights.config.num_labels), np.float32)
    with inference(1):
        for rows in batches_by_length([len(ids) for ids in encoded["input_ids"]], BATCH_TOKENS):
            batch = {key: [values[row] for row in rows] for key, values in encoded.items()}
            answers[rows] = weights(**tokenizer.pad(batch, return_tensors="pt")).logits.float().numpy()
    return answers


def reranker_activation(folder: Path) -> str:
    """What a cross-encoder puts its one output through: `Sigmoid` or `Identity`."""
    config, stored = read_config(folder), read_json(folder / "config_sentence_transformers.json", {})
    kinds = config.architectures or [""]
    modules = read_json(folder / "modules.json", [None])
    if not kinds[0].endswith("ForSequenceClassification") or config.num_labels != 1 or len(modules) != 1:
        raise BadInputError(
            f"{folder}: is not a cross-encoder with one output ({kinds[0]}, {config.num_labels} outputs); "
            "give a folder that sentence-transformers' CrossEncoder saved, or --nli for a classifier"
        )
    older = getattr(config, "sentence_transformers", None) or {}
    oldest = getattr(config, "sbert_ce_default_activation_function", None)
    name = stored.get("activation_fn") or older.get("activation_fn") or oldest or "Sigmoid"
    activation = str(name).rpartition(".")[2]
    if activation not in ("Sigmoid", "Identity") or stored.get("default_prompt_name"):
        raise BadInputError(
            f"{folder}: a cross-encoder with {name} and the prompt {stored.get('default_prompt_name')!r}, "
            "which is not known here; give one with Sigmoid or Identity and no prompt"
        )
    return activation


def relevance(
    model: ModelFolder, firsts: Sequence[str], seconds: Sequence[str], squeezed: bool = False
) -> np.ndarray:
    """Scores of pairs by a cross-encoder, float32 (n,), as `CrossEncoder.predict` gives them."""
    import torch

    is_sigmoid = reranker_activation(model.path) == "Sigmoid" or squeezed
    longest = read_json(model.path / "sentence_bert_config.json", {}).get("max_seq_length")
    scores = np.zeros(len(firsts), np.float32)
    for low in range(0, len(firsts), _PAIRS_AT_ONCE):
        some = slice(low, low + _PAIRS_AT_ONCE)
        scores[some] = _logits(model, firsts[some], seconds[some], longest)[:, 0]
    return torch.sigmoid(torch.from_numpy(scores)).numpy() if is_sigmoid else scores
