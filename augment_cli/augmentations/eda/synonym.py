"""Replace words by WordNet synonyms, inflected, in one sentence of ten: EDA's and AugCSE's substitution.

- WNet and SDA's synonym baseline, the default: ⌈rate·words⌉ words, rate 5, 10 or 20 %, at most 10 of them.
- EDA: ⌊0.1·words⌋ distinct words, at least one, and every occurrence of each
  (`--amount floor --maximum 0 --senses any --occurrences all`).
- AugCSE's SynonymSubstitution: each word on its own with probability one half
  (`--rate 0.5 --amount coin --maximum 0`).

`--senses frequent` draws a synonym with probability ∝ Σ P(sense | word)·P(sense | synonym), from WordNet's
sense counts, of those that say the same in nearly every sentence (`words/plain_synonyms.txt`). None is put
beside neighbours that hardly know it, and compounds, expressions, quotations and texts with gaps stay;
`--senses any` draws evenly from all senses, as EDA does.

Differences from the originals: inflection and case are kept (`walked`, `strolled`), `a` and `an` follow,
phrases and names are not put in, nothing is lower-cased or re-tokenised, function words and words with a
capital inside the sentence are never replaced, and each sentence draws for itself. The part of speech and
the inflection come from the cached parse where the store has one (`--parts-of-speech`), else from WordNet's
counts and the word on the left; with a parse, parts of compounds (`source code`) and verbs with a particle
are left alone. Pairs that read badly wherever they were met are on a list (`words/avoided_pairs.txt`).

Changes 15 % of sentences of Wikipedia and books, 26 % of reviews, and 6 % of questions and requests;
`--senses any` changes 95 %, most of them wrongly, and there is no setting between the two.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from augment_cli.contract.augmentation import (
    Augmentation,
    Prepared,
    Resources,
    avoid_parameter,
    avoided_words,
)
from augment_cli.contract.parameters import parameter, parts_of_speech_parameter
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import Words, lexical, word_edits
from augment_cli.english.words.lexical import synonyms
from augment_cli.english.words.readings import reading_of_each_word
from augment_cli.english.words.replaceable import may_be_replaced
from augment_cli.resources import collocations_digest, word_list_digests


@dataclass(frozen=True)
class SynonymParameters:
    """Parameters of synonym replacement; the defaults are WNet's at 10 %."""

    rate: float = word_edits.rate_parameter(0.1, "share of the words to replace")
    amount: str = word_edits.amount_parameter("ceil")
    maximum: int = word_edits.maximum_parameter(10)
    senses: str = parameter(
        "frequent",
        "frequent: synonyms in the senses both words mostly have; any: all senses alike",
        choices=("frequent", "any"),
    )
    occurrences: str = parameter(
        "one", "replace only the chosen place, or every occurrence of its word", choices=("one", "all")
    )
    parts_of_speech: str = parts_of_speech_parameter()
    avoid: str = avoid_parameter()


def _prepare(parameters: SynonymParameters, resources: Resources) -> Prepared:
    relation = synonyms(parameters.senses)
    if _is_fitted(parameters):
        relation = lexical.listed(relation, "plain_synonyms")
    relation = lexical.without(relation, avoided_words(parameters.avoid))
    replacer = lexical.Replacer(relation, resources.key("synonym/replacement"))
    key = resources.key("synonym/word")

    def run(rows: Rows) -> Outcome:
        words = Words.of(rows.code_points)
        reading = reading_of_each_word(words, parses=rows.parses)
        eligible = replacer.eligible(reading)
        if _is_fitted(parameters):
            eligible &= may_be_replaced(words, rows.parses)
            eligible = replacer.fitting(rows, words, reading, eligible)
        index = word_edits.choose(
            words, rows.row_ids, eligible, key, parameters.rate, parameters.amount, parameters.maximum
        )
        if parameters.occurrences == "all":
            key_of_word = words.rows * len(words.lower[1]) + words.lower[0]
            index = np.flatnonzero(eligible & np.isin(key_of_word, key_of_word[index]))
        return replacer.outcome(rows, words, reading, index, word_edits.reasons_for(words, eligible))

    return run


def _is_fitted(parameters: SynonymParameters) -> bool:
    """Whether a replacement has to go with its neighbours; EDA looks at none."""
    return parameters.senses == "frequent" and parameters.occurrences == "one"


def _resolve(parameters: SynonymParameters, resources: Resources) -> dict[str, Any]:
    """With the counts of neighbours where they are read: EDA's stages are what they were."""
    settings = lexical.resolve_avoiding(parameters, resources)
    if not _is_fitted(parameters):
        return settings
    return settings | word_list_digests("plain_synonyms") | {"collocations": collocations_digest()}


SYNONYM = Augmentation(
    name="synonym",
    version=7,
    kind="positive",
    paper="Wei and Zou 2019, EDA; Zhang et al. 2022, VaSCL (WNet); Tang et al. 2022, AugCSE; WordNet 3.0",
    languages=("en",),
    reads_parse_if_there=True,
    parameters=SynonymParameters,
    prepare=_prepare,
    columns=lexical.COLUMNS,
    resolve=_resolve,
    examples=(
        "augment-cli synonym --rate 0.2",
        "augment-cli synonym --amount floor --maximum 0 --senses any --occurrences all --name eda-synonym",
    ),
)
