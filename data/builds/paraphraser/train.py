"""Train the shipped paraphraser: denoising on plain sentences, then pairs.

    python -m data.builds.paraphraser.train pretrain  --work FOLDER
    python -m data.builds.paraphraser.train fine-tune --work FOLDER

One thread; the model works in bf16, the optimiser on fp32 copies of its weights. A checkpoint holds weights,
optimiser and step, and batches are a pure function of (seed, step), so the same command goes on where a
stopped run ended, with the same result.
"""

from __future__ import annotations

import argparse
import json
import signal
import time
import tomllib
from collections.abc import Callable, Iterator
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional
from transformers import PegasusForConditionalGeneration

from data.builds.paraphraser import start, tokens
from data.builds.paraphraser.tokens import Rows

PAD, END, MASK = 0, 1, 3
SETTINGS = Path(__file__).with_name("paraphraser.toml")
Pair = tuple[np.ndarray, np.ndarray]


class Batch(NamedTuple):
    """One step's input: sources, targets fed to the decoder, and labels (-100 where there is none)."""

    source: torch.Tensor
    fed: torch.Tensor
    labels: torch.Tensor


def hide(row: np.ndarray, share: float, span: float, random: np.random.Generator) -> np.ndarray:
    """Replace spans of a row's tokens by one mask each; the end of sentence stays."""
    # row: ndarray of uint16; Token ids, the last of them the end of sentence.
    body = row[:-1]
    hidden = np.zeros(len(body), dtype=bool)
    for first in np.flatnonzero(random.random(len(body)) < share / span):
        hidden[first : first + random.geometric(1 / span)] = True
    masked = np.where(hidden, MASK, body)
    repeated = hidden & np.concatenate([[False], hidden[:-1]])
    return np.append(masked[~repeated], row[-1]).astype(np.uint16)


