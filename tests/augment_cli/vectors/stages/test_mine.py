"""mine: limits, drawing, and resuming."""

import re
import shutil

import numpy as np
import pytest

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.reports.report import stats
from augment_cli.reports.soundness import command_for, verify
from augment_cli.session import Session
from augment_cli.store.journal import Journal
from augment_cli.vectors.mine_parameters import MineParameters
from tests.helpers.vector_stages import Died, digests, predicted, units


def test_mined_negatives_keep_every_limit(vectors_path, encoder):
    ranks = {"negatives": 3, "range_min": 1, "range_max": 20}
    limits = MineParameters("vectors", "antonym", **ranks, relative_margin=0.02, max_score=0.9)
    with Session(vectors_path, Engine(1)) as session:
        stages = session.mine(limits, parameters=encoder)
        store = session.store
    assert stages == ["mined-vectors", "mined-vectors.1", "mined-vectors.2"]
    texts, positives = store.read("corpus")["text"].to_pylist(), store.read("antonym")["text"].to_pylist()
    corpus, augmented = units(store, "vectors"), units(store, "vectors-antonym")
    tables = [store.read(stage).to_pylist() for stage in stages]
    mined = 0
    for row, entries in enumerate(zip(*tables, strict=True)):
        taken = [entry["text"] for entry in entries if entry["text"] is not None]
        assert len(set(taken)) == len(taken) and texts[row] not in taken and positives[row] not in taken
        if positives[row] is None:
            assert {entry["reason"] for entry in entries} == {"no_positive"}
            continue
        positive = float(corpus[row] @ augmented[row])
        for entry in entries:
            assert (entry["text"] is None) == (entry["reason"] is not None)
            assert entry["positive_score"] == pytest.approx(positive, abs=2e-3)
            if entry["text"] is not None:
                mined += 1
                assert entry["text"] == texts[entry["other_row_id"]]
                other = corpus[entry["other_row_id"]]
                assert entry["score"] == pytest.approx(float(corpus[row] @ other), abs=2e-3)
                assert entry["score"] <= min(0.9, positive * 0.98) + 1e-6
                assert 1 <= entry["rank"] < 20
    numbers = stats(store, "mined-vectors")
    assert mined > 20 and numbers["no_positive"] == store.read("antonym")["text"].null_count
    kinds = ("mined", "all_candidates_skipped", "no_positive", "no_candidate")
    assert sum(numbers[kind] for kind in kinds) == 60
    assert numbers["score"]["100%"] <= 0.9 and verify(store) == []


def test_lexical_mining_needs_no_vectors_and_knows_equal_sentences(path):
    with Session(path, Engine(1)) as session:
        session.mine(MineParameters(max_df=1.0, near_duplicate=0.999, positive="antonym"))
        store = session.store
    assert "vectors" not in store.stages()
    texts, rows = store.read("corpus")["text"].to_pylist(), store.read("mined-tfidf").to_pylist()
    assert sum(row["text"] is not None for row in rows) > 20
    assert all(row["text"] != texts[row["row_id"]] for row in rows)
    assert all(row["text"] is None or row["text"] == texts[row["other_row_id"]] for row in rows)


# Two answers to a question, in rows of their own, written in other ways; each answer is a sentence too.
GIVEN = [
    ("when does the garden open", "the garden will open at noon"),
    ("The garden will open at noon!", "when does the garden open"),
    ("When does the garden open?", "at dawn the garden gates swing"),
    ("at dawn the garden gates swing", "something else"),
    ("the gates of this river", "the river at dawn"),
    ("a castle at noon", "nothing"),
]


@pytest.mark.parametrize("positive", ["", "good"])
@pytest.mark.parametrize("by", ["tfidf", "vectors"])
def test_no_positive_of_an_equal_sentence_is_its_negative(tmp_path, encoder, by, positive):
    lines = [f"{anchor}\t{good}\n" for anchor, good in [("anchor", "good"), *GIVEN]]
    (tmp_path / "in.tsv").write_text("".join(lines))
    options = IngestOptions(text_column="anchor", positive_columns=("good",), part_rows=4)
    limits = MineParameters(by, positive, negatives=3, max_df=1.0, near_duplicate=2)
    with Session(tmp_path / "store", Engine(1)) as session:
        session.ingest([tmp_path / "in.tsv"], options)
        stages, store = session.mine(limits, parameters=encoder), session.store
    known = {frozenset(words_of(text) for text in pair) for pair in GIVEN}
    rows = [(GIVEN[row["row_id"]][0], row["text"]) for name in stages for row in store.read(name).to_pylist()]
    mined = [frozenset(words_of(text) for text in pair) for pair in rows if pair[1] is not None]
    assert len(mined) > 5 and not known & set(mined)
    assert stats(store, stages[0])["skipped_equal_to_positive"] == 6
    assert verify(store) == [] and "known" not in " ".join(command_for(store, stages[0]))


