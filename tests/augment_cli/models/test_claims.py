"""Model folders that lie are refused by their configuration and the header of their weights alone."""

import contextlib
import json
import os

import numpy as np
import pytest
from safetensors.numpy import save_file

from augment_cli.errors import BadInputError, MissingError
from augment_cli.models import claims, digest
from augment_cli.models.claims import check_model, check_tokenizer
from augment_cli.models.digest import highest_id
from tests.helpers.places import REPOSITORY

BERT = {
    "model_type": "bert",
    "vocab_size": 20,
    "hidden_size": 4,
    "intermediate_size": 8,
    "num_hidden_layers": 2,
    "max_position_embeddings": 6,
    "type_vocab_size": 2,
    "pad_token_id": 0,
}
BERT_SHAPES = {
    "embeddings.word_embeddings.weight": (20, 4),
    "embeddings.position_embeddings.weight": (6, 4),
    "embeddings.token_type_embeddings.weight": (2, 4),
    **{f"encoder.layer.{n}.intermediate.dense.weight": (8, 4) for n in range(2)},
}
BART = {
    "model_type": "bart",
    "is_encoder_decoder": True,
    "vocab_size": 20,
    "d_model": 4,
    "encoder_layers": 2,
    "decoder_layers": 1,
    "num_hidden_layers": 2,
    "encoder_ffn_dim": 8,
    "max_position_embeddings": 6,
}
BART_SHAPES = {
    "model.shared.weight": (20, 4),
    "model.encoder.embed_positions.weight": (8, 4),  # two rows more than positions
    "model.encoder.layers.0.fc1.weight": (8, 4),
    "model.encoder.layers.1.fc1.weight": (8, 4),
    "model.decoder.layers.0.fc1.weight": (8, 4),
}
# Positions that are computed, and not in the weights.
COMPUTED = {name: shape for name, shape in BART_SHAPES.items() if "positions" not in name}


def make(folder, config=BERT, shapes=BERT_SHAPES, tokens=20, **files):
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    vocabulary = {f"t{n}": n for n in range(tokens)}
    (folder / "tokenizer.json").write_text(json.dumps({"model": {"vocab": vocabulary}, "added_tokens": []}))
    save_file(
        {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}, folder / "model.safetensors"
    )
    for name, value in files.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    return folder


@pytest.mark.parametrize(
    "model",
    [
        {},
        {"config": BART, "shapes": BART_SHAPES},
        {"config": BART, "shapes": COMPUTED},
        # The encoder of a sequence-to-sequence model, kept alone.
        {
            "config": {"model_type": "t5", "num_layers": 2, "num_decoder_layers": 3, "d_model": 4},
            "shapes": {"shared.weight": (20, 4), "encoder.block.0.w": (4, 4), "encoder.block.1.w": (4, 4)},
        },
        # One layer's weights, used twelve times.
        {
            "config": {"model_type": "albert", "num_hidden_layers": 12, "hidden_size": 4, "vocab_size": 20},
            "shapes": {"embeddings.word_embeddings.weight": (20, 2), "layer_groups.0.ffn.weight": (8, 4)},
        },
        {"config": {"model_type": "model2vec", "hidden_dim": 4}, "shapes": {"embeddings": (20, 4)}},
        {"config": {"model_type": "model2vec"}, "shapes": {"embeddings": (5, 4), "mapping": (20,)}},
        {"tokenizer_config": {"model_max_length": 10**30}},  # how transformers says that it is not known
        {"config": BERT | {"num_hidden_layers": None, "pad_token_id": None}},
    ],
)
def test_an_honest_folder_is_taken(tmp_path, model):
    check_model(make(tmp_path / "m", **model))


def test_the_shipped_models_are_taken():
    for folder in ("data/models/encoder", "data/models/static"):
        check_model(REPOSITORY / folder)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"num_hidden_layers": 10**6}, "num_hidden_layers is 1,000,000, and at most 1,000 is taken"),
        ({"num_hidden_layers": 3}, "num_hidden_layers is 3, and the weights have 2"),
        ({"num_hidden_layers": 0}, "num_hidden_layers is 0, and the weights have 2"),
        ({"num_labels": 10**9}, "num_labels is 1,000,000,000, and at most 1,000,000 is taken"),
        ({"num_hidden_layers": True}, "num_hidden_layers is True, not a size"),
        ({"hidden_size": 10**9}, "hidden_size is 1,000,000,000, and the weights have none of that size"),
        ({"hidden_size": 20}, "hidden_size is 20, and the weights have none"),  # 20 is no layer's width
        ({"vocab_size": 19}, "vocab_size is 19, and the weights have a table of 20 tokens"),
        ({"max_position_embeddings": 10**9}, "max_position_embeddings is 1,000,000,000, and at most"),
        ({"max_position_embeddings": 7}, "max_position_embeddings is 7, and the weights have a table of 6"),
        ({"type_vocab_size": 3}, "type_vocab_size is 3, and the weights have a table of 2"),
        ({"pad_token_id": 20}, "pad_token_id is 20, and the weights have a table of 20 tokens"),
        ({"encoder": {"num_hidden_layers": 10**6}}, "num_hidden_layers is 1,000,000"),
    ],
)
def test_a_configuration_that_lies(tmp_path, changes, words):
    with pytest.raises(BadInputError, match="config.json: " + words):
        check_model(make(tmp_path / "m", BERT | changes))


