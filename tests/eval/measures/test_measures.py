"""Measures against libraries and direct computations: classifiers, geometry, rankings, similarity."""

import itertools
import math
import signal
from importlib.util import find_spec

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st
from joblib import delayed
from scipy.spatial.distance import cosine as distance
from scipy.stats import entropy, hmean

from augment_cli.errors import MissingError, UsageError
from eval.measures import geometry
from eval.measures.classification import train_and_predict
from eval.measures.geometry import NEAREST, correlation, cosine, finds_own, halves, nearest, shared_neighbours
from eval.measures.kmeans import hungarian_accuracy
from eval.measures.processes import parallel
from eval.protocols import retrieval
from tests.helpers.training import draw


def test_a_split_learns_the_same_beside_others_as_alone():
    generator = np.random.default_rng(0)
    labels, vectors = np.array(list("abcd") * 20), generator.normal(size=(80, 8))
    rows = [generator.permutation(60) for _ in range(3)]
    splits = [(each[:40], each[40:]) for each in rows]
    beside = train_and_predict(vectors, labels, splits, vectors[60:])
    assert beside[0].tolist() == train_and_predict(vectors, labels, splits[:1], vectors[60:])[0].tolist()
    assert len({tuple(answers) for answers in beside}) == 3
    wider = np.pad(vectors, ((0, 0), (0, 500)))  # columns that say nothing
    assert train_and_predict(wider, labels, splits, wider[60:]).tolist() == beside.tolist()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_accuracy_is_that_of_the_best_permutation(rows):
    gold, clusters = (np.array(column) for column in zip(*rows, strict=True))
    best = max(
        np.mean([order[cluster] == label for label, cluster in rows])
        for order in itertools.permutations(range(4))
    )
    assert hungarian_accuracy(gold, clusters) == pytest.approx(best)


@pytest.mark.parametrize(("jobs", "seconds"), [(1, 1000), (2, 1)])
def test_one_job_or_a_little_work_is_done_in_this_process(jobs, seconds):
    assert (
        parallel(jobs, seconds)(delayed(signal.getsignal)(signal.SIGINT) for _ in "ab")
        == [signal.getsignal(signal.SIGINT)] * 2
    )


@pytest.mark.slow
def test_workers_leave_ctrl_c_to_their_parent():
    handlers = parallel(2, 1000, timeout=120)(delayed(signal.getsignal)(signal.SIGINT) for _ in range(4))
    assert set(handlers) == {signal.SIG_IGN}


@pytest.fixture()
def vectors():
    return np.random.default_rng(0).normal(size=(40, 6)) + 0.5


def unit_rows(vectors):
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_alignment_uniformity_and_anisotropy_equal_loops_over_pairs(vectors):
    rows = unit_rows(vectors)
    pairs = list(itertools.combinations(rows, 2))
    squares = [sum((a - b) ** 2) for a, b in pairs]
    assert geometry.uniformity(vectors) == pytest.approx(
        math.log(np.mean([math.exp(-2 * s) for s in squares]))
    )
    assert geometry.anisotropy(vectors) == pytest.approx(np.mean([a @ b for a, b in pairs]))
    aligned = np.mean([sum((a - b) ** 2) for a, b in zip(rows[:20], rows[20:], strict=True)])
    assert geometry.alignment(vectors[:20], vectors[20:]) == pytest.approx(aligned)


def test_blocks_do_not_change_uniformity_or_purity(vectors, monkeypatch):
    labels = [str(i % 3) for i in range(40)]

    def measured():
        return geometry.uniformity(vectors), *geometry.neighbourhoods_by_row(vectors, labels, [5])["purity_5"]

    before = measured()
    monkeypatch.setattr(geometry, "_BLOCK", 7)
    assert before == pytest.approx(measured())


def test_effective_rank_condition_and_their_harmonic_mean_equal_the_definition(vectors):
    def direct(matrix):
        values = np.sqrt(np.maximum(np.linalg.eigvalsh(matrix.T @ matrix), 0))[::-1]
        rank = math.exp(entropy(values / values.sum()))
        return rank, values[0] / values[math.floor(rank) - 1]

    other = vectors * [9, 3, 1, 1, 0.1, 0.01]
    assert geometry.effective_rank(vectors) == pytest.approx(direct(vectors)[0])
    expected = hmean([direct(vectors)[1], direct(other)[1]])
    assert geometry.cond_hm(vectors, other) == pytest.approx(expected)


