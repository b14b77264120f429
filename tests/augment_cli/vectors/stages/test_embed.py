"""Prompts, and vectors of a stage."""

import dataclasses

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer

from augment_cli.contract.vector_parameters import MineParameters
from augment_cli.encoding.loading import load_encoder
from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError, MissingError, MixError, UsageError
from augment_cli.reports.report import stats
from augment_cli.reports.soundness import verify
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store
from augment_cli.vectors import embed
from augment_cli.vectors.mine import mine_settings
from augment_cli.vectors.score import ScoreOptions
from augment_cli.vectors.stages import (
    EmbedParameters,
    VectorStage,
    as_bytes,
    as_column,
    embed_settings,
    find_encoder,
    from_bytes,
    in_chunks,
    vectors_name,
)
from tests.helpers.small_encoders import with_prompts
from tests.helpers.tiny_models import SENTENCES
from tests.helpers.vector_stages import FAST, Died, die_after, digests, make, units


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


@pytest.mark.parametrize("pieces", [0, 1, 5])
def test_a_dead_run_resumes_without_doing_anything_twice(path, encoder, embedded, monkeypatch, pieces):
    first = die_after(monkeypatch, pieces)
    with pytest.raises(Died):
        make(path, encoder)
    second = die_after(monkeypatch, -1)
    store = make(path, encoder)
    assert len(first) == pieces and second and not set(first) & set(second)
    assert digests(path, "vectors") == digests(embedded, "vectors")
    assert verify(store) == [] and not list((path / ".work").rglob("piece-*"))


@given(st.integers(1, 5000), st.integers(1, 3))
def test_chunks_and_bytes_hold_the_same_vectors(rows, dimension):
    vectors = np.arange(rows * dimension).reshape(rows, dimension).astype(np.float16)
    column = pa.chunked_array([as_bytes(vectors)])
    np.testing.assert_array_equal(from_bytes(column.slice(rows // 2)), vectors[rows // 2 :])
    table = pa.table({"vector": as_column(vectors, np.arange(rows) % 3 == 0)})
    assert in_chunks(table).equals(table)
    assert max(map(len, in_chunks(table)["vector"].chunks)) <= 1024


def test_rows_limits_and_is_part_of_the_fingerprint(path, model):
    store = make(path, EmbedParameters(model=model("encoder"), rows=30, **FAST))
    missing = [value is None for value in store.read("vectors")["vector"].to_pylist()]
    assert missing == [False] * 30 + [True] * 30
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
    with pytest.raises(UsageError, match=r"encoder.* stores no token weights, and embed counts none"):
        make(path, EmbedParameters(model=model("encoder"), pooling="idf:mean"))
    (tmp_path / "big.vec").write_text("the 99999 1\nriver 1 2\n")
    with pytest.raises(BadInputError, match="not finite in half precision"):
        make(path, EmbedParameters(model=str(tmp_path / "big.vec")))


def test_vectors_of_two_encoders_are_never_mixed(vectors_path, tmp_path, model):
    with pytest.raises(MixError, match=r"resources\.model = .*embed beside it with --name NAME"):
        make(vectors_path, EmbedParameters(model=model("bert"), **FAST))
    with Session(vectors_path, Engine(1)) as session:
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


def test_vectors_of_a_stage_made_anew_are_refused(vectors_path):
    with Session(vectors_path, Engine(1)) as session:
        session.store.remove("antonym")
        session.augment(make_run("antonym", seed=9))
        with pytest.raises(MixError, match="vectors of an earlier 'antonym', which was made anew since"):
            VectorStage.open(session.store, "antonym")


PROMPTS = {"query": "the dog runs : ", "document": "town "}


@pytest.fixture
def prompted(old_layout, tmp_path):
    folder = with_prompts(old_layout, tmp_path / "model", PROMPTS, default="document", pooled=False)
    return EmbedParameters(model=str(folder), **FAST)


def named(parameters, name):
    return dataclasses.replace(parameters, prompt_name=name)


def test_vectors_behind_a_prompt_are_the_librarys_and_mining_asks_with_those_of_queries(path, prompted):
    with Session(path, Engine(1)) as session:
        session.embed("corpus", prompted)
        session.embed("corpus", named(prompted, "query"), "queries")
        limits = MineParameters(by="vectors", query_vectors="queries", range_max=8, near_duplicate=2.0)
        (stage,) = session.mine(limits, parameters=prompted)
        store = session.store
        with pytest.raises(MixError, match="prompt_name"):
            session.embed("corpus", prompted, "queries")
        with pytest.raises(
            UsageError, match=r"prompt 'passage': .* has the prompts query, document; name one"
        ):
            session.embed("corpus", named(prompted, "passage"), "passages")
    library = SentenceTransformer(prompted.model, device="cpu")
    texts = store.read("corpus")["text"].to_pylist()
    sides = []
    for folder, name in (("vectors", "document"), ("vectors-queries", "query")):
        vectors = np.array(store.read(folder)["vector"].to_pylist(), np.float32)
        np.testing.assert_allclose(vectors, library.encode(texts, prompt_name=name), atol=2e-3)
        sides.append(units(store, folder))
    documents, queries = sides
    other = 0
    for row, entry in enumerate(store.read(stage).to_pylist()):
        unlike = [number for number, text in enumerate(texts) if text.lower() != texts[row].lower()]
        best = max(float(queries[row] @ documents[number]) for number in unlike)
        assert entry["score"] == pytest.approx(best, abs=2e-3)
        other += best > max(float(documents[row] @ documents[number]) for number in unlike) + 2e-3
    assert other > 2  # the same prompt on both sides gives other scores


def test_what_was_embedded_and_mined_without_prompts_keeps_its_settings(embedded, encoder):
    with Session(embedded, Engine(1)) as session:
        store = session.store
        model = find_encoder(encoder.model)
        assert "prompt_name" not in embed_settings(store, "corpus", model, encoder).parameters
        asked = embed_settings(store, "corpus", model, named(encoder, "query"))
        assert asked.parameters["prompt_name"] == "query"
        limits = MineParameters(by="vectors")
        assert not {"query_vectors", "search"} & mine_settings(store, limits, None, None, 0).parameters.keys()
