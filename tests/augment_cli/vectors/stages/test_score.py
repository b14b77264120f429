"""score: each column against a slow reference, and probabilities of models that are given."""

import itertools
import re

import pyarrow as pa
import pytest

import augment_cli
from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, MixError, UsageError
from augment_cli.reports.report import stats
from augment_cli.reports.soundness import command_for, verify
from augment_cli.session import Session
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from augment_cli.vectors.mine_parameters import MineParameters
from augment_cli.vectors.score import ScoreOptions
from tests.helpers.vector_stages import predicted, units


def slow_scores(store):
    """Every column one row at a time, in Python."""
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
    """A random BERT with a classifier's head, by its labels."""
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
    parts = packed.stage("pack").parts.values()
    left = sum(part.statistics.get("left_out.antonym", 0) for part in parts)
    assert left == sum(map(bool, texts)) - len(kept)
    assert verify(packed) == []
    with pytest.raises(UsageError, match="no row passes the filters"):
        augment_cli.pack_table(path, name="none", **sides, where=["antonym:length_ratio > 99"])
