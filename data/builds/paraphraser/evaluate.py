"""Measure the shipped paraphraser and write its card.

    python -m data.builds.paraphraser.evaluate --model FOLDER --data DATA --wordnet FOLDER [--count 250]

Beams and length are those of the folder's generation_config.json; nothing is drawn except the baseline, whose
seed is fixed. MRPC, PAN and Quora only measure, as does all-MiniLM-L6-v2.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import random
import re
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from augment_cli.english.rephrasing.lexicon import entries
from data.builds.paraphraser import baseline, corpus, parses, wordnet
from data.builds.paraphraser.train import SETTINGS
from data.builds.paraphraser.vocabulary import sample_lines

SEED = 46
CHANCES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8)  # of the baseline, to meet the model's change
HERE = Path(__file__).parent
Row = tuple[str, str | None]


def held_out(data: Path, count: int) -> list[Row]:
    """Corpus sentences that no phase of training could have seen."""
    files = [*sorted(data.glob("corpus/wiki_en-*.txt.gz")), data / "corpus/books_en.txt.gz"]
    seen = set(sample_lines(files, corpus.COUNT, corpus.SEED)) | set(
        sample_lines(files, parses.COUNT, parses.SEED)
    )
    unseen = [line for line in sample_lines(files, 10**9) if line not in seen and 30 <= len(line) <= 200]
    return [(line, None) for line in random.Random(SEED).sample(unseen, count)]


def pairs(path: Path, count: int, split: str, label: str | None) -> list[Row]:
    """(sentence, reference) of a pair set's split, with the label of a paraphrase."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as stream:
        rows = [
            (row["sentence1"], row["sentence2"])
            for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
            if row["split"] == split and (label is None or row["label"] == label)
        ]
    return random.Random(SEED).sample(rows, min(count, len(rows)))


