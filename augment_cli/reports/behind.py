"""Stages that were made before files were appended to the corpus, and the commands that help."""

from __future__ import annotations

from augment_cli import augmentations
from augment_cli.ingest.pairs import GIVEN
from augment_cli.pack import PACK_STAGE
from augment_cli.runs.again import command_of
from augment_cli.store.store import Store
from augment_cli.syntax.parses import PARSES_STAGE
from augment_cli.tfidf import fit as tfidf
from augment_cli.tfidf.names import FORMS_STAGE, TFIDF_STAGE, stage_names
from augment_cli.vectors.stages import VECTORS_STAGE

_BY_PART = {PARSES_STAGE, VECTORS_STAGE, GIVEN, PACK_STAGE, "tokens"}  # of the makers without a descriptor


def goes_by_part(store: Store, name: str) -> bool:
    """Whether a stage is continued where the corpus grows, as its maker's settings say (`by_part`)."""
    settings = store.stage(name).settings
    if settings["stage"] in augmentations.names():
        return not {"tfidf", "forms"} & settings["inputs"].keys()
    return settings["stage"] in _BY_PART


def behind(store: Store, name: str) -> str | None:
    """What a stage lacks since files were appended to the corpus, with the command that helps; or None."""
    parts = store.made_before(name)
    if parts is None:
        return None
    if goes_by_part(store, name):
        return f"lacks the parts appended to the corpus; {_continuing(store, name)} makes them"
    return (
        f"was made from the first {parts} of the corpus's {len(store.parts)} parts and depends on all of "
        f"them; {_remaking(store, name)} makes it anew"
    )


def _continuing(store: Store, name: str) -> str:
    settings = store.stage(name).settings
    if settings["stage"] in augmentations.names():
        return f"`{command_of(store, name)} --store {store.path}`"
    if settings["stage"] == PARSES_STAGE:
        named = name.removeprefix(PARSES_STAGE).removeprefix("-")
        return f"`augment-cli parse{f' --name {named}' if named else ''} --store {store.path}`"
    return "the command that made it"


def _remaking(store: Store, name: str) -> str:
    settings = store.stage(name).settings
    if settings["stage"] in (TFIDF_STAGE, FORMS_STAGE):
        return _fitting(store, name)
    if (fitted := _table_of(store, settings["inputs"].get("terms"))) is None:
        return "the command that made it, with --overwrite,"
    if settings["stage"] not in augmentations.names():
        return f"{_fitting(store, fitted)}, then the command that made it,"
    # Without its options: what it resolved from the corpus, such as a radius, is another now.
    base = name.removesuffix(f".{settings['parameters']['draw']}")
    named = f" --name {base}" if base != settings["stage"] else ""
    command = f"`augment-cli {settings['stage']}{named} --store {store.path}`"
    return f"{_fitting(store, fitted)}, then {command} with its options,"


def _table_of(store: Store, digest: str | None) -> str | None:
    """The term table that has a digest."""
    tables = (store.stage(name) for name in store.stages() if tfidf.is_term_table(store.stage(name)))
    return next((table.name for table in tables if table.digest == digest), None)


def _fitting(store: Store, name: str) -> str:
    """The command that fits again what a matrix, a table or the forms of one belong to."""
    named = name.partition("-")[2] or None
    table = stage_names(named)[1]
    options = tfidf.FitOptions()
    if table in store.stages():
        stored = store.stage(table).settings["parameters"]
        options = tfidf.FitOptions(stored["tokenizer"], stored["min_df"], tuple(stored["stages"]))
    return f"`{tfidf.fit_command(options, named)} --overwrite --store {store.path}`"
