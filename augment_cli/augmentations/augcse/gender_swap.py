"""Swap genders: `he` and `she`, `king` and `queen`, first names for names of the other list.

AugCSE's GenderSwap. Every gendered word and first name of the sentence is swapped; a name takes one drawn
from the other list, the same one wherever it stands in the sentence. The lists are this project's
(`resources/words/gendered_words.txt`, `male_names.txt`, `female_names.txt`).

Differences from the original: `her` becomes `his` before what it belongs to and `him` elsewhere, and `his`
accordingly `her` or `hers`; titles of persons named (`King John`) and names inside longer ones (`St. Paul`,
`Pope John`) stay; of `the king's` the ending stays; case and spacing survive; each sentence draws its own
names.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import Augmentation, Resources, prepared, with_digests
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import NoParameters
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import Words, character_after, character_before, is_any, word_edits
from augment_cli.resources import word_groups, word_list_digests, word_set, word_table

# What a pronoun becomes, before a noun and elsewhere.
_POSSESSIVES = {"him": ("her", "her"), "hers": ("his", "his")}
_POSSESSIVES |= {"his": ("her", "hers"), "her": ("his", "him")}
_LISTS = ("gendered_words", "kin_terms", "male_names", "female_names", "function_words")
_TITLES = pa.array(["mr.", "mr", "mrs.", "mrs", "ms.", "ms", "miss"])
_WORDS = word_groups("gender-swap")


@lru_cache(maxsize=1)
def _swaps() -> tuple[pa.StringArray, pa.StringArray]:
    """Words and what each becomes; of a word in several pairs the first counts."""
    table: dict[str, str] = {}
    for male, female in word_table("gendered_words"):
        table.setdefault(male, female)
        table.setdefault(female, male)
    return pa.array(list(table)), pa.array(list(table.values()))


def _without_endings(words: Words) -> Words:
    """The words without the ending of "the king's" and "Anna's"; what they follow stays as it was."""
    values, ends = words.texts.values, words.flat_ends
    marks = np.flatnonzero((values == ord("'")) | (values == ord("’")))
    index = np.searchsorted(ends, marks + 2)  # the word that would end behind "'s"
    fits = index < len(ends)
    marks, index = marks[fits], index[fits]
    owned = index[(ends[index] == marks + 2) & (values[ends[index] - 1] == ord("s"))]
    owned = owned[words.flat_starts[owned] < ends[owned] - 2]
    shorter = ends.copy()
    shorter[owned] -= 2
    stems = replace(words, flat_ends=shorter)
    stems.__dict__["follows_space"] = words.follows_space  # an ending is no gap
    return stems


def _has_noun_behind(words: Words, index: np.ndarray) -> np.ndarray:
    """bool (m,): whether what stands behind a possessive can belong to it."""
    following = np.minimum(index + 1, len(words) - 1)
    near = (index + 1 < len(words)) & words.follows_space[following]
    # his “subjective principle”: a quotation is as good as a noun.
    quoted = (words.rows[following] == words.rows[index]) & (following > index)
    quoted &= words.flat_starts[following] == words.flat_ends[index] + 2
    quoted &= is_any(character_before(words, following), "\"“‘'«") & is_any(
        character_after(words, index), " "
    )
    function_word = words.among(word_set("function_words")) & ~words.among(_WORDS.behind_possessive)
    adverb = words.among(_WORDS.adverbs)[following]
    # "They took her back", but "he hurt his back".
    adverb &= ~(words.among({"his"})[index] & words.among({"back", "home"})[following])
    # "his and her work", but "looked at her and left"
    after = np.minimum(following + 1, len(words) - 1)
    joined = words.among({"and", "or"})[following] & words.among(_WORDS.owners)[after]
    # "his A's": a letter, or a name's first word
    named = words.has_capital[following] & ~words.among({"i"})[following]
    noun = ~function_word[following] | joined | named
    before = np.maximum(index - 1, 0)
    perceived = words.among({"her"})[index] & words.follows_space[index]
    perceived &= words.among(_WORDS.perceiving)[before] & words.among(_WORDS.done)[following]
    return (near & noun & ~adverb & ~perceived) | quoted


def swapped(words: Words, row_ids: np.ndarray, key: int) -> tuple[np.ndarray, pa.StringArray]:
    """Indices (m,) of the words to swap, and what they become, in lower case."""
    sources, targets = _swaps()
    numbers = words.index_in(sources)
    capital = words.has_capital
    inside = words.positions > 0
    title = words.among(_TITLES)
    # Queen Victoria, Lady Bird Lake: part of a name, at a text's beginning too.
    before_name = np.append(words.follows_space[1:] & capital[1:], False)
    pronoun = words.among(word_set("function_words"))
    part_of_name = capital & (inside | (before_name & ~pronoun))
    before_term = np.append(words.follows_space[1:] & words.among(word_set("kin_terms"))[1:], False)
    thing = before_term & words.among(_WORDS.kin)
    index = np.flatnonzero((numbers >= 0) & (~part_of_name | title) & ~thing)
    # "miss the shot": a title stands before a name.
    index = index[~words.among({"miss"})[index] | (capital & before_name)[index]]
    strings = targets.take(pa.array(numbers[index]))

    possessive = np.flatnonzero(words.among({"her", "his", "him", "hers"}) & ~(capital & inside))
    lowered = words.lower[1].take(pa.array(words.lower[0][possessive])).to_pylist()
    behind = _has_noun_behind(words, possessive).tolist()
    become = [_POSSESSIVES[word][not noun] for word, noun in zip(lowered, behind, strict=True)]

    names, name_strings = _swapped_names(words, row_ids, key, capital)
    return (
        np.concatenate([index, possessive, names]),
        pa.concat_arrays([strings, pa.array(become, pa.string()), name_strings]),
    )


def _swapped_names(
    words: Words, row_ids: np.ndarray, key: int, capital: np.ndarray
) -> tuple[np.ndarray, pa.StringArray]:
    male, female = word_set("male_names"), word_set("female_names")
    # Not inside a longer name; a capital at the text's beginning, or a title, is not part of one.
    before = np.maximum(np.arange(len(words)) - 1, 0)
    plain = words.among(word_set("function_words")) | words.among(_TITLES)
    opens = (words.positions[before] == 0) & plain
    part_of_name = words.follows_space & capital[before] & ~opens[before]
    places, strings = [], []
    for own, other in ((male, female), (female, male)):
        number = words.index_in(own)
        index = np.flatnonzero((number >= 0) & capital & ~part_of_name)
        draws = uniform(key, row_ids[words.rows[index]], number[index] + (own is female) * len(male))
        places.append(index)
        strings.append(other.take(pa.array((draws * len(other)).astype(np.int64))))
    return np.concatenate(places), pa.concat_arrays(strings)


def _run(parameters: NoParameters, resources: Resources, rows: Rows) -> Outcome:
    key = resources.key("gender-swap")
    words = _without_endings(Words.of(rows.code_points))
    index, strings = swapped(words, rows.row_ids, key)
    order = np.argsort(index, kind="stable")
    index, strings = index[order], strings.take(pa.array(order))
    edits = word_edits.replace_words(words, index, word_edits.in_case_of(words, index, strings))
    return Outcome(edits, word_edits.reasons_without(words, index))


GENDER_SWAP = Augmentation(
    name="gender-swap",
    version=5,
    kind="positive",
    paper="Tang et al. 2022, AugCSE (GenderSwap)",
    languages=("en",),
    prepare=prepared(_run),
    resolve=with_digests(lambda: word_list_digests(*_LISTS)),
    examples=("augment-cli gender-swap", "augment-cli gender-swap --draws 3"),
    entailment=("neither", "it speaks of another person, and says the same of that one"),
)
