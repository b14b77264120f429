"""A bed: an encoder that knows words and has no sentence geometry yet, made from one that is installed.

BERT before contrastive training is such an encoder, and no BERT is at hand where there is no network. A short
run of masked language modelling at a high rate takes a sentence encoder back to that state: it keeps what its
layers know of words and loses where sentences lie. What it is for is comparing methods with each other; its
scores are no model's, and whatever its teacher has seen it may have kept.
"""

import json
import shutil
from pathlib import Path
from typing import Any

from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.models.digest import model_digest
from augment_cli.session import Session
from augment_cli.store.files import replace_folder, sha256_of_json
from benchmarks.reproduce.grid import Bed
from benchmarks.reproduce.work import machine
from eval.results.files import library_versions
from train.loading import load_recipe
from train.machine.distributed import join
from train.outputs.export import export
from train.prepare import Run
from train.run import train

_FACTS = "bed.json"  # beside the encoder's files; no part of its digest
_DECIDING = ("start", "corpus", "rows", "recipe", "set")  # the rest is words


def make_bed(bed: Bed, data: Path) -> str:
    """Make the encoder of a bed, unless it is there and was made with the same settings; its digest."""
    target = Path(bed.encoder)
    settings = {key: getattr(bed, key) for key in _DECIDING}
    if (known := read_facts(target)).get("settings") == json.loads(json.dumps(settings)):
        return str(known["digest"])
    # A folder for these settings alone, since a checkpoint of others would be refused.
    work = target.with_name(f"{target.name}-work") / sha256_of_json(settings)[:12]
    store = work / "store"
    with Session(store) as session:
        session.ingest([data / pattern for pattern in bed.corpus], IngestOptions(limit=bed.rows))
        if session.store.rows < bed.rows:
            raise UsageError(f"{store}: the corpus gave {session.store.rows:,} sentences of {bed.rows:,}")
    encoder, start = load_encoder(bed.start), work / "start"
    encoder.modules = []  # BERT has no steps after the pooling; of length 1 only its own first vectors were
    export(encoder, start)
    recipe = load_recipe(bed.recipe, bed.set)
    command = "python -m benchmarks.reproduce bed"
    result = train(Run(recipe, store, str(start), work / "run", command=command), join())
    if result.stopped_by:
        raise UsageError(f"stopped after step {result.steps}; the same command continues it")
    digest = model_digest(work / "run" / "last")
    facts = {
        "settings": settings,
        "digest": digest,
        "machine": machine(),
        "libraries": library_versions(),
        "start": encoder.digest,
    }
    finished = work / "finished"
    shutil.rmtree(finished, ignore_errors=True)
    shutil.copytree(work / "run" / "last", finished)
    (finished / _FACTS).write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (finished / "README.md").write_text(_card(bed, digest), encoding="utf-8")
    target.parent.mkdir(parents=True, exist_ok=True)
    replace_folder(finished, target)
    return digest


def read_facts(folder: Path) -> dict[str, Any]:
    """What is known of a bed that was made; empty where there is none."""
    path = folder / _FACTS
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def compared(bed: Bed, digest: str) -> str:
    """Whether a bed that was made is the one that the results were made from, in words."""
    if not bed.digest:
        return "no digest is recorded for it in grid.toml"
    if digest == bed.digest:
        return "as recorded in grid.toml"
    return (
        f"grid.toml records {bed.digest}: another processor or other libraries round differently, so results "
        "from this bed stand by themselves and are kept apart from the recorded ones"
    )


def _card(bed: Bed, digest: str) -> str:
    return f"""\
# A bed: for comparing methods, not for use

{bed.about}

Made on this machine from `{bed.start}` by `python -m benchmarks.reproduce bed`, with recipe `{bed.recipe}`
and `{" ".join(bed.set)}` on {bed.rows:,} sentences of {", ".join(bed.corpus)}. Digest: `{digest}`.

{bed.seen}
"""
