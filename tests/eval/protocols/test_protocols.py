"""Protocols: known answers, slow ways, pytrec_eval's numbers, and everything out of the ordinary."""

import gzip
import json
import math

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

from augment_cli.errors import BadInputError, MissingError
from eval import protocols
from eval.command import main
from eval.contract import Options, Progress, Protocol
from eval.measures import geometry
from eval.measures.geometry import neighbourhoods_by_row
from eval.protocols import clustering, cola, intent, ordering, transfer
from eval.protocols.geometry import PROTOCOL as GEOMETRY
from eval.protocols.geometry_nli import PROTOCOL as GEOMETRY_NLI
from eval.protocols.geometry_nli import triples
from eval.protocols.purity import PROTOCOL as PURITY
from eval.protocols.retrieval import measures, rankings, score
from eval.protocols.sts import score_pairs, similarities, stsb
from eval.runner import score_task
from eval.tasks import Pairs, Table, load_registry
from eval.tasks.beir import read_beir
from tests.helpers.beir_folders import QUERIES, write_beir
from tests.helpers.stored_results import REGISTRY


def blobs(n, classes=2, spread=1.0, dimension=4, seed=0):
    """Vectors (n, dimension) around one centre a class, and their labels; `spread` is that of the noise."""
    generator = np.random.default_rng(seed)
    labels = np.array([f"c{i % classes}" for i in range(n)])
    centres = np.random.default_rng(7).normal(size=(classes, dimension)) * 3
    vectors = centres[[int(label[1:]) for label in labels]] + generator.normal(size=(n, dimension)) * spread
    return vectors.astype(np.float32), labels


def test_every_file_declares_a_protocol_and_every_task_names_one():
    assert all(isinstance(protocols.get(name), Protocol) for name in protocols.names())
    # Sets of --beir, --minimal-pairs and --meaning stand in no registry.
    elsewhere = {"retrieval", "minimal-pairs", "meaning"}
    assert {task.protocol for task in load_registry().values()} == set(protocols.names()) - elsewhere
    with pytest.raises(BadInputError, match="no protocol 'nearest-words'; protocols are clustering, "):
        protocols.get("nearest-words")


def test_metrics_equal_scikit_learns_on_the_same_clusters():
    generator = np.random.default_rng(1)
    vectors, labels = generator.normal(size=(50, 4)), generator.integers(0, 4, 50).astype(str)
    score = clustering.score(vectors, list(labels), seeds=[3])
    clusters = KMeans(4, n_init=10, random_state=3).fit_predict(vectors)
    named = {"nmi": "normalized_mutual_info", "ari": "adjusted_rand", "v_measure": "v_measure"}
    for name, theirs in named.items():
        assert score.scores[name] == pytest.approx(getattr(metrics, f"{theirs}_score")(labels, clusters))
    assert score.scores == clustering.score(vectors, list(labels), seeds=[3]).scores


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["clustering", "transfer"])
def test_the_number_of_processes_does_not_change_the_result(protocol):
    if protocol == "clustering":
        vectors = np.random.default_rng(2).normal(size=(400, 8)).astype(np.float32)
        labels = [str(i % 5) for i in range(400)]
        one, two = (clustering.score(vectors, labels, seeds=range(4), jobs=jobs) for jobs in (1, 2))
    else:
        data = blobs(60, spread=4.0)
        one, two = (transfer.score({"all": data}, folds=3, jobs=jobs) for jobs in (1, 2))
        np.testing.assert_array_equal(one.items["correct"], two.items["correct"])
    assert (one.scores, one.runs) == (two.scores, two.runs)


def test_constant_embeddings_and_one_class_are_named():
    constant = clustering.score(np.ones((10, 3)), ["a"] * 6 + ["b"] * 4, seeds=[0])
    assert constant.main == pytest.approx(0.6)
    assert "fewer distinct embeddings than classes" in constant.notes[1]
    single = clustering.score(np.ones((4, 2)), ["a"] * 4)
    assert math.isnan(single.main) and "one class only" in single.notes[0]


def test_it_is_plain_logistic_regression():
    train, dev = blobs(80, spread=5.0), blobs(40, spread=5.0, seed=2)
    expected = LogisticRegression(max_iter=1000).fit(*train).score(*dev)
    score = cola.score(train, dev)
    assert score.main == pytest.approx(expected)
    assert -1 <= score.scores["matthews"] <= 1


