"""TF-IDF-driven term replacement, the arithmetic shared by UNA and its opposite, UDA.

Source: Shu and Lampos 2024 (UNA), section 2, steps 2 and 3, in the reading over token occurrences
that the authors' code has: each occurrence has its own coin and its own replacement.
"""

import dataclasses
import re
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.augmentations.una.vocabulary import (
    BACKGROUND_CHOICES,
    BACKGROUND_HELP,
    LONGEST_TERM,
    background_note,
    joins,
    long_terms,
    spans_of,
    vocabulary_settings,
)
from augment_cli.contract.augmentation import Resources, avoid_parameter
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import parameter, read_word_list
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows, TokenRows
from augment_cli.errors import UsageError
from augment_cli.resources import load_english_terms
from augment_cli.store.files import sha256_of_json
from augment_cli.text.spans import Edits
from augment_cli.text.surface import equals_original, spaced
from augment_cli.tfidf.term_table import TermTable

_NUMBER = r"(\d+(?:\.\d*)?(?:e-?\d+)?|\.\d+)"
COLUMNS = (pa.field("replaced", pa.int32(), nullable=False), pa.field("tokens", pa.int32(), nullable=False))


@dataclass(frozen=True)
class TermReplacementParameters:
    """Parameters of UNA and UDA; the defaults are the paper's, the window as a share of the vocabulary."""

    beta: str = parameter(
        "0.5", "mean replacement probability of a token; 0.1:0.5 spreads it over the draws, or over the rows"
    )
    radius: str = parameter(
        "1%", "ranks either side to draw a replacement from (the paper's 4000), or a share of the terms"
    )
    positions: str = parameter("tfidf", "how positions are chosen", choices=("tfidf", "random"))
    terms: str = parameter("tfidf", "how replacements are chosen", choices=("tfidf", "random"))
    include_self: bool = parameter(False, "let a term replace itself, as the authors' code does")
    keep: str = parameter("", "file of terms that are never replaced, one a line")
    same: str = parameter("any", "pos: draw only terms of the same kind and form", choices=("any", "pos"))
    background: str = parameter("auto", BACKGROUND_HELP, choices=BACKGROUND_CHOICES)
    avoid: str = avoid_parameter()
    surface: str = parameter(
        "natural",
        "natural: edit words in place, punctuation stays, names keep their capitals; in-place: the paper's "
        "draws, edited in place; reference: the same as lower-cased tokens, joined by spaces",
        choices=("natural", "in-place", "reference"),
    )

    def __post_init__(self) -> None:
        bounds_of(self.beta)
        if self.surface != "natural" and (self.same != "any" or self.background == "always"):
            raise UsageError(
                f"--surface {self.surface} draws from the corpus's own terms of any kind, as the paper does; "
                "leave --same and --background out, or the surface"
            )


def also_needs(parameters: TermReplacementParameters) -> frozenset[str]:
    """How the terms are written, where they are put into sentences as words."""
    return frozenset({"forms"} if parameters.surface == "natural" else ())


def resolve(parameters: TermReplacementParameters, resources: Resources) -> dict[str, Any]:
    """The JSON values the result depends on: the radius in ranks, the protected terms by digest."""
    terms = terms_of(resources)
    words = read_word_list(parameters.keep, "--keep") if parameters.keep else ()
    first, last = bounds_of(parameters.beta)
    settings = dataclasses.asdict(parameters) | {
        "beta": first if first == last else f"{first!r}:{last!r}",
        "radius": radius_in_ranks(parameters.radius, terms),
        "keep": sha256_of_json(words) if words else None,
    }
    if parameters.surface == "natural":
        return settings | vocabulary_settings(parameters, terms, parameters.same)
    # The names and values of version 0.1.0, whose only surface beside the reference was this one.
    for name in ("same", "background", "avoid"):
        del settings[name]
    if parameters.surface == "in-place":
        settings["surface"] = "natural"
        if long_terms(terms).any():
            settings["longest_term"] = LONGEST_TERM
    return settings


def joins_background(parameters: TermReplacementParameters, terms: TermTable) -> bool:
    """Whether the shipped table joins the corpus's own."""
    return parameters.surface == "natural" and joins(parameters.background, terms)


def notes(parameters: TermReplacementParameters, resources: Resources) -> list[str]:
    """What is done with a small corpus."""
    return (
        background_note(parameters.background, terms_of(resources)) if parameters.surface == "natural" else []
    )


def paper_note(parameters: TermReplacementParameters) -> list[str]:
    """How the default surface differs from the paper, where the radius is given as in the paper."""
    if parameters.surface != "natural" or parameters.same != "any" or "%" in str(parameters.radius):
        return []
    return [
        f"--radius {parameters.radius} is a number of ranks, as in the paper, but the surface 'natural' "
        "replaces words alone, by words; --surface in-place replaces any token by any, as the paper does."
    ]


