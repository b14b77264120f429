"""Adaptation to unlabelled texts in sentence-transformers' own trainer: its dataset and its loss.

python sentence_transformers_adaptation.py mine.txt ENCODER out
"""

import sys
from pathlib import Path

import torch
from datasets import Dataset, DatasetDict
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from torch.nn import functional

import augment_cli
from augment_cli.encoding import lookup


class NeighbourhoodLoss(torch.nn.Module):
    """Cross entropy of a batch's softmax of cosines to that of its teacher's vectors, the labels."""

    def __init__(self, model: SentenceTransformer, weight: float = 1.0, temperature: float = 0.05) -> None:
        super().__init__()
        self.model, self.weight, self.temperature = model, weight, temperature

    def forward(self, sentence_features: list[dict[str, torch.Tensor]], labels: torch.Tensor) -> torch.Tensor:
        """The loss of texts whose teacher's vectors are `labels`, (B, d)."""
        own = functional.normalize(self.model(sentence_features[0])["sentence_embedding"], dim=-1)
        teacher = functional.normalize(labels.to(own), dim=-1)
        itself = torch.eye(len(own), dtype=torch.bool, device=own.device)
        least = torch.finfo(own.dtype).min / 4
        logits, wanted = (
            (one @ one.T / self.temperature).masked_fill(itself, least) for one in (own, teacher)
        )
        return self.weight * functional.cross_entropy(logits, wanted.softmax(dim=1))


def neighbourhoods(encoder: str, texts: list[str]) -> Dataset:
    """Texts with vectors by the encoder and by words, smoothed over each text's ten nearest."""
    vectors = lookup.neighbourhoods(augment_cli.load_encoder(encoder), texts)
    return Dataset.from_dict({"text": texts, "label": vectors})


def adapt(
    texts: list[str], encoder: str, out: str, steps: int = 120, rate: float = 4e-5
) -> SentenceTransformer:
    """The adapted encoder, saved in `out`: every other step keeps what it says of general sentences."""
    model = SentenceTransformer(encoder, device="cpu")
    general = augment_cli.SAMPLE.read_text("utf-8").splitlines()
    kept = Dataset.from_dict({"text": general, "label": model.encode(general)})
    rows = DatasetDict({"texts": neighbourhoods(encoder, texts), "general": kept})
    settings = SentenceTransformerTrainingArguments(
        out, per_device_train_batch_size=128, max_steps=steps, learning_rate=rate, save_strategy="no",
        multi_dataset_batch_sampler="round_robin", report_to="none", disable_tqdm=True,
    )  # fmt: skip
    losses: dict[str, torch.nn.Module] = {
        "texts": NeighbourhoodLoss(model),
        "general": NeighbourhoodLoss(model, weight=6.0),
    }
    SentenceTransformerTrainer(model, args=settings, train_dataset=rows, loss=losses).train()
    model.save(out)
    return model


if __name__ == "__main__":
    lines = list(dict.fromkeys(Path(sys.argv[1]).read_text("utf-8").splitlines()))
    adapt(lines, sys.argv[2], sys.argv[3])
