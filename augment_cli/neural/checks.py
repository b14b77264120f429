"""What came back from a model, held against what went in: good enough, or why not; the best of several."""

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from augment_cli.contract.reasons import Reason
from augment_cli.models.claims import tokenizing
from augment_cli.neural.loading import ModelFolder, load_tokenizer, load_weights
from augment_cli.neural.runtime import dtype_of, inference

_LONGEST_LOOP = 12  # words in the repeated piece
_FOREIGN_SHARE = 0.2  # of the letters
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_DIRECTIONS = re.compile(r"[\u202a-\u202e\u2066-\u2069]")  # which turn around what is shown behind them
_NEWLINE_MARK = "<n>"  # PEGASUS writes line breaks this way


def one_line(text: str) -> str:
    """The text with every run of white space, line breaks and control characters as one space."""
    text = _DIRECTIONS.sub("", text.replace(_NEWLINE_MARK, " "))
    return " ".join(_CONTROLS.sub(" ", text).split())


def reason_against(original: str, output: str, is_complete: bool = True) -> str | None:
    """Why an output should not stand in for the original, or None."""
    words = _words(output)
    if not words:
        return Reason.EMPTY_OUTPUT
    before = _words(original)
    if words == before:
        return Reason.SAME_WORDS
    # Before truncation: what loops runs into the limit, and looping says more.
    if _repeats(words) > max(1, _repeats(before)):
        return Reason.LOOPING_OUTPUT
    if not is_complete:
        return Reason.TRUNCATED_OUTPUT
    if _foreign_share(original, output) > _FOREIGN_SHARE:
        return Reason.WRONG_SCRIPT
    if len(output) > 2 * len(original) + 50 or 4 * len(output) + 10 < len(original):
        return Reason.ABSURD_LENGTH
    return None


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold())


def _repeats(words: list[str]) -> int:
    """How often a piece of the text stands again right after itself."""
    # A single word counts from its third time on ("very, very good" is not a loop), a pair or longer from
    # its second. So does a longer piece that makes up most of the text, wherever it stands.
    most = 1
    for size in range(1, min(_LONGEST_LOOP, len(words) // 2) + 1):
        run = 0  # words equal to those `size` places before
        for position in range(size, len(words)):
            run = run + 1 if words[position] == words[position - size] else 0
            times = run // size + 1
            if times > most and (size > 1 or times > 2):
                most = times
    trigrams = Counter(zip(words, words[1:], words[2:], strict=False))
    if trigrams and (often := max(trigrams.values())) > 2 and 3 * often > len(words) // 2:
        most = max(most, often)
    return most


def _foreign_share(original: str, output: str) -> float:
    """Share of the output's letters in scripts that the original does not have."""
    letters = [character for character in output if character.isalpha()]
    known = {_script(character) for character in original if character.isalpha()}
    if not letters or not known:
        return 0.0
    return sum(_script(character) not in known for character in letters) / len(letters)


@lru_cache(maxsize=4096)
def _script(letter: str) -> str:
    """LATIN, CYRILLIC, CJK, …: the first word of the character's Unicode name."""
    return unicodedata.name(letter, "").partition(" ")[0]


class SentenceEncoder:
    """Sentence vectors by mean pooling, as all-MiniLM-L6-v2 and its kin make them; always in fp32."""

    def __init__(self, folder: ModelFolder, device: str, threads: int) -> None:
        self._folder, self.device, self._threads = folder, device, threads

    @cached_property
    def _parts(self) -> tuple[Any, Any]:
        path = self._folder.path
        return load_tokenizer(path), load_weights(path, "AutoModel", dtype_of("fp32"), self.device)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Unit vectors, float32 (n, d)."""
        import torch

        tokenizer, model = self._parts
        limit = min(tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", 512))
        with tokenizing(self._folder.path):
            inputs = tokenizer(
                list(texts), padding=True, truncation=True, max_length=limit, return_tensors="pt"
            ).to(self.device)
        with inference(self._threads):
            states = model(**inputs).last_hidden_state
            mask = inputs["attention_mask"].unsqueeze(-1).to(states.dtype)
            vectors = (states * mask).sum(dim=1) / mask.sum(dim=1).clamp(min=1)
            return torch.nn.functional.normalize(vectors, dim=1).cpu().numpy()


def difference(one: str, other: str) -> float:
    """How different two sentences are worded: 1 − Dice coefficient of their words and word pairs, 0 to 1."""
    first, second = _pieces(one), _pieces(other)
    if not first and not second:
        return 0.0
    return 1.0 - 2.0 * len(first & second) / (len(first) + len(second))


def _pieces(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return {(word,) for word in words} | set(itertools.pairwise(words))


def most_different(
    original: str, candidates: Sequence[str], cosines: Sequence[float], minimum: float
) -> int | None:
    """Position of the candidate most differently worded among those whose cosine is at least `minimum`."""
    # Of equally different ones the first is taken. None if no candidate means the same.
    close = [number for number, cosine in enumerate(cosines) if cosine >= minimum]
    if not close:
        return None
    return max(close, key=lambda number: (difference(original, candidates[number]), -number))
