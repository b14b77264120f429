"""What a GPU does with the recipe `una` at bert-base's size, in a quarter of an hour, as one JSON file.

    python -m benchmarks.gpu_quarter --out quarter.json [--seconds 840]

Needs no network and no data: the sample corpus, random weights of bert-base's shape, the shipped tokenizer.
First trainings without dropout, whose losses and gradients must be those of the same steps on the CPU in
fp32; then the speed and the memory of a step in each number format, with and without compiling, the large
batches by gradient caching. The file is written after each part, and no part begins when the time is over. On
a machine without a GPU the same runs on the CPU (add --layers 2 --width 64 --batches 16,32 to see it work).
"""

import argparse
import dataclasses
import itertools
import json
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from benchmarks.reproduce.plan import sample_store, steps_of
from train.loading import load_recipe
from train.machine.distributed import Ranks, join
from train.prepare import Run
from train.run import train

ROOT = Path(__file__).resolve().parent.parent
CACHED = 256  # texts that are encoded at a time, from a batch as large as this
ROUND = 5  # steps, of which one has negatives
# Largest relative difference to the CPU's losses and gradients in fp32.
TOLERANCE = {"fp32": 1e-3, "bf16": 5e-2, "fp16": 5e-2}


class Quarter:
    """The runs of one machine, and the file that tells of them."""

    def __init__(self, args: argparse.Namespace, folder: Path) -> None:
        self.args, self.folder, self.ranks, self.began = args, folder, join(), time.perf_counter()
        on_gpu = self.ranks.device.type == "cuda"
        device = torch.cuda.get_device_name(self.ranks.device) if on_gpu else "CPU"
        self.facts: dict[str, Any] = {"device": device, "torch": torch.__version__, "left_out": []}
        self.shape = ["hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"]
        sizes = (args.width, args.layers, max(1, args.width // 64), 4 * args.width)
        self.new = {**dict(zip(self.shape, sizes, strict=True)), "max_position_embeddings": 512}
        self.store = sample_store(folder / "store", "una")
        tokenizer = folder / "tokenizer"
        tokenizer.mkdir()
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copyfile(ROOT / "data/models/encoder" / name, tokenizer / name)
        train(self.run("start", tokenizer, "epochs=0"), self.ranks)
        self.start = folder / "start/last"

    def run(self, name: str, start: Path, *changes: str) -> Run:
        """A run of `una` with its own settings but these."""
        quiet = ("evaluate_every=0", "checkpoint_every=1000000000", "schedule=constant")
        recipe = load_recipe("una", [*quiet, *changes])
        recipe = dataclasses.replace(recipe, new_encoder=self.new)
        return Run(recipe, self.store, str(start), self.folder / name)

    def part(self, kind: str, facts: dict[str, Any], measure: Any) -> None:
        """Do a part unless the time is over, and write what is known so far; what fails says why."""
        if time.perf_counter() - self.began > self.args.seconds:
            self.facts["left_out"].append(facts)
            facts = {}
        else:
            try:
                facts |= measure()
            except (RuntimeError, ValueError) as error:  # no memory, no compiler, no such format
                facts["failed"] = str(error).splitlines()[0]
            print(kind, json.dumps(facts), flush=True)
            self.facts.setdefault(kind, []).append(facts)
        self.args.out.write_text(json.dumps(self.facts, indent=1) + "\n", encoding="utf-8")

    def first_steps(self, name: str, steps: int, precision: str, ranks: Ranks) -> list[list[float]]:
        """Loss and gradient norm of each step of a training without dropout."""
        settings = ("dropout=0.0", "log_every=1", f"steps={steps}", f"precision={precision}")
        # A random encoder's [CLS] hardly depends on the text, so its numbers would agree whatever is wrong.
        run = self.run(name, self.start, "pooling=mean", "positives=una", "labels=kind", *settings)
        return [[event["loss"], event["norm"]] for event in steps_of(run, ranks)]

    def agrees(self, precision: str, reference: list[list[float]]) -> dict[str, Any]:
        """A training, and whether its first losses and gradients are the CPU's."""
        began = time.perf_counter()
        numbers = self.first_steps(f"agrees-{precision}", self.args.steps, precision, self.ranks)
        steps = zip(numbers, reference, strict=False)
        pairs = [pair for step in steps for pair in zip(*step, strict=True)]
        largest = max(abs(own - cpu) / cpu for own, cpu in pairs)
        return {
            "seconds": round(time.perf_counter() - began, 1),
            "largest_difference": largest,
            "agrees": largest <= TOLERANCE[precision],
            "first": numbers[: len(reference)],
            "last": numbers[-1],
        }

    def speed(self, mode: str, precision: str, batch: int) -> dict[str, Any]:
        """Rows a second, a step's milliseconds and the most memory, after a first round of steps."""
        device, cached = self.ranks.device, CACHED if batch >= CACHED else 0
        if device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(device)
        settings = [f"batch={batch}", f"gradient_cache={cached}", f"precision={precision}"]
        settings += [f"compile={str(mode == 'compiled').lower()}", f"steps={3 * ROUND}", f"log_every={ROUND}"]
        name = f"speed-{mode}-{precision}-{batch}"
        rates = [event["rows_per_second"] for event in steps_of(self.run(name, self.start, *settings))]
        shutil.rmtree(self.folder / name)
        found = {"gradient_cache": cached, "rows_per_second": rates[-1], "step_ms": 1000 * batch / rates[-1]}
        if device.type == "cuda":
            found["memory_mb"] = torch.cuda.max_memory_allocated(device) / 1e6
        return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=Path("gpu_quarter.json"))
    parser.add_argument("--seconds", type=float, default=840, help="after which no part begins")
    parser.add_argument("--precisions", default="fp32,bf16,fp16")
    parser.add_argument("--batches", default="64,256,1024")
    parser.add_argument("--modes", default="plain,compiled")
    parser.add_argument("--first", type=int, default=5, help="steps that are compared with the CPU's")
    parser.add_argument("--steps", type=int, default=1200, help="of each training that is compared")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--width", type=int, default=768)
    args = parser.parse_args(arguments)
    precisions = args.precisions.split(",")
    with tempfile.TemporaryDirectory() as name:
        quarter = Quarter(args, Path(name))
        cpu = dataclasses.replace(quarter.ranks, device=torch.device("cpu"))
        quarter.facts["cpu"] = reference = quarter.first_steps("cpu", args.first, "fp32", cpu)
        for precision in precisions:
            quarter.part(
                "agreement",
                {"precision": precision},
                lambda precision=precision: quarter.agrees(precision, reference),
            )
        batches = map(int, args.batches.split(","))
        for mode, precision, batch in itertools.product(args.modes.split(","), precisions, batches):
            quarter.part(
                "speed",
                {"mode": mode, "precision": precision, "batch": batch},
                lambda case=(mode, precision, batch): quarter.speed(*case),
            )


if __name__ == "__main__":
    main()
