"""WordNet's tables: facts that can be looked up, and NLTK's reader over a sample of all lemmas."""

import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pytest

from augment_cli.resources.wordnet import ADJECTIVE, NOUN, TAGS, VERB, WordNet, load_wordnet
from tests.helpers.in_memory import entry_of

# lexnames(5WN): Debian's package lacks the file that NLTK reads.
LEXNAMES = [
    *("adj.all", "adj.pert", "adv.all", "noun.Tops", "noun.act", "noun.animal", "noun.artifact"),
    *("noun.attribute", "noun.body", "noun.cognition", "noun.communication", "noun.event"),
    *("noun.feeling", "noun.food", "noun.group", "noun.location", "noun.motive", "noun.object"),
    *("noun.person", "noun.phenomenon", "noun.plant", "noun.possession", "noun.process", "noun.quantity"),
    *("noun.relation", "noun.shape", "noun.state", "noun.substance", "noun.time", "verb.body"),
    *("verb.change", "verb.cognition", "verb.communication", "verb.competition", "verb.consumption"),
    *("verb.contact", "verb.creation", "verb.emotion", "verb.motion", "verb.perception"),
    *("verb.possession", "verb.social", "verb.stative", "verb.weather", "adj.ppl"),
]
PARTS = "nvar"


@pytest.fixture(scope="module")
def wordnet():
    return load_wordnet()


@pytest.fixture(scope="module")
def nltk_wordnet(tmp_path_factory):
    """NLTK's reader on WordNet 3.0's own files: WORDNET=folder, Debian's, or NLTK's data."""
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    candidates = [os.environ.get("WORDNET"), "/usr/share/wordnet", Path.home() / "nltk_data/corpora/wordnet"]
    found = next((Path(path) for path in candidates if path and (Path(path) / "data.noun").is_file()), None)
    if found is None:
        pytest.skip("no WordNet files: WORDNET=folder with data.noun, or apt-get install wordnet-base")
    data = tmp_path_factory.mktemp("nltk_data")
    folder = data / "corpora" / "wordnet"
    folder.mkdir(parents=True)
    for file in filter(Path.is_file, found.iterdir()):
        shutil.copy(file, folder)
    if not (folder / "lexnames").exists():
        lines = [f"{number:02d}\t{name}\t0" for number, name in enumerate(LEXNAMES)]
        (folder / "lexnames").write_text("\n".join(lines) + "\n")
    nltk.data.path.append(str(data))  # NLTK reads nothing elsewhere
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The multilingual functions", UserWarning)
        reader = WordNetCorpusReader(str(folder), None)
    yield reader
    nltk.data.path.remove(str(data))


def words_in(wordnet: WordNet, synset: int) -> list[str]:
    groups = wordnet.synset_senses
    senses = groups.values[groups.offsets[synset] : groups.offsets[synset + 1]]
    return [wordnet.spellings[int(sense)].as_py() for sense in senses]


def synsets_of(wordnet: WordNet, entry: int) -> list[int]:
    first, last = wordnet.entry_senses[entry : entry + 2]
    return wordnet.sense_synsets[first:last].tolist()


def lower_names(synset) -> list[str]:
    return [name.lower().replace("_", " ") for name in synset.lemma_names()]


def test_facts(wordnet):
    dog = entry_of(wordnet, "dog", NOUN)
    first = synsets_of(wordnet, dog)[0]
    assert words_in(wordnet, first) == ["dog", "domestic dog", "Canis familiaris"]
    groups = wordnet.hypernyms
    above = groups.values[groups.offsets[first] : groups.offsets[first + 1]].tolist()
    assert [words_in(wordnet, synset)[0] for synset in above] == ["canine", "domestic animal"]
    assert entry_of(wordnet, "dog", ADJECTIVE) is None
    assert wordnet.synset_files[first] == LEXNAMES.index("noun.animal")


