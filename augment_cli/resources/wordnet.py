"""WordNet 3.0 as arrays, read once per process from the tables that ship with the package.

The tables are made by `data/builds/wordnet/build.py`; Princeton's licence stands beside them. Three
kinds of numbers: an *entry* is a lemma with a part of speech, a *sense* ties an entry to a synset (an
entry's senses stand together, the most frequent first), a *form* is an inflected word of an entry with
the tags it can have.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.resources import shipped
from augment_cli.store.files import sha256_of_file, sha256_of_json
from augment_cli.store.parquet import read_parquet
from augment_cli.text.spans import offsets_from_lengths, ranges

TAGS = {
    tag: 1 << position
    for position, tag in enumerate(
        ["NN", "NNS", "VB", "VBZ", "VBD", "VBN", "VBG", "JJ", "JJR", "JJS", "RB", "RBR", "RBS"]
    )
}


NOUN, VERB, ADJECTIVE, ADVERB = range(4)
PART_LETTERS = "nvar"  # as WordNet abbreviates them
_TABLES = ("entries", "senses", "synsets", "antonyms", "forms")


@dataclass(frozen=True)
class Groups:
    """Lists of numbers by their owner: those of owner i are values[offsets[i]:offsets[i+1]]."""

    offsets: np.ndarray
    values: np.ndarray

    @classmethod
    def by_owner(cls, owners: np.ndarray, values: np.ndarray, count: int) -> "Groups":
        """From pairs in any order; the order within an owner is kept."""
        order = np.argsort(owners, kind="stable")
        return cls(offsets_from_lengths(np.bincount(owners, minlength=count)), values[order])

    @classmethod
    def of_column(cls, column: pa.ChunkedArray) -> "Groups":
        """From a list column without nulls."""
        array = column.combine_chunks()
        return cls(array.offsets.to_numpy().astype(np.int64), array.flatten().to_numpy())

    def expand(self, owners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """For each of `owners` (m,) all its values: (position in `owners`, value), flattened."""
        lengths = (self.offsets[1:] - self.offsets[:-1])[owners]
        return np.repeat(np.arange(len(owners)), lengths), self.values[ranges(self.offsets[owners], lengths)]


@dataclass(frozen=True, eq=False)
class WordNet:
    """WordNet's entries, senses, synsets and forms."""

    lemmas: pa.StringArray  # lower-cased; words of a phrase are separated by spaces
    entry_parts: np.ndarray  # NOUN, VERB, ADJECTIVE (satellites too) or ADVERB
    # entry, synset, and how often the sense was met in the tagged texts WordNet comes with
    sense_entries: np.ndarray
    sense_synsets: np.ndarray
    sense_counts: np.ndarray
    sense_ranks: np.ndarray  # place of the word within its synset; 0 for the synset's head
    spellings: pa.StringArray  # with capitals (`Paris`), which lemmas have not
    # part of speech, and lexicographer file (4 noun.act … 38 verb.motion; lexnames(5WN))
    synset_parts: np.ndarray
    synset_files: np.ndarray
    synset_offsets: np.ndarray  # byte offset in WordNet's data file, by which other libraries name a synset
    is_satellite: np.ndarray
    hypernyms: Groups  # from a synset to others
    instance_hypernyms: Groups
    similar: Groups
    antonyms: Groups  # from a sense to senses
    forms: pa.StringArray
    form_entries: np.ndarray
    # the tags a form can have, and those it is the usual form for (bits of `TAGS`)
    form_bits: np.ndarray
    form_first: np.ndarray

    @cached_property
    def entry_senses(self) -> np.ndarray:
        """int64 (E+1,): senses of entry e are entry_senses[e]:entry_senses[e+1]."""
        return offsets_from_lengths(np.bincount(self.sense_entries, minlength=len(self.lemmas)))

    @cached_property
    def synset_senses(self) -> Groups:
        """From a synset to its senses, in the synset's order of words."""
        order = np.lexsort((self.sense_ranks, self.sense_synsets))
        return Groups.by_owner(self.sense_synsets[order], order.astype(np.int32), len(self.synset_parts))

    @cached_property
    def entry_counts(self) -> np.ndarray:
        """float64 (E,): how often an entry was met in any sense."""
        return np.bincount(self.sense_entries, self.sense_counts, len(self.lemmas))

    @cached_property
    def sense_shares(self) -> np.ndarray:
        """float64 (S,): probability of each sense given its entry."""
        # Counts plus one half of the share that a sense's rank would give it (1/rank), so that words that
        # were never tagged still favour their first sense.
        rank = np.arange(len(self.sense_entries)) - self.entry_senses[:-1][self.sense_entries]
        weights = self.sense_counts + 0.5 / (1.0 + rank)
        return weights / np.bincount(self.sense_entries, weights)[self.sense_entries]

    @cached_property
    def entry_forms(self) -> Groups:
        """From an entry to its forms; empty for phrases and names."""
        return Groups.by_owner(
            self.form_entries, np.arange(len(self.forms), dtype=np.int32), len(self.lemmas)
        )

    @cached_property
    def hyponyms(self) -> Groups:
        """From a synset to those it is a hypernym of."""
        count = len(self.synset_parts)
        lower, upper = self.hypernyms.expand(np.arange(count))
        return Groups.by_owner(upper, lower.astype(np.int32), count)

    @cached_property
    def depths(self) -> np.ndarray:
        """int64 (Y,): fewest steps from a synset up to one without hypernyms; instances count as one step."""
        count = len(self.synset_parts)
        lower, upper = self.hypernyms.expand(np.arange(count))
        depths = np.full(count, count)
        depths[np.diff(self.hypernyms.offsets) == 0] = 0
        while True:
            shorter = depths.copy()
            np.minimum.at(shorter, lower, depths[upper] + 1)
            if (shorter == depths).all():
                return depths
            depths = shorter

    @cached_property
    def common_words(self) -> pa.StringArray:
        """Forms of the lower-case lemmas that the tagged texts have, each once: words that are not names."""
        attested = self.entry_counts[self.form_entries] > 0
        return pc.unique(self.forms.filter(pa.array(attested)))


