"""Stages that were made before files were appended to the corpus, and the commands that help."""

from __future__ import annotations

import shlex

import pyarrow as pa

from augment_cli.errors import UserError
from augment_cli.reports.kinds import kind_of
from augment_cli.store.store import Store


def goes_by_part(store: Store, name: str) -> bool:
    """Whether a stage is continued where the corpus grows, as its maker's settings say (`by_part`)."""
    stage = store.stage(name)
    return kind_of(stage).goes_by_part(stage.settings)


def behind(store: Store, name: str) -> str | None:
    """What a stage lacks since files were appended to the corpus, with the command that helps; or None."""
    parts = store.made_before(name)
    if parts is None:
        return None
    commands = [f"`{shlex.join(words)}`" for words in _remaking(store, name)] or ["the command that made it"]
    if goes_by_part(store, name):
        return f"lacks the parts appended to the corpus; {commands[-1]} makes them"
    return (
        f"was made from the first {parts} of the corpus's {len(store.parts)} parts and depends on all of "
        f"them; {', then '.join(commands)} makes it anew"
    )


def commands_behind(store: Store) -> list[list[str]]:
    """The commands that make all that is behind, in the order in which they are to be run, as words."""
    found = [command_for(store, name) for name in store.stages() if store.made_before(name) is not None]
    return [list(words) for words in dict.fromkeys(tuple(words) for words in found if words)]


def command_for(store: Store, name: str, resumes: bool = False) -> list[str]:
    """The command that makes a stage again, as words; none where no command of ours does."""
    # With `resumes` the one that goes on with it: what is finished of it stays.
    words = words_for(store, name)
    if not words:
        return []
    anew = [] if resumes or goes_by_part(store, name) else ["--overwrite"]
    return ["augment-cli", *words, *anew, "--store", str(store.path)]


def words_for(store: Store, name: str) -> list[str]:
    """What stands behind `augment-cli` to make a stage; none where nothing does, or settings are forged."""
    try:
        return kind_of(store.stage(name)).command(store, name) or []
    except (UserError, pa.ArrowException, KeyError, IndexError, AttributeError, TypeError, ValueError):
        return []


def _remaking(store: Store, name: str) -> list[list[str]]:
    """The command that makes a stage anew, after those for what it was made from."""
    inputs = set(store.stage(name).settings["inputs"].values())
    first = [
        words
        for other in store.stages()
        if other != name
        and store.stage(other).digest in inputs
        and store.made_before(other) is not None
        and not goes_by_part(store, other)
        for words in _remaking(store, other)
    ]
    own = [command_for(store, name)]
    return [list(words) for words in dict.fromkeys(map(tuple, [*first, *own])) if words]
