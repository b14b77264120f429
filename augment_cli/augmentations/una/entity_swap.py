"""Hard negatives: put another name, number or date of the corpus in the place of one.

`Reagan was elected in 1980` becomes `Thatcher was elected in 1979`: the sentence stays fluent and says
something else. GCSE (Lai et al. 2024) has a language model do so; here the others of the same kind are drawn
from the corpus's own terms, with probability ∝ the number of sentences that have them. Kinds are men's and
women's first names, surnames, places, peoples (`German`), months, days, weekdays, years, and numbers by their
shape. Every mention of a name changes alike. Which names are of which kind is in the table that ships; other
names are left alone, but for those behind a first name. Text without capitals has numbers only.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.augmentations.una.entities import EntityContext, entities_of
from augment_cli.augmentations.una.term_replacement import (
    COLUMNS,
    put_in_place,
    replaced_columns,
    terms_of,
    tokens_of,
)
from augment_cli.augmentations.una.vocabulary import (
    BACKGROUND_CHOICES,
    BACKGROUND_HELP,
    background_note,
    joins,
    spans_of,
    vocabulary_of,
    vocabulary_settings,
)
from augment_cli.augmentations.una.word_classes import NO_ENTITY, SURNAME, entity_digests
from augment_cli.contract.augmentation import Augmentation, Resources, avoid_parameter, avoided_words
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows, TokenRows
from augment_cli.text.surface import UPPER, case_pattern, character_classes
from augment_cli.text.untouched import is_quoted
from augment_cli.tfidf import term_table

_ATTEMPTS = 3  # draws, where the first gives what the sentence has already


@dataclass(frozen=True)
class EntitySwapParameters:
    """Parameters of the entity swap."""

    share: float = parameter(
        0.5, "probability that a name or number is swapped; at least one is", minimum=0, maximum=1
    )
    background: str = parameter("auto", BACKGROUND_HELP, choices=BACKGROUND_CHOICES)
    avoid: str = avoid_parameter()


def _resolve(parameters: EntitySwapParameters, resources: Resources) -> dict[str, Any]:
    own = terms_of(resources)
    return dataclasses.asdict(parameters) | vocabulary_settings(parameters, own, "kind") | entity_digests()


class _EntitySwap:
    """The swap with its parameters and term table: a pure function of the rows."""

    def __init__(self, parameters: EntitySwapParameters, resources: Resources) -> None:
        own = terms_of(resources)
        avoided = tuple(avoided_words(parameters.avoid).to_pylist())
        self._vocabulary = vocabulary_of(
            own, joins(parameters.background, own), avoided, "any", parameters.background
        )
        self._entities = entities_of(self._vocabulary)
        self._context = EntityContext(own, self._vocabulary)
        self._share = parameters.share
        self._cases = np.append(self._vocabulary.table.cases, 0)
        self._place_key = resources.key("entity-swap/place")
        self._term_keys = [resources.key(f"entity-swap/term/{attempt}") for attempt in range(_ATTEMPTS)]

    def __call__(self, rows: Rows) -> Outcome:
        tokens, texts = tokens_of(rows), rows.code_points
        starts, ends = spans_of(texts, tokens)
        ids = self._vocabulary.own[tokens.term_ids]
        has_capital = character_classes()[texts.values[starts]] & UPPER > 0
        doubtful = self._cases[ids] == term_table.AS_IT_IS
        doubtful &= np.arange(len(ids)) == tokens.offsets[tokens.rows]  # the first of its row
        kinds = self._entities.of_tokens(tokens, ids, has_capital & ~doubtful)
        given = self._entities.first_names(tokens, ids, kinds, has_capital & ~doubtful)
        alone = self._context.stands_alone(texts, tokens, kinds, has_capital)
        alone[given] = alone[given + 1] = True
        kinds[given + 1] = SURNAME
        kinds = np.where(alone & ~is_quoted(texts)[starts], kinds, NO_ENTITY)

        eligible = np.flatnonzero(kinds != NO_ENTITY)
        chosen = self._chosen(rows, tokens, ids, eligible)
        new_ids = self._drawn(rows, tokens, ids, kinds, chosen)
        swapped, new_ids = chosen[new_ids >= 0], new_ids[new_ids >= 0]
        places = new_ids + len(self._vocabulary.table) * case_pattern(texts, starts[swapped], ends[swapped])
        replacements = self._vocabulary.surface_forms.take(pa.array(places))
        edits, swapped = put_in_place(rows, tokens, swapped, replacements, keeps_gaps=True)
        reasons = np.full(len(rows), Reason.EMPTY_WINDOW, object)
        reasons[np.bincount(tokens.rows[eligible], minlength=len(rows)) == 0] = Reason.NO_ELIGIBLE_TOKEN
        reasons[np.diff(tokens.offsets) == 0] = Reason.NO_TOKEN
        return Outcome(edits, reasons, replaced_columns(rows, tokens, tokens.rows[swapped]))

    def _chosen(self, rows: Rows, tokens: TokenRows, ids: np.ndarray, eligible: np.ndarray) -> np.ndarray:
        """The entities to swap: all mentions of a term or none, and at least one term of each row."""
        if not len(eligible):
            return eligible
        owners = tokens.rows[eligible]
        draws = uniform(self._place_key, rows.row_ids[owners], ids[eligible].astype(np.int64))
        first = np.flatnonzero(np.append(True, np.diff(owners) > 0))
        least = np.minimum.reduceat(draws, first)
        counts = np.diff(np.append(first, len(eligible)))
        return eligible[(draws < self._share) | (draws == np.repeat(least, counts))]

    def _drawn(
        self, rows: Rows, tokens: TokenRows, ids: np.ndarray, kinds: np.ndarray, chosen: np.ndarray
    ) -> np.ndarray:
        """int64 (m,): a term that the row does not have yet for each of the tokens `chosen`; −1 for none."""
        owners, size = tokens.rows, len(self._vocabulary.table) + 1
        present = np.append(np.sort(owners * size + ids), -1)  # sorted: ten times as fast as hashing
        result = np.full(len(chosen), -1, np.int64)
        for key in self._term_keys:
            open_places = np.flatnonzero(result < 0)
            token = chosen[open_places]
            draws = uniform(key, rows.row_ids[owners[token]], ids[token].astype(np.int64))
            drawn = self._entities.draw(ids[token], kinds[token], draws)
            wanted = owners[token] * size + drawn
            is_new = present[np.searchsorted(present[:-1], wanted)] != wanted
            result[open_places] = np.where(is_new, drawn, -1)
        return result


ENTITY_SWAP = Augmentation(
    name="entity-swap",
    version=6,
    kind="negative",
    paper="after Lai et al. 2024, GCSE (entity and quantity replacement), without a language model",
    needs=frozenset({"tfidf"}),
    parameters=EntitySwapParameters,
    prepare=_EntitySwap,
    columns=COLUMNS,
    resolve=_resolve,
    also_needs=lambda parameters: frozenset({"forms"}),
    notes=lambda parameters, resources: background_note(parameters.background, terms_of(resources)),
    examples=("augment-cli entity-swap", "augment-cli entity-swap --share 1 --draws 3"),
    turns="content",
)
