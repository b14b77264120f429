"""Make a trained paraphraser the shipped one: bf16 weights, tokenizer, generation settings, licence.

    python -m data.builds.paraphraser.ship --work FOLDER --out augment_cli/models/paraphraser

`evaluate` writes the card afterwards.
"""

from __future__ import annotations

import argparse
import shutil
import tomllib
from pathlib import Path
from typing import Any

import torch
from transformers import AutoTokenizer, GenerationConfig, PegasusForConditionalGeneration

from data.builds.paraphraser.train import SETTINGS
from data.builds.paraphraser.vocabulary import compact

LIMIT = 13_000_000  # bytes, all files together
HERE = Path(__file__).parent
LICENCES = (
    HERE / "attribution.txt",
    HERE.parent / "CC-BY-SA-4.0.txt",
    HERE.parents[2] / "augment_cli/resources/wordnet/LICENSE",
)


def ship(
    trained: Path,
    tokenizer: Path,
    generation: dict[str, Any],
    out: Path,
    demonstration: bool,
    training_length: int,
) -> int:
    """Write the shipped folder, all or nothing."""
    temporary = out.with_name(out.name + ".new")
    shutil.rmtree(temporary, ignore_errors=True)
    model = PegasusForConditionalGeneration.from_pretrained(trained, dtype=torch.bfloat16)
    model.generation_config = GenerationConfig(
        pad_token_id=0, eos_token_id=1, decoder_start_token_id=0, forced_eos_token_id=1, **generation
    )
    model.config.demonstration = demonstration
    model.config.training_length = training_length
    # Computed position vectors stay in the file (131 kB): without them loading reports missing weights.
    model.save_pretrained(temporary)
    (temporary / "model.safetensors").chmod(0o644)  # written for the owner alone
    AutoTokenizer.from_pretrained(tokenizer).save_pretrained(temporary)
    compact(temporary / "tokenizer.json")
    (temporary / "LICENSE").write_text(
        "\n".join(path.read_text(encoding="utf-8") for path in LICENCES), encoding="utf-8"
    )
    if (out / "README.md").exists():  # the card belongs to `evaluate`
        shutil.copy(out / "README.md", temporary)
    size = sum(file.stat().st_size for file in temporary.rglob("*") if file.is_file())
    if size > LIMIT:
        raise SystemExit(f"{temporary} has {size:,} bytes, more than {LIMIT:,}: train a smaller [model]")
    shutil.rmtree(out, ignore_errors=True)
    temporary.replace(out)
    return size


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
    settings = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    size = ship(
        args.work / "fine-tuned" / "model",
        args.work / "vocabulary",
        settings["generation"],
        args.out,
        settings["card"]["demonstration"],
        settings["fine-tune"]["max_length"],
    )
    print(f"{size:,} bytes in {args.out}")


if __name__ == "__main__":
    main()
