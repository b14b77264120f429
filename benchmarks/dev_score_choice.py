"""Which score without labels goes with the labelled one: both over the checkpoints of several runs.

    python -m benchmarks.dev_score_choice --data ../shared/data --work runs/choice --domains stackoverflow

Trains an encoder on each domain's texts in several ways that change it more or less, keeps checkpoints, and
scores each: the purity of the ten nearest texts and K-means accuracy by the labels, and candidates.
Printed is a JSON line for each checkpoint, which `--results` keeps, then the tables of
benchmarks/results/dev-score.md: Spearman's correlation of each candidate with the purity, domain by domain,
and what the score would take. A checkpoint that has its line is not scored again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
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
from benchmarks.adapt_domains import DOMAINS, corpus_of
from benchmarks.result_lines import add_line, read_lines
from eval.measures.geometry import anisotropy, effective_rank, neighbourhood_purity, unit
from eval.measures.neighbours import NEAREST, halves, nearest, shared_neighbours
from eval.protocols import clustering
from eval.tasks.registry import load_registry
from eval.tasks.table import Table, read_table
from train.watching.neighbours import SAMPLE, lesser_ratio

# Name of a run to its recipe and the settings on top of it.
RUNS = {
    "adapt": ("adapt", []),
    "self": ("simcse", ["batch=128", "epochs=2", "learning_rate=1e-5"]),
    "crop": ("simcse", ["positives=crop", "learning_rate=2e-5"]),
    "synonym": ("simcse", ["positives=synonym", "learning_rate=2e-5"]),
    "mixed-fast": ("simcse", ["positives=crop,synonym", "learning_rate=1e-4", "temperature=0.1"]),
    "tight": ("simcse", ["positives=crop,synonym", "learning_rate=1e-4", "temperature=2"]),
    "mlm": ("mlm", ["epochs=2", "learning_rate=5e-4", "warmup_steps=3"]),
}
COLLAPSING = ("tight", "mlm")  # runs that are there to fail
COMMON = ["pooling=mean", "keep=99", "evaluate_every=0", "batch=64"]
CONTRASTIVE = ["labels=kind", "head=none"]
TOPICS = (30, 50, 100)
PURITY = "purity_10"  # what the candidates are held against
NAMES = {
    "neighbours": "`neighbours`, the lesser ratio of these two",
    "shared_neighbours": "`shared_neighbours`",
    "half_neighbours": "`half_neighbours`",
    "effective_rank": "effective rank",
    "anisotropy": "mean cosine",
    "accuracy": "K-means accuracy, by the labels",
    **{f"topics_{count}": f"{count} topics, by neighbours" for count in TOPICS},
    **{
        f"other_topics_{count}": f"{count} topics of the other half, by neighbours of the one"
        for count in TOPICS
    },
}


def agreement(near: np.ndarray, topics: np.ndarray) -> float:
    """Mean cosine of the topics of each text and of its nearest others."""
    # near: numpy.ndarray; Shape (n, n), as `train.watching.neighbours.nearest` gives it.
    # topics: numpy.ndarray; Shape (n, t).
    scaled = unit(topics)
    return float((scaled @ scaled.T)[near].mean())


def topics_of(corpus: list[str], sides: Sequence[Sequence[str]], count: int) -> list[np.ndarray]:
    """Topics of texts, shape (n, count) for each side: TF-IDF on singular vectors, both of the corpus."""
    counted = TfidfVectorizer(sublinear_tf=True, min_df=2, max_df=0.2)
    reduced = TruncatedSVD(count, random_state=0).fit(counted.fit_transform(corpus))
    return [reduced.transform(counted.transform(side)) for side in sides]


class Scorer:
    """Labelled scores and candidates of an encoder's vectors, by name."""

    # labels: their classes

    def __init__(self, texts: list[str], labels: np.ndarray) -> None:
        self.texts, self.labels = texts, labels
        self.halved = texts[:SAMPLE]
        generator = np.random.default_rng(0)
        pairs = [halves(text, generator) for text in self.halved]
        self.sides = tuple([pair[side] for pair in pairs] for side in (0, 1))
        self.topics = {count: topics_of(texts, [self.halved, *self.sides], count) for count in TOPICS}

    def of(self, encoder: Encoder) -> dict[str, float]:
        return self.of_vectors(encoder.encode(self.texts), *map(encoder.encode, self.sides))

    def of_vectors(self, vectors: np.ndarray, first: np.ndarray, second: np.ndarray) -> dict[str, float]:
        """The same from vectors of the texts, and of both halves of the first of them."""
        sample = vectors[: len(first)]
        near, near_first, near_second = map(nearest, (sample, first, second))
        scores = {PURITY: neighbourhood_purity(vectors, self.labels, 10)}
        scores["accuracy"] = clustering.score(vectors, self.labels, seeds=range(2)).scores["accuracy"]
        scores["shared_neighbours"] = float(shared_neighbours(sample).mean())
        scores["half_neighbours"] = float((near_first & near_second).sum(axis=1).mean() / NEAREST)
        for count, (own, of_first, of_second) in self.topics.items():
            scores[f"topics_{count}"] = agreement(near, own)
            other = (agreement(near_first, of_second), agreement(near_second, of_first))
            scores[f"other_topics_{count}"] = sum(other) / 2
        return scores | {"effective_rank": effective_rank(sample), "anisotropy": anisotropy(sample)}


