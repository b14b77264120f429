"""A store's finished stages copied to an object store, the manifest last, and fetched from there.

Whoever looks there finds a whole store or none: without the manifest no file counts, and a manifest that is
there stays true at every moment, since no file that it names is replaced under it.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from augment_cli.errors import BadInputError, MixError, UsageError
from augment_cli.errors.visible import is_address
from augment_cli.remote.files import Place, RemoteFile, delete, find_file, place_of, write
from augment_cli.store.files import fsync, lies_within, naming
from augment_cli.store.manifest import Manifest, Part, Stage, dump_manifest, part_name, read_manifest
from augment_cli.store.store import PendingPart, Store

MANIFEST, CARD = "manifest.json", "README.md"
PIECE_BYTES = 4 << 20
_LOCAL = ("file", "local")  # schemes of folders of this machine; the second is fsspec's
_MOST_MANIFEST_BYTES = 256 << 20


@dataclass(frozen=True)
class Copied:
    """What was copied, what was there already, and what was left out."""

    copied: int  # parts
    kept: int  # parts that were there already
    bytes: int  # of the parts that were copied
    unfinished: list[str]  # stages that lack parts
    outgrown: list[str]  # stages that were made of the corpus as it was before files were appended to it


def publish(
    store: str | Path,
    address: str,
    *,
    overwrite: bool = False,
    progress: Callable[[int], None] = lambda rows: None,
) -> Copied:
    """Copy a store's finished stages to an address, such as `s3://bucket/folder`."""
    # What is there in the right size and with the right SHA-256 is not copied again, so an interrupted
    # command goes on where it stopped. What was copied is read back and compared.
    place = _place(address)
    opened = Store.open(store)
    unfinished = [name for name in opened.stages() if not opened.has(name)]
    outgrown = [name for name in opened.stages() if opened.has(name) and opened.made_before(name) is not None]
    left_out = {*unfinished, *outgrown}
    stages = {name: opened.stage(name) for name in opened.stages() if name not in left_out}
    if not {"corpus", "rejects"} <= stages.keys():
        raise BadInputError(f"{opened.path}: has no finished corpus to publish; run `augment-cli ingest`")
    if place.address.scheme in _LOCAL and any(
        lies_within(Path(place.path) / name, opened.path) for name in ("", *stages)
    ):
        raise UsageError(
            f"{place}: would write into {opened.path}, the store that is published; give an address outside "
            "it"
        )
    there = _make_way(place, stages, overwrite)
    copied = kept = size = 0
    for name, stage in stages.items():
        for index, part in sorted(stage.parts.items()):
            if _give(opened, name, index, part, place.at(f"{name}/{part_name(index)}")):
                copied, size = copied + 1, size + part.bytes
            else:
                kept += 1
            progress(part.rows)
    if (card := opened.path / CARD).is_file():
        write(place.at(CARD), [card.read_bytes()])
    manifest = dump_manifest(opened.parts, stages)
    if there is None or dump_manifest(there.row_ranges, there.stages) != manifest:
        write(place.at(MANIFEST), [manifest])
    return Copied(copied, kept, size, unfinished, outgrown)


def _make_way(place: Place, stages: dict[str, Stage], overwrite: bool) -> Manifest | None:
    """The manifest that is there and stays true while the stages are copied; None where there is none."""
    try:
        there = _published(place)
        reason = None if there is None else _conflict(there, stages)
    except (BadInputError, MixError) as error:
        if not overwrite:
            raise
        reason = str(error)
    if not reason:
        return there
    if not overwrite:
        raise MixError(
            f"{place}: has another store ({reason}); nothing was changed. Publish to another address, or "
            "replace it with --overwrite"
        )
    delete(place.at(MANIFEST))  # from here on there is no store, until the new one is whole
    return None


def _place(address: str) -> Place:
    if not is_address(address):
        raise UsageError(f"{address}: is not an address, such as s3://bucket/folder; file:///… is one too")
    return place_of(address)


def _published(place: Place) -> Manifest | None:
    """The manifest of a published store; None where there is none."""
    file = find_file(place.at(MANIFEST))
    if file is None:
        return None
    if file.size > _MOST_MANIFEST_BYTES:
        raise BadInputError(f"{file}: claims {file.size:,} bytes, which no manifest has; correct the address")
    with file.open() as stream:
        data = stream.read()
    return read_manifest(data, str(file), "publish it again with --overwrite, or correct the address")


