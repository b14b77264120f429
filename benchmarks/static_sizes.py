"""Static encoders made smaller by model2vec: size, speed and STS of each.

    python -m benchmarks.static_sizes --data ../shared/data

Each is the encoder in `--encoder`, read by model2vec with fewer bits, rows or dimensions, written to a folder
and loaded from it by this toolkit. Printed are the table of benchmarks/results/static-encoders.md and, on
standard error, how far the vectors are from what model2vec itself makes of that folder.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from model2vec import StaticModel

from augment_cli.encoding.loading import load_encoder
from eval.measures.similarity import cosine
from eval.protocols.sts import score_pairs
from eval.tasks.pairs import read_pairs
from eval.tasks.registry import load_registry

STATIC = Path(__file__).parents[1] / "data" / "models" / "static"
SETS = ("stsb", "sts12", "sts13", "sts14", "sts15")
WAYS: dict[str, dict[str, Any]] = {
    "as it is, fp32": {},
    "fp16": {"quantize_to": "float16"},
    "int8": {"quantize_to": "int8"},
    "int8, half the dimensions": {"quantize_to": "int8", "dimensionality": 0.5},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--encoder", default=str(STATIC))
    options = parser.parse_args()
    pairs = [read_pairs(load_registry()[name], options.data) for name in SETS]
    texts = [text for one in pairs for text in (*one.first, *one.second)]
    width = StaticModel.from_pretrained(options.encoder).dim
    print("| the static encoder | MB | texts a second | STS average |\n|---|---:|---:|---:|")
    for title, given in WAYS.items():
        changes: dict[str, Any] = {
            key: int(value * width) if key == "dimensionality" else value for key, value in given.items()
        }
        with tempfile.TemporaryDirectory() as folder:
            smaller = StaticModel.from_pretrained(options.encoder, **changes)
            smaller.save_pretrained(folder)
            encoder = load_encoder(folder)
            size = (Path(folder) / "model.safetensors").stat().st_size / 1e6
        theirs, ours = smaller.encode(texts[:1000]), encoder.encode(texts[:1000])
        print(f"{title}: least cosine to model2vec's {cosine(theirs, ours).min():.6f}", file=sys.stderr)
        began = time.process_time()
        encoder.encode(texts)
        speed = len(texts) / (time.process_time() - began)
        average = 100 * mean(score_pairs(encoder.encode, one).spearman for one in pairs)
        print(f"| {title} | {size:.1f} | {np.round(speed, -3):,.0f} | {average:.2f} |", flush=True)


if __name__ == "__main__":
    main()
