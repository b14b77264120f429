"""`python -m train adapt` on twelve ordinary corpora, of 300 to 50,000 rows.

    python -m benchmarks.adapt_corpora --data ../shared/data --work runs/corpora
    python -m benchmarks.adapt_corpora --data ../shared/data --work runs/corpora --corpora news,banking77
    python -m benchmarks.adapt_corpora --data ../shared/data --work runs/corpora --encoder FOLDER --model own

Texts with labels are scored as in `benchmarks.adapt_domains`, on others than those of the corpus. Of pairs
(duplicate questions, captions of one image) it is how often the nearest of 2,000 other pairs' second halves
is a first half's own. Of plain text STS-B test alone tells whether anything was lost. Printed is a JSON line
for each corpus, and at the end the table of benchmarks/results/adaptation.md.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from augment_cli.encoding.loading import load_encoder
from augment_cli.store.store import Store
from benchmarks.adapt_domains import Encode, adapt, common_options, corpus_of, scores
from benchmarks.timing import add_line, markdown, read_lines
from eval.measures.geometry import finds_own
from eval.protocols.sts import stsb
from eval.tasks.table import load_registry, read_table
from train.methods.adapt.columns import set_name
from train.outputs.log import read_log

HALVES = ("half_neighbours", "found_by_half")  # what the verdict says in words, before and after
MEASURES = {"main": "K-means, few-shot or own partner", "purity_10": "purity of the ten nearest"}


@dataclass(frozen=True)
class Corpus:
    """One corpus: its size and where its texts come from, relative to the data folder."""

    rows: int
    labelled: str = ""  # a set of the evaluation
    pairs: str = ""  # a table with `sentence1` and `sentence2`, or `group` and `text`
    texts: tuple[str, ...] = ()  # files with a text a line, in turn


CORPORA = {
    "few titles": Corpus(300, labelled="stackoverflow"),
    "few intents": Corpus(300, labelled="snips"),
    "news": Corpus(4000, labelled="agnews"),
    "movie reviews": Corpus(4000, labelled="mr"),
    "product reviews": Corpus(2000, labelled="cr"),
    "opinion phrases": Corpus(4000, labelled="mpqa"),
    "flight questions": Corpus(4000, labelled="atis"),
    "few captions": Corpus(300, pairs="pairs/captions_flickr8k.tsv.gz"),
    "duplicate questions": Corpus(20_000, pairs="pairs/quora_duplicates.tsv.gz"),
    "captions": Corpus(10_000, pairs="pairs/captions_multi30k.tsv.gz"),
    "books": Corpus(10_000, texts=("corpus/books_en.txt.gz",)),
    "encyclopedia and books": Corpus(50_000, texts=("corpus/wiki_en-04.txt.gz", "corpus/books_en.txt.gz")),
}


def corpus_called(name: str) -> Corpus:
    """One of the list, or 4,000 texts of a labelled set of the evaluation."""
    return CORPORA.get(name) or Corpus(4000, labelled=name)


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Pairs of texts that say the same, in a mixed order that is always the same."""
    table = pl.read_csv(path.read_bytes(), separator="\t", quote_char=None, infer_schema=False)
    if "group" in table.columns:  # the first two texts of each group
        groups = table.group_by("group", maintain_order=True).agg(pl.col("text").head(2)).get_column("text")
        pairs = [(texts[0], texts[1]) for texts in groups.to_list() if len(texts) == 2]
    else:
        table = table.unique("sentence1", keep="first", maintain_order=True)  # one partner each
        pairs = list(table.select("sentence1", "sentence2").iter_rows())
    return [pairs[place] for place in np.random.default_rng(0).permutation(len(pairs))]


