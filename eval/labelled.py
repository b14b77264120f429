"""Two encoders on one's own labelled texts, for Python: what `--labelled` does on the command line."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval.contract import Encode, Options, Progress
from eval.results import ModelResults, read_results, write_encoder, write_result
from eval.results.compare import compare
from eval.runner import score_task
from eval.tasks import Table
from eval.tasks.labelled import read_labelled


def compare_on_labels(
    encoders: Mapping[str, Encode], file: Path, text_column: str, label_column: str
) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows `measure`, the score of each of two encoders, the difference and its interval; what was left out.

    All numbers but `p` are in percent: the second encoder minus the first.
    """
    tables, left_out = read_labelled(file, text_column, label_column)
    titles = {table.task.name: table.task.title.partition(", ")[2] for table in tables}
    with tempfile.TemporaryDirectory() as folder:
        before, after = (
            _scored(label, encode, tables, Path(folder) / str(number))
            for number, (label, encode) in enumerate(encoders.items())
        )
        found = compare(after, before)
    rows = []
    for one in found:
        name, _, shots = one.statistic.partition("_")
        numbers = (one.second, one.first, one.difference, one.low, one.high)
        values = dict(zip([*encoders, "difference", "low", "high"], (100 * x for x in numbers), strict=True))
        kind = f", {shots} a class" if name == "accuracy" and shots else ""
        rows.append({"measure": titles[one.task] + kind, **values, "p": one.p})
    return rows, left_out


def _scored(label: str, encode: Encode, tables: list[Table], folder: Path) -> ModelResults:
    write_encoder(folder, label, {"digest": label, "pooling": "", "max_length": None, "precision": "fp32"})
    for table in tables:
        write_result(folder, table, score_task(table, encode, Options(), Progress()), 0.0)
    return read_results(folder)
