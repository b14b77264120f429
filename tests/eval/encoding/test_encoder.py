"""Loading and encoding: against transformers one sentence at a time, and against sentence-transformers."""

import json
import shutil

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.errors import BadInputError, MissingError, UsageError
from eval.encoding.digest import model_digest
from eval.encoding.encoder import Encoder, batches_by_tokens, load_encoder
from eval.encoding.pooling import MODES, pool


@pytest.fixture()
def new_layout(plain_model, tmp_path):
    """The model as the installed sentence-transformers saves it, with a Dense step at its end."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    transformer = Transformer(str(plain_model))
    model = SentenceTransformer(modules=[transformer, Pooling(32, "mean"), Dense(32, 8)], device="cpu")
    model.max_seq_length = 10
    model.save(str(tmp_path / "new"))
    return tmp_path / "new"


def theirs(folder, texts):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu").encode(texts, show_progress_bar=False)


def one_at_a_time(encoder, texts, mode):
    rows = []
    for text in texts:
        batch = encoder.tokenizer(text, return_tensors="pt", truncation=True, max_length=encoder.max_length)
        with torch.no_grad():
            states = encoder.model(**batch, output_hidden_states=True).hidden_states
        rows.append(pool(states, batch["attention_mask"], mode)[0].numpy())
    return np.stack(rows)


@pytest.mark.parametrize("mode", MODES)
def test_encoding_equals_transformers_one_sentence_at_a_time(plain_model, sentences, mode):
    encoder = load_encoder(plain_model, pooling=mode)
    expected = one_at_a_time(encoder, sentences, mode)
    np.testing.assert_allclose(encoder.encode(sentences, batch_tokens=40), expected, atol=2e-5)


def test_a_folder_of_each_layout_gives_what_sentence_transformers_gives(old_layout, new_layout, sentences):
    for folder, dimension, longest in ((old_layout, 32, 12), (new_layout, 8, 10)):
        encoder = load_encoder(folder)
        assert (encoder.dimension, encoder.max_length) == (dimension, longest)
        np.testing.assert_allclose(encoder.encode(sentences), theirs(folder, sentences), atol=2e-6)
    assert load_encoder(old_layout).pooling == "cls"
    assert load_encoder(new_layout).pooling == "mean"


def test_default_prompt_and_lower_casing_are_applied_as_stored(old_layout, tmp_path, sentences):
    folder = tmp_path / "prompted"
    shutil.copytree(old_layout, folder)
    settings = {"prompts": {"question": "the dog "}, "default_prompt_name": "question"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    plain = load_encoder(old_layout)
    expected = plain.encode([f"the dog {text}" for text in sentences])
    np.testing.assert_allclose(load_encoder(folder).encode(sentences), expected, atol=1e-6)


def test_equal_texts_are_encoded_once_and_order_does_not_matter(plain_model, sentences):
    encoder = load_encoder(plain_model)
    seen = []
    vectors = encoder.encode([*sentences, *sentences], progress=seen.append)
    assert sum(seen) == len(set(sentences))
    np.testing.assert_array_equal(vectors[: len(sentences)], vectors[len(sentences) :])
    np.testing.assert_allclose(encoder.encode(sentences[::-1])[::-1], vectors[: len(sentences)], atol=1e-5)
    np.testing.assert_array_equal(encoder.encode(sentences), encoder.encode(sentences))


@given(st.lists(st.integers(0, 50), max_size=40), st.integers(1, 120))
def test_batches_hold_every_sentence_once_within_the_limit(lengths, limit):
    lengths = sorted(lengths, reverse=True)
    batches = list(batches_by_tokens(lengths, limit))
    assert [row for batch in batches for row in batch] == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * lengths[batch.start] <= limit


def test_empty_text_is_its_special_tokens_and_nothing_gives_nothing(plain_model):
    encoder = load_encoder(plain_model)
    empty, blank = encoder.encode(["", "  "])
    np.testing.assert_array_equal(empty, blank)
    np.testing.assert_allclose(empty, one_at_a_time(encoder, [""], "mean")[0], atol=2e-6)
    assert encoder.encode([]).shape == (0, 32)


def test_empty_text_without_special_tokens_is_a_zero_vector(plain_model):
    encoder = load_encoder(plain_model)
    encoder.tokenizer.backend_tokenizer.post_processor = None
    vectors = encoder.encode(["", "the dog"])
    encoder.tokenizer = None
    assert not vectors[0].any()
    assert np.isfinite(vectors).all()


def test_length_limit_cuts_and_unlimited_does_not(plain_model):
    long, short = "the old man plays the guitar in the house", "the old man"
    cut = load_encoder(plain_model, max_length=5)
    np.testing.assert_allclose(*cut.encode([long, short]), atol=1e-6)
    first, second = load_encoder(plain_model).encode([long, short])
    assert np.abs(first - second).max() > 0.01
    with pytest.raises(UsageError, match="takes 1 to 64 tokens"):
        load_encoder(plain_model, max_length=65)
    with pytest.raises(UsageError, match="takes 1 to 64 tokens"):
        load_encoder(plain_model, max_length=0)


def test_bf16_is_near_fp32_but_not_the_same(plain_model, sentences):
    exact = load_encoder(plain_model).encode(sentences)
    rough = load_encoder(plain_model, precision="bf16").encode(sentences)
    assert rough.dtype == np.float32
    difference = np.abs(exact - rough).max()
    assert 0 < difference < 0.1


def test_cache_answers_without_the_model_and_is_keyed_by_all_that_matters(plain_model, sentences, tmp_path):
    encoder = load_encoder(plain_model)
    first = encoder.encode(sentences[:40], cache=tmp_path)
    encoder.model.forward = None  # any further use of the model fails
    np.testing.assert_array_equal(encoder.encode(sentences[:40], cache=tmp_path), first)
    with pytest.raises(TypeError):
        encoder.encode(["something else"], cache=tmp_path)
    keys = [json.dumps(load_encoder(plain_model).cache_key())]
    for changed in ({"pooling": "cls"}, {"max_length": 8}, {"precision": "bf16"}):
        keys.append(json.dumps(load_encoder(plain_model, **changed).cache_key()))
    assert len(set(keys)) == 4
    again = load_encoder(plain_model)
    grown = again.encode(sentences, cache=tmp_path)
    np.testing.assert_allclose(grown, again.encode(sentences), atol=1e-5)


def test_a_damaged_cache_file_is_named(plain_model, sentences, tmp_path):
    load_encoder(plain_model).encode(sentences, cache=tmp_path)
    (path,) = tmp_path.rglob("*.npz")
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)
    with pytest.raises(BadInputError, match=f"{path.name} is damaged .* delete it"):
        load_encoder(plain_model).encode(sentences, cache=tmp_path)


def test_a_model_in_training_has_no_digest_and_is_never_cached(plain_model, tmp_path):
    loaded = load_encoder(plain_model)
    live = Encoder(loaded.model, loaded.tokenizer, pooling="cls", max_length=32)
    assert live.encode(["the dog"]).shape == (1, 32)
    with pytest.raises(UsageError, match="no model digest"):
        live.encode(["the dog"], cache=tmp_path)


def test_digest_depends_on_weights_config_and_tokenizer_only(plain_model, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(plain_model, folder)
    before = model_digest(plain_model)
    (folder / "README.md").write_text("a card")
    assert model_digest(folder) == before
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        changed = tmp_path / name
        shutil.copytree(plain_model, changed)
        with (changed / name).open("ab") as file:
            file.write(b" ")
        assert model_digest(changed) != before


def test_a_missing_model_says_what_to_do_and_touches_no_network(monkeypatch, tmp_path):
    def refuse(*arguments, **settings):
        raise AssertionError("network used")

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.create_connection", refuse)
    with pytest.raises(MissingError, match=r"not on this machine.*--allow-download"):
        load_encoder("nobody/no-such-model")
    with pytest.raises(MissingError, match="there is no such folder; name the one"):
        load_encoder(tmp_path / "nothing")
    with pytest.raises(MissingError, match="neither a folder nor a hub name"):
        load_encoder("my model")


def test_a_hub_name_is_fetched_only_when_allowed_and_then_found_again(monkeypatch, plain_model, tmp_path):
    from huggingface_hub.errors import LocalEntryNotFoundError

    folder = tmp_path / "0123abc"
    calls = []

    def snapshot(name, *, allow_patterns, local_files_only=False):
        calls.append(local_files_only)
        assert not any("bin" in pattern or ".py" in pattern for pattern in allow_patterns)
        if local_files_only and not folder.exists():
            raise LocalEntryNotFoundError("not here")
        if not folder.exists():
            shutil.copytree(plain_model, folder)
        return str(folder)

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    with pytest.raises(MissingError, match="--allow-download"):
        load_encoder("some/model")
    assert calls == [True]
    assert load_encoder("some/model", allow_download=True).revision == "0123abc"
    assert load_encoder("some/model").revision == "0123abc"  # the recorded one, without network
    assert calls == [True, True, False, True]


def test_a_model_in_training_mode_is_encoded_without_dropout_and_left_in_it(plain_model, sentences):
    loaded = load_encoder(plain_model)
    expected = loaded.encode(sentences)
    loaded.model.train()
    np.testing.assert_array_equal(loaded.encode(sentences), expected)
    assert loaded.model.training


def test_pickled_weights_are_refused_by_name(plain_model, tmp_path):
    folder = tmp_path / "pickled"
    shutil.copytree(plain_model, folder)
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"never read")
    with pytest.raises(MissingError, match=r"safetensors\.torch\.save_file"):
        load_encoder(folder)
    (folder / "pytorch_model.bin").unlink()
    with pytest.raises(MissingError, match=r"model\.safetensors is missing"):
        load_encoder(folder)


def test_code_of_the_models_own_is_not_run(plain_model, tmp_path):
    folder = tmp_path / "remote"
    shutil.copytree(plain_model, folder)
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Config", "AutoModel": "own.Model"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(BadInputError, match="does not load"):
        load_encoder(folder)
    assert not (tmp_path / "ran").exists()


def edit_modules(source, folder, change):
    shutil.copytree(source, folder)
    modules = json.loads((folder / "modules.json").read_text())
    change(modules)
    (folder / "modules.json").write_text(json.dumps(modules))
    return folder


def test_unsupported_and_hostile_modules_are_refused(old_layout, tmp_path):
    def lstm(modules):
        modules[2]["type"] = "sentence_transformers.models.LSTM"

    def outside(modules):
        modules[1]["path"] = "../elsewhere"

    with pytest.raises(BadInputError, match="module LSTM is not supported"):
        load_encoder(edit_modules(old_layout, tmp_path / "lstm", lstm))
    with pytest.raises(BadInputError, match="outside the model folder"):
        load_encoder(edit_modules(old_layout, tmp_path / "outside", outside))
    with pytest.raises(BadInputError, match="the first module must be Transformer"):
        load_encoder(edit_modules(old_layout, tmp_path / "empty", lambda modules: modules.clear()))


def test_lacking_weights_are_never_filled_with_random_numbers(plain_model, tmp_path):
    from safetensors.torch import load_file, save_file

    folder = tmp_path / "lacking"
    shutil.copytree(plain_model, folder)
    tensors = load_file(folder / "model.safetensors")
    tensors.pop("encoder.layer.1.output.dense.weight")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BadInputError, match=r"lacks the weights encoder\.layer\.1\.output\.dense\.weight"):
        load_encoder(folder)


def test_texts_must_be_strings(plain_model):
    with pytest.raises(UsageError, match="text 1 is a NoneType, not a string; give a list of strings"):
        load_encoder(plain_model).encode(["the dog", None])