CHANGES = {
    "one class only": lambda x, y: (x, np.full_like(y, "c0")),
    "too few for 3 folds": lambda x, y: (x, np.where(np.arange(len(y)) < 2, "c1", "c0")),
}


@pytest.mark.parametrize(
    ("score", "reason"),
    [
        (lambda train: cola.score(train, blobs(10)), "one class only"),
        (lambda train: transfer.score({"all": train}, folds=3), "one class only"),
        (lambda train: transfer.score({"all": train}, folds=3), "too few for 3 folds"),
    ],
)
def test_what_cannot_be_scored_is_nan_with_the_reason(score, reason):
    found = score(CHANGES[reason](*blobs(30)))
    assert math.isnan(found.main) and reason in found.notes[0]


def test_every_entailed_hypothesis_is_paired_with_every_other_one_of_its_premise():
    premises = ["p", "p", "p", "p", "q", "q", "r"]
    labels = ["e", "n", "c", "c", "entailment", "contradiction", "e"]
    base = np.tile([1.0, 0.0], (7, 1))
    hypotheses = np.array([[0.5, 0], [0.4, 0], [0.6, 0], [0.5, 0], [0.2, 9], [0.1, 0], [1, 0]])
    rounds = ["r1"] * 4 + ["r2"] * 3
    score = ordering.score((premises, base), hypotheses, labels, rounds)
    # p: 0.5 beats 0.4, loses to 0.6, ties with 0.5 (which does not count); q: 0.2 beats 0.1; r has no pair.
    assert score.items["correct"].tolist() == [True, False, False, True]
    assert score.scores["accuracy"] == 0.5
    assert score.scores["accuracy_contradiction"] == pytest.approx(1 / 3)
    assert score.scores["accuracy_r1"] == pytest.approx(1 / 3)
    assert score.scores["accuracy_r2"] == 1
    # By cosine the long entailed hypothesis of q points elsewhere.
    assert score.scores["accuracy_cosine"] == 0
    apart = ordering.score((["p", "p"], base[:2]), base[:2], ["e", "c"], ["r1", "r2"])  # of unlike rounds
    assert math.isnan(apart.main) and "no premise has both" in apart.notes[0]


def test_positive_pairs_are_those_above_four_and_repeats_count_once():
    columns = {
        "split": ["test", "test", "test", "dev"],
        "sentence1": ["0", "0", "2", "9"],
        "sentence2": ["1", "3", "4", "9"],
        "score": ["4.2", "4", "5", "5"],
    }
    vectors = np.random.default_rng(0).normal(size=(5, 3))
    score = GEOMETRY.score(
        Table(REGISTRY["geometry"], columns, "", True),
        lambda texts: vectors[[int(text) for text in texts]],
        Options(),
        Progress(),
    )
    assert score.scores["alignment"] == pytest.approx(geometry.alignment(vectors[[0, 2]], vectors[[1, 4]]))
    assert score.main == pytest.approx(geometry.uniformity(vectors))


ROWS = [
    ("p", "first entailed", "entailment"),
    ("q", "contradicts q", "contradiction"),
    ("p", "second entailed", "entailment"),
    ("p", "neutral", "neutral"),
    ("p", "contradicts p", "contradiction"),
    ("q", "entailed by q", "entailment"),
    ("r", "entailed by r", "entailment"),
]


@pytest.fixture()
def table():
    premises, hypotheses, labels = (list(column) for column in zip(*ROWS, strict=True))
    columns = {"split": ["test"] * 7, "premise": premises, "hypothesis": hypotheses, "label": labels}
    return Table(REGISTRY["geometry-nli"], columns, "", True)


def test_a_premise_takes_its_first_hypothesis_of_each_kind_and_needs_both(table):
    assert triples(table) == [
        ("p", "first entailed", "contradicts p"),
        ("q", "entailed by q", "contradicts q"),
    ]


def test_the_spaces_are_compared_two_by_two(table):
    vectors = {text: np.random.default_rng(len(text)).normal(size=4) for row in ROWS for text in row[:2]}
    score = GEOMETRY_NLI.score(
        table, lambda texts: np.stack([vectors[text] for text in texts]), Options(), Progress()
    )
    anchors, entailed = (np.stack([vectors[row[column]] for row in triples(table)]) for column in (0, 1))
    assert score.main == score.scores["cond_hm_A_E"] == pytest.approx(geometry.cond_hm(anchors, entailed))
    assert score.scores["alignment_A_E"] == pytest.approx(geometry.alignment(anchors, entailed))
    assert len(score.scores) == 9
    assert score.settings == {"rows": 2}


