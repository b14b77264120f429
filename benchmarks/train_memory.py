"""Peak memory of the reader over an epoch, for corpora of growing size: it stays what a window takes.

python -m benchmarks.train_memory --store STORE --encoder data/models/encoder
"""

from __future__ import annotations

import argparse
import resource
from pathlib import Path

from augment_cli.encoding.loading import load_encoder
from augment_cli.store.store import Store
from train.data.reader import Reader
from train.data.tokens import cache_tokens


class FirstParts(Store):
    """The first parts of a store, as if there were no others."""

    limit = 0

    @property
    def parts(self) -> list[tuple[int, int]]:
        """Number and rows of each part, cut off."""
        return super().parts[: self.limit]


def main() -> None:
    """Read an epoch of the first 1, 2, 4, … parts and print the peak after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--store", type=Path, required=True, help="store with a large corpus")
    parser.add_argument("--encoder", type=Path, default=Path("data/models/encoder"), help="whose tokenizer")
    args = parser.parse_args()
    count = len(Store.open(args.store).parts)
    stage = cache_tokens(Store.open(args.store), "corpus", load_encoder(args.encoder).tokenizer)
    store = FirstParts.open(args.store)
    assert isinstance(store, FirstParts)
    print(f"{'rows':>10}{'batches':>10}{'peak MB':>10}")
    while store.limit < count:
        store.limit = min(count, max(1, 2 * store.limit))
        batches = sum(1 for _ in Reader(store, {"corpus": [stage]}, batch=64, seed=42).epoch(0))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux counts in KiB
        print(f"{sum(rows for _, rows in store.parts):>10,}{batches:>10,}{peak:>10.0f}", flush=True)


if __name__ == "__main__":
    main()