def read_texts(paths: list[Path], rows: int) -> list[str]:
    """As many texts of each file as makes `rows` of them, in turn."""
    files = [gzip.decompress(path.read_bytes()).decode().splitlines()[: rows // len(paths)] for path in paths]
    return [text for texts in zip(*files, strict=True) for text in texts]


def own_partner(encode: Encode, pairs: list[tuple[str, str]]) -> float:
    """How many of the first halves have their own second half as the nearest, in percent."""
    first, second = (encode([pair[side] for pair in pairs]) for side in (0, 1))
    return 100 * float(finds_own(first, second).mean())


def prepare(
    corpus: Corpus, options: argparse.Namespace
) -> tuple[list[str], Callable[[Encode], dict[str, float]]]:
    """The texts of a corpus, and what scores an encoder on others."""
    data, scored = options.data, options.scored
    if corpus.labelled:
        table = read_table(load_registry()[corpus.labelled], data)

        def by_labels(encode: Encode) -> dict[str, float]:
            found = scores(encode, table, corpus.rows, scored, data, options.kmeans)
            found["main"] = found.pop("accuracy" if "accuracy" in found else "accuracy_10")
            return found

        return corpus_of(table, corpus.rows)[0], by_labels

    def general(encode: Encode) -> dict[str, float]:
        return {"stsb": 100 * float(stsb(encode, data, "test").spearman)}

    if corpus.texts:
        return read_texts([data / file for file in corpus.texts], corpus.rows), general
    pairs = read_pairs(data / corpus.pairs)
    return (
        [first for first, _ in pairs[scored : scored + corpus.rows]],
        lambda encode: {"main": own_partner(encode, pairs[:scored])} | general(encode),
    )


def measure(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Adapt to one corpus; the line of its results, differences in points."""
    corpus = corpus_called(name)
    texts, score = prepare(corpus, options)
    run = adapt(name.replace(" ", "-"), texts, options, options.seed)
    verdict = next(event for event in read_log(run / "log.jsonl") if event["event"] == "verdict")
    before, after = (
        score(load().encode)
        for load in (partial(load_encoder, options.encoder), partial(load_encoder, str(run / "best")))
    )
    line = {"model": options.model, "corpus": name, "rows": corpus.rows, "outcome": verdict["outcome"]}
    combined = Store.open(run.parent / "store").stage(f"vectors-combined-{set_name(options.encoder)}")
    halves = json.loads((run / "summary.json").read_text())["scores"]
    line |= {key: [halves[f"{when} {key}"][0] for when in ("before", "best")] for key in HALVES}
    line["kept"] = combined.parts[0].statistics["keep_percent"] / 100
    line |= {"before": before, "gain": {key: after[key] - before[key] for key in before}}
    return line


def corpora_table(lines: list[dict[str, Any]]) -> str:
    """What adaptation gains on each corpus, in points, as Markdown."""
    rows = []
    for line in lines:
        gains = [_gain(line, key) for key in (*MEASURES, "stsb")]
        kept = f"{line['kept']:.1f}"
        rows.append([line["model"], line["corpus"], f"{line['rows']:,}", kept, line["outcome"], *gains])
    header = ["model", "corpus", "texts", "kept", "verdict", *MEASURES.values(), "STS-B test"]
    return markdown(header, rows, "llrrlrrr")


def _gain(line: dict[str, Any], key: str) -> str:
    if key not in line["gain"]:
        return "–"
    return f"{line['before'][key]:.1f} {line['gain'][key]:+.1f}".replace("-", "−")


def main() -> None:
    parser = common_options(__doc__)
    parser.add_argument("--corpora", default=",".join(CORPORA))
    parser.add_argument("--seed", type=int, default=42)
    options = parser.parse_args()
    options.work /= options.model
    options.work.mkdir(parents=True, exist_ok=True)
    results = options.results or options.work.parent / "results.jsonl"
    lines = read_lines(results)
    for name in options.corpora.split(","):
        if any((line["model"], line["corpus"]) == (options.model, name) for line in lines):
            continue
        add_line(results, lines, measure(name, options))
    print(corpora_table(lines))


if __name__ == "__main__":
    main()
