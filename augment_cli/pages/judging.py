"""A page to judge changed rows on, of several stages in random order; it does not say whose a row is."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from augment_cli.augmentations.labels import entailment_of_stage, label_of
from augment_cli.pages import layout
from augment_cli.pages.layout import marked
from augment_cli.reports import verdicts
from augment_cli.reports.choosing import Choice, choose_rows
from augment_cli.reports.verdicts import Judgement
from augment_cli.store.files import write_atomically
from augment_cli.store.store import Store

TITLE = "Rows to judge"
_ASKED = {
    "same": "should say the same",
    "other": "should say something else",
    "neither": "neither positive nor negative",
}


def write_judging(store: Store, out: Path, judgements: Sequence[Judgement], seed: int = 0) -> None:
    """Write a page on which rows can be judged."""
    layout.check_place(out, store.path, TITLE)
    text = render(store, judgements, saved_as(out), seed)
    write_atomically(out, text.encode(), out.absolute().parent)


def saved_as(page: Path) -> str:
    """The name of the file that a page's button saves."""
    return f"{page.stem}.judged.jsonl"


def render(store: Store, judgements: Sequence[Judgement], file: str, seed: int) -> str:
    """The page's text."""
    order = np.random.default_rng(seed).permutation(len(judgements)).tolist()
    stages = dict.fromkeys(one.stage for one in judgements)
    labels = {stage: label_of(store, stage) for stage in stages}
    asked = {stage: asked_of(store, stage) for stage in stages}
    whole = {}
    for stage in stages:
        ids = tuple(one.row_id for one in judgements if one.stage == stage)
        chosen = choose_rows(store, stage, len(ids), choice=Choice(rows=ids))
        whole[stage] = {row["row_id"]: row for row in chosen}
    rows = []
    for one in map(judgements.__getitem__, order):
        row = whole[one.stage][one.row_id]
        own = row.get("label")  # of a stage whose rows have labels of their own
        label, question = (own, _ASKED[own]) if own else (labels[one.stage], asked[one.stage])
        before, after = marked(row["original"], row["text"], row.get("edits") or ())
        rules = row.get("rules") or [row.get("rule")]
        origin = [one.stage, "rule " + " + ".join(rules) if rules[0] else "", f"row {one.row_id}"]
        # In ASCII, so that no mark of a text turns the page's own source around.
        shown = {"line": json.dumps(msgspec.to_builtins(one)), "label": label, "asked": question}
        rows.append(shown | {"before": before, "after": after, "origin": ", ".join(filter(None, origin))})
    judged = {row["label"] for row in rows}
    digest = hashlib.sha256("\n".join(row["line"] for row in rows).encode()).hexdigest()
    values = {
        "rows": rows,
        "file": file,
        "key": f"augment-cli judge {digest[:12]}",
        "asked": _ASKED,
        "meanings": {label: meaning for label, meaning in verdicts.MEANINGS.items() if label in judged},
        "verdicts": verdicts.VERDICTS,
    }
    script = layout.template("reading.js") + layout.template("judge.js")
    return layout.render(layout.template("judge.html"), TITLE, values, script=script)


def asked_of(store: Store, stage: str) -> str:
    """What is asked of a stage's texts: of those with neither label, what they are to their originals."""
    label = label_of(store, stage)
    entailment = entailment_of_stage(store.stage(stage).settings)
    if label == "neither" and entailment is not None:
        return f"{_ASKED[label]}: {entailment.reason}"
    return _ASKED[label]
