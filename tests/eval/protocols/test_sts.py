"""STS: correlations equal scipy's, synthetic pairs have known scores, what is not defined is named."""

import gzip

import numpy as np
import pytest
from scipy import stats

from augment_cli.errors import BadInputError, MissingError
from eval.protocols.sts import score_pairs, stsb
from eval.tasks.table import Pairs

COLUMNS = "split\tgenre\tsubtask\tyear\tscore\tsentence1\tsentence2"


def angle_encoder(texts):
    """Each text is an angle in degrees; its vector points there."""
    angles = np.radians([float(text) for text in texts])
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def pairs_of_angles(angles, gold, subsets=None):
    return Pairs(
        ["0"] * len(angles), [str(a) for a in angles], np.array(gold), subsets or ["s"] * len(angles)
    )


def test_gold_that_falls_with_the_angle_scores_one():
    score = score_pairs(angle_encoder, pairs_of_angles([5, 20, 40, 60, 90], [5, 4, 3, 1, 0]))
    assert score.spearman == pytest.approx(1)
    assert 0.9 < score.pearson < 1
    assert score_pairs(angle_encoder, pairs_of_angles([5, 20, 40], [0, 1, 2])).spearman == pytest.approx(-1)


def test_all_concatenates_subsets_and_the_means_weigh_them():
    generator = np.random.default_rng(0)
    angles, gold = generator.uniform(0, 180, 90), generator.uniform(0, 5, 90)
    subsets = ["a"] * 60 + ["b"] * 30
    score = score_pairs(angle_encoder, pairs_of_angles(angles, gold, subsets))
    similarity = np.cos(np.radians(angles))
    assert score.spearman == pytest.approx(stats.spearmanr(similarity, gold)[0], abs=1e-6)
    assert score.pearson == pytest.approx(stats.pearsonr(similarity, gold)[0], abs=1e-6)
    first = stats.spearmanr(similarity[:60], gold[:60])[0]
    second = stats.spearmanr(similarity[60:], gold[60:])[0]
    assert score.mean_spearman == pytest.approx((first + second) / 2, abs=1e-6)
    assert score.weighted_spearman == pytest.approx((2 * first + second) / 3, abs=1e-6)
    assert score.subsets["b"][:2] == (30, pytest.approx(second, abs=1e-6))


def write_stsb(folder, rows):
    (folder / "sts").mkdir()
    with gzip.open(folder / "sts" / "stsb.tsv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join([COLUMNS, *rows]) + "\n")


def test_stsb_reads_one_split_and_quotes_are_ordinary_characters(tmp_path):
    rows = [
        f"{split}\tnews\tx\t2012\t{gold}\t0\t{angle}"
        for split in ("dev", "test")
        for gold, angle in ((5, 1), (3, 30), (0, 80 if split == "dev" else 10))
    ]
    write_stsb(tmp_path, rows)
    assert stsb(angle_encoder, tmp_path).spearman == pytest.approx(1)
    assert stsb(angle_encoder, tmp_path, "test").spearman == pytest.approx(0.5)
    with pytest.raises(BadInputError, match="no rows of the split 'all'"):
        stsb(angle_encoder, tmp_path, "all")
    with pytest.raises(MissingError, match="set DATA to the data folder"):
        stsb(angle_encoder, tmp_path / "elsewhere")


def test_sentences_of_stsb_are_split_at_whitespace_and_rejoined_before_encoding(tmp_path):
    seen = []

    def encode(texts):
        seen.extend(texts)
        return np.eye(len(texts))

    write_stsb(tmp_path, ["dev\tnews\tx\t2012\t5\t a  b \tc \u00a0d"])
    stsb(encode, tmp_path)
    assert seen == ["a b", "c d"]
