"""Make a trained paraphraser the shipped one: bf16 weights, tokenizer, generation settings, licence.

    python -m data.recipes.paraphraser.ship --work FOLDER --out augment_cli/models/paraphraser

`evaluate` writes the card afterwards.
"""

from __future__ import annotations

import argparse
import shutil
import tomllib
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, GenerationConfig, PegasusForConditionalGeneration

from data.recipes.paraphraser.train import RECIPE

LIMIT = 13_000_000  # bytes, all files together


def ship(trained: Path, tokenizer: Path, generation: dict[str, Any], out: Path, demonstration: bool) -> int:
    """Write the shipped folder, all or nothing; return its size in bytes."""
    temporary = out.with_name(out.name + ".new")
    shutil.rmtree(temporary, ignore_errors=True)
    model = PegasusForConditionalGeneration.from_pretrained(trained, dtype=torch.bfloat16)
    model.generation_config = GenerationConfig(
        pad_token_id=0, eos_token_id=1, decoder_start_token_id=0, forced_eos_token_id=1, **generation
    )
    model.config.demonstration = demonstration
    model.save_pretrained(temporary)
    # Sinusoids are computed, and the one matrix of word embeddings is stored once.
    path = temporary / "model.safetensors"
    kept = {name: tensor for name, tensor in load_file(path).items() if not _computed(name)}
    save_file(kept, path, metadata={"format": "pt"})
    AutoTokenizer.from_pretrained(tokenizer).save_pretrained(temporary)
    shutil.copy(Path(__file__).with_name("LICENSE.txt"), temporary / "LICENSE")
    for old in out.glob("*"):
        if old.name in ("README.md", "__init__.py"):  # the card belongs to `evaluate`
            shutil.copy(old, temporary / old.name)
    size = sum(file.stat().st_size for file in temporary.rglob("*") if file.is_file())
    if size > LIMIT:
        raise SystemExit(f"{temporary} has {size:,} bytes, more than {LIMIT:,}: train a smaller [model]")
    shutil.rmtree(out, ignore_errors=True)
    temporary.replace(out)
    return size


def _computed(name: str) -> bool:
    return name.endswith(("embed_positions.weight", "final_logits_bias"))


def main() -> None:
    """Read the command line and ship."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--work", type=Path, required=True, help="work folder with vocabulary/ and fine-tuned/"
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the shipped model")
    args = parser.parse_args()
    recipe = tomllib.loads(RECIPE.read_text(encoding="utf-8"))
    size = ship(
        args.work / "fine-tuned" / "model", args.work / "vocabulary", recipe["generation"], args.out,
        recipe["card"]["demonstration"],
    )  # fmt: skip
    print(f"{size:,} bytes in {args.out}")


if __name__ == "__main__":
    main()
