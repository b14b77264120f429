"""How time and memory grow with the corpus: from gzip to verified parts, and a packed table.

    python -m benchmarks.growth --data ../shared/data --work growth --rows 10000 100000 1000000 10000000

Each size is a corpus of its own in `--work`, gzipped, and a store. The first million are the sentences of the
data folder; what goes beyond is made of halves of two of them, so that its vocabulary does not grow as a real
one would. Each command is a process of its own; its memory and that of its workers are sampled (resident set
sizes summed, so that shared pages count for each). `--commands` names others, of which the first reads the
corpus:

    python -m benchmarks.growth --data ../shared/data --work growth --rows 1000000 --commands una verify

`train` is one epoch of the shipped static encoder over every
sentence with the positives of `crop`, which it needs before it: `--commands ingest crop train`.
"""

import argparse
import gzip
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from benchmarks import markdown, read_sentences

COMMANDS = ("ingest", "fit", "una", "pack", "status", "verify", "card")
ALONE = ("ingest", "status", "verify", "card", "train")  # these take no --jobs
STATIC = "data/models/static"
EPOCH = ("positives=crop", "labels=kind", "epochs=1", "evaluate_every=1000000")
_STEP = 104_729  # a prime: each further million meets other second halves


def recombined(sentences: list[str], count: int) -> Iterator[str]:
    """The sentences, then first halves of them with second halves of others, `count` in all."""
    for number in range(count):
        turn, place = divmod(number, len(sentences))
        if not turn:
            yield sentences[place]
            continue
        first = sentences[place].split(" ")
        second = sentences[(place + turn * _STEP) % len(sentences)].split(" ")
        yield " ".join([*first[: len(first) // 2 or 1], *second[len(second) // 2 :]])


def write_corpus(path: Path, data: Path, rows: int) -> None:
    """A gzipped corpus of `rows` sentences, written unless it is there."""
    if path.is_file():
        return
    sentences = list(read_sentences(str(data / "corpus" / "wiki_en-*.txt.gz"), min(rows, 1_000_000)))
    if not sentences:
        raise SystemExit(f"{data}: no corpus/wiki_en-*.txt.gz here; give the data folder")
    temporary = path.with_suffix(".partial")
    with gzip.open(temporary, "wt", encoding="utf-8", compresslevel=1) as file:
        file.writelines(f"{sentence}\n" for sentence in recombined(sentences, rows))
    temporary.replace(path)


def epoch(out: Path) -> list[str]:
    """The further words of a training: one pass over the whole store."""
    settings = [word for setting in EPOCH for word in ("--set", setting)]
    return ["--encoder", STATIC, "--out", str(out), *settings]


class MemoryWatch(threading.Thread):
    """Samples the memory of a process and its children until it ends; the peak in bytes."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.process, self.most = psutil.Process(pid), 0

    def run(self) -> None:
        """Sample about ten times a second."""
        while True:
            try:
                family = [self.process, *self.process.children(recursive=True)]
                self.most = max(self.most, sum(process.memory_info().rss for process in family))
            except psutil.NoSuchProcess:
                if not self.process.is_running():
                    return
                continue
            time.sleep(0.1)


def watched(words: list[str], module: str = "augment_cli") -> tuple[float, int]:
    """The seconds of a command in a process of its own, and its peak of memory."""
    command = [sys.executable, "-m", module, *words]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    watch = MemoryWatch(process.pid)
    watch.start()
    _, errors = process.communicate()
    if process.returncode:
        raise SystemExit(f"{shlex.join(command)} ended with {process.returncode}:\n{errors}")
    return time.perf_counter() - start, watch.most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="for corpora and stores, 10 GB for 10^7")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000, 10_000_000])
    parser.add_argument("--commands", nargs="+", default=list(COMMANDS))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    table = []
    for rows in options.rows:
        corpus, store = options.work / f"{rows}.txt.gz", options.work / f"store-{rows}"
        write_corpus(corpus, options.data, rows)
        run = options.work / f"run-{rows}"
        taken = []
        for name in options.commands:
            words = [name, *(["static"] if name == "train" else []), "--store", str(store)]
            words += ["--corpus", str(corpus)] if name == options.commands[0] else []
            words += epoch(run) if name == "train" else []
            words += ["--jobs", str(options.jobs)] if name not in ALONE else []
            taken.append(watched(words[1:], "train") if name == "train" else watched(words))
        shutil.rmtree(store)
        shutil.rmtree(run, ignore_errors=True)
        most = max(most for _, most in taken) / 2**20
        table.append([f"{rows:,}", *(f"{seconds:.1f} s" for seconds, _ in taken), f"{most:,.0f} MiB"])
    print(markdown(["sentences", *options.commands, "most memory"], table))


if __name__ == "__main__":
    main()
