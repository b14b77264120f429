"""Encoders with prompts give the vectors that sentence-transformers gives with the same prompt."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.layout import Prompts, read_prompts, with_prompt
from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import BadInputError, UsageError
from tests.helpers.small_encoders import as_old_layout, with_prompts

PROMPTS = {"query": "the dog runs : ", "document": "town ", "none": ""}
KINDS = ("cls_token", "max_tokens", "mean_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")


@pytest.fixture(scope="module", params=KINDS)
def by_pooling(request, plain_model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / request.param
    flags = {f"pooling_mode_{request.param}": True}
    return as_old_layout(plain_model, folder, flags, max_length=20)


@pytest.mark.parametrize("pooled", [True, False], ids=["pooled", "left out"])
def test_each_prompt_gives_the_librarys_vectors(by_pooling, tmp_path, sentences, pooled):
    folder = with_prompts(by_pooling, tmp_path / "model", PROMPTS, pooled=pooled)
    library = SentenceTransformer(str(folder), device="cpu")
    seen = []
    for name in PROMPTS:
        expected = library.encode(sentences, prompt_name=name)
        actual = load_encoder(folder, prompt_name=name).encode(sentences)
        np.testing.assert_allclose(actual, expected, atol=1e-5)
        seen.append(actual)
    plain = load_encoder(folder).encode(sentences)
    np.testing.assert_array_equal(seen[-1], plain)
    assert np.abs(seen[0] - plain).max() > 0.01 and np.abs(seen[0] - seen[1]).max() > 0.01


def test_the_default_prompt_is_taken_unless_another_is_named(old_layout, tmp_path, sentences):
    folder = with_prompts(old_layout, tmp_path / "model", PROMPTS, default="document", pooled=False)
    library = SentenceTransformer(str(folder), device="cpu")
    np.testing.assert_allclose(load_encoder(folder).encode(sentences), library.encode(sentences), atol=1e-5)
    without = load_encoder(folder, prompt_name="none").encode(sentences)
    np.testing.assert_allclose(without, library.encode(sentences, prompt_name="none"), atol=1e-5)


def test_the_cache_keeps_prompts_apart_and_knows_encoders_without_by_their_old_keys(old_layout, tmp_path):
    folder = with_prompts(old_layout, tmp_path / "model", PROMPTS, default="document")
    plain, query = load_encoder(folder), load_encoder(folder, prompt_name="query")
    assert set(plain.cache_key()) == {"digest", "pooling", "max_length", "precision"}
    assert query.cache_key() == plain.cache_key() | {"prompt": PROMPTS["query"]}
    assert load_encoder(folder, prompt_name="document").cache_key() == plain.cache_key()
    found = [one.encode(["a river"], cache=tmp_path / "cache") for one in (plain, query, plain)]
    assert np.array_equal(found[0], found[2]) and not np.array_equal(found[0], found[1])
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_a_prompt_that_there_is_not_is_refused_with_those_that_there_are(old_layout, tmp_path):
    folder = with_prompts(old_layout, tmp_path / "model", PROMPTS)
    with pytest.raises(UsageError, match=r"prompt 'passage': .* has the prompts query, document, none"):
        load_encoder(folder, prompt_name="passage")
    with pytest.raises(UsageError, match=r"prompt 'query': .* has no prompts; leave it out"):
        load_encoder(old_layout, prompt_name="query")


def test_damaged_prompts_are_the_files_fault(old_layout, tmp_path):
    folder = shutil.copytree(old_layout, tmp_path / "model")
    for settings in ({"prompts": ["query: "]}, {"prompts": {}, "default_prompt_name": "query"}):
        (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
        with pytest.raises(BadInputError, match="has settings of another kind"):
            load_encoder(folder)


def test_no_token_of_a_prompt_is_left_out_unless_the_folder_says_so():
    assert Encoder(None, None, prompt="query: ", prompts=Prompts({"query": "query: "})).unpooled == 0


def test_a_folder_with_a_prompt_leaves_its_model_as_it_was(tiny_encoder, tmp_path):
    before = {path.name: path.read_bytes() for path in Path(tiny_encoder).iterdir() if path.is_file()}
    made = with_prompt(Path(tiny_encoder), "query: ", tmp_path / "start")
    assert with_prompt(Path(tiny_encoder), "query: ", tmp_path / "start") == made
    assert read_prompts(made) == Prompts({"text": "query: "}, "text")
    other = with_prompt(Path(tiny_encoder), "passage: ", tmp_path / "start")
    assert read_prompts(other).text() == "passage: "
    after = {path.name: path.read_bytes() for path in Path(tiny_encoder).iterdir() if path.is_file()}
    assert after == before
