"""Names of cities and countries in a text: spans of capitalised words found in a gazetteer."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa

from augment_cli.english.words.phrases import Matches, PhraseTable, character_after, character_before, is_any
from augment_cli.english.words.words import Words
from augment_cli.resources import shipped, shipped_digest, word_set
from augment_cli.store.parquet import read_parquet
from augment_cli.syntax.tree import words as listed

_OF_NAMES = listed("da de del den der di do dos du la van von")
_AT = listed("around at in inside near outside throughout within")


@lru_cache(maxsize=3)
def place_table(name: str) -> pa.Table:
    """`cities`, `small_cities` or `countries`, as shipped."""
    return read_parquet(shipped(f"places/{name}.parquet"))


def place_digests(*names: str) -> dict[str, str]:
    """SHA-256 of some tables by name, for the fingerprint of what is made with them."""
    return {name: shipped_digest(f"places/{name}.parquet") for name in names}


def find_places(words: Words, table: PhraseTable) -> Matches:
    """Where a name of the gazetteer stands as a name of its own: capitalised, and in no longer name."""
    # `Paris` in `in Paris, France` counts, in `Paris Hilton`, `New Paris`, `University of Paris`, `Hôtel de
    # Paris` and `paris` it does not. `Charlotte` counts behind `in` alone (`words/doubtful_places.txt`).
    matches = table.find(words)
    if not len(matches):
        return matches
    capital, function_word = words.has_capital, words.among(word_set("function_words"))
    before, behind = np.maximum(matches.first - 1, 0), np.minimum(matches.last + 1, len(words) - 1)
    opens = (words.positions[before] == 0) & function_word[before]
    in_name = words.follows_space[matches.first] & capital[before] & ~opens
    in_name |= (behind > matches.last) & words.follows_space[behind] & capital[behind]
    # Gulf of Mexico, Republic of San Marino, Chief Justice of Nigeria.
    ahead = np.maximum(matches.first - 2, 0)
    of = words.among({"of"})[before] & words.follows_space[matches.first]
    named = capital[ahead] & ~(function_word[ahead] & (words.positions[ahead] == 0))
    in_name |= of & (ahead == before - 1) & words.follows_space[before] & named
    near = words.follows_space[matches.first]
    in_name |= words.among(_OF_NAMES)[before] & near
    in_name |= (behind > matches.last) & words.follows_space[behind] & words.among(_OF_NAMES)[behind]
    quotes = '"“”«»'
    in_name |= is_any(character_before(words, matches.first), quotes) & (  # a title
        is_any(character_after(words, matches.last), quotes + ",.")
    )
    is_doubtful = words.among(word_set("doubtful_places"))[matches.first] & (matches.first == matches.last)
    in_name |= is_doubtful & ~(words.among(_AT)[before] & near)
    return matches.where(capital[matches.first] & capital[matches.last] & ~in_name)


@lru_cache(maxsize=1)
def cities() -> PhraseTable:
    """Large cities that are not countries too, as Singapore and Djibouti are."""
    countries = set(place_table("countries")["name"].to_pylist())
    return PhraseTable([name for name in place_table("cities")["name"].to_pylist() if name not in countries])


@lru_cache(maxsize=1)
def countries_and_cities() -> PhraseTable:
    """Countries, then large cities."""
    return PhraseTable(place_names())


def place_names() -> list[str]:
    """Names of the countries, then of the large cities."""
    return [name for table in ("countries", "cities") for name in place_table(table)["name"].to_pylist()]