def test_singular_value_gap_equals_the_definition_and_is_zero_for_rotations(vectors):
    other = vectors * [9, 3, 1, 1, 0.1, 0.01]
    a, b = (np.linalg.svd(matrix)[1] for matrix in (vectors, other))
    assert geometry.singular_value_gap(vectors, other) == pytest.approx(((np.log(a) - np.log(b)) ** 2).sum())
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 6)))[0]
    assert geometry.singular_value_gap(vectors, vectors @ turn) == pytest.approx(0, abs=1e-20)
    # Directions without any extent have no logarithm; they are left out instead of making the gap infinite.
    flat = vectors * [1, 1, 1, 1, 1, 0]
    assert math.isfinite(geometry.singular_value_gap(vectors, flat))


def test_neighbourhoods_equal_a_loop_over_neighbours(vectors):
    labels = [str(i % 3) for i in range(40)]
    rows = unit_rows(vectors)
    found = geometry.neighbourhoods_by_row(vectors, labels, (1, 4, 39))
    for count in (1, 4, 39):
        shares, distances = [], []
        for i, row in enumerate(rows):
            near = sorted((j for j in range(40) if j != i), key=lambda j: -float(row @ rows[j]))[:count]
            shares.append(np.mean([labels[j] == labels[i] for j in near]))
            distances.append(np.mean([1 - float(row @ rows[j]) for j in near]))
        assert found[f"purity_{count}"] == pytest.approx(np.array(shares))
        assert found[f"distance_{count}"] == pytest.approx(np.array(distances), abs=1e-6)
    with pytest.raises(UsageError, match="choose 1 to 39"):
        geometry.neighbourhoods_by_row(vectors, labels, [40])


def test_too_little_to_measure_is_nan():
    one, zeros = np.ones((1, 3)), np.zeros((3, 3))
    found = [geometry.uniformity(one), geometry.anisotropy(one), geometry.alignment(one[:0], one[:0])]
    found += [geometry.effective_rank(zeros), geometry.cond_hm(zeros, np.eye(3))]
    assert np.isnan([*found, geometry.singular_value_gap(zeros, np.eye(3))]).all()


@pytest.mark.skipif(find_spec("gudhi") is not None, reason="gudhi is here")
def test_gromov_hausdorff_needs_gudhi(vectors):
    with pytest.raises(MissingError, match="pip install gudhi"):
        geometry.gromov_hausdorff(vectors, vectors)


def theirs(cosines, queries, documents, judged):
    """pytrec_eval's numbers of each query over whole rankings, by our names."""
    cuts = ",".join(map(str, retrieval.CUTS))
    run = {
        query: {name: float(value) for name, value in zip(documents, row, strict=True) if name != query}
        for query, row in zip(queries, cosines, strict=True)
    }
    wanted = {f"ndcg_cut.{cuts}", f"recall.{cuts}", "recip_rank"}
    evaluated = pytrec_eval.RelevanceEvaluator(judged, wanted).evaluate(run)
    names = {"recip_rank": "mrr"}
    names |= {f"ndcg_cut_{cut}": f"ndcg_at_{cut}" for cut in retrieval.CUTS}
    names |= {f"recall_{cut}": f"recall_at_{cut}" for cut in retrieval.CUTS}
    return [{names[key]: value for key, value in evaluated[query].items()} for query in queries]


@pytest.mark.parametrize("seed", range(3))
def test_every_number_of_every_query_is_pytrec_evals(seed):
    generator = np.random.default_rng(seed)
    # Small whole numbers, so that many cosines tie; ids that are a query's too; a judged one that is gone.
    documents = [f"d{n}" for n in range(380)] + [f"q{n}" for n in range(10)] + ["é", "日本", "D"]
    queries = [f"q{n}" for n in range(20)]
    left, right = (generator.integers(-2, 3, (len(x), 3)).astype(np.float32) for x in (queries, documents))
    judged = {
        query: {
            str(name): int(generator.integers(-1, 4))
            for name in generator.choice([*documents, "gone"], generator.integers(1, 60), replace=False)
        }
        for query in queries
    }
    judged["q0"] = {"d1": 0}  # nothing is relevant
    ranked = retrieval.rankings(left, right, queries, documents)
    cosines = geometry.unit(left).astype(np.float32) @ geometry.unit(right).astype(np.float32).T
    for query, ids, expected in zip(
        queries, ranked, theirs(cosines, queries, documents, judged), strict=True
    ):
        actual = retrieval.measures(ids, {name: g for name, g in judged[query].items() if name != query})
        # Their ideal counts the document with the query's id where it is judged; BEIR's sets judge none.
        if query not in judged[query]:
            assert actual == pytest.approx(expected, abs=1e-12), query


