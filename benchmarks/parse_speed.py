"""Words a second of `augment-cli parse` against plain `nlp.pipe`, and bytes a sentence of what it caches.

    OMP_NUM_THREADS=1 python -m benchmarks.parse_speed --data ../shared/data [--pipeline NAME] [--rows 8192]

Each repetition takes other sentences through all three, one after the other: `nlp.pipe(texts)` with spaCy's
own batch size in one process, `nlp.pipe(texts, n_process=2)`, and the stage with two workers, from the corpus
on disk to committed parts. The components that are not needed are left out in all of them. Loading is not
counted in the first two; workers of the stage keep their pipeline from a run before the first repetition.
Words are spaCy's tokens. Beside the rate stand words by CPU second (all processes), which suffers less where
the machine is not idle: twice the stage's rate by plain `nlp.pipe`'s is what two free cores would give.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table
from spacy.language import Language

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.parsing.pipelines import find_pipeline, load_pipeline
from augment_cli.session import Session
from benchmarks.corpora import read_sentences


def cpu_seconds() -> float:
    """User and system time of this process and its children, the ended ones included."""
    own = psutil.Process()
    times = own.cpu_times()
    total = times.user + times.system + times.children_user + times.children_system
    for child in own.children(recursive=True):
        child_times = child.cpu_times()
        total += child_times.user + child_times.system
    return total


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds of a call."""
    wall, cpu = time.perf_counter(), cpu_seconds()
    work()
    return time.perf_counter() - wall, cpu_seconds() - cpu


def prepare(folder: Path, texts: list[str]) -> Path:
    """A store with the sentences as its corpus, in parts of half of them."""
    folder.mkdir()
    (folder / "in.txt").write_text("\n".join(texts) + "\n", "utf-8")
    with Session(folder / "store", Engine(1)) as session:
        session.ingest([folder / "in.txt"], IngestOptions(part_rows=-(-len(texts) // 2)), max_rejects=1)
    return folder / "store"


def parse(store: Path, pipeline: str | None) -> None:
    """The stage, with two workers."""
    with Session(store, Engine(2)) as session:
        session.parse(pipeline)


def count_words(nlp: Language, texts: list[str], processes: int) -> int:
    """Plain `nlp.pipe` over some texts; their tokens."""
    return sum(len(doc) for doc in nlp.pipe(texts, n_process=processes))


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--pipeline", help="installed pipeline or folder; the shipped one by default")
    parser.add_argument("--rows", type=int, default=8192, help="sentences a repetition")
    parser.add_argument("--repetitions", type=int, default=3)
    arguments = parser.parse_args()
    source = find_pipeline(arguments.pipeline)
    nlp = load_pipeline(source)
    corpus = arguments.data / "corpus" / "wiki_en-00.txt.gz"
    lines = list(read_sentences(str(corpus), arguments.rows * arguments.repetitions))

    names = ["nlp.pipe", "nlp.pipe, n_process=2", "augment-cli parse, 2 workers"]
    wall: dict[str, float] = defaultdict(float)
    cpu: dict[str, float] = defaultdict(float)
    words = rows = size = 0
    with tempfile.TemporaryDirectory() as folder:
        parse(prepare(Path(folder) / "warm", lines[:2_048]), arguments.pipeline)
        for repetition in range(arguments.repetitions):
            texts = lines[repetition * arguments.rows : (repetition + 1) * arguments.rows]
            store = prepare(Path(folder) / str(repetition), texts)
            arms: dict[str, Callable[[], object]] = {
                names[0]: partial(count_words, nlp, texts, 1),
                names[1]: partial(count_words, nlp, texts, 2),
                names[2]: partial(parse, store, arguments.pipeline),
            }
            for name, work in arms.items():
                seconds = timed(work)
                wall[name] += seconds[0]
                cpu[name] += seconds[1]
            with Session(store, Engine(1)) as session:
                parts = session.store.stage("parses").parts.values()
                words += sum(part.statistics["tokens"] for part in parts)
                rows += session.store.rows
                size += sum(part.bytes for part in parts)

    load = os.getloadavg()[0]
    table = Table(
        title=f"{source.name} {source.version}, {rows:,} sentences, {words:,} words, load {load:.1f}"
    )
    for column in ("", "words/s", "times nlp.pipe", "words/CPU s", "times nlp.pipe"):
        table.add_column(column, justify="right" if column else "left")
    for name in names:
        table.add_row(
            name,
            f"{words / wall[name]:,.0f}",
            f"{wall[names[0]] / wall[name]:.2f}",
            f"{words / cpu[name]:,.0f}",
            f"{cpu[names[0]] / cpu[name]:.2f}",
        )
    console = Console(width=110)
    console.print(table)
    console.print(f"{size / rows:.0f} bytes a sentence, {size / words:.1f} a word")


if __name__ == "__main__":
    main()
