"""`python -m train adapt` on real domains: labelled scores before and after, with STS beside them.

    python -m benchmarks.adapt_domains --data ../shared/data --work runs/domains --seeds 42,0,1
    python -m benchmarks.adapt_domains --data ../shared/data --work runs/domains --domains clinc150

A domain's corpus is the texts of its evaluation set, without labels: of the clustering sets all of them, of
the intent sets the training part; `--rows` takes some of them, and
intents are then scored on twice as many texts. Each domain is adapted once for each seed.
Scored are K-means accuracy and the purity of the ten nearest texts (clustering, over the texts of the
corpus), accuracy from ten examples a class (intent), and STS-B test. A run that is finished is not made
again, as `python -m train` goes on where it stopped, nor is an encoder scored again that has its line in
`--results`. Printed is a JSON line for each encoder, and at the end the table of docs/adapt.md.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli import api
from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.loading import load_encoder
from augment_cli.neural.loading import MINILM_PACKAGE
from eval.measures.geometry import neighbourhood_purity
from eval.protocols import clustering, intent
from eval.protocols.sts import stsb
from eval.tasks.registry import load_registry
from eval.tasks.table import Table, read_table

SCORES = {
    "accuracy": "K-means accuracy",
    "purity_10": "purity of the ten nearest",
    "accuracy_10": "accuracy from ten examples a class",
    "stsb": "STS-B test",
}
DOMAINS = ("stackoverflow", "searchsnippets", "biomedical", "banking77", "clinc150")


def corpus_of(table: Table, rows: int) -> tuple[list[str], np.ndarray]:
    """Texts of a domain's corpus and their labels, `rows` of them in a fixed mixed order; 0: all."""
    split = table.task.split if table.task.protocol == "clustering" else "train"
    texts, labels = table.texts(split), table.labels(split)
    chosen = _mixed(len(texts), rows)
    return [texts[place] for place in chosen], labels[chosen]


def _mixed(count: int, most: int) -> np.ndarray:
    """At most `most` of `count` places in a mixed order that is always the same; 0: all."""
    return np.random.default_rng(0).permutation(count)[: most or None]


def scores(encoder: Encoder, table: Table, rows: int, data: Path, seeds: int) -> dict[str, float]:
    """What an encoder scores on a domain and on STS-B test, in percent."""
    if table.task.protocol == "clustering":
        texts, labels = corpus_of(table, rows)
        vectors = encoder.encode(texts)
        found = clustering.score(vectors, labels, seeds=range(seeds)).scores["accuracy"]
        measured = {"accuracy": found, "purity_10": neighbourhood_purity(vectors, labels, 10)}
    else:
        sides = []
        for splits in (("train", "dev"), ("test",)):
            chosen = _mixed(len(table.labels(*splits)), 2 * rows)
            texts = table.texts(*splits)
            sides.append((encoder.encode([texts[place] for place in chosen]), table.labels(*splits)[chosen]))
        measured = {"accuracy_10": intent.score(sides[0], sides[1], shots=(10,)).main}
    measured["stsb"] = stsb(encoder.encode, data, "test").spearman
    return {name: 100 * float(value) for name, value in measured.items()}


def adapt(table: Table, options: argparse.Namespace, seed: int) -> Path:
    """The run's folder, trained if it is not yet. STS-B is scored afterwards, not while it trains."""
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
    command += ["--out", out, "--data", folder]
    command += [word for change in changes for word in ("--set", change)]
    subprocess.run(list(map(str, command)), check=True)
    return out


def difference_table(lines: list[dict[str, Any]]) -> str:
    """The scores before, and the mean and standard deviation of the differences over seeds, as Markdown.

    Parameters
    ----------
    lines : list of dict of str to Any
        Keys `model`, `domain`, `encoder` (`start` or `best`), `seed`, and the scores in percent.
    """
    rows = [
        "| model | domain | score | before | after − before | up in | STS-B test |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    for model, domain in dict.fromkeys((line["model"], line["domain"]) for line in lines):
        own = [line for line in lines if (line["model"], line["domain"]) == (model, domain)]
        before = next(line for line in own if line["encoder"] == "start")
        after = [line for line in own if line["encoder"] == "best"]
        changes = {key: [line[key] - before[key] for line in after] for key in SCORES if key in before}
        price = _spread(changes.pop("stsb"))
        for key, values in changes.items():
            up = f"{sum(value > 0 for value in values)} of {len(values)}"
            cells = (model, domain, SCORES[key], f"{before[key]:.2f}", _spread(values), up, price)
            rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _spread(values: list[float]) -> str:
    deviation = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):+.2f}{deviation}".replace("-", "−")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--domains", default=",".join(DOMAINS))
    parser.add_argument("--seeds", default="42")
    parser.add_argument("--rows", type=int, default=0, help="texts of a corpus; 0: all")
    parser.add_argument("--kmeans", type=int, default=3, help="seeds of K-means")
    parser.add_argument("--encoder", default=MINILM_PACKAGE)
    parser.add_argument("--model", default="MiniLM", help="what the encoder is called in the results")
    parser.add_argument("--precision", choices=("fp32", "bf16"), default="fp32", help="of the scoring")
    parser.add_argument("--results", type=Path, help="file of JSON lines to add to (default: in --work)")
    parser.add_argument("--set", action="append", default=[], help="a setting of the recipe adapt")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    results = options.results or options.work / "results.jsonl"
    lines = [json.loads(line) for line in results.read_text().splitlines()] if results.is_file() else []
    for seed in map(int, options.seeds.split(",")):  # all domains with the first seed come first
        for name in options.domains.split(","):
            table = read_table(load_registry()[name], options.data)
            for kind in ("start", "best"):
                key = {"model": options.model, "domain": name, "encoder": kind}
                key |= {} if kind == "start" else {"seed": seed}
                if any(key.items() <= line.items() for line in lines):
                    continue
                path = options.encoder if kind == "start" else str(adapt(table, options, seed) / kind)
                encoder = load_encoder(path, precision=options.precision)
                lines.append(key | scores(encoder, table, options.rows, options.data, options.kmeans))
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(lines[-1]) + "\n")
                print(json.dumps(lines[-1]), flush=True)
    print(difference_table(lines))


if __name__ == "__main__":
    main()
