"""An encoder that begins at its word table's score: does training take it further?

::

    python -m benchmarks.search.gate --data DATA --store STORE [--encoder FOLDER] [--counts STORE]

A sentence's vector is the mean of its tokens' rows in the encoder's word table (Zipfian whitening, idf
weights), plus a gate, one number a dimension that starts at 0, times the mean of the last layer's token
vectors (same weights; its mean over the corpus taken away, brought to the table's scale). Table, gate and
layers are trained as the recipe `best` trains its encoder: UDA's text as the positive, UNA's a hard negative
of every row. The store holds what `augment-cli run best` makes. Printed is Spearman × 100 on STS-B dev of the
table, of the untrained sum with a gate of 0.3, and along the way.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.token_weights import TokenCounts, count_store
from augment_cli.encoding.word_table import word_table
from augment_cli.store.store import Store
from eval.protocols.sts import stsb

MAX_LENGTH = 32  # of the recipe, in training
AT_ONCE = 128  # sentences encoded at a time where nothing is trained
TEMPERATURE = 0.05

Ids = list[list[int]]


class GatedSum(nn.Module):
    """Word table and gated mean of the last layer, shape (n, d)."""

    weights: Tensor
    shift: Tensor
    scale: Tensor

    def __init__(self, encoder: Encoder, counts: TokenCounts) -> None:
        super().__init__()
        self.layers = encoder.model
        width = int(self.layers.config.hidden_size)
        # Whitening leaves out directions without variance.
        table = word_table(encoder, "zipf:table", counts).model.embedding.weight.detach()
        self.table = nn.Embedding.from_pretrained(F.pad(table, (0, width - table.shape[1])), freeze=False)
        self.gate = nn.Parameter(torch.zeros(width))
        self.register_buffer("weights", torch.tensor(counts.weights("idf"), dtype=torch.float32))
        self.register_buffer("shift", torch.zeros(width))
        self.register_buffer("scale", torch.ones(width))

    def parts(self, ids: Ids) -> tuple[Tensor, Tensor]:
        """The table's mean and the last layer's, each (n, d)."""
        tokens = nn.utils.rnn.pad_sequence([torch.tensor(row) for row in ids], batch_first=True)
        mask = torch.arange(tokens.shape[1]) < torch.tensor([len(row) for row in ids])[:, None]
        weights = self.weights[tokens] * mask
        weights = (weights / weights.sum(1, keepdim=True).clamp(min=1e-6)).unsqueeze(-1)
        states = self.layers(input_ids=tokens, attention_mask=mask.long()).last_hidden_state
        return (self.table(tokens) * weights).sum(1), (states * weights).sum(1)

    @torch.no_grad()
    def settle(self, ids: Ids) -> None:
        """Measure where the last layer's means lie, and how wide, beside the table's."""
        pieces = [self.parts(ids[start : start + AT_ONCE]) for start in range(0, len(ids), AT_ONCE)]
        table, states = (torch.cat(each) for each in zip(*pieces, strict=True))
        self.shift, self.scale = states.mean(0), table.std() / states.std(0)

    def forward(self, ids: Ids, gate: float | None = None) -> Tensor:
        """Vectors, with the trained gate or another."""
        table, states = self.parts(ids)
        return table + (self.gate if gate is None else gate) * (states - self.shift) * self.scale


def dev(
    model: GatedSum, tokenize: Callable[[Sequence[str], int], Ids], data: Path, gate: float | None
) -> float:
    """Spearman × 100 on STS-B dev."""

    @torch.no_grad()
    def encode(texts: Sequence[str]) -> np.ndarray:
        ids = tokenize(texts, 512)
        order = sorted(range(len(ids)), key=lambda row: len(ids[row]))
        vectors = np.empty((len(ids), len(model.gate)), dtype=np.float32)
        for start in range(0, len(order), AT_ONCE):
            rows = order[start : start + AT_ONCE]
            vectors[rows] = model([ids[row] for row in rows], gate).numpy()
        return vectors

    model.eval()
    return 100 * stsb(encode, data, "dev").spearman


def train(
    model: GatedSum, columns: Sequence[Ids], args: argparse.Namespace, report: Callable[[int], None]
) -> None:
    """One-way InfoNCE over the batch's positives and all its hard negatives."""
    rates = {model.layers: args.learning_rate, model.table: args.table_rate}
    groups = [{"params": list(part.parameters()), "lr": rate} for part, rate in rates.items()]
    optimizer = torch.optim.AdamW([*groups, {"params": [model.gate], "lr": args.gate_rate}], weight_decay=0.0)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / args.steps)
    drawn = np.random.default_rng(args.seed)
    order = np.concatenate(
        [drawn.permutation(len(columns[0])) for _ in range(1 + args.steps * args.batch // len(columns[0]))]
    )
    for step in range(args.steps):
        model.train()
        rows = order[step * args.batch : (step + 1) * args.batch]
        vectors = F.normalize(model([column[row] for column in columns for row in rows]), dim=1)
        anchors, others = vectors[: len(rows)], vectors[len(rows) :]
        loss = F.cross_entropy(anchors @ others.T / TEMPERATURE, torch.arange(len(rows)))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if (step + 1) % args.evaluate_every == 0:
            report(step + 1)


def main() -> None:
    """Read the arguments, train, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--store", required=True, help="with uda-in-place and una-in-place")
    parser.add_argument("--encoder", default="data/models/encoder")
    parser.add_argument("--counts", help="store whose tokens are counted, if another")
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    parser.add_argument("--table-rate", type=float, default=1e-3)
    parser.add_argument("--gate-rate", type=float, default=1e-2)
    parser.add_argument("--evaluate-every", type=int, default=40)
    parser.add_argument("--seed", type=int, default=42)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    encoder, store = load_encoder(args.encoder), Store.open(args.store)

    def tokenize(texts: Sequence[str], longest: int) -> Ids:
        return encoder.tokenizer(list(texts), truncation=True, max_length=longest)["input_ids"]

    texts = [
        store.read(stage)["text"].to_pylist()[: args.rows]
        for stage in ("corpus", "uda-in-place", "una-in-place")
    ]
    # Where nothing was changed there is no text: the sentence itself.
    columns = [
        tokenize([text or own for text, own in zip(column, texts[0], strict=True)], MAX_LENGTH)
        for column in texts
    ]
    model = GatedSum(encoder, count_store(Store.open(args.counts or args.store), encoder.tokenizer))
    model.eval()
    model.settle(columns[0][:2560])
    for gate in (0.0, 0.3):
        print(f"untrained, gate {gate}: {dev(model, tokenize, args.data, gate):.2f}", flush=True)

    def report(step: int) -> None:
        gate = model.gate.abs().mean()
        print(f"step {step}: {dev(model, tokenize, args.data, None):.2f}, gate {gate:.3f}", flush=True)

    train(model, columns, args, report)


if __name__ == "__main__":
    main()
