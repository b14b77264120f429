"""How results show themselves in a notebook: rows with the changed words marked, a store's stages, a page."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from markupsafe import Markup, escape

from augment_cli.pages.layout import line, marked
from augment_cli.process.reporter import framed
from augment_cli.reports.report import status
from augment_cli.store.store import Store

_MOST_ROWS = 50
_MOST_CHARACTERS = 320  # of a text
# Read on a white ground and on a black one.
_WENT, _CAME = '<del style="color:#a8071a">', '<ins style="color:#14632b;font-weight:600">'
_LEFT_OUT = {"edits", "fingerprint", "parameters"}  # long, and nothing to look at
_IS_LEFT = ' style="text-align:left"'


class Records(list[dict[str, Any]]):
    """Rows as dicts, a list as any other, and a table in a notebook."""

    def _repr_html_(self) -> str:
        return table_html(self)


class Page(dict[str, Any]):
    """What is known of a page that was written; a notebook shows the page itself."""

    def _repr_html_(self) -> str:
        return framed(Path(self["path"]))


def table_html(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as a table; of a row with an original the text has what changed marked."""
    shown = [_cells(row) for row in rows[:_MOST_ROWS]]
    said = [
        name
        for row in rows[:_MOST_ROWS]
        for name, value in row.items()
        if value not in (None, [], (), {}, "")
    ]
    names = [name for name in dict.fromkeys(said) if name not in _LEFT_OUT]
    head = "".join(f"<th{_IS_LEFT}>{escape(name)}</th>" for name in names)
    cells = ("".join(f"<td{_IS_LEFT}>{row.get(name, '')}</td>" for name in names) for row in shown)
    more = f"<p>{len(rows) - _MOST_ROWS:,} more rows</p>" if len(rows) > _MOST_ROWS else ""
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{some}</tr>' for some in cells)}</table>{more}"


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    cells = {name: _shown(value) for name, value in row.items()}
    if isinstance(original := row.get("original"), str) and isinstance(text := row.get("text"), str):
        texts = marked(original, text, row.get("edits") or (), _MOST_CHARACTERS)
        cells["original"], cells["text"] = (
            Markup(one.replace("<del>", _WENT).replace("<ins>", _CAME)) for one in map(str, texts)
        )
    return cells


def _shown(value: Any) -> Any:
    if value is None:
        return "–"
    return escape(line(f"{value:.4g}" if isinstance(value, float) else value, 2 * _MOST_CHARACTERS))


def store_html(store: Store) -> str:
    """A store's stages, and how much of each is there."""
    names = ("stage", "rows", "changed", "complete")
    stages = [{name: one[name] for name in names} for one in status(store)]
    return f"<p>Store <b>{escape(str(store.path))}</b>: {store.rows:,} rows</p>{table_html(stages)}"


def show_augmented_tables() -> None:
    """Within IPython, show Arrow tables that hold an original and its text with what changed marked."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is not None:
        formatter = shell.display_formatter.formatters["text/html"]
        formatter.for_type(pa.Table, _augmented_html)


def _augmented_html(table: pa.Table) -> str | None:
    if not {"original", "text", "edits"} <= set(table.column_names):
        return None  # Arrow's own view
    few = table.slice(0, _MOST_ROWS).to_pylist()
    return table_html([*few, *([{}] * (table.num_rows - len(few)))])
