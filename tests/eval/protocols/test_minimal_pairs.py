"""The minimal pairs that ship, and how they are scored."""

import re

import numpy as np
import pytest

from eval.contract import Options, Progress
from eval.protocols.minimal_pairs import PROTOCOL, score
from eval.tasks.meaning import KINDS, minimal_pairs_table
from tests.helpers.commands import typed

TABLE = minimal_pairs_table()


def words(text):
    return set(re.findall(r"\w+", text.lower()))


def jaccard(one, other):
    return len(words(one) & words(other)) / len(words(one) | words(other))


def test_the_file_has_a_hundred_different_triples_of_each_kind():
    columns = TABLE.columns
    assert set(columns["kind"]) == set(KINDS)
    assert all(100 <= columns["kind"].count(kind) <= 112 for kind in KINDS)
    rows = list(zip(*(columns[name] for name in ("sentence", "same", "changed")), strict=True))
    assert len({row[0] for row in rows}) == len(rows) == len({row[1] for row in rows})
    assert all(text == text.strip() and len(set(row)) == 3 for row in rows for text in row)
    # Words alone mislead: that is what the task asks for.
    misled = [jaccard(row[0], row[2]) > jaccard(row[0], row[1]) for row in rows]
    assert sum(misled) >= 0.97 * len(rows)


def reference(vectors):
    """Shares of right triples by kind, triple by triple."""
    right = {}
    for row, kind in enumerate(TABLE.columns["kind"]):
        one, same, changed = (
            vectors[TABLE.columns[name][row]] / np.linalg.norm(vectors[TABLE.columns[name][row]])
            for name in TABLE.task.text_columns
        )
        right.setdefault(kind, []).append(one @ same > one @ changed)
    return {kind: sum(values) / len(values) for kind, values in right.items()}


def test_accuracies_are_those_of_a_count_by_hand():
    rng = np.random.default_rng(1)
    known = {text: rng.normal(size=4) for text in TABLE.every_text(("test",))}
    found = PROTOCOL.score(
        TABLE, lambda texts: np.array([known[text] for text in texts]), Options(), Progress()
    )
    expected, kinds = reference(known), TABLE.columns["kind"]
    assert found.scores == pytest.approx(
        {f"accuracy_{kind}": value for kind, value in expected.items()}
        | {"accuracy": sum(expected[kind] for kind in kinds) / len(kinds), "margin": found.scores["margin"]}
    )
    assert 0 < found.main < 1 and found.main == found.scores["accuracy"] == found.items["correct"].mean()
    rows = PROTOCOL.rows(found.scores)
    assert list(rows) == ["all", *KINDS] and rows["entity"][0] == pytest.approx(expected["entity"])


def test_a_tie_does_not_count_and_vectors_that_are_not_numbers_are_noted():
    one, kinds = np.ones((2, 3)), np.array(["entity", "number"])
    assert score(one, one, one, kinds).scores["accuracy"] == 0
    bad = score(one, one * np.nan, one, kinds)
    assert np.isnan(bad.main) and bad.notes


def test_the_command_scores_them_without_a_data_folder(tiny_encoder, tmp_path):
    done = typed("eval", tiny_encoder, "--minimal-pairs", "--no-plots", "--no-cache", "--out", tmp_path)
    assert "role switch" in done.stdout
