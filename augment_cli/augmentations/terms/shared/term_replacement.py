"""TF-IDF-driven term replacement, the arithmetic shared by UNA and its opposite, UDA.

Source: Shu and Lampos 2024 (UNA), section 2, steps 2 and 3, in the reading over token occurrences
that the authors' code has: each occurrence has its own coin and its own replacement.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.augmentation import Resources
from augment_cli.contract.parameters import parameter, read_word_list
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows, TokenRows
from augment_cli.draws import uniform
from augment_cli.errors import UsageError
from augment_cli.store.files import sha256_of_json
from augment_cli.text.letter_case import case_pattern
from augment_cli.text.spans import Edits, offsets_from_lengths, ranges, string_array, string_buffers
from augment_cli.text.surface import equals_original, slices, spaced
from augment_cli.tfidf.term_table import TermTable

LONGEST_TERM = 100  # characters; the longest word of a dictionary has 45
COLUMNS = (pa.field("replaced", pa.int32(), nullable=False), pa.field("tokens", pa.int32(), nullable=False))


@dataclass(frozen=True)
class TermReplacementParameters:
    """Parameters of UNA and UDA; the defaults are the paper's, the window as a share of the vocabulary."""

    beta: float = parameter(0.5, "mean replacement probability of a token", minimum=0, maximum=1)
    radius: str = parameter(
        "1%", "ranks either side to draw a replacement from (the paper's 4000), or a share of the terms"
    )
    positions: str = parameter("tfidf", "how positions are chosen", choices=("tfidf", "random"))
    terms: str = parameter("tfidf", "how replacements are chosen", choices=("tfidf", "random"))
    include_self: bool = parameter(False, "let a term replace itself, as the authors' code does")
    keep: str = parameter("", "file of terms that are never replaced, one a line")
    surface: str = parameter(
        "natural",
        "natural: edit the original in place; reference: lower-cased tokens, joined by spaces",
        choices=("natural", "reference"),
    )


def resolve(parameters: TermReplacementParameters, resources: Resources) -> dict[str, Any]:
    """The JSON values the result depends on: the radius in ranks, the protected terms by digest."""
    words = read_word_list(parameters.keep, "--keep") if parameters.keep else ()
    limit = {"longest_term": LONGEST_TERM} if _leaves_out_long_terms(parameters, _terms(resources)) else {}
    return dataclasses.asdict(parameters) | {
        "radius": radius_in_ranks(parameters.radius, _terms(resources)),
        "keep": sha256_of_json(words) if words else None,
        **limit,
    }


def _leaves_out_long_terms(parameters: TermReplacementParameters, terms: TermTable) -> bool:
    """Whether there are terms that are no words (addresses, encoded data), which no sentence shall get.

    The authors' surface keeps them, as the paper does.
    """
    return parameters.surface == "natural" and bool(_long_terms(terms).any())


def _long_terms(terms: TermTable) -> np.ndarray:
    """bool (V,): the terms of more than `LONGEST_TERM` characters."""
    return pc.greater(pc.utf8_length(terms.terms), LONGEST_TERM).to_numpy(zero_copy_only=False)


def radius_in_ranks(radius: str, terms: TermTable) -> int:
    """`4000` or `1%` (of the vocabulary, rounded, at least 1) as a number of ranks."""
    match = re.fullmatch(r"(\d+)|(\d+(?:\.\d+)?)\s*%", str(radius).strip(), re.ASCII)
    if match is None:
        raise UsageError(f"--radius {radius}: give a number of ranks such as 4000, or a share such as 1%")
    if match[1] is not None:
        return int(match[1])
    return max(1, round(float(match[2]) / 100 * len(terms)))


