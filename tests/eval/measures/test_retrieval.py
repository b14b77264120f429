"""Rankings and their measures against pytrec_eval."""

import numpy as np
import pytest
import pytrec_eval

from eval.protocols import retrieval


def theirs(cosines, queries, documents, judged):
    """pytrec_eval's numbers of each query over whole rankings, by our names."""
    wanted = {
        f"ndcg_cut.{','.join(map(str, retrieval.CUTS))}",
        f"recall.{','.join(map(str, retrieval.CUTS))}",
    }
    run = {
        query: {name: float(value) for name, value in zip(documents, row, strict=True) if name != query}
        for query, row in zip(queries, cosines, strict=True)
    }
    evaluated = pytrec_eval.RelevanceEvaluator(judged, wanted | {"recip_rank"}).evaluate(run)
    names = {"recip_rank": "mrr"}
    names |= {f"ndcg_cut_{cut}": f"ndcg_at_{cut}" for cut in retrieval.CUTS}
    names |= {f"recall_{cut}": f"recall_at_{cut}" for cut in retrieval.CUTS}
    return [{names[key]: value for key, value in evaluated[query].items()} for query in queries]


@pytest.mark.parametrize("seed", range(6))
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
    cosines = retrieval.unit(left) @ retrieval.unit(right).T
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


def test_a_document_with_the_query_s_id_is_ranked_only_when_asked():
    vectors = np.eye(3, dtype=np.float32)
    names = ["a", "b", "c"]
    left_out = retrieval.rankings(vectors, vectors, names, names, depth=2)
    assert left_out == [["c", "b"], ["c", "a"], ["b", "a"]]
    with_own = retrieval.rankings(vectors, vectors, names, names, depth=2, own=True)
    assert with_own == [["a", "c"], ["b", "c"], ["c", "b"]]


def test_blocks_of_queries_change_nothing(monkeypatch):
    generator = np.random.default_rng(1)
    left, right = generator.normal(size=(9, 4)), generator.normal(size=(30, 4))
    names = ([f"q{n}" for n in range(9)], [f"d{n}" for n in range(30)])
    whole = retrieval.rankings(left, right, *names)
    monkeypatch.setattr(retrieval, "_BLOCK", 60)
    assert retrieval.rankings(left, right, *names) == whole


def test_a_perfect_and_an_empty_ranking():
    judged = {"a": 3, "b": 1, "c": 0}
    perfect = retrieval.measures(["a", "b", "c"], judged, cuts=(1, 2))
    assert perfect == pytest.approx(
        {"ndcg_at_1": 1, "recall_at_1": 0.5, "ndcg_at_2": 1, "recall_at_2": 1, "mrr": 1}
    )
    assert set(retrieval.measures([], judged).values()) == {0.0}
    swapped = retrieval.measures(["c", "b", "a"], judged, cuts=(2,))
    assert swapped["ndcg_at_2"] == pytest.approx((1 / np.log2(3)) / (3 + 1 / np.log2(3)))
    assert swapped["mrr"] == 0.5
