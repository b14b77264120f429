"""The small encoders, and a toy set of each protocol."""

import dataclasses
import gzip
import json

import numpy as np
import pytest

from eval.measures import classification
from eval.protocols import clustering, intent
from tests.helpers.small_encoders import old_layout, one_thread, plain_model, sentences

__all__ = ["old_layout", "one_thread", "plain_model", "sentences", "world"]

PAIR = ("sentence1", "sentence2")
PARTS = {"train": 30, "dev": 20, "test": 10}
SETS = {
    "sts": ("sts", "sts/a.tsv.gz", PAIR, "score", "test", "spearman", {"test": 20}),
    "mr": ("transfer", "x/mr.tsv.gz", ("text",), "label", "all", "accuracy", {"all": 60}),
    "mrpc": ("transfer", "x/mrpc.tsv.gz", PAIR, "label", "test", "accuracy", {"train": 30, "test": 10}),
    "cola": ("cola", "x/cola.tsv.gz", ("text",), "label", "dev", "accuracy", {"train": 30, "dev": 10}),
    "cluster": ("clustering", "x/c.tsv.gz", ("text",), "label", "all", "accuracy", {"all": 60}),
    "intent": ("intent", "x/i.tsv.gz", ("text",), "label", "test", "accuracy", PARTS),
    "order": ("ordering", "x/o.tsv.gz", ("premise", "hypothesis"), "label", "dev", "accuracy", {"dev": 30}),
    "geo": ("geometry", "sts/a.tsv.gz", PAIR, "score", "test", "uniformity", {"test": 20}),
    "nli": ("geometry-nli", "x/o.tsv.gz", ("premise", "hypothesis"), "label", "dev", "svg_A_E", {"dev": 30}),
    "pure": ("purity", "x/c.tsv.gz", ("text",), "label", "all", "purity_10", {"all": 60}),
}


@pytest.fixture()
def world(tmp_path, sentences, monkeypatch):
    """A data folder with a set of each protocol, and its registry; few folds, seeds and splits."""
    few = dataclasses.replace(classification.CLASSIFIERS["logistic-regression"], folds=2)
    monkeypatch.setitem(classification.CLASSIFIERS, "logistic-regression", few)
    monkeypatch.setattr(clustering, "SEEDS", (0, 1))
    monkeypatch.setattr(intent, "SHOTS", (5,))
    generator = np.random.default_rng(0)
    registry = []
    for name, (protocol, file, texts, label, split, metric, counts) in SETS.items():
        columns = ["split", label, *texts]
        rows = []
        for part, count in counts.items():
            for number in range(count):
                gold = {"score": f"{number % 6}", "label": "enc"[number % 3]}[label]
                drawn = [sentences[i] for i in generator.integers(0, len(sentences), len(texts))]
                drawn = [f"premise {number // 3}", drawn[1]] if texts[0] == "premise" else drawn
                rows.append("\t".join([part, gold, *drawn]))
        path = tmp_path / "data" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_bytes(gzip.compress(("\n".join(["\t".join(columns), *rows]) + "\n").encode()))
        table = ", ".join(f"{part} = {count}" for part, count in counts.items())
        registry.append(
            f'[{name}]\ntitle = "{name.upper()}"\nprotocol = "{protocol}"\n'
            f'file = "{file}"\nsuites = ["toy"]\n'
            f"columns = {json.dumps(columns)}\ntext_columns = {json.dumps(texts)}\n"
            f'label_column = "{label}"\nsplit = "{split}"\nmetric = "{metric}"\ncounts = {{ {table} }}\n'
            "gold_range = [0, 5]\n"
        )
    (tmp_path / "tasks.toml").write_text("\n".join(registry))
    return tmp_path
