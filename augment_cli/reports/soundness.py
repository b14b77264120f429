"""Whether what a store holds is sound (`verify`), and whether it could still be reused (`status`)."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from augment_cli import augmentations, ingest, pack
from augment_cli.errors import BadInputError, UsageError
from augment_cli.ingest.stored import stored_options
from augment_cli.parsing import stage as parsing
from augment_cli.parsing.pipelines import known_by_name
from augment_cli.reports.behind import behind, goes_by_part
from augment_cli.store.files import sha256_of_file
from augment_cli.store.parquet import read_parquet
from augment_cli.store.schema import metadata_of
from augment_cli.store.settings import differences
from augment_cli.store.store import Store
from augment_cli.syntax.parses import PARSES_STAGE
from augment_cli.tfidf import fit as tfidf
from augment_cli.tfidf import forms
from augment_cli.tfidf.names import TFIDF_STAGE
from augment_cli.tokenization import get_tokenizer
from augment_cli.vectors import embed_parameters, mine_parameters, score
from augment_cli.vectors.stages import VECTORS_STAGE


def verify(store: Store) -> list[str]:
    """Recount and re-read every part of a store.

    Returns
    -------
    list of str
        What is wrong, one line each; empty if every part is as the manifest says.
    """
    problems = [
        f"{path}: left by an append that was interrupted; the next command that writes here deletes it"
        for path in store.half_appended()
    ]
    half_appended = {path.name for path in store.half_appended()}
    for name in store.stages():
        stage = store.stage(name)
        if lack := behind(store, name):
            problems.append(f"{name}: {lack}")
        elif not stage.is_complete:
            done = f"{len(stage.parts)} of {stage.expected_parts} parts"
            problems.append(f"{name}: {done}; run it again to resume")
        for index, part in sorted(stage.parts.items()):
            path = store.part_path(name, index)
            in_part = _problems_of(path, part.sha256, part.rows, stage.settings_of(index)["fingerprint"])
            problems += [f"{path}: {problem}" for problem in in_part]
        expected = {store.part_path(name, index).name for index in stage.parts}
        problems += _strangers(store.path / name, expected | half_appended)
    known = {"manifest.json", "README.md", ".work", *(name.split("/")[0] for name in store.stages())}
    problems += _strangers(store.path, known)
    return problems


def _problems_of(path: Path, sha256: str, rows: int, fingerprint: str) -> list[str]:
    try:
        table = read_parquet(path)
    except BadInputError as error:
        return [str(error).removeprefix(f"{path}: ")]
    problems = []
    if table.num_rows != rows:
        problems.append(f"has {table.num_rows} rows, the manifest says {rows}")
    try:
        written_by = metadata_of(table.schema) or {}
    except ValueError:
        written_by = {}
    if written_by.get("fingerprint") != fingerprint:
        problems.append("was made by another run (its fingerprint differs)")
    if path.is_symlink() or path.parent.is_symlink():
        problems.append("is reached through a symbolic link")
    if sha256_of_file(path) != sha256:
        problems.append("its bytes differ from what was committed (sha256)")
    return problems


def _strangers(folder: Path, known: set[str]) -> list[str]:
    if not folder.is_dir():
        return []
    strangers = sorted(entry for entry in folder.iterdir() if entry.name not in known)
    return [f"{path}: not in the manifest; move it away" for path in strangers]


def why_not_reused(store: Store, name: str, corpus: Sequence[str | Path] | None = None) -> str | None:
    """The first setting in which a stage differs from what would be made today, or None.

    Compared are the code's version, the installed libraries, the tokeniser, the spaCy pipeline (where it
    is shipped or installed; one in a folder of the user's cannot be found by its name), the stages it was
    made from, and, where `corpus` names them, the bytes of the input files.
    """
    stored = store.stage(name).settings
    maker = stored["stage"]
    current: dict[str, Any] = dict(stored)
    current["version"] = _version_of(maker, stored["version"])
    current["libraries"] = {library: _installed(library) for library in stored["libraries"]}
    digests = {store.stage(stage).digest for stage in store.stages()}
    if maker == "corpus":
        if corpus is not None:
            options = stored_options(store)
            given = ingest.corpus_settings(ingest.find_files(corpus), options).inputs
            # Of a corpus that grew, the files of any one time.
            known = [settings["inputs"].get("files") for settings in store.stage(name).all_settings]
            current["inputs"] = stored["inputs"] if given["files"] in known else stored["inputs"] | given
    elif goes_by_part(store, name) and store.made_before(name):
        pass  # it is continued
    else:
        current["inputs"] = {
            key: value if value in digests else "made anew since" for key, value in stored["inputs"].items()
        }
    if maker == TFIDF_STAGE:
        current["resources"] = stored["resources"] | {"tokenizer": _tokenizer_version(stored["parameters"])}
    if maker == PARSES_STAGE and (source := known_by_name(stored["parameters"]["pipeline"])) is not None:
        current |= {"parameters": source.parameters(), "resources": {"pipeline": source.digest}}
    for key, old, new in differences(stored, current):
        return f"{key} = {old}, now {new}"
    return None


def _version_of(maker: str, stored: int) -> int:
    """Version of the code that makes a stage; of what others make, such as the trainer, the stored one."""
    if maker in augmentations.names():
        return augmentations.get(maker).version
    own = {
        "corpus": ingest.VERSION,
        TFIDF_STAGE: tfidf.VERSION,
        forms.FORMS_STAGE: forms.VERSION,
        PARSES_STAGE: parsing.VERSION,
        pack.PACK_STAGE: pack.VERSION,
        VECTORS_STAGE: embed_parameters.VERSION,
        score.SCORES_STAGE: score.VERSION,
        mine_parameters.MINED_STAGE: mine_parameters.VERSION,
        ingest.pairs.GIVEN: ingest.pairs.VERSION,
    }
    return own.get(maker, stored)


def _installed(library: str) -> str | None:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return None


def _tokenizer_version(parameters: dict[str, Any]) -> str | None:
    try:
        return get_tokenizer(parameters["tokenizer"]).version
    except (UsageError, importlib.metadata.PackageNotFoundError):  # not installed here
        return None
