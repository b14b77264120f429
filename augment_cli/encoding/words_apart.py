"""Token ids word by word: a corpus repeats its words, so each distinct one is tokenised once.

For tokenizers that never join what a space parts, as BERT's do: the tokens of a text are those of its words,
one after the other. Normalising and splitting every word anew is most of a static encoder's work otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def keeps_words_apart(tokenizer: Any) -> bool:
    """Whether a text's tokens are those of the pieces between its spaces, one after the other.

    Parameters
    ----------
    tokenizer : tokenizers.Tokenizer
        Asked by its configuration: BERT's normalizer (and replacements that insert one space, as model2vec's
        do), BERT's splitting at spaces and punctuation, WordPiece, no added token with a space in it.
    """
    settings = json.loads(tokenizer.to_str())
    normalizer = settings["normalizer"] or {}
    steps = normalizer.get("normalizers", [normalizer])
    return (
        (settings["pre_tokenizer"] or {}).get("type") == "BertPreTokenizer"
        and settings["model"].get("type") == "WordPiece"
        and all(" " not in token["content"] for token in settings["added_tokens"])
        and all(step.get("type") == "BertNormalizer" or _separates(step) for step in steps)
    )


def _separates(step: dict[str, Any]) -> bool:
    """Whether a step of a normalizer puts a space in place of characters none of which is one."""
    pattern = (step.get("pattern") or {}).get("Regex", "")
    apart = pattern.startswith(r"[^\s") and pattern.endswith("]") and pattern.count("[") == 1
    return step.get("type") == "Replace" and step["content"] == " " and (apart or pattern == _LONG_WORD)


_LONG_WORD = r"\w{101,}"


class WordTokens:
    """Tokenises texts word by word; the first distinct words that it meets are kept.

    Parameters
    ----------
    tokenizer : tokenizers.Tokenizer
        For which `keeps_words_apart`; truncation and padding off.
    room : int
        How many words are kept, which bounds memory: 262,144 take some 50 MB.
    """

    def __init__(self, tokenizer: Any, room: int = 262_144) -> None:
        self._tokenizer, self._room = tokenizer, room
        self._numbers: dict[str, int] = {}
        self._ids, self._sizes = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def __call__(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """What `tokenizer.encode_batch_fast` gives without special tokens, flat.

        Parameters
        ----------
        texts : sequence of str
            n texts.

        Returns
        -------
        ids : ndarray of int64, shape (tokens,)
            Of all texts, one after the other.
        lengths : ndarray of int64, shape (n,)
            Tokens of each text.
        """
        split = pc.split_pattern(pa.array(texts, pa.large_string()), " ")
        words = split.values.dictionary_encode()
        numbers, ids, sizes = self._tokenised(words.dictionary.to_pylist())
        used = numbers[words.indices.to_numpy()]
        counts = sizes[used]
        totals = np.concatenate([[0], np.cumsum(counts)])
        # Each token's place among those of its word, beyond where these begin.
        places = np.arange(totals[-1]) + np.repeat((np.cumsum(sizes) - sizes)[used] - totals[:-1], counts)
        return ids[places], np.diff(totals[split.offsets.to_numpy()])

    def _tokenised(self, words: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A number for each word; ids of all numbers one after the other, and how many each has."""
        numbers = np.fromiter((self._numbers.get(word, -1) for word in words), np.int64, len(words))
        missing = np.flatnonzero(numbers < 0)
        new = [words[place] for place in missing]
        found = [word.ids for word in self._tokenizer.encode_batch_fast(new, add_special_tokens=False)]
        sizes = np.concatenate([self._sizes, np.fromiter(map(len, found), np.int64, len(found))])
        ids = np.concatenate([self._ids, np.fromiter(chain.from_iterable(found), np.int64)])
        numbers[missing] = len(self._sizes) + np.arange(len(missing))
        if len(sizes) <= self._room:
            self._numbers.update(zip(new, numbers[missing].tolist(), strict=True))
            self._ids, self._sizes = ids, sizes
        return numbers, ids, sizes
