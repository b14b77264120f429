"""A packed store in sentence-transformers' own trainer.

python sentence_transformers_trainer.py store ENCODER out
"""

import sys

from datasets import load_dataset
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

import augment_cli


def train(store: str, encoder: str, out: str, steps: int = 100) -> SentenceTransformer:
    """The encoder, trained on hard negatives that `una` makes of the store's texts, and saved in `out`."""
    augment_cli.run("una", store, beta="0.1:0.5")
    augment_cli.pack_table(store, positives=["corpus"], negatives=["una"])
    rows = load_dataset("parquet", data_dir=f"{store}/pack", split="train")
    model = SentenceTransformer(encoder, device="cpu")
    settings = SentenceTransformerTrainingArguments(
        out, per_device_train_batch_size=64, max_steps=steps, learning_rate=2e-5, save_strategy="no",
        report_to="none", disable_tqdm=True,
    )  # fmt: skip
    rows = rows.select_columns(["anchor", "positive", "negative"])
    SentenceTransformerTrainer(
        model, args=settings, train_dataset=rows, loss=MultipleNegativesRankingLoss(model)
    ).train()
    model.save(out)
    return model


if __name__ == "__main__":
    train(*sys.argv[1:4])
