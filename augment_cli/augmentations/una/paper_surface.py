"""The paper's draws: every token is a term, whatever it is, and any term of the window may replace it.

Two surfaces show them: the original edited in place, and the authors' lower-cased tokens joined by spaces.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations.una.term_replacement import (
    TermReplacement,
    TermReplacementParameters,
    long_terms,
    radius_in_ranks,
)
from augment_cli.contract.augmentation import Resources
from augment_cli.contract.rows import Rows, TokenRows
from augment_cli.text.letter_case import case_pattern
from augment_cli.text.spans import Edits, offsets_from_lengths, ranges, string_array, string_buffers
from augment_cli.text.surface import equals_original, slices, spaced


class PaperReplacement(TermReplacement):
    """The surfaces `in-place` and `reference`."""

    def __init__(
        self, name: str, parameters: TermReplacementParameters, resources: Resources, opposite: bool
    ) -> None:
        super().__init__(name, parameters, resources, opposite)
        self._radius = radius_in_ranks(parameters.radius, self.terms)
        self._eligible = ~self.kept()
        # The authors' surface keeps addresses and encoded data, as the paper does.
        too_long = long_terms(self.terms)
        self._too_long = too_long if parameters.surface == "in-place" and too_long.any() else None

    def eligible(self, rows: Rows, tokens: TokenRows) -> np.ndarray:
        """Every token that is not protected."""
        eligible: np.ndarray = self._eligible[tokens.term_ids]
        return eligible

    def draw(self, ids: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """Terms of the window, or with `terms = "random"` of the whole table."""
        include_self = self.parameters.include_self
        if self.parameters.terms == "random":
            new_ids = self.terms.draw_any(ids, uniforms, include_self)
        else:
            new_ids = self.terms.draw_ids(ids, self._radius, uniforms, include_self)
        if self._too_long is not None:
            new_ids = np.where((new_ids >= 0) & self._too_long[new_ids], -1, new_ids)
        return new_ids

    def edits(
        self, rows: Rows, tokens: TokenRows, chosen: np.ndarray, new_ids: np.ndarray
    ) -> tuple[Edits, np.ndarray]:
        """As the surface has it."""
        make = self._reference_edits if self.parameters.surface == "reference" else self._in_place_edits
        return make(rows, tokens, chosen, new_ids)

    def _in_place_edits(
        self, rows: Rows, tokens: TokenRows, chosen: np.ndarray, new_ids: np.ndarray
    ) -> tuple[Edits, np.ndarray]:
        """One edit for each replaced token, in the case pattern of what it replaces."""
        # Where tokens touch without a space (`do` and `n't`) and a replacement would grow together with its
        # neighbour, a space goes with the replacement.
        count = len(self.terms)
        owners = tokens.rows[chosen]
        base = rows.code_points.offsets[owners]
        starts, ends = base + tokens.starts[chosen], base + tokens.ends[chosen]
        forms = new_ids + count * case_pattern(rows.code_points, starts, ends)
        replacements = self.terms.surface_forms.take(pa.array(forms))

        same = equals_original(rows.code_points, owners, starts, ends, replacements)
        if same.any():  # the same word in the same case: no edit
            differs = np.flatnonzero(~same)
            chosen, owners, starts, ends = chosen[differs], owners[differs], starts[differs], ends[differs]
            base = base[differs]
            replacements = replacements.take(pa.array(differs))
        replacements = spaced(rows.code_points, owners, starts, ends, replacements)
        edits = Edits(owners, (starts - base).astype(np.int32), (ends - base).astype(np.int32), replacements)
        return edits, chosen

    def _reference_edits(
        self, rows: Rows, tokens: TokenRows, chosen: np.ndarray, new_ids: np.ndarray
    ) -> tuple[Edits, np.ndarray]:
        """One edit over the whole sentence: lower-cased tokens joined by single spaces."""
        offsets, data = string_buffers(self.terms.terms)
        changed_ids = tokens.term_ids.copy()
        changed_ids[chosen] = new_ids
        differs = chosen[new_ids != tokens.term_ids[chosen]]
        changed_rows = np.unique(tokens.rows[differs])
        counts = np.diff(tokens.offsets)[changed_rows]
        index = ranges(tokens.offsets[changed_rows], counts)
        words, out_of_table = changed_ids[index], changed_ids[index] < 0
        if out_of_table.any():
            # A min-df table lacks these terms: their lower-cased source stands for them.
            owners = np.repeat(changed_rows, counts)[out_of_table]
            base = rows.code_points.offsets[owners]
            unknown = index[out_of_table]
            source = slices(rows.code_points, base + tokens.starts[unknown], base + tokens.ends[unknown])
            extra_offsets, extra = string_buffers(pc.utf8_lower(source))
            words = words.copy()
            words[out_of_table] = len(offsets) - 1 + np.arange(len(source))
            offsets = np.concatenate([offsets, offsets[-1] + extra_offsets[1:]])
            data = np.concatenate([data, extra])
        texts = _join_words(offsets, data, words, counts)
        ends = np.diff(rows.code_points.offsets)[changed_rows].astype(np.int32)
        edits = Edits(changed_rows, np.zeros(len(changed_rows), np.int32), ends, texts)
        return edits, differs


def _join_words(
    offsets: np.ndarray, data: np.ndarray, words: np.ndarray, counts: np.ndarray
) -> pa.StringArray:
    """Sentences from words of a pool: `counts` words each, joined by single spaces."""
    space = len(data)
    data = np.append(data, np.uint8(0x20))
    lengths = np.diff(offsets)[words]
    is_last = np.zeros(len(words), bool)
    is_last[np.cumsum(counts) - 1] = True
    # Pieces: word, space, word, …; the space after a sentence's last word has length 0.
    starts = np.full(2 * len(words), space)
    piece_lengths = np.zeros(2 * len(words), np.int64)
    starts[0::2] = offsets[:-1][words]
    piece_lengths[0::2] = lengths
    piece_lengths[1::2] = ~is_last
    per_sentence = np.add.reduceat(lengths + ~is_last, np.cumsum(counts) - counts) if len(counts) else counts
    return string_array(offsets_from_lengths(per_sentence), data[ranges(starts, piece_lengths)])
