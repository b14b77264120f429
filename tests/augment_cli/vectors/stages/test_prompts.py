"""Prompts in stages: vectors are sentence-transformers', and mining has a query side and a document side."""

import dataclasses

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from augment_cli.engine.engine import Engine
from augment_cli.errors import MixError, UsageError
from augment_cli.session import Session
from augment_cli.vectors.mine_parameters import MineParameters, mine_settings
from augment_cli.vectors.stages import EmbedParameters, embed_settings, find_encoder
from tests.helpers.small_encoders import with_prompts
from tests.helpers.vector_stages import FAST, units

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
        assert "query_vectors" not in mine_settings(store, limits, None, None, 0).parameters
