"""The measure behind the table of signals, against scikit-learn's; the table counts what was judged."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.session import Session
from augment_cli.vectors.score import ScoreOptions
from benchmarks.signal_quality import (
    SIGNALS,
    auc,
    column_of,
    edited_share,
    read_judged,
    says_something,
    scores_of,
)


def test_auc_is_scikit_learns_ties_included():
    from sklearn import metrics

    rng = np.random.default_rng(0)
    for _ in range(20):
        right, wrong = rng.integers(0, 6, rng.integers(1, 30)), rng.integers(0, 5, rng.integers(1, 30))
        labels = [1] * len(right) + [0] * len(wrong)
        expected = metrics.roc_auc_score(labels, np.concatenate([right, wrong]))
        assert auc(right.astype(float), wrong.astype(float)) == pytest.approx(expected)
    assert np.isnan(auc(np.array([1.0, np.nan]), np.array([np.nan])))


def test_signs_point_to_what_is_right():
    better, worse = np.array([0.9, 1.1]), np.array([0.2, 3.0])
    assert (SIGNALS["length_ratio"](better) > SIGNALS["length_ratio"](worse)).all()
    assert (SIGNALS["edited_share"](np.array([0.1])) > SIGNALS["edited_share"](np.array([0.4]))).all()


def test_the_edited_share_counts_the_characters_of_changed_words():
    assert edited_share("a big dog", "a big dog") == 0
    assert edited_share("big", "red") == 1
    assert edited_share("a big dog", "a tiny dog") == pytest.approx(7 / 15)


def test_scores_meet_the_outputs_that_were_judged(tmp_path):
    lines = [
        {"text": "the old dog", column_of("una"): "the dog"},
        {"text": "a further sentence"},
        {"text": "the cat", column_of("una"): "the black cat"},
    ]
    column = column_of("una")
    (tmp_path / "in.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with Session(tmp_path / "store", Engine(1)) as session:
        session.ingest([tmp_path / "in.jsonl"], IngestOptions(positive_columns=(column,)))
        session.score(column, ScoreOptions(("length_ratio",)))
        scores = scores_of(session.store, "una")
    np.testing.assert_allclose(scores["length_ratio"], [7 / 11, 13 / 7], rtol=1e-6)


def test_the_table_is_of_what_is_judged_now():
    document = (Path(__file__).parents[2] / "benchmarks/results/signals.md").read_text("utf-8")
    part = document.split("<!-- signal quality -->")[1].split("<!-- end signal quality -->")[0]
    shown = {
        name: (int(read), int(good)) for name, read, good in re.findall(r"\| `(\S+)` \| (\d+) \| (\d+)", part)
    }
    judged = {name: rows for name, rows in read_judged().items() if says_something(rows, 5)}
    assert shown == {
        name: (len(rows), sum(row["verdict"] == "good" for row in rows)) for name, rows in judged.items()
    }
