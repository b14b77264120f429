"""Why a stage that is there is not made with other settings, and what to do instead."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from augment_cli.errors import MixError
from augment_cli.store.manifest import Stage
from augment_cli.store.settings import differences

_CORPUS = {"corpus", "rejects"}


def refusal(
    record: Stage,
    current: dict[str, Any],
    store: Path,
    parts: tuple[int | None, int],
    beside: str,
    anew: str,
) -> MixError:
    """The error for a stage that exists with other settings than those it is asked for with.

    Parameters
    ----------
    record : Stage
        As it is.
    current : dict of str to Any
        The settings that are asked for.
    store : Path
        The store's folder.
    parts : (int or None, int)
        How many parts the corpus had when the stage was made, if that alone differs, and how many it has.
    beside : str
        What a person can do who wants both.
    anew : str
        How the stage is made anew, where files were appended to the corpus since.
    """
    name, (before, today) = record.name, parts
    place = store / name
    if before:
        return MixError(
            f"{place}: was made from the first {before} of the corpus's {today} parts, before files were "
            "appended, and depends on all of them; nothing was changed. Make it anew with "
            f"{anew}, which deletes what was made from it too, or {beside}"
        )
    if record.settings["stage"] != current["stage"]:
        return MixError(
            f"{place}: the name is taken by a stage that {record.settings['stage']!r} made; nothing was "
            "changed. Choose another --name"
        )
    if name in _CORPUS and record.earlier:
        return MixError(
            f"{place}: files were appended to this corpus, so it is not what --corpus names; nothing was "
            "changed. Leave --corpus out to go on with all of it, or choose another --store"
        )
    key, old, new = next(differences(record.settings, current))
    made = f"{place}: made with {key} = {old}, now {new}; nothing was changed."
    if name in _CORPUS:
        return MixError(
            f"{made} Every stage is made from the corpus: read this one into another --store, or give "
            f"--overwrite, which deletes all stages of {store}"
        )
    return MixError(
        f"{made} Use the same settings, {beside}, or remove it with "
        f"`augment-cli remove {name} --store {store}`"
    )
