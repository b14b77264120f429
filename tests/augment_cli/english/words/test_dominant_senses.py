"""Words without a sense that makes up most of their uses are left alone."""

import numpy as np

from augment_cli.english.words.lexical import DOMINANT_SHARE, synonyms
from augment_cli.english.words.readings import readings
from augment_cli.resources.wordnet import NOUN, VERB, load_wordnet


def test_synonyms_of_nouns_and_verbs_share_most_of_what_the_word_means():
    wordnet, relation = load_wordnet(), synonyms("frequent")
    owners = np.repeat(np.arange(len(relation.offsets) - 1), np.diff(relation.offsets))
    sources, targets = readings().entries[owners], wordnet.form_entries[relation.targets]
    judged = np.isin(wordnet.entry_parts[sources], [NOUN, VERB])
    pairs = {(int(a), int(b)) for a, b in zip(sources[judged], targets[judged], strict=True)}
    assert len(pairs) > 300
    for source, target in sorted(pairs)[::25]:  # by the definition, pair by pair
        own = range(*wordnet.entry_senses[source : source + 2])
        theirs = set(wordnet.sense_synsets[slice(*wordnet.entry_senses[target : target + 2])].tolist())
        shared = sum(wordnet.sense_shares[sense] for sense in own if wordnet.sense_synsets[sense] in theirs)
        assert shared > 0
    shares = {word: _shared(wordnet, *word) for word in (("show", "demonstrate"), ("buy", "purchase"))}
    assert shares["show", "demonstrate"] < DOMINANT_SHARE <= shares["buy", "purchase"]
    lemmas = wordnet.lemmas.to_pylist()
    names = {(lemmas[a], lemmas[b]) for a, b in pairs}
    assert ("buy", "purchase") in names and ("show", "demonstrate") not in names


def _shared(wordnet, one, other):
    lemmas = wordnet.lemmas.to_pylist()
    entry, second = (
        next(i for i, name in enumerate(lemmas) if name == word and wordnet.entry_parts[i] == VERB)
        for word in (one, other)
    )
    theirs = set(wordnet.sense_synsets[slice(*wordnet.entry_senses[second : second + 2])].tolist())
    own = range(*wordnet.entry_senses[entry : entry + 2])
    return sum(wordnet.sense_shares[sense] for sense in own if wordnet.sense_synsets[sense] in theirs)
