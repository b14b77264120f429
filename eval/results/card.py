"""The scores of an encoder before and after training, written into its model card."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

import yaml
from huggingface_hub import EvalResult, ModelCard, ModelCardData

from augment_cli.errors import BadInputError, MissingError
from augment_cli.store.files import read_small_text
from eval.results.compare import Comparison
from eval.results.files import write_file

BEGIN, END = "<!-- python -m eval card -->", "<!-- end of python -m eval card -->"
HEADING = "## Scores before and after"


def section(comparisons: Sequence[Comparison], before: str, after: str) -> str:
    """The card's section: a row for each task, in points, with the 95 % interval of the difference."""
    lines = [
        BEGIN,
        HEADING,
        "",
        f"Before: {before}. After: {after}. In points; 95 %: of the difference, where it is known.",
        "",
        "| task | what | before | after | difference | 95 % | p |",
        "|---|---|---:|---:|---:|---|---:|",
    ]
    for one in comparisons:
        task, what, second, first, _, interval, p = one.in_points("–", "–")
        cells = (task, what, first, second, f"{100 * one.difference:+.2f}", interval, p)
        lines.append(
            "| " + " | ".join(escape(cell, quote=False).replace("|", "\\|") for cell in cells) + " |"
        )
    return "\n".join([*lines, END])


def write_section(model: Path, text: str, comparisons: Sequence[Comparison]) -> Path:
    """Put the section into a model's README.md, in an earlier one's place, and the scores into its header."""
    path = model / "README.md"
    if not path.is_file():
        raise MissingError(f"{path}: no model card there; name the folder of an encoder that has one")
    card = read_small_text(path)
    if BEGIN in card:
        before, _, rest = card.partition(BEGIN)
        _, end, after = rest.partition(END)
        if not end:
            raise BadInputError(f"{path}: the section of scores has no end ({END}); mend it by hand")
        card = before + text + after
    else:
        card = f"{card.rstrip()}\n\n{text}\n"
    write_file(path, _with_results(path, card, comparisons).encode())
    return path


def _with_results(path: Path, card: str, comparisons: Sequence[Comparison]) -> str:
    """The card with the scores after training in its header, if it has one, where hubs read them."""
    if not card.startswith("---\n"):
        return card
    try:
        read = ModelCard(card, ignore_metadata_errors=True)
    except (ValueError, yaml.YAMLError):
        raise BadInputError(f"{path}: its header is not YAML; mend it by hand") from None
    assert isinstance(read.data, ModelCardData)
    found = [
        EvalResult("sentence-similarity", one.task, one.task, one.statistic, round(one.first, 4))
        for one in comparisons
    ]
    others = [
        one
        for one in read.data.eval_results or []
        if one.dataset_type not in {new.dataset_type for new in found}
    ]
    read.data.model_name, read.data.eval_results = read.data.model_name or path.parent.name, others + found
    return f"---\n{read.data.to_yaml()}\n---\n{read.text}"
