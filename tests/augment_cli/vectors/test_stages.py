"""embed, score and mine in a store: what is in the columns, resuming, damage, and what is refused."""

import itertools
import json
import re
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import augment_cli
from augment_cli.encoding import static
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.static import load_static
from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, MissingError, MixError, UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.neural.runtime import sparing_memory
from augment_cli.reports.report import stats
from augment_cli.reports.soundness import verify
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.files import sha256_of_file
from augment_cli.store.store import Store
from augment_cli.vectors import embed
from augment_cli.vectors.embed import EmbedParameters
from augment_cli.vectors.mine import MineParameters
from augment_cli.vectors.pieces import Pieces
from augment_cli.vectors.score import ScoreOptions
from augment_cli.vectors.stages import (
    VectorStage,
    as_bytes,
    as_column,
    from_bytes,
    in_chunks,
    vectors_name,
)
from tests.helpers.tiny_models import SENTENCES

FAST = {"precision": "fp32", "device": "cpu"}


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    monkeypatch.setattr(embed, "PIECE_ROWS", 8)


@pytest.fixture(scope="session")
def base(tmp_path_factory):
    """60 sentences in three parts, a fifth of them twice, with an augmentation that leaves some unchanged."""
    folder = tmp_path_factory.mktemp("base")
    lines = [*SENTENCES[:50], *SENTENCES[5:15]]
    (folder / "in.txt").write_text("\n".join(lines) + "\n")
    with Session(folder / "store", Engine(1)) as session:
        session.ingest([folder / "in.txt"], IngestOptions(part_rows=25))
        session.fit()
        session.augment(make_run("antonym"))
        assert 10 < session.store.read("antonym")["text"].null_count < 50
    return folder / "store"


@pytest.fixture
def path(base, tmp_path):
    return shutil.copytree(base, tmp_path / "store")


@pytest.fixture(scope="session")
def encoder(model):
    return EmbedParameters(model=model("encoder"), **FAST)


@pytest.fixture(scope="session")
def embedded(base, tmp_path_factory, model):
    path = shutil.copytree(base, tmp_path_factory.mktemp("embedded") / "store")
    with Session(path, Engine(1)) as session, pytest.MonkeyPatch.context() as patch:
        patch.setattr(embed, "PIECE_ROWS", 8)
        for stage in ("corpus", "antonym"):
            session.embed(stage, EmbedParameters(model=model("encoder"), **FAST))
    return path


def make(path, encoder, stage="corpus", jobs=1, **options):
    with Session(path, Engine(jobs, **options)) as session:
        session.embed(stage, encoder)
        return session.store


def digests(path, stage):
    return [sha256_of_file(part) for part in sorted((path / stage).glob("*.parquet"))]


# --- embed


def test_vectors_are_the_evaluators_and_null_where_there_is_no_text(embedded, model):
    store = Store.open(embedded)
    encoder = load_encoder(model("encoder"))
    for stage, folder in (("corpus", "vectors"), ("antonym", "vectors-antonym")):
        texts = store.read(stage)["text"].to_pylist()
        column = store.read(folder)["vector"]
        assert column.type == pa.list_(pa.field("element", pa.float16(), nullable=False), 32)
        assert [value is None for value in column.to_pylist()] == [text is None for text in texts]
        expected = encoder.encode([text for text in texts if text is not None])
        vectors = np.array([value for value in column.to_pylist() if value is not None], np.float32)
        np.testing.assert_allclose(vectors, expected, atol=2e-3)
    assert verify(store) == []
    assert store.frame("vectors-antonym")["vector"].null_count() == store.read("antonym")["text"].null_count


def test_equal_texts_are_encoded_once_over_all_parts(path, encoder, monkeypatch):
    asked: list[str] = []
    real = embed.encode

    def encode(texts, *rest):
        asked.extend(texts)
        return real(texts, *rest)

    monkeypatch.setattr(embed, "encode", encode)
    store = make(path, encoder)
    texts = store.read("corpus")["text"].to_pylist()
    assert len(asked) == len(set(asked)) == len(set(texts)) < len(texts)
    vectors = store.read("vectors")["vector"].to_pylist()
    by_text = dict(zip(texts, vectors, strict=True))
    assert all(by_text[text] == vector for text, vector in zip(texts, vectors, strict=True))
    assert stats(store, "vectors")["encoded"] == len(set(texts))
    # A part that is lost is made again, from the others where they hold its texts.
    before = digests(path, "vectors")
    store.part_path("vectors", 2).unlink()
    make(path, encoder)
    assert digests(path, "vectors") == before


class Died(BaseException):
    """The process is gone: nothing catches this."""


