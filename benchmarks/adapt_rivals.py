"""Other trainings on a domain's texts by sentence-transformers' own losses, each at its best rate and length.

    python -m benchmarks.adapt_rivals --data ../shared/data --work runs/rivals

For each domain and way five rates are trained for 30 steps of 32 texts; the best two go on to 100, the best
one to 300. Which is best is asked of labels, which no user has: the mean of K-means or few-shot accuracy and
purity of 2,000 texts not in the corpus. Three seeds follow at the best point. Printed is a JSON line
for each point, and at the end a table. Finished ways are not made again.
"""

import argparse
import copy
import random
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from augment_cli.neural.loading import MINILM_PACKAGE
from augment_cli.vectors.stages import find_encoder
from benchmarks import add_line, markdown
from benchmarks.adapt_domains import begin, common_options, corpus_of, main_score, scores
from eval.tasks import Table, load_registry, read_table

RATES = (3e-6, 1e-5, 3e-5, 1e-4, 3e-4)
LENGTHS = {30: 2, 100: 1, 300: 0}  # steps, and how many of the rates go on
BATCH, WARMUP, MOST_TOKENS = 32, 10, 64


class Trained:
    """A way's encoder in training."""

    def __init__(self, way: str, texts: Sequence[str], rate: float, seed: int) -> None:
        from sentence_transformers import SentenceTransformer

        torch.manual_seed(seed)
        self.texts, self.done, self.random = texts, 0, random.Random(seed)
        self.model = SentenceTransformer(str(find_encoder(MINILM_PACKAGE).path), device="cpu")
        self.model.max_seq_length = MOST_TOKENS
        self.pair, make_loss, frozen = WAYS[way]
        self.loss = make_loss(self.model).train()
        if frozen:
            bert: Any = self.model.transformers_model
            half = bert.encoder.layer[: len(bert.encoder.layer) // 2]
            for part in (bert.embeddings, *half):
                part.requires_grad_(False)
        learned = [one for one in self.loss.parameters() if one.requires_grad]
        self.optimizer = torch.optim.AdamW(learned, rate, weight_decay=0.01, fused=True)
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer, lambda step: min(1, (step + 1) / WARMUP)
        )

    def until(self, steps: int) -> None:
        """Train up to a number of steps; no batch has a text twice."""
        self.loss.train()
        for _ in range(steps - self.done):
            pairs = [self.pair(text, self.random) for text in self.random.sample(self.texts, BATCH)]
            columns = [self.model.preprocess(list(column)) for column in zip(*pairs, strict=True)]
            self.loss(columns, torch.arange(BATCH)).backward()
            torch.nn.utils.clip_grad_norm_(self.loss.parameters(), 1.0)
            self.optimizer.step()
            self.schedule.step()
            self.optimizer.zero_grad()
        self.done = steps

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Vectors of length 1."""
        self.loss.eval()
        return np.asarray(self.model.encode(list(texts), normalize_embeddings=True, batch_size=64))


def same(text: str, _: random.Random) -> tuple[str, str]:
    """A text twice: dropout makes the difference."""
    return text, text


def crops(text: str, draw: random.Random) -> tuple[str, str]:
    """Two stretches of a text's words, each at least half as long as the text."""
    words = text.split()

    def crop() -> str:
        length = draw.randint((len(words) + 1) // 2, len(words))
        begin = draw.randint(0, len(words) - length)
        return " ".join(words[begin : begin + length])

    return crop(), crop()


def damaged(text: str, draw: random.Random) -> tuple[str, str]:
    """A text without 60 % of its words, and the text."""
    words = text.split()
    return " ".join(word for word in words if draw.random() >= 0.6) or draw.choice(words), text


def contrast(model: Any) -> Any:
    """InfoNCE among the batch."""
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

    return MultipleNegativesRankingLoss(model)


def guided(model: Any) -> Any:
    """InfoNCE without what the start finds nearer than the positive."""
    from sentence_transformers.sentence_transformer.losses import GISTEmbedLoss

    return GISTEmbedLoss(model, guide=copy.deepcopy(model).eval())


def denoising(model: Any) -> Any:
    """A decoder that shares the encoder's weights finds the text."""
    from sentence_transformers.sentence_transformer.losses import DenoisingAutoEncoderLoss

    return DenoisingAutoEncoderLoss(model, tie_encoder_decoder=True)


# What makes a pair of a text, the loss, and whether the lower half of the layers is frozen.
WAYS: dict[str, tuple[Callable[[str, random.Random], tuple[str, str]], Callable[[Any], Any], bool]] = {
    "SimCSE": (same, contrast, False),
    "crops, last layers": (crops, contrast, True),
    "crops, GISTEmbed": (crops, guided, False),
    "TSDAE": (damaged, denoising, False),
}


def gain(line: dict[str, Any]) -> float:
    """What a point is chosen by."""
    return statistics.mean([main_score(line), line["purity_10"]])


def tune(
    way: str, table: Table, options: argparse.Namespace, results: Path, lines: list[dict[str, Any]]
) -> None:
    """All points of a way on a domain, and its best one with more seeds."""
    texts, key = corpus_of(table, options.rows)[0], {"way": way, "domain": table.task.name}

    def score(trained: Trained, general: bool, point: dict[str, Any]) -> dict[str, Any]:
        found = scores(
            trained.encode, table, options.rows, options.scored, options.data, options.kmeans, general
        )
        add_line(results, lines, key | point | found)
        return lines[-1]

    if any((key | {"chosen": True}).items() <= line.items() for line in lines):
        return
    lines[:] = [line for line in lines if not key.items() <= line.items()]  # begun, and not finished
    points: list[dict[str, Any]] = []
    trainings = {rate: Trained(way, texts, rate, 42) for rate in RATES}
    for steps, kept in LENGTHS.items():
        made = []
        for rate, trained in trainings.items():
            trained.until(steps)
            made.append(score(trained, False, {"rate": rate, "steps": steps, "seed": 42}))
        points += made
        rates = [line["rate"] for line in sorted(made, key=gain, reverse=True)[:kept]]
        trainings = {rate: trainings[rate] for rate in rates}
    chosen = max(points, key=gain)
    for seed in map(int, options.seeds.split(",")):
        trained = Trained(way, texts, chosen["rate"], seed)
        trained.until(chosen["steps"])
        score(trained, True, {"rate": chosen["rate"], "steps": chosen["steps"], "seed": seed, "chosen": True})


def rivals_table(lines: list[dict[str, Any]]) -> str:
    """The chosen points: K-means or few-shot accuracy / purity, their rates and steps, and STS-B."""
    made = [line for line in lines if line.get("chosen")]
    rows = []
    for way, domain in dict.fromkeys((line["way"], line["domain"]) for line in made):
        own = [line for line in made if (line["way"], line["domain"]) == (way, domain)]
        means = [statistics.mean(map(score, own)) for score in (main_score, lambda line: line["purity_10"])]
        stsb = statistics.mean(line["stsb"] for line in own)
        point = f"{own[0]['rate']:g}, {own[0]['steps']}"
        rows.append([way, domain, point, *(f"{one:.1f}" for one in (*means, stsb)), str(len(own))])
    header = ["way", "domain", "rate, steps", "K-means or few-shot", "purity", "STS-B test", "seeds"]
    return markdown(header, rows, "lllrrrr")


def main() -> None:
    options, results, lines = begin(common_options(__doc__))
    for name in options.domains.split(","):
        for way in WAYS:
            tune(way, read_table(load_registry()[name], options.data), options, results, lines)
    print(rivals_table(lines))


if __name__ == "__main__":
    main()
