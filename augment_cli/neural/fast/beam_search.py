"""Beam search over a batch of sentences, with the results of transformers' own and less work.

The rules are transformers' (`GenerationMixin._beam_search`, version 5): the same candidates, length
penalty, early stopping and tie to `max_length`. What is saved:

- a sentence whose outcome can no longer change leaves the batch at once;
- the first step runs one row a sentence, since all its beams are still equal;
- keys and values of the encoded sentence are neither copied for each beam nor moved (see `attention`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutput

from augment_cli.neural import fast
from augment_cli.neural.runtime import named_cache

_NEVER = -1.0e9
_READ = ("_eos_token_tensor", "_pad_token_tensor")  # of the settings that `generate` has prepared


def sharing_beam_search(shares: bool) -> Callable[..., Tensor]:
    """A decoding function for `generate(custom_generate=…)`."""

    def decode(
        model: Any,
        input_ids: Tensor,
        logits_processor: Any,
        stopping_criteria: Any,
        generation_config: Any,
        **options: Any,
    ) -> Tensor:
        if not fast.has("beam search", generation_config, *_READ):
            raise fast.MissingInterfaceError
        return _Search(model, input_ids, logits_processor, generation_config, options, shares).run()

    return decode


class _Search:
    """One batch's search. Shapes: B running sentences, k beams, V vocabulary, T tokens at most."""

    def __init__(
        self,
        model: Any,
        input_ids: Tensor,
        processors: Any,
        config: Any,
        options: dict[str, Any],
        shares: bool,
    ) -> None:
        self._model, self._processors, self._shares = model, processors, shares
        self._beams, self._returned = config.num_beams, config.num_return_sequences
        self._length_penalty, self._max_length = config.length_penalty, config.max_length
        self._stops_early, self._never_stops = config.early_stopping is True, config.early_stopping == "never"
        self._eos = config._eos_token_tensor
        self._kept = max(2, 1 + (0 if self._eos is None else len(self._eos))) * self._beams
        pad = config._pad_token_tensor
        fill = int(pad) if pad is not None else -1

        # `generate` has repeated each sentence for each beam; one of each is enough.
        start = input_ids[:: self._beams]
        self._prompt = self._length = start.shape[1]
        count, device = len(start), start.device
        states, mask = options["encoder_outputs"][0], options.get("attention_mask")
        self._states = states[:: self._beams] if shares else states
        self._mask = mask if mask is None or not shares else mask[:: self._beams]
        self._named_cache = named_cache(options)
        (self._cache,) = self._named_cache.values()

        self._rows = torch.arange(count, device=device)  # of the result, for each running sentence
        self._tokens = start.new_full((count, self._beams, self._max_length), fill)
        self._tokens[:, :, : self._prompt] = start.unsqueeze(1)
        self._scores = torch.full((count, self._beams), _NEVER, device=device)
        self._scores[:, 0] = 0.0
        self._done_tokens = self._tokens.clone()
        self._done_scores = torch.full((count, self._beams), _NEVER, device=device)
        self._is_done = torch.zeros((count, self._beams), dtype=torch.bool, device=device)
        self._result = start.new_full((count, self._returned, self._max_length), fill)

    def run(self) -> Tensor:
        """Token ids, (sentences · returned, at most T), start token first; unused rows are all padding."""
        while len(self._rows):
            running = self._step()
            if not bool(running.all()):
                self._leave(running)
        self._result = self._result[:, :, : self._length]
        return self._result.flatten(0, 1)

    def _log_probabilities(self) -> Tensor:
        """Of the next token, float32 (rows, V); one row a sentence at the first step, else one a beam."""
        is_first = self._length == self._prompt
        beams = 1 if is_first and self._shares else self._beams
        prefix = self._tokens[:, :beams, : self._length].flatten(0, 1)
        output = self._model(
            encoder_outputs=BaseModelOutput(last_hidden_state=self._states),
            attention_mask=self._mask,
            decoder_input_ids=prefix if is_first else prefix[:, -1:],
            use_cache=True,
            **self._named_cache,
        )
        logits = output.logits[:, -1].float()
        return self._processors(prefix, torch.log_softmax(logits, dim=-1))

    def _step(self) -> Tensor:
        """One token more for every beam; which sentences go on, bool (B,)."""
        count, beams = len(self._rows), self._beams
        log_probabilities = self._log_probabilities()
        vocabulary = log_probabilities.shape[-1]
        width = log_probabilities.shape[0] // count
        # At the first step beams beyond the first are copies, which their scores keep out.
        totals = log_probabilities.view(count, width, vocabulary) + self._scores[:, :width, None]
        scores, chosen = totals.view(count, -1).topk(min(self._kept, width * vocabulary))
        parents, words = chosen // vocabulary, chosen % vocabulary
        tokens = self._tokens.gather(1, parents.unsqueeze(-1).expand(-1, -1, self._max_length))
        tokens[:, :, self._length] = words
        ends = self._ends(words)

        best = (scores + ends * _NEVER).topk(beams)[1]
        self._tokens = _pick(tokens, best)
        self._finish(scores, tokens, ends)
        self._scores = (scores + ends * _NEVER).gather(1, best)
        self._length += 1

        going_on = self._can_improve() & ~ends.all(dim=1)
        if self._stops_early:
            going_on &= ~self._is_done.all(dim=1)
        self._reorder(parents.gather(1, best), width, going_on)
        return going_on

    def _ends(self, words: Tensor) -> Tensor:
        if self._length + 1 >= self._max_length:
            return torch.ones_like(words, dtype=torch.bool)
        if self._eos is None:
            return torch.zeros_like(words, dtype=torch.bool)
        return torch.isin(words, self._eos)

    def _finish(self, scores: Tensor, tokens: Tensor, ends: Tensor) -> None:
        """Enter sequences that just ended, if they were among the best k, into the k best finished ones."""
        just_done = ends.clone()
        just_done[:, self._beams :] = False
        penalised = scores / ((self._length + 1 - self._prompt) ** self._length_penalty)
        penalised = penalised + ~just_done * _NEVER
        merged = torch.cat((self._done_scores, penalised), dim=1)
        best = merged.topk(self._beams)[1]
        self._done_tokens = _pick(torch.cat((self._done_tokens, tokens), dim=1), best)
        self._done_scores = merged.gather(1, best)
        self._is_done = torch.cat((self._is_done, just_done), dim=1).gather(1, best)

    def _can_improve(self) -> Tensor:
        """Whether a running beam might still beat a finished one, bool (B,)."""
        to_the_end = self._never_stops and self._length_penalty > 0
        length = (self._max_length if to_the_end else self._length) - self._prompt
        possible = self._scores[:, :1] / (length**self._length_penalty)
        worst = torch.where(self._is_done, self._done_scores.min(dim=1, keepdim=True)[0], _NEVER)
        return (possible > worst).any(dim=1)

    def _reorder(self, parents: Tensor, width: int, going_on: Tensor) -> None:
        """Give each running beam the keys and values of its parent; drop those of sentences that left."""
        offsets = torch.arange(len(parents), device=parents.device).unsqueeze(1) * width
        rows = (parents + offsets)[going_on].flatten()
        caches: list[Any] = [self._cache.self_attention_cache]
        if not self._shares:
            caches.append(self._cache.cross_attention_cache)
        for cache in caches:
            cache.reorder_cache(rows)

    def _leave(self, running: Tensor) -> None:
        """Move the outcome of sentences that are through into the result."""
        through = ~running
        self._result[self._rows[through]] = self._done_tokens[through][:, : self._returned]
        for name in ("_rows", "_tokens", "_scores", "_done_tokens", "_done_scores", "_is_done"):
            setattr(self, name, getattr(self, name)[running])
        kept: Any = torch.nonzero(running).flatten()
        if self._shares:
            self._cache.cross_attention_cache.reorder_cache(kept)
            rows = kept
        else:
            beams = torch.arange(self._beams, device=kept.device)
            rows = (kept.unsqueeze(1) * self._beams + beams).flatten()
        self._states = self._states[rows]
        self._mask = None if self._mask is None else self._mask[rows]


def _pick(items: Tensor, index: Tensor) -> Tensor:
    """items (B, n, T), index (B, k): the chosen (B, k, T)."""
    return items.gather(1, index.unsqueeze(-1).expand(-1, -1, items.shape[-1]))