def warnings(parameters: TermReplacementParameters, resources: Resources) -> list[str]:
    """What of the parameters does not do what one may think, given this vocabulary."""
    terms = _terms(resources)
    size, radius = len(terms), radius_in_ranks(parameters.radius, terms)
    notes = []
    if parameters.beta == 0 and parameters.positions == "tfidf":
        notes.append(
            "--beta 0: one term of each sentence is replaced all the same, that with the highest weight, as "
            "the method has it; --positions random --beta 0 replaces none"
        )
    if parameters.terms == "random":
        return notes
    if radius == 0 and not parameters.include_self:
        notes.append(
            "--radius 0: no other term is in the window, so nothing will be changed; try --radius 1%"
        )
    elif 2 * radius + 1 > size / 2:
        share = f"the window covers {min(1, (2 * radius + 1) / size):.0%} of the {size:,} terms"
        if str(parameters.radius).strip().endswith("%"):
            remedy = "a smaller share, or a larger corpus, makes them look-alikes"
        else:
            remedy = "--radius 1% grows with the corpus"
        notes.append(
            f"--radius {parameters.radius}: {share}, so replacements are hardly chosen by weight; {remedy}"
        )
    return notes


def _terms(resources: Resources) -> TermTable:
    if resources.terms is None:
        raise ValueError("term replacement needs the fitted term table")
    return resources.terms


def replacement_probabilities(
    tokens: TokenRows, eligible: np.ndarray, beta: float, opposite: bool = False
) -> np.ndarray:
    """Probability that each token occurrence is replaced.

    With z the weights of a sentence's n eligible tokens and a_i = z_i − min z (`opposite`: max z − z_i),
    p_i = min(1, β·n·a_i/Σa); the first arg-max of p gets 1 (UNA, step 2). Where Σa = 0 (one token, or
    all scores equal) the first eligible token gets 1 and the others 0.

    Parameters
    ----------
    tokens : TokenRows
        N token occurrences of n sentences.
    eligible : ndarray of bool, shape (N,)
        Tokens that may be replaced; the others get 0 and take no part in n, min z and Σa.
    beta : float
        In [0, 1].
    opposite : bool
        Favour the unimportant tokens (UDA).

    Returns
    -------
    ndarray of float64, shape (N,)
    """
    index = np.flatnonzero(eligible)
    probabilities = np.zeros(len(tokens.weights))
    if not len(index):
        return probabilities
    token_rows = tokens.rows[index]
    first = np.flatnonzero(np.append(True, np.diff(token_rows) > 0))  # first token of each sentence
    counts = np.diff(np.append(first, len(index)))
    scores = tokens.weights[index]
    if opposite:
        scores = -scores
    above = scores - np.repeat(np.minimum.reduceat(scores, first), counts)
    sums = np.add.reduceat(above, first)
    scale = np.divide(beta * counts, sums, out=np.zeros(len(first)), where=sums > 0)
    chosen = np.minimum(above * np.repeat(scale, counts), 1.0)

    # The first arg-max is always attempted; by `above`, since clipping may have made p equal.
    is_maximum = above == np.repeat(np.maximum.reduceat(above, first), counts)
    positions = np.where(is_maximum, np.arange(len(index)), len(index))
    chosen[np.minimum.reduceat(positions, first)] = 1.0
    probabilities[index] = chosen
    return probabilities


