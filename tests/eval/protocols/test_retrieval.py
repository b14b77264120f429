"""Retrieval over a folder: from the files to mteb's shape, with pytrec_eval's numbers."""

import json
import math

import numpy as np
import pytest
import pytrec_eval

from eval import protocols
from eval.command import main
from eval.contract.options import Options, Progress
from eval.protocols.retrieval import score, unit
from eval.runner import score_task
from eval.tasks.beir import read_beir
from tests.helpers.beir_folders import DOCUMENTS, JUDGEMENTS, QUERIES, write_beir


def bag_of_words(texts):
    """Counts of letters, which most of the made-up texts share."""
    return np.array([[text.count(letter) for letter in "aeioudgrtf"] for text in texts], dtype=np.float32)


def test_the_means_over_queries_are_pytrec_evals(tmp_path):
    table = read_beir(write_beir(tmp_path / "toy"))
    actual = score(table, bag_of_words)
    texts = {"d1": "The river flows through the old town", "d4": "Cats are small , dogs are not"}
    documents = {entry["_id"]: texts.get(entry["_id"], entry["text"]) for entry in DOCUMENTS}
    queries = {entry["_id"]: entry["text"] for entry in QUERIES[:3]}
    cosines = unit(bag_of_words(queries.values())) @ unit(bag_of_words(documents.values())).T
    run = {
        query: {name: float(c) for name, c in zip(documents, row, strict=True) if name != query}
        for query, row in zip(queries, cosines, strict=True)
    }
    judged = {query: {} for query in queries}
    for query, document, grade in JUDGEMENTS:
        judged[query][document] = grade
    wanted = {"ndcg_cut.10", "recall.1,3,5,10,100,1000", "recip_rank"}
    each = pytrec_eval.RelevanceEvaluator(judged, wanted).evaluate(run)

    def mean(name):
        return np.mean([each[query][name] for query in queries])

    assert actual.main == actual.scores["ndcg_at_10"] == pytest.approx(mean("ndcg_cut_10"), abs=1e-12)
    assert actual.scores["mrr"] == pytest.approx(mean("recip_rank"), abs=1e-12)
    for cut in (1, 3, 5, 10, 100, 1000):
        assert actual.scores[f"recall_at_{cut}"] == pytest.approx(mean(f"recall_{cut}"), abs=1e-12)
    assert actual.items["ndcg_at_10"] == pytest.approx([each[query]["ndcg_cut_10"] for query in queries])
    assert 0 < actual.main < 1


def test_the_setting_ranks_a_document_with_the_query_s_id(tmp_path):
    table = read_beir(write_beir(tmp_path / "toy"))
    without = score_task(table, bag_of_words, Options(), Progress())
    ranked = score_task(table, bag_of_words, Options(values={"rank-own": True}), Progress())
    assert ranked.scores["mrr"] < without.scores["mrr"]  # q3 finds itself, which nobody judged relevant
    assert (without.settings["own"], ranked.settings["own"]) == (False, True)


def test_broken_and_constant_embeddings_are_named(tmp_path):
    table = read_beir(write_beir(tmp_path / "toy"))
    broken = score(table, lambda texts: np.full((len(texts), 2), np.nan))
    assert math.isnan(broken.main)
    assert "NaN" in broken.notes[0]
    constant = score(table, lambda texts: np.ones((len(texts), 2)))
    assert "constant encoder" in constant.notes[0]
    assert constant.main > 0
    assert score(table, lambda texts: np.zeros((len(texts), 2))).main == constant.main


def test_only_judged_queries_and_all_documents_are_encoded(tmp_path):
    table = read_beir(write_beir(tmp_path / "toy"))
    sentences = protocols.get("retrieval").sentences(table)
    assert len(sentences) == len(DOCUMENTS) + 3
    assert "nobody judged this" not in sentences


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
    # Later, without the folders: the table and the comparison read what was stored.
    run("table", tmp_path / "out", "--format", "markdown")
    assert "| model | source | first | second | average |" in capsys.readouterr().out
    (other,) = (tmp_path / "out" / "other").iterdir()
    run("compare", folder, other, "--resamples", 50, "--json")
    compared = json.loads(capsys.readouterr().out)
    assert [(row["task"], row["statistic"]) for row in compared] == [
        ("first", "ndcg_at_10"),
        ("second", "ndcg_at_10"),
    ]
    assert compared[0]["first"] == pytest.approx(entry["main_score"])


def test_sets_and_tasks_are_scored_together(world, plain_model, tmp_path, capsys):
    known = ["--data", world / "data", "--registry", world / "tasks.toml", "--tasks", "sts"]
    toy = ["--beir", write_beir(tmp_path / "toy"), "--out", world / "out"]
    run(plain_model, *known, *toy, "--no-plots", "--json")
    (model,) = json.loads(capsys.readouterr().out)
    assert list(model["scores"]) == ["sts", "toy"]


def test_nothing_to_score_is_explained(plain_model, capsys):
    with pytest.raises(SystemExit) as stop:
        run(plain_model)
    assert stop.value.code == 2
    assert (
        "give --data DIR, --labelled FILE, --beir FOLDER, --minimal-pairs or several"
        in capsys.readouterr().err
    )
