"""A verifier without this package: how likely one text turns what another says.

python verifier_onnx.py runs/verifier sentence-transformers/all-MiniLM-L6-v2 < pairs.tsv
"""

import json
import sys
from pathlib import Path

import numpy as np
from onnxruntime import InferenceSession
from transformers import AutoModel, AutoTokenizer


class Verifier:
    def __init__(self, folder: str, encoder: str) -> None:
        self.tokenizer = AutoTokenizer.from_pretrained(encoder)
        self.encoder = AutoModel.from_pretrained(encoder, output_hidden_states=True).eval()
        self.network = InferenceSession(Path(folder, "verifier.onnx"), providers=["CPUExecutionProvider"])
        self.said = json.loads(Path(folder, "verifier.json").read_text("utf-8"))

    def side(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """Vectors of a text's tokens, without the marks at its ends; and which are there, here all."""
        cut = {"truncation": True, "max_length": self.said["max_length"]}
        tokens = self.tokenizer(text, **cut, return_tensors="pt")
        states = self.encoder(**tokens).hidden_states
        layers = [states[layer][:, 1:-1].detach().numpy() for layer in self.said["layers"]]
        layers = [layer / np.linalg.norm(layer, axis=-1, keepdims=True) for layer in layers]
        return np.concatenate(layers, -1), np.ones(layers[0].shape[:2], bool)

    def turned(self, first: str, second: str) -> float:
        names, sides = [one.name for one in self.network.get_inputs()], [self.side(first), self.side(second)]
        orders = [dict(zip(names, (*a, *b), strict=True)) for a, b in (sides, sides[::-1])]
        return float(1 / (1 + np.exp(-np.mean([self.network.run(None, order)[0] for order in orders]))))


if __name__ == "__main__":
    verifier = Verifier(*sys.argv[1:])
    for line in sys.stdin.read().splitlines():
        print(f"{verifier.turned(*line.split(chr(9))[:2]):.4f}\t{line}")
