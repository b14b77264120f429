"""Tokenisers: NLTK's Treebank tokens at array speed, NLTK itself, characters, and a plug-in point."""

import functools
import importlib
import inspect
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from augment_cli.errors import UsageError
from augment_cli.store.kinds import wrong_span
from augment_cli.tokenization.tokens import (
    CharacterTokenizer,
    NltkTokenizer,
    Tokenizer,
    Tokens,
    share_without_spaces,
    tokens_of_rows,
)
from augment_cli.tokenization.treebank import TreebankTokenizer

TOKENIZERS: dict[str, Callable[[], Tokenizer]] = {
    "treebank": TreebankTokenizer,
    "nltk": NltkTokenizer,
    "characters": CharacterTokenizer,
}
__all__ = ["TOKENIZERS", "Tokenizer", "Tokens", "get_tokenizer", "share_without_spaces", "tokens_of_rows"]


class _PluginTokenizer:
    """A callable of the user's, with its answer checked."""

    def __init__(self, name: str, version: str, call: Callable[[pa.Array], Tokens]) -> None:
        self.name = name
        self.version = version
        self._call = call

    def __call__(self, texts: pa.Array) -> Tokens:
        tokens = self._call(texts)
        if not isinstance(tokens, Tokens):
            raise UsageError(
                f"tokenizer {self.name} returned {type(tokens).__name__} instead of "
                "augment_cli.tokenization.Tokens; tokens_of_rows builds one from lists"
            )
        count = len(tokens.terms)
        lengths = (len(tokens.row_offsets), len(tokens.starts), len(tokens.ends))
        expected = (len(texts) + 1, count, count)
        if lengths != expected or tokens.row_offsets[0] != 0 or tokens.row_offsets[-1] != count:
            raise UsageError(
                f"tokenizer {self.name} returned row_offsets, starts and ends of lengths {lengths} "
                f"for {len(texts)} texts and {count} terms; {expected} and offsets from 0 to {count} are due"
            )
        # What replaces a token must hit nothing else.
        wrong = wrong_span(texts, np.diff(tokens.row_offsets), tokens.starts, tokens.ends)
        if wrong is not None:
            index, row = wrong
            raise UsageError(
                f"tokenizer {self.name} returned the token {tokens.terms[index].as_py()!r} at "
                f"{tokens.starts[index]}:{tokens.ends[index]} of the text {texts[row].as_py()!r}; "
                "spans are code points (not bytes) of the row's own text, rising, without overlap"
            )
        return tokens


def _plugin(name: str) -> Tokenizer:
    module_name, _, attribute = name.partition(":")
    try:
        plugin = getattr(importlib.import_module(module_name), attribute)
        if inspect.isclass(plugin):
            plugin = plugin()
    except Exception as error:  # of its own code, too
        raise UsageError(
            f"tokenizer {name}: {error or type(error).__name__}; give it as package.module:callable"
        ) from error
    version = getattr(plugin, "version", None)
    if not callable(plugin) or not isinstance(version, str):
        raise UsageError(
            f"tokenizer {name} must be a callable with a string attribute `version` (or a class of such); "
            "the version enters the fingerprint of what is computed from its tokens"
        )
    return _PluginTokenizer(name, version, plugin)


@functools.cache  # a worker asks for it with each part, and what it learnt of characters stays
def _shipped(name: str) -> Tokenizer:
    return TOKENIZERS[name]()


def get_tokenizer(name: str) -> Tokenizer:
    """The tokeniser called `name`."""
    if name in TOKENIZERS:
        return _shipped(name)
    if ":" in name:
        return _plugin(name)
    choices = ", ".join(TOKENIZERS)
    raise UsageError(f"unknown tokenizer {name!r}; choose one of {choices}, or package.module:callable")
