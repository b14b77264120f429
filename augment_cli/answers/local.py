"""A model in this process: causal or sequence-to-sequence, questions of similar length at a time.

An answer is drawn by its row, so that it does not depend on what else is in its batch, but for rounding.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from augment_cli.answers.client import Answer
from augment_cli.contract.generate_parameters import GenerateParameters
from augment_cli.contract.parameters import RuntimeParameters
from augment_cli.errors import UsageError
from augment_cli.models.claims import tokenizing
from augment_cli.neural.generation import as_list, longest_of
from augment_cli.neural.loading import ModelFolder, find_model, load_tokenizer, load_weights, read_config
from augment_cli.neural.runtime import (
    MemoryGuard,
    batches_by_length,
    dtype_of,
    inference,
    padded,
    pin_runtime,
)

Messages = Sequence[Mapping[str, str]]
_WRITES = ("ForCausalLM", "ForConditionalGeneration", "MTModel", "LMHeadModel")
_END_OF_TURN = "\n\n"  # of a model without a chat template, which goes on with another example


def local_model(parameters: GenerateParameters) -> tuple[ModelFolder, str]:
    """The folder of a model, and the precision that it is run in."""
    folder = find_model(parameters.model)
    kinds = read_config(folder.path).architectures or []
    if not any(kind.endswith(_WRITES) for kind in kinds):
        raise UsageError(
            f"--model {parameters.model}: a {', '.join(kinds) or 'model of no stated kind'} does not write; "
            "name a causal or sequence-to-sequence one"
        )
    return folder, _runtime(parameters).precision


def _runtime(parameters: GenerateParameters) -> RuntimeParameters:
    wanted = RuntimeParameters(parameters.precision, parameters.device, parameters.batch_tokens)
    return pin_runtime(wanted)


class LocalModel:
    """A model that answers."""

    def __init__(self, parameters: GenerateParameters, key: int) -> None:
        self._parameters, self._key = parameters, key
        self._runtime, self._guard = _runtime(parameters), MemoryGuard()
        self.is_over = False
        self._folder = find_model(parameters.model).path
        self._config = read_config(self._folder)
        self._has_encoder = bool(self._config.is_encoder_decoder)

    def load(self) -> None:
        """Load the model."""
        _ = self._tokenizer, self._model

    def close(self) -> None:
        """Nothing is held."""

    @cached_property
    def _tokenizer(self) -> Any:
        tokenizer = load_tokenizer(self._folder)
        tokenizer.padding_side = "right" if self._has_encoder else "left"
        return tokenizer

    @cached_property
    def _model(self) -> Any:
        kind = "AutoModelForSeq2SeqLM" if self._has_encoder else "AutoModelForCausalLM"
        return load_weights(self._folder, kind, dtype_of(self._runtime.precision), self._runtime.device)

    def stop(self) -> None:
        """Begin no further batch."""
        self.is_over = True

    def answers(self, asked: Mapping[int, Messages]) -> Iterator[list[tuple[int, Answer]]]:
        """Each row with its answer, batch by batch, the longest questions first."""
        rows = list(asked)
        ids = [self._read(messages) for messages in asked.values()]
        longest, written = longest_of(self._config, self._tokenizer), self._parameters.max_tokens
        room = longest - (0 if self._has_encoder else written)
        fitting = [place for place, one in enumerate(ids) if len(one) <= room]
        for place in sorted(set(range(len(rows))) - set(fitting)):
            beside = "" if self._has_encoder else f", and {written:,} may be written"
            error = f"its context length is {longest:,} tokens; the question has {len(ids[place]):,}{beside}"
            yield [(rows[place], Answer(error=error))]
        for batch in batches_by_length([len(ids[place]) for place in fitting], self._runtime.batch_tokens):
            if self.is_over:
                return
            places = [fitting[one] for one in batch]
            found = self._guard.run(lambda some: self._write(rows, ids, some), places)
            yield list(zip([rows[place] for place in places], found, strict=True))

    def _read(self, messages: Messages) -> list[int]:
        """The ids of a conversation, by the model's own template where it has one."""
        tokenizer = self._tokenizer
        with tokenizing(self._folder):
            if not tokenizer.chat_template:
                text = _as_text(messages)
                return list(tokenizer(text, verbose=False)["input_ids"])
            try:
                text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
            except Exception:  # a template raises of its own accord, as one that knows no system does
                text = tokenizer.apply_chat_template(
                    _without_system(messages), tokenize=False, add_generation_prompt=True
                )
            return list(tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    @cached_property
    def _stops(self) -> dict[str, Any]:
        if self._has_encoder or self._tokenizer.chat_template:
            return {}
        return {"stop_strings": [_END_OF_TURN], "tokenizer": self._tokenizer}

    @cached_property
    def _generation_config(self) -> Any:
        config = copy.deepcopy(self._model.generation_config)
        config.do_sample, config.num_beams, config.num_return_sequences = False, 1, 1
        config.temperature = config.top_p = config.top_k = None
        config.max_new_tokens = None  # the length is set for each batch
        if config.pad_token_id is None:
            ends = config.eos_token_id
            config.pad_token_id = next(
                (one for one in (self._tokenizer.pad_token_id, *as_list(ends)) if one is not None), 0
            )
        return config

    def _write(self, rows: Sequence[int], ids: Sequence[list[int]], places: list[int]) -> list[Answer]:
        import torch

        from augment_cli.neural.sampling import KeyedNoise

        config, parameters = self._generation_config, self._parameters
        asked = [ids[place] for place in places]
        tokens, mask = padded(asked, config.pad_token_id, self._model.device, left=not self._has_encoder)
        first = 1 if self._has_encoder else tokens.shape[1]  # of a decoder, its start token
        config.max_length = first + parameters.max_tokens
        if self._has_encoder and (positions := getattr(self._config, "max_position_embeddings", None)):
            config.max_length = min(config.max_length, positions)
        draws = []
        if parameters.temperature:
            own_rows = np.array([rows[place] for place in places], np.int64)
            draws.append(KeyedNoise(self._key, own_rows, first, parameters.temperature, parameters.top_p))
        with inference(torch.get_num_threads()):
            output = self._model.generate(
                tokens, attention_mask=mask, generation_config=config, logits_processor=draws, **self._stops
            )
        written = output[:, first:].cpu().tolist()
        return [self._answer(body, len(own)) for own, body in zip(asked, written, strict=True)]

    def _answer(self, body: list[int], asked: int) -> Answer:
        config = self._generation_config
        ends = as_list(config.eos_token_id)
        end = next((place for place, token in enumerate(body) if token in ends), None)
        kept = body if end is None else body[:end]
        text = self._tokenizer.decode(kept, skip_special_tokens=True)
        is_complete = end is not None
        if self._stops and (stop := text.find(_END_OF_TURN, len(text) - len(text.lstrip()))) >= 0:
            text, is_complete = text[:stop], True
            # What a batch's others wrote meanwhile is padding here.
            kept = kept[: next((n for n, token in enumerate(kept) if token == config.pad_token_id), None)]
        count = len(kept) + (end is not None)
        return Answer(text, "stop" if is_complete else "length", None, asked, count)


def _as_text(messages: Messages) -> str:
    """A conversation for a model that knows none: a block for each question with its answer."""
    text = ""
    for one in messages:
        text += one["content"] + ("\n" if one["role"] == "user" else _END_OF_TURN)
    return text


def _without_system(messages: Messages) -> list[dict[str, str]]:
    """The same with what the system says in front of the first question."""
    first, second, *others = messages
    if first["role"] != "system":
        return [dict(one) for one in messages]
    joined = {"role": second["role"], "content": f"{first['content']}\n\n{second['content']}"}
    return [joined, *(dict(one) for one in others)]