def test_forms(wordnet):
    def forms(lemma: str, part: int) -> dict[str, set[str]]:
        entry = entry_of(wordnet, lemma, part)
        groups = wordnet.entry_forms
        rows = groups.values[groups.offsets[entry] : groups.offsets[entry + 1]].tolist()
        return {
            wordnet.forms[row].as_py(): {tag for tag, bit in TAGS.items() if wordnet.form_bits[row] & bit}
            for row in rows
        }

    go = {"go": "VB", "goes": "VBZ", "went": "VBD", "gone": "VBN", "going": "VBG"}
    assert forms("go", VERB) == {form: {tag} for form, tag in go.items()}
    assert forms("walk", VERB)["walked"] == {"VBD", "VBN"}
    assert "mice" in forms("mouse", NOUN)
    assert forms("big", ADJECTIVE) == {"big": {"JJ"}, "bigger": {"JJR"}, "biggest": {"JJS"}}


def test_numbers_point_to_rows_that_exist(wordnet):
    synsets = len(wordnet.synset_parts)
    for groups in (wordnet.hypernyms, wordnet.instance_hypernyms, wordnet.similar, wordnet.hyponyms):
        assert ((groups.values >= 0) & (groups.values < synsets)).all()
    assert (np.diff(wordnet.sense_entries) >= 0).all()
    assert (wordnet.depths < 25).all()
    assert wordnet.form_entries.max() < len(wordnet.lemmas)


def test_shares_of_the_senses_of_an_entry_sum_to_one(wordnet):
    sums = np.bincount(wordnet.sense_entries, wordnet.sense_shares)
    np.testing.assert_allclose(sums, 1)


@pytest.mark.slow
def test_tables_equal_nltks_reader(wordnet, nltk_wordnet):
    """Synsets in order, words, counts, files, hypernyms, similar ones, antonyms of 4,000 entries."""
    entries = np.random.default_rng(0).permutation(len(wordnet.lemmas))[:4000]
    for entry in entries.tolist():
        lemma = wordnet.lemmas[entry].as_py()
        part = PARTS[wordnet.entry_parts[entry]]
        synsets = dict.fromkeys(nltk_wordnet.synsets(lemma.replace(" ", "_"), part))
        theirs = [synset for synset in synsets if lemma in lower_names(synset)]  # without NLTK's stemming
        ours = synsets_of(wordnet, entry)
        assert wordnet.synset_offsets[ours].tolist() == [synset.offset() for synset in theirs]
        for place, (own, other) in enumerate(zip(ours, theirs, strict=True)):
            # Of spellings that differ in case alone (V, v), the tables keep the first.
            spellings = {name.lower(): name for name in reversed(other.lemma_names())}
            names = dict.fromkeys(map(str.lower, other.lemma_names()))
            expected = [spellings[name].replace("_", " ") for name in names]
            assert words_in(wordnet, own) == expected
            assert LEXNAMES[wordnet.synset_files[own]] == other.lexname()
            assert wordnet.is_satellite[own] == (other.pos() == "s")
            for groups, method in [
                (wordnet.hypernyms, other.hypernyms),
                (wordnet.instance_hypernyms, other.instance_hypernyms),
                (wordnet.similar, other.similar_tos),
            ]:
                related = groups.values[groups.offsets[own] : groups.offsets[own + 1]]
                assert sorted(wordnet.synset_offsets[related]) == sorted(s.offset() for s in method())
            sense = int(wordnet.entry_senses[entry]) + place
            their_lemma = other.lemmas()[lower_names(other).index(lemma)]
            assert wordnet.sense_counts[sense] == their_lemma.count()
            antonyms = wordnet.antonyms
            opposite = antonyms.values[antonyms.offsets[sense] : antonyms.offsets[sense + 1]]
            assert sorted(wordnet.spellings[int(other)].as_py() for other in opposite) == sorted(
                antonym.name().replace("_", " ") for antonym in their_lemma.antonyms()
            )


@pytest.mark.slow
def test_every_lemma_of_nltks_reader_is_there(wordnet, nltk_wordnet):
    for number, part in enumerate(PARTS):
        ours = wordnet.lemmas.filter(pc.equal(wordnet.entry_parts, number)).to_pylist()
        assert set(ours) == {name.replace("_", " ") for name in nltk_wordnet.all_lemma_names(pos=part)}