def test_numbers_of_neighbours_beyond_the_rows_are_left_out():
    vectors = np.random.default_rng(0).normal(size=(20, 3))
    labels = [str(row % 3) for row in range(20)]
    columns = {"split": ["all"] * 20, "text": [str(row) for row in range(20)], "label": labels}
    table = Table(REGISTRY["purity"], columns, "", True)
    score = PURITY.score(table, lambda texts: vectors[[int(text) for text in texts]], Options(), Progress())
    assert set(score.scores) == {"purity_1", "purity_10", "distance_1", "distance_10"}
    assert score.main == pytest.approx(neighbourhoods_by_row(vectors, labels, [10])["purity_10"].mean())


def groups(per_class, classes=3, seed=0, spread=0.5):
    generator = np.random.default_rng(seed)
    labels = [f"c{i % classes}" for i in range(per_class * classes)]
    # Many dimensions a class, so that a thousand small steps outweigh the first weights.
    vectors = np.repeat(np.eye(classes), 200, axis=1)[[i % classes for i in range(len(labels))]]
    return (vectors + generator.normal(size=vectors.shape) * spread).astype(np.float32), labels


def test_splits_hold_k_of_each_class_for_training_and_k_others_for_validation():
    labels = np.array(["a"] * 30 + ["b"] * 50 + ["c"] * 11)
    for shots in (1, 5):
        train, validation, short = intent.draw_split(labels, shots, 2)
        assert not set(train) & set(validation)
        for rows in (train, validation):
            assert np.unique(labels[rows], return_counts=True)[1].tolist() == [shots] * 3
        assert not short
        again, other = (intent.draw_split(labels, shots, number)[0].tolist() for number in (2, 1))
        assert train.tolist() == again != other


@pytest.mark.parametrize(
    ("size", "expected"), [(1, (1, 0)), (3, (2, 1)), (7, (4, 3)), (9, (5, 4)), (10, (5, 5))]
)
def test_small_classes_give_the_larger_half_to_training_and_are_named(size, expected):
    labels = np.array(["small"] * size + ["large"] * 20)
    train, validation, short = intent.draw_split(labels, 5, 0)
    assert ((labels[train] == "small").sum(), (labels[validation] == "small").sum()) == expected
    assert short == (["small"] if size < 10 else [])


@pytest.mark.slow
def test_clear_classes_are_learnt_and_scores_are_means_over_splits():
    score = intent.score(groups(12), groups(10, seed=1), shots=[2, 5], splits=3)
    assert score.scores["accuracy_5"] > 0.95
    assert score.main == pytest.approx((score.scores["accuracy_2"] + score.scores["accuracy_5"]) / 2)
    assert score.items["correct_5"].mean() == pytest.approx(score.scores["accuracy_5"])
    again = [intent.score(groups(12), groups(10, seed=1), shots=[2], splits=1).scores for _ in range(2)]
    assert again[0] == again[1]


def test_small_classes_are_dropped_from_both_parts_where_the_task_says_so():
    vectors, labels = groups(12)
    labels = ["rare" if i < 3 else label for i, label in enumerate(labels)]
    test_vectors, test_labels = groups(5, seed=1)
    rest = [*["rare"] * 4, *["never seen"] * 2, *test_labels[6:]]
    score = intent.score((vectors, labels), (test_vectors, rest), minimum_class=4, shots=[2], splits=1)
    assert score.settings["classes"] == 3
    assert len(score.items["correct_2"]) == 9
    assert score.notes == ["2 classes with fewer than 4 examples dropped"]
    assert math.isnan(score.scores["sd_2"])


def test_unseen_labels_short_classes_and_broken_embeddings_are_named():
    vectors, labels = groups(4)
    test_vectors, test_labels = groups(4, seed=1)
    score = intent.score((vectors, labels), (test_vectors, ["new", *test_labels[1:]]), shots=[5], splits=1)
    assert "1 test rows have labels unseen in training, counted as errors: new" in score.notes[0]
    assert "3 classes have fewer than 10 examples for 5 shots" in score.notes[1]
    assert not score.items["correct_5"][0]
    assert "one class" in intent.score((vectors, ["a"] * 12), (test_vectors, test_labels)).notes[0]


COLUMNS = "split\tgenre\tsubtask\tyear\tscore\tsentence1\tsentence2"


