"""Dense and lexical search, the choice of negatives, and combining, against slow references."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli import api
from augment_cli.contract.reasons import Reason
from augment_cli.contract.vector_parameters import MineParameters
from augment_cli.encoding.transforms import unit
from augment_cli.engine.engine import Engine
from augment_cli.errors import MixError, UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.reports.soundness import verify
from augment_cli.session import Session
from augment_cli.store.store import Store
from augment_cli.text.surface import normalize
from augment_cli.vectors import lexical, search
from augment_cli.vectors.combine import (
    CombineParameters,
    centred,
    centred_views,
    confirmation,
    kept_weight,
    lexical_vectors,
    side_by_side,
    smoothed,
)
from augment_cli.vectors.lexical import LexicalIndex, TextWeigher
from augment_cli.vectors.search import Neighbours, choose
from augment_cli.vectors.stages import VectorStage, as_column, as_matrix
from augment_cli.vectors.texts import equal_rows
from tests.helpers.training import draw
from tests.helpers.vector_stages import add_vectors

WORDS = [*"abcdefghijklmnop"]


def slow_search(scores, own, candidates, count, below):
    results = []
    for query, row in enumerate(own):
        ranked = sorted(
            (-float(scores[query, place]), int(candidate))
            for place, candidate in enumerate(candidates)
            if candidate != row and scores[query, place] < below and scores[query, place] > -np.inf
        )
        results.append([(candidate, -score) for score, candidate in ranked[:count]])
    return results


@pytest.mark.parametrize("count", [1, 3, 40, 200])
@pytest.mark.parametrize("below", [np.inf, 0.3])
def test_blocked_search_equals_one_at_a_time(count, below, monkeypatch):
    monkeypatch.setattr(search, "QUERY_ROWS", 7)
    generator = np.random.default_rng(count)
    vectors, _ = unit(generator.normal(size=(150, 8)))
    candidates = np.flatnonzero(generator.random(150) < 0.8)
    own = np.arange(20, 60)
    pieces = np.array_split(candidates, 6)
    best = search.search(vectors[own], own, ((rows, vectors[rows]) for rows in pieces), count, below)
    expected = slow_search(vectors[own] @ vectors[candidates].T, own, candidates, count, below)
    for query, wanted in enumerate(expected):
        assert best.row_ids[query][: len(wanted)].tolist() == [row for row, _ in wanted]
        # A cosine near 0 is a sum of numbers near 1, each rounded to float32 in the order of its block.
        np.testing.assert_allclose(
            best.scores[query][: len(wanted)], [score for _, score in wanted], rtol=1e-5, atol=1e-7
        )
        assert (best.row_ids[query][len(wanted) :] == -1).all()
    near = (vectors[own] @ vectors[candidates].T >= below) & (candidates != own[:, None])
    assert best.too_near.tolist() == near.sum(axis=1).tolist()


@pytest.mark.parametrize("count", [1, 2, 5, 30])
def test_of_equal_scores_the_smaller_row_ids_are_taken(count):
    generator = np.random.default_rng(count)
    kinds = unit(generator.normal(size=(4, 6)))[0]
    vectors = kinds[generator.integers(0, 4, 100)]  # so that most scores are shared by some 25 rows
    # One product of small whole numbers for all, the same bits wherever a row stands.
    vectors = np.round(vectors * 8).astype(np.float32)
    own = np.arange(10)
    pieces = np.array_split(np.arange(100), 7)
    best = search.search(vectors[own], own, ((rows, vectors[rows]) for rows in pieces), count)
    expected = slow_search(vectors[own] @ vectors.T, own, np.arange(100), count, np.inf)
    assert best.row_ids.tolist() == [[row for row, _ in wanted] for wanted in expected]


def test_a_column_of_vectors_goes_there_and_back():
    vectors = np.random.default_rng(1).normal(size=(9, 5)).astype(np.float16)
    missing = np.arange(9) % 4 == 1
    column = as_column(vectors, missing)
    for part in (column, column.slice(3, 4), column.slice(9)):
        matrix, present = as_matrix(part)
        start = 0 if part is column else 3 if len(part) else 9
        wanted = slice(start, start + len(part))
        assert (present == ~missing[wanted]).all()
        assert (matrix[present] == vectors[wanted][~missing[wanted]]).all()
        assert not matrix[~present].any()


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    generator = np.random.default_rng(5)
    lines = [" ".join(generator.choice(WORDS, size)) for size in generator.integers(1, 9, 120)]
    lines[40], lines[77], lines[90] = "??? !!!", lines[3].upper() + "!", lines[3]
    folder = tmp_path_factory.mktemp("lexical")
    (folder / "in.txt").write_text("\n".join(lines) + "\n")
    with Session(folder / "store", Engine(1)) as session:
        session.ingest([folder / "in.txt"], IngestOptions(part_rows=50))
        session.fit()
        return session.store


def slow_weights(store, max_df):
    frequency = store.read("terms")["document_frequency"].to_pylist()
    rows = []
    for entry in store.read("tfidf").to_pylist():
        row = np.zeros(len(frequency))
        for term, weight in zip(entry["term_ids"], entry["weights"], strict=True):
            if term >= 0 and frequency[term] <= max(1, max_df * store.rows):
                row[term] = weight
        length = np.linalg.norm(row)
        rows.append(row / length if length else row)
    return np.array(rows)


@pytest.mark.parametrize("count", [1, 3, 8])
def test_of_equal_lexical_scores_the_smaller_row_ids_are_taken(corpus, count, monkeypatch, tmp_path):
    monkeypatch.setattr(lexical, "_BLOCK_CANDIDATES", 50)
    first, _ = equal_rows(corpus, "corpus", normalized=True)
    LexicalIndex.build(corpus, None, 1.0, np.flatnonzero(first == np.arange(120))).save(tmp_path)
    index = LexicalIndex.load(tmp_path)
    assert len(index.candidates) == 3
    scores = np.hstack([(index.matrix[0:120] @ block).toarray() for block in index.candidates])
    scores[scores <= 0] = -np.inf
    best = index.search(0, 120, first, count)
    expected = slow_search(scores, first, index.row_ids, count, np.inf)
    assert [row[row >= 0].tolist() for row in best.row_ids] == [[row for row, _ in one] for one in expected]


@pytest.mark.parametrize("max_df", [1.0, 0.2])
@pytest.mark.parametrize("below", [np.inf, 0.9])
def test_lexical_search_equals_dense_products(corpus, max_df, below, monkeypatch, tmp_path):
    monkeypatch.setattr(lexical, "_BLOCK_PRODUCTS", 500)
    monkeypatch.setattr(lexical, "_BLOCK_CANDIDATES", 50)
    first, _ = equal_rows(corpus, "corpus", normalized=True)
    candidates = np.flatnonzero(first == np.arange(120))
    LexicalIndex.build(corpus, None, max_df, candidates).save(tmp_path)
    index = LexicalIndex.load(tmp_path)
    weights = slow_weights(corpus, max_df)
    np.testing.assert_allclose(index.matrix.toarray(), weights, atol=1e-6)
    best = index.search(30, 100, first[30:100], 5, below)
    scores = weights[30:100] @ weights[candidates].T
    scores[scores <= 0] = -np.inf
    expected = slow_search(scores, first[30:100], candidates, 5, below)
    for query, wanted in enumerate(expected):
        # What is equal in one way of adding differs in the last bits in another, so scores are compared.
        np.testing.assert_allclose(
            best.scores[query][: len(wanted)], [score for _, score in wanted], atol=1e-6
        )
        taken = best.row_ids[query][: len(wanted)]
        np.testing.assert_allclose(
            weights[30 + query] @ weights[taken].T, best.scores[query][: len(wanted)], atol=1e-6
        )
        assert len(set(taken)) == len(wanted) and first[30 + query] not in taken


def test_other_texts_are_weighed_as_the_corpus_is(corpus):
    texts = corpus.read("corpus")["text"].combine_chunks()
    weigher = TextWeigher(corpus, None, 1.0)
    np.testing.assert_allclose(weigher(texts).toarray(), slow_weights(corpus, 1.0), atol=1e-6)
    assert weigher(pa.array(["zebra", ""])).nnz == 0


def test_equal_texts_are_found_across_parts(corpus):
    first, lengths = equal_rows(corpus, "corpus")
    assert first[90] == 3 and first[77] == 77
    first, _ = equal_rows(corpus, "corpus", normalized=True)
    assert first[90] == first[77] == 3
    texts = corpus.read("corpus")["text"].to_pylist()
    assert lengths.tolist() == [len(text) for text in texts]
    assert normalize(pa.array(["  A,b C! ", "??", None])).to_pylist() == ["a b c", "??", None]


def slow_choice(ids, scores, positive, forbidden, limits, draws):
    if np.isnan(positive):
        return [], Reason.NO_POSITIVE
    inside = [rank for rank in range(limits.range_min, min(limits.range_max, len(ids))) if ids[rank] >= 0]
    allowed = [
        rank
        for rank in inside
        if not forbidden[rank]
        and limits.min_score <= scores[rank] <= limits.max_score
        and (not limits.margin or scores[rank] <= positive - limits.margin)
        and (not limits.relative_margin or scores[rank] <= positive * (1 - limits.relative_margin))
    ]
    order = sorted(allowed, key=lambda rank: rank if draws is None else draws[rank])
    taken = sorted(order[: limits.negatives])
    if not inside:
        return taken, Reason.NO_CANDIDATE
    return taken, Reason.TOO_FEW_CANDIDATES if allowed else Reason.ALL_CANDIDATES_SKIPPED


@pytest.mark.parametrize("seed", range(30))
def test_the_choice_equals_one_row_at_a_time(seed):
    generator = np.random.default_rng(seed)
    rows, count, negatives = 25, 12, int(generator.integers(1, 15))
    scores = -np.sort(-generator.random((rows, count)).astype(np.float32), axis=1)
    ids = np.argsort(generator.random((rows, 40)), axis=1)[:, :count]
    for row, there in enumerate(generator.integers(0, count + 1, rows)):
        ids[row, there:], scores[row, there:] = -1, -np.inf
    positive = generator.random(rows).astype(np.float32)
    positive[generator.random(rows) < 0.1] = np.nan

    asked = {"max_score": 0.8, "min_score": 0.1, "margin": 0.1, "relative_margin": 0.2}
    limits = MineParameters(
        negatives=negatives,
        range_min=int(generator.integers(0, 4)),
        range_max=int(generator.integers(5, 15)),
        **{name: value for name, value in asked.items() if generator.random() < 0.5},
    )
    forbidden = generator.random(ids.shape) < 0.1
    draws = generator.random((rows, count)) if generator.random() < 0.5 else None
    chosen = choose(Neighbours(scores, ids, np.zeros(rows)), positive, forbidden, limits, draws)
    for row in range(rows):
        own = (array[row] for array in (ids, scores, positive, forbidden))
        taken, reason = slow_choice(*own, limits, None if draws is None else draws[row])
        assert chosen.row_ids[row][: len(taken)].tolist() == ids[row][taken].tolist()
        assert chosen.ranks[row][: len(taken)].tolist() == taken
        assert (chosen.row_ids[row][len(taken) :] == -1).all()
        if len(taken) < negatives:
            assert chosen.reasons[row][-1] == reason


@pytest.fixture(scope="module")
def clustered():
    generator = np.random.default_rng(3)
    centres = generator.normal(size=(30, 24))
    vectors, _ = unit(centres[generator.integers(0, 30, 900)] + 0.7 * generator.normal(size=(900, 24)))
    return np.arange(900) * 2 + 5, vectors


def test_the_graph_finds_nearly_what_the_exact_search_finds(clustered, tmp_path):
    row_ids, vectors = clustered
    blocks = [(row_ids[some], vectors[some]) for some in (slice(400), slice(400, 400), slice(400, None))]
    search.build_graph(iter(blocks), 24, tmp_path)
    queries, own = vectors[:200], row_ids[:200]
    found = search.search_graph(queries, own, search.open_graph(tmp_path), 10, below=0.9)
    exact = search.search(queries, own, blocks, 10, below=0.9)
    shared = [len({*some} & {*others}) for some, others in zip(found.row_ids, exact.row_ids, strict=True)]
    assert np.mean(shared) > 9.5
    same = found.row_ids == exact.row_ids
    np.testing.assert_allclose(found.scores[same], exact.scores[same], atol=1e-3)
    assert (found.row_ids != own[:, None]).all()
    assert (np.diff(found.scores, axis=1) <= 0).all()
    assert found.scores.max() < 0.9
    assert exact.too_near.sum() > 0
    assert abs(found.too_near - exact.too_near).mean() < 0.1


def test_the_graph_is_the_same_whenever_it_is_built_and_few_candidates_are_enough(clustered, tmp_path):
    row_ids, vectors = clustered
    files = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        search.build_graph([(row_ids[:40], vectors[:40])], 24, tmp_path / name)
        files += (tmp_path / name).iterdir()
    assert files[0].read_bytes() == files[1].read_bytes()
    search.build_graph([(row_ids, vectors)], 24, tmp_path / "one")  # is there already
    found = search.search_graph(vectors[:3], row_ids[:3], search.open_graph(tmp_path / "one"), 50)
    assert (found.row_ids >= 0).sum(axis=1).tolist() == [39, 39, 39]
    assert (found.row_ids[:, 39:] == -1).all()


ROWS = 60


def whole(store, name):
    stage = VectorStage.open(store, "corpus", name)
    return np.concatenate([stage.read(part)[0] for part in range(len(store.parts))]).astype(np.float32)


def unit_of(vector):
    length = np.linalg.norm(vector)
    return vector / length if length else vector


def slow_smoothed(vectors, count, rounds, guide):
    there = [row for row in range(len(vectors)) if vectors[row].any()]
    moved, telling = ({row: unit_of(one[row]) for row in there} for one in (vectors, guide))
    for _ in range(rounds):
        mean = np.mean([telling[row] for row in there], axis=0)
        about = {row: unit_of(telling[row] - mean) for row in there}
        after = {}, {}
        for row in there:
            others = sorted((other for other in there if other != row), key=lambda o: -about[row] @ about[o])
            for old, new in zip((moved, telling), after, strict=True):
                new[row] = unit_of(old[row] + np.mean([old[other] for other in others[:count]], axis=0))
        moved, telling = after
    return np.array([moved.get(row, np.zeros(vectors.shape[1])) for row in range(len(vectors))])


@given(st.integers(0, 2**16), st.integers(1, 5), st.integers(0, 3))
def test_smoothing_is_the_mean_of_the_nearest_others(seed, count, rounds):
    vectors = draw(12, 4, seed=seed)
    vectors[3] = 0
    vectors = np.array([unit_of(vector) for vector in vectors])
    found = smoothed(vectors.astype(np.float32), count, rounds)
    np.testing.assert_allclose(found, slow_smoothed(vectors, count, rounds, vectors), atol=1e-4)
    guide = np.array([unit_of(vector) for vector in draw(12, 3, seed=seed + 1)])
    guided = smoothed(vectors.astype(np.float32), count, rounds, guide.astype(np.float32))
    np.testing.assert_allclose(guided, slow_smoothed(vectors, count, rounds, guide), atol=1e-4)
    assert not found[3].any()
    assert not guided[3].any()


@pytest.mark.parametrize("vectors", [np.zeros((3, 2)), np.ones((4, 2)), np.eye(1, 3), np.zeros((0, 2))])
def test_nothing_to_tell_apart_gives_numbers(vectors):
    """Nothing but zeros, equal vectors, one alone, none."""
    found = smoothed(centred(vectors.astype(np.float32)), 10, 2)
    assert found.shape == vectors.shape
    assert np.isfinite(found).all()


@pytest.fixture
def two_sets(store):
    """The store of three parts with two sets of vectors; a row has none in the second."""
    second = draw(ROWS, 3, seed=1)
    second[7] = np.nan
    add_vectors(store.path, "corpus", draw(ROWS, 5) + 1, "start")
    add_vectors(store.path, "corpus", second, "words", model="other")
    return store.path


def test_a_cosine_is_the_weighted_mean_of_the_sets_cosines(two_sets):
    store = Store.open(two_sets)
    parameters = CombineParameters(weights="1,0.5", lexical=0)
    vectors = side_by_side(centred_views(store, ["start", "words"], parameters), parameters)
    parts = [centred(whole(store, name)) for name in ("start", "words")]
    expected = (parts[0] @ parts[0].T + 0.25 * (parts[1] @ parts[1].T)) / 1.25
    both = np.array([row for row in range(ROWS) if row != 7])
    np.testing.assert_allclose(
        (vectors @ vectors.T)[np.ix_(both, both)], expected[np.ix_(both, both)], atol=1e-5
    )


def test_what_is_kept_counts_beside_what_is_smoothed(two_sets):
    def cosines(**parameters):
        store = api.combine(two_sets, ["start", "words"], lexical=0, neighbours=3, jobs=1, **parameters)
        vectors = whole(store, parameters["name"])
        return vectors @ vectors.T

    own = centred(whole(Store.open(two_sets), "start"))
    expected = (cosines(name="smooth", keep="0") + 0.25 * own @ own.T) / 1.25
    # Stored in half precision.
    np.testing.assert_allclose(cosines(name="kept", keep="0.5"), expected, atol=5e-3)


def test_more_is_kept_where_words_see_other_groups():
    generator = np.random.default_rng(0)
    seen = np.eye(33)[np.arange(1_000) % 33]  # a thousand texts in as many groups as are made of them
    views = [(seen + generator.normal(0, 0.03, seen.shape)).astype(np.float32) for _ in range(2)]
    own, same, other = centred(views[0]), centred(views[1]), centred(generator.permutation(views[1]))
    assert abs(confirmation(own, other)) < 0.2
    assert (kept_weight(own, same), kept_weight(own, other)) == (0, 10)
    assert confirmation(own[:300], same[:300]) > 0.9
    assert kept_weight(own[:300], same[:300]) == 1.4  # few texts are never sure


@pytest.mark.parametrize("rows", [1, 2, 12])
def test_of_few_texts_or_equal_ones_the_weight_is_a_number(rows):
    same = centred(np.ones((rows, 3), np.float32))
    assert 0 <= kept_weight(same, same) <= 10
    own = centred(draw(rows, 3).astype(np.float32))
    assert 0 <= kept_weight(own, own) <= 10


def test_words_of_equal_texts_are_numbers(tmp_path):
    api.ingest_corpus(store=tmp_path / "store", texts=["The river flows past the mill."] * 30)
    api.fit(store=tmp_path / "store")
    assert not lexical_vectors(Store.open(tmp_path / "store"), 10).any()


def test_it_is_a_set_of_vectors_like_any_other(two_sets, tiny_encoder):
    store = api.combine(two_sets, ["start", "words"], name="teacher", weights="1,0.5", neighbours=3, jobs=1)
    assert verify(store) == []
    stage = VectorStage.open(store, "corpus", "teacher")
    np.testing.assert_allclose(np.linalg.norm(whole(store, "teacher"), axis=1), 1, atol=2e-3)
    digest = store.stage("vectors-teacher").digest
    again = api.combine(two_sets, ["start", "words"], name="teacher", weights="1,0.5", neighbours=3, jobs=1)
    assert again.stage("vectors-teacher").digest == digest
    with pytest.raises(MixError, match="vectors-teacher"):
        api.combine(two_sets, ["start"], name="teacher", jobs=1)
    with pytest.raises(MixError, match="vectors-teacher"):  # nor does an encoder write into it
        api.embed(two_sets, name="teacher", model=tiny_encoder, jobs=1)
    api.mine(two_sets, by="vectors", vectors="teacher", stage="near", range_max=20, jobs=1)
    with pytest.raises(MixError, match="cannot be compared"):
        stage.check_comparable(VectorStage.open(Store.open(two_sets), "corpus", "words"))


def test_the_command_that_makes_it_again(two_sets):
    from augment_cli.reports.soundness import kind_of

    store = api.combine(two_sets, ["start", "words"], name="t", weights="1,0.5", rounds=1, jobs=1)
    command = kind_of(store.stage("vectors-t")).command(store, "vectors-t")
    assert command == ["combine", "start", "words", "--weights", "1,0.5", "--rounds", "1", "--name", "t"]


@pytest.mark.parametrize(
    ("sets", "parameters", "said"),
    [
        (["start"], {"weights": "1,2"}, "--weights 1,2: must be 1 to 1 numbers above 0"),
        (["start"], {"weights": "-1"}, "--weights -1: must be"),
        (["start"], {"keep": "some"}, "--keep some: must be auto or a number"),
        (["start"], {"keep": "1e7"}, "--keep 1e7: must be auto or a number from 0 to 1,000,000"),
        (["start"], {"weights": "1e7"}, "--weights 1e7: must be"),
        ([], {"lexical": 0.0}, "nothing to combine"),
        (["nobody"], {}, "has no vectors of 'corpus' \\(vectors-nobody\\)"),
    ],
)
def test_what_is_refused(two_sets, sets, parameters, said):
    with pytest.raises(UsageError, match=said):
        api.combine(two_sets, sets, name="teacher", jobs=1, **parameters)