@pytest.mark.parametrize("pieces", [0, 1, 5])
def test_a_dead_run_resumes_without_doing_anything_twice(path, encoder, embedded, monkeypatch, pieces):
    written, real = [], Pieces.write

    def write(self, index, piece, table):
        if len(written) == pieces:
            raise Died
        real(self, index, piece, table)
        written.append((index, piece))

    monkeypatch.setattr(Pieces, "write", write)
    with pytest.raises(Died):
        make(path, encoder)
    first = list(written)
    pieces = -1
    monkeypatch.setattr(Pieces, "write", write)
    store = make(path, encoder)
    assert len(written) == len(set(written)) > len(first)
    assert digests(path, "vectors") == digests(embedded, "vectors")
    assert verify(store) == [] and not list((path / ".work").rglob("piece-*"))


def test_the_graph_mines_what_the_exact_search_does_where_there_is_little_to_search(embedded, tmp_path):
    path = shutil.copytree(embedded, tmp_path / "store")
    with Session(path, Engine(1)) as session:
        session.mine(MineParameters(by="vectors"), stage="mined-exact")
        session.mine(MineParameters(by="vectors", search="graph"), stage="mined-graph")
        exact, graph = (session.store.read(f"mined-{name}").to_pylist() for name in ("exact", "graph"))
    for one, other in zip(exact, graph, strict=True):
        assert (one["text"] is None) == (other["text"] is None)
        assert one["text"] is None or one["score"] == pytest.approx(other["score"], abs=2e-3)
    assert sum(one["text"] is not None for one in exact) > 30
    assert "search" not in session.store.stage("mined-exact").settings["parameters"]


