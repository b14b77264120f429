"""A run that uses every writer, what must hold after any failure of it, and digests that a forger mends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.pack.options import choose
from augment_cli.reports.report import write_card
from augment_cli.reports.soundness import verify
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.files import sha256_of_file, sha256_of_json
from augment_cli.store.store import Store

LINES = [f"the heron of river {n} waits near bridge {n % 7}" for n in range(20)]


def run_all(store: Path, corpus: Path, engine: Engine | None = None) -> None:
    """Ingest, fit, UNA, pack, card: all that writes."""
    with Session(store, engine or Engine(1)) as session:
        session.ingest([corpus], IngestOptions(part_rows=12), max_rejects=1)
        session.augment(make_run("una", radius=5))
        session.pack(choose(session.store))
        write_card(session.store, "Herons", "cc0-1.0", "en")


def contents(store: Path) -> dict[str, str]:
    """Digests of everything but the lock."""
    files = [path for path in sorted(store.rglob("*")) if path.is_file() and path.name != "lock"]
    return {str(path.relative_to(store)): sha256_of_file(path) for path in files}


def check_after_failure(store: Path) -> None:
    """Whatever bears a final name is complete: what the manifest names is sound, and may be read."""
    if not (store / "manifest.json").exists():
        return
    opened = Store.open(store)
    # A part renamed but not yet entered is complete too, and the next run makes it anew.
    tolerated = ("run it again to resume", "not in the manifest")
    assert [problem for problem in verify(opened) if not any(word in problem for word in tolerated)] == []
    for stage in opened.stages():
        for index in opened.stage(stage).parts:
            opened.read_part(stage, index)


def digests_of_parts(store: Path) -> dict[str, str]:
    """Digests of the parts alone."""
    return {str(path.relative_to(store)): sha256_of_file(path) for path in sorted(store.rglob("*.parquet"))}


def appeared(folder: Path, pattern: str) -> int:
    """How many files match, while another process makes folders, fills them and takes them away.

    A folder that goes between being listed and being read ends `Path.glob` with an error; what is left by
    then is counted at the next look.
    """
    try:
        return sum(1 for _ in folder.glob(pattern))
    except FileNotFoundError:
        return 0


def sealed(value: Any) -> Any:
    """The same manifest with the fingerprints and the digest that belong to it."""
    stages = value.get("stages")
    for stage in stages.values() if isinstance(stages, dict) else ():
        if not isinstance(stage, dict):
            continue
        earlier = stage.get("earlier")
        for entry in (stage, *(earlier if isinstance(earlier, list) else ())):
            settings = entry.get("settings") if isinstance(entry, dict) else None
            if isinstance(settings, dict):
                settings.pop("fingerprint", None)
                settings["fingerprint"] = sha256_of_json(settings)
    value.pop("sha256", None)
    return value | {"sha256": sha256_of_json(value)}
