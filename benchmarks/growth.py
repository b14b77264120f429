"""How time and memory grow with the corpus: from gzip to verified parts, and a packed table.

    python -m benchmarks.growth --data ../shared/data --work growth --rows 10000 100000 1000000 10000000

Each size is a corpus of its own in `--work`, gzipped, and a store. The first million are the sentences of the
data folder; what goes beyond is made of them, the first half of the words of one and the second half of
another's: hardly a sentence is twice in it. Its vocabulary does not grow with it, as a real one would.
Each command is a process of its own; its memory and that of its workers are sampled (resident set sizes
summed, so that shared pages count for each). `--commands` adds others, such as pi.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpora import read_sentences
from benchmarks.una_million import watched

COMMANDS = ("ingest", "fit", "una", "pack", "status", "verify", "card")
ALONE = ("ingest", "status", "verify", "card")  # these take no --jobs
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


def main() -> None:
    """Measure and print a Markdown table, a row a size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument(
        "--work", type=Path, required=True, help="folder for corpora and stores, 10 GB for 10^7"
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000, 10_000_000])
    parser.add_argument("--commands", nargs="+", default=list(COMMANDS))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    print(f"| sentences | {' | '.join(options.commands)} | most memory |")
    print(f"|---:|{'---:|' * (len(options.commands) + 1)}")
    for rows in options.rows:
        corpus, store = options.work / f"{rows}.txt.gz", options.work / f"store-{rows}"
        write_corpus(corpus, options.data, rows)
        shutil.rmtree(store, ignore_errors=True)
        taken = []
        for name in options.commands:
            words = [name, "--store", str(store)]
            words += ["--corpus", str(corpus)] if name == "ingest" else []
            words += ["--jobs", str(options.jobs)] if name not in ALONE else []
            taken.append(watched(words)[1:])
        shutil.rmtree(store)
        cells = [f"{seconds:.1f} s" for seconds, _ in taken]
        most = max(watch.resident for _, watch in taken)
        print(f"| {rows:,} | {' | '.join(cells)} | {most / 2**20:,.0f} MiB |", flush=True)


if __name__ == "__main__":
    main()
