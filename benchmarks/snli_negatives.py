"""How much of what people's contradictions teach do negatives made offline recover? On pairs of SNLI.

    make bed DATA=../shared/data
    python -m benchmarks.snli_negatives --data ../shared/data --work runs/snli --results runs/snli.jsonl

A premise and what it entails are the two views; with them come no negatives, people's contradiction of the
premise, or what is made of the entailed sentence: by a prefix, by one rule, by three, by UNA, or another one
that TF-IDF finds. Each draw is 2,560 of 5,437 pairs and another seed, trained from the bed for 80 steps of 32
with NT-Xent at one rate for all. Scored are STS-B's dev and test pairs, which choose nothing, and SICK's
training pairs. What is in `--results` is not made again; the file that is taken without it has the recorded
figures. Printed are JSON lines, then a table.
"""

import argparse
import random
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import polars as pl
from nltk.tokenize.treebank import TreebankWordDetokenizer

from augment_cli.encoding.loading import load_encoder
from benchmarks import add_line, letters, markdown, read_lines
from benchmarks.reproduce.table import gain, holm, student, verdict
from eval.contract import Encode
from eval.measures.geometry import correlation
from eval.protocols.sts import similarities, stsb
from eval.tasks import load_registry, pairs_of, read_table

RESULTS = Path(__file__).with_suffix(".jsonl")
DRAWS = range(1, 6)
ROWS = 2_560
SCORES = ("stsb", "sick")
SETTINGS = (
    "labels=kind", "positives=entailed", "pooling=mean", "batch=32", "learning_rate=2e-4", "clip=1.0",
    "precision=fp32", "threads=1", "evaluate_every=0",
)  # fmt: skip
# Each column of negatives of the entailed sentences: the stage that has them, and what makes it.
COMMANDS = {
    "by_negation": ("negation", "negation"),
    "by_antonym": ("antonym", "antonym"),
    "by_una": ("una-paper", "una --surface in-place --radius 4000 --name una-paper"),
    "by_una_pos": ("una-pos", "una --same pos --name una-pos"),
    "by_mining": ("mined-tfidf", "mine --range-max 20 --max-score 0.9"),
}
COLUMNS = ("by_people", "by_prefix", *COMMANDS)
WAYS = {
    "none": (),
    "people": ("by_people",),
    "*It is not true that* before it": ("by_prefix",),
    "negation": ("by_negation",),
    "negation, antonym, una --same pos": ("by_negation", "by_antonym", "by_una_pos"),
    "UNA as in the paper": ("by_una",),
    "mined by TF-IDF": ("by_mining",),
}


def pairs(data: Path) -> Iterator[tuple[str, str, str]]:
    """Premise, entailed sentence and contradiction, one of each premise, without what STS and SICK have."""
    scored: set[str] = set()
    for name in ("sts12", "sts13", "sts14", "sts15", "stsb", "sick"):
        table = pl.read_csv(data / f"sts/{name}.tsv.gz", separator="\t", quote_char=None)
        scored.update(map(letters, [*table["sentence1"], *table["sentence2"]]))
    of_premise: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    table = pl.read_csv(data / "nli/snli_dev_test.tsv.gz", separator="\t", quote_char=None)
    for premise, label, hypothesis in table.select("premise", "label", "hypothesis").iter_rows():
        of_premise[premise][label].append(hypothesis)
    seen: set[str] = set()
    for premise, said in of_premise.items():
        if said["entailment"] and said["contradiction"]:
            texts = premise, said["entailment"][0], said["contradiction"][0]
            start, entailed, other = map(letters, texts)
            if not {start, entailed, other} & scored and entailed not in seen and entailed != start:
                seen.add(entailed)
                yield texts


def detokenized(text: str) -> str:
    return re.sub(r" ([.,!?;:])", r"\1", TreebankWordDetokenizer().detokenize(text.split()))


