"""How time and memory grow with the corpus: from gzip to verified parts, and a packed table.

    python -m benchmarks.growth --data ../shared/data --work growth --rows 10000 100000 1000000 10000000

Each size is a corpus of its own in `--work`, gzipped, and a store. The first million are the sentences of the
data folder; what goes beyond is made of halves of two of them, so that its vocabulary does not grow as a real
one would. Each command is a process of its own; its memory and that of its workers are sampled (resident set
sizes summed, so that shared pages count for each). `--commands` names others, of which the first reads the
corpus:

    python -m benchmarks.growth --data ../shared/data --work growth --rows 1000000 --commands una verify

`--reference 5000` prints beside it what a plain-Python UNA and scikit-learn's counting with NLTK's tokens do
with that many sentences in one process. `train` is one epoch of the shipped static encoder over every
sentence with the positives of `crop`, which it needs before it: `--commands ingest crop train`.
"""

from __future__ import annotations

import argparse
import gzip
import math
import random
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psutil
from nltk.tokenize import word_tokenize
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.timing import markdown, read_sentences

COMMANDS = ("ingest", "fit", "una", "pack", "status", "verify", "card")
ALONE = ("ingest", "status", "verify", "card", "train")  # these take no --jobs
STATIC = "data/models/static"
EPOCH = ("positives=crop", "labels=kind", "epochs=1", "evaluate_every=1000000")
_STEP = 104_729  # a prime: each further million meets other second halves


def tokenize(sentence: str) -> list[str]:
    """NLTK's word tokens of the lower-cased sentence."""
    return word_tokenize(sentence.lower(), preserve_line=True)


class ReferenceFit:
    """Document frequencies, idf, maximum scores and ranks of a corpus."""

    def __init__(self, documents: Sequence[list[str]]) -> None:
        self.documents = len(documents)
        self.document_frequency: Counter[str] = Counter()  # keeps first-seen order
        for tokens in documents:
            self.document_frequency.update(list(dict.fromkeys(tokens)))
        self.idf = {term: -math.log(df / self.documents) for term, df in self.document_frequency.items()}
        self.max_score = dict.fromkeys(self.document_frequency, 0.0)
        for tokens in documents:
            for term, score in zip(tokens, self.scores(tokens), strict=True):
                self.max_score[term] = max(self.max_score[term], score)
        # sorted() is stable: equal scores keep first-seen order.
        self.ranked = sorted(self.max_score, key=lambda term: -self.max_score[term])
        self.rank = {term: position for position, term in enumerate(self.ranked)}

    def scores(self, tokens: list[str]) -> list[float]:
        """z = ln(1 + n_t/n)·idf of each token occurrence."""
        counts = Counter(tokens)
        return [math.log(1 + counts[term] / len(tokens)) * self.idf[term] for term in tokens]

    def window(self, term: str, radius: int) -> tuple[list[int], list[float]]:
        """Ranks around a term's own, without it, and their probabilities."""
        own = self.rank[term]
        ranks = [r for r in range(own - radius, own + radius + 1) if 0 <= r < len(self.ranked) and r != own]
        weights = [self.max_score[self.ranked[rank]] for rank in ranks]
        total = sum(weights)
        if total == 0:
            return ranks, [1 / len(ranks)] * len(ranks)
        return ranks, [weight / total for weight in weights]


def probabilities(scores: Sequence[float], beta: float, opposite: bool = False) -> list[float]:
    """Replacement probability of each token of one sentence (step 2)."""
    if not scores:
        return []
    lowest, highest = min(scores), max(scores)
    above = [highest - z if opposite else z - lowest for z in scores]
    total = sum(above)
    result = [min(1.0, beta * len(scores) * a / total) if total > 0 else 0.0 for a in above]
    result[above.index(max(above))] = 1.0
    return result


def negative(
    tokens: list[str],
    fit: ReferenceFit,
    beta: float,
    radius: int,
    uniform: Callable[[], float] = random.random,
) -> list[str]:
    """One hard negative (steps 2 and 3): a coin and, if it falls, a drawn neighbour for each token."""
    result = []
    for term, probability in zip(tokens, probabilities(fit.scores(tokens), beta), strict=True):
        if uniform() < probability:
            ranks, weights = fit.window(term, radius)
            result.append(fit.ranked[random.choices(ranks, weights)[0]])
        else:
            result.append(term)
    return result


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


def reference(sentences: list[str]) -> None:
    """Fit and negatives of the plain-Python reference."""
    documents = [tokenize(sentence) for sentence in sentences]
    fit = ReferenceFit(documents)
    for tokens in documents:
        negative(tokens, fit, beta=0.5, radius=400)


def rate(run: Callable[[list[str]], object], sentences: list[str]) -> str:
    start = time.perf_counter()
    run(sentences)
    return f"{len(sentences) / (time.perf_counter() - start):,.0f} sentences/s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="for corpora and stores, 10 GB for 10^7")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000, 10_000_000])
    parser.add_argument("--commands", nargs="+", default=list(COMMANDS))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--reference", type=int, default=0, help="sentences of the reference (default: none)")
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
    if options.reference:
        some = list(read_sentences(str(options.data / "corpus" / "wiki_en-*.txt.gz"), options.reference))
        print(f"plain-Python reference, fit and negatives: {rate(reference, some)}")
        count = CountVectorizer(analyzer=tokenize).fit_transform
        print(f"scikit-learn's counting with NLTK's tokens: {rate(count, some)}")


if __name__ == "__main__":
    main()
