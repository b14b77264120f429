"""Make a pretraining run the shipped encoder: fp16 weights and a card.

python -m data.builds.encoder.ship runs/encoder --data DATA --out data/models/encoder
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import torch

from augment_cli.encoding.loading import load_encoder
from eval.protocols.sts import stsb
from train.outputs.checkpoint import checkpoints, read_state
from train.outputs.export import export
from train.outputs.log import read_log

LICENSE = Path(__file__).parent.parent / "CC-BY-SA-4.0.txt"
LIMIT = 13_000_000  # bytes, all files together

CARD = """---
library_name: sentence-transformers
pipeline_tag: sentence-similarity
language: en
license: cc-by-sa-4.0
tags:
- sentence-similarity
- fill-mask
---

# A small English encoder to start from

BERT architecture, 4 layers, 256 wide, 4 heads, 1,024 inner, 128 positions; uncased WordPiece vocabulary of
11,520 pieces; {parameters:.1f} million parameters stored as fp16, {size:.1f} MB with the tokenizer. It is a
starting point for `make train` on a machine without a model hub, not a sentence encoder to use as it is.

Made from 1,000,000 sentences of English Wikipedia (CC BY-SA) and 150,000 of public-domain books. The
vocabulary was learned from them; the word embeddings start from the factorised co-occurrence matrix of
400,000 of them; then came masked language modelling with this project's own trainer: {steps:,} steps of
{batch} sentences ({seen:,} sentences, {share:.0%} of the corpus), bf16 autocast on one shared CPU core. Mean
loss over the last 1,000 steps logged: {loss:.2f} nats per hidden piece (uniform guessing has 9.35).

| STS-B Spearman × 100, nothing else trained | dev | test |
|---|---|---|
{scores}

To remake it: `make encoder DATA=folder` (vocabulary, start, pretraining, this card). The corpus files'
digests are in the data folder's README; the corpus stage's SHA-256 is `{corpus}`.

Licence: CC BY-SA 4.0, see LICENSE in this folder. Attribution: Wikipedia contributors; the books are in the
public domain.
"""


def main() -> None:
    """Read the command line, convert, score, write the card."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, help="folder of the pretraining run")
    parser.add_argument("--data", type=Path, required=True, help="data folder with sts/, for the card")
    parser.add_argument(
        "--out", type=Path, default=Path("data/models/encoder"), help="folder of the shipped encoder"
    )
    args = parser.parse_args()
    state = read_state(checkpoints(args.run / "checkpoints")[-1])
    settings, steps = state["settings"], state["step"]
    events = [event for event in read_log(args.run / "log.jsonl") if event["event"] == "step"]
    losses = [event["mlm_loss"] for event in events if event["step"] > steps - 1000]

    export(load_encoder(args.run / "last", pooling="mean"), args.out, torch.float16)
    shutil.copy(LICENSE, args.out / "LICENSE")
    encoder = load_encoder(args.out)
    scores = []
    for pooling in ("mean", "cls"):
        encoder.pooling = pooling
        dev, test = (100 * stsb(encoder.encode, args.data, split).spearman for split in ("dev", "test"))
        scores.append(f"| {pooling} pooling | {dev:.2f} | {test:.2f} |")
    size = sum(file.stat().st_size for file in args.out.rglob("*") if file.is_file())
    rows = steps * settings["batch"]
    (args.out / "README.md").write_text(
        CARD.format(
            parameters=sum(p.numel() for p in encoder.model.parameters()) / 1e6,
            size=size / 1e6,
            steps=steps,
            batch=settings["batch"],
            seen=rows,
            share=rows / 1_149_991,
            loss=sum(losses) / len(losses),
            scores="\n".join(scores),
            corpus=settings["data"]["corpus"],
        ),
        encoding="utf-8",
    )
    if size > LIMIT:
        raise SystemExit(f"{args.out} has {size:,} bytes, more than {LIMIT:,}")
    print(f"{size:,} bytes in {args.out}", *scores, sep="\n")


if __name__ == "__main__":
    main()
