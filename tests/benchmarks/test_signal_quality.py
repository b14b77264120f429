"""The measure behind the table of signals, against scikit-learn's."""

import json

import numpy as np
import pytest

from benchmarks.signal_quality import JUDGEMENTS, SIGNALS, auc, digest_of, judged_scores


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


def test_judgements_meet_their_outputs_by_original_and_text(store):
    import pyarrow as pa

    texts, outputs = (store.read(name)["text"].to_pylist() for name in ("corpus", "una"))
    rows = [row for row, output in enumerate(outputs) if output is not None][:4]
    labels = {digest_of(texts[row], outputs[row]): row % 2 == 0 for row in rows}
    labels["0" * 12] = True
    columns = pa.table({name: np.arange(store.rows, dtype=np.float32) for name in SIGNALS})

    class Scored:
        """The store, with scores that are the row's number."""

        @staticmethod
        def read(name):
            return columns if name == "scores-una" else store.read(name)

    scores, is_right, missing = judged_scores(Scored, "una", labels)
    assert scores["cosine"].tolist() == rows and missing == 1
    assert is_right.tolist() == [row % 2 == 0 for row in rows]


def test_the_judgements_are_what_the_table_says():
    judged = json.loads(JUDGEMENTS.read_text("utf-8"))
    counts = {stage: (len(labels), sum(labels.values())) for stage, labels in judged.items()}
    assert counts == {"synonym": (50, 36), "paraphrase": (44, 37), "dn": (50, 3), "negation": (45, 38)}
