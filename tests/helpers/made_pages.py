"""Stores whose text would like to be something else, for pages."""

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.store import Store

HOSTILE = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> &amp; the \u202e river \x1b flows by {{ house }}"
)


def made(folder, lines, **parameters):
    """A store of some lines and `una`."""
    (folder / "in.txt").write_text("\n".join(lines), "utf-8")
    with Session(folder / "store", Engine(1)) as session:
        session.ingest([folder / "in.txt"], IngestOptions(), max_rejects=1)
        session.augment(make_run("una", **parameters))
    return Store.open(folder / "store")


def hostile_store(folder):
    """A store whose sentences are markup, templates and marks that turn the direction of text."""
    lines = [HOSTILE.replace("\x1b", "")] * 3 + [f"the river {n} flows" for n in range(30)] + ["a\x1bb"]
    return made(folder, lines, radius=4)
