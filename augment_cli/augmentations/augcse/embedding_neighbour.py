"""Substitute or insert words that are near in word vectors which you supply (`--vectors FILE`).

AugCSE's RandomWordEmbAugmentation: ⌈rate·words⌉ words, rate 30 %, at most 10 of them; each is replaced by
one of its nearest words by cosine, or one of them is put behind it (`--action insert`). GloVe and word2vec
text files and NumPy arrays with a vocabulary are read.

Differences from the original: the nearest words are computed once for the whole vocabulary; a neighbour
that is the same word up to case is passed over; case, punctuation and spacing survive; function words
and numbers stay, since their neighbours are mostly other words of grammar.
"""

import dataclasses
import gzip
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.augmentation import (
    Augmentation,
    Prepared,
    Resources,
    avoid_parameter,
    avoided_digest,
    avoided_words,
)
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import parameter
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import Words, word_edits
from augment_cli.errors import UsageError
from augment_cli.resources import word_list_digests, word_set
from augment_cli.store.files import refuse_special, sha256_of_file

FORMATS = (
    "give GloVe or word2vec text (a word and its numbers a line, .gz too), or an array in FILE.npy with its "
    "words, one a line, in FILE.txt"
)


def _unfit(path: str | Path, what: str) -> UsageError:
    return UsageError(f"--vectors {path}: {what}; {FORMATS}")


def read_vectors(path: str, limit: int = 0) -> tuple[pa.StringArray, np.ndarray]:
    """Words and their vectors, float32 (V, d), each of length 1."""
    # `.npy`: an array (V, d), its words in the file of the same name ending in `.txt`. Anything else: a word
    # a line, the numbers after it separated by spaces; a first line of two numbers (word2vec's) is skipped.
    file = Path(path).expanduser()
    try:
        refuse_special(file)
        words, vectors = _read_array(file) if file.suffix == ".npy" else _read_text(file, limit)
    except (OSError, UnicodeDecodeError, EOFError) as error:
        raise _unfit(path, f"cannot be read ({error})") from error
    words, vectors = words[: limit or None], vectors[: limit or None]
    with np.errstate(over="ignore"):  # what is too large is infinite then, and refused as that
        vectors = vectors.astype(np.float32)
    if not len(words):
        raise _unfit(path, "has no words")
    if not np.isfinite(vectors).all():
        raise _unfit(path, "has numbers that are not finite")
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return pa.array(words, pa.string()), (vectors / np.where(norms > 0, norms, 1)).astype(np.float32)


def _read_array(file: Path) -> tuple[list[str], np.ndarray]:
    try:
        vectors = np.load(file, allow_pickle=False)
    except ValueError as error:
        raise _unfit(file, f"is not a plain NumPy array ({error})") from error
    if vectors.dtype.kind not in "fiu":
        raise _unfit(file, f"is an array of {vectors.dtype}, not of real numbers")
    listed = file.with_suffix(".txt")
    refuse_special(listed)
    words = listed.read_text("utf-8").splitlines()
    if vectors.ndim != 2 or len(vectors) != len(words):
        raise _unfit(file, f"an array of shape {vectors.shape} for {len(words)} words in {listed.name}")
    return words, vectors


def _read_text(file: Path, limit: int) -> tuple[list[str], np.ndarray]:
    words: list[str] = []
    rows: list[np.ndarray] = []
    open_text = gzip.open if file.suffix == ".gz" else open
    with open_text(file, "rt", encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines, 1):
            word, _, numbers = line.rstrip().partition(" ")
            if number == 1 and len(line.split()) == 2:
                continue
            try:
                row = np.array(numbers.split(" "), np.float32)
            except ValueError:
                row = np.zeros(0, np.float32)
            if not len(row) or (rows and len(row) != len(rows[0])):
                expected = f"{len(rows[0])} numbers" if rows else "numbers"
                raise _unfit(file, f"line {number} has no word with {expected}")
            words.append(word)
            rows.append(row)
            if len(words) == limit:
                break
    return words, np.array(rows)


