"""From text to verified UNA parts: sentences a second, memory, and how both grow.

    python -m benchmarks.una_million --data ../shared/data [--rows 10000 100000 1000000]

Runs `augment-cli` in a process of its own for each size and samples the memory of that process and
its workers (resident set sizes summed, shared pages counted once for each process, and proportional
set sizes where /proc gives them). Beside it, in the same run: the plain-Python reference of
`reference_una.py` and scikit-learn's counting with NLTK's tokens, each on fewer sentences and quoted
as a rate.
"""

from __future__ import annotations

import argparse
import itertools
import json
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
from rich.console import Console
from rich.table import Table
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.corpora import read_sentences
from benchmarks.reference_una import ReferenceFit, negative, tokenize

_DEAR = 5  # samples from one of proportional sizes to the next


class MemoryWatch(threading.Thread):
    """Samples the memory of a process and its children until it ends; peaks in bytes."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.process = psutil.Process(pid)
        self.resident = self.proportional = 0

    def run(self) -> None:
        """Sample about ten times a second, proportional sizes twice a second."""
        for number in itertools.count():
            try:
                family = [self.process, *self.process.children(recursive=True)]
                self.resident = max(self.resident, sum(process.memory_info().rss for process in family))
                if number % _DEAR == 0:  # the kernel walks every page for it, a fifth of a core if always
                    sizes = [getattr(process.memory_full_info(), "pss", 0) for process in family]
                    self.proportional = max(self.proportional, sum(sizes))
            except psutil.NoSuchProcess:
                if not self.process.is_running():
                    return
                continue
            except psutil.AccessDenied:
                return
            time.sleep(0.1)


def watched(words: list[str], module: str = "augment_cli") -> tuple[str, float, MemoryWatch]:
    """What a command in a process of its own prints, its seconds, and its peaks of memory."""
    command = [sys.executable, "-m", module, *words]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    watch = MemoryWatch(process.pid)
    watch.start()
    output, errors = process.communicate()
    seconds = time.perf_counter() - start
    if process.returncode:
        raise SystemExit(f"{shlex.join(command)} ended with {process.returncode}:\n{errors}")
    return output, seconds, watch


def measure(corpus: str, rows: int, jobs: int) -> dict[str, float]:
    """Run the command on the first `rows` sentences; seconds by stage, peaks of memory, rate."""
    with tempfile.TemporaryDirectory() as folder:
        store = ["--store", f"{folder}/store"]
        sizes = ["--limit", str(rows), "--jobs", str(jobs)]
        output, seconds, watch = watched(["una", "--corpus", corpus, *store, *sizes, "--json"])
        verified = watched(["verify", *store])[1]
    stages = {entry["stage"]: entry for entry in json.loads(output)}
    return {
        "rows": stages["una"]["rows"],
        "terms": stages["terms"]["rows"],
        "ingest": stages["corpus"]["seconds"],
        "fit": stages["tfidf"]["seconds"],
        "una": stages["una"]["seconds"],
        "seconds": seconds,
        "verify": verified,
        "rate": stages["una"]["rows"] / seconds,
        "resident": watch.resident,
        "proportional": watch.proportional,
        "bytes": sum(entry["bytes"] for entry in stages.values()),
    }


def reference_rate(sentences: list[str]) -> float:
    """Sentences a second of the plain-Python reference, fit and negatives together."""
    start = time.perf_counter()
    documents = [tokenize(sentence) for sentence in sentences]
    fit = ReferenceFit(documents)
    for tokens in documents:
        negative(tokens, fit, beta=0.5, radius=400)
    return len(sentences) / (time.perf_counter() - start)


def scikit_learn_rate(sentences: list[str]) -> float:
    """Sentences a second of scikit-learn's counting alone, with NLTK's tokens."""
    start = time.perf_counter()
    CountVectorizer(analyzer=tokenize).fit_transform(sentences)
    return len(sentences) / (time.perf_counter() - start)


def main() -> None:
    """Measure and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--reference-rows", type=int, default=5_000)
    arguments = parser.parse_args()
    corpus = arguments.data / "corpus"
    console = Console(width=130)

    table = Table(title="augment-cli una, from gzipped text to parts on disk")
    for column in ("sentences", "terms", "ingest s", "fit s", "una s", "whole command s", "sentences/s"):
        table.add_column(column, justify="right")
    for column in ("memory RSS", "memory PSS", "verify s", "on disk"):
        table.add_column(column, justify="right")
    for rows in arguments.rows:
        result = measure(str(corpus / "wiki_en-*.txt.gz"), rows, arguments.jobs)
        table.add_row(
            f"{result['rows']:,.0f}",
            f"{result['terms']:,.0f}",
            *(f"{result[name]:.1f}" for name in ("ingest", "fit", "una", "seconds")),
            f"{result['rate']:,.0f}",
            *(f"{result[name] / 2**20:,.0f} MiB" for name in ("resident", "proportional")),
            f"{result['verify']:.1f}",
            f"{result['bytes'] / 1e6:,.0f} MB",
        )
    console.print(table)

    sentences = list(read_sentences(str(corpus / "wiki_en-00.txt.gz"), arguments.reference_rows))
    beside = Table(title=f"beside it, on {len(sentences):,} sentences, one process")
    beside.add_column("what")
    beside.add_column("sentences/s", justify="right")
    beside.add_row("plain-Python reference, radius 400, fit and UNA", f"{reference_rate(sentences):,.0f}")
    beside.add_row("scikit-learn CountVectorizer with NLTK's tokens", f"{scikit_learn_rate(sentences):,.0f}")
    console.print(beside)


if __name__ == "__main__":
    main()
