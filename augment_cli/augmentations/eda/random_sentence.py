"""Put a random sentence in the place of each text: of the shipped sample, or of a file (`--sentences FILE`).

The baseline of negatives that nobody chose; and general sentences beside a domain's, on which a training may
keep what its start knew (the trainer's `[agreement]`). A row draws its own sentence, never its own text. With
`--most 8` it draws one to eight and joins them, as long as a paragraph.
"""

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.augmentation import Augmentation, Prepared, Resources
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import parameter, read_lines
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.errors import UsageError
from augment_cli.resources import SAMPLE
from augment_cli.store.files import sha256_of_json
from augment_cli.text.spans import Edits


@dataclass(frozen=True)
class RandomSentenceParameters:
    """Parameters of random sentences."""

    sentences: str = parameter("", "text file with one sentence a line; empty: the shipped sample")
    without: str = parameter("", "words whose sentences are left out, separated by commas, such as not,n't")
    most: int = parameter(1, "sentences of a text: one to this many, joined by spaces", minimum=1)
    share: float = parameter(1.0, "of the rows that get one", above=0, maximum=1)


def _sentences(parameters: RandomSentenceParameters) -> list[str]:
    """The different lines of a file that have none of the words left out, in its order."""
    lines = read_lines(parameters.sentences or str(SAMPLE), "--sentences", "sentence")
    found = list(dict.fromkeys(line.strip() for line in lines))
    if words := [re.escape(word.strip()) for word in parameters.without.split(",") if word.strip()]:
        # A clitic such as n't ends a word; others are words.
        unwanted = re.compile(rf"(?:\b|(?=n['’]t))(?:{'|'.join(words)})\b", re.IGNORECASE)
        found = [sentence for sentence in found if not unwanted.search(sentence)]
    if len(found) < 2:
        raise UsageError(
            f"--sentences {parameters.sentences}: holds {len(found)} different sentences; it takes two"
        )
    return found


def _prepare(parameters: RandomSentenceParameters, resources: Resources) -> Prepared:
    sentences = pa.array(_sentences(parameters))
    key, share_key, count_key = (
        resources.key(purpose)
        for purpose in ("random-sentence", "random-sentence share", "random-sentence count")
    )

    def run(rows: Rows) -> Outcome:
        lengths = np.diff(rows.code_points.offsets).astype(np.int32)

        chosen = uniform(share_key, rows.row_ids, np.zeros(len(rows), int)) < parameters.share
        index = np.flatnonzero((lengths > 0) & chosen)  # an empty text has no place for one
        counts = uniform(count_key, rows.row_ids[index], np.zeros(len(index), int)) * parameters.most
        counts = 1 + counts.astype(np.int64)
        places = np.repeat(index, counts)
        nth = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
        drawn = (uniform(key, rows.row_ids[places], nth) * len(sentences)).astype(np.int64)
        own = pc.equal(sentences.take(pa.array(drawn)), rows.texts.take(pa.array(places)))
        drawn = (drawn + own.to_numpy(zero_copy_only=False)) % len(sentences)
        joined = pc.binary_join(
            pa.ListArray.from_arrays(
                pa.array(np.append(0, np.cumsum(counts)).astype(np.int32)), sentences.take(pa.array(drawn))
            ),
            " ",
        )
        edits = Edits(index, np.zeros(len(index), np.int32), lengths[index], joined)
        reasons = np.where(chosen, "no_token", "no_position_drawn").astype(object)
        return Outcome(edits, reasons)

    return run


RANDOM_SENTENCE = Augmentation(
    name="random-sentence",
    version=1,
    kind="negative",
    paper="random negatives, the baseline that mined and made ones are compared with",
    parameters=RandomSentenceParameters,
    prepare=_prepare,
    resolve=lambda parameters, resources: {"sentences": sha256_of_json(_sentences(parameters))},
    examples=(
        "augment-cli random-sentence",
        "augment-cli random-sentence --most 8 --share 0.2 --name passage",
    ),
    entailment=("other", "another sentence says something else"),
)
