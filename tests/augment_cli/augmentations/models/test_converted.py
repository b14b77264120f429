"""back-translate --engine ctranslate2: with a stand-in for the package, and with the package where it is."""

import importlib.metadata
import json
import sys
import types
from typing import Any

import pytest

import augment_cli
from augment_cli.errors import UsageError
from augment_cli.neural import converted
from augment_cli.neural.converted import Converted
from augment_cli.neural.generation import Decoding, Seq2Seq
from augment_cli.neural.loading import find_model
from augment_cli.runs.run import make_run
from tests.helpers.tiny_models import SENTENCES, make_marian, make_pegasus

DECODING = Decoding(beams=2, returned=2)


def settings_of(folder, **changes):
    """Change what a folder says of its search; None takes a setting out."""
    path = folder / "generation_config.json"
    known = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({name: value for name, value in known.items() if value is not None}))
    return folder


@pytest.fixture
def marian(tmp_path):
    """A folder whose search has nothing that the package lacks."""
    return settings_of(make_marian(tmp_path / "marian", 1), exponential_decay_length_penalty=None)


@pytest.fixture
def package(monkeypatch):
    """Something that looks like the package, whose hypotheses are the source, and the source turned round."""
    calls: dict[str, Any] = {}

    class TransformersConverter:
        def __init__(self, folder):
            self.folder = folder

        def convert(self, place, quantization):
            loaders: Any = self  # the engine gives it its own
            calls["converted"] = (loaders.load_model(), loaders.load_tokenizer(), quantization)

    class Translator:
        def __init__(self, place, **options):
            calls["translator"] = options

        def translate_batch(self, source, **options):
            calls["search"] = options
            both = [[one, [*one[-2::-1], "</s>"]] for one in source]
            return [types.SimpleNamespace(hypotheses=some[: options["num_hypotheses"]]) for some in both]

    module: Any = types.ModuleType("ctranslate2")
    module.converters = types.SimpleNamespace(TransformersConverter=TransformersConverter)
    module.Translator = Translator
    monkeypatch.setitem(sys.modules, "ctranslate2", module)
    real = importlib.metadata.version
    monkeypatch.setattr(
        importlib.metadata, "version", lambda name: "9.9" if name == "ctranslate2" else real(name)
    )
    return calls


def test_what_was_checked_is_converted_and_its_search_is_passed_on(marian, package):
    model = Converted(find_model(str(marian)), DECODING, "auto", 1)
    ids, _ = model.read(SENTENCES[:2])
    outputs = model.write(ids, 0, [0, 1])
    assert [some[0].text for some in outputs] == SENTENCES[:2]
    assert outputs[0][1].tokens == tuple(reversed(outputs[0][0].tokens)) and outputs[0][0].is_complete
    loaded, tokenizer, quantization = package["converted"]
    assert (type(loaded).__name__, quantization) == ("MarianMTModel", "int8") and tokenizer is model.tokenizer
    assert package["translator"]["intra_threads"] == 1 and package["translator"]["compute_type"] == "int8"
    assert package["search"] == {
        "beam_size": 2,
        "num_hypotheses": 2,
        "max_decoding_length": 23,
        "return_end_token": True,
        "no_repeat_ngram_size": 2,
    }


def test_the_stage_says_which_engine_made_it(marian, package):
    run = make_run("back-translate", engine="ctranslate2", forward=str(marian), backward=str(marian))
    settings = run.augmentation.resolve(run.parameters, types.SimpleNamespace(draw=0))
    assert (settings["engine"], settings["precision"], settings["device"]) == ("ctranslate2", "int8", "cpu")
    used = run.augmentation.uses(run.parameters, None)
    assert used["ctranslate2"] == "9.9" and len(used["forward model"]) == 64
    other = make_run("back-translate", forward=str(marian), backward=str(marian))
    assert "engine" not in other.augmentation.resolve(other.parameters, types.SimpleNamespace(draw=0))


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"exponential_decay_length_penalty": [4, 1.4]}, "exponential"),
        ({"bad_words_ids": [[5]]}, "bad_words_ids"),
    ],
)
def test_a_search_that_the_package_lacks_is_refused(marian, package, changes, name):
    model = Converted(find_model(str(settings_of(marian, **changes))), DECODING, "auto", 1)
    with pytest.raises(
        UsageError, match=rf"its search has {name}\w*, which ctranslate2 lacks; leave --engine"
    ):
        model.write([[3, 0]], 0, [0])


def test_other_models_and_sampling_are_refused(marian, package, tmp_path):
    with pytest.raises(UsageError, match=r"is for Marian models of one vocabulary, and this is a pegasus"):
        Converted(find_model(str(make_pegasus(tmp_path / "pegasus"))), DECODING, "auto", 1)
    config = json.loads((marian / "config.json").read_text())
    (marian / "config.json").write_text(json.dumps(config | {"share_encoder_decoder_embeddings": False}))
    with pytest.raises(UsageError, match="and this is one of two; leave --engine out"):
        Converted(find_model(str(marian)), DECODING, "auto", 1)
    with pytest.raises(UsageError, match="--sample: is for --engine transformers"):
        make_run("back-translate", engine="ctranslate2", sample=True)


def test_the_real_package_writes_what_transformers_does_but_for_rounding(marian, monkeypatch):
    pytest.importorskip("ctranslate2", reason="`dev` leaves it out: pip install 'augment-cli[ctranslate2]'")
    folder, greedy = find_model(str(marian)), Decoding(beams=1, returned=1)
    there = Seq2Seq(folder, greedy, "auto")
    ids, _ = there.read(SENTENCES)
    wanted = there.write(ids, 0, list(range(len(ids))))
    monkeypatch.setattr(converted, "PRECISION", "float32")
    here = Converted(folder, greedy, "auto", 1)
    found = here.write(ids, 0, list(range(len(ids))))
    # At its limit transformers writes an end in the place of the last word.
    same = [one.tokens[:22] == other.tokens[:22] for (one,), (other,) in zip(wanted, found, strict=True)]
    assert sum(same) >= len(same) - 1
    assert [one.is_complete for (one,) in wanted] == [one.is_complete for (one,) in found]
    alone = [here.write([row], 0, [0]) for row in ids]
    assert [one for (one,) in alone] == found
    monkeypatch.setattr(converted, "PRECISION", "int8")
    options = {"engine": "ctranslate2", "forward": str(marian), "backward": str(marian), "faithful": False}
    rows = augment_cli.augment(SENTENCES[:6], "back-translate", **options).to_pylist()
    assert all(row["text"] or row["reason"] for row in rows) and all(row["intermediate"] for row in rows)
