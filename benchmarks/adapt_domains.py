"""`python -m train adapt` on real domains: labelled scores before and after, with STS beside them.

    python -m benchmarks.adapt_domains --data ../shared/data --work runs/domains --seeds 42,0,1
    python -m benchmarks.adapt_domains --data ../shared/data --work runs/domains --domains clinc150

A domain's corpus is the texts of its evaluation set, without labels: of the clustering sets all of them, of
the intent sets the training part; `--rows` takes some of them. Each domain is adapted once for each seed.
Scored are K-means accuracy and the purity of the ten nearest texts (clustering, over the texts of the
corpus), accuracy from ten examples a class (intent), and STS-B test. A run that is finished is not made
again, as `python -m train` goes on where it stopped. Printed is a JSON line for each encoder, and at the end
the differences.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np

from augment_cli import api
from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.loading import load_encoder
from augment_cli.neural.loading import MINILM_PACKAGE
from eval.measures.geometry import purities
from eval.protocols import clustering, intent
from eval.protocols.sts import stsb
from eval.tasks.registry import load_registry
from eval.tasks.table import Table, read_table

DOMAINS = ("stackoverflow", "searchsnippets", "biomedical", "banking77", "clinc150")


def corpus_of(table: Table, rows: int) -> tuple[list[str], np.ndarray]:
    """Texts of a domain's corpus and their labels, `rows` of them in a fixed mixed order; 0: all."""
    split = table.task.split if table.task.protocol == "clustering" else "train"
    texts, labels = table.texts(split), table.labels(split)
    chosen = np.random.default_rng(0).permutation(len(texts))[: rows or None]
    return [texts[place] for place in chosen], labels[chosen]


def scores(encoder: Encoder, table: Table, rows: int, data: Path, seeds: int) -> dict[str, float]:
    """What an encoder scores on a domain and on STS-B test, in percent."""
    if table.task.protocol == "clustering":
        texts, labels = corpus_of(table, rows)
        vectors = encoder.encode(texts)
        found = clustering.score(vectors, labels, seeds=range(seeds)).scores["accuracy"]
        measured = {"accuracy": found} | purities(vectors, labels, [10])
    else:
        pool, test = table.texts("train", "dev"), table.texts("test")
        sides = [
            (encoder.encode(texts), table.labels(*splits))
            for texts, splits in ((pool, ("train", "dev")), (test, ("test",)))
        ]
        measured = {"accuracy_10": intent.score(*sides, shots=(10,)).main}
    measured["stsb"] = stsb(encoder.encode, data, "test").spearman
    return {name: 100 * float(value) for name, value in measured.items()}


def adapt(table: Table, options: argparse.Namespace, seed: int) -> Path:
    """The run's folder, trained if it is not yet."""
    folder = options.work / table.task.name
    folder.mkdir(parents=True, exist_ok=True)
    corpus, store, out = folder / "corpus.txt", folder / "store", folder / f"seed-{seed}"
    if not corpus.is_file():
        corpus.write_text(
            "".join(f"{text}\n" for text in corpus_of(table, options.rows)[0]), encoding="utf-8"
        )
        api.ingest_corpus([corpus], store, max_rejects=0.5)
    changes = [f"seed={seed}", *options.set]
    command = [sys.executable, "-m", "train", "adapt", "--store", store, "--encoder", options.encoder]
    command += ["--out", out, "--data", options.data]
    command += [word for change in changes for word in ("--set", change)]
    subprocess.run(list(map(str, command)), check=True)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--domains", default=",".join(DOMAINS))
    parser.add_argument("--seeds", default="42")
    parser.add_argument("--rows", type=int, default=0, help="texts of a corpus; 0: all")
    parser.add_argument("--kmeans", type=int, default=3, help="seeds of K-means")
    parser.add_argument("--encoder", default=MINILM_PACKAGE)
    parser.add_argument("--set", action="append", default=[], help="a setting of the recipe adapt")
    options = parser.parse_args()
    differences: dict[str, dict[str, list[float]]] = {}
    for name in options.domains.split(","):
        table = read_table(load_registry()[name], options.data)
        before = None
        for seed in map(int, options.seeds.split(",")):
            out = adapt(table, options, seed)
            for kind in ("last", "best") if before else ("start", "last", "best"):
                path = options.encoder if kind == "start" else str(out / kind)
                measured = scores(load_encoder(path), table, options.rows, options.data, options.kmeans)
                print(json.dumps({"domain": name, "seed": seed, "encoder": kind} | measured), flush=True)
                before = measured if kind == "start" else before
            assert before is not None
            for key, value in measured.items():
                differences.setdefault(name, {}).setdefault(key, []).append(value - before[key])
    for name, keys in differences.items():
        for key, values in keys.items():
            spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
            print(f"{name:<16} {key:<12} {statistics.mean(values):+.2f}{spread} over {len(values)} seed(s)")


if __name__ == "__main__":
    main()
