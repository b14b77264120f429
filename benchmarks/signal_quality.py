"""What the columns of `score` catch: AUC on the outputs that were read and judged, `data/judged/`.

    python -m benchmarks.signal_quality --data ../shared/data --store signals

Originals and outputs of `data/judged/*.jsonl` are ingested as pairs, a column for each stage, beside 1,000
sentences of Wikipedia and books that make a corpus of them, and scored. AUC is the probability that a signal
puts an output that was judged good before one that was judged awkward or wrong, ties counting half: 0.5 is
chance. Stages in which fewer than `--least` outputs are of a kind say nothing and are left out. Pairs have no
edits; the edited share is that of words which `difflib` finds changed.
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.session import Session
from augment_cli.store.store import Store
from augment_cli.vectors.score import ScoreOptions

JUDGED = Path(__file__).parents[1] / "data/judged"
FURTHER = 1_000  # sentences
# What is taken for a sign of a right output: the column, and how it is read.
SIGNALS = {
    "cosine": lambda values: values,
    "nearest_cosine": lambda values: -values,
    "length_ratio": lambda values: -np.abs(np.log(values)),
    "edited_share": lambda values: -values,
    "repeated_words": lambda values: -values,
    "unknown_words": lambda values: -values,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--store", type=Path, required=True, help="folder of the store, made or gone on with")
    parser.add_argument("--least", type=int, default=5)
    options = parser.parse_args()
    judged = {name: rows for name, rows in read_judged().items() if says_something(rows, options.least)}
    store = make_store(options.store, options.data, judged)
    print("| stage | read | good |", *(f" {name} |" for name in SIGNALS), sep="")
    print("|---|---:|---:|" + "---:|" * len(SIGNALS))
    for stage, rows in judged.items():
        scores, good = scores_of(store, stage), np.array([row["verdict"] == "good" for row in rows])
        scores["edited_share"] = np.array([edited_share(row["original"], row["text"]) for row in rows])
        signals = [read(scores[name]) for name, read in SIGNALS.items()]
        cells = [f"{auc(signal[good], signal[~good]):.2f}" for signal in signals]
        print(f"| `{stage}` | {len(good)} | {good.sum()} | " + " | ".join(cells) + " |", flush=True)


def read_judged(folder: Path = JUDGED) -> dict[str, list[dict[str, Any]]]:
    """The judged rows of each stage."""
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    stages: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in map(json.loads, lines):
        stages[row["stage"]].append(row)
    return dict(stages)


def says_something(rows: list[dict[str, Any]], least: int) -> bool:
    """Whether enough outputs are good, and enough are not."""
    good = sum(row["verdict"] == "good" for row in rows)
    return min(good, len(rows) - good) >= least


def column_of(stage: str) -> str:
    """Name of a stage's outputs in the store."""
    return f"read-{stage}"


def make_store(path: Path, data: Path, judged: dict[str, list[dict[str, Any]]]) -> Store:
    """The store with originals, outputs and their scores."""
    lines = [
        {"text": row["original"], column_of(stage): row["text"]}
        for stage, rows in judged.items()
        for row in rows
    ]
    pairs = path.parent / f"{path.name}.jsonl"
    pairs.write_text("".join(f"{json.dumps(line)}\n" for line in [*lines, *further(data)]), "utf-8")
    columns = tuple(map(column_of, judged))
    with Session(path, Engine(1)) as session:
        session.ingest([pairs], IngestOptions(text_column="text", positive_columns=columns))
        session.fit()
        for column in columns:
            session.score(column, ScoreOptions(tuple(name for name in SIGNALS if name != "edited_share")))
        return session.store


def further(data: Path) -> list[dict[str, str]]:
    """Sentences of 40 to 140 characters, half of Wikipedia, half of books."""
    draw = random.Random(18)
    chosen: list[str] = []
    for name in ("wiki_en-07", "books_en"):
        with gzip.open(data / "corpus" / f"{name}.txt.gz", "rt", encoding="utf-8") as file:
            fitting = [line.strip() for line in file if 40 <= len(line.strip()) <= 140]
        chosen.extend(draw.sample(fitting, FURTHER // 2))
    return [{"text": sentence} for sentence in chosen]


def scores_of(store: Store, stage: str) -> dict[str, np.ndarray]:
    """Scores of a stage's judged outputs, in their order."""
    has_output = store.read(column_of(stage))["text"].is_valid()
    table = store.read(f"scores-{column_of(stage)}").filter(has_output)
    return {name: table[name].to_numpy().astype(float) for name in SIGNALS if name in table.column_names}


def edited_share(original: str, text: str) -> float:
    """Characters of words that are not in both, in order, over the characters of both."""
    words, others = original.split(), text.split()
    matches = difflib.SequenceMatcher(None, words, others, autojunk=False).get_matching_blocks()
    kept = sum(len(word) for match in matches for word in words[match.a : match.a + match.size])
    total = sum(map(len, words)) + sum(map(len, others))
    return 1 - 2 * kept / total


def auc(right: np.ndarray, wrong: np.ndarray) -> float:
    """Probability that a right one stands before a wrong one; NaN where there are none of a kind."""
    right, wrong = right[~np.isnan(right)], wrong[~np.isnan(wrong)]
    if not len(right) or not len(wrong):
        return float("nan")
    higher = (right[:, None] > wrong).mean() + (right[:, None] == wrong).mean() / 2
    return float(higher)


if __name__ == "__main__":
    main()