@pytest.mark.parametrize(
    ("lying", "words"),
    [
        ({"sentence_bert_config": {"max_seq_length": 10**9}}, "max_seq_length is 1,000,000,000"),
        ({"tokenizer_config": {"model_max_length": 0}}, "model_max_length is 0, not a number of tokens"),
        ({"tokenizer_config": {"model_max_length": [512]}}, r"model_max_length is \[512\], not a number"),
        ({"generation_config": {"max_length": 10**9}}, "max_length is 1,000,000,000"),
        ({"generation_config": {"decoder_start_token_id": 20}}, "decoder_start_token_id is 20"),
        ({"config": [1]}, "holds a list"),
        ({"config": BART | {"max_position_embeddings": 100_000}, "shapes": COMPUTED}, "is 100,000, and the "),
        ({"added_tokens": {"t": 20}}, "the tokenizer gives ids up to 20, and the weights have 20 tokens"),
        ({"added_tokens": {"t": -1}}, "the token id -1"),
    ],
)
def test_a_folder_that_lies(tmp_path, lying, words):
    folder = make(tmp_path / "m", **lying)
    with pytest.raises(BadInputError, match=words):
        check_model(folder)


@pytest.mark.parametrize(
    ("index", "words"),
    [
        ({"weight_map": {"a": "../a.safetensors"}}, "no file of this folder"),
        ({"weight_map": {"a": "a.bin"}}, "no file of this folder"),
        ({"weight_map": [1]}, "names no files of weights"),
    ],
)
def test_an_index_that_leads_elsewhere(tmp_path, index, words):
    folder = make(tmp_path / "m", **{"model.safetensors.index": index})
    (folder / "model.safetensors").unlink()
    with pytest.raises(BadInputError, match=words):
        check_model(folder)


@pytest.mark.parametrize("name", ["vocab.txt", "vocab.json", "tokenizer.json"])
def test_ids_of_every_kind_of_vocabulary(tmp_path, name):
    folder = make(tmp_path / "m", tokens=20)
    assert highest_id(folder) == 19
    (folder / "tokenizer.json").unlink()
    tokens = [f"t{n}" for n in range(21)]
    vocabulary = {token: n for n, token in enumerate(tokens)}
    contents = {
        "vocab.txt": "\n".join(tokens),
        "vocab.json": json.dumps(vocabulary),
        "tokenizer.json": json.dumps({"model": {"vocab": [[token, -1.0] for token in tokens]}}),
    }
    (folder / name).write_text(contents[name])
    assert highest_id(folder) == 20
    with pytest.raises(BadInputError, match="ids up to 20"):
        check_model(folder)


IN_VAIN = [[], 5, True, "[UNK]", {"content": "[UNK]"}, [5]]


@pytest.mark.parametrize("added", [[{"id": 2, "content": "[UNK]"}], *IN_VAIN], ids=repr)
def test_a_tokenizer_without_its_token_for_unknown_words(tmp_path, added):
    model = {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"a": 0, "b": 1}}
    folder = make(tmp_path / "m", tokenizer={"model": model, "added_tokens": added})
    lacking = pytest.raises(BadInputError, match=r"tokenizer\.json: its vocabulary lacks '\[UNK\]'")
    with lacking if added in IN_VAIN else contextlib.nullcontext():
        check_model(folder)


def _with_table(table):
    return {"type": "Sequence", "normalizers": [{"type": "Precompiled", "precompiled_charsmap": table}]}


def _replacing(*contents):
    steps = [{"type": "Replace", "pattern": {"Regex": "."}, "content": content} for content in contents]
    return {"type": "Sequence", "normalizers": [{"type": "Sequence", "normalizers": steps}]}


DAMAGED, GROWING = "its table of characters is damaged", "its normalizer makes more than 1,000 char"


