"""Loading: folders of every layout against sentence-transformers, and models that are refused."""

import json
import shutil

import numpy as np
import pytest

from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import BadInputError
from augment_cli.models.digest import model_digest


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


def test_a_folder_of_each_layout_gives_what_sentence_transformers_gives(old_layout, new_layout, sentences):
    for folder, dimension, longest in ((old_layout, 32, 12), (new_layout, 8, 10)):
        encoder = load_encoder(folder)
        assert (encoder.dimension, encoder.max_length) == (dimension, longest)
        np.testing.assert_allclose(encoder.encode(sentences), theirs(folder, sentences), atol=2e-6)
    assert load_encoder(old_layout).pooling == "cls"
    assert load_encoder(new_layout).pooling == "mean"


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_weights_as_stored_give_the_vectors_of_transformers_module_to_the_bit(
    plain_model, sentences, precision
):
    encoder = load_encoder(plain_model, pooling="first-last+cls", precision=precision)
    stored = encoder.encode(sentences)
    assert {parameter.device.type for parameter in encoder.model.parameters()} == {"cpu"}  # it is loaded now
    np.testing.assert_array_equal(encoder.encode(sentences), stored)


@pytest.mark.parametrize("changed", [{"hidden_act": "relu"}, {"layer_norm_eps": 1e-3}, "a prefix"])
def test_a_bert_unlike_the_plain_one_gives_what_sentence_transformers_gives(
    plain_model, sentences, tmp_path, changed
):
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(plain_model, tmp_path / "unlike")
    if changed == "a prefix":
        tensors = {f"bert.{name}": tensor for name, tensor in load_file(folder / "model.safetensors").items()}
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    else:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | changed))
    np.testing.assert_allclose(load_encoder(folder).encode(sentences), theirs(folder, sentences), atol=2e-6)


@pytest.mark.parametrize(
    ("kept", "more", "words"),
    [
        (2, [("Dense", "2_Dense"), ("Pooling", "1_Pooling")], "more than one Pooling is not supported"),
        (2, [("Normalize", "2_Normalize")] * 99, "names 101 modules, and at most 100 are taken"),
        (2, [("Normalize", "a\0b")], "names a path outside the model folder"),
        (1, [("Pooling", "../elsewhere")], "names a path outside the model folder"),
        (2, [("LSTM", "2_LSTM")], "module LSTM is not supported here"),
        (0, [], "the first module must be Transformer"),
    ],
    ids=["two poolings", "101 modules", "a NUL", "outside", "LSTM", "none"],
)
def test_modules_that_no_encoder_has(old_layout, tmp_path, kept, more, words):
    folder = shutil.copytree(old_layout, tmp_path / "odd")
    modules = json.loads((folder / "modules.json").read_text())[:kept]
    modules += [{"path": path, "type": f"sentence_transformers.models.{kind}"} for kind, path in more]
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(BadInputError, match=words):
        load_encoder(folder)


def test_code_of_the_models_own_is_not_run(plain_model, tmp_path):
    folder = shutil.copytree(plain_model, tmp_path / "remote")
    config = json.loads((folder / "config.json").read_text())
    config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Config", "AutoModel": "own.Model"}}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(BadInputError, match="does not load"):
        load_encoder(folder)
    assert not (tmp_path / "ran").exists()


def test_lacking_weights_are_never_filled_with_random_numbers(plain_model, tmp_path):
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(plain_model, tmp_path / "lacking")
    tensors = load_file(folder / "model.safetensors")
    tensors.pop("encoder.layer.1.output.dense.weight")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(BadInputError, match=r"lacks 1 of .*, such as encoder"):
        load_encoder(folder)


@pytest.mark.parametrize(
    "names", [("", "1_Pooling", "2_Dense"), ("bert", "pooled", "deep/dense"), ("0_T", "x/1", "last")]
)
def test_the_digest_covers_every_file_that_loading_reads(new_layout, tmp_path, names):
    """Whichever file of a layout is removed or emptied: the vectors stay, or the digest changes."""
    folder = shutil.copytree(new_layout, tmp_path / "renamed")
    modules = json.loads((folder / "modules.json").read_text())
    for module, name in zip(modules, names, strict=True):
        source, target = folder / module["path"], folder / name
        if source != target:
            files = [path for path in source.iterdir() if path.is_file() and path.name != "modules.json"]
            target.mkdir(parents=True, exist_ok=True)
            for path in files if module["path"] == "" else source.iterdir():
                if not path.name.startswith("config_sentence"):
                    path.rename(target / path.name)
        module["path"] = name
    (folder / "modules.json").write_text(json.dumps(modules))
    texts = ["a heron waits at the river", "the town has a bridge"]
    expected, before = load_encoder(folder).encode(texts), model_digest(folder)
    decisive = 0
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        data = path.read_bytes()
        path.unlink()
        try:
            same = np.array_equal(load_encoder(folder).encode(texts), expected)
        except Exception:  # whatever loading says of a folder that lacks a file
            same = False
        assert same or model_digest(folder) != before, path
        decisive += not same
        path.write_bytes(data)
    assert decisive >= 4 and model_digest(folder) == before
