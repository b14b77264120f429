"""Make a pretraining run the shipped encoder, with fp16 weights.

python -m data.builds.encoder.ship runs/encoder --out data/models/encoder
"""

import argparse
import shutil
from pathlib import Path

import torch

from augment_cli.encoding.loading import load_encoder
from data.builds.frame import LICENSE, size_of
from train.outputs.export import export

LIMIT = 13_000_000  # bytes, all files together

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("run", type=Path, help="folder of the pretraining run")
    parser.add_argument("--out", type=Path, default=Path("data/models/encoder"))
    args = parser.parse_args()
    card = (args.out / "README.md").read_bytes()  # written by people
    export(load_encoder(args.run / "last", pooling="mean"), args.out, torch.float16)
    (args.out / "README.md").write_bytes(card)
    shutil.copy(LICENSE, args.out / "LICENSE")
    print(size_of(args.out, LIMIT))
