"""What replacing nouns by wider and narrower ones shares."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.augmentations.augcse.antonym import come_again
from augment_cli.contract.augmentation import (
    Augmentation,
    Prepared,
    Resources,
    avoid_parameter,
    avoided_words,
)
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import parts_of_speech_parameter
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import Words, lexical, word_edits
from augment_cli.english.words.readings import reading_of_each_word, readings
from augment_cli.english.words.replaceable import entails_wider, may_be_replaced
from augment_cli.resources import collocations_digest, load_collocations, word_list_digests, word_table
from augment_cli.resources.wordnet import NOUN, load_wordnet
from augment_cli.syntax.tree import words as words_of

# In a million sentences, the times that one word may go, and one may come, if nothing else hinders it.
_MOST_OFTEN = 1500
_DETERMINERS = words_of("a an the this that his her its their my our your whose one no each every another")


@dataclass(frozen=True)
class NounParameters:
    """Parameters that both have."""

    rate: float = word_edits.rate_parameter(0.0, "share of the words to replace; 0 for one noun")
    parts_of_speech: str = parts_of_speech_parameter()
    avoid: str = avoid_parameter()


@lru_cache(maxsize=8)
def noun_relation(name: str, steps: int) -> lexical.Relation:
    """The listed pairs of a noun and a wider (or narrower) one that WordNet has, all of one weight."""
    wordnet = load_wordnet()
    nouns = np.flatnonzero(wordnet.entry_parts == NOUN)
    numbers = dict(zip(wordnet.lemmas.take(pa.array(nouns)).to_pylist(), nouns.tolist(), strict=True))
    pairs = []
    for relation, kind, members in word_table("noun_kinds"):
        if relation in (name, "both") and kind in numbers:
            known = [(numbers[member], numbers[kind]) for member in members.split() if member in numbers]
            pairs += [(narrow, wide) for narrow, wide in known if _is_kind_of(narrow, wide, steps)]
    narrow, wide = np.array(pairs, np.int64).reshape(-1, 2).T
    sources, targets = (narrow, wide) if name == "hypernym" else (wide, narrow)
    return lexical.inflected_relation(wordnet, name, sources, targets, np.ones(len(sources)))


def _is_kind_of(narrow: int, wide: int, steps: int) -> bool:
    """Whether some sense of a noun is one of another's, at most `depth` steps below it."""
    wordnet = load_wordnet()
    senses = wordnet.entry_senses
    synsets = wordnet.sense_synsets[senses[narrow] : senses[narrow + 1]]
    wider = wordnet.sense_synsets[senses[wide] : senses[wide + 1]]
    for _ in range(steps):
        synsets = wordnet.hypernyms.expand(synsets)[1]
        if np.isin(synsets, wider).any():
            return True
    return False


def _resolve(parameters: Any, resources: Resources) -> dict[str, Any]:
    read = word_list_digests("noun_kinds") | {"collocations": collocations_digest()}
    return lexical.resolve_avoiding(parameters, resources) | read


def _shares(relation: lexical.Relation) -> np.ndarray:
    """float64 (R,): of the times that a reading is met the share that may go: no word is most edits."""
    wordnet, table = load_wordnet(), load_collocations()
    lemmas = wordnet.lemmas.to_pylist()
    entries = wordnet.form_entries[readings().forms]
    pairs = np.unique(np.stack([entries[relation.owners], wordnet.form_entries[relation.targets]]), axis=1)
    often = np.zeros(len(lemmas))
    spelled = [(entry, lemmas[entry]) for entry in np.unique(pairs).tolist()]
    for entry, lemma in spelled:
        forms = {form for form in (lemma, f"{lemma}s") if form in table.numbers}
        often[entry] = max(1.0, sum(table.counts[table.numbers[form]] for form in forms))
    shares = np.minimum(1.0, _MOST_OFTEN / np.maximum(often, 1.0))
    for _ in range(2):  # first by what goes, then by what comes for all that go
        choices = np.bincount(pairs[0], minlength=len(lemmas))
        come = np.bincount(pairs[1], (often * shares / np.maximum(choices, 1))[pairs[0]], len(lemmas))
        limit = np.minimum(1.0, _MOST_OFTEN / np.maximum(come, 1.0))
        shares *= np.where(
            choices > 0, np.bincount(pairs[0], limit[pairs[1]], len(lemmas)) / np.maximum(choices, 1), 1.0
        )
    return shares[entries]


