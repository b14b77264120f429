"""Words that no augmentation puts into a sentence: the parameter `avoid`, and its list."""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa

from augment_cli.contract.parameters import parameter, read_word_list
from augment_cli.resources.word_lists import word_list
from augment_cli.store.files import sha256_of_json

SHIPPED, NOTHING = "vulgar", "none"


def avoid_parameter() -> str:
    """The parameter `avoid` of an augmentation that draws words from anywhere."""
    return parameter(
        SHIPPED, "words never put in: vulgar (the short list that ships), none, or a file, one a line"
    )


def avoided_words(choice: str) -> pa.StringArray:
    """The words of a parameter's value, in lower case and sorted; `UsageError` for an unreadable file."""
    return pa.array(_words(choice), pa.string())


def avoided_digest(choice: str) -> str | None:
    """SHA-256 of the words, for the fingerprint of what is made without them; None where there are none."""
    words = _words(choice)
    return sha256_of_json(list(words)) if words else None


def _words(choice: str) -> tuple[str, ...]:
    if choice == NOTHING:
        return ()
    return _shipped() if choice == SHIPPED else read_word_list(choice, "--avoid")


@lru_cache(maxsize=1)
def _shipped() -> tuple[str, ...]:
    # `avoided_words` is another list: what WordNet's replacements never are, whatever `--avoid` says.
    return tuple(sorted(word_list("vulgar_words")))
