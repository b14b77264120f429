"""Positives: replace the terms that matter least, keep those that carry the sentence (UDA).

The mode without hard negatives in the code of Shu and Lampos 2024, after Xie et al. 2020
(Unsupervised Data Augmentation): a_i = max z − z_i chooses the positions.

Difference from the original: a replacement means nearly the same as the word it replaces (`--terms alike`),
and positions are chosen among the words that have one. `--terms tfidf --surface in-place` draws any term of
similar weight for any token, as the original does; what that makes reads as noise.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations.una import term_replacement
from augment_cli.augmentations.una.surfaces import NaturalReplacement, prepare
from augment_cli.augmentations.una.term_replacement import (
    TermReplacementParameters,
    replaced_columns,
    tokens_of,
)
from augment_cli.augmentations.una.vocabulary import spans_of
from augment_cli.augmentations.una.word_classes import place_in
from augment_cli.contract.augmentation import Augmentation, Prepared, Resources, avoided_words
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import parameter
from augment_cli.contract.rows import Outcome, Rows, TokenRows
from augment_cli.english.words import PhraseTable, Words, word_edits
from augment_cli.errors import UsageError
from augment_cli.resources import word_list, word_list_digests, word_table
from augment_cli.text.spans import offsets_from_lengths, ranges

_LIST, _FIXED, _STAYS = "equivalent_words", "fixed_phrases", ["="]


class AlikeReplacement(NaturalReplacement):
    """UDA with `terms = "alike"`: words of nearly the same meaning in the place of the unimportant ones.

    A term of similar weight is any word, and the sentence is broken; the least important token is the final
    full stop in nineteen of twenty sentences. So the arithmetic chooses among the words that another one can
    stand for in nearly any sentence, by a list of forms. WordNet's synonyms, as likely as its counts make
    them, were wrong in one of eight rows, as nothing here tells a noun from a verb.
    """

    def __init__(self, name: str, parameters: TermReplacementParameters, resources: Resources) -> None:
        super().__init__(name, parameters, resources, opposite=True)
        self._key = resources.key(f"{name}/equivalent")
        avoided = set(avoided_words(parameters.avoid).to_pylist())
        table = [
            (word, [other for other in others if other not in avoided]) for word, *others in word_table(_LIST)
        ]
        entries = [(word, others) for word, others in table if others and others != _STAYS]
        self._listed = pa.array([word for word, _ in entries], pa.string())
        self._others = pa.array([other for _, others in entries for other in others], pa.string())
        self._offsets = offsets_from_lengths(np.array([len(others) for _, others in entries], np.int64))
        stays = [phrase for phrase, others in table if others == _STAYS]
        self._phrases = PhraseTable(list(dict.fromkeys([*stays, *word_list(_FIXED)])))

    def __call__(self, rows: Rows) -> Outcome:
        """Replace some words of some rows."""
        tokens, words = tokens_of(rows), Words.of(rows.code_points)
        listed = place_in(pc.utf8_lower(words.strings), self._listed)
        some = np.flatnonzero((listed >= 0) & self._is_free(words))
        token, is_token = _tokens_of_words(words, some, rows, tokens)
        some, token = some[is_token], token[is_token]
        free = ~self._protected[tokens.term_ids[token]]
        some, token = some[free], token[free]
        eligible = np.zeros(len(tokens.term_ids), bool)
        eligible[token] = True
        index = some[np.isin(token, self.drawn_positions(rows, tokens, eligible))]
        edits = word_edits.replace_words(words, index, self._strings(rows, words, listed[index], index))
        reasons = word_edits.reasons_without(words, some)
        return Outcome(edits, reasons, replaced_columns(rows, tokens, words.rows[index]))

    def _is_free(self, words: Words) -> np.ndarray:
        """bool (N,): words outside the phrases that stay, and outside names."""
        free = ~words.has_capital | (words.positions == 0)
        # "Big Ben" at the beginning
        behind = np.append((words.has_capital & words.follows_space)[1:], False)[: len(words)]
        free &= ~(words.has_capital & behind)
        matches = self._phrases.find(words)
        free[ranges(matches.first, matches.last - matches.first + 1)] = False
        return free

    def _strings(self, rows: Rows, words: Words, entry: np.ndarray, index: np.ndarray) -> pa.StringArray:
        """What stands in the place of the words `index` (m,), in their case."""
        draws = uniform(self._key, rows.row_ids[words.rows[index]], words.positions[index])
        step = (draws * (self._offsets[entry + 1] - self._offsets[entry])).astype(np.int64)
        others = self._others.take(pa.array(self._offsets[entry] + step))
        return word_edits.in_case_of(words, index, others)


def _tokens_of_words(
    words: Words, index: np.ndarray, rows: Rows, tokens: TokenRows
) -> tuple[np.ndarray, np.ndarray]:
    """The TF-IDF tokens that the words `index` (m,) are."""
    # int64 (m,), and bool (m,): false where a word is no token of the table, or parts of several.
    starts, ends = spans_of(rows.code_points, tokens)
    if not len(starts):
        return np.zeros(len(index), np.int64), np.zeros(len(index), bool)
    first, last = words.flat_starts[index], words.flat_ends[index]
    token = np.minimum(np.searchsorted(starts, first), len(starts) - 1)
    return token, (starts[token] == first) & (ends[token] == last) & (tokens.term_ids[token] >= 0)


@dataclass(frozen=True)
class UdaParameters(TermReplacementParameters):
    """Parameters of UDA."""

    terms: str = parameter(
        "alike",
        "how replacements are chosen: alike, by nearly the same meaning; tfidf, by similar weight",
        choices=("alike", "tfidf", "random"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.terms == "alike" and (self.surface != "natural" or self.same != "any"):
            option = f"--surface {self.surface}" if self.surface != "natural" else f"--same {self.same}"
            raise UsageError(f"{option} is for terms of similar weight; add --terms tfidf, or leave it out")


def _prepare(parameters: UdaParameters, resources: Resources) -> Prepared:
    if parameters.terms == "alike":
        return AlikeReplacement("uda", parameters, resources)
    return prepare("uda", parameters, resources, opposite=True)


def _resolve(parameters: UdaParameters, resources: Resources) -> dict[str, Any]:
    settings = term_replacement.resolve(parameters, resources)
    return settings | word_list_digests(_LIST, _FIXED) if parameters.terms == "alike" else settings


def _warnings(parameters: UdaParameters, resources: Resources) -> list[str]:
    # Nothing is drawn from a window: what is said of its size does not matter.
    window = "random" if parameters.terms == "alike" else parameters.terms
    return term_replacement.warnings(dataclasses.replace(parameters, terms=window), resources)


UDA = Augmentation(
    name="uda",
    version=4,
    kind="positive",
    paper="Xie et al. 2020, Unsupervised Data Augmentation; as used by Shu and Lampos 2024",
    needs=frozenset({"tfidf"}),
    parameters=UdaParameters,
    prepare=_prepare,
    columns=term_replacement.COLUMNS,
    resolve=_resolve,
    also_needs=term_replacement.also_needs,
    of_draw=term_replacement.of_draw,
    notes=term_replacement.notes,
    warnings=_warnings,
    examples=(
        "augment-cli uda --beta 0.5",
        "augment-cli uda --terms tfidf --surface in-place --radius 4000 --beta 0.1 --name uda-paper",
    ),
)
