"""A copy of a model's folder, its files as they are."""

from __future__ import annotations

import shutil
from pathlib import Path

from augment_cli.models.digest import module_folders
from augment_cli.store.files import replace_folder


def copy_model(source: Path, folder: Path) -> None:
    """Copy a model's files, byte for byte: those in its folder, and in the folders of its modules."""
    # Nothing else that lies in the source is copied, as the target may be within it. A model in the target
    # is replaced as a whole or not at all.
    work = folder.with_name(f".{folder.name}.writing")
    shutil.rmtree(work, ignore_errors=True)
    for part in [source, *module_folders(source)]:
        to = work / part.relative_to(source)
        to.mkdir(parents=True, exist_ok=True)
        for path in part.iterdir():
            if path.is_file() and not path.name.startswith("."):
                shutil.copyfile(path, to / path.name)
    replace_folder(work, folder)
