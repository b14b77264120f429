"""A sequence-to-sequence model with its tokenizer: sentences in, sentences out."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from augment_cli.errors import UsageError
from augment_cli.neural.checks import one_line
from augment_cli.neural.loading import ModelFolder, load_tokenizer, load_weights, read_config
from augment_cli.neural.runtime import dtype_of, inference

_TOKENISED_AT_ONCE = 4096
_LONGEST_OUTPUT = 128  # tokens, where neither the model nor the user says
# Settings of a model that look at the whole batch, or at the clock: transformers' own search keeps to them.
_ONLY_THEIRS = ("encoder_no_repeat_ngram_size", "encoder_repetition_penalty", "max_time", "stop_strings")
_NO_LIMIT = 1_000_000  # tokenizers without a limit claim some astronomical one


@dataclass(frozen=True)
class Decoding:
    """How an output is found.

    Attributes
    ----------
    beams : int
        Width of the beam search; 0 for the model's own.
    returned : int
        Outputs a sentence, best first.
    max_length : int
        Most tokens of an output; 0 for the model's own.
    sample : bool
        Draw from the distribution instead of searching.
    temperature, top_k, top_p : float, int, float
        Of the distribution drawn from; 0 tokens mean all.
    """

    beams: int = 0
    returned: int = 1
    max_length: int = 0
    sample: bool = False
    temperature: float = 1.0
    top_k: int = 50
    top_p: float = 1.0


@dataclass(frozen=True)
class Generated:
    """One output: its text in one line, and whether the model ended it itself."""

    text: str
    is_complete: bool


class Seq2Seq:
    """A model such as PEGASUS, T5, BART or Marian. Its weights are loaded at the first call.

    Parameters
    ----------
    folder : ModelFolder
    decoding : Decoding
    prefix : str
        Put before each sentence; `auto` takes the one in the model's configuration.
    precision : {"fp32", "bf16"}
    device : str
        As torch names it.
    threads : int
        CPU threads.

    Raises
    ------
    UsageError
        If the folder holds a model of another kind.
    """

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

    @cached_property
    def tokenizer(self) -> Any:
        """The model's tokenizer."""
        return load_tokenizer(self._folder.path)

    @cached_property
    def longest_input(self) -> int:
        """The most tokens the model reads, special tokens included."""
        limits = [getattr(self._config, key, None) for key in ("max_position_embeddings", "n_positions")]
        limits.append(self.tokenizer.model_max_length)
        return int(min([limit for limit in limits if limit and limit < _NO_LIMIT], default=512))

    @cached_property
    def _model(self) -> Any:
        from augment_cli.neural.attention import share_beams

        dtype = dtype_of(self._precision)
        model = load_weights(self._folder.path, "AutoModelForSeq2SeqLM", dtype, self.device)
        self._shares = share_beams(model)
        return model

    @cached_property
    def _generation_config(self) -> Any:
        wanted = self._decoding
        config = copy.deepcopy(self._model.generation_config)
        config.num_beams = 1 if wanted.sample else wanted.beams or config.num_beams or 1
        config.num_return_sequences = wanted.returned
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
            ids += self.tokenizer(some, verbose=False, return_attention_mask=False)["input_ids"]
        return ids

    def read(self, texts: Sequence[str]) -> tuple[list[list[int]], list[bool]]:
        """Token ids as the model reads them, and which texts were too long and cut."""
        ids = self._tokenise(texts)
        cut = [len(row) > self.longest_input for row in ids]
        for number in np.flatnonzero(cut).tolist():
            text = self.prefix + one_line(texts[number])
            ids[number] = self.tokenizer(text, truncation=True, max_length=self.longest_input)["input_ids"]
        return ids, cut

    def write(self, ids: Sequence[Sequence[int]], key: int, row_ids: Sequence[int]) -> list[list[Generated]]:
        """Outputs for one batch.

        Parameters
        ----------
        ids : sequence of n sequences of int
            From `read`.
        key : int
            Of the draws, where outputs are sampled.
        row_ids : sequence of int
            Of the n texts; they decide the draws.

        Returns
        -------
        list of list of Generated
            For each text its outputs, best first; fewer than asked for where the search found no more.
        """
        import torch

        from augment_cli.neural.beam_search import sharing_beam_search
        from augment_cli.neural.sampling import keyed_sampling

        model, config = self._model, self._generation_config
        width = max(len(row) for row in ids)
        pad = config.pad_token_id if config.pad_token_id is not None else 0
        tokens = torch.tensor([[*row, *[pad] * (width - len(row))] for row in ids], device=self.device)
        lengths = torch.tensor([len(row) for row in ids], device=self.device)
        mask = (torch.arange(width, device=self.device) < lengths.unsqueeze(1)).long()
        if config.do_sample:
            rows = np.asarray(row_ids, np.int64)
            decode: Any = keyed_sampling(key, rows, config.top_k or 0, self._shares)
        elif config.num_beams > 1 and all(
            getattr(config, name, None) in (None, 0, 1) for name in _ONLY_THEIRS
        ):
            decode = sharing_beam_search(self._shares)
        else:  # also for one beam, which is greedy search: it keeps no finished sequences
            decode = None
        with inference(self._threads):
            output = model.generate(
                tokens, attention_mask=mask, generation_config=config, custom_generate=decode
            )
        return self._decode(output.cpu().tolist(), config)

    def _decode(self, rows: list[list[int]], config: Any) -> list[list[Generated]]:
        ends = config.eos_token_id if isinstance(config.eos_token_id, list) else [config.eos_token_id]
        bodies, complete = [], []
        for row in rows:
            body = row[1:]  # after the start token
            end = next((place for place, token in enumerate(body) if token in ends), None)
            bodies.append(body if end is None else body[:end])
            # At its limit a search writes the end itself, so an end there says nothing.
            complete.append(end is not None and end + 2 < config.max_length)
        texts = self.tokenizer.batch_decode(bodies, skip_special_tokens=True)
        outputs = [Generated(one_line(text), ok) for text, ok in zip(texts, complete, strict=True)]
        count = config.num_return_sequences
        return [outputs[start : start + count] for start in range(0, len(outputs), count)]


def prefix_of(config: Any, wanted: str) -> str:
    """The prefix of a text-to-text model: as given, or for `auto` the one its configuration names."""
    if wanted != "auto":
        return wanted
    tasks = getattr(config, "task_specific_params", None) or {}
    for task in ("paraphrase", "paraphrasing"):
        if isinstance(tasks.get(task), dict):
            return str(tasks[task].get("prefix", ""))
    return str(getattr(config, "prefix", None) or "")