def _is_said_already(
    replacer: lexical.Replacer, rows: Rows, words: Words, reading: np.ndarray, eligible: np.ndarray
) -> np.ndarray:
    """bool (N,): words whose replacement, or one of its kind, stands in the text: `a rifle and a dagger`."""
    index, kinds = np.flatnonzero(eligible), _members()
    new = pc.utf8_lower(replacer.strings(rows, words, reading, index)).to_pylist()
    codes, distinct = words.lower
    names = distinct.to_pylist()
    said = np.zeros(len(words), bool)
    for place, word in zip(index.tolist(), new, strict=True):
        low, high = words.offsets[words.rows[place] : words.rows[place] + 2].tolist()
        own, new_one = names[codes[place]].removesuffix("s"), word.removesuffix("s")
        related = {new_one} | kinds.get(new_one, set()) | kinds.get(own, set())
        texts = {names[code].removesuffix("s") for code in codes[low:high].tolist()}
        said[place] = bool(related & texts - {own})
    return said


@lru_cache(maxsize=1)
def _members() -> dict[str, set[str]]:
    """What is of each listed kind."""
    found: dict[str, set[str]] = {}
    for _, kind, members in word_table("noun_kinds"):
        found.setdefault(kind, set()).update(members.split())
    return found


def _is_bare(words: Words) -> np.ndarray:
    """bool (N,): nouns with no article near: `attend university`, `fish is healthy`, said of any of them."""
    codes, distinct = words.lower
    determines = np.array(
        [name in _DETERMINERS or name.endswith(("'s", "’s")) for name in distinct.to_pylist()], bool
    )
    near = np.zeros(len(words), bool)
    for distance in (1, 2):  # an adjective may stand between
        near[distance:] |= determines[codes[:-distance]] & (words.positions[distance:] >= distance)
    return ~near


def noun_augmentation(
    name: str,
    method: str,
    parameters: type,
    relation: Callable[[Any], lexical.Relation],
    examples: tuple[str, ...],
    reason: str,
) -> Augmentation:
    """The descriptor of one that replaces ⌈rate·words⌉ nouns of each text, or one where the rate is 0."""

    def prepare(parameters: Any, resources: Resources) -> Prepared:
        targets = lexical.without(relation(parameters), avoided_words(parameters.avoid))
        replacer = lexical.Replacer(targets, resources.key(f"{name}/replacement"))
        shares = _shares(targets)
        key, common = resources.key(f"{name}/word"), resources.key(f"{name}/common")

        def run(rows: Rows) -> Outcome:
            words = Words.of(rows.code_points)
            reading = reading_of_each_word(words, frozenset({NOUN}), rows.parses)
            # What one of two is, the other is as well: words that stand once in their text.
            eligible = replacer.eligible(reading) & ~come_again(words)
            eligible &= entails_wider(words, rows.parses)
            eligible &= may_be_replaced(words, rows.parses)
            eligible &= ~_is_bare(words)
            if name == "hyponym":
                # `these merchants` are of the kind that was said; what is said of "the merchants" is not of
                # one kind of them.
                codes, distinct = words.lower
                plural = np.array([name.rstrip("'’").endswith("s") for name in distinct.to_pylist()], bool)
                pointing = words.among(["this", "that", "these", "those", "such"])
                eligible &= ~(np.append(False, pointing[:-1]) & (words.positions > 0)) & ~plural[codes]
            draws = uniform(common, rows.row_ids[words.rows], words.positions)
            eligible &= draws < shares[np.maximum(reading, 0)]
            # What is narrower is often of another sense, which nothing shows but its company: a full village.
            eligible = replacer.fitting(rows, words, reading, eligible, least=int(name == "hyponym"))
            eligible &= ~_is_said_already(replacer, rows, words, reading, eligible)
            index = word_edits.choose(words, rows.row_ids, eligible, key, parameters.rate or 1e-6)
            return replacer.outcome(rows, words, reading, index, word_edits.reasons_for(words, eligible))

        return run

    return Augmentation(
        name=name,
        version=10 if name == "hyponym" else 9,
        kind="negative",
        paper=f"Tang et al. 2022, AugCSE ({method}); WordNet 3.0",
        languages=("en",),
        reads_parse_if_there=True,
        parameters=parameters,
        prepare=prepare,
        columns=lexical.COLUMNS,
        resolve=_resolve,
        examples=examples,
        entailment=("neither", reason),
    )
