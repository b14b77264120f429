"""Sampling whose draws belong to the row, not to the batch, for `generate(custom_generate=…)`.

The noise is a pure function of (key, row, sample, position, token), so a sentence's sample does not depend
on what else is in its batch.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import LogitsProcessor, TopPLogitsWarper
from transformers.modeling_outputs import BaseModelOutput

from augment_cli.contract.draws import gumbel_noise
from augment_cli.neural.runtime import named_cache


def keyed_sampling(key: int, row_ids: np.ndarray, kept: int) -> Callable[..., Tensor]:
    """A decoding function for `generate(custom_generate=…)`."""

    def decode(
        model: Any,
        input_ids: Tensor,
        logits_processor: Any,
        stopping_criteria: Any,
        generation_config: Any,
        **options: Any,
    ) -> Tensor:
        samples = generation_config.num_return_sequences
        states, mask = options["encoder_outputs"][0], options.get("attention_mask")
        eos, pad = generation_config._eos_token_tensor, int(generation_config._pad_token_tensor)
        rows = np.repeat(row_ids, samples)
        order = np.tile(np.arange(samples), len(row_ids))
        tokens = input_ids
        is_done = torch.zeros(len(tokens), dtype=torch.bool, device=tokens.device)
        for position in range(tokens.shape[1], generation_config.max_length):
            output = model(
                encoder_outputs=BaseModelOutput(last_hidden_state=states),
                attention_mask=mask,
                decoder_input_ids=tokens if position == input_ids.shape[1] else tokens[:, -1:],
                use_cache=True,
                **named_cache(options),
            )
            scores = logits_processor(tokens, output.logits[:, -1].float())
            vocabulary = scores.shape[-1]
            values, words = torch.log_softmax(scores, dim=-1).topk(min(kept or vocabulary, vocabulary))
            counters = (order * generation_config.max_length + position)[:, None] * vocabulary
            noise = gumbel_noise(key, rows[:, None], counters + words.cpu().numpy())
            best = (values.cpu().double() + torch.from_numpy(noise)).argmax(dim=1, keepdim=True)
            chosen = words.gather(1, best.to(words.device)).squeeze(1)
            chosen = torch.where(is_done, pad, chosen)
            tokens = torch.cat((tokens, chosen.unsqueeze(1)), dim=1)
            is_done |= torch.isin(chosen, eos)
            if bool(is_done.all()):
                break
        return tokens

    return decode


class KeyedNoise(LogitsProcessor):
    """Make the likeliest token of a greedy search a draw of the row, whatever the model's kind"""

    # row_ids: the rows of the batch

    def __init__(self, key: int, row_ids: np.ndarray, first: int, temperature: float, top_p: float) -> None:
        self._key, self._rows, self._first, self._temperature = key, row_ids[:, None], first, temperature
        self._cut = TopPLogitsWarper(top_p) if top_p < 1 else None

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Scores whose largest is the draw."""
        scores = scores.float() / self._temperature
        if self._cut is not None:
            scores = self._cut(input_ids, scores)
        size = scores.shape[-1]
        counters = (input_ids.shape[1] - self._first) * size + np.arange(size)[None]
        noise = gumbel_noise(self._key, self._rows, counters)
        return scores + torch.from_numpy(noise).to(scores)
