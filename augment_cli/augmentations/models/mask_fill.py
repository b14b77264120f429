"""Positives: let a masked language model replace some words, or insert some, that fit the sentence.

Contextual substitution and insertion as nlpaug and VaSCL have them (Kobayashi 2018; Zhang et al. 2022), at
5, 10 or 20 % of the words; and the baseline of SimCSE and SDA that masks 15 % of the words and draws from
the whole distribution: `--share 0.15 --top-k 0 --most 0`. All gaps of a sentence are filled in one pass.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import Augmentation, Resources
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import avoid_parameter, avoided_digest, avoided_words, parameter
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.neural.batches import batches_by_length
from augment_cli.neural.loading import ModelFolder, architecture_of, find_model, read_config
from augment_cli.neural.mask_filling import Masked, MaskFiller
from augment_cli.neural.runtime import (
    MemoryGuard,
    RuntimeParameters,
    limit_warnings,
    pinned,
    runtime_settings,
)
from augment_cli.text.spans import EditList
from augment_cli.text.surface import CAPITALS, case_of, in_case

COLUMNS = (pa.field("replaced", pa.int32(), nullable=False), pa.field("words", pa.int32(), nullable=False))
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


@dataclass(frozen=True)
class MaskFillParameters(RuntimeParameters):
    """Parameters of mask filling; the defaults are nlpaug's, as VaSCL uses it."""

    model: str = parameter("bert-base-uncased", "masked language model: folder or hub name")
    action: str = parameter(
        "substitute", "replace words, or insert some before them", choices=("substitute", "insert")
    )
    share: float = parameter(0.1, "of the words; the number is rounded up", minimum=0, maximum=1)
    most: int = parameter(10, "at most this many words a sentence; 0 for no limit", minimum=0)
    top_k: int = parameter(100, "words to draw from, the most probable; 0 for all", minimum=0)
    avoid: str = avoid_parameter()


def _model(parameters: MaskFillParameters) -> ModelFolder:
    return find_model(parameters.model, parameters.allow_download)


def _resolve(parameters: MaskFillParameters, resources: Resources) -> dict[str, Any]:
    config = read_config(_model(parameters).path)
    return runtime_settings(parameters) | {
        "architecture": architecture_of(config),
        "action": parameters.action,
        "share": parameters.share,
        "most": parameters.most,
        "top_k": parameters.top_k,
        "avoid": avoided_digest(parameters.avoid),
    }


def _pin(parameters: MaskFillParameters) -> MaskFillParameters:
    return pinned(parameters, model=_model(parameters))


@dataclass(frozen=True)
class _Sentence:
    """A sentence with the words chosen in it: numbers, and spans in code points."""

    row_id: int
    text: str
    words: int
    chosen: list[int]
    spans: list[tuple[int, int]]