def radius_in_ranks(radius: str, terms: TermTable) -> int:
    """`4000` or `1%` (of the vocabulary, rounded, at least 1) as a number of ranks."""
    # No table has more than nine digits of ranks.
    match = re.fullmatch(r"(\d{1,9})|(\d{1,9}(?:\.\d+)?)\s*%", str(radius).strip(), re.ASCII)
    if match is None:
        raise UsageError(f"--radius {radius}: give a number of ranks such as 4000, or a share such as 1%")
    if match[1] is not None:
        return int(match[1])
    return max(1, round(float(match[2]) / 100 * len(terms)))


def warnings(parameters: TermReplacementParameters, resources: Resources) -> list[str]:
    """Warnings of parameters that do little, or too much, with this vocabulary."""
    terms = terms_of(resources)
    size, radius = len(terms), radius_in_ranks(parameters.radius, terms)
    if joins_background(parameters, terms):
        size += len(load_english_terms().terms)
    notes = []
    if bounds_of(parameters.beta) == (0, 0) and parameters.positions == "tfidf":
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


def tokens_of(rows: Rows) -> TokenRows:
    """The TF-IDF tokens of some rows."""
    if rows.tokens is None:
        raise ValueError("term replacement needs the TF-IDF tokens of its rows")
    return rows.tokens


def terms_of(resources: Resources) -> TermTable:
    """The corpus's own term table."""
    if resources.terms is None:
        raise ValueError("term replacement needs the fitted term table")
    return resources.terms


def replacement_probabilities(
    tokens: TokenRows, eligible: np.ndarray, beta: float | np.ndarray, opposite: bool = False
) -> np.ndarray:
    """Probability that each token occurrence is replaced."""
    # With z the weights of a sentence's n eligible tokens and a_i = z_i − min z (`opposite`: max z − z_i),
    # p_i = min(1, β·n·a_i/Σa); the first arg-max of p gets 1 (UNA, step 2). Where Σa = 0 (one token, or all
    # scores equal) the first eligible token gets 1 and the others 0.
    # Tokens that are not `eligible` (N,) get 0 and take no part in n, min z and Σa. `beta` is one for all
    # sentences, or one for each (n,).
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
    share = beta[token_rows[first]] if isinstance(beta, np.ndarray) else beta
    scale = np.divide(share * counts, sums, out=np.zeros(len(first)), where=sums > 0)
    chosen = np.minimum(above * np.repeat(scale, counts), 1.0)

    # The first arg-max is always attempted; by `above`, since clipping may have made p equal.
    is_maximum = above == np.repeat(np.maximum.reduceat(above, first), counts)
    positions = np.where(is_maximum, np.arange(len(index)), len(index))
    chosen[np.minimum.reduceat(positions, first)] = 1.0
    probabilities[index] = chosen
    return probabilities


def bounds_of(beta: str) -> tuple[float, float]:
    """`0.5` or `0.1:0.5` as the first and the last β."""
    match = re.fullmatch(rf"{_NUMBER}(?::{_NUMBER})?", str(beta).strip().lower(), re.ASCII)
    if match is None:
        raise UsageError(
            f"--beta {beta}: not a valid number; give a share such as 0.5, or a range such as 0.1:0.5"
        )
    first, last = float(match[1]), float(match[2] or match[1])
    if max(first, last) > 1:
        raise UsageError(f"--beta {beta}: must be at most 1")
    return first, last


def of_draw(parameters: Any, draw: int, draws: int) -> Any:
    """Parameters with the β of one of several draws, in equal steps from the first to the last."""
    # A single draw keeps the range, which is then spread over the rows.
    first, last = bounds_of(parameters.beta)
    if first == last or draws == 1:
        return parameters
    share = round(first + (last - first) * draw / (draws - 1), 6)
    return dataclasses.replace(parameters, beta=str(share))


def shares_of_rows(beta: str, key: int, row_ids: np.ndarray) -> np.ndarray:
    """Float64 (n,): each row's own β; uniform within a range, and the same whenever it is drawn."""
    first, last = bounds_of(beta)
    if first == last:
        return np.full(len(row_ids), first)
    return first + (last - first) * uniform(key, row_ids, np.zeros(len(row_ids), np.int64))


def put_in_place(
    rows: Rows, tokens: TokenRows, chosen: np.ndarray, replacements: pa.StringArray, keeps_gaps: bool = False
) -> tuple[Edits, np.ndarray]:
    """Edits that put strings (m,) in the place of the tokens `chosen` (m,), and the tokens that change."""
    # Where tokens touch without a space (`do` and `n't`) and a replacement would grow together with its
    # neighbour, a space goes with the replacement, unless `keeps_gaps`.
    texts, owners = rows.code_points, tokens.rows[chosen]
    # The same word in the same case is no edit.
    same = equals_original(texts, owners, *spans_of(texts, tokens, chosen), replacements)
    chosen, owners, replacements = chosen[~same], owners[~same], replacements.filter(pa.array(~same))
    if not keeps_gaps:
        replacements = spaced(texts, owners, *spans_of(texts, tokens, chosen), replacements)
    return Edits(owners, tokens.starts[chosen], tokens.ends[chosen], replacements), chosen


