"""UNA's probabilities and draws, against a plain-Python reference and the weights they should follow."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import augment_cli
from augment_cli.augmentations.una.term_replacement import radius_in_ranks, replacement_probabilities
from augment_cli.contract.rows import TokenRows
from augment_cli.errors import MixError, UsageError
from augment_cli.reports import report
from augment_cli.session import SAMPLE
from augment_cli.store.store import Store
from augment_cli.text.spans import offsets_from_lengths
from augment_cli.tfidf.term_table import TermTable
from benchmarks.growth import ReferenceFit, probabilities, tokenize

Fitted = Callable[[list[str]], Store]


def token_rows(sentences: list[list[float]]) -> TokenRows:
    """Token rows that have weights and nothing else."""
    weights = np.array([weight for sentence in sentences for weight in sentence], float)
    offsets = offsets_from_lengths(np.array([len(sentence) for sentence in sentences], np.int64))
    nothing = np.zeros(len(weights), np.int32)
    return TokenRows(offsets, nothing, nothing, nothing, weights)


def term_table(scores: list[float]) -> TermTable:
    terms = pa.array([f"t{rank}" for rank in range(len(scores))], pa.string())
    return TermTable(terms, np.array(scores), np.array(scores))


# --- step 2: probabilities


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.1, 0.3, 0.5], [0, 0.5, 1]),
        ([0.05, 0.2, 0.2, 0.9], [0, 0.3 / 1.15, 0.3 / 1.15, 1]),
        ([0.05, 0.2, 0.2, 0.2], [0, 1, 2 / 3, 2 / 3]),
        ([0.2, 0.2, 0.2], [1, 0, 0]),
        ([0.7], [1]),
        ([0.0, 0.0], [1, 0]),
    ],
)
def test_probabilities_by_hand(scores: list[float], expected: list[float]) -> None:
    rows = token_rows([scores])
    result = replacement_probabilities(rows, np.ones(len(scores), bool), 0.5)
    np.testing.assert_allclose(result, expected, rtol=1e-12)


@pytest.mark.parametrize("opposite", [False, True])
@pytest.mark.parametrize("beta", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_probabilities_equal_the_reference_on_the_sample(beta: float, opposite: bool) -> None:
    assert_probabilities(SAMPLE.read_text("utf-8").splitlines(), beta, opposite)


@pytest.mark.slow
def test_probabilities_equal_the_reference_on_real_sentences(data_folder: Path) -> None:
    import gzip

    with gzip.open(data_folder / "corpus" / "wiki_en-00.txt.gz", "rt", encoding="utf-8") as file:
        sentences = [next(file).rstrip("\n") for _ in range(20_000)]
    assert_probabilities(sentences, 0.5, opposite=False)


def assert_probabilities(sentences: list[str], beta: float, opposite: bool) -> None:
    documents = [tokenize(sentence) for sentence in sentences]
    reference = ReferenceFit(documents)
    scores = [reference.scores(tokens) for tokens in documents]
    rows = token_rows(scores)
    result = replacement_probabilities(rows, np.ones(len(rows.weights), bool), beta, opposite)
    expected = np.concatenate([probabilities(sentence, beta, opposite) for sentence in scores])
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)


def test_protected_tokens_take_no_part() -> None:
    rows = token_rows([[9.0, 0.1, 0.3, 0.5], [0.4]])
    result = replacement_probabilities(rows, np.array([False, True, True, True, False]), 0.5)
    np.testing.assert_allclose(result, [0, 0, 0.5, 1, 0], rtol=1e-12)


# --- step 3: draws from the window


@pytest.mark.parametrize("include_self", [False, True])
@pytest.mark.parametrize("rank", [0, 1, 12, 28, 29])
def test_drawn_ranks_follow_the_weights(rank: int, include_self: bool) -> None:
    """Chi-square against the window's weights, in the middle and at both ends of the table."""
    scores = np.sort(np.random.default_rng(7).gamma(2.0, size=30))[::-1]
    table, radius, count = term_table(scores.tolist()), 4, 60_000
    uniforms = np.random.default_rng(rank).random(count)
    drawn = table.draw_ids(np.full(count, rank), radius, uniforms, include_self)
    weights = np.where(np.abs(np.arange(30) - rank) <= radius, scores, 0.0)
    if not include_self:
        weights[rank] = 0.0
    counts = np.bincount(drawn, minlength=30)
    inside = weights > 0
    assert counts[~inside].sum() == 0
    assert stats.chisquare(counts[inside], count * weights[inside] / weights.sum()).pvalue > 1e-4


def test_draws_on_a_fitted_table_follow_the_reference_window(sample_store: Store) -> None:
    """A corner of a real table, where many scores are equal."""
    reference = ReferenceFit([tokenize(text) for text in SAMPLE.read_text("utf-8").splitlines()])
    table = TermTable.read(sample_store, "terms")
    term = reference.ranked[200]
    ranks, weights = reference.window(term, 20)
    uniforms = np.random.default_rng(0).random(50_000)
    drawn = table.draw_ids(table.ids_of(pa.array([term])).repeat(len(uniforms)), 20, uniforms)
    counts = np.bincount(drawn, minlength=len(table))
    assert counts.sum() == counts[ranks].sum()
    assert stats.chisquare(counts[ranks], len(uniforms) * np.array(weights)).pvalue > 1e-4


