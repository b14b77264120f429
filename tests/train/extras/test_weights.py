"""Several corpora in one training: how often their rows come, in any epoch, on any rank, after any stop."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.errors import MixError, UsageError
from augment_cli.ingest import IngestOptions, ingest
from augment_cli.store.store import Store
from tests.helpers.properties import examples
from tests.helpers.tiny_encoders import SENTENCES
from tests.helpers.training import logged_run
from train.data.order import PADDING_ROW, is_held_out
from train.data.reader import Reader
from train.extras.weights import Corpus, Weighting, weighting
from train.loading import load_recipe, make_recipe
from train.machine.distributed import join
from train.prepare import Run, plan
from train.recipe import Recipe


@pytest.fixture(scope="module")
def two_corpora(tmp_path_factory):
    """50 rows of news/a.txt, then 30 of talk.txt; parts hold both."""
    folder = tmp_path_factory.mktemp("two")
    (folder / "news").mkdir()
    (folder / "news" / "a.txt").write_text("\n".join(SENTENCES[:50]) + "\n", encoding="utf-8")
    (folder / "talk.txt").write_text("\n".join(SENTENCES[50:80]) + "\n", encoding="utf-8")
    store = Store.create(folder / "store")
    with store.lock():
        ingest(store, [folder / "news" / "a.txt", folder / "talk.txt"], IngestOptions(part_rows=32))
    return store


def rows_of(reader, epoch, first=0):
    return [batch.row_ids for batch in reader.epoch(epoch, first)]


def weighted(weights, seed=1, **settings):
    return Recipe(corpus_weights=weights, seed=seed, **settings)


def counts_of(rows, size):
    rows = np.concatenate(rows)
    return np.bincount(rows[rows != PADDING_ROW], minlength=size)


def test_whole_weights_repeat_rows_and_zero_leaves_them_out(two_corpora):
    for weights, expected in (
        ({"news/*": 0, "talk.txt": 3}, [0] * 50 + [3] * 30),
        ({"talk.txt": 2}, [1] * 50 + [2] * 30),
        ({"*.txt": 1, "talk.txt": 1}, None),  # the second pattern is never reached
    ):
        if expected is None:
            with pytest.raises(UsageError, match=r"no row comes from 'talk.txt'; .* news/a.txt, talk.txt"):
                weighting(two_corpora, weighted(weights))
            continue
        found = weighting(two_corpora, weighted(weights))
        reader = Reader(two_corpora, {}, batch=16, seed=1, weighting=found)
        assert counts_of(rows_of(reader, 0), 80).tolist() == expected
        assert found.count == sum(expected)


def test_rows_with_a_text_of_a_stage_come_as_often_as_the_stage_says(two_corpora):
    rows = {"voice": np.arange(80) % 8 == 0, "chain": np.arange(80) % 20 == 0}
    weights = weighted({"stage:voice": 2, "stage:chain": 5, "talk.txt": 3})
    times = weighting(two_corpora, weights, None, lambda stage: {stage: rows[stage]}).times(0)
    expected = [
        (3 if row >= 50 else 1) * (5 if rows["chain"][row] else 2 if rows["voice"][row] else 1)
        for row in range(80)
    ]
    assert times.tolist() == expected
    half = weighted({"stage:voice": 0.5})
    times = weighting(two_corpora, half, None, lambda stage: {stage: rows[stage]}).times(0)
    assert times[rows["voice"]].sum() == 5 and (times[~rows["voice"]] == 1).all()


def test_weights_count_the_rows_that_may_be_used_alone(two_corpora):
    keep = np.arange(80) % 3 > 0
    found = weighting(two_corpora, weighted({"news/*": 1.5}, 7, held_out=0.2), keep)
    usable = keep & ~is_held_out(np.arange(80), 0.2)
    times = found.times(0)
    assert (times[~usable] == 0).all()
    assert times[:50].sum() == usable[:50].sum() + round(usable[:50].sum() / 2)
    assert (times[50:] == usable[50:]).all()


@examples(25)
@given(
    st.integers(1, 60),
    st.integers(1, 40),
    st.floats(0, 3),
    st.floats(0, 3),
    st.integers(0, 99),
    st.integers(1, 17),
    st.integers(1, 3),
    st.data(),
)
def test_any_weights_give_the_same_rows_on_ranks_and_after_a_stop(
    one, other, first, second, seed, batch, ranks, data
):
    size = one + other
    found = Weighting(
        (Corpus("a", first, np.arange(one)), Corpus("b", second, np.arange(one, size))), size, seed
    )
    store = SimpleNamespace(parts=[(0, one), (one, other)])
    readers = [
        Reader(store, {}, batch=batch, seed=seed, workers=0, weighting=found, rank=rank, ranks=ranks)
        for rank in range(ranks)
    ]
    total = Counter()
    epochs = data.draw(st.integers(1, 4))
    for epoch in range(epochs):
        steps = [np.concatenate(parts) for parts in zip(*(rows_of(r, epoch) for r in readers), strict=True)]
        assert sum(map(len, steps)) == -(-found.count // batch) * batch
        counts = counts_of([np.zeros(0, np.int64), *steps], size)
        assert counts.sum() == found.count
        np.testing.assert_array_equal(counts, found.times(epoch))
        total += Counter(dict(enumerate(counts.tolist())))
        middle = data.draw(st.integers(0, len(steps)))
        whole = Reader(store, {}, batch=batch, seed=seed, workers=0, weighting=found)
        for actual, expected in zip(rows_of(whole, epoch, middle), steps[middle:], strict=True):
            np.testing.assert_array_equal(actual, expected)
    # Over several epochs, too, no row of a corpus comes more often than another by more than one.
    for rows in (range(one), range(one, size)):
        often = [total[row] for row in rows]
        assert max(often) - min(often) <= 1


def test_fractions_draw_other_rows_in_another_epoch_and_with_another_seed(two_corpora):
    half = weighting(two_corpora, weighted({"*": 0.5}))
    assert (half.times(0) + half.times(1) == 1).all()
    assert (half.times(0) != weighting(two_corpora, weighted({"*": 0.5}, 2)).times(0)).any()
    np.testing.assert_array_equal(half.times(0), weighting(two_corpora, weighted({"*": 0.5})).times(0))


def test_training_takes_the_steps_that_weights_make_and_a_run_keeps_its_weights(
    two_corpora, tiny_encoder, tmp_path
):
    values = {"corpus_weights": {"talk.txt": 2.5, "news/*": 0.1}}
    outcome, _ = logged_run(two_corpora.path, tiny_encoder, tmp_path, values)
    assert outcome.steps == -(-(75 + 5) // 16)
    with pytest.raises(MixError, match="corpus_weights"):
        logged_run(two_corpora.path, tiny_encoder, tmp_path, {"corpus_weights": {"talk.txt": 2.0}})
    run = Run(make_recipe({"epochs": 1} | values), two_corpora.path, str(tiny_encoder), tmp_path)
    told = plan(run, join())
    assert "talk.txt: 30 rows, 75 an epoch" in told
    assert "80 an epoch (0 left out)" in told


@pytest.mark.parametrize("weight", ["-1", "nan", "'much'", "true"])
def test_a_weight_is_a_number_that_makes_sense(weight):
    with pytest.raises(UsageError, match=r"corpus_weights: 'a.txt' = .* how often a row"):
        load_recipe("simcse", [f"corpus_weights={{ 'a.txt' = {weight} }}"])
    assert load_recipe("simcse", ["corpus_weights.a.b.txt=2"]).corpus_weights == {"a.b.txt": 2}
    assert "corpus_weights" not in load_recipe("simcse").as_json()
