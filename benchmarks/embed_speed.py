"""`augment-cli embed` against sentence-transformers' own encode, on the same texts, interleaved in one run.

    python -m benchmarks.embed_speed --corpus ../shared/data/corpus/wiki_en-00.txt.gz --rows 10000
    python -m benchmarks.embed_speed --corpus ../shared/data/corpus/wiki_en-00.txt.gz --rows 10000 --cores 2

Each round encodes all texts in turns: `SentenceTransformer.encode` with its own batch size, and the stage
`vectors` in fp32 and in bf16, in a new store each time, parts written and read back. Theirs runs in a process
of its own, as somebody calls it: this toolkit tells the C library to keep freed memory. Models are loaded and
warm before the clock starts. Printed are CPU seconds, the ratio to theirs in the same round, and how near the
vectors are to theirs. With `--cores 2` theirs has two threads and the stage two workers, which load the model
themselves, and seconds are those on the clock: a machine with nothing else to do is needed.
"""

import argparse
import multiprocessing
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import torch

from augment_cli.encoding.transforms import unit
from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.neural.loading import MINILM_PACKAGE
from augment_cli.session import Session
from augment_cli.vectors.embed import load
from augment_cli.vectors.stages import EmbedParameters, VectorStage, find_encoder
from benchmarks.timing import markdown, ratio

WARM_UP = 64  # texts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", required=True)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--model", default=MINILM_PACKAGE)
    parser.add_argument("--cores", type=int, default=1, help="threads of theirs, workers of the stage")
    options = parser.parse_args()
    torch.set_num_threads(1)
    seconds: dict[str, list[float]] = {"sentence-transformers": [], "fp32": [], "bf16": []}
    least = dict.fromkeys(seconds, 1.0)
    path = str(find_encoder(options.model).path)
    with tempfile.TemporaryDirectory() as folder, process(path, options.cores) as their_process:
        with Session(Path(folder) / "texts", Engine(1)) as session:
            session.ingest([options.corpus], IngestOptions(limit=options.rows))
            texts = session.store.read("corpus", ["text"])["text"].to_pylist()
        for round_number in range(options.rounds + 1):  # the first, on few texts, only warms up
            some = texts if round_number else texts[:WARM_UP]
            their_process.send(some)
            took, vectors = their_process.recv()
            expected = unit(vectors)[0]
            spent = {"sentence-transformers": took}
            for way in ("fp32", "bf16"):
                spent[way], vectors = stage(Path(folder), options, way, len(some))
                least[way] = min(least[way], float(np.einsum("ij,ij->i", expected, vectors).min()))
            for way, one in spent.items() if round_number else ():
                seconds[way].append(one)
    base = seconds["sentence-transformers"]
    rows = [
        [way, f"{statistics.median(took):.1f}", f"{ratio(base, took):.2f}", f"{least[way]:.5f}"]
        for way, took in seconds.items()
    ]
    print(markdown(["way", "CPU s" if options.cores == 1 else "s", "times as fast", "cosine at least"], rows))


def clock_of(cores: int) -> Callable[[], float]:
    """What seconds are taken from: this process's CPU time, or the clock where several processes work."""
    return time.process_time if cores == 1 else time.perf_counter


@contextmanager
def process(path: str, threads: int) -> Iterator[Connection]:
    """A process that encodes with sentence-transformers what it is sent."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    child = context.Process(target=their_side, args=(there, path, threads), daemon=True)
    child.start()
    there.close()
    try:
        yield here
    finally:
        child.terminate()
        child.join()


def their_side(connection: Connection, path: str, threads: int) -> None:
    """Receives texts, and sends seconds and vectors."""
    from sentence_transformers import SentenceTransformer

    torch.set_num_threads(threads)
    clock = clock_of(threads)
    model = SentenceTransformer(path, device="cpu")
    while True:
        texts = connection.recv()
        start = clock()
        vectors = model.encode(texts, show_progress_bar=False)
        connection.send((clock() - start, vectors))


def stage(folder: Path, options: argparse.Namespace, precision: str, rows: int) -> tuple[float, np.ndarray]:
    """Seconds for the stage of vectors in a new store, and the vectors."""
    path = shutil.copytree(folder / "texts", folder / "copy")
    clock = clock_of(options.cores)
    with Session(path, Engine(options.cores)) as session:
        found = EmbedParameters(model=options.model, precision=precision, device="cpu", rows=rows, threads=1)
        load(find_encoder(options.model), found)
        start = clock()
        session.embed("corpus", found)
        took = clock() - start
        vectors = np.concatenate(
            [VectorStage.open(session.store).read(index)[0] for index in range(len(session.store.parts))]
        )[:rows]
    shutil.rmtree(path)
    return took, unit(vectors)[0]


if __name__ == "__main__":
    main()