@lru_cache(maxsize=1)
def load_wordnet() -> WordNet:
    """The shipped tables; one copy per process."""
    tables = {name: read_parquet(shipped(f"wordnet/{name}.parquet")) for name in _TABLES}
    entries, senses, synsets = tables["entries"], tables["senses"], tables["synsets"]
    lemmas = entries["lemma"].combine_chunks()
    sense_entries = senses["entry"].to_numpy()
    spelled_alike = lemmas.take(pa.array(sense_entries))
    forms, antonyms = tables["forms"], tables["antonyms"]
    return WordNet(
        lemmas=lemmas,
        entry_parts=entries["part"].to_numpy(),
        sense_entries=sense_entries,
        sense_synsets=senses["synset"].to_numpy(),
        sense_counts=senses["count"].to_numpy(),
        sense_ranks=senses["rank"].to_numpy(),
        spellings=pc.coalesce(senses["spelling"].combine_chunks(), spelled_alike),
        synset_parts=synsets["part"].to_numpy(),
        synset_files=synsets["file_number"].to_numpy(),
        synset_offsets=synsets["offset"].to_numpy(),
        is_satellite=synsets["is_satellite"].to_numpy(),
        hypernyms=Groups.of_column(synsets["hypernyms"]),
        instance_hypernyms=Groups.of_column(synsets["instance_hypernyms"]),
        similar=Groups.of_column(synsets["similar"]),
        antonyms=Groups.by_owner(
            antonyms["sense"].to_numpy(), antonyms["antonym"].to_numpy(), len(sense_entries)
        ),
        forms=forms["form"].combine_chunks(),
        form_entries=forms["entry"].to_numpy(),
        form_bits=forms["bits"].to_numpy(),
        form_first=forms["first"].to_numpy(),
    )


@lru_cache(maxsize=1)
def wordnet_digest() -> str:
    """SHA-256 of the tables' contents, for the fingerprint of what is made with them."""
    return sha256_of_json([sha256_of_file(shipped(f"wordnet/{name}.parquet")) for name in _TABLES])