@pytest.mark.parametrize("kind", ["gamma", "few", "zeros", "tiny", "one"])
@pytest.mark.parametrize("size", [1, 2, 3000])
def test_the_search_finds_what_a_binary_search_finds(kind: str, size: int) -> None:
    """Scores of each kind, of which one slice of the search has one, none or all."""
    generator = np.random.default_rng(size)
    scores = {
        "gamma": generator.gamma(0.3, size=size),
        "few": generator.integers(1, 4, size).astype(np.float64),
        "zeros": np.where(generator.random(size) < 0.9, 0.0, 1.0),
        "tiny": generator.random(size) * 1e-310,
        "one": np.append(1.0, np.full(size - 1, 1e-18)),
    }[kind]
    table = term_table(np.sort(scores)[::-1].tolist())
    sums = table.prefix_sums
    targets = np.concatenate([sums[:-1], np.nextafter(sums, np.inf)[:-1], generator.random(9000) * sums[-1]])
    assert (table._ranks_of(targets) == np.searchsorted(sums, targets, side="right") - 1).all()


def test_an_empty_table_draws_nothing() -> None:
    """As where every word of a corpus is on the list of words to avoid."""
    zero, no = np.zeros(1, np.int64), np.zeros(1, bool)
    assert term_table([]).draw_between(zero, zero, zero, no, np.array([0.3])).tolist() == [-1]


@pytest.mark.parametrize("uniform", [0.0, np.nextafter(1.0, 0.0), 0.5])
def test_the_extremes_of_the_generator_stay_in_the_window(uniform: float) -> None:
    table = term_table([3.0, 2.0, 1.0, 1e-300, 0.0])
    for rank in range(5):
        for radius in (1, 2, 9):
            drawn = int(table.draw_ids(np.array([rank]), radius, np.array([uniform]))[0])
            assert drawn != rank
            assert abs(drawn - rank) <= radius
            assert 0 <= drawn < 5


def test_a_window_without_weight_is_drawn_evenly() -> None:
    table = term_table([0.0, 0.0, 0.0, 0.0])
    drawn = table.draw_ids(np.full(30_000, 1), 9, np.random.default_rng(0).random(30_000))
    assert stats.chisquare(np.bincount(drawn, minlength=4)[[0, 2, 3]]).pvalue > 1e-4
    assert 1 not in drawn


@pytest.mark.parametrize(("scores", "radius"), [([1.0], 5), ([1.0, 2.0], 0)])
def test_an_empty_window_draws_nothing(scores: list[float], radius: int) -> None:
    assert term_table(scores).draw_ids(np.array([0]), radius, np.array([0.3])).tolist() == [-1]


def test_random_terms_are_drawn_evenly_and_never_the_word_itself() -> None:
    table = term_table([5.0, 1.0, 1.0, 1.0])
    drawn = table.draw_any(np.full(30_000, 2), np.random.default_rng(0).random(30_000))
    assert stats.chisquare(np.bincount(drawn, minlength=4)[[0, 1, 3]]).pvalue > 1e-4
    assert 2 not in drawn


# --- the whole


def test_the_realised_share_is_what_the_probabilities_promise(sample_store: Store) -> None:
    options = {"surface": "in-place", "radius": "1%"}
    folder = augment_cli.run("una", sample_store.path, stage="una-share", jobs=1, **options)
    entry = report.stats(folder, "una-share")
    documents = [tokenize(text) for text in SAMPLE.read_text("utf-8").splitlines()]
    reference = ReferenceFit(documents)
    expected = [p for tokens in documents for p in probabilities(reference.scores(tokens), 0.5)]
    deviation = np.sqrt(sum(p * (1 - p) for p in expected)) / len(expected)
    assert entry["tokens"] == len(expected)
    assert entry["replaced"] == entry["edits"]
    assert entry["replaced_share"] == pytest.approx(np.mean(expected), abs=4 * deviation)
    assert entry["beta"] == 0.5


@pytest.mark.parametrize("sentence", ["The only sentence .", "word", "again again again"])
def test_where_every_idf_is_zero_the_first_token_is_replaced(fitted: Fitted, sentence: str) -> None:
    """One sentence in the corpus: no score says anything, and neither does a window's weight."""
    store = fitted([sentence])
    row = augment_cli.augment([sentence], "una", store=store, surface="in-place").to_pylist()[0]
    if len(set(sentence.split())) == 1:  # no other term to put in
        assert row["reason"] == "empty_window"
    else:
        assert [(edit["start"], edit["end"]) for edit in row["edits"]] == [(0, 3)]
        assert row["text"].removesuffix(sentence[3:]).lower() in {"only", "sentence", "."}