def test_a_damaged_or_foreign_piece_is_made_again(path, encoder, embedded):
    make_pieces(path, encoder)
    files = sorted((path / ".work").rglob("piece-*.parquet"))
    assert len(files) > 4
    data = bytearray(files[0].read_bytes())
    data[len(data) // 3] ^= 1
    files[0].write_bytes(data)
    files[1].write_bytes(b"")
    pq.write_table(pq.read_table(files[2]).replace_schema_metadata(None), files[2])
    make(path, encoder)
    assert digests(path, "vectors") == digests(embedded, "vectors")


def make_pieces(path, encoder):
    """All pieces, and no part."""
    with Session(path, Engine(1)) as session:
        work = embed.begin(session.store, "corpus", encoder)
        for index, pieces in work.pieces.items():
            for piece, positions in enumerate(pieces):
                embed.encode_piece(
                    path,
                    work.stage,
                    "corpus",
                    index,
                    piece,
                    positions,
                    work.model,
                    work.parameters,
                    work.settings,
                )


@pytest.mark.parametrize("backend", [pytest.param("loky", marks=pytest.mark.slow), "threading"])
def test_the_same_bytes_with_two_workers(path, encoder, embedded, backend):
    make(path, encoder, jobs=2, backend=backend)
    assert digests(path, "vectors") == digests(embedded, "vectors")


def test_pieces_that_hold_lists_are_read_as_well(path, encoder, embedded, monkeypatch):
    """As a run of an earlier release left them."""
    monkeypatch.setattr(embed, "as_bytes", lambda halves: as_column(halves, np.zeros(len(halves), bool)))
    make_pieces(path, encoder)
    monkeypatch.undo()
    make(path, encoder)
    assert digests(path, "vectors") == digests(embedded, "vectors")


@given(st.integers(1, 5000), st.integers(1, 3))
def test_chunks_and_bytes_hold_the_same_vectors(rows, dimension):
    vectors = np.arange(rows * dimension).reshape(rows, dimension).astype(np.float16)
    column = pa.chunked_array([as_bytes(vectors)])
    np.testing.assert_array_equal(from_bytes(column.slice(rows // 2)), vectors[rows // 2 :])
    table = pa.table({"vector": as_column(vectors, np.arange(rows) % 3 == 0)})
    assert in_chunks(table).equals(table)
    assert max(map(len, in_chunks(table)["vector"].chunks)) <= 1024


def test_arrow_allocates_as_before_once_memory_was_spared():
    before = pa.default_memory_pool().backend_name
    with pytest.raises(KeyError), sparing_memory():
        assert pa.default_memory_pool().backend_name == "system"
        raise KeyError
    assert pa.default_memory_pool().backend_name == before


def test_rows_limits_and_is_part_of_the_fingerprint(path, model):
    store = make(path, EmbedParameters(model=model("encoder"), rows=30, **FAST))
    assert [value is None for value in store.read("vectors")["vector"].to_pylist()] == [False] * 30 + [
        True
    ] * 30
    with pytest.raises(MixError, match=r"parameters\.rows = 30, now null"):
        make(path, EmbedParameters(model=model("encoder"), **FAST))


def test_bf16_is_near_fp32_and_another_fingerprint(embedded, path, model):
    store = make(path, EmbedParameters(model=model("encoder"), precision="bf16", device="cpu"))
    one, _ = VectorStage.open(store).read(0)
    other, _ = VectorStage.open(Store.open(embedded)).read(0)
    one, other = one.astype(np.float32), other.astype(np.float32)
    cosines = (one * other).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(other, axis=1)
    assert cosines.min() > 0.99
    # What was begun in bf16 goes on in it, whatever `auto` would mean.
    store.part_path("vectors", 1).unlink()
    make(path, EmbedParameters(model=model("encoder")))
    assert Store.open(path).has("vectors")


def test_word_vectors_are_an_encoder_too(path, tmp_path):
    words = sorted({word for text in SENTENCES for word in text.lower().rstrip(".").split()})
    numbers = np.random.default_rng(0).normal(size=(len(words), 4)).round(3)
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in zip(words[1:], numbers, strict=False)]
    (tmp_path / "words.vec").write_text("\n".join(lines) + "\n")
    store = make(path, EmbedParameters(model=str(tmp_path / "words.vec"), normalize=True))
    vectors = VectorStage.open(store)
    assert vectors.dimension == 4
    lengths = np.linalg.norm(vectors.read(0)[0].astype(np.float32), axis=1)
    assert (
        np.isclose(lengths, 1, atol=1e-2).any() and (np.isclose(lengths, 1, atol=1e-2) | (lengths == 0)).all()
    )


def test_a_static_piece_is_halved_as_it_is_looked_up(tmp_path, monkeypatch):
    (tmp_path / "words.vec").write_text("the 1 1e9\nriver 1 0.1\ntown 0.3 2\n")
    encoder, parameters = load_static(tmp_path / "words.vec"), EmbedParameters()
    texts = ["the", "river town", "town", "", "river"]
    whole = embed.encode(texts, encoder, parameters)
    given, original = [], embed.encode

    def watched(part, *more):
        given.append(part)
        return original(part, *more)

    monkeypatch.setattr(static, "LOOK_UP_TEXTS", 2)
    monkeypatch.setattr(embed, "encode", watched)
    with np.errstate(over="ignore"):
        expected = whole.astype(np.float16)
    np.testing.assert_array_equal(embed._encode_in_halves(texts, encoder, parameters), expected)
    assert given == [texts[:2], texts[2:4], texts[4:]] and np.isinf(expected).any()


def test_a_first_part_of_nulls_alone(path, encoder):
    store = Store.open(path)
    with Session(path, Engine(1)) as session:
        settings = make_run("antonym").settings(store)
        schema = store.read("antonym").schema.remove_metadata()
        for index in range(3):
            table = store.read_part("antonym", index).replace_schema_metadata(None)
            if index == 0:
                nothing = pa.nulls(table.num_rows, pa.string())
                table = table.set_column(table.schema.get_field_index("text"), "text", nothing)
            session.store.begin("antonym-null", settings)
            pending = session.store.write_part("antonym-null", index, schema, [table], settings)
            session.store.commit(pending)
        session.embed("antonym-null", encoder)
        assert session.store.read("vectors-antonym-null").num_rows == 60


def test_what_cannot_be_embedded_is_refused(path, encoder, model, tmp_path):
    with pytest.raises(UsageError, match="no stage 'xyz'"):
        make(path, encoder, "xyz")
    with pytest.raises(UsageError, match="has no row for each row"):
        make(path, encoder, "terms")
    with pytest.raises(UsageError, match="'tfidf' has no texts; it has row_id"):
        make(path, encoder, "tfidf")
    with pytest.raises(MissingError, match="--model /no/such/model: there is no such folder"):
        make(path, EmbedParameters(model="/no/such/model"))
    with pytest.raises(UsageError, match="--precision fp8: choose one of"):
        make(path, EmbedParameters(model=model("encoder"), precision="fp8"))
    with pytest.raises(UsageError, match="unknown pooling 'best'"):
        make(path, EmbedParameters(model=model("encoder"), pooling="best", **FAST))
    (tmp_path / "big.vec").write_text("the 99999 1\nriver 1 2\n")
    with pytest.raises(BadInputError, match="not finite in half precision"):
        make(path, EmbedParameters(model=str(tmp_path / "big.vec")))


def test_vectors_of_two_encoders_are_never_mixed(embedded, tmp_path, model):
    path = shutil.copytree(embedded, tmp_path / "store")
    with pytest.raises(MixError, match=r"resources\.model = .*embed beside it with --name NAME"):
        make(path, EmbedParameters(model=model("bert"), **FAST))
    with Session(path, Engine(1)) as session:
        session.embed("corpus", EmbedParameters(model=model("bert"), **FAST), "other")
        assert (
            session.store.has(vectors_name("corpus", "other"))
            and vectors_name("antonym", "b") == "vectors-b-antonym"
        )
        other, mine = (
            VectorStage.open(session.store, "corpus", "other"),
            VectorStage.open(session.store, "antonym"),
        )
        with pytest.raises(
            MixError, match="vectors and vectors-other cannot be compared: they differ in model"
        ):
            VectorStage.open(session.store).check_comparable(other)
        (tmp_path / "words.vec").write_text("the 1 1\nriver 1 2\n")
        session.embed("corpus", EmbedParameters(model=str(tmp_path / "words.vec")), "words")
        with pytest.raises(MixError, match="32 and 2 numbers a vector"):
            mine.check_comparable(VectorStage.open(session.store, "corpus", "words"))
        with pytest.raises(
            UsageError, match=r"has no vectors of 'antonym' \(vectors-words-antonym\); make them with `augm"
        ):
            VectorStage.open(session.store, "antonym", "words")
        # What is missing beside vectors of another encoder is not made by the default one.
        session.store.remove("vectors-antonym")
        with pytest.raises(MixError, match="made by another encoder than"):
            session.score(
                "antonym", ScoreOptions(("cosine",)), parameters=EmbedParameters(model=model("bert"), **FAST)
            )


def test_vectors_of_a_stage_made_anew_are_refused(embedded, tmp_path):
    path = shutil.copytree(embedded, tmp_path / "store")
    with Session(path, Engine(1)) as session:
        session.store.remove("antonym")
        session.augment(make_run("antonym", seed=9))
        with pytest.raises(MixError, match="vectors of an earlier 'antonym', which was made anew since"):
            VectorStage.open(session.store, "antonym")


# --- score


def units(store, stage):
    return [
        None if value is None else np.array(value, np.float64) / np.linalg.norm(np.array(value, np.float64))
        for value in store.read(stage)["vector"].to_pylist()
    ]


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


# --- mine


def test_mined_negatives_keep_every_limit(embedded, tmp_path, encoder):
    path = shutil.copytree(embedded, tmp_path / "store")
    limits = MineParameters(
        by="vectors",
        positive="antonym",
        negatives=3,
        range_min=1,
        range_max=20,
        relative_margin=0.02,
        max_score=0.9,
    )
    with Session(path, Engine(1)) as session:
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
        ranked = sorted(
            {float(corpus[row] @ corpus[other]) for other in range(60) if texts[other] != texts[row]},
            reverse=True,
        )
        for entry in entries:
            assert (entry["text"] is None) == (entry["reason"] is not None)
            assert entry["positive_score"] == pytest.approx(positive, abs=2e-3)
            if entry["text"] is not None:
                mined += 1
                assert entry["text"] == texts[entry["other_row_id"]]
                assert entry["score"] == pytest.approx(
                    float(corpus[row] @ corpus[entry["other_row_id"]]), abs=2e-3
                )
                assert entry["score"] <= min(0.9, positive * 0.98) + 1e-6
                assert 1 <= entry["rank"] < 20
        assert len(ranked) > 20
    numbers = stats(store, "mined-vectors")
    assert mined > 20 and numbers["no_positive"] == store.read("antonym")["text"].null_count
    assert (
        numbers["mined"]
        + numbers["all_candidates_skipped"]
        + numbers["no_positive"]
        + numbers["no_candidate"]
        == 60
    )
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
    written, real = [], Pieces.write

    def write(self, index, piece, table):
        if len(written) == 1:
            raise Died
        real(self, index, piece, table)
        written.append((index, piece))

    def run(path):
        with Session(path, Engine(1)) as session:
            session.mine(MineParameters(by=by, search=search, negatives=2))

    run(whole)
    monkeypatch.setattr(Pieces, "write", write)
    with pytest.raises(Died):
        run(broken)
    monkeypatch.setattr(Pieces, "write", real)
    run(broken)
    for stage in (f"mined-{by}", f"mined-{by}.1"):
        assert digests(broken, stage) == digests(whole, stage)


def test_parameters_that_make_no_sense_are_refused(path):
    for options, message in (
        ({"by": "magic"}, "--by magic: choose one of"),
        ({"range_min": 50}, "--range-min 50 --range-max 50: hold fewer than --negatives 1"),
        ({"max_df": 0.0}, "--max-df 0"),
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
    shown = command(
        "inspect",
        "antonym",
        "--where",
        "cosine < 2 and cosine>-2",
        "--sort",
        "-cosine",
        "--json",
        "--store",
        path,
    )
    assert shown.returncode == 0, shown.stderr
    cosines = [row["scores"]["cosine"] for row in json.loads(shown.stdout)]
    assert cosines == sorted(cosines, reverse=True) and len(cosines) == 10
    plain = command("inspect", "mined-vectors", "-n", "2", "--store", path)
    assert plain.stdout.count("→") == 2
    assert "score" in command("stats", "mined-vectors", "--store", path).stdout
    wrong = command("inspect", "antonym", "--where", "__import__('os')", "--store", path)
    assert wrong.returncode == 2 and "is not COLUMN OPERATOR NUMBER" in wrong.stderr
    unknown = command("inspect", "antonym", "--sort", "beauty", "--store", path)
    assert unknown.returncode == 2 and "has no numbers 'beauty'; it has" in unknown.stderr


# --- what is asked for beside the work itself


@pytest.mark.parametrize(
    ("ask", "stage", "kept"),
    [
        (lambda session, encoder: session.embed("antonym", encoder), "vectors-antonym", "vectors"),
        (
            lambda session, encoder: session.score("antonym", ScoreOptions(("length_ratio",))),
            "scores-antonym",
            "vectors",
        ),
        (lambda session, encoder: session.mine(MineParameters(range_max=7)), "mined-tfidf", "vectors"),
    ],
)
def test_overwrite_replaces_the_stage_that_is_asked_for_alone(embedded, tmp_path, encoder, ask, stage, kept):
    path = shutil.copytree(embedded, tmp_path / "store")
    with Session(path, Engine(1)) as session:
        session.score("antonym", ScoreOptions(("cosine",)))
        session.mine(MineParameters())
        before = {name: session.store.stage(name).digest for name in session.store.stages()}
    other = EmbedParameters(model=encoder.model, max_length=5, **FAST)
    with pytest.raises(MixError), Session(path, Engine(1)) as session:
        ask(session, other)
    with Session(path, Engine(1), overwrite=True) as session:
        ask(session, other)
        after = {name: session.store.stage(name).digest for name in session.store.stages()}
    assert after[stage] != before[stage] and after[kept] == before[kept]
    with Session(path, Engine(1), overwrite=True) as session:  # with the same settings nothing is made anew
        ask(session, other)
        assert session.store.stage(stage).digest == after[stage]


def test_overwrite_is_not_for_vectors_that_scores_only_read(embedded, tmp_path, encoder):
    path = shutil.copytree(embedded, tmp_path / "store")
    Store.open(path).part_path("vectors", 1).unlink()
    other = EmbedParameters(model=encoder.model, max_length=5, **FAST)
    with Session(path, Engine(1), overwrite=True) as session:
        session.score("antonym", ScoreOptions(("cosine",)), parameters=other)
    # They were finished as they were begun.
    assert digests(path, "vectors") == digests(embedded, "vectors")


def test_dry_runs_say_what_would_be_made_and_write_nothing(path, command):
    before = sorted(path.rglob("*"))
    for arguments, stages in {
        ("embed", "antonym"): ["corpus", "vectors-antonym"],
        ("score", "antonym"): ["corpus", "tfidf", "vectors", "vectors-antonym", "scores-antonym"],
        ("score", "antonym", "--columns", "length_ratio"): ["corpus", "scores-antonym"],
        ("mine", "--negatives", "2"): ["corpus", "tfidf", "mined-tfidf", "mined-tfidf.1"],
        ("mine", "--by", "vectors", "--positive", "antonym"): [
            "corpus", "vectors", "vectors-antonym", "mined-vectors",
        ],
    }.items():  # fmt: skip
        result = command(*arguments, "--store", path, "--dry-run", "--json")
        assert result.returncode == 0, result.stderr
        entries = json.loads(result.stdout)
        assert [entry["stage"] for entry in entries] == stages
        done = {entry["stage"] for entry in entries if entry["state"] == "done"}
        assert done == set(stages) & {"corpus", "tfidf"}
    assert sorted(path.rglob("*")) == before


def test_a_pooling_with_token_weights_says_what_to_do(path, model):
    with pytest.raises(
        UsageError, match=r"--pooling idf:mean: encoder.* stores no token weights, and embed counts none"
    ):
        make(path, EmbedParameters(model=model("encoder"), pooling="idf:mean"))


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