@lru_cache(maxsize=2)
def neighbours(path: str, digest: str, limit: int, count: int) -> tuple[pa.StringArray, np.ndarray]:
    """Words and, int32 (V, count), the ones nearest to each by cosine; nearest first; −1 beyond the last."""
    # `digest` stands for the file's content, so that a changed file is read anew.
    words, vectors = read_vectors(path, limit)
    size = min(count, len(words) - 1)
    nearest = np.full((len(words), count), -1, np.int32)
    # Blocks of about 2²⁴ products each keep the memory in bounds.
    step = max(1, (1 << 24) // len(words))
    for start in range(0, len(words) if size else 0, step):
        products = vectors[start : start + step] @ vectors.T
        own = np.arange(len(products))
        products[own, start + own] = -np.inf
        top = np.argpartition(-products, size - 1, axis=1)[:, :size]
        order = np.lexsort((top, -np.take_along_axis(products, top, 1)), axis=1)
        nearest[start : start + step, :size] = np.take_along_axis(top, order, 1)
    return words, nearest


@dataclass(frozen=True)
class EmbeddingParameters:
    """Parameters of embedding-neighbour substitution; the defaults are AugCSE's."""

    vectors: str = parameter("", "file of word vectors: GloVe or word2vec text, or FILE.npy beside FILE.txt")
    rate: float = word_edits.rate_parameter(0.3, "share of the words to replace")
    maximum: int = word_edits.maximum_parameter(10)
    top: int = parameter(10, "how many of the nearest words to draw from", minimum=1, maximum=100)
    action: str = parameter(
        "substitute", "put the neighbour in the word's place, or behind it", choices=("substitute", "insert")
    )
    vocabulary: int = parameter(50_000, "how many words of the file to read; 0 for all", minimum=0)
    avoid: str = avoid_parameter()


def _digest(parameters: EmbeddingParameters) -> str:
    if not parameters.vectors:
        raise UsageError(f"embedding-neighbour needs word vectors, and ships none: --vectors FILE; {FORMATS}")
    file = Path(parameters.vectors).expanduser()
    try:
        refuse_special(file)
        return sha256_of_file(file)
    except OSError as error:
        raise _unfit(parameters.vectors, f"cannot be read ({error})") from error


def _without_own_word(
    words: pa.StringArray, nearest: np.ndarray, top: int, avoided: pa.StringArray
) -> tuple[np.ndarray, np.ndarray]:
    """Neighbours (V, top) that are other words up to case and not avoided, and how many each word has."""
    lowered = pc.utf8_lower(words).dictionary_encode()
    unfit = pc.is_in(lowered.dictionary, avoided).to_numpy(zero_copy_only=False)
    spelling = lowered.indices.to_numpy()
    other = (nearest >= 0) & (spelling[nearest] != spelling[:, None]) & ~unfit[spelling[nearest]]
    order = np.argsort(~other, axis=1, kind="stable")[:, :top]
    return np.take_along_axis(nearest, order, 1), np.minimum(other.sum(1), top)


def _prepare(parameters: EmbeddingParameters, resources: Resources) -> Prepared:
    vocabulary, nearest = neighbours(
        parameters.vectors, _digest(parameters), parameters.vocabulary, parameters.top + 5
    )
    avoided = avoided_words(parameters.avoid)
    nearest, counts = _without_own_word(vocabulary, nearest, parameters.top, avoided)
    numbers_of: dict[str, int] = {}
    for number, word in enumerate(pc.utf8_lower(vocabulary).to_pylist()):
        numbers_of.setdefault(word, number)
    word_key = resources.key("embedding-neighbour/word")
    draw_key = resources.key("embedding-neighbour/replacement")

    def run(rows: Rows) -> Outcome:
        words = Words.of(rows.code_points)
        numbers = words.numbers(numbers_of)
        eligible = (numbers >= 0) & ~words.among(word_set("function_words"))
        eligible &= counts[np.maximum(numbers, 0)] > 0
        index = word_edits.choose(
            words, rows.row_ids, eligible, word_key, parameters.rate, "ceil", parameters.maximum
        )
        own = numbers[index]
        draws = uniform(draw_key, rows.row_ids[words.rows[index]], words.positions[index])
        drawn = nearest[own, (draws * counts[own]).astype(np.int64)]
        strings = vocabulary.take(pa.array(drawn))
        if parameters.action == "insert":
            at = words.flat_ends[index]
            strings = pc.binary_join_element_wise("", strings, " ")
            edits = word_edits.edits_of(words, words.rows[index], at, at, strings)
        else:
            edits = word_edits.replace_words(words, index, word_edits.in_case_of(words, index, strings))
        replaced = np.bincount(words.rows[index], minlength=len(rows))
        columns = word_edits.count_columns(replaced=replaced, words=words.counts)
        return Outcome(edits, word_edits.reasons_for(words, eligible), columns)

    return run


def _resolve(parameters: EmbeddingParameters, resources: Resources) -> dict[str, Any]:
    digest = _digest(parameters)  # first of all, since it says what is missing
    values = dataclasses.asdict(parameters) | word_list_digests("function_words")
    vocabulary = Path(parameters.vectors).expanduser().with_suffix(".txt")
    if parameters.vectors.endswith(".npy") and vocabulary.is_file():
        values["words"] = sha256_of_file(vocabulary)
    return values | {"vectors": digest, "avoid": avoided_digest(parameters.avoid)}


EMBEDDING_NEIGHBOUR = Augmentation(
    name="embedding-neighbour",
    version=1,
    kind="positive",
    paper="Tang et al. 2022, AugCSE (RandomWordEmbAugmentation)",
    parameters=EmbeddingParameters,
    prepare=_prepare,
    columns=word_edits.count_fields("replaced", "words"),
    resolve=_resolve,
    examples=(
        "augment-cli embedding-neighbour --vectors glove.6B.50d.txt",
        "augment-cli embedding-neighbour --vectors vectors.npy --action insert --rate 0.1",
    ),
    meaning="possibly altered",
    entailment=("neither", "neighbouring vectors belong to synonyms and to opposites"),
)