def angle_encoder(texts):
    """Each text is an angle in degrees; its vector points there."""
    angles = np.radians([float(text) for text in texts])
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def pairs_of_angles(angles, gold, subsets=None):
    texts = [str(angle) for angle in angles]
    return Pairs(["0"] * len(texts), texts, np.array(gold), subsets or ["s"] * len(texts))


def correlations(encode, pairs):
    return score_pairs(similarities(encode, pairs), pairs)


def test_all_concatenates_subsets_and_the_means_weigh_them():
    generator = np.random.default_rng(0)
    angles, gold = generator.uniform(0, 180, 90), generator.uniform(0, 5, 90)
    scores = correlations(angle_encoder, pairs_of_angles(angles, gold, ["a"] * 60 + ["b"] * 30)).scores
    similarity = np.cos(np.radians(angles))
    for name, correlation in (("spearman", stats.spearmanr), ("pearson", stats.pearsonr)):
        first, second = (
            correlation(similarity[rows], gold[rows])[0] for rows in (slice(60), slice(60, None))
        )
        expected = {name: correlation(similarity, gold)[0], f"{name}_b": second, "pairs_b": 30}
        expected |= {f"mean_{name}": (first + second) / 2, f"weighted_{name}": (2 * first + second) / 3}
        assert {key: scores[key] for key in expected} == pytest.approx(expected, abs=1e-6)


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


def test_separable_classes_are_learnt_in_every_shape_of_data():
    data = blobs(60, spread=0.05)
    nested = transfer.score({"all": data}, folds=3)
    folded = transfer.score({"train": data, "test": blobs(30, spread=0.05, seed=1)}, folds=3)
    assert nested.main == folded.main == 1
    # Of equally good strengths the first is taken.
    assert nested.settings["strengths"] == [0.25] * 3 and folded.settings["strengths"] == [0.5]
    parts = {name: blobs(30, spread=0.05, seed=seed) for seed, name in enumerate(("train", "dev", "test"))}
    score = transfer.score(parts)
    assert score.scores == {"accuracy": 1, "f1": 1}
    assert score.items["correct"].all()


@pytest.mark.slow
def test_nested_search_equals_a_slow_reading_of_it():
    vectors, labels = blobs(90, spread=4.0)
    score = transfer.score({"all": (vectors, labels)}, folds=3)
    folds = StratifiedKFold(3, shuffle=True, random_state=1111)
    accuracies, strengths = [], []
    for train, test in folds.split(vectors, labels):
        inside_x, inside_y = vectors[train], labels[train]
        means = []
        for strength in (0.25, 0.5, 1, 2, 4, 8):
            fold_scores = []
            for a, b in folds.split(inside_x, inside_y):
                model = LogisticRegression(C=strength, max_iter=1000).fit(inside_x[a], inside_y[a])
                fold_scores.append(model.score(inside_x[b], inside_y[b]))
            means.append(round(100 * np.mean(fold_scores), 2))
        strengths.append((0.25, 0.5, 1, 2, 4, 8)[means.index(max(means))])
        model = LogisticRegression(C=strengths[-1], max_iter=1000).fit(inside_x, inside_y)
        accuracies.append(model.score(vectors[test], labels[test]))
    assert score.runs == pytest.approx(accuracies)
    assert score.main == pytest.approx(np.mean(accuracies))
    assert score.settings["strengths"] == strengths


def test_f1_is_of_the_label_sorted_last_and_equals_scikit_learns():
    train, test = blobs(80, spread=5.0), blobs(50, spread=5.0, seed=3)
    score = transfer.score({"train": train, "test": test}, folds=3)
    (strength,) = score.settings["strengths"]
    predicted = LogisticRegression(C=strength, max_iter=1000).fit(*train).predict(test[0])
    assert score.scores["f1"] == pytest.approx(f1_score(test[1], predicted, pos_label="c1"))


def test_a_label_unseen_in_training_counts_as_an_error_and_is_noted():
    vectors, labels = blobs(20, spread=0.05, seed=1)
    strange = (vectors, np.where(np.arange(20) < 5, "c9", labels))
    score = transfer.score({"train": blobs(40, spread=0.05), "test": strange}, folds=3)
    assert score.main == pytest.approx(0.75)
    assert score.notes == ["labels unseen in training, counted as errors: c9"]


