"""Which score without labels goes with the labelled one: both over the checkpoints of several runs.

    python -m benchmarks.dev_score_choice --data ../shared/data --work runs/choice --domains stackoverflow

Trains an encoder on each domain's texts in several ways that change it more or less, keeps checkpoints, and
scores each: the purity of the ten nearest texts and K-means accuracy by the labels, and candidates.
Printed is a JSON line for each checkpoint, which `--results` keeps, then the table of docs/adapt.md:
Spearman's correlation of each candidate with the purity, domain by domain. A checkpoint that has its line is
not scored again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.stats
from safetensors.torch import load_file
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from augment_cli import api
from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.loading import load_encoder
from augment_cli.neural.loading import MINILM_PACKAGE
from augment_cli.store.store import Store
from benchmarks.adapt_domains import DOMAINS, corpus_of
from eval.measures.geometry import purities, unit
from eval.protocols import clustering
from eval.tasks.registry import load_registry
from eval.tasks.table import Table, read_table
from train.watching.neighbours import TOPICS, agreement, neighbour_agreement

# Name of a run to its recipe and the settings on top of it.
RUNS = {
    "adapt": ("adapt", []),
    "self": ("simcse", ["batch=128", "epochs=2", "learning_rate=1e-5"]),
    "crop": ("simcse", ["positives=crop", "learning_rate=2e-5"]),
    "synonym": ("simcse", ["positives=synonym", "learning_rate=2e-5"]),
    "mixed-fast": ("simcse", ["positives=crop,synonym", "learning_rate=1e-4", "temperature=0.1"]),
}
COMMON = ["labels=kind", "head=none", "pooling=mean", "keep=99", "evaluate_every=0", "batch=64"]
PURITY = "purity_10"  # what the candidates are held against
LABELLED = (PURITY, "accuracy")
NAMES = {
    "neighbours": "`neighbours`",
    "crop_retrieval": "retrieval of crops",
    "halves_retrieval": "retrieval of a text's other half",
    "other_half": "topics of the other half, by neighbours of the one",
    "few_topics": "`neighbours` with 30 topics",
    "effective_rank": "effective rank",
    "anisotropy": "mean cosine",
    "accuracy": "K-means accuracy, by the labels",
}
SCORED = 2_500  # texts; K-means takes most of the time


def halves(text: str, generator: np.random.Generator) -> tuple[str, str]:
    """A text's words in two random halves, each in its order."""
    words = text.split()
    first = set(generator.permutation(len(words))[: len(words) // 2].tolist())
    sides = ([word for place, word in enumerate(words) if (place in first) == side] for side in (True, False))
    return " ".join(next(sides)), " ".join(next(sides))


def reciprocal_rank(queries: np.ndarray, candidates: np.ndarray, right: np.ndarray) -> float:
    """Mean of 1 / rank of each query's right candidate by cosine."""
    similarity = unit(queries) @ unit(candidates).T
    own = similarity[np.arange(len(queries)), right]
    return float((1 / (1 + (similarity > own[:, None]).sum(axis=1))).mean())


def topics_of(corpus: list[str], sides: tuple[list[str], ...], count: int) -> list[np.ndarray]:
    """Topics of texts, shape (n, count) for each side: TF-IDF on singular vectors, both of the corpus."""
    counted = TfidfVectorizer(sublinear_tf=True, min_df=2, max_df=0.2)
    reduced = TruncatedSVD(count, random_state=0).fit(counted.fit_transform(corpus))
    return [reduced.transform(counted.transform(side)) for side in sides]


def scorer(table: Table, rows: int, store: Store) -> Callable[[Encoder], dict[str, float]]:
    """A function of an encoder that gives labelled scores and candidates by name."""
    texts, labels = (part[:SCORED] for part in corpus_of(table, rows))
    crops = dict(
        zip(store.read("corpus")["text"].to_pylist(), store.read("crop")["text"].to_pylist(), strict=True)
    )
    cropped = [place for place, text in enumerate(texts) if crops.get(text)][:800]
    generator = np.random.default_rng(0)
    split = [halves(text, generator) for text in texts if len(text.split()) >= 6][:800]
    topics = neighbour_agreement(store)
    assert topics is not None
    corpus = store.read("corpus")["text"].to_pylist()
    sides = tuple([pair[side] for pair in split] for side in (0, 1))
    first_topics, second_topics = topics_of(corpus, sides, TOPICS)
    (few,) = topics_of(corpus, (list(texts),), 30)

    def score(encoder: Encoder) -> dict[str, float]:
        vectors = encoder.encode(list(texts))
        first, second = map(encoder.encode, sides)
        crop = encoder.encode([crops[texts[place]] for place in cropped])
        return {
            **purities(vectors, labels, [10]),
            "accuracy": clustering.score(vectors, labels, seeds=range(2)).scores["accuracy"],
            "crop_retrieval": reciprocal_rank(crop, vectors, np.array(cropped)),
            "halves_retrieval": reciprocal_rank(first, second, np.arange(len(split))),
            "other_half": (agreement(first, second_topics) + agreement(second, first_topics)) / 2,
            "few_topics": agreement(vectors, few),
            **topics(encoder),
        }

    return score


def checkpoints(table: Table, options: argparse.Namespace, folder: Path) -> list[Path]:
    """The weights that the runs kept, trained if they are not yet."""
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / "store"
    if not (folder / "corpus.txt").is_file():
        sentences = "".join(f"{text}\n" for text in corpus_of(table, options.rows)[0])
        (folder / "corpus.txt").write_text(sentences, encoding="utf-8")
        api.ingest_corpus([folder / "corpus.txt"], store, max_rejects=0.5)
    for name in ("crop", "synonym"):
        api.run(name, store)
    for name, (recipe, changes) in RUNS.items():
        settings = [*COMMON, f"checkpoint_every={options.every}", *changes, *options.set]
        command = ["train", recipe, "--store", str(store), "--encoder", MINILM_PACKAGE]
        command += ["--out", str(folder / name)]
        command += [word for change in settings for word in ("--set", change)]
        subprocess.run([sys.executable, "-m", *command], check=True)
    return sorted(folder.glob("*/checkpoints/*/model.safetensors"))


def score_domain(name: str, options: argparse.Namespace, lines: list[dict[str, Any]]) -> None:
    """Add a domain's lines to those that are there, and to the file."""
    table = read_table(load_registry()[name], options.data)
    folder = options.work / name
    paths = checkpoints(table, options, folder)
    score = scorer(table, options.rows, Store.open(folder / "store"))
    encoder = load_encoder(MINILM_PACKAGE)
    for path in (None, *paths):
        key = {"domain": name, "run": f"{path.parts[-4]} {path.parts[-2]}" if path else "start"}
        if any(key.items() <= line.items() for line in lines):
            continue
        if path:
            weights = {part.removeprefix("encoder."): value for part, value in load_file(path).items()}
            encoder.model.load_state_dict(weights, strict=False)
        lines.append(key | {score_of: round(value, 5) for score_of, value in score(encoder).items()})
        with options.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(lines[-1]) + "\n")
        print(json.dumps(lines[-1]), flush=True)


def correlation_table(lines: list[dict[str, Any]]) -> str:
    """Spearman's correlation of each candidate with the purity over a domain's checkpoints, as Markdown.

    Parameters
    ----------
    lines : list of dict of str to Any
        Keys `domain`, `run`, and the scores; `neighbours` is the candidate that was taken.
    """
    domains = list(dict.fromkeys(line["domain"] for line in lines))
    candidates = sorted(lines[0].keys() - {"domain", "run", PURITY}, key=lambda key: (key in LABELLED, key))
    rows = [f"| score | {' | '.join(domains)} | mean |", f"|---|{'---:|' * (len(domains) + 1)}"]
    for key in candidates:
        found = []
        for domain in domains:
            own = [line for line in lines if line["domain"] == domain]
            both = ([line[name] for line in own] for name in (key, PURITY))
            found.append(float(scipy.stats.spearmanr(*both).statistic))
        cells = [f"{value:+.2f}".replace("-", "−") for value in (*found, float(np.mean(found)))]
        rows.append(f"| {NAMES.get(key, key)} | {' | '.join(cells)} |")
    counts = [sum(line["domain"] == domain for line in lines) for domain in domains]
    rows.append(f"| checkpoints | {' | '.join(map(str, counts))} | {sum(counts)} in all |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--domains", default=",".join(DOMAINS))
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--every", type=int, default=39, help="steps between checkpoints")
    parser.add_argument("--results", type=Path, help="file of JSON lines to add to (default: in --work)")
    parser.add_argument("--set", action="append", default=[], help="a setting of every run")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    options.results = options.results or options.work / "results.jsonl"
    lines: list[dict[str, Any]] = []
    if options.results.is_file():
        lines = [json.loads(line) for line in options.results.read_text(encoding="utf-8").splitlines()]
    for name in options.domains.split(","):
        score_domain(name, options, lines)
    print(correlation_table(lines))


if __name__ == "__main__":
    main()
