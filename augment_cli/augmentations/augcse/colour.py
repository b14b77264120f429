"""Replace colour words by other colours, each drawn evenly among the common ones that are no shade of it.

It says something else: `change the lights to grey` is not what `change the lights to green` asks for.
AugCSE's ColorTransformation, with this project's list of words that are seldom anything but a colour
(`resources/words/colours.txt`) instead of the 147 names of CSS, of which many are fruits, metals and places.

Differences from the original: whole words instead of substrings (`red` in `hundred`), every occurrence
instead of the first, the same colour for the same word within a sentence and another for another,
capitalised words inside a sentence (`Red Sea`), surnames that begin one, and colours before words for
people, before names and in terms (`black market`, `yellow fever`; `resources/words/colour_terms.txt`) are
left alone; case and spacing survive, and each sentence draws for itself.
"""

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.augmentation import Augmentation, Resources, prepared, with_digests
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import NoParameters
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import Words, word_edits
from augment_cli.resources import word_groups, word_list, word_list_digests, word_set
from augment_cli.resources.wordnet import NOUN, load_wordnet, wordnet_digest

_NOUN_PERSON = 18  # lexnames(5WN)
_WORDS = word_groups("colour")


@lru_cache(maxsize=1)
def _others() -> list[list[int]]:
    """For each colour those that are no shade of it."""
    names, families = word_list("colours"), [set(family.split()) for family in word_list("colour_families")]
    found = []
    for one in names:
        shades = {one}.union(*(family for family in families if one in family))
        found.append([n for n, other in enumerate(names) if other in _WORDS.drawn - shades])
    return found


@lru_cache(maxsize=1)
def _people() -> pa.Array:
    """Words that mostly mean a person: forms of nouns whose usual sense WordNet files under noun.person."""
    wordnet = load_wordnet()
    first = wordnet.sense_synsets[wordnet.entry_senses[:-1][wordnet.form_entries]]
    is_person = (wordnet.synset_files[first] == _NOUN_PERSON) & (wordnet.synset_parts[first] == NOUN)
    return wordnet.forms.filter(pa.array(is_person))


def colour_words(words: Words) -> tuple[np.ndarray, np.ndarray]:
    """Indices (m,) of the words that are colours, and which colour each is."""
    colours = words.index_in(word_set("colours"))
    index = np.flatnonzero(colours >= 0)
    capital = words.has_capital
    is_name = words.among(_WORDS.surnames)[index]
    keep = ~capital[index] | ((words.positions[index] == 0) & ~is_name)
    following = np.minimum(index + 1, len(words) - 1)
    behind = words.among(word_set("colour_terms")) | capital | words.among(_people())
    # `black and white artists`: two colours of the same people.
    joined = words.among({"and", "or"})[following] & words.follows_space[following]
    second = np.minimum(index + 2, len(words) - 1)
    third = np.minimum(index + 3, len(words) - 1)
    shared = joined & (colours[second] >= 0) & words.follows_space[second] & words.follows_space[third]
    speaks_of_race = np.bincount(words.rows, words.among(_WORDS.race), len(words.counts)) > 0
    keep &= ~(words.among(_WORDS.of_race)[index] & speaks_of_race[words.rows[index]])
    keep &= ~((index + 1 < len(words)) & words.follows_space[following] & behind[following])
    keep &= ~(shared & behind[third])
    keep &= ~(words.follows_space[index] & words.among(_WORDS.of_faces)[np.maximum(index - 1, 0)])
    keep &= ~(words.follows_space[following] & words.among({"as"})[following])
    index = index[keep]
    return index, colours[index]


def _run(parameters: NoParameters, resources: Resources, rows: Rows) -> Outcome:
    key = resources.key("colour")
    words = Words.of(rows.code_points)
    index, colours = colour_words(words)
    # The colour itself is the counter, so that equal words stay equal.
    draws = uniform(key, rows.row_ids[words.rows[index]], colours)
    drawn = _drawn(words.rows[index], colours, draws)
    strings = word_edits.in_case_of(words, index, pc.take(word_set("colours"), pa.array(drawn, pa.int64())))
    return Outcome(word_edits.replace_words(words, index, strings), word_edits.reasons_without(words, index))


def _drawn(rows: np.ndarray, colours: np.ndarray, draws: np.ndarray) -> list[int]:
    """For each colour word of a row (m,) another; one for a colour, which its row has not yet."""
    places = list(zip(rows.tolist(), colours.tolist(), strict=True))
    taken: dict[int, set[int]] = {}
    for row, colour in places:
        taken.setdefault(row, set()).add(colour)
    chosen: dict[tuple[int, int], int] = {}
    for (row, colour), draw in zip(places, draws.tolist(), strict=True):
        if (row, colour) not in chosen:
            others = _others()[colour]
            free = [other for other in others if other not in taken[row]] or others  # a sentence with all
            chosen[row, colour] = free[int(draw * len(free))]
            taken[row].add(chosen[row, colour])
    return [chosen[place] for place in places]


COLOUR = Augmentation(
    name="colour",
    version=5,
    kind="negative",
    paper="Tang et al. 2022, AugCSE (ColorTransformation)",
    languages=("en",),
    prepare=prepared(_run),
    resolve=with_digests(
        lambda: {"wordnet": wordnet_digest()} | word_list_digests("colours", "colour_terms")
    ),
    examples=("augment-cli colour", "augment-cli colour --draws 3"),
    entailment=("other", "a thing of one colour is not one of another"),
)