def plan(lengths: np.ndarray, budget: int, seed: int) -> Iterator[np.ndarray]:
    """Endless batches of row numbers; an epoch is a shuffle, cut into runs of like length within `budget`."""
    # Rows of about the same length meet, so little is padded; which rows those are, and the order of the
    # batches, changes from epoch to epoch.
    epoch = 0
    while True:
        random = np.random.default_rng([seed, epoch])
        order = random.permutation(len(lengths))
        batches = []
        for window in np.array_split(order, max(1, len(order) // 20_000)):
            window = window[np.argsort(lengths[window], kind="stable")]
            first = 0
            while first < len(window):
                last = first + 1
                while last < len(window) and (last + 1 - first) * lengths[window[last]] <= budget:
                    last += 1
                batches.append(window[first:last])
                first = last
        yield from (batches[index] for index in random.permutation(len(batches)))
        epoch += 1


def collate(pairs: list[Pair]) -> Batch:
    """Pad sources and targets; the decoder is fed the targets one place to the right."""
    source = np.full((len(pairs), max(len(s) for s, _ in pairs)), PAD, dtype=np.int64)
    labels = np.full((len(pairs), max(len(t) for _, t in pairs)), -100, dtype=np.int64)
    for index, (text, target) in enumerate(pairs):
        source[index, : len(text)] = text
        labels[index, : len(target)] = target
    fed = np.full_like(labels, PAD)
    fed[:, 1:] = np.where(labels[:, :-1] == -100, PAD, labels[:, :-1])
    return Batch(*(torch.from_numpy(array) for array in (source, fed, labels)))


def rate(step: int, phase: dict[str, Any]) -> float:
    """Learning rate of a step (from 0): linear warm-up, level, linear decay over the last `decay_steps`."""
    warm = min(1.0, (step + 1) / max(1, phase["warmup_steps"]))
    left = min(1.0, (phase["steps"] - step) / max(1, phase["decay_steps"]))
    return float(phase["learning_rate"] * warm * left)


class CrossEntropy(torch.autograd.Function):
    """Mean cross-entropy of bf16 scores; on a CPU several times faster than torch's own with its gradient."""

    @staticmethod
    def forward(context: Any, scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Scores (rows, vocabulary) and labels (rows,) to a scalar; the gradient is worked out at once."""
        chances = scores.to(torch.float32, copy=True)
        chances.sub_(chances.amax(1, keepdim=True)).exp_()
        chances.div_(chances.sum(1, keepdim=True))
        right = chances.gather(1, labels[:, None])
        chances.scatter_add_(1, labels[:, None], torch.full_like(right, -1.0))
        context.save_for_backward(chances.to(scores.dtype))
        return -right.clamp_min(1e-30).log().mean()

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        """Softmax minus one-hot."""
        (difference,) = context.saved_tensors
        return difference * (gradient / len(difference)), None


def loss_of(model: PegasusForConditionalGeneration, batch: Batch) -> torch.Tensor:
    """Mean cross-entropy in nats a target token; only real positions reach the vocabulary."""
    hidden = model.model(
        input_ids=batch.source, attention_mask=(batch.source != PAD).long(), decoder_input_ids=batch.fed
    ).last_hidden_state
    real = batch.labels != -100
    logits = functional.linear(hidden[real], model.lm_head.weight)
    return CrossEntropy.apply(logits, batch.labels[real])


def train(
    model: PegasusForConditionalGeneration,
    lengths: np.ndarray,
    pairs_of: Callable[[np.ndarray, int], list[Pair]],
    phase: dict[str, Any],
    folder: Path,
) -> None:
    """Train to `phase["steps"]`, from the folder's checkpoint if there is one; leave weights in the folder"""
    # lengths: ndarray; Tokens of each row, for the batch plan.
    folder.mkdir(parents=True, exist_ok=True)
    # In bf16 with masks, the fused attention kernel's gradient is many times slower on a CPU than products.
    model.set_attn_implementation("eager")
    # Sinusoids stay as they are; a model that was loaded has forgotten that.
    for side in (model.model.encoder, model.model.decoder):
        side.embed_positions.requires_grad_(False)
    named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    masters = [p.detach().float().clone() for _, p in named]
    model.bfloat16().train()
    parameters: list[torch.Tensor] = [p for _, p in named]
    # Vectors and embeddings are not decayed, as usual.
    decayed = [p.dim() > 1 and "shared" not in name for name, p in named]
    optimiser = torch.optim.AdamW(
        [
            {"params": list(compress(masters, decayed)), "weight_decay": phase["weight_decay"]},
            {"params": list(compress(masters, [not yes for yes in decayed])), "weight_decay": 0.0},
        ],
        lr=phase["learning_rate"],
        betas=tuple(phase["betas"]),
        fused=True,
    )
    done, seen = 0, 0
    if (folder / "checkpoint.pt").exists():
        state = torch.load(folder / "checkpoint.pt", weights_only=True)
        torch._foreach_copy_(masters, state["weights"])
        optimiser.load_state_dict(state["optimiser"])
        done, seen = state["step"], state["seen"]

    def update() -> None:
        with torch.no_grad():
            torch._foreach_copy_(parameters, masters)

    def checkpoint(step: int) -> None:
        state = {"weights": masters, "optimiser": optimiser.state_dict(), "step": step, "seen": seen}
        torch.save(state, folder / "checkpoint.tmp")
        (folder / "checkpoint.tmp").replace(folder / "checkpoint.pt")
        model.save_pretrained(folder / "model")

    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    update()
    began, losses, counted = time.monotonic(), [], 0
    for step, rows in enumerate(plan(lengths, phase["tokens"], phase["seed"])):
        if step < done:
            continue
        if step >= phase["steps"] or stopped:
            checkpoint(step)
            break
        for group in optimiser.param_groups:
            group["lr"] = rate(step, phase)
        batch = collate(pairs_of(rows, step))
        loss = loss_of(model, batch)
        loss.backward()
        for parameter, master in zip(parameters, masters, strict=True):
            assert parameter.grad is not None
            master.grad, parameter.grad = parameter.grad.float(), None
        torch.nn.utils.clip_grad_norm_(masters, 1.0)
        optimiser.step()
        update()
        losses.append(float(loss.detach()))
        seen += len(rows)
        counted += len(rows)
        if (step + 1) % phase["log_every"] == 0:
            speed = counted / (time.monotonic() - began)
            line = {
                "step": step + 1,
                "loss": round(float(np.mean(losses)), 4),
                "pairs": seen,
                "pairs_a_second": round(speed),
            }
            with (folder / "log.jsonl").open("a", encoding="utf-8") as log:
                log.write(json.dumps(line) + "\n")
            print(line, flush=True)
            began, losses, counted = time.monotonic(), [], 0
        if (step + 1) % phase["checkpoint_every"] == 0:
            checkpoint(step + 1)


def main() -> None:
    """Read the command line and run a phase."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("phase", choices=["pretrain", "fine-tune"])
    parser.add_argument(
        "--work", type=Path, required=True, help="work folder with vocabulary, corpus and pairs"
    )
    parser.add_argument("--settings", type=Path, default=SETTINGS, help="TOML file")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    settings = tomllib.loads(args.settings.read_text(encoding="utf-8"))
    phase = settings[args.phase]
    if args.phase == "pretrain":
        rows = tokens.load(args.work / "corpus.npz")["text"]
        rows = shorter(rows, phase["max_length"])
        model = start.build(settings["model"], settings["vocabulary"]["size"], rows, phase["seed"])

        def pairs_of(numbers: np.ndarray, step: int) -> list[Pair]:
            random = np.random.default_rng([phase["seed"], 1, step])
            return [
                (hide(row, phase["hidden"], phase["span"], random), row) for row in map(rows.row, numbers)
            ]

        train(model, rows.lengths, pairs_of, phase, args.work / "pretrained")
        return
    pairs = tokens.load(args.work / "pairs.npz")
    model = PegasusForConditionalGeneration.from_pretrained(
        args.work / "pretrained" / "model", dtype=torch.float32
    )
    lengths = np.maximum(pairs["source"].lengths, pairs["target"].lengths)

    def pair_of(numbers: np.ndarray, step: int) -> list[Pair]:
        return [(pairs["source"].row(number), pairs["target"].row(number)) for number in numbers]

    train(model, lengths, pair_of, phase, args.work / "fine-tuned")


def shorter(rows: Rows, limit: int) -> Rows:
    """Rows of at most `limit` tokens."""
    keep = rows.lengths <= limit
    ids = rows.ids[np.repeat(keep, rows.lengths)]
    return Rows(ids, np.concatenate([[0], np.cumsum(rows.lengths[keep])]).astype(np.int64))


if __name__ == "__main__":
    main()
