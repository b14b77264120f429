"""combine: against slow references, as a stage that is told apart, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli import api
from augment_cli.errors import MixError, UsageError
from augment_cli.reports.soundness import verify
from augment_cli.store.store import Store
from augment_cli.vectors.combine import (
    CombineParameters,
    centred,
    centred_views,
    confirmation,
    kept_weight,
    lexical_vectors,
    nearest,
    side_by_side,
    smoothed,
)
from augment_cli.vectors.stages import VectorStage
from tests.helpers.cached_vectors import add_vectors
from tests.helpers.training import draw

ROWS = 60


def whole(store, name):
    """All vectors of a set, float32."""
    stage = VectorStage.open(store, "corpus", name)
    return np.concatenate([stage.read(part)[0] for part in range(len(store.parts))]).astype(np.float32)


def unit(vector):
    length = np.linalg.norm(vector)
    return vector / length if length else vector


def slow_smoothed(vectors, count, rounds):
    there = [row for row in range(len(vectors)) if vectors[row].any()]
    moved = {row: unit(vectors[row]) for row in there}
    for _ in range(rounds):
        mean = np.mean([moved[row] for row in there], axis=0)
        about = {row: unit(moved[row] - mean) for row in there}
        after = {}
        for row in there:
            others = sorted((other for other in there if other != row), key=lambda o: -about[row] @ about[o])
            after[row] = unit(moved[row] + np.mean([moved[other] for other in others[:count]], axis=0))
        moved = after
    return np.array([moved.get(row, np.zeros(vectors.shape[1])) for row in range(len(vectors))])


@given(st.integers(0, 2**16), st.integers(1, 5), st.integers(0, 3))
def test_smoothing_is_the_mean_of_the_nearest_others(seed, count, rounds):
    vectors = draw(12, 4, seed=seed)
    vectors[3] = 0
    vectors = np.array([unit(vector) for vector in vectors])
    found = smoothed(vectors.astype(np.float32), count, rounds)
    np.testing.assert_allclose(found, slow_smoothed(vectors, count, rounds), atol=1e-4)
    assert not found[3].any()


def test_blocks_do_not_show(monkeypatch):
    vectors = np.array([unit(vector) for vector in draw(50, 8)], np.float32)
    whole = smoothed(vectors, 5, 2)
    monkeypatch.setattr("augment_cli.encoding.transforms._BLOCK", 7)
    monkeypatch.setattr("augment_cli.encoding.transforms._PRODUCTS", 300)
    np.testing.assert_allclose(smoothed(vectors, 5, 2), whole, atol=1e-6)


def test_the_nearest_others():
    vectors = draw(20, 4).astype(np.float32)
    products = vectors @ vectors.T - 1e9 * np.eye(20, dtype=np.float32)
    expected = np.sort(np.argsort(-products, axis=1)[:, :6], axis=1)
    assert (np.sort(nearest(vectors, 6), axis=1) == expected).all()


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
        (["start"], {"weights": "much"}, "--weights much: must be"),
        (["start"], {"weights": "-1"}, "--weights -1: must be"),
        (["start"], {"keep": "some"}, "--keep some: must be auto or a number"),
        (["start"], {"keep": "-1"}, "--keep -1: must be auto or a number"),
        (["start"], {"keep": "1e7"}, "--keep 1e7: must be auto or a number from 0 to 1,000,000"),
        (["start"], {"weights": "1e7"}, "--weights 1e7: must be"),
        ([], {"lexical": 0.0}, "nothing to combine"),
        (["nobody"], {}, "has no vectors of 'corpus' \\(vectors-nobody\\)"),
    ],
)
def test_what_is_refused(two_sets, sets, parameters, said):
    with pytest.raises(UsageError, match=said):
        api.combine(two_sets, sets, name="teacher", jobs=1, **parameters)
