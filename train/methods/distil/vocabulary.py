"""The vocabulary of a static encoder: the teacher's own or a learned one, cut, with whole words added."""

import functools
import json
import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np

from augment_cli.encoding.static import without_special_tokens
from augment_cli.encoding.words_apart import TokenCounts
from augment_cli.errors import UsageError

PAD, UNKNOWN, INNER = "[PAD]", "[UNK]", "##"
_LONGEST_WORD = 100  # of WordPiece; longer ones are unknown


def own(tokenizer: Any) -> list[str]:
    """The teacher's tokens without special and unused ones, in the order of their ids."""
    special = set(tokenizer.all_special_tokens)
    tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    return [token for token in tokens if token not in special and not re.fullmatch(r"\[unused\d+\]", token)]


def learn(texts: Iterable[str], size: int, special: list[str]) -> Any:
    """Learn an uncased WordPiece vocabulary, as BERT's."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token=UNKNOWN))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    # Rare scripts in an English encyclopaedia would otherwise take a tenth of the rows as single characters.
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=special, limit_alphabet=400, min_frequency=2, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def frequent_words(texts: Iterable[str], tokenizer: Any, most: int, known: Iterable[str]) -> list[str]:
    """The most frequent words of texts that are no tokens yet, most frequent first."""
    counts: Counter[str] = Counter()
    for text in texts:
        normal = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
        counts.update(word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(normal))
    tokens = set(known)
    # Ties in the order of the words, so that the texts' order does not matter; a word met once is noise.
    ranked = sorted((-count, word) for word, count in counts.items() if count > 1 and word not in tokens)
    return [word for _, word in islice(ranked, most) if len(word) <= _LONGEST_WORD]


def most_frequent(tokens: list[str], counts: TokenCounts, ids: dict[str, int], size: int) -> list[str]:
    """The most frequent tokens, and all single characters, so that every word can still be cut."""
    single = {token for token in tokens if len(token.removeprefix(INNER)) == 1}
    often = np.array([counts.occurrences[ids[token]] for token in tokens])
    order = [tokens[place] for place in np.argsort(-often, kind="stable")]
    chosen = single | set([token for token in order if token not in single][: max(0, size - len(single))])
    return [token for token in tokens if token in chosen]


def wordpiece(base: Any, tokens: list[str]) -> Any:
    """A WordPiece tokenizer of given tokens that never finds an unknown one."""
    # Characters that no token has, and words too long for the algorithm, become spaces; of the others each
    # becomes a token that is none yet. Libraries disagree on what an unknown token does to a mean.
    from tokenizers import Regex, Tokenizer, normalizers
    from tokenizers.models import WordPiece
    from transformers import PreTrainedTokenizerFast

    characters = sorted(set("".join(token.removeprefix(INNER) for token in tokens)))
    tokens = tokens + _missing(base, tokens, characters)
    vocabulary = {token: number for number, token in enumerate([PAD, UNKNOWN, *tokens])}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token=UNKNOWN, max_input_chars_per_word=_LONGEST_WORD))
    known = "".join(f"\\x{{{ord(character):x}}}" for character in characters)
    steps = [base.normalizer] if base.normalizer else []
    steps += [
        normalizers.Replace(Regex(f"[^\\s{known}]"), " "),
        normalizers.Replace(Regex(f"\\w{{{_LONGEST_WORD + 1},}}"), " "),
    ]
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = base.pre_tokenizer
    tokenizer.decoder = base.decoder
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token=UNKNOWN, pad_token=PAD)
    without_special_tokens(wrapped)
    return wrapped


def _missing(base: Any, tokens: list[str], characters: list[str]) -> list[str]:
    """Single characters that are needed as tokens and are none, at a word's start and within it."""
    known = set(tokens)
    # Punctuation always stands alone.
    inside = [each for each in characters if len(base.pre_tokenizer.pre_tokenize_str(f"a{each}a")) != 3]
    return [token for token in [*characters, *(INNER + each for each in inside)] if token not in known]


def teacher_ids(teacher: Any, tokens: Iterable[str], before: list[int], after: list[int]) -> list[list[int]]:
    """Each token as the teacher reads it: as its own token where it has it, else as a text."""
    ids, read = teacher.get_vocab(), functools.partial(teacher, add_special_tokens=False)
    known = ([ids[one]] if one in ids else read(one.removeprefix(INNER))["input_ids"] for one in tokens)
    return [[*before, *found, *after] for found in known]


def check(tokenizer: Any, name: str) -> None:
    """Refuse a tokenizer that is not WordPiece, the kind that can be cut and added to here."""
    if type(tokenizer.backend_tokenizer.model).__name__ != "WordPiece":
        kind = json.loads(tokenizer.backend_tokenizer.to_str())["model"].get("type", "another kind")
        raise UsageError(
            f"{name} has a tokenizer of the kind {kind}, whose vocabulary cannot be taken over; write "
            "--vocabulary learned"
        )
