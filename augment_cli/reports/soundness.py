"""The kinds of stages, found by their files; whether a store is sound, current, or behind."""

import importlib
import importlib.metadata
import os
import shlex
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from augment_cli.errors import BadInputError, MixError, UserError
from augment_cli.store.files import sha256_of_file, writer_of
from augment_cli.store.kinds import StageKind, exact_columns, other_rows, wrong_ids
from augment_cli.store.manifest import Part, Stage
from augment_cli.store.parquet import metadata_of, read_parquet
from augment_cli.store.settings import differences
from augment_cli.store.store import Store

_TOKEN_IDS = pa.schema(
    [pa.field("row_id", pa.int64(), nullable=False), pa.field("ids", pa.list_(pa.int32()))]
)


# Token ids, a cache of the trainer's, which is a package beside this one.
_TOKENS = StageKind(
    "tokens",
    {"tokens": _TOKEN_IDS},
    check=lambda store, stage, index, table: (
        exact_columns(table, _TOKEN_IDS) or other_rows(store, index, table) or wrong_ids(table["ids"])
    ),
    goes_by_part=lambda settings: True,
)


@cache
def all_kinds() -> dict[str, StageKind]:
    """Every kind that there is, by its maker."""
    rooms = sorted(file.parent.name for file in Path(__file__).parents[1].glob("*/kinds.py"))
    modules = [importlib.import_module(f"augment_cli.{room}.kinds") for room in rooms]
    declared = [kind for module in modules for kind in getattr(module, "KINDS", ())]
    return {kind.maker: kind for kind in (*declared, _TOKENS)}


def kind_of(stage: Stage) -> StageKind:
    """The kind of a stage; one of which nothing is known where something else made it."""
    maker = stage.settings["stage"]
    return all_kinds().get(maker) or StageKind(maker)


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
    return _once(command_for(store, name) for name in store.stages() if store.made_before(name) is not None)


def _once(commands: Iterable[list[str]]) -> list[list[str]]:
    return [list(words) for words in dict.fromkeys(map(tuple, commands)) if words]


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
    return _once([*first, command_for(store, name)])


_LOOKS = 3  # at a store that others write to


def verify(store: Store) -> list[str]:
    """Recount and re-read every part of a store; nothing is said of what another run is writing."""
    for _ in range(1 + _LOOKS):
        problems, owner = _problems(store), writer_of(store.work / "lock")
        fresh = Store.open(store.path) if problems else store
        if [*map(fresh.stage, fresh.stages())] == [*map(store.stage, store.stages())]:
            break
        store = fresh  # a run has ended meanwhile, or committed a part
    if problems and owner not in (None, str(os.getpid())):
        raise MixError(
            f"{store.path}: another run (process {owner}) is writing to this store, and some files are not "
            "finished; wait for its end, then verify again"
        )
    return problems


def _problems(store: Store) -> list[str]:
    problems = left_over(store)
    half_appended = {path.name for path in store.half_appended()}
    for name in store.stages():
        stage = store.stage(name)
        if not stage.is_complete and not behind(store, name):
            done = f"{len(stage.parts)} of {stage.expected_parts} parts"
            problems.append(f"{name}: {done}; run it again to resume")
        problems += problems_in(store, stage)
        expected = {store.part_path(name, index).name for index in stage.parts}
        problems += _strangers(store.path / name, expected | half_appended)
    tops = {path.relative_to(store.path).parts[0] for path in store.half_removed()}
    known = {"manifest.json", "README.md", ".work", *tops, *(name.split("/")[0] for name in store.stages())}
    problems += _strangers(store.path, known)
    return problems


def problems_in(store: Store, stage: Stage) -> list[str]:
    """What is wrong with the finished parts of a stage, one line each."""
    return [
        f"{store.part_path(stage.name, index)}: {problem}"
        for index, part in sorted(stage.parts.items())
        for problem in _problems_of(store, stage, index, part)
    ]


def left_over(store: Store) -> list[str]:
    """What interrupted appends and removals left, one line each; whoever writes next deletes it."""
    left = {"an append": store.half_appended(), "a removal": store.half_removed()}
    return [
        f"{path}: left by {what} that was interrupted; the next command that writes here deletes it"
        for what, paths in left.items()
        for path in paths
    ]


def _problems_of(store: Store, stage: Stage, index: int, part: Part) -> list[str]:
    path, fingerprint = store.part_path(stage.name, index), stage.settings_of(index)["fingerprint"]
    try:
        table = read_parquet(path)
    except BadInputError as error:
        return [str(error).removeprefix(f"{path}: ")]
    problems = []
    if table.num_rows != part.rows:
        problems.append(f"has {table.num_rows} rows, the manifest says {part.rows}")
    try:
        written_by = metadata_of(table.schema) or {}
    except ValueError:
        written_by = {}
    if written_by.get("fingerprint") != fingerprint:
        problems.append("was made by another run (its fingerprint differs)")
    if path.is_symlink() or path.parent.is_symlink():
        problems.append("is reached through a symbolic link")
    if sha256_of_file(path) != part.sha256:
        problems.append("its bytes differ from what was committed (sha256)")
    return problems or _broken_promises(store, stage, index, table)


def _broken_promises(store: Store, stage: Stage, index: int, table: pa.Table) -> list[str]:
    """What a part holds that no part of its kind of stage can, though its digest fits."""
    try:
        table.validate(full=True)
        return [
            f"{problem}, so it is damaged or foreign"
            for problem in kind_of(stage).check(store, stage, index, table)
        ]
    except BadInputError as error:  # of a part that it was made from, or of a neighbour
        return [f"cannot be compared: {error}"]
    except (pa.ArrowException, KeyError, IndexError, TypeError, ValueError) as error:
        return [f"its columns cannot be read ({(str(error).splitlines() or [type(error).__name__])[0]})"]


def _strangers(folder: Path, known: set[str]) -> list[str]:
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return [f"{path}: not in the manifest; move it away" for path in found if path.name not in known]


def why_not_reused(store: Store, name: str, corpus: Sequence[str | Path] | None = None) -> str | None:
    """The first setting in which a stage differs from what would be made today, or None."""
    # A spaCy pipeline is compared where it is shipped or installed: one in a user's folder cannot be found by
    # its name.
    stage = store.stage(name)
    stored, kind = stage.settings, kind_of(stage)
    current: dict[str, Any] = dict(stored)
    if (version := kind.version()) is not None:
        current["version"] = version
    current["libraries"] = {library: _installed(library) for library in stored["libraries"]}
    if not (goes_by_part(store, name) and store.made_before(name)):  # else it is continued
        current["inputs"] = {
            key: value if store.has_digest(key, value) else "made anew since"
            for key, value in stored["inputs"].items()
        }
    current |= kind.today(store, stage, corpus)
    return next((f"{key} = {old}, now {new}" for key, old, new in differences(stored, current)), None)


def _installed(library: str) -> str | None:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return None
