"""What comes out loads elsewhere and gives the same embeddings."""

import json
import shutil

import numpy as np
import pytest
import torch
from huggingface_hub import ModelCard
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

from augment_cli.encoding.dense import to_length_one
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.pooling import needs_all_layers, pool
from augment_cli.errors import BadInputError, UsageError
from tests.helpers.made_stores import store_of
from tests.helpers.places import REPOSITORY
from train.extras.card import origin, write_card
from train.outputs.export import check_pooling, export

TEXTS = ["A short one.", "The quick brown fox jumps over the lazy dog near the river bank.", "Zebra!", ""]
POOLINGS = ["cls", "mean", "max", "mean-sqrt-length", "weighted-mean", "last-token", "cls+mean"]
POOLINGS += ["first-last", "first-last-1", "static"]


@pytest.mark.parametrize("pooling", POOLINGS)
def test_three_loaders_one_embedding(tiny_encoder, tmp_path, pooling):
    encoder = load_encoder(tiny_encoder, pooling=pooling)
    export(encoder, tmp_path / "out")
    ours = load_encoder(tmp_path / "out")
    assert ours.pooling == pooling
    expected = encoder.encode(TEXTS)
    np.testing.assert_allclose(ours.encode(TEXTS), expected, atol=1e-6)
    library = SentenceTransformer(str(tmp_path / "out"), device="cpu")
    np.testing.assert_allclose(library.encode(TEXTS), expected, atol=1e-6)
    assert library.max_seq_length == 64
    model, tokenizer = (kind.from_pretrained(tmp_path / "out") for kind in (AutoModel, AutoTokenizer))
    inputs = tokenizer(TEXTS, padding=True, return_tensors="pt")
    with torch.inference_mode():
        output = model(**inputs, output_hidden_states=True)
    hidden = output.hidden_states if needs_all_layers(pooling) else output.last_hidden_state
    np.testing.assert_allclose(pool(hidden, inputs["attention_mask"], pooling), expected, atol=1e-6)


def test_a_folder_without_a_pooler_is_exported_to_the_same_bytes_each_time(tiny_encoder, tmp_path):
    folder = shutil.copytree(tiny_encoder, tmp_path / "without")
    weights = load_file(folder / "model.safetensors")
    kept = {name: array for name, array in weights.items() if not name.startswith("pooler.")}
    assert len(kept) < len(weights)
    save_file(kept, folder / "model.safetensors", {"format": "pt"})
    for out in ("first", "second"):
        encoder = load_encoder(folder)
        np.testing.assert_allclose(encoder.encode(TEXTS), load_encoder(tiny_encoder).encode(TEXTS))
        export(encoder, tmp_path / out)
    names = ("model.safetensors", "config.json", "tokenizer.json", "modules.json")
    first, second = ([(tmp_path / out / name).read_bytes() for name in names] for out in ("first", "second"))
    assert first == second
    assert load_file(tmp_path / "first/model.safetensors").keys() == kept.keys()