def table_of(data: Path, work: Path) -> pl.DataFrame:
    """All pairs with all negatives, a column each; no text where a way makes none."""
    file, store = work / "pairs.csv", work / "all"
    columns = zip(*(map(detokenized, texts) for texts in pairs(data)), strict=True)
    table = pl.DataFrame(dict(zip(("premise", "entailed", "by_people"), map(list, columns), strict=True)))
    table.write_csv(file)
    denied = [f"It is not true that {text[0].lower()}{text[1:]}" for text in table["entailed"]]
    table = table.with_columns(pl.Series("by_prefix", denied))
    call("ingest", "--corpus", str(file), "--text-column", "entailed", "--store", str(store))
    for column, (name, command) in COMMANDS.items():
        call(*command.split(), "--store", str(store))
        stage = pl.read_parquet(store / name / "*.parquet").sort("row_id")
        assert len(stage) == len(table)
        table = table.with_columns(
            stage.select(pl.when(pl.col("reason").is_null()).then("text").alias(column))
        )
    return table


def call(*words: str) -> None:
    program = ["augment_cli", *words] if words[0] != "train" else list(words)
    subprocess.run([sys.executable, "-m", *program], check=True, stdout=sys.stderr)


def train(store: Path, encoder: Path, out: Path, seed: int, negatives: Sequence[str]) -> Path:
    changes = [*SETTINGS, f"seed={seed}", *([f"negatives={','.join(negatives)}"] if negatives else [])]
    words = ["--store", store, "--encoder", encoder, "--out", out]
    words += [word for change in changes for word in ("--set", change)]
    call("train", "simcse-ntxent", *map(str, words))
    return out / "best"


def scores(encode: Encode, data: Path) -> dict[str, float]:
    sick = pairs_of(read_table(load_registry()["sickr-train"], data))
    return {
        "stsb": round(100 * mean(stsb(encode, data, split).spearman for split in ("dev", "test")), 2),
        "sick": round(100 * correlation(similarities(encode, sick), sick.gold)[0], 2),
    }


def gains(lines: Sequence[dict[str, Any]], way: str, score: str) -> list[float]:
    """What a way scores more than no negatives, in each draw that has both."""
    own, none = (
        {line["draw"]: line[score] for line in lines if line["negatives"] == name} for name in (way, "none")
    )
    return [own[draw] - none[draw] for draw in sorted(own.keys() & none.keys())]


def difference_rows(lines: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Each way, its gains in STS-B and SICK with Student's interval, and Holm's verdicts of them."""
    found = {(way, score): gains(lines, way, score) for way in WAYS for score in SCORES if way != "none"}
    found = {key: values for key, values in found.items() if len(values) > 1}
    adjusted = dict(zip(found, holm([student(values)[2] for values in found.values()]), strict=True))
    rows: dict[str, list[str]] = {}
    for (way, score), values in found.items():
        rows.setdefault(way, [way]).extend([gain(values), verdict(values, adjusted[way, score])])
    return [*rows.values()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument(
        "--encoder", type=Path, default=Path("runs/bed/encoder"), help="where trainings start"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="file of JSON lines to add to")
    parser.add_argument("--draws", type=int, nargs="+", default=list(DRAWS))
    options = parser.parse_args()
    lines = read_lines(options.results)
    known = {(line["draw"], line["negatives"]) for line in lines}
    missing = [(draw, way) for draw in options.draws for way in WAYS if (draw, way) not in known]
    if missing:
        options.work.mkdir(parents=True, exist_ok=True)
        table = table_of(options.data, options.work)
    for draw, way in missing:
        seed = 700 + draw
        file, store = options.work / f"draw-{draw}.csv", options.work / f"draw-{draw}"
        if not store.is_dir():
            table[sorted(random.Random(seed).sample(range(len(table)), ROWS))].write_csv(file)
            columns = [word for column in COLUMNS for word in ("--negative-column", column)]
            words = ["--text-column", "premise", "--positive-column", "entailed", *columns]
            call("ingest", "--corpus", str(file), *words, "--max-rejects", "1", "--store", str(store))
        out = options.work / f"draw-{draw}-{list(WAYS).index(way)}"
        encoder = load_encoder(train(store, options.encoder, out, seed, WAYS[way]))
        add_line(
            options.results, lines, {"draw": draw, "negatives": way} | scores(encoder.encode, options.data)
        )
    print(markdown(["negatives", "STS-B", "", "SICK", ""], difference_rows(lines), "lrlrl"))


if __name__ == "__main__":
    main()
