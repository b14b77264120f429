"""score and mine: columns against slow references, limits, resuming, and what is refused."""

import itertools
import json
import re
import shutil

import numpy as np
import pyarrow as pa
import pytest

import augment_cli
from augment_cli.contract.vector_parameters import MineParameters
from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, MixError, UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.reports.report import stats
from augment_cli.reports.soundness import command_for, verify
from augment_cli.session import Session
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from augment_cli.vectors.score import ScoreOptions
from augment_cli.vectors.stages import EmbedParameters
from tests.helpers.vector_stages import FAST, Died, die_after, digests, predicted, units


def slow_scores(store):
    originals, stage = store.read("corpus")["text"].to_pylist(), store.read("antonym").to_pylist()
    corpus, own = units(store, "vectors"), units(store, "vectors-antonym")
    known = set(store.read("terms")["term"].to_pylist())
    for row, entry in enumerate(stage):
        text, original = entry["text"], originals[row]
        if text is None:
            yield None
            continue
        near = [
            float(own[row] @ corpus[other]) for other in range(len(corpus)) if originals[other] != original
        ]
        changed = sum(edit["end"] - edit["start"] + len(edit["replacement"]) for edit in entry["edits"])

        def repeats(sentence):
            words = re.findall(r"\w+", sentence.lower())
            return sum(one == other for one, other in itertools.pairwise(words))

        yield {
            "cosine": float(own[row] @ corpus[row]),
            "nearest_cosine": max(near),
            "length_ratio": len(text) / len(original),
            "edited_share": changed / (len(text) + len(original)),
            "repeated_words": max(0, repeats(text) - repeats(original)),
            "unknown_words": sum(word not in known for word in re.findall(r"\w+", text.lower())),
        }


def test_scores_equal_python_one_row_at_a_time(vectors_path):
    with Session(vectors_path, Engine(1)) as session:
        assert session.score("antonym") == "scores-antonym"
        store = session.store
    rows = store.read("scores-antonym").to_pylist()
    for row, expected in zip(rows, slow_scores(store), strict=True):
        if expected is None:
            assert {key for key, value in row.items() if value is not None} == {"row_id"}
            continue
        nearest = row.pop("nearest_row_id")
        assert nearest >= 0
        row.pop("row_id")
        assert row.keys() == expected.keys()
        assert row == pytest.approx(expected, abs=2e-3)
    assert verify(store) == []
    assert stats(store, "scores-antonym")["cosine"]["null"] == store.read("antonym")["text"].null_count


def test_only_some_columns_need_no_vectors(path):
    with Session(path, Engine(1)) as session:
        session.score("antonym", ScoreOptions(("repeated_words", "length_ratio")))
        names = session.store.read("scores-antonym").column_names
        assert names == ["row_id", "length_ratio", "repeated_words"]
        assert "vectors" not in session.store.stages()
        with pytest.raises(UsageError, match="--columns beauty: choose from cosine"):
            session.score("antonym", ScoreOptions(("beauty",)))
        with pytest.raises(UsageError, match="score corpus"):
            session.score("corpus", ScoreOptions(("length_ratio",)))
        with pytest.raises(MixError, match=r"parameters\.columns"):
            session.score("antonym", ScoreOptions(("length_ratio",)))


@pytest.fixture(scope="session")
def classifier(model, tmp_path_factory):
    import torch
    import transformers

    def folder(*labels):
        path = tmp_path_factory.mktemp("classifier")
        torch.manual_seed(1)
        config = transformers.AutoConfig.from_pretrained(
            model("encoder"),
            id2label=dict(enumerate(labels)),
            label2id={name: n for n, name in enumerate(labels)},
        )
        transformers.BertForSequenceClassification(config).save_pretrained(path)
        transformers.AutoTokenizer.from_pretrained(model("encoder")).save_pretrained(path)
        return str(path)

    return folder


