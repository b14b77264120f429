"""The shipped small PEGASUS: it loads without a warning, is small, and says our own sentences otherwise."""

import logging
import re
import warnings
from pathlib import Path

import pytest
import torch

from augment_cli.errors import MissingError
from augment_cli.models import shipped_paraphraser
from augment_cli.models.digest import model_digest
from augment_cli.neural.checks import reason_against

LIMIT = 13_000_000  # bytes
# Written for this test; each has something that the training pairs' rules change.
SENTENCES = [
    "In 1962, the council bought the old harbour.",
    "Many people began to leave the valley because of the floods.",
    "The tower was built by two brothers.",
    "She decided to sell the boat, although it was still new.",
    "How can I learn to sail quickly?",
    "The school and the library were closed on Monday.",
    "About 300 workers received help after the fire.",
    "The mayor said that the bridge would open in May.",
]


@pytest.fixture(scope="module")
def folder() -> Path:
    """The shipped folder."""
    return shipped_paraphraser()


def test_size_licences_and_card(folder: Path) -> None:
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) <= LIMIT
    licence = (folder / "LICENSE").read_text(encoding="utf-8")
    assert all(
        words in licence for words in ("Wikipedia contributors", "WikiSplit", "ShareAlike 4.0", "Princeton")
    )
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "license: cc-by-sa-4.0" in card
    assert all(word in card for word in ("copied", "change", "cosine", "chrF", "MRPC", "PAN", "Quora"))
    assert not re.search(r"\{\w+\}", card)  # every place of the template was filled


def test_digest_is_of_weights_settings_and_tokenizer(folder: Path) -> None:
    names = {file.name for file in folder.iterdir()}
    assert {"model.safetensors", "config.json", "generation_config.json", "tokenizer.json"} <= names
    assert names.isdisjoint({"pytorch_model.bin", "optimizer.pt"})
    assert re.fullmatch(r"[0-9a-f]{64}", model_digest(folder))


def test_loads_in_silence_and_paraphrases(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
    from transformers.utils import logging as transformers_logging

    transformers_logging.enable_propagation()
    try:
        with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
            warnings.simplefilter("error")
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model = AutoModelForSeq2SeqLM.from_pretrained(folder, local_files_only=True)
    finally:
        transformers_logging.disable_propagation()
    assert [record.message for record in caplog.records] == []
    assert type(model).__name__ == "PegasusForConditionalGeneration"
    assert model.dtype == torch.bfloat16
    assert model.generation_config.num_beams == 10
    encoded = tokenizer(SENTENCES, return_tensors="pt", padding=True)
    with torch.inference_mode():
        written = tokenizer.batch_decode(model.float().generate(**encoded), skip_special_tokens=True)
    reasons = [reason_against(text, output) for text, output in zip(SENTENCES, written, strict=True)]
    assert reasons.count(None) >= 4, list(zip(written, reasons, strict=True))  # as a rule it does not copy
    assert set(reasons) <= {None, "same_words"}, list(zip(written, reasons, strict=True))
    assert tokenizer.decode(tokenizer(SENTENCES[0])["input_ids"], skip_special_tokens=True) == SENTENCES[0]


def test_where_none_is_shipped_everything_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from augment_cli import augmentations, models
    from augment_cli.contract.augmentation import Resources
    from augment_cli.reports import doctor

    monkeypatch.setattr(models, "PARAPHRASER", "not-there")
    card = augmentations.get("paraphrase")
    with pytest.raises(MissingError, match=r"--model .*`make paraphraser`"):
        card.uses(card.parameters(), Resources(0, 0))
    entry = next(entry for entry in doctor.examine(tmp_path) if entry["what"] == "paraphrase")
    assert not entry["ready"] and entry["missing"] == ["shipped model"]
    assert "make paraphraser" in entry["get"] and "--model" in entry["get"]