def with_neighbours(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines with `neighbours`, the lesser of two scores' ratios to those of the domain's start."""
    starts = {line["domain"]: line for line in lines if line["run"] == "start"}
    return [line | {"neighbours": lesser_ratio(line, starts[line["domain"]])} for line in lines]


def checkpoints(table: Table, options: argparse.Namespace, folder: Path) -> list[Path]:
    """The weights that the runs kept, trained if they are not yet."""
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / "store"
    if not (folder / "corpus.txt").is_file():
        sentences = "".join(f"{text}\n" for text in corpus_of(table, options.rows, ("train",))[0])
        (folder / "corpus.txt").write_text(sentences, encoding="utf-8")
        api.ingest_corpus([folder / "corpus.txt"], store, max_rejects=0.5)
    for name in ("crop", "synonym"):
        api.run(name, store)
    for name, (recipe, changes) in RUNS.items():
        kept = f"checkpoint_every={options.every}"
        own = [] if recipe == "mlm" else CONTRASTIVE
        settings = [*COMMON, *own, kept, *changes, *options.set]
        command = ["train", recipe, "--store", str(store), "--encoder", MINILM_PACKAGE]
        command += ["--out", str(folder / name)]
        command += [word for change in settings for word in ("--set", change)]
        subprocess.run([sys.executable, "-m", *command], check=True)
    return sorted(folder.glob("*/checkpoints/*/model.safetensors"))


def score_domain(name: str, options: argparse.Namespace, lines: list[dict[str, Any]]) -> None:
    """Add a domain's lines to those that are there, and to the file."""
    table = read_table(load_registry()[name], options.data)
    paths = checkpoints(table, options, options.work / name)
    scorer = Scorer(*corpus_of(table, options.rows, ("train",)))
    encoder = load_encoder(MINILM_PACKAGE, precision=options.precision)
    for path in (None, *paths):
        key = {"domain": name, "run": f"{path.parts[-4]} {path.parts[-2]}" if path else "start"}
        if any(key.items() <= line.items() for line in lines):
            continue
        if path:
            weights = {part.removeprefix("encoder."): value for part, value in load_file(path).items()}
            encoder.model.load_state_dict(weights, strict=False)
        add_line(
            options.results,
            lines,
            key | {score_of: round(value, 5) for score_of, value in scorer.of(encoder).items()},
        )


def correlation_table(lines: list[dict[str, Any]]) -> str:
    """Spearman's correlation of each candidate with the purity over a domain's checkpoints, as Markdown."""
    lines = with_neighbours(lines)
    domains = list(dict.fromkeys(line["domain"] for line in lines))
    candidates = [name for name in NAMES if name in lines[0]]
    rows = [f"| score | {' | '.join(domains)} | mean |", f"|---|{'---:|' * (len(domains) + 1)}"]
    for key in candidates:
        found = []
        for domain in domains:
            own = [line for line in lines if line["domain"] == domain]
            both = ([line[name] for line in own] for name in (key, PURITY))
            found.append(float(scipy.stats.spearmanr(*both).statistic))
        cells = [f"{value:+.2f}".replace("-", "−") for value in (*found, float(np.mean(found)))]
        rows.append(f"| {NAMES[key]} | {' | '.join(cells)} |")
    counts = [sum(line["domain"] == domain for line in lines) for domain in domains]
    rows.append(f"| checkpoints | {' | '.join(map(str, counts))} | {sum(counts)} in all |")
    return "\n".join(rows)


def choice_table(lines: list[dict[str, Any]]) -> str:
    """The purity (× 100) of the checkpoint that `neighbours` would take beside the start's, as Markdown."""
    # Each with the run that it is of: among all, and among those of the runs that are not there to fail.
    without = " and ".join(f"`{run}`" for run in COLLAPSING)
    rows = [
        f"| domain | start | taken | of | without {without} | of | best | worst |",
        "|---|---:|---:|---|---:|---|---:|---:|",
    ]
    scored = with_neighbours(lines)
    domains = dict.fromkeys(line["domain"] for line in scored)
    better = [0, 0]
    for domain in domains:
        own = [line for line in scored if line["domain"] == domain]
        sound = [line for line in own if _run_of(line) not in COLLAPSING]
        start = next(line[PURITY] for line in own if line["run"] == "start")
        purities = [line[PURITY] for line in own]
        cells = [f"{100 * start:.1f}"]
        for place, among in enumerate((own, sound)):
            taken = max(among, key=lambda line: line["neighbours"])
            better[place] += taken[PURITY] > start
            cells += [f"{100 * taken[PURITY]:.1f}", f"`{_run_of(taken)}`"]
        cells += [f"{100 * value:.1f}" for value in (max(purities), min(purities))]
        rows.append(f"| {domain} | {' | '.join(cells)} |")
    counts = [f"{count} of {len(domains)}" for count in better]
    return "\n".join([*rows, f"| better than the start | | {counts[0]} | | {counts[1]} | | | |"])


def _run_of(line: dict[str, Any]) -> str:
    """The run of a checkpoint, such as `adapt` of `adapt step-0000010`."""
    return str(line["run"]).partition(" ")[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--domains", default=",".join(DOMAINS))
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--every", type=int, default=39, help="steps between checkpoints")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32", help="of the scoring")
    parser.add_argument("--results", type=Path, help="file of JSON lines to add to (default: in --work)")
    parser.add_argument("--set", action="append", default=[], help="a setting of every run")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    options.results = options.results or options.work / "results.jsonl"
    lines = read_lines(options.results)
    for name in options.domains.split(","):
        score_domain(name, options, lines)
    print(f"{correlation_table(lines)}\n\n{choice_table(lines)}")


if __name__ == "__main__":
    main()
