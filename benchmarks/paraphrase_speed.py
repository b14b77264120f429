"""Paraphrases a second against the naive loop that people use, interleaved in one run.

    python -m benchmarks.paraphrase_speed --sentences 300 --rounds 3

The naive loop: batches of 4 in corpus order, padded, `model.generate(num_beams=10)` in fp32, all cores as
PyTorch takes them. Beside it the package's own path (beam search, batches by length, decoding) on as many
worker processes as there are cores, in fp32 and in bf16, each process with one thread. Every round runs all
three on the same sentences in turns; printed are sentences/s, the ratio to the naive loop of the same round
(the median of the rounds), and the share of outputs equal to the naive loop's. Loading is in no figure.
`--one-core` compares one process with one thread each by CPU seconds, which other work on the machine
disturbs little.

With a GPU the same is done on it, in one process, and then with a full-size PEGASUS (the published
configuration of `google/pegasus-large`, random weights, outputs of 30 tokens): sentences/s, the most memory
held, and the hours that a million sentences would take.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import time
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers

from augment_cli.models import shipped_paraphraser
from augment_cli.neural.batches import batches_by_length
from augment_cli.neural.checks import one_line
from augment_cli.neural.generation import Decoding, Seq2Seq
from augment_cli.neural.loading import ModelFolder, find_model
from augment_cli.session import SAMPLE
from benchmarks.timing import in_turns, markdown, ratio

BEAMS = 10
NAIVE_BATCH = 4
BATCH_TOKENS = {"cpu": 1024, "cuda": 16384}
FULL_SIZE: dict[str, Any] = {
    "vocab_size": 96103,
    "d_model": 1024,
    "encoder_layers": 16,
    "decoder_layers": 16,
    "encoder_attention_heads": 16,
    "decoder_attention_heads": 16,
    "encoder_ffn_dim": 4096,
    "decoder_ffn_dim": 4096,
    "max_position_embeddings": 1024,
    "scale_embedding": True,
    "activation_function": "relu",
}
FULL_SIZE_INPUT, FULL_SIZE_OUTPUT = 30, 30  # tokens


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="folder; the shipped paraphraser by default")
    parser.add_argument("--corpus", type=Path, default=SAMPLE, help="text, one sentence a line")
    parser.add_argument("--sentences", type=int, default=300, help="taken evenly from the corpus")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one-core", action="store_true", help="one thread each, in CPU seconds")
    options = parser.parse_args()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    lines = options.corpus.read_text("utf-8").splitlines()
    texts = lines[:: max(1, len(lines) // options.sentences)][: options.sentences]
    folder = find_model(options.model or str(shipped_paraphraser()))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    workers = 1 if device == "cuda" else len(os.sched_getaffinity(0))
    if options.one_core:
        device, workers = "cpu", 0
        torch.set_num_threads(1)
    print(f"{len(texts)} sentences, {BEAMS} beams, {device}, {workers or 'no'} worker processes")
    compare(folder, texts, device, workers, options.rounds)
    if device == "cuda":
        full_size()


def compare(folder: ModelFolder, texts: list[str], device: str, workers: int, rounds: int) -> None:
    """The naive loop and ours in turns, and the table. Without workers the CPU's seconds count."""
    clock = time.perf_counter if workers else time.process_time
    ways: dict[str, Any] = {"naive": NaiveLoop(folder, device)} | {
        f"ours {precision}": Workers(folder, precision, device, workers) for precision in ("fp32", "bf16")
    }
    runs = {name: partial(way, texts) for name, way in ways.items()}
    in_turns(runs, 1)  # loads what is not loaded yet
    seconds, outputs = in_turns(runs, rounds, clock)
    table = []
    for name, took in seconds.items():
        equal = sum(a == b for a, b in zip(outputs[name], outputs["naive"], strict=True)) / len(texts)
        speed = len(texts) / statistics.median(took)
        table.append([name, f"{speed:.1f}", f"{ratio(seconds['naive'], took):.2f}", f"{equal:.1%}"])
    print(markdown(["", "sentences/s", "ratio", "equal outputs"], table))


