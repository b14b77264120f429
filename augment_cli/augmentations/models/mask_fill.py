"""Positives: let a masked language model replace some words, or insert some, that fit the sentence.

Contextual substitution and insertion as nlpaug and VaSCL have them (Kobayashi 2018; Zhang et al. 2022), at
5, 10 or 20 % of the words; and the baseline of SimCSE and SDA that masks 15 % of the words and draws from
the whole distribution: `--share 0.15 --top-k 0 --most 0`. All gaps of a sentence are filled in one pass.
"""

import math
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import (
    Augmentation,
    Resources,
    avoid_parameter,
    avoided_digest,
    avoided_words,
)
from augment_cli.contract.draws import gumbel_noise, uniform
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.errors import BadInputError
from augment_cli.models.claims import tokenizing
from augment_cli.neural.loading import (
    ModelFolder,
    architecture_of,
    find_model,
    load_tokenizer,
    load_weights,
    read_config,
)
from augment_cli.neural.runtime import (
    MemoryGuard,
    RuntimeParameters,
    batches_by_length,
    dtype_of,
    inference,
    limit_warnings,
    pinned,
    runtime_settings,
)
from augment_cli.text.spans import EditList
from augment_cli.text.surface import CAPITALS, case_of, in_case

_WORD_BEGINS = ("Ġ", "▁")  # byte-level and SentencePiece vocabularies mark the space before a word
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
    """A sentence with the words chosen in it: numbers, which decide the draws, and spans in code points."""

    row_id: int
    text: str
    words: int
    chosen: list[int]
    spans: list[tuple[int, int]]


