"""Training speed on a GPU: bert-base's shape, sentences a second, share of the matrix rate, what limits it.

    python -m benchmarks.train_gpu [--batch 64,512] [--steps 60]

SimCSE on the sample corpus (or --store) from a new encoder of bert-base's shape with the shipped encoder's
vocabulary, bf16 autocast, 32 tokens. The clock starts after the first third of the steps. The matrix rate is
that of the best of some products of two large square bf16 matrices, measured in the same process. A second,
profiled run says how long the GPU had something to do, and with what. On a machine without a GPU the same
runs on the CPU (add --layers 2 --width 64 to see it work).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

from augment_cli.ingest import ingest
from augment_cli.session import SAMPLE
from augment_cli.store.store import Store
from train.loading import make_recipe
from train.machine.distributed import join
from train.outputs.log import read_log
from train.prepare import Run
from train.recipe import Recipe
from train.run import train

ROOT = Path(__file__).resolve().parent.parent
LENGTH = 32


def synchronize(device: torch.device) -> None:
    """Wait for the GPU."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def matrix_rate(device: torch.device, sizes: tuple[int, ...] = (4096, 8192)) -> float:
    """Floating-point operations a second of bf16 matrix products."""
    rates = []
    for size in sizes if device.type == "cuda" else (1024,):
        one, other = (torch.randn(size, size, device=device, dtype=torch.bfloat16) for _ in range(2))
        for _ in range(6):  # the first ones warm up, and the best counts
            synchronize(device)
            began = time.perf_counter()
            for _ in range(10):
                one @ other
            synchronize(device)
            rates.append(10 * 2 * size**3 / (time.perf_counter() - began))
    return max(rates)


def operations(recipe: Recipe, tokens: float, length: float) -> float:
    """Floating-point operations of a step's matrix products: forward, and twice as many backward."""
    shape = recipe.new_encoder
    width, inner = shape["hidden_size"], shape["intermediate_size"]
    a_token = shape["num_hidden_layers"] * (2 * (4 * width**2 + 2 * width * inner) + 4 * length * width)
    return 3 * a_token * tokens


def mean_length(store: Path, tokenizer: Callable[..., dict[str, list[list[int]]]]) -> float:
    """Tokens of a text as the trainer cuts it."""
    texts = Store.open(store).read("corpus")["text"].to_pylist()[:5000]
    ids = tokenizer(texts, truncation=True, max_length=LENGTH)["input_ids"]
    return sum(map(len, ids)) / len(ids)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--batch", default="64,512", help="batch sizes, comma-separated")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--store", type=Path, help="instead of the sample corpus")
    args = parser.parse_args()
    from transformers import AutoTokenizer

    shipped = ROOT / "data/models/encoder"
    tokenizer = AutoTokenizer.from_pretrained(shipped, local_files_only=True)
    ranks = join()
    rate = matrix_rate(ranks.device)
    what = torch.cuda.get_device_name(ranks.device) if ranks.device.type == "cuda" else "CPU"
    print(f"{what}: {rate / 1e12:.1f} TFLOP/s in bf16 matrix products")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = folder / "tokenizer"
        start.mkdir()
        for file in ("tokenizer.json", "tokenizer_config.json"):
            (start / file).write_bytes((shipped / file).read_bytes())
        store = args.store or folder / "store"
        if args.store is None:
            sample = Store.create(store)
            with sample.lock():
                ingest(sample, [SAMPLE])
        length = mean_length(store, tokenizer)
        for batch in map(int, args.batch.split(",")):
            third = max(1, args.steps // 3)
            recipe = make_recipe(
                {
                    "batch": batch,
                    "steps": 3 * third,
                    "log_every": third,
                    "max_length": LENGTH,
                    "precision": "bf16",
                    "evaluate_every": 0,
                    "pooling": "cls",
                    "checkpoint_every": 10**6,
                    "new_encoder": {
                        "hidden_size": args.width,
                        "num_hidden_layers": args.layers,
                        "num_attention_heads": max(1, args.width // 64),
                        "intermediate_size": 4 * args.width,
                        "max_position_embeddings": 512,
                    },
                }
            )
            run = Run(recipe, store, str(start), folder / f"run-{batch}")
            train(run, ranks)
            events = [event for event in read_log(run.out / "log.jsonl") if event["event"] == "step"][1:]
            seconds = [third * batch / event["rows_per_second"] for event in events]
            waited = sum(e["waited"] * s for e, s in zip(events, seconds, strict=True)) / sum(seconds)
            speed = third * len(events) * batch / sum(seconds)
            done = operations(recipe, 2 * batch * length, length) * speed / batch
            print(
                f"batch {batch}: {speed:,.0f} sentences/s (each encoded twice, {length:.1f} tokens), "
                f"{done / 1e12:.2f} TFLOP/s, {done / rate:.1%} of the matrix rate, {waited:.1%} of the time "
                "waiting for data"
            )
            print(limits(replace(run, out=folder / f"profiled-{batch}"), ranks.device))


def limits(run: Run, device: torch.device) -> str:
    """The longest operations of a profiled run, and the GPU's busy share."""
    on_gpu = device.type == "cuda"
    activities = [ProfilerActivity.CUDA] if on_gpu else [ProfilerActivity.CPU]
    began = time.perf_counter()
    with profile(activities=activities) as profiler:
        train(run, join())
        synchronize(device)
    wall = time.perf_counter() - began
    key = "self_device_time_total" if on_gpu else "self_cpu_time_total"
    operations_by_time = sorted(profiler.key_averages(), key=lambda event: -getattr(event, key))
    total = sum(getattr(event, key) for event in operations_by_time)
    name = "GPU" if on_gpu else "CPU"
    lines = [f"  {name} busy {total / 1e6 / wall:.0%} of a profiled run, its start included; most with"]
    lines += [f"  {getattr(event, key) / total:6.1%}  {event.key[:70]}" for event in operations_by_time[:8]]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