class NaiveLoop:
    """Batches of 4 in corpus order."""

    def __init__(self, folder: ModelFolder, device: str) -> None:
        self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder.path)
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder.path, dtype=torch.float32)
        self._model, self._device = model.to(device).eval(), device

    def __call__(self, texts: list[str]) -> list[str]:
        outputs = []
        for start in range(0, len(texts), NAIVE_BATCH):
            batch = self._tokenizer(
                texts[start : start + NAIVE_BATCH], truncation=True, padding="longest", return_tensors="pt"
            ).to(self._device)
            with torch.no_grad():
                generated = self._model.generate(**batch, num_beams=BEAMS, num_return_sequences=1)
            outputs += self._tokenizer.batch_decode(generated, skip_special_tokens=True)
        return [one_line(output) for output in outputs]


class Workers:
    """Processes with a model and one thread each; with a count of 0 everything happens in this process."""

    def __init__(self, folder: ModelFolder, precision: str, device: str, count: int) -> None:
        self._planner = _load(folder, precision, device)
        self._budget = BATCH_TOKENS[device]
        context = multiprocessing.get_context("spawn")
        self._pool = context.Pool(count, _begin, (folder, precision, device)) if count else None

    def __call__(self, texts: list[str]) -> list[str]:
        rows_of_batches = batches_by_length(self._planner.lengths(texts), self._budget)
        batches = [[texts[row] for row in rows] for rows in rows_of_batches]
        _STATE["model"] = self._planner
        results = map(_paraphrase, batches) if self._pool is None else self._pool.imap(_paraphrase, batches)
        outputs = [""] * len(texts)
        for rows, of_batch in zip(rows_of_batches, results, strict=True):
            for row, output in zip(rows, of_batch, strict=True):
                outputs[row] = output
        return outputs


_STATE: dict[str, Seq2Seq] = {}


def _load(folder: ModelFolder, precision: str, device: str) -> Seq2Seq:
    return Seq2Seq(folder, Decoding(beams=BEAMS), precision=precision, device=device)


def _begin(folder: ModelFolder, precision: str, device: str) -> None:
    torch.set_num_threads(1)
    _STATE["model"] = _load(folder, precision, device)


def _paraphrase(texts: list[str]) -> list[str]:
    model = _STATE["model"]
    ids, _ = model.read(texts)
    return [outputs[0].text for outputs in model.write(ids, 0, range(len(texts)))]


def full_size() -> None:
    """A PEGASUS of the published size with random weights, our beam search, in bf16."""
    from augment_cli.neural.fast.attention import share_beams
    from augment_cli.neural.fast.beam_search import sharing_beam_search

    config = transformers.PegasusConfig(**FULL_SIZE)
    with torch.device("cuda"):
        model: Any = transformers.PegasusForConditionalGeneration(config)
    model = model.to(torch.bfloat16).eval()
    decode = sharing_beam_search(share_beams(model))
    print("\nfull-size PEGASUS, bf16\n| batch | sentences/s | memory, GiB | hours a million |")
    print("|---:|---:|---:|---:|")
    for size in (64, 128, 256, 512):
        ids = torch.randint(10, FULL_SIZE["vocab_size"], (size, FULL_SIZE_INPUT), device="cuda")
        torch.cuda.reset_peak_memory_stats()

        def generate(ids: torch.Tensor = ids) -> None:
            with torch.inference_mode():
                model.generate(
                    ids,
                    attention_mask=torch.ones_like(ids),
                    num_beams=BEAMS,
                    max_length=FULL_SIZE_OUTPUT,
                    min_length=FULL_SIZE_OUTPUT,
                    custom_generate=decode,
                )
            torch.cuda.synchronize()

        try:
            generate()
            seconds = in_turns({"": generate}, 3, time.perf_counter)[0][""]
        except torch.OutOfMemoryError:
            print(f"| {size} | does not fit | | |")
            break
        speed, memory = size / statistics.median(seconds), torch.cuda.max_memory_allocated() / 2**30
        print(f"| {size} | {speed:.0f} | {memory:.1f} | {1e6 / speed / 3600:.1f} |")


if __name__ == "__main__":
    main()
