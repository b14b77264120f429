"""The languages that have rules: each is a room with a file `grammar.py`.

`french/grammar.py` would have the constant `FRENCH`. What a language gives is declared in
`augment_cli/syntax/language.py`. An augmentation says of which
languages it has rules: `Augmentation.languages`.
"""

from __future__ import annotations

import dataclasses
import importlib
from functools import cache
from pathlib import Path

from augment_cli.syntax.language import UNKNOWN, Language

_USUAL = "en"  # of rows that no script fills, where the pipeline's language has a script of its own


@cache
def registered() -> dict[str, Language]:
    """All languages by their codes."""
    folders = sorted(file.parent.name for file in Path(__file__).parent.glob("*/grammar.py"))
    modules = [importlib.import_module(f"augment_cli.{folder}.grammar") for folder in folders]
    found = [getattr(module, folder.upper()) for module, folder in zip(modules, folders, strict=True)]
    return {language.code: language for language in found}


def codes_with(augmentation: str) -> tuple[str, ...]:
    """Codes of the languages that have rules for `aa` or `dn`, in alphabetical order."""
    return tuple(sorted(code for code, language in registered().items() if getattr(language, augmentation)))


def language_of(pipeline: str) -> Language:
    """The language of rows that no script tells, by their pipeline's name: `fr_core_news_sm` is French."""
    code = pipeline.partition("_")[0]
    if code == UNKNOWN.code:
        code = _USUAL
    known = registered().get(code)
    if known is None:
        return dataclasses.replace(UNKNOWN, code=code, name=f"the language {code!r}")
    return registered()[_USUAL] if known.script else known


def languages_of(pipeline: str) -> tuple[Language, ...]:
    """What the rows of a pipeline's parses may be in, as `ParseRows.languages` has it."""
    return (*(language for language in registered().values() if language.script), language_of(pipeline))