class TermReplacement:
    """UNA or UDA with its parameters and term table: a pure function of the rows."""

    def __init__(
        self, name: str, parameters: TermReplacementParameters, resources: Resources, opposite: bool
    ) -> None:
        self._parameters = parameters
        self._terms = _terms(resources)
        self._radius = radius_in_ranks(parameters.radius, self._terms)
        self._opposite = opposite
        self._position_key = resources.key(f"{name}/position")
        self._term_key = resources.key(f"{name}/term")
        self._too_long = None
        if _leaves_out_long_terms(parameters, self._terms):
            self._too_long = _long_terms(self._terms)
        self._kept = np.zeros(len(self._terms) + 1, bool)  # the last one for id −1, terms not in the table
        self._kept[-1] = True
        if parameters.keep:
            words = read_word_list(parameters.keep, "--keep")
            ids = self._terms.ids_of(pa.array(words, pa.string()))
            self._kept[ids[ids >= 0]] = True

    def __call__(self, rows: Rows) -> Outcome:
        tokens = rows.tokens
        if tokens is None:
            raise ValueError("term replacement needs the TF-IDF tokens of its rows")
        lengths = np.diff(tokens.offsets)
        owners = tokens.rows
        counters = np.arange(len(owners)) - np.repeat(tokens.offsets[:-1], lengths)
        eligible = ~self._kept[tokens.term_ids]

        if self._parameters.positions == "random":
            probabilities = np.where(eligible, self._parameters.beta, 0.0)
        else:
            probabilities = replacement_probabilities(tokens, eligible, self._parameters.beta, self._opposite)
        row_ids = rows.row_ids[owners]
        drawn = np.flatnonzero(uniform(self._position_key, row_ids, counters) < probabilities)

        draw = self._terms.draw_any if self._parameters.terms == "random" else self._draw_in_window
        uniforms = uniform(self._term_key, row_ids[drawn], counters[drawn])
        new_ids = draw(tokens.term_ids[drawn], uniforms=uniforms, include_self=self._parameters.include_self)
        if self._too_long is not None:
            new_ids = np.where((new_ids >= 0) & self._too_long[new_ids], -1, new_ids)
        has_term = new_ids >= 0

        reasons = self._reasons(len(rows), lengths, owners, eligible, drawn, has_term)
        chosen, new_ids = drawn[has_term], new_ids[has_term]
        if self._parameters.surface == "reference":
            edits, replaced = self._reference_edits(rows, tokens, chosen, new_ids)
        else:
            edits, replaced = self._natural_edits(rows, tokens, chosen, new_ids)
        columns = {
            "replaced": pa.array(np.bincount(owners[replaced], minlength=len(rows)).astype(np.int32)),
            "tokens": pa.array(lengths.astype(np.int32)),
        }
        return Outcome(edits, reasons, columns)

    def _draw_in_window(self, ids: np.ndarray, uniforms: np.ndarray, include_self: bool) -> np.ndarray:
        return self._terms.draw_ids(ids, self._radius, uniforms, include_self)

    @staticmethod
    def _reasons(
        count: int,
        lengths: np.ndarray,
        rows: np.ndarray,
        eligible: np.ndarray,
        drawn: np.ndarray,
        has_term: np.ndarray,
    ) -> np.ndarray:
        reasons = np.full(count, Reason.SAME_TEXT, object)
        any_has_term = np.bincount(rows[drawn[has_term]], minlength=count) > 0
        any_drawn = np.bincount(rows[drawn], minlength=count) > 0
        any_eligible = np.bincount(rows[eligible], minlength=count) > 0
        reasons[~any_has_term] = Reason.EMPTY_WINDOW
        reasons[~any_drawn] = Reason.NO_POSITION_DRAWN
        reasons[~any_eligible] = Reason.NO_ELIGIBLE_TOKEN
        reasons[lengths == 0] = Reason.NO_TOKEN
        return reasons

    def _natural_edits(
        self, rows: Rows, tokens: TokenRows, chosen: np.ndarray, new_ids: np.ndarray
    ) -> tuple[Edits, np.ndarray]:
        """One edit for each replaced token, in the case pattern of what it replaces.

        Where tokens touch without a space (`do` and `n't`) and a replacement would grow together with
        its neighbour, a space goes with the replacement.
        """
        count = len(self._terms)
        owners = tokens.rows[chosen]
        base = rows.code_points.offsets[owners]
        starts, ends = base + tokens.starts[chosen], base + tokens.ends[chosen]
        forms = new_ids + count * case_pattern(rows.code_points, starts, ends)
        replacements = self._terms.surface_forms.take(pa.array(forms))

        same = equals_original(rows.code_points, starts, ends, replacements)
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
        offsets, data = string_buffers(self._terms.terms)
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
            extra_offsets, extra = string_buffers(pa.compute.utf8_lower(source))
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