def test_probabilities_of_given_models(path, classifier):
    import torch
    import transformers

    nli, cola = classifier("CONTRADICTION", "neutral", "entailment"), classifier("bad", "acceptable")
    with Session(path, Engine(1)) as session:
        session.score("antonym", ScoreOptions((), nli, cola))
        store = session.store
    originals, texts = store.read("corpus")["text"].to_pylist(), store.read("antonym")["text"].to_pylist()
    table = store.read("scores-antonym").to_pylist()
    models = {
        folder: transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
        for folder in (nli, cola)
    }
    tokenizer = transformers.AutoTokenizer.from_pretrained(nli)
    for row, original, text in zip(table, originals, texts, strict=True):
        if text is None:
            assert row["entailment"] is row["acceptability"] is None
            continue
        with torch.no_grad():
            pair = models[nli](**tokenizer(original, text, return_tensors="pt")).logits.softmax(-1)[0]
            one = models[cola](**tokenizer(text, return_tensors="pt")).logits.softmax(-1)[0]
        found = [row[name] for name in ("entailment", "contradiction", "acceptability")]
        assert found == pytest.approx([float(pair[2]), float(pair[0]), float(one[1])], abs=1e-5)


def test_models_that_say_something_else_are_refused(path, classifier, reranker, model):
    for options, message in (
        ({"nli": classifier("good", "bad")}, r"none of its labels \(good, bad\) is 'entailment'"),
        ({"acceptability": classifier("a", "b", "c")}, "one is called 'acceptable'"),
        ({"cross_encoder": reranker(labels=2)}, "2 outputs"),
        ({"cross_encoder": model("bert")}, "BertForMaskedLM"),
        ({"cross_encoder": reranker("Tanh")}, "Tanh"),
    ):
        with Session(path, Engine(1)) as session, pytest.raises(BadInputError, match=message):
            session.score("antonym", ScoreOptions((), **options))


@pytest.mark.parametrize("activation", ["Sigmoid", "Identity"])
def test_a_cross_encoder_says_what_sentence_transformers_says(path, reranker, activation):
    folder = reranker(activation)
    with Session(path, Engine(1)) as session:
        session.mine(MineParameters(max_df=1.0))
        for stage in ("antonym", "mined-tfidf"):
            session.score(stage, ScoreOptions((), cross_encoder=folder))
        store = session.store
    originals = store.read("corpus")["text"].to_pylist()
    for stage in ("antonym", "mined-tfidf"):
        texts = store.read(stage)["text"].to_pylist()
        scores = store.read(f"scores-{stage}")["cross_encoder"].to_pylist()
        pairs = [(original, text) for original, text in zip(originals, texts, strict=True) if text]
        assert [text is None for text in texts] == [score is None for score in scores]
        found = [score for score in scores if score is not None]
        assert found == pytest.approx(predicted(folder, pairs), abs=1e-5)
        assert "--cross-encoder FOLDER" in " ".join(command_for(store, f"scores-{stage}"))
    assert (min(found) < 0) == (activation == "Identity") and verify(store) == []