def words_of(text):
    return " ".join(re.findall(r"\w+", text.lower()))


def test_drawing_depends_on_the_seed_alone(embedded, tmp_path):
    def mined(folder, **options):
        path = shutil.copytree(embedded, tmp_path / folder)
        with Session(path, Engine(options.pop("jobs", 1), "threading")) as session:
            session.mine(MineParameters(by="vectors", sampling="random", **options))
            return session.store.read("mined-vectors")["other_row_id"].to_pylist()

    one = mined("a", seed=1)
    assert one == mined("b", seed=1, jobs=2) != mined("c", seed=2)
    assert one != mined("d", seed=1, range_max=3)


@pytest.mark.parametrize(("by", "search"), [("tfidf", "exact"), ("vectors", "exact"), ("vectors", "graph")])
def test_a_dead_mining_resumes(embedded, tmp_path, monkeypatch, by, search):
    whole = shutil.copytree(embedded, tmp_path / "whole")
    broken = shutil.copytree(embedded, tmp_path / "broken")
    written, real = [], Journal.write

    def write(self, index, piece, table):
        if len(written) == 1:
            raise Died
        real(self, index, piece, table)
        written.append((index, piece))

    def run(path):
        with Session(path, Engine(1)) as session:
            session.mine(MineParameters(by=by, search=search, negatives=2))

    run(whole)
    monkeypatch.setattr(Journal, "write", write)
    with pytest.raises(Died):
        run(broken)
    monkeypatch.setattr(Journal, "write", real)
    run(broken)
    for stage in (f"mined-{by}", f"mined-{by}.1"):
        assert digests(broken, stage) == digests(whole, stage)


@pytest.mark.parametrize("positive", ["", "antonym"])
def test_a_cross_encoder_s_scores_take_the_place_of_the_cosines(vectors_path, reranker, positive):
    folder = reranker("Identity")
    common = {"by": "vectors", "range_max": 10, "positive": positive}
    with Session(vectors_path, Engine(1)) as session:
        near = session.mine(MineParameters(**common, negatives=10), "near")
        session.mine(
            MineParameters(**common, negatives=2, range_min=1, margin=0.001, rescore=folder), "rescored"
        )
        store = session.store
    texts = store.read("corpus")["text"].to_pylist()
    own = store.read(positive)["text"].to_pylist() if positive else texts
    candidates = [store.read(stage)["text"].to_pylist() for stage in near]
    first, second = (store.read(stage).to_pylist() for stage in ("rescored", "rescored.1"))
    found = 0
    for row, text in enumerate(texts):
        if own[row] is None:
            assert first[row]["reason"] == "no_positive"
            continue
        others = [column[row] for column in candidates if column[row] is not None]
        logits = np.array(predicted(folder, [(text, one) for one in [own[row], *others]]))
        scores = 1 / (1 + np.exp(-logits))
        assert first[row]["positive_score"] == pytest.approx(scores[0], abs=1e-5)
        ranked = sorted(zip(-scores[1:], others, strict=True))
        ranks = [(rank, one, -score) for rank, (score, one) in enumerate(ranked)]
        wanted = [entry for entry in ranks[1:] if entry[2] <= scores[0] - 0.001]
        for mined, (rank, one, score) in zip((first[row], second[row]), wanted, strict=False):
            found += 1
            assert (mined["rank"], mined["text"]) == (rank, one)
            assert mined["score"] == pytest.approx(score, abs=1e-5)
        assert (first[row]["text"] is None) == (not wanted)
    assert found > 20 and verify(store) == []
    assert "--rescore FOLDER" in " ".join(command_for(store, "rescored"))
