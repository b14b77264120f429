"""English words as WordNet's tables and the shipped lists know them: which are real, and which are akin."""

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import chain

import numpy as np

from augment_cli.resources import word_list, word_list_digests, word_table
from augment_cli.resources.wordnet import TAGS, WordNet, load_wordnet, wordnet_digest

_LISTS = ("function_words", "free_words", "kin_terms", "abbreviations")
_GUARD_LISTS = ("kept_phrases", "misused_words", "akin_words", "equivalent_words", "rephrase_synonyms")
# Two words mostly mean the same where uses of both in common senses, multiplied, make up this share.
_MOSTLY = 0.5
_STEM = 5  # letters that two forms of a word unknown to WordNet share at least
_ENDINGS = frozenset(["", "s", "es", "ed", "d", "ing", "ly", "ness", "ist", "al", "ic", "n", "an", "ian"])


class Vocabulary:
    """English words; one copy a process, by `english`."""

    def __init__(self, wordnet: WordNet) -> None:
        self._wordnet = wordnet
        self.function_words = frozenset(word_list("function_words"))
        self._free_words = {word: frozenset(others.split()) for word, others in word_table("free_words")}
        self.kept_phrases = word_list("kept_phrases")
        self._misused = word_table("misused_words")
        self._listed_pairs = _listed_pairs()
        self._listed = frozenset(
            piece for name in _LISTS for line in word_list(name) for piece in line.lower().split()
        )

    @cached_property
    def _forms(self) -> dict[str, list[int]]:
        """Positions of each inflected form in WordNet's table of forms."""
        places: dict[str, list[int]] = {}
        for place, form in enumerate(self._wordnet.forms.to_pylist()):
            places.setdefault(form, []).append(place)
        return places

    @cached_property
    def _lemmas(self) -> dict[str, list[int]]:
        """Entries of each lemma of one word; of words within phrases and names none."""
        entries: dict[str, list[int]] = {}
        for entry, lemma in enumerate(self._wordnet.lemmas.to_pylist()):
            if " " not in lemma:
                entries.setdefault(lemma, []).append(entry)
            else:
                for word in lemma.split():
                    entries.setdefault(word, [])
        return entries

    def knows(self, word: str) -> bool:
        """Whether a lower-case word is in one of the lists or tables."""
        return word in self._listed or word in self._forms or word in self._lemmas

    def is_common(self, word: str) -> bool:
        """Whether a lower-case word occurs in WordNet's tagged texts, or is on a list."""
        if word in self._listed:
            return True
        return any(self._wordnet.entry_counts[entry] > 0 for entry in self.entries(word))

    def is_written_small(self, word: str) -> bool:
        """Whether a lower-case word is written so, and not a name or an adjective of one alone."""
        if word in self.function_words:
            return True
        spellings = self._wordnet.spellings
        return any(spellings[sense].as_py().islower() for sense in self._senses(self.entries(word)))

    def _senses(self, entries: Iterable[int]) -> Iterator[int]:
        bounds = self._wordnet.entry_senses
        return chain.from_iterable(range(*bounds[entry : entry + 2].tolist()) for entry in entries)

    @lru_cache(maxsize=65536)  # noqa: B019 - one object a process
    def entries(self, word: str) -> frozenset[int]:
        """WordNet entries that a lower-case word can be a form of."""
        inflected = [int(self._wordnet.form_entries[place]) for place in self._forms.get(word, ())]
        return frozenset([*inflected, *self._lemmas.get(word, ())])

    @lru_cache(maxsize=65536)  # noqa: B019
    def tags(self, word: str) -> frozenset[str]:
        """Tags that a lower-case word can have, of those that WordNet's parts of speech inflect to."""
        bits = 0
        for place in self._forms.get(word, ()):
            bits |= int(self._wordnet.form_bits[place])
        return frozenset(tag for tag, bit in TAGS.items() if bits & bit)

    @lru_cache(maxsize=65536)  # noqa: B019
    def _synsets(self, word: str) -> frozenset[int]:
        return frozenset(self._wordnet.sense_synsets[list(self._senses(self.entries(word)))].tolist())

    @lru_cache(maxsize=65536)  # noqa: B019
    def _near(self, word: str) -> frozenset[int]:
        """Synsets of a word, and those similar to them."""
        own = np.fromiter(self._synsets(word), np.int64)
        return frozenset(own.tolist()).union(self._wordnet.similar.expand(own)[1].tolist())

    def is_inflection(self, one: str, other: str) -> bool:
        """Whether two lower-case words are forms of one word."""
        if one == other or self.entries(one) & self.entries(other):
            return True
        short, long = sorted((one, other), key=len)
        return len(short) >= _STEM and long.startswith(short) and long[len(short) :] in _ENDINGS

    def may_replace(self, one: str, other: str) -> bool:
        """Whether a lower-case word may stand where another stood, if its neighbours there allow it."""
        if not (self.is_akin(one, other) and self.share_a_form(one, other)):
            return False
        reasons = (self.is_inflection, self._is_listed, self.is_doubtful, self._mostly_agree)
        return any(reason(one, other) for reason in reasons)

    def is_doubtful(self, one: str, other: str) -> bool:
        """Whether two lower-case words seldom fit each other's place, whatever WordNet says."""
        return any(
            self._is_form_of(one, left) and self._is_form_of(other, right)
            for pair in self._misused
            for left, right in (pair, pair[::-1])
        )

    def _is_form_of(self, word: str, lemma: str) -> bool:
        return word == lemma or bool(self.entries(word) & self.entries(lemma))

    def _lemmas_of(self, word: str) -> list[str]:
        return [word, *(self._wordnet.lemmas[entry].as_py() for entry in sorted(self.entries(word)))]

    def _is_listed(self, one: str, other: str) -> bool:
        """Whether two lower-case words are forms of a pair on the lists of those that may be exchanged."""
        return any(
            frozenset((left, right)) in self._listed_pairs
            for left in self._lemmas_of(one)
            for right in self._lemmas_of(other)
        )

    @lru_cache(maxsize=65536)  # noqa: B019
    def _shares(self, entry: int) -> dict[int, float]:
        """Share of an entry's uses in WordNet's tagged texts that each of its synsets makes up."""
        senses = slice(*self._wordnet.entry_senses[entry : entry + 2])
        synsets, shares = self._wordnet.sense_synsets[senses], self._wordnet.sense_shares[senses]
        return dict(zip(synsets.tolist(), map(float, shares), strict=True))

    def _mostly_agree(self, one: str, other: str) -> bool:
        """Whether two lower-case words mostly mean the same, as some part of speech."""
        return any(
            sum(share * self._shares(right).get(synset, 0.0) for synset, share in self._shares(left).items())
            >= _MOSTLY
            for left in self.entries(one)
            for right in self.entries(other)
        )

    def is_akin(self, one: str, other: str) -> bool:
        """Whether two lower-case words share a synset, or have similar ones, or are forms of one word."""
        return bool(
            self._synsets(one) & self._near(other)
            or self._synsets(other) & self._near(one)
            or self.is_inflection(one, other)
        )

    def is_free(self, word: str, other_words: frozenset[str]) -> bool:
        """Whether a word needs no counterpart in a text of such words, as part of a phrase."""
        return bool(self._free_words.get(word, frozenset()) & other_words)

    def share_a_form(self, one: str, other: str) -> bool:
        """Whether two lower-case words can be the same form, such as a plural; true where one is unknown."""
        tags = self.tags(one), self.tags(other)
        return not (tags[0] and tags[1]) or bool(tags[0] & tags[1])


def _listed_pairs() -> frozenset[frozenset[str]]:
    """Pairs of lemmas of which one may stand for the other."""
    synonyms = ((word, *others.split("|")) for word, _, others in word_table("rephrase_synonyms"))
    rows = (*word_table("akin_words"), *word_table("equivalent_words"), *synonyms)
    return frozenset(frozenset((word, other)) for word, *others in rows for other in others)


@lru_cache(maxsize=1)
def english() -> Vocabulary:
    """The shipped words."""
    return Vocabulary(load_wordnet())


def vocabulary_digests() -> dict[str, str]:
    """What the vocabulary is made of, for the fingerprint."""
    return {"wordnet": wordnet_digest(), **word_list_digests(*_LISTS, *_GUARD_LISTS)}
