"""The scores watched while training; the first decides which encoder is the best."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from augment_cli.encoding.encoder import Encoder
from augment_cli.errors import UsageError
from augment_cli.store.store import Store
from eval.measures.geometry import alignment, uniformity
from eval.measures.similarity import cosine
from eval.protocols.sts import stsb
from train.data.order import is_held_out, row_groups
from train.data.texts import CORPUS, SELF
from train.data.vectors import unit
from train.recipe import Recipe
from train.watching.neighbours import neighbourhoods

PAIRS = 1_000  # held-out pairs; enough for a standard error of 1.5 points
Scores = dict[str, float]
Evaluate = Callable[[Encoder, Scores], Scores]


def has_stsb(data: Path | None) -> bool:
    """Whether the data folder holds STS-B."""
    return data is not None and (data / "sts" / "stsb.tsv.gz").is_file()


def dev_test(data: Path | None, recipe: Recipe, store: Store) -> Evaluate:
    """STS-B dev where the data has it, the corpus's neighbourhoods, and retrieval of held-out pairs."""
    # The first there is decides, in this order; with ``dev = "neighbours"`` the neighbourhoods do, and STS-B
    # is beside it, so that the price is seen. Where the corpus is too small for it, the others do.
    tests: list[Evaluate] = []
    if has_stsb(data):
        assert data is not None
        tests.append(stsb_dev(data))
    if shared := neighbourhoods(store):
        tests.insert(0 if recipe.dev == "neighbours" else len(tests), shared)
    if recipe.held_out:
        stages = tuple(stage for stage in recipe.positives if stage not in (SELF, CORPUS))
        tests.append(pair_retrieval(held_out_pairs(store, recipe.held_out, stages)))
    if not tests:
        raise UsageError(
            "no dev score: there is no STS-B in the data folder (--data), the corpus is too small for "
            "neighbourhoods (some 200 texts), and no row is held out; add "
            "--set held_out=0.1 for retrieval of held-out pairs, or --set evaluate_every=0 for none"
        )
    return lambda encoder, before: {
        key: value for test in tests for key, value in test(encoder, before).items()
    }


def stsb_dev(data: Path) -> Evaluate:
    """Spearman correlation on STS-B dev (1,500 pairs), from -1 to 1."""
    return lambda encoder, before: {
        "stsb_dev": float(np.nan_to_num(stsb(encoder.encode, data, "dev").spearman))
    }


def held_out_pairs(store: Store, fraction: float, stages: tuple[str, ...]) -> list[tuple[str, str]]:
    """Pairs of held-out rows: a text and its positive, or the text's two halves where there is none."""
    pairs: list[tuple[str, str]] = []
    for group in row_groups(store.parts):
        columns = ["row_id", "text"]
        corpus = store.read_part("corpus", group.part, columns, [group.index])
        chosen = np.flatnonzero(is_held_out(corpus["row_id"].to_numpy(), fraction))
        texts = corpus["text"].take(chosen).to_pylist()
        others = [
            store.read_part(stage, group.part, columns, [group.index])["text"].take(chosen).to_pylist()
            for stage in stages
        ]
        for row, text in enumerate(texts):
            positive = next((column[row] for column in others if column[row] is not None), None)
            words = text.split()
            if positive is not None:
                pairs.append((text, positive))
            elif len(words) >= 8:  # shorter halves say too little to find each other by
                pairs.append((" ".join(words[: len(words) // 2]), " ".join(words[len(words) // 2 :])))
            if len(pairs) == PAIRS:
                return pairs
    return pairs


def pair_retrieval(pairs: list[tuple[str, str]]) -> Evaluate:
    """Share of texts whose partner is nearest by cosine among all partners, with alignment and uniformity."""

    def evaluate(encoder: Encoder, before: Scores) -> Scores:
        vectors = encoder.encode([text for pair in pairs for text in pair])
        first, second = vectors[::2], vectors[1::2]
        nearest = np.argmax(unit(first) @ unit(second).T, axis=1) if pairs else np.zeros(0)
        return {
            "pair_retrieval": float((nearest == np.arange(len(pairs))).mean()) if pairs else 0.0,
            "alignment": alignment(first, second),
            "uniformity": uniformity(vectors),
            "pair_cosine": float(cosine(first, second).mean()) if pairs else 0.0,
        }

    return evaluate