@pytest.mark.parametrize(
    "classifier", [pytest.param("senteval-torch", marks=pytest.mark.slow), "senteval-torch-fast"]
)
def test_sentevals_classifier_learns_and_is_deterministic(classifier):
    parts = {name: blobs(600, 3, spread=0.1, seed=seed) for seed, name in enumerate(("train", "dev", "test"))}
    first, second = (transfer.score(parts, classifier=classifier) for _ in range(2))
    assert first.main > 0.95
    assert first.scores == second.scores
    assert first.settings["strengths"][0] in (1e-5, 1e-4, 1e-3, 1e-2)


def bag_of_words(texts):
    """Counts of letters, which most of the made-up texts share."""
    return np.array([[text.count(letter) for letter in "aeioudgrtf"] for text in texts], dtype=np.float32)


def test_scores_are_means_over_the_judged_queries(tmp_path):
    table = read_beir(write_beir(tmp_path / "toy"))
    actual = score(table, bag_of_words)
    vectors = (bag_of_words(table.texts(split)) for split in ("queries", "corpus"))
    names = [table.select("id", split) for split in ("queries", "corpus")]
    each = [
        measures(ranked, table.relevance[query])
        for query, ranked in zip(names[0], rankings(*vectors, *names), strict=True)
    ]
    assert actual.scores == pytest.approx({name: np.mean([one[name] for one in each]) for name in each[0]})
    assert actual.items["ndcg_at_10"] == pytest.approx([one["ndcg_at_10"] for one in each])
    assert actual.main == actual.scores["ndcg_at_10"] and 0 < actual.main < 1
    broken = score(table, lambda texts: np.full((len(texts), 2), np.nan))
    assert math.isnan(broken.main) and "NaN" in broken.notes[0]


def test_the_setting_ranks_a_document_with_the_query_s_id(tmp_path):
    table = read_beir(write_beir(tmp_path / "toy"))
    without = score_task(table, bag_of_words, Options(), Progress())
    ranked = score_task(table, bag_of_words, Options(values={"rank-own": True}), Progress())
    assert ranked.scores["mrr"] < without.scores["mrr"]  # q3 finds itself, which nobody judged relevant
    assert (without.settings["own"], ranked.settings["own"]) == (False, True)


def run(*arguments):
    main([str(argument) for argument in arguments])


@pytest.mark.slow
def test_the_command_scores_folders_without_a_data_folder(tmp_path, plain_model, old_layout, capsys):
    from mteb.results import TaskResult

    first, second = write_beir(tmp_path / "first"), write_beir(tmp_path / "second", queries=QUERIES[:3])
    options = ["--out", tmp_path / "out", "--no-plots", "--no-cache", "--jobs", 1]
    run(plain_model, f"other={old_layout}", "--beir", first, "--beir", second, *options)
    assert "plain: first ndcg_at_10 0." in capsys.readouterr().err
    (folder,) = (tmp_path / "out" / "plain").iterdir()
    result = TaskResult.from_disk(folder / "first-Retrieval.json")
    (entry,) = result.scores["test"]
    assert entry["main_score"] == entry["ndcg_at_10"]
    assert entry["mrr_at_1000"] == entry["mrr"]
    assert entry["counts"] == {"corpus": 6, "queries": 3}
    assert {"recall_at_10", "recall_at_100"} <= set(entry)
    assert "| model | source | first | second | average |" in (tmp_path / "out" / "table.md").read_text()
    (other,) = (tmp_path / "out" / "other").iterdir()
    run("compare", folder, other, "--resamples", 50, "--json")
    compared = json.loads(capsys.readouterr().out)
    assert [row["task"] for row in compared] == ["first", "second"]
    assert compared[0]["first"] == pytest.approx(entry["main_score"])


def test_sets_and_tasks_are_scored_together(world, plain_model, tmp_path, capsys):
    known = ["--data", world / "data", "--registry", world / "tasks.toml", "--tasks", "sts"]
    toy = ["--beir", write_beir(tmp_path / "toy"), "--out", world / "out"]
    run(plain_model, *known, *toy, "--no-plots", "--json")
    (model,) = json.loads(capsys.readouterr().out)
    assert list(model["scores"]) == ["sts", "toy"]


def test_sentences_of_stsb_are_split_at_whitespace_and_rejoined_before_encoding(tmp_path):
    seen = []

    def encode(texts):
        seen.extend(texts)
        return np.eye(len(texts))

    write_stsb(tmp_path, ["dev\tnews\tx\t2012\t5\t a  b \tc \u00a0d"])
    stsb(encode, tmp_path)
    assert seen == ["a b", "c d"]
