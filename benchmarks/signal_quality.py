"""What the columns of `score` catch: AUC on outputs that a person read and judged.

    python -m benchmarks.signal_quality --data ../shared/data --store signals

180 sentences of 40 to 140 characters, half of Wikipedia (`corpus/wiki_en-07`), half of books, are augmented
and scored. `signal_quality.json` holds the judgements: for each output, by the digest of original and output,
whether it is right: reads well, and means the same (of a positive) or something else (of a negative). A
judgement whose output is not made any more, since a rule has changed, is left out and counted. AUC is the
probability that a signal puts a right output before a wrong one, ties counting half: 0.5 is chance.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import random
from pathlib import Path

import numpy as np

from augment_cli.engine.engine import Engine
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store

JUDGEMENTS = Path(__file__).with_suffix(".json")
PARAPHRASED = 70  # rows; a model takes its time
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
    options = parser.parse_args()
    judged: dict[str, dict[str, bool]] = json.loads(JUDGEMENTS.read_text("utf-8"))
    store = make_store(options.store, options.data, list(judged))
    print("| stage | read | right |", *(f" {name} |" for name in SIGNALS), sep="")
    print("|---|---:|---:|" + "---:|" * len(SIGNALS))
    for stage, labels in judged.items():
        scores, is_right, missing = judged_scores(store, stage, labels)
        cells = [
            f"{auc(read(scores[name])[is_right], read(scores[name])[~is_right]):.2f}"
            for name, read in SIGNALS.items()
        ]
        print(f"| `{stage}` | {len(is_right)} | {is_right.sum()} | " + " | ".join(cells) + " |", flush=True)
        if missing:
            print(f"{missing} judged outputs of {stage} are not made any more")


def make_store(path: Path, data: Path, stages: list[str]) -> Store:
    """The store with the sentences, the stages and their scores."""
    sentences = path.parent / f"{path.name}.txt"
    sentences.write_text("\n".join(sample(data)) + "\n", "utf-8")
    with Session(path, Engine(1)) as session:
        session.ingest([sentences])
        session.fit()
        for stage in stages:
            limit = {"rows": PARAPHRASED} if stage == "paraphrase" else {}
            session.augment(make_run(stage, **limit))
            session.score(stage)
        return session.store


def sample(data: Path) -> list[str]:
    """The 180 sentences."""
    draw = random.Random(18)
    chosen: list[str] = []
    for name in ("wiki_en-07", "books_en"):
        with gzip.open(data / "corpus" / f"{name}.txt.gz", "rt", encoding="utf-8") as file:
            lines = [line.rstrip("\n") for line in file]
        chosen += [line for line in draw.sample(lines, 400) if 40 < len(line) < 140][:90]
    draw.shuffle(chosen)
    return chosen


def digest_of(original: str, output: str) -> str:
    """What a judgement is filed under."""
    return hashlib.blake2b(f"{original}\n{output}".encode(), digest_size=6).hexdigest()


def judged_scores(
    store: Store, stage: str, labels: dict[str, bool]
) -> tuple[dict[str, np.ndarray], np.ndarray, int]:
    """Scores of the judged outputs, which are right, and how many judgements found no output."""
    originals, outputs = (store.read(name)["text"].to_pylist() for name in ("corpus", stage))
    keys = [
        digest_of(original, output) if output is not None else ""
        for original, output in zip(originals, outputs, strict=True)
    ]
    rows = [row for row, key in enumerate(keys) if key in labels]
    table = store.read(f"scores-{stage}").take(rows)
    scores = {name: table[name].to_numpy().astype(float) for name in SIGNALS}
    return scores, np.array([labels[keys[row]] for row in rows], bool), len(labels) - len(rows)


def auc(right: np.ndarray, wrong: np.ndarray) -> float:
    """Probability that a right one stands before a wrong one; NaN where there are none of a kind."""
    right, wrong = right[~np.isnan(right)], wrong[~np.isnan(wrong)]
    if not len(right) or not len(wrong):
        return float("nan")
    higher = (right[:, None] > wrong).mean() + (right[:, None] == wrong).mean() / 2
    return float(higher)


if __name__ == "__main__":
    main()
