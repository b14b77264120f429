"""Whether the verdict of `python -m train adapt` is right: twenty corpora, beside labels and known partners.

    python -m benchmarks.adapt_corpora --data ../shared/data --work runs/corpora
    python -m benchmarks.adapt_corpora --data ../shared/data --work runs/corpora --encoder FOLDER --model own

Texts with labels are scored as in `benchmarks.adapt_domains`, on others than those of the corpus. Of pairs it
is how often the nearest of 2,000 other pairs' second halves is a first half's own. Plain text has STS-B test
alone. Printed is a JSON line for each corpus, and at the end the table of benchmarks/results/adaptation.md.
"""

import argparse
import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from augment_cli.adaptation import in_words, read_verdict
from augment_cli.encoding.loading import load_encoder
from benchmarks import add_line, markdown, read_lines
from benchmarks.adapt_domains import Encode, adapt, common_options, corpus_of, scores
from eval.measures.geometry import finds_own
from eval.protocols.sts import stsb
from eval.tasks import load_registry, read_table

HALVES = ("half_neighbours", "found_by_half")  # what the verdict puts into words, before and after
MEASURES = {"main": "K-means or few-shot", "purity_10": "purity of the ten nearest", "own": "own partner"}
LEAST = 0.5  # points that are a difference, as in the verdict


@dataclass(frozen=True)
class Corpus:
    """One corpus: its size and where its texts come from, relative to the data folder."""

    rows: int
    labelled: str = ""  # a set of the evaluation
    pairs: str = ""  # a table with `sentence1` and `sentence2`, or `group` and `text`
    texts: str = ""  # a file with a text a line


CORPORA = {
    "few titles": Corpus(300, labelled="stackoverflow"),
    "few intents": Corpus(300, labelled="snips"),
    "few captions": Corpus(300, pairs="pairs/captions_flickr8k.tsv.gz"),
    "news": Corpus(4000, labelled="agnews"),
    "commands": Corpus(4000, labelled="snips"),
    "flight questions": Corpus(3000, labelled="atis"),
    "movie reviews": Corpus(4000, labelled="mr"),
    "product reviews": Corpus(2000, labelled="cr"),
    "opinion phrases": Corpus(4000, labelled="mpqa"),
    "duplicate questions": Corpus(4000, pairs="pairs/quora_duplicates.tsv.gz"),
    "captions": Corpus(4000, pairs="pairs/captions_multi30k.tsv.gz"),
    "simplified sentences": Corpus(1500, pairs="pairs/wiki_simple.tsv.gz"),
    "paraphrased news": Corpus(1500, pairs="pairs/mrpc.tsv.gz"),
    "books": Corpus(4000, texts="corpus/books_en.txt.gz"),
    "encyclopedia": Corpus(4000, texts="corpus/wiki_en-04.txt.gz"),
} | {
    name: Corpus(4000, labelled=name)
    for name in ("stackoverflow", "searchsnippets", "biomedical", "banking77", "clinc150")
}  # fmt: skip


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Pairs of texts that say the same, in a mixed order that is always the same."""
    table = pl.read_csv(path.read_bytes(), separator="\t", quote_char=None, infer_schema=False)
    if "group" in table.columns:  # the first two texts of each group
        groups = table.group_by("group", maintain_order=True).agg(pl.col("text").head(2)).get_column("text")
        pairs = [(texts[0], texts[1]) for texts in groups.to_list() if len(texts) == 2]
    else:
        table = table.filter(pl.col("label") == "1") if "label" in table.columns else table
        table = table.unique("sentence1", keep="first", maintain_order=True)  # one partner each
        pairs = list(table.select("sentence1", "sentence2").iter_rows())
    return [pairs[place] for place in np.random.default_rng(0).permutation(len(pairs))]


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
        return gzip.decompress((data / corpus.texts).read_bytes()).decode().splitlines()[
            : corpus.rows
        ], general
    pairs = read_pairs(data / corpus.pairs)
    known = min(scored, len(pairs) - corpus.rows)
    return (
        [first for first, _ in pairs[known : known + corpus.rows]],
        lambda encode: {"own": own_partner(encode, pairs[:known])} | general(encode),
    )


def measure(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Adapt to one corpus; the line of its results, differences in points."""
    texts, score = prepare(CORPORA[name], options)
    run = adapt(name.replace(" ", "-"), texts, options, options.seed)
    verdict = read_verdict(run, options.encoder)
    before, after = (score(load_encoder(folder).encode) for folder in (options.encoder, str(run / "best")))
    line = {"model": options.model, "corpus": name, "rows": len(texts), "outcome": verdict.outcome}
    line |= {key: [verdict.scores[key][when] for when in ("before", "best")] for key in HALVES}
    return line | {"before": before, "gain": {key: after[key] - before[key] for key in before}}


def is_right(line: dict[str, Any]) -> bool:
    """Whether labels and known partners agree with the verdict of a run.

    "Better" is for topics and classes: one of the two scores by labels gains and neither loses half a point.
    What it says of the one text holds for known partners: "less often" is not half a point more, and so on.
    """
    gain = line["gain"]
    if line["outcome"] != "better":  # the start comes out
        return not any(gain.values())
    by_labels = [gain[key] for key in ("main", "purity_10") if key in gain]
    topics = not by_labels or (max(by_labels) > 0 and min(by_labels) > -LEAST)
    halves = {key: dict(zip(("before", "best"), line[key], strict=True)) for key in HALVES}
    said_less = "less often" in in_words(line["outcome"], halves)
    own = gain.get("own", 0.0)
    return topics and (own < LEAST if said_less else own > -LEAST)


def corpora_table(lines: list[dict[str, Any]]) -> str:
    """What adaptation gains on each corpus, in points, as Markdown."""
    rows = []
    for line in lines:
        halves = [100 * (line[key][1] - line[key][0]) for key in HALVES]
        said = [f"{one:+.1f}".replace("-", "−") for one in halves]
        gains = [_gain(line, key) for key in (*MEASURES, "stsb")]
        right = "yes" if is_right(line) else "**no**"
        rows.append(
            [line["model"], line["corpus"], f"{line['rows']:,}", line["outcome"], *said, *gains, right]
        )
    header = ["model", "corpus", "texts", "verdict", "by halves", "found by half", *MEASURES.values()]
    return markdown([*header, "STS-B test", "right"], rows, "llrlrrrrrrl")


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
        if not any((line["model"], line["corpus"]) == (options.model, name) for line in lines):
            add_line(results, lines, measure(name, options))
    print(corpora_table(lines))
    print(f"right: {sum(map(is_right, lines))} of {len(lines)}")


if __name__ == "__main__":
    main()
