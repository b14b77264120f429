"""`augment-cli fetch`: a published store copied back to a folder, every digest verified."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from augment_cli.errors import BadInputError, MixError, UsageError
from augment_cli.errors.visible import is_address
from augment_cli.remote.files import find_file
from augment_cli.remote.places import Place, place_of
from augment_cli.remote.publish import PIECE_BYTES, Copied, manifest_at
from augment_cli.store.files import fsync, naming
from augment_cli.store.manifest import Manifest, Part, part_name
from augment_cli.store.store import PendingPart, Store


def fetch(
    address: str, store: str | Path = "store", *, progress: Callable[[int], None] = lambda rows: None
) -> Copied:
    """Copy a published store into a folder, which is a store like any other then."""
    # Each part is committed as if it was made here: it is complete or absent, and an interrupted command goes
    # on where it stopped. Other stages of the folder are kept.
    if not is_address(address):
        raise UsageError(f"{address}: is not an address, such as s3://bucket/folder; file:///… is one too")
    place = place_of(address)
    manifest = manifest_at(place)
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
                            source = place.at(f"{name}/{part_name(index)}")
                            _commit(opened, _take(opened, source, name, index, part), source)
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


def _commit(store: Store, taken: PendingPart, source: Place) -> None:
    """Commit a part; its bytes are what the manifest names, its rows and settings may not be."""
    try:
        store.commit(taken)
    except (BadInputError, MixError):
        taken.path.unlink(missing_ok=True)
        raise BadInputError(
            f"{source}: has other rows or settings than the manifest there says, so the manifest is forged; "
            "run `augment-cli publish --overwrite` of the original store, then this command"
        ) from None


def _take(store: Store, source: Place, stage: str, index: int, part: Part) -> PendingPart:
    """One part copied to `.work/`, its digest compared on the way."""
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
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return PendingPart(stage, index, path, part)
