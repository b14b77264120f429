"""`augment-cli embed` against sentence-transformers' own encode, on the same texts, interleaved in one run.

    python -m benchmarks.embed_speed --corpus ../shared/data/corpus/wiki_en-00.txt.gz --rows 4000

Each round encodes all texts three ways in turns: `SentenceTransformer.encode` as it is, and the stage
`vectors` in fp32 and in bf16, made in a new store each time (texts hashed, sorted, tokenised, encoded, pieces
and parts written and read back). All use one thread in one process. Models are loaded and warm before the
clock starts. Printed are CPU seconds (which other work on the machine moves less than seconds on the clock),
the ratio of the same round, and how near the vectors are to theirs.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.neural.loading import MINILM_PACKAGE
from augment_cli.session import Session
from augment_cli.vectors import embed
from augment_cli.vectors.stages import VectorStage, unit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--rows", type=int, default=4_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", default=MINILM_PACKAGE)
    options = parser.parse_args()
    torch.set_num_threads(1)
    reference = SentenceTransformer(str(embed.find_encoder(options.model).path), device="cpu")
    ways = ["sentence-transformers", "fp32", "bf16"]
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as folder:
        with Session(Path(folder) / "texts", Engine(1)) as session:
            session.ingest([options.corpus], IngestOptions(limit=options.rows))
            texts = session.store.read("corpus", ["text"])["text"].to_pylist()
        for round_number in range(options.rounds + 1):  # the first, on few texts, only warms up
            some = texts if round_number else texts[:64]
            for way in ways:
                start = time.process_time()
                if way == ways[0]:
                    expected, _ = unit(reference.encode(some, show_progress_bar=False))
                    took = time.process_time() - start
                    near = ""
                else:
                    took, vectors = stage(Path(folder), options.model, way, len(some))
                    cosines = np.einsum("ij,ij->i", expected, vectors)
                    near = f", cosine to theirs {cosines.mean():.5f} on average, {cosines.min():.5f} at least"
                if round_number:
                    seconds[way].append(took)
                    print(f"{way}: {took:.1f} CPU s, {len(some) / took:.0f} texts/s{near}", flush=True)
    for way in ways[1:]:
        ratios = [one / own for one, own in zip(seconds[ways[0]], seconds[way], strict=True)]
        print(f"{way}: {statistics.median(ratios):.2f} times as fast (rounds {np.round(ratios, 2)})")


def stage(folder: Path, model: str, precision: str, rows: int) -> tuple[float, np.ndarray]:
    """Seconds for the stage of vectors in a new store, and the vectors."""
    path = shutil.copytree(folder / "texts", folder / "copy")
    with Session(path, Engine(1)) as session:
        found = embed.EmbedParameters(model=model, precision=precision, device="cpu", rows=rows)
        embed.load(embed.find_encoder(model), found)
        start = time.process_time()
        session.embed("corpus", found)
        took = time.process_time() - start
        vectors = np.concatenate(
            [VectorStage.open(session.store).read(index)[0] for index in range(len(session.store.parts))]
        )[:rows]
    shutil.rmtree(path)
    return took, unit(vectors)[0]


if __name__ == "__main__":
    main()