def replaced_columns(rows: Rows, tokens: TokenRows, replaced: np.ndarray) -> dict[str, pa.Array]:
    """How many tokens of each row are replaced, of how many; `replaced` (m,) are the rows of those."""
    return {
        "replaced": pa.array(np.bincount(replaced, minlength=len(rows)).astype(np.int32)),
        "tokens": pa.array(np.diff(tokens.offsets).astype(np.int32)),
    }


class TermReplacement:
    """UNA or UDA with its parameters and term table: a pure function of the rows.

    What the surfaces differ in is theirs: which tokens may be replaced, by which terms, and the edits.
    """

    def __init__(
        self, name: str, parameters: TermReplacementParameters, resources: Resources, opposite: bool
    ) -> None:
        self.parameters = parameters
        self.terms = terms_of(resources)
        self._opposite = opposite
        self._position_key = resources.key(f"{name}/position")
        self._term_key = resources.key(f"{name}/term")
        self._share_key = resources.key(f"{name}/beta")

    def kept(self) -> np.ndarray:
        """bool (V+1,): protected terms, and the last one for id −1, terms not in the table."""
        kept = np.zeros(len(self.terms) + 1, bool)
        kept[-1] = True
        if self.parameters.keep:
            words = read_word_list(self.parameters.keep, "--keep")
            ids = self.terms.ids_of(pa.array(words, pa.string()))
            kept[ids[ids >= 0]] = True
        return kept

    def weighed(self, tokens: TokenRows, eligible: np.ndarray) -> TokenRows:
        """The tokens with the weights that choose positions; those of tokens not `eligible` do not count."""
        return tokens

    @abstractmethod
    def eligible(self, rows: Rows, tokens: TokenRows) -> np.ndarray:
        """bool (N,): which tokens may be replaced."""

    @abstractmethod
    def draw(self, ids: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """int32 (m,): what replaces each of some terms of the corpus's table; −1 for nothing."""

    @abstractmethod
    def edits(
        self, rows: Rows, tokens: TokenRows, chosen: np.ndarray, new_ids: np.ndarray
    ) -> tuple[Edits, np.ndarray]:
        """The edits that put terms in the place of the tokens `chosen`, and which tokens these then are."""

    def __call__(self, rows: Rows) -> Outcome:
        """Replace some terms of some rows."""
        tokens = tokens_of(rows)
        owners = tokens.rows
        eligible = self.eligible(rows, tokens)
        drawn = self.drawn_positions(rows, tokens, eligible)
        new_ids = self.drawn_terms(rows, tokens, drawn)
        has_term = new_ids >= 0

        reasons = np.full(len(rows), Reason.SAME_TEXT, object)
        for some, reason in (
            (drawn[has_term], Reason.EMPTY_WINDOW),
            (drawn, Reason.NO_POSITION_DRAWN),
            (np.flatnonzero(eligible), Reason.NO_ELIGIBLE_TOKEN),
        ):
            reasons[np.bincount(owners[some], minlength=len(rows)) == 0] = reason
        reasons[np.diff(tokens.offsets) == 0] = Reason.NO_TOKEN
        edits, replaced = self.edits(rows, tokens, drawn[has_term], new_ids[has_term])
        return Outcome(edits, reasons, replaced_columns(rows, tokens, owners[replaced]))

    def drawn_terms(self, rows: Rows, tokens: TokenRows, drawn: np.ndarray) -> np.ndarray:
        """int32 (m,): what replaces the tokens `drawn` (m,); −1 for nothing."""
        return self.draw(tokens.term_ids[drawn], self._uniforms(self._term_key, rows, tokens, drawn))

    @staticmethod
    def _uniforms(key: int, rows: Rows, tokens: TokenRows, drawn: np.ndarray) -> np.ndarray:
        owners = tokens.rows[drawn]
        return uniform(key, rows.row_ids[owners], drawn - tokens.offsets[owners])

    def drawn_positions(self, rows: Rows, tokens: TokenRows, eligible: np.ndarray) -> np.ndarray:
        """int64 (m,): the tokens to replace, of those that may be."""
        owners = tokens.rows
        shares = shares_of_rows(self.parameters.beta, self._share_key, rows.row_ids)
        if self.parameters.positions == "random":
            probabilities = np.where(eligible, shares[owners], 0.0)
        else:
            weighed = self.weighed(tokens, eligible)
            probabilities = replacement_probabilities(weighed, eligible, shares, self._opposite)
        possible = np.flatnonzero(probabilities)  # no draw is below 0
        owners = owners[possible]
        uniforms = uniform(self._position_key, rows.row_ids[owners], possible - tokens.offsets[owners])
        return possible[uniforms < probabilities[possible]]
