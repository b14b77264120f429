"""Shipping: the folder is complete, compact, licensed, and replaced all or nothing."""

from pathlib import Path

import pytest
import torch

from data.builds.paraphraser import ship, vocabulary

SENTENCES = [
    "The cat sat on the mat because it was warm.",
    "In 1999, the old mill was sold to a farmer.",
] * 30
GENERATION = {"num_beams": 3, "max_length": 32}


@pytest.fixture
def trained(tmp_path: Path) -> Path:
    """A work folder with a tiny model, as fine-tuning leaves it."""
    from transformers import PegasusConfig, PegasusForConditionalGeneration

    vocabulary.save(vocabulary.learn(iter(SENTENCES), 36), tmp_path / "vocabulary")
    config = PegasusConfig(
        vocab_size=36,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=1,
        decoder_attention_heads=1,
        encoder_ffn_dim=8,
        decoder_ffn_dim=8,
        max_position_embeddings=128,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
    )
    torch.manual_seed(0)
    PegasusForConditionalGeneration(config).save_pretrained(tmp_path / "model")
    return tmp_path


def test_shipped_folder_loads_whole_and_says_what_it_is(trained: Path) -> None:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    out = trained / "out"
    out.mkdir()
    (out / "README.md").write_text("card", encoding="utf-8")
    (out / "old.bin").write_text("left over", encoding="utf-8")
    size = ship.ship(
        trained / "model", trained / "vocabulary", GENERATION, out, demonstration=True, training_length=56
    )
    assert size == sum(file.stat().st_size for file in out.iterdir())
    assert (out / "README.md").read_text(encoding="utf-8") == "card"
    assert not (out / "old.bin").exists()
    assert "\n" not in (out / "tokenizer.json").read_text(encoding="utf-8")
    licence = (out / "LICENSE").read_text(encoding="utf-8")
    assert licence.index("WikiSplit") < licence.index("ShareAlike 4.0 International\n\n==")
    assert "Princeton University under the following license" in licence
    model, report = AutoModelForSeq2SeqLM.from_pretrained(out, output_loading_info=True)
    assert not any(report[key] for key in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    assert (
        model.dtype == torch.bfloat16
        and model.config.demonstration is True
        and model.config.training_length == 56
    )
    assert model.generation_config.num_beams == 3
    ids = AutoTokenizer.from_pretrained(out)(SENTENCES[0], return_tensors="pt")
    assert model.float().generate(**ids).shape[0] == 1


def test_too_large_a_model_replaces_nothing(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = trained / "out"
    out.mkdir()
    (out / "README.md").write_text("card", encoding="utf-8")
    monkeypatch.setattr(ship, "LIMIT", 1000)
    with pytest.raises(SystemExit, match="more than 1,000: train a smaller"):
        ship.ship(
            trained / "model",
            trained / "vocabulary",
            GENERATION,
            out,
            demonstration=False,
            training_length=56,
        )
    assert [file.name for file in out.iterdir()] == ["README.md"]
