"""Token ids word by word, each distinct word tokenised once; weights of tokens by frequency.

For tokenizers that never join what a space parts, as BERT's do: the tokens of a text are those of its words,
one after the other. Normalising and splitting every word anew is most of a static encoder's work otherwise.
"""

import json
import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.errors import UsageError
from augment_cli.store.files import sha256_of_json
from augment_cli.store.store import Store
from augment_cli.text.spans import offsets_from_lengths, ranges

_Found = tuple[np.ndarray, np.ndarray]  # ids of words one after the other, and how many each has
FlatTokens = Callable[[Sequence[str]], _Found]  # the same of texts


def whole_texts(tokenizer: Any) -> Any:
    """What a fast tokenizer does the work with, set to cut nothing and pad nothing."""
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    return backend


def flat_tokens(tokenizer: Any) -> FlatTokens:
    """The quickest way to what `tokenizer.encode_batch_fast` gives without special tokens, flat."""
    return WordTokens(tokenizer) if keeps_words_apart(tokenizer) else lambda texts: flat(tokenizer, texts)


def flat(tokenizer: Any, texts: Sequence[str]) -> _Found:
    """What `tokenizer.encode_batch_fast` gives without special tokens: all ids, and each text's number."""
    found = [one.ids for one in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
    lengths = np.fromiter(map(len, found), np.int64, len(found))
    return np.fromiter(chain.from_iterable(found), np.int64), lengths


def keeps_words_apart(tokenizer: Any) -> bool:
    """Whether a text's tokens are those of the pieces between its spaces, one after the other."""
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
    """Tokenises texts word by word; the first distinct words that it meets are kept."""

    def __init__(self, tokenizer: Any, room: int = 65_536) -> None:
        self._tokenizer, self._room = tokenizer, room
        self._plain = PlainWords(tokenizer) if PlainWords.fits(tokenizer) else None
        self._numbers: dict[str, int] = {}
        self._ids, self._sizes = np.zeros(0, np.int64), np.zeros(0, np.int64)

    def __call__(self, texts: Sequence[str]) -> _Found:
        """What `flat` gives."""
        split = pc.split_pattern(pa.array(texts, pa.large_string()), " ")
        words = split.values.dictionary_encode()
        numbers, ids, sizes = self._tokenised(words.dictionary)
        used = numbers[words.indices.to_numpy()]
        counts = sizes[used]
        places = ranges((np.cumsum(sizes) - sizes)[used], counts)
        return ids[places], np.diff(offsets_from_lengths(counts)[split.offsets.to_numpy()])

    def _tokenised(self, words: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A number for each word; ids of all numbers one after the other, and how many each has."""
        if self._plain is None:
            return self._looked_up(words)
        is_plain = self._plain.takes(words)
        numbers = np.empty(len(words), np.int64)
        numbers[~is_plain], ids, sizes = self._looked_up(words.filter(pa.array(~is_plain)))
        numbers[is_plain] = len(sizes) + np.arange(is_plain.sum())
        plain_ids, plain_sizes = self._plain(words.filter(pa.array(is_plain)))
        return numbers, np.concatenate([ids, plain_ids]), np.concatenate([sizes, plain_sizes])

    def _looked_up(self, distinct: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same for words that the tokenizer itself is asked for, or was before."""
        words = distinct.to_pylist()
        numbers = np.fromiter((self._numbers.get(word, -1) for word in words), np.int64, len(words))
        missing = np.flatnonzero(numbers < 0)
        new = [words[place] for place in missing]
        new_ids, new_sizes = flat(self._tokenizer, new)
        sizes, ids = np.concatenate([self._sizes, new_sizes]), np.concatenate([self._ids, new_ids])
        numbers[missing] = len(self._sizes) + np.arange(len(missing))
        if len(sizes) <= self._room:
            self._numbers.update(zip(new, numbers[missing].tolist(), strict=True))
            self._ids, self._sizes = ids, sizes
        return numbers, ids, sizes


class PlainWords:
    """Tokenises words of ASCII's visible characters, hundreds at a call, without the normalizer.

    The normalizer does no more to such a word than put it in lower case, and a call of the tokenizer costs as
    much as ten of its words. Which tokens are whose is seen in the tokens: of the parts into which
    punctuation cuts a word, the first token alone lacks WordPiece's prefix.
    """

    _CALL_WORDS = 512

    def __init__(self, tokenizer: Any) -> None:
        from tokenizers import Tokenizer

        self._bare = Tokenizer(tokenizer.model)
        self._bare.pre_tokenizer = tokenizer.pre_tokenizer
        self._lowers = tokenizer.normalizer is not None and tokenizer.normalizer.normalize_str("A") == "a"
        self._added = [token.content for token in tokenizer.get_added_tokens_decoder().values()]
        vocabulary = tokenizer.get_vocab()
        self._continues = np.zeros(max(vocabulary.values()) + 1, bool)
        self._continues[[number for token, number in vocabulary.items() if token.startswith("##")]] = True

    @staticmethod
    def fits(tokenizer: Any) -> bool:
        """Whether a tokenizer for which `keeps_words_apart` treats plain words as this class does."""
        normalizer = tokenizer.normalizer
        done = _VISIBLE if normalizer is None else "".join(map(normalizer.normalize_str, _VISIBLE))
        # "#" is punctuation: no part of a word begins with two of them.
        return tokenizer.model.continuing_subword_prefix == "##" and done in (_VISIBLE, _VISIBLE.lower())

    def takes(self, words: pa.Array) -> np.ndarray:
        """Which words are plain: visible ASCII of at most 100 characters, no added token in it."""
        plain = pc.match_substring_regex(words, "^[!-~]{1,100}$")
        for token in self._added:
            plain = pc.and_not(plain, pc.match_substring(words, token, ignore_case=True))
        chosen: np.ndarray = plain.to_numpy(zero_copy_only=False)
        return chosen

    def __call__(self, words: pa.Array) -> _Found:
        """Ids of plain words one after the other, int64, and how many each has."""
        listed = (pc.ascii_lower(words) if self._lowers else words).to_pylist()
        calls = range(0, len(listed), self._CALL_WORDS)
        joined = [" ".join(listed[start : start + self._CALL_WORDS]) for start in calls]
        found = self._bare.encode_batch_fast(joined, add_special_tokens=False)
        ids = np.fromiter(chain.from_iterable(one.ids for one in found), np.int64)
        parts = pc.count_substring_regex(words, "[0-9A-Za-z]+|[!-~]").to_numpy()
        begins = np.append(np.flatnonzero(~self._continues[ids]), len(ids))
        return ids, np.diff(begins[np.concatenate([[0], np.cumsum(parts)])])


_VISIBLE = string.digits + string.ascii_letters + string.punctuation


KINDS = ("idf", "sif")
SIF = 1e-3  # a of Arora et al. 2017, the value of their experiments
NEGATION_WEIGHT = 6.0  # of `negations`; benchmarks/results/training.md has others
# As tokenizers part them: "is", "n't" is `isn`, `'`, `t`. Not `don` and `won`, which are words by themselves.
_NEGATIONS = (
    "not no never without nobody nothing none neither nor nowhere cannot unable isn aren wasn weren doesn "
    "didn hasn haven hadn couldn wouldn shouldn mustn needn"
)
_CHUNK = 4096  # texts tokenised at once


@dataclass(frozen=True)
class TokenCounts:
    """How often the tokens of a vocabulary of V occur."""

    occurrences: np.ndarray  # of each token in all texts, shape (V,), int64
    documents: np.ndarray  # number of texts that hold it, shape (V,), int64
    texts: int  # how many texts were counted
    # ids that the tokenizer adds to every text; they carry no meaning and get no weight
    special: tuple[int, ...] = ()

    @property
    def probability(self) -> np.ndarray:
        """Share of each token among all, shape (V,)."""
        return self.occurrences / max(1, self.occurrences.sum())

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the numbers."""
        parts = [self.occurrences.tolist(), self.documents.tolist(), self.texts, list(self.special)]
        return sha256_of_json(parts)

    def weights(self, kind: str) -> np.ndarray:
        """Weight of each token, shape (V,), float32; 0 for special tokens."""
        if kind == "idf":
            found = np.log((1 + self.texts) / (1 + self.documents))
        elif kind == "sif":
            found = SIF / (SIF + self.probability)
        else:
            raise UsageError(f"unknown token weights {kind!r}; choose one of {', '.join(KINDS)}")
        found[list(self.special)] = 0
        return found.astype(np.float32)


def negation_weights(tokenizer: Any) -> np.ndarray:
    """Weight of each token, shape (V,), float32: `NEGATION_WEIGHT` for English negations, else 1."""
    tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    begins = next((mark for mark in "▁Ġ" if f"{mark}the" in tokens), "")  # what a word's first token has
    negations = set(_NEGATIONS.split())
    denies = [one.startswith(begins) and one.removeprefix(begins).lower() in negations for one in tokens]
    return np.where(denies, NEGATION_WEIGHT, 1).astype(np.float32)


def count_tokens(texts: Iterable[str], tokenizer: Any) -> TokenCounts:
    """Count the tokens of texts, special ones left out, whole texts whatever their length."""
    size = len(tokenizer)
    occurrences, documents, total = np.zeros(size, np.int64), np.zeros(size, np.int64), 0
    rest = iter(texts)
    while chunk := list(islice(rest, _CHUNK)):
        ids, lengths = flat(whole_texts(tokenizer), chunk)
        occurrences += np.bincount(ids, minlength=size)
        rows = np.repeat(np.arange(len(chunk)), lengths)
        documents += np.bincount(np.unique(rows * size + ids) % size, minlength=size)
        total += len(chunk)
    return TokenCounts(occurrences, documents, total, tuple(sorted(tokenizer.all_special_ids)))


def count_store(store: Store, tokenizer: Any, most: int = 0) -> TokenCounts:
    """Count the tokens of a store's corpus."""
    return count_tokens(texts_of(store, most), tokenizer)


def texts_of(store: Store, most: int = 0) -> Iterator[str]:
    """The first texts of a store's corpus, in its order; all where `most` is 0."""

    def every() -> Iterator[str]:
        for index in sorted(store.stage("corpus").parts):
            yield from store.read_part("corpus", index, ["text"])["text"].to_pylist()

    return islice(every(), most or None)