class _MaskFilling:
    """A `PreparedModel`; its weights are loaded at the first call."""

    def __init__(self, parameters: MaskFillParameters, resources: Resources) -> None:
        self._parameters, self._device = parameters, parameters.device
        self._folder = _model(parameters).path
        self._avoided = frozenset(avoided_words(parameters.avoid).to_pylist())
        self._word_key, self._position_key = (
            resources.key(f"mask-fill/{one}") for one in ("word", "position")
        )
        self._guard = MemoryGuard()

    @property
    def splits(self) -> int:
        return self._guard.splits

    def use_device(self, device: str) -> None:
        self._device = device

    @cached_property
    def _tokenizer(self) -> Any:
        """The model's tokenizer, which must have a mask."""
        tokenizer = load_tokenizer(self._folder)
        if tokenizer.mask_token is None or not tokenizer.is_fast:
            raise BadInputError(
                f"{self._folder}: its tokenizer has no mask token, or no positions; name a masked "
                "language model such as bert-base-uncased"
            )
        return tokenizer

    @cached_property
    def _model(self) -> Any:
        dtype = dtype_of(self._parameters.precision)
        return load_weights(self._folder, "AutoModelForMaskedLM", dtype, self._device)

    @cached_property
    def _longest_input(self) -> int:
        """The most tokens the model reads, special tokens included."""
        config = self._model.config
        positions = config.max_position_embeddings
        if config.model_type in ("roberta", "xlm-roberta", "camembert", "mpnet"):
            positions -= (config.pad_token_id or 0) + 1  # positions count from the padding id
        return int(min(positions, self._tokenizer.model_max_length))

    @cached_property
    def _words(self) -> tuple[list[str], np.ndarray, dict[str, list[int]]]:
        """Each token as a word, which of them are whole words, and the tokens of each lower-cased word."""
        tokens = self._tokenizer.convert_ids_to_tokens(list(range(len(self._tokenizer))))
        special = set(self._tokenizer.all_special_tokens)
        marks = any(token.startswith(_WORD_BEGINS) for token in tokens)
        words, whole = [], np.zeros(self._model.config.vocab_size, bool)
        by_word: dict[str, list[int]] = {}
        for number, token in enumerate(tokens):
            # Byte-level vocabularies spell each byte as a letter of its own: "García" is "ĠGarcÃŃa" there.
            spelled = self._tokenizer.convert_tokens_to_string([token]) if marks else token
            word = spelled.strip().lstrip("".join(_WORD_BEGINS))
            begins = token.startswith(_WORD_BEGINS) if marks else not token.startswith("##")
            words.append(word)
            if token not in special:
                is_word = word.replace("'", "").replace("-", "").isalpha()
                whole[number] = begins and is_word and word.lower() not in self._avoided
                by_word.setdefault(word.lower(), []).append(number)
        return words, whole, by_word

    def batches_of(self, texts: pa.StringArray) -> list[np.ndarray]:
        with tokenizing(self._folder):
            read = self._tokenizer(texts.to_pylist(), verbose=False)["input_ids"]
        lengths = np.array([len(ids) for ids in read], np.int64)
        return batches_by_length(np.maximum(lengths, 1), self._parameters.batch_tokens)

    def __call__(self, rows: Rows) -> Outcome:
        texts = rows.texts.to_pylist()
        sentences = [
            self._choose(int(row_id), text) for row_id, text in zip(rows.row_ids, texts, strict=True)
        ]
        numbers = [number for number, sentence in enumerate(sentences) if sentence.chosen]
        filled = self._guard.run(self._edits, [sentences[number] for number in numbers]) if numbers else []
        flat = [(number, *edit) for number, own in zip(numbers, filled, strict=True) for edit in own]
        edited, starts, ends = np.array([place for *place, _ in flat], np.int64).reshape(-1, 3).T
        edits = EditList()
        edits.replace(edited, starts, ends, [text for *_, text in flat], np.arange(len(flat)))
        made = edits.edits()
        columns = {
            "replaced": pa.array(np.bincount(made.rows, minlength=len(texts)).astype(np.int32)),
            "words": pa.array([sentence.words for sentence in sentences], pa.int32()),
        }
        return Outcome(made, np.array([self._reason(sentence) for sentence in sentences], object), columns)

    def _choose(self, row_id: int, text: str) -> _Sentence:
        """ceil(share · words) of the words, drawn without replacement, in the order of the text."""
        spans = [match.span() for match in _WORD.finditer(text)]
        count = min(math.ceil(self._parameters.share * len(spans)), self._parameters.most or len(spans))
        draws = uniform(self._position_key, np.full(len(spans), row_id), np.arange(len(spans)))
        chosen = sorted(np.argsort(draws, kind="stable")[: 0 if self._is_beyond(row_id) else count].tolist())
        return _Sentence(row_id, text, len(spans), chosen, [spans[number] for number in chosen])

    def _is_beyond(self, row_id: int) -> bool:
        return 0 < self._parameters.rows <= row_id

    def _reason(self, sentence: _Sentence) -> str:
        """Why a sentence without edits is unchanged."""
        if self._is_beyond(sentence.row_id):
            return Reason.BEYOND_LIMIT
        if not sentence.text.strip():
            return Reason.NO_TOKEN
        if not sentence.words:
            return Reason.NO_ELIGIBLE_TOKEN
        # The model does not read as far as the gaps, or has no other word.
        return Reason.EMPTY_WINDOW if sentence.chosen else Reason.NO_POSITION_DRAWN

    def _edits(self, sentences: list[_Sentence]) -> list[list[tuple[int, int, str]]]:
        """(start, end, replacement) of each gap that was filled."""
        results = []
        for sentence, words in zip(sentences, self._fill(sentences), strict=True):
            edits = []
            for (start, end), word in zip(sentence.spans, words, strict=True):
                if word is not None:
                    old = sentence.text[start:end]  # in capitals even if it has a single letter: `5A`
                    new = in_case(word, CAPITALS if len(old) > 1 and old.isupper() else case_of(old))
                    # A new first word takes the capital; the old one may be a name, and keeps its own.
                    inserted = (start, start, (word if start else new) + " ")
                    edits.append(inserted if self._inserts else (start, end, new))
            results.append(edits)
        return results

    @property
    def _inserts(self) -> bool:
        return self._parameters.action == "insert"

    def _masked(self, sentence: _Sentence) -> tuple[str, list[int]]:
        """A sentence with a mask token at each gap, and where these begin."""
        text, gaps, before = "", [], 0
        for start, end in sentence.spans:
            text += sentence.text[before:start]
            gaps.append(len(text))
            text += self._tokenizer.mask_token + " " * self._inserts
            before = start if self._inserts else end
        return text + sentence.text[before:], gaps

    def _fill(self, sentences: list[_Sentence]) -> list[list[str | None]]:
        """What is drawn for each gap of each sentence; None where the model does not read that far."""
        import torch

        masked = [self._masked(sentence) for sentence in sentences]
        with tokenizing(self._folder):
            encoded = self._tokenizer(
                [text for text, _ in masked],
                truncation=True,
                max_length=self._longest_input,
                return_offsets_mapping=True,
            )
        read, mask_id = encoded["input_ids"], self._tokenizer.mask_token_id
        columns, owners = [], []
        for row, (_, gaps) in enumerate(masked):
            spans = enumerate(encoded["offset_mapping"][row])
            starts = {start: at for at, (start, end) in spans if read[row][at] == mask_id and end > start}
            for gap, place in enumerate(gaps):
                # RoBERTa's mask takes the space before it along.
                column = starts.get(place, starts.get(place - 1))
                if column is not None:
                    columns.append(column)
                    owners.append((row, gap))
        filled: list[list[str | None]] = [[None] * len(gaps) for _, gaps in masked]
        if not owners:
            return filled
        pad, width = self._tokenizer.pad_token_id or 0, max(map(len, read))
        tokens = torch.tensor([[*ids, *[pad] * (width - len(ids))] for ids in read])
        mask = (torch.arange(width) < torch.tensor([len(ids) for ids in read]).unsqueeze(1)).long()
        rows = torch.tensor([row for row, _ in owners])
        logits = self._logits(tokens, mask, rows, torch.tensor(columns))
        for (row, gap), word in zip(owners, self._draw(logits, owners, sentences), strict=True):
            filled[row][gap] = word
        return filled

    def _logits(self, tokens: Any, mask: Any, rows: Any, columns: Any) -> Any:
        """Of the words at the gaps alone, float32 (gaps, V): nine tenths of the sentence need no output."""
        import torch

        rows, columns = rows.to(self._device), columns.to(self._device)

        def pick(module: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
            return (inputs[0][rows, columns], *inputs[1:])

        hook = self._model.get_output_embeddings().register_forward_pre_hook(pick)
        try:
            with inference(self._parameters.threads):
                output = self._model(input_ids=tokens.to(self._device), attention_mask=mask.to(self._device))
        finally:
            hook.remove()
        return torch.log_softmax(output.logits.float(), dim=-1).cpu()

    def _draw(
        self, scores: Any, owners: list[tuple[int, int]], sentences: list[_Sentence]
    ) -> list[str | None]:
        """A word for each gap, from the top_k allowed ones and not what stood there, by Gumbel noise."""
        words, whole, by_word = self._words
        values = scores.numpy().astype(np.float64)
        vocabulary = values.shape[1]
        values[:, ~whole[:vocabulary]] = -np.inf
        for number, (row, gap) in enumerate(owners):
            old = sentences[row].text[slice(*sentences[row].spans[gap])].lower()
            values[number, by_word.get(old, [])] = -np.inf
        kept = min(self._parameters.top_k or vocabulary, vocabulary)
        # The most probable first, of equals the first token: the order is part of the result.
        best = np.argsort(-values, axis=1, kind="stable")[:, :kept]
        row_ids = np.array([sentences[row].row_id for row, _ in owners], np.int64)
        counters = np.array([sentences[row].chosen[gap] for row, gap in owners], np.int64)
        noise = gumbel_noise(self._word_key, row_ids[:, None], counters[:, None] * vocabulary + best)
        chosen = (np.take_along_axis(values, best, axis=1) + noise).argmax(axis=1)
        tokens = best[np.arange(len(best)), chosen]
        possible = np.isfinite(values[np.arange(len(best)), tokens])
        return [words[token] if ok else None for token, ok in zip(tokens, possible, strict=True)]


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