def generate(texts: list[str], folder: Path, batch: int = 16) -> list[str]:
    """One output a text, in order; like lengths run together."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    outputs = [""] * len(texts)
    with torch.inference_mode():
        for first in range(0, len(order), batch):
            rows = order[first : first + batch]
            encoded = tokenizer([texts[i] for i in rows], return_tensors="pt", padding=True, truncation=True)
            for i, text in zip(
                rows, tokenizer.batch_decode(model.generate(**encoded), skip_special_tokens=True), strict=True
            ):
                outputs[i] = text
    return outputs


def same(left: str, right: str) -> bool:
    """Whether two texts differ in nothing but case, spaces and punctuation."""
    return re.sub(r"[\W_]+", "", left.lower()) == re.sub(r"[\W_]+", "", right.lower())


def change_of(sources: list[str], outputs: list[str]) -> float:
    """1 - self-BLEU / 100 of outputs against their sources."""
    from sacrebleu import corpus_bleu

    return 1 - corpus_bleu(outputs, [sources]).score / 100


def measure(rows: list[Row], outputs: list[str], encode: Any) -> dict[str, float]:
    """Copy rate, change, mean cosine, and BLEU and chrF where there are references."""
    from sacrebleu import corpus_bleu, corpus_chrf

    sources = [source for source, _ in rows]
    cosines = np.sum(encode(sources) * encode(outputs), axis=1)
    found = {
        "copied": float(np.mean([same(a, b) for a, b in zip(sources, outputs, strict=True)])),
        "change": change_of(sources, outputs),
        "cosine": float(cosines.mean()),
        "cosine below 0.8": float((cosines < 0.8).mean()),
    }
    references = [reference for _, reference in rows if reference is not None]
    if references:
        found |= {
            "BLEU": corpus_bleu(outputs, [references]).score,
            "chrF": corpus_chrf(outputs, [references]).score,
            "BLEU of the input": corpus_bleu(sources, [references]).score,
            "chrF of the input": corpus_chrf(sources, [references]).score,
        }
    return found


def match(sources: list[str], change: float, known: wordnet.WordNet, encode: Any) -> tuple[float, float]:
    """Cosine of random synonym replacement where it changes as much, and the chance that does so."""
    points = [(0.0, 0.0, 1.0)]
    for chance in CHANCES:
        draw = random.Random(SEED)
        outputs = [baseline.replace_words(text, chance, known, draw) for text in sources]
        cosine = float(np.sum(encode(sources) * encode(outputs), axis=1).mean())
        points.append((change_of(sources, outputs), chance, cosine))
        if points[-1][0] > change:
            break
    changes, chances, cosines = zip(*points, strict=True)
    return float(np.interp(change, changes, cosines)), float(np.interp(change, changes, chances))


def table(results: dict[str, dict[str, float]]) -> str:
    """The card's table."""
    lines = [
        "| | rows | copied | change | cosine | random synonyms at that change: cosine | BLEU (input's) "
        "| chrF (input's) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, r in results.items():
        scores = (
            f"{r['BLEU']:.1f} ({r['BLEU of the input']:.1f}) | {r['chrF']:.1f} ({r['chrF of the input']:.1f})"
            if "BLEU" in r
            else "– | –"
        )
        lines.append(
            f"| {name} | {r['rows']:.0f} | {r['copied']:.0%} | {r['change']:.3f} | {r['cosine']:.3f} | "
            f"{r['baseline']:.3f} | {scores} |"
        )
    return "\n".join(lines)


def examples(folder: Path) -> str:
    """Outputs for the sentences written for the card."""
    sentences = (HERE / "examples.txt").read_text(encoding="utf-8").splitlines()
    outputs = generate(sentences, folder)
    return "\n".join(f"| {a} | {b} |" for a, b in zip(sentences, outputs, strict=True))


def evaluate(
    sets: dict[str, list[Row]], folder: Path, known: wordnet.WordNet, encode: Any
) -> tuple[dict[str, dict[str, float]], dict[str, list[str]]]:
    """Results and outputs of each set."""
    results, outputs = {}, {}
    for name, rows in sets.items():
        began = time.monotonic()
        sources = [source for source, _ in rows]
        outputs[name] = generate(sources, folder)
        results[name] = {"rows": len(rows), **measure(rows, outputs[name], encode)}
        results[name]["baseline"], results[name]["chance"] = match(
            sources, results[name]["change"], known, encode
        )
        print(f"{name}: {results[name]} ({time.monotonic() - began:.0f} s)", flush=True)
    return results, outputs


def fill(scores: str, lines: str, count: int) -> str:
    """The card, with the build's numbers and what a reader of 50 outputs noted there."""
    settings = tomllib.loads(SETTINGS.read_text(encoding="utf-8"))
    notes = settings["card"]
    label = (
        "**It is a demonstration model**: it shows that the command works on a machine without a hub."
        if notes["demonstration"]
        else "It makes the quickstart paraphrase on a machine without a hub."
    )
    values = {
        "demonstration": label,
        "pretrain": f"{settings['pretrain']['steps']:,}",
        "fine-tune": f"{settings['fine-tune']['steps']:,}",
        "phrases": str(len(entries())),
        "count": str(count),
        "length": str(settings["fine-tune"]["max_length"]),
        "table": scores,
        "reading": notes["reading"].strip(),
        "examples": lines,
    }
    card = (HERE / "card.md").read_text(encoding="utf-8")
    for name, value in values.items():  # not `str.format`: the card holds outputs
        card = card.replace("{" + name + "}", value)
    return card


def main() -> None:
    """Read the command line, measure, write the card, and the outputs to read."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, default=Path("augment_cli/models/paraphraser"))
    parser.add_argument("--data", type=Path, required=True, help="data folder")
    parser.add_argument("--wordnet", type=Path, required=True, help="folder of WordNet 3.0's database files")
    parser.add_argument("--count", type=int, default=250, help="rows of each set")
    parser.add_argument(
        "--outputs", type=Path, help="file for all inputs and outputs (not for the repository)"
    )
    args = parser.parse_args()
    torch.set_num_threads(1)
    from data.builds.paraphraser.minilm import encoder

    sets = {
        "Wikipedia and books, unseen": held_out(args.data, args.count),
        "MRPC": pairs(args.data / "pairs/mrpc.tsv.gz", args.count, "test", "1"),
        "PAN": pairs(args.data / "pairs/pan.tsv.gz", args.count, "test", "1"),
        "Quora": pairs(args.data / "pairs/quora_duplicates.tsv.gz", args.count, "test", None),
    }
    results, outputs = evaluate(sets, args.model, wordnet.load(args.wordnet), encoder())
    if args.outputs:
        content = {
            name: [[s, r, o] for (s, r), o in zip(sets[name], outputs[name], strict=True)] for name in sets
        }
        args.outputs.write_text(
            json.dumps({"results": results, "outputs": content}, indent=1), encoding="utf-8"
        )
    card = fill(table(results), examples(args.model), args.count)
    (args.model / "README.md").write_text(card, encoding="utf-8")
    print(table(results))


if __name__ == "__main__":
    main()
