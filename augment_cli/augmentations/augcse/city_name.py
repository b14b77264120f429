"""Replace names of large cities by names of small ones.

AugCSE's CityNamesTransformation. A city is a capitalised span equal to a name in GeoNames' list of cities of
500,000 people and more; it becomes one of 15,000 to 50,000 people, drawn evenly, the same one wherever it
stands in the sentence.

Differences from the original: no recogniser is needed; a name inside a longer one (`London Bridge`,
`University of London`) stays, and so does a city that is a country (`Singapore`); spacing survives, where the
original re-joins every sentence so that each differs from its source; each sentence draws for itself.
"""

import numpy as np
import pyarrow as pa

from augment_cli.augmentations.augcse.geographic_name import cities, find_places, place_digests, place_table
from augment_cli.contract.augmentation import Augmentation, Resources, prepared, with_digests
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import NoParameters
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import Words, word_edits
from augment_cli.resources import word_list_digests


def _run(parameters: NoParameters, resources: Resources, rows: Rows) -> Outcome:
    key = resources.key("city-name")
    table = cities()
    names = place_table("small_cities")["name"].combine_chunks()
    words = Words.of(rows.code_points)
    matches = find_places(words, table)
    draws = uniform(key, rows.row_ids[words.rows[matches.first]], matches.phrases)
    strings = names.take(pa.array((draws * len(names)).astype(np.int64)))
    edits = word_edits.replace_spans(words, matches.first, matches.last, strings)
    return Outcome(edits, word_edits.reasons_without(words, matches.first))


CITY_NAME = Augmentation(
    name="city-name",
    version=4,
    kind="negative",
    paper="Tang et al. 2022, AugCSE (CityNamesTransformation); GeoNames",
    languages=("en",),
    prepare=prepared(_run),
    resolve=with_digests(
        lambda: place_digests("cities", "small_cities", "countries") | word_list_digests("doubtful_places")
    ),
    examples=("augment-cli city-name", "augment-cli city-name --draws 3"),
    entailment=("other", "it speaks of another city"),
)
