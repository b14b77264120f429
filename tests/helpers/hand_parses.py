"""Parses made by hand, in either label scheme, and parses made up at random: rows of the `parses` stage."""

import random
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.contract.rows import Rows
from augment_cli.languages import languages_of
from augment_cli.store.parquet import PARSES
from augment_cli.syntax.parses import ParseRows
from augment_cli.syntax.tree import words
from augment_cli.text.spans import CodePoints

SENTENCES: dict[str, dict[str, str]] = tomllib.loads(
    (Path(__file__).parent / "sentences.toml").read_text("utf-8")
)
SCHEMES = ("clear", "universal")
SPACE = "␣"  # stands for the token that spaCy makes of a second space

_PAIRS = (
    "VB:VERB MD:AUX NNP:PROPN NN:NOUN PRP:PRON WP:PRON EX:PRON JJ:ADJ RB:ADV WRB:ADV DT:DET CD:NUM TO:PART"
)
_POS = dict(pair.split(":") for pair in f"{_PAIRS} CC:CCONJ IN:ADP RP:ADP".split())
_BE = words("am is are was were be been being 's 're 'm")


def _pos_of(form: str, tag: str, label: str) -> str:
    if form.isspace():
        return "SPACE"
    if not any(map(str.isalnum, form)):
        return "PUNCT"
    if label.startswith(("aux", "cop")) and tag != "TO":
        return "AUX"
    if tag.startswith("VB") and form.lower() in _BE:
        return "AUX"
    matching = [prefix for prefix in _POS if tag.startswith(prefix)]
    return _POS[max(matching, key=len)] if matching else "X"


def row_of(text: str, parse: str, scheme: str) -> dict[str, Any]:
    """One row of the `parses` stage from a text and the lines of `sentences.toml`.

    A blank line stands between two sentences of a text; heads are counted through.
    """
    sentences = [[line.split() for line in lines.splitlines()] for lines in parse.strip().split("\n\n")]
    lines = [line for sentence in sentences for line in sentence]
    begins = {sum(map(len, sentences[:place])) for place in range(len(sentences))}
    row: dict[str, Any] = {name: [] for name in PARSES.names[1:]}
    place = 0
    for index, (form, tag, clear_label, clear_head, label, head, *lemma) in enumerate(lines):
        if scheme == "clear":
            label, head = clear_label, clear_head
        start = place + 1 if form == SPACE else text.index(form, place)
        form = " " if form == SPACE else form
        place = start + len(form)
        row["starts"].append(start)
        row["ends"].append(place)
        row["whitespace"].append(text[place : place + 1].isspace())
        row["lemmas"].append(lemma[0] if lemma else form.lower())
        row["pos"].append(_pos_of(form, tag, label))
        row["tags"].append(tag)
        row["morphs"].append("")
        row["deps"].append("ROOT" if head == "0" else label)
        row["heads"].append(int(head) - 1 if head != "0" else index)
        row["sentence_starts"].append(index in begins)
    return row


def sentence(name: str, scheme: str) -> tuple[str, dict[str, Any]]:
    entry = SENTENCES[name]
    return entry["text"], row_of(entry["text"], entry["parse"], scheme)


def parse_rows(texts: Sequence[str], rows: Sequence[dict[str, Any]]) -> ParseRows:
    """Rows as the arrays that rules read, by way of the stage's own table."""
    table = pa.Table.from_pylist([{"row_id": index, **row} for index, row in enumerate(rows)], schema=PARSES)
    return ParseRows.from_table(
        table, CodePoints.of(pa.array(texts, pa.string())), languages_of("en_by_hand")
    )


def parsed_rows(
    texts: Sequence[str], rows: Sequence[dict[str, Any]], row_ids: np.ndarray | None = None
) -> Rows:
    column = pa.array(texts, pa.string())
    ids = np.arange(len(texts)) if row_ids is None else row_ids
    return Rows(ids, column, CodePoints.of(column), parses=parse_rows(texts, rows))


_LABELS = {
    "clear": "nsubj nsubjpass aux auxpass neg advcl relcl ccomp xcomp acl punct attr prep pobj conj mark "
    "expl dobj",
    "universal": "nsubj nsubj:pass aux aux:pass cop advcl acl:relcl ccomp xcomp punct obl case conj mark "
    "expl csubj nsubj:outer advmod obj obl",
}
_TAGS = "NN NNS NNP VBD VBZ VBP VB VBN VBG MD TO JJ RB IN DT PRP"
_ENDINGS = {
    "ed": "VBD VBN",
    "is": "VBZ",
    "was": "VBD",
    "were": "VBD",
    "are": "VBP",
    "ould": "MD",
    "s": "NNS VBZ",
}
_MORPHOLOGY = ["", "", "", "Number=Sing", "Number=Plur", "Polarity=Neg", "Mood=Ind|Tense=Past|VerbForm=Fin"]


def made_up_row(text: str, seed: int = 0, scheme: str | None = None, tree: bool = False) -> dict[str, Any]:
    """Words and marks of a text with tags, labels and heads out of a hat: a function of its arguments.

    The heads form a forest; without `tree`, in one text of ten, anything at all.
    """
    generator = random.Random(f"{seed} {text}")
    spans = [match.span() for match in re.finditer(r"n't|'\w+|\w+?(?=n't)|\w+|[^\w\s]|(?<=\s)\s+", text)]
    labels = _LABELS[scheme or generator.choice(SCHEMES)].split()
    row: dict[str, Any] = {name: [] for name in PARSES.names[1:]}
    for index, (start, end) in enumerate(spans):
        form = text[start:end]
        likely = [tags for ending, tags in _ENDINGS.items() if form.lower().endswith(ending)]
        tags = likely[0] if likely and generator.random() < 0.7 else _TAGS
        tag = generator.choice(tags.split()) if any(map(str.isalnum, form)) else "."
        label = generator.choice(labels) if any(map(str.isalnum, form)) else "punct"
        head = generator.randrange(len(spans))
        row["starts"].append(start)
        row["ends"].append(end)
        row["whitespace"].append(text[end : end + 1].isspace())
        row["lemmas"].append(form.lower())
        row["pos"].append(
            _pos_of(form, tag, label) if generator.random() < 0.7 else generator.choice(["VERB", "NOUN", "X"])
        )
        row["tags"].append(tag)
        row["morphs"].append(generator.choice(_MORPHOLOGY))
        row["deps"].append(label)
        row["heads"].append(head)
        after_mark = index > 0 and text[spans[index - 1][0]] in ".!?"
        row["sentence_starts"].append(index == 0 or after_mark or generator.random() < 0.05)
    if tree or generator.random() < 0.9:
        order = generator.sample(range(len(spans)), len(spans))
        order.sort(key=lambda index: row["tags"][index] not in {"VBD", "VBZ", "VBP"})  # a verb for the root
        flat = generator.random()  # how many hang on the root itself
        for place, index in enumerate(order):  # heads come earlier in a random order: no circles
            on_root = not place or generator.random() < flat
            row["heads"][index] = order[0] if on_root else order[generator.randrange(place)]
    for index, head in enumerate(row["heads"]):
        if head == index:
            row["deps"][index] = "ROOT"
    return row
