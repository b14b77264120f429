"""Insert synonyms of the sentence's own words at random places: EDA's random insertion.

⌊rate·words⌋ times, at least once, as far as there are words that lend: a random word that has a synonym, and
the synonym put at a random place behind another word or itself.

Differences from the original: the synonym is drawn instead of taken from the front of an unordered list, and
inflected as its word is; no word lends a second synonym, nor does an equal one (EDA and earlier versions put
the same word in twice where few can lend: then fewer go in); nothing is lower-cased or stripped of
punctuation; function words and names lend no synonyms, and nothing is inserted before the first word, whose
capital would have to move.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.augmentation import (
    Augmentation,
    Prepared,
    Resources,
    avoid_parameter,
    avoided_words,
)
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import parameter, parts_of_speech_parameter
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import Words, lexical, word_edits
from augment_cli.english.words.lexical import synonyms
from augment_cli.english.words.readings import reading_of_each_word
from augment_cli.resources.wordnet import load_wordnet


@dataclass(frozen=True)
class InsertionParameters:
    """Parameters of random insertion; the defaults are EDA's."""

    rate: float = word_edits.rate_parameter(0.1, "insertions as a share of the words")
    maximum: int = word_edits.maximum_parameter(0)
    senses: str = parameter(
        "frequent",
        "frequent: synonyms in the senses both words mostly have; any: all senses alike, as in EDA",
        choices=("frequent", "any"),
    )
    parts_of_speech: str = parts_of_speech_parameter()
    avoid: str = avoid_parameter()


def _prepare(parameters: InsertionParameters, resources: Resources) -> Prepared:
    relation = lexical.without(synonyms(parameters.senses), avoided_words(parameters.avoid))
    replacer = lexical.Replacer(relation, resources.key("random-insertion/replacement"))
    word_key, place_key = resources.key("random-insertion/word"), resources.key("random-insertion/place")

    def run(rows: Rows) -> Outcome:
        words = Words.of(rows.code_points)
        reading = reading_of_each_word(words, parses=rows.parses)
        eligible = replacer.eligible(reading)
        lenders = _distinct(words, np.flatnonzero(eligible))
        counts = np.bincount(words.rows[lenders], minlength=len(rows))
        first = np.cumsum(counts) - counts
        times = word_edits.counts_of(words.counts, parameters.rate, "floor", parameters.maximum)
        # No word lends twice: what is too short to lend more gets fewer.
        times = np.minimum(times, counts)
        owners = np.repeat(np.arange(len(rows)), times)
        step = np.arange(len(owners)) - np.repeat(np.cumsum(times) - times, times)
        row_ids = rows.row_ids[owners]
        draws = uniform(word_key, rows.row_ids[words.rows[lenders]], words.positions[lenders])
        lenders = lenders[np.lexsort((draws, words.rows[lenders]))]
        lender = lenders[first[owners] + step]
        draws = uniform(replacer.key, row_ids, step)
        strings = load_wordnet().forms.take(pa.array(relation.draw(reading[lender], draws)))
        place = words.offsets[owners] + (uniform(place_key, row_ids, step) * words.counts[owners]).astype(
            np.int64
        )
        return Outcome(
            _insertions(words, place, strings),
            word_edits.reasons_for(words, eligible),
            word_edits.count_columns(inserted=times, words=words.counts),
        )

    return run


def _distinct(words: Words, index: np.ndarray) -> np.ndarray:
    """The first of equal words of a row, of rising indices (m,)."""
    codes = words.lower[0][index]
    order = np.lexsort((index, codes, words.rows[index]))
    codes, rows = codes[order], words.rows[index][order]
    begins = np.append(True, (codes[1:] != codes[:-1]) | (rows[1:] != rows[:-1]))[: len(order)]
    return np.sort(index[order[begins]])


def _insertions(words: Words, place: np.ndarray, strings: pa.Array) -> word_edits.Edits:
    """Insert strings (m,) behind words (m,), those behind the same word in one edit."""
    order = np.argsort(place, kind="stable")
    place, strings = place[order], strings.take(pa.array(order))
    starts = np.flatnonzero(np.append(True, np.diff(place) > 0)[: len(place)])
    offsets = pa.array(np.append(starts, len(place)), pa.int32())
    joined = pc.binary_join(pa.ListArray.from_arrays(offsets, strings), " ")
    spaced = pc.binary_join_element_wise("", joined, " ")
    behind = place[starts]
    at = words.flat_ends[behind]
    return word_edits.edits_of(words, words.rows[behind], at, at, spaced)


RANDOM_INSERTION = Augmentation(
    name="random-insertion",
    version=4,
    kind="positive",
    paper="Wei and Zou 2019, EDA; WordNet 3.0",
    languages=("en",),
    reads_parse_if_there=True,
    parameters=InsertionParameters,
    prepare=_prepare,
    columns=word_edits.count_fields("inserted", "words"),
    resolve=lexical.resolve_avoiding,
    examples=("augment-cli random-insertion", "augment-cli random-insertion --senses any --rate 0.1"),
    meaning="possibly altered",
    entailment=("neither", "a word in a random place may say something or nothing"),
)
