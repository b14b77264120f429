"""Write some words in capitals, as loud messages on the web do."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.augmentation import Augmentation, Prepared, Resources
from augment_cli.contract.parameters import parameter
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import Words, word_edits


@dataclass(frozen=True)
class LoudParameters:
    """Parameters of loud words."""

    rate: float = word_edits.rate_parameter(0.2, "words in capitals, as a share of the words")
    shortest: int = parameter(1, "leave words of fewer letters alone", minimum=1)


def _prepare(parameters: LoudParameters, resources: Resources) -> Prepared:
    key = resources.key("loud")

    def run(rows: Rows) -> Outcome:
        words = Words.of(rows.code_points)
        loud = pc.utf8_upper(words.strings)
        eligible = pc.not_equal(loud, words.strings).to_numpy(zero_copy_only=False)
        eligible &= words.flat_ends - words.flat_starts >= parameters.shortest
        chosen = word_edits.choose(words, rows.row_ids, eligible, key, parameters.rate)
        starts, ends = words.flat_starts[chosen], words.flat_ends[chosen]
        edits = word_edits.edits_of(words, words.rows[chosen], starts, ends, loud.take(pa.array(chosen)))
        return Outcome(edits, word_edits.reasons_for(words, eligible))

    return run


LOUD = Augmentation(
    name="loud",
    version=1,
    kind="positive",
    paper="none; an example",
    needs=frozenset(),
    parameters=LoudParameters,
    prepare=_prepare,
    examples=("augment-cli loud", "augment-cli loud --rate 0.5"),
)
