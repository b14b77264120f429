"""Continuous batching of transformers against batches by length, for answers of uneven length on a CPU.

    python -m benchmarks.continuous_batching
    python -m benchmarks.continuous_batching --rows 32 --layers 12 --width 768

A causal model with random weights (Llama's shape) answers prompts of 20 to 120 tokens greedily, in fp32,
with one thread. A twentieth of its words end an answer, so that answers have from one token to
`--tokens`. `generate --engine process` puts prompts of like length together and waits for the longest
answer of a batch; `generate_batch` puts the next prompt in the place of an answer that has ended. Prints
answers and tokens a CPU second, and how many of the answers are the ones that the model gives to one
prompt alone.
"""

from __future__ import annotations

import argparse
import logging
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
import transformers

from augment_cli.neural.batches import batches_by_length

VOCABULARY = 8_000
ENDS = list(range(0, VOCABULARY, 20))
BATCH_TOKENS = 1_024  # the default of `generate --batch-tokens` on a CPU


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=64, help="prompts")
    parser.add_argument("--tokens", type=int, default=96, help="most of an answer")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=512)
    options = parser.parse_args()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    logging.disable(logging.INFO)
    model = random_model(options.layers, options.width, options.tokens)
    prompts = random_prompts(options.rows)
    alone = [answers for prompt in prompts for answers in together(model, [prompt])]
    lengths = [len(answer) for answer in alone]
    middle = statistics.median(lengths)
    print(f"{len(prompts)} answers of {min(lengths)} to {max(lengths)} tokens, median {middle:g}")
    print("| way | answers a CPU second | tokens a CPU second | as alone |\n|---|---:|---:|---:|")
    ways: dict[str, Callable[[], list[list[int]]]] = {
        "batches by length": lambda: by_length(model, prompts),
        "generate_batch": lambda: continuous(model, prompts),
        "one at a time": lambda: [answer for prompt in prompts for answer in together(model, [prompt])],
    }
    for way, run in ways.items():
        run()  # once for what is set up the first time
        began = time.process_time()
        answers = run()
        seconds = time.process_time() - began
        same = sum(one == other for one, other in zip(answers, alone, strict=True))
        rates = f"{len(answers) / seconds:.2f} | {sum(map(len, answers)) / seconds:.1f}"
        print(f"| {way} | {rates} | {same} of {len(alone)} |", flush=True)


def random_model(layers: int, width: int, tokens: int) -> Any:
    """A causal model whose greedy answers end at different places."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = transformers.LlamaConfig(
            vocab_size=VOCABULARY,
            hidden_size=width,
            intermediate_size=4 * width,
            num_hidden_layers=layers,
            num_attention_heads=width // 64,
            max_position_embeddings=1_024,
            bos_token_id=1,
            pad_token_id=0,
            eos_token_id=ENDS,
            initializer_range=0.2,  # large: what is written next depends on what was written before
        )
        model = transformers.LlamaForCausalLM(config).eval()
    model.generation_config = transformers.GenerationConfig(
        do_sample=False, max_new_tokens=tokens, eos_token_id=ENDS, pad_token_id=0
    )
    return model


def random_prompts(rows: int) -> list[list[int]]:
    """Token ids of prompts, of different lengths."""
    draw = random.Random(0)
    return [[draw.randrange(VOCABULARY) for _ in range(draw.randint(20, 120))] for _ in range(rows)]


def together(model: Any, prompts: list[list[int]]) -> list[list[int]]:
    """Answers of one batch, each up to the token that ends it."""
    width = max(map(len, prompts))
    ids = torch.zeros((len(prompts), width), dtype=torch.int64)
    mask = torch.zeros_like(ids)
    for row, prompt in enumerate(prompts):
        ids[row, width - len(prompt) :], mask[row, width - len(prompt) :] = torch.tensor(prompt), 1
    with torch.inference_mode():
        output = model.generate(ids, attention_mask=mask)[:, width:].tolist()
    return [ended(answer) for answer in output]


def ended(answer: list[int]) -> list[int]:
    """An answer up to the first token that ends it."""
    end = next((place for place, token in enumerate(answer) if token in ENDS), len(answer) - 1)
    return answer[: end + 1]


def by_length(model: Any, prompts: list[list[int]]) -> list[list[int]]:
    """As `generate --engine process` does it."""
    found: list[list[int]] = [[]] * len(prompts)
    for batch in batches_by_length([len(prompt) for prompt in prompts], BATCH_TOKENS):
        for place, answer in zip(batch, together(model, [prompts[one] for one in batch]), strict=True):
            found[place] = answer
    return found


def continuous(model: Any, prompts: list[list[int]]) -> list[list[int]]:
    """As transformers' continuous batching does it."""
    outputs = model.generate_batch(prompts, generation_config=model.generation_config, progress_bar=False)
    ordered = sorted(outputs.values(), key=lambda one: int(str(one.request_id).rpartition("_")[2]))
    return [ended(list(one.generated_tokens)) for one in ordered]


if __name__ == "__main__":
    main()
