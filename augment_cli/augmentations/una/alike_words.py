"""Words of nearly the same meaning in the place of the unimportant ones: UDA as positives want it.

A term of similar weight is any word, and the sentence is broken; the least important token is the final
full stop in nineteen of twenty sentences. So the arithmetic chooses among the words that another one can
stand for: those with a checked synonym in WordNet's tables, inflected as they are, and the adverbs and
connectives of a short list.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations.una.surfaces import NaturalReplacement
from augment_cli.augmentations.una.term_replacement import TermReplacementParameters, replaced_columns
from augment_cli.contract.augmentation import Resources
from augment_cli.contract.avoiding import avoided_words
from augment_cli.contract.draws import uniform
from augment_cli.contract.rows import Outcome, Rows, TokenRows
from augment_cli.english.words import lexical, word_edits
from augment_cli.english.words.lexical import synonyms
from augment_cli.english.words.readings import reading_of_each_word
from augment_cli.english.words.words import Words
from augment_cli.resources.word_lists import word_list_digests, word_table
from augment_cli.text.spans import offsets_from_lengths


def digests() -> dict[str, str]:
    """Digests of the lists and tables behind it."""
    return lexical.digests() | word_list_digests("equivalent_words")


class AlikeReplacement(NaturalReplacement):
    """UDA with `terms = "alike"`."""

    def __init__(self, name: str, parameters: TermReplacementParameters, resources: Resources) -> None:
        super().__init__(name, parameters, resources, opposite=True)
        relation = lexical.without(synonyms("frequent"), avoided_words(parameters.avoid))
        self._replacer = lexical.Replacer(relation, resources.key(f"{name}/synonym"))
        self._equivalent_key = resources.key(f"{name}/equivalent")
        entries = word_table("equivalent_words")
        self._listed = pa.array([word for word, *_ in entries])
        self._others = pa.array([other for _, *others in entries for other in others])
        self._offsets = offsets_from_lengths(np.array([len(others) for _, *others in entries]))

    def __call__(self, rows: Rows) -> Outcome:
        """Replace some words of some rows."""
        if rows.tokens is None:
            raise ValueError("term replacement needs the TF-IDF tokens of its rows")
        tokens, words = rows.tokens, Words.of(rows.code_points)
        reading = reading_of_each_word(words)
        listed = pc.fill_null(pc.index_in(pc.utf8_lower(words.strings), self._listed), -1).to_numpy()
        some = np.flatnonzero(self._replacer.eligible(reading) | (listed >= 0))
        token, is_token = _tokens_of_words(words, some, rows, tokens)
        some, token = some[is_token], token[is_token]
        free = ~self._protected[tokens.term_ids[token]]
        some, token = some[free], token[free]
        eligible = np.zeros(len(tokens.term_ids), bool)
        eligible[token] = True

        drawn = self.drawn_positions(rows, tokens, eligible)
        chosen = np.zeros(len(eligible), bool)
        chosen[drawn] = True
        index = some[chosen[token]]
        replaceable = np.zeros(len(words), bool)
        replaceable[some] = True
        edits = word_edits.replace_words(words, index, self._strings(rows, words, reading, listed, index))
        reasons = word_edits.reasons_for(words, replaceable)
        return Outcome(edits, reasons, replaced_columns(rows, tokens, words.rows[index]))

    def _strings(
        self, rows: Rows, words: Words, reading: np.ndarray, listed: np.ndarray, index: np.ndarray
    ) -> pa.StringArray:
        """What stands in the place of the words `index` (m,), in their case."""
        by_list = listed[index] >= 0
        from_list = index[by_list]
        entry = listed[from_list]
        draws = uniform(self._equivalent_key, rows.row_ids[words.rows[from_list]], words.positions[from_list])
        step = (draws * (self._offsets[entry + 1] - self._offsets[entry])).astype(np.int64)
        others = self._others.take(pa.array(self._offsets[entry] + step))
        strings = pa.concat_arrays(
            [
                word_edits.in_case_of(words, from_list, others),
                self._replacer.strings(rows, words, reading, index[~by_list]),
            ]
        )
        place = np.empty(len(index), np.int64)
        place[np.concatenate([np.flatnonzero(by_list), np.flatnonzero(~by_list)])] = np.arange(len(index))
        return strings.take(pa.array(place))


def _tokens_of_words(
    words: Words, index: np.ndarray, rows: Rows, tokens: TokenRows
) -> tuple[np.ndarray, np.ndarray]:
    """The TF-IDF tokens that the words `index` (m,) are."""
    # int64 (m,), and bool (m,): false where a word is no token of the table, or parts of several.
    base = rows.code_points.offsets[tokens.rows]
    starts, ends = base + tokens.starts, base + tokens.ends
    if not len(starts):
        return np.zeros(len(index), np.int64), np.zeros(len(index), bool)
    first, last = words.flat_starts[index], words.flat_ends[index]
    token = np.minimum(np.searchsorted(starts, first), len(starts) - 1)
    return token, (starts[token] == first) & (ends[token] == last) & (tokens.term_ids[token] >= 0)