def test_ties_at_the_last_rank_are_decided_by_the_id_too():
    documents = [f"d{n}" for n in np.random.default_rng(0).permutation(50)]
    vectors = np.ones((50, 2), np.float32)
    (ids,) = retrieval.rankings(vectors[:1], vectors, ["q"], documents, depth=7)
    assert ids == sorted(documents, reverse=True)[:7]


def test_blocks_of_queries_change_nothing(monkeypatch):
    generator = np.random.default_rng(1)
    left, right = generator.normal(size=(9, 4)), generator.normal(size=(30, 4))
    names = ([f"q{n}" for n in range(9)], [f"d{n}" for n in range(30)])
    whole = retrieval.rankings(left, right, *names)
    monkeypatch.setattr(retrieval, "_BLOCK", 60)
    assert retrieval.rankings(left, right, *names) == whole


def test_cosine_equals_scipy_and_zero_vectors_are_orthogonal_to_all():
    generator = np.random.default_rng(1)
    first, second = generator.normal(size=(2, 20, 7))
    expected = [1 - distance(a, b) for a, b in zip(first, second, strict=True)]
    np.testing.assert_allclose(cosine(first, second), expected, atol=1e-12)
    assert cosine(np.zeros((1, 3)), np.ones((1, 3))) == [0]


@pytest.mark.parametrize(
    ("similarity", "gold", "reason"),
    [
        ([0.5, 0.5, 0.5], [1, 2, 3], "all similarities are equal"),
        ([0.1, np.nan, 0.5], [1, 2, 3], "NaN or infinite"),
        ([0.1, 0.2, 0.5], [2, 2, 2], "all gold scores are equal"),
        ([0.1], [2], "fewer than two pairs"),
    ],
)
def test_correlations_that_are_not_defined_are_nan_with_the_reason(similarity, gold, reason):
    spearman, pearson, note = correlation(np.array(similarity), np.array(gold))
    assert math.isnan(spearman)
    assert math.isnan(pearson)
    assert reason in note


def brute_nearest(vectors):
    rows = unit_rows(unit_rows(vectors) - unit_rows(vectors).mean(axis=0))
    others = [[j for j in range(len(rows)) if j != i] for i in range(len(rows))]
    return [set(sorted(near, key=lambda j: -rows[i] @ rows[j])[:NEAREST]) for i, near in enumerate(others)]


def test_neighbours_are_those_of_the_definition():
    vectors = draw(40, 5)
    near = brute_nearest(vectors)
    assert [set(np.flatnonzero(row)) for row in nearest(vectors)] == near
    shared = np.mean([len(near[i] & near[j]) / NEAREST for i in range(40) for j in near[i]])
    assert shared_neighbours(vectors).mean() == pytest.approx(shared, rel=1e-6)


@pytest.mark.parametrize("text", ["one two three four five", "two words", "词语没有空格", "x", ""])
def test_halves_share_a_text_out(text):
    first, second = halves(text, np.random.default_rng(3))
    assert sorted((first + second).replace(" ", "")) == sorted(text.replace(" ", ""))
    size = len if " " not in text else lambda half: len(half.split())
    assert 0 <= size(second) - size(first) <= 1


@pytest.mark.parametrize(
    ("text", "longest", "first"),
    [("one two  three", 2, "one two"), ("one two  three", 3, "one two  three"), ("词语没有空格", 2, "词语")],
)
def test_an_opening_is_of_words_or_of_characters_without_spaces(text, longest, first):
    assert geometry.opening(text, longest) == first


@pytest.mark.parametrize("count", [0, 1, 30])
def test_own_is_found_where_no_other_is_nearer(count):
    generator = np.random.default_rng(count)
    first, second = generator.normal(size=(2, count, 3))
    one, other = unit_rows(first), unit_rows(second)
    found = finds_own(first, second)
    assert found.dtype == bool
    assert found.tolist() == [max(other @ one[row]) == other[row] @ one[row] for row in range(count)]
    assert finds_own(np.eye(2)[[0, 0]], np.eye(2)[[0, 0]]).tolist() == [
        True,
        False,
    ]  # of equal ones the first
