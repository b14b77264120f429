"""Whether results can be written, seen before anything is loaded."""

from __future__ import annotations

from pathlib import Path

from augment_cli.store.targets import check_output_folder

_FILES = ("table.md", "table.csv", "scores.png")  # what an evaluation writes beside the models' folders


def check_results(out: Path, cache: Path | None) -> None:
    """See that results can be written to a folder, with the errors of `check_output_folder`."""
    check_output_folder(out, "--out", files=_FILES)
    if cache is not None:
        check_output_folder(cache, "--cache")
