"""Words a second of one process: `parse_texts`, which `augment-cli parse` runs, beside plain `nlp.pipe`.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.parse_speed --data ../shared/data

The two take turns, in each round over other sentences. Components that are not needed are left out of both,
and loading is not counted. Words are spaCy's tokens, seconds those of the processor. The stage, from a corpus
on disk to committed parts, is timed by `benchmarks.growth --commands ingest parse`.
"""

import argparse
from collections import Counter
from functools import partial
from pathlib import Path

import pyarrow as pa
import spacy
from spacy.language import Language

from augment_cli.parsing.pipelines import find_pipeline, load_pipeline
from augment_cli.parsing.stage import parse_texts
from benchmarks import in_turns, markdown, read_sentences

WARM_UP = 2_048  # sentences


def count_words(nlp: Language, texts: list[str]) -> int:
    """Plain `nlp.pipe` over some texts; their tokens."""
    return sum(map(len, nlp.pipe(texts)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--pipeline", help="installed pipeline or folder; the shipped one by default")
    parser.add_argument("--rows", type=int, default=8192, help="sentences of a round")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    source = find_pipeline(options.pipeline)
    # Two of them: `parse_texts` alters how a pipeline multiplies.
    plain = spacy.load(source.package or source.folder, exclude=list(source.disabled))
    nlp = load_pipeline(source)
    corpus = str(options.data / "corpus" / "wiki_en-00.txt.gz")
    lines = list(read_sentences(corpus, options.rows * options.rounds))
    for one in (plain, nlp):  # their tokenizers' caches
        for text in lines[:WARM_UP]:
            one.make_doc(text)
    seconds, words = Counter[str](), 0
    for first in range(0, len(lines), options.rows):
        texts = lines[first : first + options.rows]
        ways = {
            "nlp.pipe": partial(count_words, plain, texts),
            "parse_texts": partial(parse_texts, nlp, pa.array(texts)),
        }
        took, found = in_turns(ways, 1)
        seconds.update({way: spent for way, (spent,) in took.items()})
        words += found["nlp.pipe"]
    print(f"{source.name} {source.version}, {len(lines):,} sentences, {words:,} words")
    rows = [
        [way, f"{words / spent:,.0f}", f"{seconds['nlp.pipe'] / spent:.2f}"] for way, spent in seconds.items()
    ]
    print(markdown(["", "words/s", "times nlp.pipe"], rows))


if __name__ == "__main__":
    main()