def test_a_judge_s_verdicts_become_columns_and_pack_goes_by_them(path):
    """Verdicts as `read` leaves them: a stage with labels, made from the one that was judged."""
    store = Store.open(path)
    labels = ["same", "other", "neither", None]
    inputs = {name: store.stage(name).digest for name in ("corpus", "antonym")}
    with store.lock():
        settings = Settings("read", 1, inputs=inputs)
        for index in store.begin("llm-judge", settings):
            table = store.read_part("antonym", index, ["row_id", "text", "reason", "edits"])
            own = [
                labels[row % 4] if text is not None else None
                for row, text in zip(table["row_id"].to_pylist(), table["text"].to_pylist(), strict=True)
            ]
            table = table.append_column("label", pa.array(own, pa.string()))
            part = store.write_part("llm-judge", index, table.schema, [table], settings, {})
            store.commit(part)
    with Session(path, Engine(1)) as session:
        with pytest.raises(UsageError, match="--judge antonym: has no verdicts on antonym"):
            session.score("antonym", ScoreOptions((), judge="antonym"))
        session.score("antonym", ScoreOptions(("length_ratio",), judge="llm-judge"))
        store = session.store
    texts = store.read("antonym")["text"].to_pylist()
    rows = store.read("scores-antonym").to_pylist()
    for row, text in zip(rows, texts, strict=True):
        label = labels[row["row_id"] % 4] if text is not None else None
        wanted = (None, None) if label is None else (float(label == "same"), float(label == "other"))
        assert (row["judged_same"], row["judged_other"]) == wanted
    assert verify(store) == []
    assert "--judge llm-judge" in " ".join(command_for(store, "scores-antonym"))
    sides = {"positives": ["corpus"], "negatives": ["antonym"]}
    packed = augment_cli.pack_table(path, **sides, where=["antonym: judged_other == 1"])
    kept = [text for row, text in enumerate(texts) if text is not None and row % 4 == 1]
    assert packed.read("pack")["negative"].to_pylist() == kept and kept
    assert verify(packed) == []


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

    def run(path):
        with Session(path, Engine(1)) as session:
            session.mine(MineParameters(by=by, search=search, negatives=2))

    run(whole)
    die_after(monkeypatch, 1)
    with pytest.raises(Died):
        run(broken)
    die_after(monkeypatch, -1)
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


def test_parameters_that_make_no_sense_are_refused(path):
    for options, message in (
        ({"by": "magic"}, "--by magic: choose one of"),
        ({"range_min": 50}, "--range-min 50 --range-max 50: hold fewer than --negatives 1"),
        ({"max_df": 0.0}, r"--max-df 0\.0: must be above 0"),
        ({"query_vectors": "queries"}, "--query-vectors: is for --by vectors"),
        ({"search": "graph"}, "--search graph: is for --by vectors"),
        ({"positive": "tfidf"}, "'tfidf' has no texts"),
    ):
        with Session(path, Engine(1)) as session, pytest.raises(UsageError, match=message):
            session.mine(MineParameters(**options))


def test_the_python_functions_do_what_the_commands_do(path, model, command):
    augment_cli.embed(path, "antonym", model=model("encoder"), jobs=1, **FAST)
    store = augment_cli.score(path, "antonym", columns=["cosine"], model=model("encoder"), jobs=1, **FAST)
    augment_cli.mine(path, by="vectors", jobs=1)
    assert store.has("scores-antonym")
    where = ["--where", "cosine < 2 and cosine>-2", "--sort", "-cosine"]
    shown = command("inspect", "antonym", *where, "--json", "--store", path)
    assert shown.returncode == 0, shown.stderr
    cosines = [row["scores"]["cosine"] for row in json.loads(shown.stdout)]
    assert cosines == sorted(cosines, reverse=True) and len(cosines) == 10
    plain = command("inspect", "mined-vectors", "-n", "2", "--store", path)
    assert plain.stdout.count("→") == 2
    assert "score" in command("stats", "mined-vectors", "--store", path).stdout
    none = command("inspect", "antonym", "--where", "cosine > 1.5", "--store", path)
    assert none.stdout.splitlines()[0] == "antonym: no row fits --where 'cosine > 1.5'"
    wrong = command("inspect", "antonym", "--where", "__import__('os')", "--store", path)
    assert wrong.returncode == 2 and "is not COLUMN OPERATOR VALUE" in wrong.stderr
    missing = command("inspect", "antonym", "--where", "beauty == high", "--store", path)
    assert missing.returncode == 2 and "has no column 'beauty' for a condition; it has" in missing.stderr
    assert "cosine" in missing.stderr and "text, reason (text)" in missing.stderr
    unknown = command("inspect", "antonym", "--sort", "beauty", "--store", path)
    assert unknown.returncode == 2 and "has no numbers 'beauty'; it has" in unknown.stderr


ASKED = {
    "vectors-antonym": lambda session, encoder: session.embed("antonym", encoder),
    "scores-antonym": lambda session, encoder: session.score("antonym", ScoreOptions(("length_ratio",))),
    "mined-tfidf": lambda session, encoder: session.mine(MineParameters(range_max=7)),
}


