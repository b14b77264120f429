"""Masked positions filled by a masked language model: what may be put in, and what is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from augment_cli.errors import BadInputError
from augment_cli.models.reasons import tokenizing
from augment_cli.neural.loading import ModelFolder, load_tokenizer, load_weights
from augment_cli.neural.noise import gumbel_noise
from augment_cli.neural.runtime import dtype_of, inference

_WORD_BEGINS = ("Ġ", "▁")  # byte-level and SentencePiece vocabularies mark the space before a word


@dataclass(frozen=True)
class Masked:
    """A sentence with gaps."""

    row_id: int  # decides the draws
    text: str  # with a mask token at each gap
    gaps: list[int]  # where the mask tokens begin, code points of `text`
    counters: list[int]  # of each gap, distinct within the row; they decide the draws
    refused: list[str]  # what may not be put in each gap, lower-cased: the word that stood there


class MaskFiller:
    """A masked language model. Its weights are loaded at the first call."""

    def __init__(
        self,
        folder: ModelFolder,
        key: int,
        top_k: int,
        precision: str,
        device: str,
        threads: int,
        avoided: frozenset[str] = frozenset(),
    ) -> None:
        self._folder, self._key, self._top_k, self._avoided = folder, key, top_k, avoided
        self._precision, self.device, self._threads = precision, device, threads

    @cached_property
    def tokenizer(self) -> Any:
        """The model's tokenizer, which must have a mask."""
        tokenizer = load_tokenizer(self._folder.path)
        if tokenizer.mask_token is None or not tokenizer.is_fast:
            raise BadInputError(
                f"{self._folder.path}: its tokenizer has no mask token, or no positions; name a masked "
                "language model such as bert-base-uncased"
            )
        return tokenizer

    @cached_property
    def longest_input(self) -> int:
        """The most tokens the model reads, special tokens included."""
        config = self._model.config
        positions = config.max_position_embeddings
        if config.model_type in ("roberta", "xlm-roberta", "camembert", "mpnet"):
            positions -= (config.pad_token_id or 0) + 1  # positions count from the padding id
        return int(min(positions, self.tokenizer.model_max_length))

    @cached_property
    def _model(self) -> Any:
        return load_weights(self._folder.path, "AutoModelForMaskedLM", dtype_of(self._precision), self.device)

    @cached_property
    def _words(self) -> tuple[list[str], np.ndarray, dict[str, list[int]]]:
        """Each token as a word, which of them are whole words, and the tokens of each lower-cased word."""
        tokens = self.tokenizer.convert_ids_to_tokens(list(range(len(self.tokenizer))))
        special = set(self.tokenizer.all_special_tokens)
        marks = any(token.startswith(_WORD_BEGINS) for token in tokens)
        words, whole = [], np.zeros(self._model.config.vocab_size, bool)
        by_word: dict[str, list[int]] = {}
        for number, token in enumerate(tokens):
            # Byte-level vocabularies spell each byte as a letter of its own: "García" is "ĠGarcÃŃa" there.
            spelled = self.tokenizer.convert_tokens_to_string([token]) if marks else token
            word = spelled.strip().lstrip("".join(_WORD_BEGINS))
            begins = token.startswith(_WORD_BEGINS) if marks else not token.startswith("##")
            words.append(word)
            if token not in special:
                is_word = word.replace("'", "").replace("-", "").isalpha()
                whole[number] = begins and is_word and word.lower() not in self._avoided
                by_word.setdefault(word.lower(), []).append(number)
        return words, whole, by_word

    def lengths(self, texts: Sequence[str]) -> np.ndarray:
        """Tokens of each text, int64 (n,)."""
        with tokenizing(self._folder.path):
            read = self.tokenizer(list(texts), verbose=False)["input_ids"]
        return np.array([len(ids) for ids in read], np.int64)

    def fill(self, sentences: Sequence[Masked]) -> list[list[str | None]]:
        """What is drawn for each gap of each sentence; None where the model does not read that far."""
        import torch

        tokenizer = self.tokenizer
        with tokenizing(self._folder.path):
            encoded = tokenizer(
                [sentence.text for sentence in sentences],
                truncation=True,
                max_length=self.longest_input,
                return_offsets_mapping=True,
            )
        mask_id, width = tokenizer.mask_token_id, max(len(ids) for ids in encoded["input_ids"])
        rows, columns, owners = [], [], []
        for row, sentence in enumerate(sentences):
            starts = {
                start: column
                for column, (start, end) in enumerate(encoded["offset_mapping"][row])
                if encoded["input_ids"][row][column] == mask_id and end > start
            }
            for gap, place in enumerate(sentence.gaps):
                # RoBERTa's mask takes the space before it along.
                column = starts.get(place, starts.get(place - 1))
                if column is not None:
                    rows.append(row)
                    columns.append(column)
                    owners.append((row, gap))
        filled: list[list[str | None]] = [[None] * len(sentence.gaps) for sentence in sentences]
        if not owners:
            return filled
        pad = tokenizer.pad_token_id or 0
        tokens = torch.tensor([[*ids, *[pad] * (width - len(ids))] for ids in encoded["input_ids"]])
        lengths = torch.tensor([len(ids) for ids in encoded["input_ids"]]).unsqueeze(1)
        mask = (torch.arange(width) < lengths).long()
        logits = self._logits(tokens, mask, torch.tensor(rows), torch.tensor(columns))
        for (row, gap), word in zip(owners, self._draw(logits, owners, sentences), strict=True):
            filled[row][gap] = word
        return filled

    def _logits(self, tokens: Any, mask: Any, rows: Any, columns: Any) -> Any:
        """Of the words at the gaps alone, float32 (gaps, V): nine tenths of the sentence need no output."""
        import torch

        model = self._model
        head = model.get_output_embeddings()
        rows, columns = rows.to(self.device), columns.to(self.device)

        def pick(module: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
            return (inputs[0][rows, columns], *inputs[1:])

        hook = head.register_forward_pre_hook(pick)
        try:
            with inference(self._threads):
                output = model(input_ids=tokens.to(self.device), attention_mask=mask.to(self.device))
        finally:
            hook.remove()
        return torch.log_softmax(output.logits.float(), dim=-1).cpu()

    def _draw(
        self, scores: Any, owners: Sequence[tuple[int, int]], sentences: Sequence[Masked]
    ) -> list[str | None]:
        """A word for each gap, from the top_k allowed ones, by keyed Gumbel noise."""
        words, whole, by_word = self._words
        values = scores.numpy().astype(np.float64)
        vocabulary = values.shape[1]
        values[:, ~whole[:vocabulary]] = -np.inf
        for number, (row, gap) in enumerate(owners):
            values[number, by_word.get(sentences[row].refused[gap], [])] = -np.inf
        kept = min(self._top_k or vocabulary, vocabulary)
        # The most probable first, of equals the first token: the order is part of the result.
        best = np.argsort(-values, axis=1, kind="stable")[:, :kept]
        row_ids = np.array([sentences[row].row_id for row, _ in owners], np.int64)
        counters = np.array([sentences[row].counters[gap] for row, gap in owners], np.int64)
        noise = gumbel_noise(self._key, row_ids[:, None], counters[:, None] * vocabulary + best)
        chosen = (np.take_along_axis(values, best, axis=1) + noise).argmax(axis=1)
        tokens = best[np.arange(len(best)), chosen]
        possible = np.isfinite(values[np.arange(len(best)), tokens])
        return [words[token] if ok else None for token, ok in zip(tokens, possible, strict=True)]