def test_draws_are_sibling_stages_that_differ(sample_store: Store) -> None:
    store = augment_cli.run("una", sample_store.path, stage="una-draws", draws=3, radius="1%", jobs=1)
    texts = [store.read(name)["text"].to_pylist() for name in ("una-draws", "una-draws.1", "una-draws.2")]
    alone = augment_cli.augment(
        store.read("corpus")["text"].to_pylist(), "una", store=store, radius="1%", draw=2
    )
    assert texts[0] != texts[1] != texts[2]
    assert texts[2] == alone["text"].to_pylist()


def test_protected_terms_are_never_replaced(sample_store: Store, tmp_path: Path) -> None:
    words = ["the", "river", ".", "a", "of", "was"]
    (tmp_path / "keep.txt").write_text("# these stay\n" + "\n".join(words) + "\n", "utf-8")
    texts = SAMPLE.read_text("utf-8").splitlines()
    options = {"store": sample_store, "keep": str(tmp_path / "keep.txt"), "beta": 1.0}
    table = augment_cli.augment(texts, "una", **options)
    rows = table.to_pylist()
    replaced = {row["original"][edit["start"] : edit["end"]].lower() for row in rows for edit in row["edits"]}
    assert "bridge" in replaced
    assert not replaced & set(words)


def test_the_authors_switch_may_give_the_word_back(sample_store: Store) -> None:
    """With a window of three ranks, a term draws itself about every third time."""
    texts = SAMPLE.read_text("utf-8").splitlines()
    settings = {"store": sample_store, "radius": "1", "surface": "reference"}
    strict = augment_cli.augment(texts, "una", **settings)["replaced"].to_numpy().sum()
    loose = augment_cli.augment(texts, "una", include_self=True, **settings)["replaced"].to_numpy().sum()
    assert 0.6 < loose / strict < 0.75


def test_the_reference_surface_is_the_tokens_joined_by_spaces(sample_store: Store) -> None:
    texts = SAMPLE.read_text("utf-8").splitlines()
    table = augment_cli.augment(texts, "una", store=sample_store, surface="reference", radius="1%")
    in_place = augment_cli.augment(texts, "una", store=sample_store, surface="in-place", radius="1%")
    assert table["replaced"].to_pylist() == in_place["replaced"].to_pylist()
    for row in table.to_pylist():
        words, tokens = row["text"].split(" "), tokenize(row["original"])
        assert len(words) == len(tokens)
        assert sum(word != token for word, token in zip(words, tokens, strict=True)) == row["replaced"]


def test_uda_keeps_what_una_replaces(sample_store: Store) -> None:
    """The mean weight of what each of them replaces lies on either side of the mean of all tokens."""
    texts = SAMPLE.read_text("utf-8").splitlines()
    idf = dict(zip(*[sample_store.read("terms")[name].to_pylist() for name in ("term", "idf")], strict=True))

    def mean_idf(name: str) -> float:
        terms = {"terms": "tfidf"} if name == "uda" else {}
        table = augment_cli.augment(texts, name, store=sample_store, surface="in-place", radius="1%", **terms)
        spans = [
            row["original"][edit["start"] : edit["end"]].lower()
            for row in table.to_pylist()
            for edit in row["edits"]
        ]
        return float(np.mean([idf[span] for span in spans if span in idf]))

    everything = np.mean([idf[token] for text in texts for token in tokenize(text)])
    assert mean_idf("uda") < everything < mean_idf("una")


@pytest.mark.parametrize(
    ("radius", "ranks"), [("4000", 4000), ("1%", 3), ("0.5 %", 2), ("0%", 1), ("0", 0), (25, 25)]
)
def test_radius_is_a_count_or_a_share(radius: str, ranks: int) -> None:
    assert radius_in_ranks(radius, term_table([1.0] * 300)) == ranks


@pytest.mark.parametrize("radius", ["-1", "1.5", "one", "%", "", "١"])
def test_other_radii_are_refused(radius: str) -> None:
    with pytest.raises(UsageError, match="--radius"):
        radius_in_ranks(radius, term_table([1.0]))


def test_another_beta_is_not_mixed_in(sample_store: Store) -> None:
    augment_cli.run("una", sample_store.path, stage="una-mix", jobs=1)
    with pytest.raises(MixError, match=r"parameters\.beta = 0\.5, now 0\.4"):
        augment_cli.run("una", sample_store.path, stage="una-mix", beta=0.4, jobs=1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"beta": 1.5}, "at most 1"),
        ({"beta": "half"}, "not a valid number"),
        ({"bета": 0.5}, "no parameter"),
        ({"surface": "raw"}, "natural, in-place, reference"),
        ({"surface": "reference", "same": "pos"}, "leave same= and background= out"),
        ({"beta": "0.1:1.2"}, "at most 1"),
        ({"beta": "0.1-0.3"}, "a range such as 0.1:0.5"),
        ({"avoid": "/nowhere/words.txt"}, "avoid='/nowhere/words.txt': cannot be read"),
        ({"keep": "/nowhere/words.txt"}, "cannot be read"),
    ],
)
def test_wrong_parameters_are_named(sample_store: Store, parameters: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        augment_cli.augment(["A river."], "una", store=sample_store, **parameters)
