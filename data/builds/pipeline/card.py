"""The model card of the shipped pipeline, filled with what was measured."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

REQUIRED = {"UPOS": (95.0, 95.5), "UAS": (86.5, 87.5), "LAS": (83.0, 84.0)}  # at least, aimed at
LEMMA = 95.0

CARD = """---
library_name: spacy
language: en
license: cc-by-sa-4.0
tags:
- spacy
- token-classification
- dependency-parsing
---

# A compact English pipeline

spaCy 3.8: `tok2vec`, `tagger` (Penn Treebank tags), `morphologizer` (Universal tags and features),
`trainable_lemmatizer`, `parser` (Universal Dependencies labels, sentence starts). {size:.1f} MB. It parses
sentences for the rules of this package on a machine without a model hub; any installed or local pipeline can
take its place (`--pipeline en_core_web_sm`).

## How it was made

`make pipeline DATA=folder` makes everything below; the steps are modules of `data/builds/pipeline/`.

1. **Gold trees**: UD English EWT, train part only (12,544 sentences, 204,577 words), with the raw text
   restored. EWT dev chose among checkpoints; GUM served only to measure.
2. **Vectors**: floret, 18,000 hashed rows of 64, learned from 500,000 Wikipedia and 150,000 book sentences.
3. **Teacher** (not shipped): all-MiniLM-L6-v2 with biaffine and linear heads, fine-tuned on the gold trees.
4. **Silver trees**: the teacher's parses of Wikipedia and book sentences, as far as they are trees: {silver}.
5. **Student** (this pipeline): hash embeddings, vectors and four convolutional layers of width 96, trained on
   gold and silver trees together, each gold tree five times as often. The lemmatizer's last layer is then
   trained again, to choose among the 1,000 commonest edit trees of gold and silver.
{note}
The tokenizer is spaCy's English one with rules changed towards the treebank's (prefixes such as "non-" stay
with their word, "?!" and "----" are one token).

## Scores

In percent, by spaCy's scorer, one sentence per document, UAS and LAS without punctuation. *Gold words*: the
pipeline is given the treebank's words. *Raw text*: it divides the text itself; a word divided differently
counts as wrong in UAS and LAS and is left out of the others.

| | UPOS | XPOS | features | lemma | UAS | LAS | tokens F |
|---|---|---|---|---|---|---|---|
{scores}

The teacher, with gold words:

| | UPOS | XPOS | features | lemma | UAS | LAS |
|---|---|---|---|---|---|---|
{teacher}

Against this project's requirements, on EWT dev:

| | required | aimed at | gold words | raw text |
|---|---|---|---|---|
{required}

Speed, in words per second of processor time on one core of the (shared) machine it was made on: {speed}.

## Weaknesses

- Trained on American web text and English Wikipedia. GUM divides and labels some words differently from
  EWT, so the scores there mix real errors with differences of annotation.
- The labels it gets right least often (F score on EWT dev, raw text, labels that occur there 100 times or
  more): {weakest}.
- The features of rare words, and the lemmas of irregular verbs it has never seen, are guessed from the word's
  ending.
- Text in capitals: "DIDN'T" is not divided, and lemmas come out in mixed case ("HE" is "hE").
- It works best on one sentence per document; it divides longer texts into sentences, but was not tuned for
  that.

## Licence

CC BY-SA 4.0, see LICENSE in this folder. Attribution: Universal Dependencies English Web Treebank (Silveira
et al. 2014, and the UD contributors, CC BY-SA 4.0); Wikipedia contributors (CC BY-SA); the books are in the
public domain. The teacher started from all-MiniLM-L6-v2 (Apache-2.0); none of its weights are here.
"""


def row(name: str, values: dict[str, float], columns: tuple[str, ...]) -> str:
    """Return one row of a table."""
    return f"| {name} | " + " | ".join(f"{values[column]:.2f}" for column in columns) + " |"


def write_card(folder: Path, results: dict[str, Any], note: str) -> None:
    """Write README.md from the results of `command.measure`."""
    columns = ("UPOS", "XPOS", "morph", "lemma", "UAS", "LAS")
    scores, teacher = [], []
    for name, values in results["scores"].items():
        for way in ("gold words", "raw text"):
            scores.append(row(f"{name}, {way}", values[way], (*columns, "tokens")))
        teacher.append(row(name, results["teacher"][name], columns))
    dev = results["scores"]["EWT dev"]
    required = [
        f"| {name} | {least} | {aim} | {dev['gold words'][name]:.2f} | {dev['raw text'][name]:.2f} |"
        for name, (least, aim) in REQUIRED.items()
    ]
    lemma = [f"{dev[way]['lemma']:.2f}" for way in ("gold words", "raw text")]
    required.append(f"| lemma | {LEMMA} | | {lemma[0]} | {lemma[1]} |")
    required.append(f"| size | 12 MB | | {results['size'] / 1e6:.1f} MB | |")
    speed = ", ".join(f"{round(value, -2):,.0f} on {name}" for name, value in results["speed"].items())
    weakest = ", ".join(f"`{label}` {value:.0f}" for label, value in results["weakest"])
    card = CARD.format(
        size=results["size"] / 1e6,
        scores="\n".join(scores),
        teacher="\n".join(teacher),
        silver=f"{results['silver']:,}",
        required="\n".join(required),
        speed=speed,
        weakest=weakest,
        note=f"\n{textwrap.fill(note, 108)}\n" if note else "",
    )
    (folder / "README.md").write_text(card, encoding="utf-8")