@pytest.mark.parametrize(
    ("normalizer", "words"),
    [
        *((_with_table(table), DAMAGED) for table in ("/////w==", "AAAA", "!", 5, None)),
        (_with_table("BAAAAHRyaWU="), ""),  # four bytes, and four
        (_replacing("ab" * 501), GROWING),
        (_replacing(*["aa"] * 40), GROWING),
        ({"type": "Prepend", "prepend": "x" * 1001}, GROWING),
        (_replacing("\u2581", " ", ""), ""),
    ],
)
def test_a_normalizer_that_lies_or_fills_the_memory(tmp_path, normalizer, words):
    settings = {"model": {"vocab": {"a": 0}}, "added_tokens": [], "normalizer": normalizer}
    folder = make(tmp_path / "m", tokenizer=settings)
    refused = pytest.raises(BadInputError, match=rf"tokenizer\.json: {words}")
    with refused if words else contextlib.nullcontext():
        check_model(folder)


class Around:
    """A tokenizer that puts ids around a text, whatever the length."""

    all_special_tokens = ()

    def __init__(self, before, known=3):
        self.before, self.known = before, known

    def get_vocab(self):
        return {"a": self.known}

    def __call__(self, text, truncation=False, max_length=None):
        ids = [3] * len(text.split())
        return {"input_ids": self.before + (ids[:max_length] if truncation else ids)}


@pytest.mark.parametrize(
    ("tokenizer", "words"),
    [
        (Around([20]), "the tokenizer gives ids up to 20, and the weights have 20 tokens"),
        (Around([], known=20), "the tokenizer gives ids up to 20"),
        (Around([3] * 5000), "its tokenizer makes 5,016 tokens of a text where 16 are asked for"),
    ],
    ids=["an id beyond the table", "a word beyond the table", "more than a text's length"],
)
def test_what_a_loaded_tokenizer_knows_and_puts_around_a_text(tmp_path, tokenizer, words):
    folder = make(tmp_path / "m")
    check_tokenizer(folder, Around([]))
    with pytest.raises(BadInputError, match=words):
        check_tokenizer(folder, tokenizer)


@pytest.mark.parametrize(
    "place", ["config.json", "model.safetensors", "tokenizer.json", "1_Pooling/config.json"]
)
@pytest.mark.parametrize("kind", ["device", "pipe", "folder", "nothing"])
def test_what_is_not_a_file(tmp_path, place, kind):
    folder = make(tmp_path / "m")
    (folder / "1_Pooling").mkdir()
    path = folder / place
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero" if kind == "device" else "nowhere")
    words = "cannot be read" if kind == "nothing" else f"is a {kind}, not a file"
    with pytest.raises(BadInputError, match=f"{place} {words}"):
        check_model(folder)


def test_what_is_of_no_concern_stays(tmp_path):
    folder = make(tmp_path / "m")
    os.mkfifo(folder / "socket-of-an-editor")
    (folder / "checkpoints").mkdir()
    check_model(folder)


def test_weights_in_several_files(tmp_path):
    folder = make(tmp_path / "m", **{"model.safetensors.index": {"weight_map": {"a": "1.safetensors"}}})
    (folder / "model.safetensors").rename(folder / "1.safetensors")
    check_model(folder)
    (folder / "1.safetensors").unlink()
    with pytest.raises(MissingError, match=r"1\.safetensors is missing"):
        check_model(folder)


def test_weights_larger_than_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(claims.os, "sysconf", lambda name: 10)
    with pytest.raises(MissingError, match="choose a smaller model"):
        check_model(make(tmp_path / "m"))


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a": ' + "9" * 6_000 + "}", "\udcff"])
def test_json_that_is_none_or_without_end(tmp_path, monkeypatch, text):
    folder = make(tmp_path / "m")
    (folder / "config.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInputError, match=r"config\.json is not readable JSON"):
        check_model(folder)
    monkeypatch.setattr(digest, "_LARGEST", -1)
    with pytest.raises(BadInputError, match="too many for JSON"):
        check_model(folder)


def test_weights_of_words_are_no_sizes(tmp_path):
    weights = {"vocab": ["dim", "max_length"], "word_weights": {"dim": 7.5, "max_length": 0.0}}
    make(tmp_path)
    (tmp_path / "1_WordWeights").mkdir()
    (tmp_path / "1_WordWeights/config.json").write_text(json.dumps(weights))
    check_model(tmp_path)
    (tmp_path / "1_WordWeights/config.json").write_text(json.dumps({"dim": 7.5}))
    with pytest.raises(BadInputError, match=r"dim is 7\.5, not a size"):
        check_model(tmp_path)