def _conflict(there: Manifest, stages: dict[str, Stage]) -> str | None:
    """Why a manifest would not stay true while these stages are copied, or None."""
    for name, stage in there.stages.items():
        if name not in stages:
            return f"with a stage {name} that this one does not have"
        # Of a corpus that has grown since, what was published is the first parts, which stay as they are.
        of_these = {index: stages[name].parts.get(index) for index in stage.parts}
        if stage.parts != of_these or stage.settings not in stages[name].all_settings:
            return f"whose stage {name} differs"
    return None


def _give(store: Store, stage: str, index: int, part: Part, target: Place) -> bool:
    """Copy one part where it is not there yet; whether it had to be."""
    file = find_file(target)
    if file is not None and _is_the_part(file, part):
        return False
    with store.verified_path(stage, index).open("rb") as source:
        write(target, iter(lambda: source.read(PIECE_BYTES), b""))
    file = find_file(target)
    if file is None or not _is_the_part(file, part):
        raise BadInputError(
            f"{target}: what was written reads differently (size or sha256): it was damaged on the way, or "
            "another program writes there; run the same command again"
        )
    return True


def _is_the_part(file: RemoteFile, part: Part) -> bool:
    """Whether a file has a part's size and SHA-256; it is read for that if it has the size."""
    return file.size == part.bytes and file.sha256() == part.sha256


def fetch(
    address: str, store: str | Path = "store", *, progress: Callable[[int], None] = lambda rows: None
) -> Copied:
    """Copy a published store into a folder, which is a store like any other then."""
    # Each part is committed as if it was made here: it is complete or absent, and an interrupted command goes
    # on where it stopped. Other stages of the folder are kept.
    place = _place(address)
    if (manifest := _published(place)) is None:
        raise BadInputError(
            f"{place}: no whole store here (no {MANIFEST}): correct the address; if it was being published, "
            "run that `augment-cli publish` again, which writes it last"
        )
    is_new = not Path(store).exists()
    opened = Store.create(store)
    copied = kept = size = 0
    with opened.lock():
        opened.reload()
        _refuse_other(opened, manifest, place)
        opened.set_row_ranges(manifest.row_ranges)
        try:
            with opened.commits_together():
                for name, stage in manifest.stages.items():
                    missing = set(opened.adopt(stage))
                    for index, part in sorted(stage.parts.items()):
                        if index in missing:
                            _take(opened, place.at(f"{name}/{part_name(index)}"), name, index, part)
                            copied, size = copied + 1, size + part.bytes
                        else:
                            kept += 1
                        progress(part.rows)
                    opened.clean_work(name)
        except BaseException:
            opened.discard_if_empty(with_folder=is_new)
            raise
    return Copied(copied, kept, size, [], [])


def _refuse_other(store: Store, manifest: Manifest, place: Place) -> None:
    """See that what the folder has of these stages are the same parts."""
    reason = None
    if store.parts and store.parts != manifest.row_ranges:
        reason = "its corpus has other parts"
    for name in store.stages():
        if (stage := manifest.stages.get(name)) is None:
            continue
        here = store.stage(name)
        if here.all_settings != stage.all_settings or here.expected_parts != stage.expected_parts:
            reason = reason or f"its stage {name} was made with other settings"
        elif any(part != stage.parts[index] for index, part in here.parts.items()):
            reason = reason or f"its stage {name} has other bytes"
    if reason:
        raise MixError(
            f"{store.path}: is another store than {place} ({reason}); nothing was changed. Fetch it into "
            "another folder"
        )


def _take(store: Store, source: Place, stage: str, index: int, part: Part) -> None:
    """Copy one part to `.work/`, compare its digest on the way, and commit it."""
    again = "run `augment-cli publish` of the original store again, then this command"
    file = find_file(source)
    if file is None:
        raise BadInputError(f"{source}: the part is missing, though the manifest names it; {again}")
    path = store.new_work_file(stage, index)
    digest, size = hashlib.sha256(), 0
    try:
        with file.open() as remote, naming(path), path.open("wb") as local:
            while size <= part.bytes and (data := remote.read(PIECE_BYTES)):
                digest.update(data)
                size += len(data)
                local.write(data)
        if size != part.bytes or digest.hexdigest() != part.sha256:
            raise BadInputError(
                f"{source}: its bytes differ from what was published (size or sha256), so it is damaged or "
                f"replaced; {again}"
            )
        fsync(path)
        try:
            store.commit(PendingPart(stage, index, path, part))
        except (BadInputError, MixError):  # its bytes are what the manifest names, its rows or settings not
            raise BadInputError(
                f"{source}: has other rows or settings than the manifest there says, so the manifest is "
                "forged; run `augment-cli publish --overwrite` of the original store, then this command"
            ) from None
    except BaseException:
        path.unlink(missing_ok=True)
        raise
