"""score: each column against a slow reference, and probabilities of models that are given."""

import itertools
import re
import shutil

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, MixError, UsageError
from augment_cli.reports.report import stats
from augment_cli.reports.soundness import verify
from augment_cli.session import Session
from augment_cli.vectors.score import ScoreOptions
from tests.helpers.vector_stages import units


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


def test_scores_equal_python_one_row_at_a_time(embedded, tmp_path):
    path = shutil.copytree(embedded, tmp_path / "store")
    with Session(path, Engine(1)) as session:
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
        assert session.store.read("scores-antonym").column_names == [
            "row_id",
            "length_ratio",
            "repeated_words",
        ]
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
        expected = {
            "entailment": float(pair[2]),
            "contradiction": float(pair[0]),
            "acceptability": float(one[1]),
        }
        assert {key: row[key] for key in expected} == pytest.approx(expected, abs=1e-5)


def test_a_classifier_of_other_labels_is_refused(path, classifier):
    for options, message in (
        ({"nli": classifier("good", "bad")}, r"none of its labels \(good, bad\) is 'entailment'"),
        ({"acceptability": classifier("a", "b", "c")}, "one is called 'acceptable'"),
    ):
        with Session(path, Engine(1)) as session, pytest.raises(BadInputError, match=message):
            session.score("antonym", ScoreOptions((), **options))