class _MaskFilling:
    """A `PreparedModel`."""

    def __init__(self, parameters: MaskFillParameters, resources: Resources) -> None:
        self._parameters = parameters
        self._filler = MaskFiller(
            _model(parameters),
            resources.key("mask-fill/word"),
            parameters.top_k,
            parameters.precision,
            parameters.device,
            parameters.threads,
            frozenset(avoided_words(parameters.avoid).to_pylist()),
        )
        self._position_key = resources.key("mask-fill/position")
        self._guard = MemoryGuard()

    @property
    def splits(self) -> int:
        return self._guard.splits

    def use_device(self, device: str) -> None:
        self._filler.device = device

    def batches_of(self, texts: pa.StringArray) -> list[np.ndarray]:
        lengths = self._filler.lengths(texts.to_pylist())
        return batches_by_length(np.maximum(lengths, 1), self._parameters.batch_tokens)

    def __call__(self, rows: Rows) -> Outcome:
        texts = rows.texts.to_pylist()
        sentences = [
            self._choose(int(row_id), text) for row_id, text in zip(rows.row_ids, texts, strict=True)
        ]
        numbers = [number for number, sentence in enumerate(sentences) if sentence.chosen]
        filled = self._guard.run(self._fill, [sentences[number] for number in numbers]) if numbers else []
        flat = [(number, *edit) for number, own in zip(numbers, filled, strict=True) for edit in own]
        places = np.array([place for *place, _ in flat], np.int64).reshape(-1, 3)
        edits = EditList()
        new = [text for *_, text in flat]
        edits.replace(places[:, 0], places[:, 1], places[:, 2], new, np.arange(len(new)))
        made = edits.edits()
        columns = {
            "replaced": pa.array(np.bincount(made.rows, minlength=len(texts)).astype(np.int32)),
            "words": pa.array([sentence.words for sentence in sentences], pa.int32()),
        }
        return Outcome(made, np.array([self._reason(sentence) for sentence in sentences], object), columns)

    def _choose(self, row_id: int, text: str) -> _Sentence:
        """ceil(share · words) of the words, drawn without replacement, in the order of the text."""
        spans = [match.span() for match in _WORD.finditer(text)]
        if self._parameters.rows and row_id >= self._parameters.rows:
            return _Sentence(row_id, text, len(spans), [], [])
        count = min(math.ceil(self._parameters.share * len(spans)), self._parameters.most or len(spans))
        numbers = np.arange(len(spans))
        draws = uniform(self._position_key, np.full(len(spans), row_id), numbers)
        chosen = sorted(np.argsort(draws, kind="stable")[:count].tolist())
        return _Sentence(row_id, text, len(spans), chosen, [spans[number] for number in chosen])

    def _fill(self, sentences: list[_Sentence]) -> list[list[tuple[int, int, str]]]:
        """(start, end, replacement) of each gap that was filled."""
        inserts = self._parameters.action == "insert"
        masked = [self._masked(sentence, inserts) for sentence in sentences]
        results = []
        for sentence, words in zip(sentences, self._filler.fill(masked), strict=True):
            edits = []
            for (start, end), word in zip(sentence.spans, words, strict=True):
                if word is None:
                    continue
                old = sentence.text[start:end]
                if not inserts:
                    edits.append((start, end, _in_case_of(old, word)))
                else:
                    # A new first word takes the capital; the old one may be a name, and keeps its own.
                    edits.append((start, start, (word if start else _in_case_of(old, word)) + " "))
            results.append(edits)
        return results

    def _masked(self, sentence: _Sentence, inserts: bool) -> Masked:
        token, pieces, gaps, length, before = self._filler.tokenizer.mask_token, [], [], 0, 0
        for start, end in sentence.spans:
            pieces.append(sentence.text[before:start])
            length += len(pieces[-1])
            gaps.append(length)
            pieces.append(token + " " if inserts else token)
            length += len(pieces[-1])
            before = start if inserts else end
        text = "".join([*pieces, sentence.text[before:]])
        refused = [sentence.text[start:end].lower() for start, end in sentence.spans]
        return Masked(sentence.row_id, text, gaps, sentence.chosen, refused)

    def _reason(self, sentence: _Sentence) -> str:
        """Why a sentence without edits is unchanged."""
        if self._parameters.rows and sentence.row_id >= self._parameters.rows:
            return Reason.BEYOND_LIMIT
        if not sentence.text.strip():
            return Reason.NO_TOKEN
        if not sentence.words:
            return Reason.NO_ELIGIBLE_TOKEN
        # The model does not read as far as the gaps, or has no other word.
        return Reason.EMPTY_WINDOW if sentence.chosen else Reason.NO_POSITION_DRAWN


def _in_case_of(old: str, word: str) -> str:
    """The new word in the case of the old one, which is in capitals even if it has a single letter (`5A`)."""
    return in_case(word, CAPITALS if len(old) > 1 and old.isupper() else case_of(old))


MASK_FILL = Augmentation(
    name="mask-fill",
    version=2,
    kind="positive",
    meaning="possibly altered",
    paper="Kobayashi 2018, contextual augmentation; as used by VaSCL, SimCSE and SDA",
    needs=frozenset({"model"}),
    parameters=MaskFillParameters,
    prepare=lambda parameters, resources: _MaskFilling(_pin(parameters), resources),
    columns=COLUMNS,
    resolve=_resolve,
    warnings=lambda parameters, resources: limit_warnings(parameters),
    uses=lambda parameters, resources: _model(parameters).resources,
    pin=_pin,
    libraries=("torch", "transformers", "tokenizers"),
    examples=(
        "augment-cli mask-fill --share 0.1 --allow-download",
        "augment-cli mask-fill --action insert --share 0.05 --name mask-insert",
        "augment-cli mask-fill --share 0.15 --top-k 0 --most 0 --name mask-15",
    ),
)
