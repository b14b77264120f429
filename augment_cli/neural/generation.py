"""A sequence-to-sequence model with its tokenizer: sentences in, sentences out."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from augment_cli.errors import UsageError
from augment_cli.models.claims import tokenizing
from augment_cli.neural.checks import one_line
from augment_cli.neural.loading import ModelFolder, load_tokenizer, load_weights, read_config
from augment_cli.neural.runtime import dtype_of, inference, padded

_TOKENISED_AT_ONCE = 4096
_LONGEST_OUTPUT = 128  # tokens, where neither the model nor the user says
_TRIED = 8  # outputs of a search that are looked at in turn, where the user does not say how many
_NO_LIMIT = 1_000_000  # tokenizers without a limit claim some astronomical one


@dataclass(frozen=True)
class Decoding:
    """How an output is found."""

    beams: int = 0  # width of the beam search; 0 for the model's own
    returned: int = 1  # outputs a sentence, best first; 0 for one sample, or for eight of the beams
    max_length: int = 0  # most tokens of an output; 0 for the model's own
    sample: bool = False  # draw from the distribution instead of searching
    temperature: float = 1.0  # of the distribution drawn from; 0 tokens mean all
    top_k: int = 50
    top_p: float = 1.0


@dataclass(frozen=True)
class Generated:
    """One output."""

    text: str  # in one line
    is_complete: bool  # whether the model ended it itself
    tokens: tuple[int, ...] = ()  # as the model wrote them, without start and end


class Seq2Seq:
    """A model such as PEGASUS, T5, BART or Marian. Its weights are loaded at the first call."""

    def __init__(
        self,
        folder: ModelFolder,
        decoding: Decoding,
        prefix: str = "auto",
        precision: str = "fp32",
        device: str = "cpu",
        threads: int = 1,
    ) -> None:
        self._folder, self._decoding = folder, decoding
        self._precision, self.device, self._threads = precision, device, threads
        self._config = read_config(folder.path)
        if not self._config.is_encoder_decoder:
            raise UsageError(
                f"{folder.path}: a {self._config.model_type} model reads and does not write; name a "
                "sequence-to-sequence model such as PEGASUS, T5 or BART"
            )
        self.prefix = prefix_of(self._config, prefix)
        self._known: dict[str, bool] = {}

    @cached_property
    def tokenizer(self) -> Any:
        """The model's tokenizer."""
        return load_tokenizer(self._folder.path)

    def knows(self, character: str) -> bool:
        """Whether a character is the same once the tokenizer has read and written it."""
        if character not in self._known:
            ids = self.tokenizer(character, add_special_tokens=False)["input_ids"]
            written = self.tokenizer.decode(ids, skip_special_tokens=True).strip()
            self._known[character] = written == character.strip()
        return self._known[character]

    @cached_property
    def longest_input(self) -> int:
        """The most tokens the model reads, special tokens included."""
        return longest_of(self._config, self.tokenizer)

    @cached_property
    def _model(self) -> Any:
        dtype = dtype_of(self._precision)
        return load_weights(self._folder.path, "AutoModelForSeq2SeqLM", dtype, self.device)

    @cached_property
    def _generation_config(self) -> Any:
        wanted = self._decoding
        config = copy.deepcopy(self._model.generation_config)
        config.num_beams = 1 if wanted.sample else wanted.beams or config.num_beams or 1
        config.num_return_sequences = wanted.returned or min(_TRIED, config.num_beams)
        if not wanted.sample and wanted.returned > config.num_beams:
            raise UsageError(f"{wanted.returned} candidates need as many beams; there are {config.num_beams}")
        config.do_sample = wanted.sample
        config.temperature = wanted.temperature if wanted.sample else None
        config.top_k = wanted.top_k or None if wanted.sample else None
        config.top_p = wanted.top_p if wanted.sample else None
        config.max_new_tokens = None
        config.max_length = wanted.max_length or config.max_length or _LONGEST_OUTPUT
        positions = getattr(self._config, "max_position_embeddings", None)
        config.max_length = min(config.max_length, positions or config.max_length)
        return config

    def lengths(self, texts: Sequence[str]) -> np.ndarray:
        """Tokens of each text as the model reads it, int64 (n,)."""
        return np.array([min(len(ids), self.longest_input) for ids in self._tokenise(texts)], np.int64)

    def _tokenise(self, texts: Sequence[str]) -> list[list[int]]:
        ids: list[list[int]] = []
        for start in range(0, len(texts), _TOKENISED_AT_ONCE):
            some = [self.prefix + one_line(text) for text in texts[start : start + _TOKENISED_AT_ONCE]]
            # Too long ones are cut here, where it can be told; no warning is needed.
            with tokenizing(self._folder.path):
                ids += self.tokenizer(some, verbose=False, return_attention_mask=False)["input_ids"]
        return ids

    def read(self, texts: Sequence[str], longest: int = 0) -> tuple[list[list[int]], list[bool]]:
        """Token ids as the model reads them, and which texts are too long for it."""
        limit = min(longest or self.longest_input, self.longest_input)
        ids = self._tokenise(texts)
        return ids, [len(row) > limit for row in ids]

    def write(self, ids: Sequence[Sequence[int]], key: int, row_ids: Sequence[int]) -> list[list[Generated]]:
        """Outputs for one batch."""
        from augment_cli.neural.sampling import keyed_sampling

        model, config = self._model, self._generation_config
        tokens, mask = padded(ids, config.pad_token_id or 0, self.device)
        rows = np.asarray(row_ids, np.int64)
        decode = keyed_sampling(key, rows, config.top_k or 0) if config.do_sample else None
        with inference(self._threads):
            output = model.generate(
                tokens, attention_mask=mask, generation_config=config, custom_generate=decode
            )
        return self._decode(output.cpu().tolist(), config)

    def surprises(
        self, ids: Sequence[Sequence[int]], outputs: Sequence[Sequence[Generated]]
    ) -> list[list[float]]:
        """How much less likely the least expected token of each output was than the likeliest in its place"""
        # A search weighs whole outputs, so that one impossible token among many sure ones is no hindrance;
        # this looks at that token.
        import torch

        config = self._generation_config
        pairs = [(row, output) for row, some in enumerate(outputs) for output in some]
        if not pairs:
            return [[] for _ in outputs]
        pad = config.pad_token_id or 0
        sources = [ids[row] for row, _ in pairs]
        targets = [[*output.tokens, *as_list(config.eos_token_id)[:1]] for _, output in pairs]
        with inference(self._threads):
            tokens, mask = padded(sources, pad, self.device)
            labels, known = padded(targets, pad, self.device)
            start = torch.full_like(labels[:, :1], config.decoder_start_token_id)
            logits = self._model(
                input_ids=tokens,
                attention_mask=mask,
                decoder_input_ids=torch.cat((start, labels[:, :-1]), dim=1),
            ).logits.float()
            gaps = logits.max(dim=-1).values - logits.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
            worst = iter(gaps.masked_fill(known == 0, 0.0).max(dim=1).values.cpu().tolist())
        return [[next(worst) for _ in some] for some in outputs]

    def _decode(self, rows: list[list[int]], config: Any) -> list[list[Generated]]:
        ends = as_list(config.eos_token_id)
        bodies, complete = [], []
        for row in rows:
            body = row[1:]  # after the start token
            end = next((place for place, token in enumerate(body) if token in ends), None)
            bodies.append(body if end is None else body[:end])
            # At its limit a search writes the end itself, so an end there says nothing.
            complete.append(end is not None and end + 2 < config.max_length)
        texts = self.tokenizer.batch_decode(bodies, skip_special_tokens=True)
        outputs = [
            Generated(one_line(text), ok, tuple(body))
            for text, ok, body in zip(texts, complete, bodies, strict=True)
        ]
        count = config.num_return_sequences
        return [outputs[start : start + count] for start in range(0, len(outputs), count)]


def as_list(ids: Any) -> list[int]:
    """The ids that a configuration gives for one purpose: none, one, or several."""
    return list(ids) if isinstance(ids, list | tuple) else [] if ids is None else [ids]


def longest_of(config: Any, tokenizer: Any) -> int:
    """The most tokens that a model of this configuration takes, special tokens included."""
    limits = [getattr(config, key, None) for key in ("max_position_embeddings", "n_positions")]
    limits.append(tokenizer.model_max_length)
    return int(min([limit for limit in limits if limit and limit < _NO_LIMIT], default=512))


def prefix_of(config: Any, wanted: str) -> str:
    """The prefix of a text-to-text model: as given, or for `auto` the one its configuration names."""
    if wanted != "auto":
        return wanted
    tasks = getattr(config, "task_specific_params", None) or {}
    for task in ("paraphrase", "paraphrasing"):
        if isinstance(tasks.get(task), dict):
            return str(tasks[task].get("prefix", ""))
    return str(getattr(config, "prefix", None) or "")
