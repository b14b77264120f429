"""Looking a word up in the shipped WordNet."""

import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.resources.wordnet import WordNet


def entry_of(wordnet: WordNet, lemma: str, part: int) -> int | None:
    """The entry of a lemma, or None."""
    is_entry = pc.and_(pc.equal(wordnet.lemmas, lemma.lower()), pa.array(wordnet.entry_parts == part))
    index = pc.index(is_entry, True).as_py()
    return None if index < 0 else index
