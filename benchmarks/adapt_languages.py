"""Adaptation and lookups of a multilingual encoder on texts of other languages than English.

    python -m benchmarks.adapt_languages --data ../shared/data --work runs/languages --encoder FOLDER

Scored are texts that are not in the corpus, as in `benchmarks.adapt_domains`, and STS-B test in Chinese,
German and French (translated by machine), and in English. Texts are cut to 64 tokens. Printed is a JSON line
for each encoder, and at the end the table of benchmarks/results/adaptation.md.
"""

import argparse
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.lookup import Lookup
from benchmarks import add_line, markdown, read_lines
from benchmarks.adapt_domains import KINDS, Encode, adapt, common_options, corpus_of, load_cached, scores
from eval.measures.geometry import correlation, cosine
from eval.tasks import Table, load_registry

CORPORA = {  # file, and texts of the corpus
    "Chinese titles": ("clustering/thucnews_zh.tsv.gz", 3_000),
    "German articles": ("clustering/gnad_de.tsv.gz", 514),
}
STS = {"zh": "stsb_zh_mt", "de": "stsb_de_mt", "fr": "stsb_fr_mt", "en": "stsb"}
LONGEST = 64  # tokens


def read(path: Path) -> pl.DataFrame:
    """A table of the data folder, with line breaks in a text as spaces."""
    table = pl.read_csv(path.read_bytes(), separator="\t", quote_char=None, infer_schema=False)
    return table.with_columns(pl.col(pl.String).str.replace_all(r"\s+", " ").str.strip_chars())


def read_corpus(path: Path) -> Table:
    """Texts with labels as one split, as a set of the evaluation."""
    table = read(path).unique("text", keep="first", maintain_order=True)
    task = dataclasses.replace(load_registry()["stackoverflow"], name=path.name.partition(".")[0])
    columns = {name: table[name].to_list() for name in ("text", "label")}
    return Table(task, columns | {"split": [task.split] * len(table)}, "", False)


def similarity(encode: Encode, path: Path) -> float:
    """Spearman correlation on the test part, in percent."""
    table = read(path).filter(pl.col("split") == "test")
    sides = (encode(table[side].to_list()) for side in ("sentence1", "sentence2"))
    return 100 * correlation(cosine(*sides), table["score"].cast(float).to_numpy())[0]


def encoders(options: argparse.Namespace, table: Table, rows: int) -> Iterator[tuple[str, Encode]]:
    """What is scored, each made when it is its turn."""
    texts = corpus_of(table, rows)[0]

    def load(folder: str) -> Encoder:
        return load_cached(folder, options.work, max_length=LONGEST)

    start = load(options.encoder)
    yield "start", start.encode
    yield "lookup", Lookup.fit(start, texts).encode
    best = load(str(adapt(table.task.name, texts, options, options.seed) / "best"))
    yield "best", best.encode
    yield "lookup of best", Lookup.fit(best, texts).encode


def gains_table(lines: list[dict[str, Any]]) -> str:
    """What each start scores, and what the others gain, as Markdown."""
    rows, start = [], dict[str, float]()
    for line in lines:
        own = {key: value for key, value in line.items() if isinstance(value, float)}
        start = own if line["encoder"] == "start" else start
        is_start = own is start
        cells = [f"{own[key]:.1f}" if is_start else f"{own[key] - start[key]:+.1f}" for key in start]
        name = f"**{line['corpus']}**, {line['model']}" if is_start else KINDS[line["encoder"]]
        rows.append([name, *(cell.replace("-", "−") for cell in cells)])
    return markdown(["", "K-means", "purity", *(f"STS-B {code}" for code in STS)], rows)


def main() -> None:
    parser = common_options(__doc__)
    parser.add_argument("--corpora", default=",".join(CORPORA))
    parser.add_argument("--seed", type=int, default=42)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    results = options.results or options.work / "results.jsonl"
    lines = read_lines(results)
    for corpus in options.corpora.split(","):
        file, rows = CORPORA[corpus]
        table = read_corpus(options.data / file)
        for kind, encode in encoders(options, table, rows):
            key = {"model": options.model, "corpus": corpus, "encoder": kind}
            if any(key.items() <= line.items() for line in lines):
                continue
            measured = scores(
                encode, table, rows, options.scored, options.data, options.kmeans, general=False
            )
            general = {
                code: similarity(encode, options.data / f"sts/{name}.tsv.gz") for code, name in STS.items()
            }
            main = {key: measured[key] for key in ("accuracy", "purity_10")}
            add_line(results, lines, key | main | general)
    print(gains_table(lines))


if __name__ == "__main__":
    main()