def test_vectors_of_length_one_stay_so(tiny_encoder, tmp_path):
    encoder = load_encoder(tiny_encoder)
    encoder.modules = [to_length_one]
    export(encoder, tmp_path / "out")
    expected = encoder.encode(TEXTS)
    np.testing.assert_allclose(np.linalg.norm(expected, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(load_encoder(tmp_path / "out").encode(TEXTS), expected, atol=1e-6)
    library = SentenceTransformer(str(tmp_path / "out"), device="cpu")
    np.testing.assert_allclose(library.encode(TEXTS), expected, atol=1e-6)


def test_only_the_old_keys_and_only_the_new_key_mean_the_same(tiny_encoder, tmp_path):
    encoder = load_encoder(tiny_encoder, pooling="max")
    export(encoder, tmp_path / "out")
    path = tmp_path / "out/1_Pooling/config.json"
    both = json.loads(path.read_text())
    for keys in (both.keys() - {"pooling_mode"}, {"pooling_mode", "word_embedding_dimension"}):
        path.write_text(json.dumps({key: both[key] for key in keys}))
        library = SentenceTransformer(str(tmp_path / "out"), device="cpu")
        np.testing.assert_allclose(library.encode(TEXTS[:2]), encoder.encode(TEXTS[:2]), atol=1e-6)


def test_layers_averaged_in_another_way_are_refused(tiny_encoder, tmp_path):
    check_pooling("idf:first-last")
    with pytest.raises(UsageError, match="'first-last' joined with cls cannot be stored"):
        check_pooling("first-last+cls")  # before training
    export(load_encoder(tiny_encoder, pooling="static"), tmp_path / "out")
    pooling = tmp_path / "out/1_Pooling/config.json"
    settings = json.loads(pooling.read_text())
    pooling.write_text(json.dumps(settings | {"pooling_mode": "max"}))
    with pytest.raises(BadInputError, match="the max of averaged layers is not supported"):
        load_encoder(tmp_path / "out")
    pooling.write_text(json.dumps(settings))
    (tmp_path / "out/1_WeightedLayerPooling/kind.json").unlink()  # as the library saves it
    with pytest.raises(BadInputError, match="averaged in a way that is not supported"):
        load_encoder(tmp_path / "out")


def test_fp16_weights_come_back_in_fp32(tiny_encoder, tmp_path):
    encoder = load_encoder(tiny_encoder)
    export(encoder, tmp_path / "half", torch.float16)
    half = load_encoder(tmp_path / "half")
    assert next(half.model.parameters()).dtype == torch.float32
    np.testing.assert_allclose(half.encode(TEXTS), encoder.encode(TEXTS), atol=1e-2)
    for folder in (tmp_path / "half", REPOSITORY / "data" / "models" / "encoder"):
        with safe_open(folder / "model.safetensors", "pt") as file:
            assert {file.get_tensor(name).dtype for name in file.keys()} == {torch.float16}  # noqa: SIM118
        library = SentenceTransformer(str(folder), device="cpu")
        assert {weight.dtype for weight in library.parameters()} == {torch.float32}
        assert next(AutoModel.from_pretrained(folder).parameters()).dtype == torch.float32


def test_card_names_data_command_and_scores(tmp_path):
    facts = {
        "name": "una from tiny",
        "command": "python -m train una",
        "encoder": "tiny (SHA-256 abc)",
        "pooling": "cls",
        "data": {"corpus": "c0ffee", "una": "dec0de"},
        "steps": 7,
        "seeds": [1, 2],
        "scores": {"best stsb_dev": [0.5, 0.7]},
        "recipe": {"name": "una", "description": "UNA <script>", "batch": 64},
        "origin": {"base_model": "some/model", "license": "mit", "language": ["de", "fr"]},
    }
    (tmp_path / "best").mkdir()
    write_card(tmp_path / "best", facts)
    text = (tmp_path / "best/README.md").read_text()
    data = ModelCard(text).data.to_dict()
    assert (data["base_model"], data["license"], data["language"]) == ("some/model", "mit", ["de", "fr"])
    (result,) = data["model-index"][0]["results"]
    assert result["metrics"] == [{"type": "spearman", "value": 0.6}]
    assert "UNA &lt;script&gt;" in text
    scores = "0.6000 | 0.1414 | 0.5000, 0.7000"
    for expected in ("c0ffee", "dec0de", "python -m train una", scores, "| batch | 64 |"):
        assert expected in text


def test_a_card_names_the_licence_of_the_start_and_the_languages_of_the_corpus(tmp_path):
    german = ["Der Zug nach Norden ist nicht pünktlich.", "Die Katze und das Kind sind mit den Eltern da."]
    store = store_of(tmp_path, german)
    start = tmp_path / "start"
    shutil.copytree(REPOSITORY / "data/models/static", start)
    (start / "README.md").write_text("---\nlicense: mit\nlanguage: en\n---\n")
    made_of = origin(str(start), store)
    assert made_of == {"base_model": None, "license": "mit", "language": ["de"]}
    known = origin("minilm", store)
    assert known["base_model"] == "sentence-transformers/all-MiniLM-L6-v2"