@pytest.mark.parametrize("stage", ASKED)
def test_overwrite_replaces_the_stage_that_is_asked_for_alone(vectors_path, encoder, stage):
    with Session(vectors_path, Engine(1)) as session:
        session.score("antonym", ScoreOptions(("cosine",)))
        session.mine(MineParameters())
        before = {name: session.store.stage(name).digest for name in session.store.stages()}
    other = EmbedParameters(model=encoder.model, max_length=5, **FAST)
    with pytest.raises(MixError), Session(vectors_path, Engine(1)) as session:
        ASKED[stage](session, other)
    for _ in range(2):  # the second time nothing is made anew
        with Session(vectors_path, Engine(1), overwrite=True) as session:
            ASKED[stage](session, other)
            after = {name: session.store.stage(name).digest for name in session.store.stages()}
        assert after[stage] != before[stage] and after["vectors"] == before["vectors"]


def test_overwrite_is_not_for_vectors_that_scores_only_read(vectors_path, encoder, embedded):
    Store.open(vectors_path).part_path("vectors", 1).unlink()
    other = EmbedParameters(model=encoder.model, max_length=5, **FAST)
    with Session(vectors_path, Engine(1), overwrite=True) as session:
        session.score("antonym", ScoreOptions(("cosine",)), parameters=other)
    # They were finished as they were begun.
    assert digests(vectors_path, "vectors") == digests(embedded, "vectors")


def test_dry_runs_say_what_would_be_made_and_write_nothing(path, command):
    before = sorted(path.rglob("*"))
    by_vectors = ["corpus", "vectors", "vectors-antonym", "mined-vectors"]
    for arguments, stages in {
        ("embed", "antonym"): ["corpus", "vectors-antonym"],
        ("score", "antonym"): ["corpus", "tfidf", "vectors", "vectors-antonym", "scores-antonym"],
        ("score", "antonym", "--columns", "length_ratio"): ["corpus", "scores-antonym"],
        ("mine", "--negatives", "2"): ["corpus", "tfidf", "mined-tfidf", "mined-tfidf.1"],
        ("mine", "--by", "vectors", "--positive", "antonym"): by_vectors,
    }.items():
        result = command(*arguments, "--store", path, "--dry-run", "--json")
        assert result.returncode == 0, result.stderr
        entries = json.loads(result.stdout)
        assert [entry["stage"] for entry in entries] == stages
        done = {entry["stage"] for entry in entries if entry["state"] == "done"}
        assert done == set(stages) & {"corpus", "tfidf"}
    assert sorted(path.rglob("*")) == before


def test_the_only_set_of_vectors_is_taken(path, model, tmp_path):
    words = tmp_path / "words.vec"
    words.write_text("the 1 1\nriver 1 2\n")
    own, cosine = EmbedParameters(model=str(words)), ScoreOptions(("cosine",))
    with Session(path, Engine(1)) as session:
        session.embed("corpus", own, "words")
        # Whose vectors are missing is said, and that only the same encoder's will do.
        with pytest.raises(MixError, match=r"vectors-words: made by another encoder .*--model"):
            session.score("antonym", cosine)
        session.embed("antonym", own, "words")
        session.score("antonym", cosine)  # neither --vectors nor --model
        assert not session.store.has("vectors")
        session.mine(MineParameters(by="vectors", positive="antonym"))
        session.embed("corpus", EmbedParameters(model=model("encoder"), **FAST), "small")
        with pytest.raises(UsageError, match=r"several sets of vectors \(small, words\); .*--vectors NAME"):
            session.mine(MineParameters(by="vectors"), "mined-again")
        session.mine(MineParameters(by="vectors"), "mined-again", vectors="small")
        session.embed("corpus", EmbedParameters(model=model("encoder"), **FAST))
        session.mine(MineParameters(by="vectors"), "mined-first")  # the one without a name goes first
        assert "vectors" in session.store.stage("mined-first").settings["inputs"]
