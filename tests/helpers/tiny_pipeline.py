"""A real spaCy pipeline that knows twelve words, and a corpus to parse."""

import random
from pathlib import Path

import pytest
import spacy
from spacy.training import Example

# word, lemma, coarse tag, fine tag, morphology, head, dependency
SENTENCES = [
    [
        ("The", "the", "DET", "DT", "Definite=Def|PronType=Art", 1, "det"),
        ("heron", "heron", "NOUN", "NN", "Number=Sing", 2, "nsubj"),
        ("waits", "wait", "VERB", "VBZ", "Number=Sing|Person=3|Tense=Pres|VerbForm=Fin", 2, "ROOT"),
        (".", ".", "PUNCT", ".", "", 2, "punct"),
    ],
    [
        ("Boats", "boat", "NOUN", "NNS", "Number=Plur", 3, "nsubj"),
        ("do", "do", "AUX", "VBP", "Mood=Ind|Tense=Pres|VerbForm=Fin", 3, "aux"),
        ("n't", "not", "PART", "RB", "Polarity=Neg", 3, "advmod"),
        ("stop", "stop", "VERB", "VB", "VerbForm=Inf", 3, "ROOT"),
        ("here", "here", "ADV", "RB", "", 3, "advmod"),
        (".", ".", "PUNCT", ".", "", 3, "punct"),
    ],
]

WIDTH = 16
TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "width": WIDTH,
    "depth": 1,
    "embed_size": 100,
    "pretrained_vectors": None,
}
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH}


def make_tiny_pipeline(folder: Path, seed: int) -> None:
    """Train and save it as `en_tiny` 1.0.0."""
    spacy.util.fix_random_seed(seed)
    nlp = spacy.blank("en", meta={"name": "tiny", "version": "1.0.0"})
    nlp.add_pipe("tok2vec", config={"model": TOK2VEC})
    rare = {"trainable_lemmatizer": {"min_tree_freq": 1}, "parser": {"min_action_freq": 1}}
    for component in ("tagger", "morphologizer", "trainable_lemmatizer", "parser", "ner"):
        nlp.add_pipe(component, config={**rare.get(component, {}), "model": {"tok2vec": LISTENER}})
    examples = []
    for sentence in SENTENCES:
        words, lemmas, pos, tags, morphs, heads, deps = map(list, zip(*sentence, strict=True))
        reference = spacy.tokens.Doc(
            nlp.vocab, words, lemmas=lemmas, pos=pos, tags=tags, morphs=morphs, heads=heads, deps=deps
        )
        reference.ents = [spacy.tokens.Span(reference, 0, 2, "BIRD")]
        examples.append(Example(nlp.make_doc(reference.text), reference))
    optimizer = nlp.initialize(lambda: examples)
    draws = random.Random(seed)
    for _ in range(15):
        draws.shuffle(examples)
        nlp.update(examples, sgd=optimizer)
    nlp.to_disk(folder)


@pytest.fixture(scope="session")
def pipeline(tmp_path_factory):
    """Folder of a pipeline with a tagger, morphologizer, lemmatizer, parser, and an entity recogniser."""
    folder = tmp_path_factory.mktemp("pipelines") / "tiny"
    make_tiny_pipeline(folder, seed=0)
    return folder


@pytest.fixture(scope="session")
def other_pipeline(tmp_path_factory):
    """The same by name and version, with other weights."""
    folder = tmp_path_factory.mktemp("others") / "tiny"
    make_tiny_pipeline(folder, seed=1)
    return folder


@pytest.fixture(scope="session")
def parsed_corpus_file(tmp_path_factory):
    """Some sentences, with more rows than a piece has, so that a part has several."""
    path = tmp_path_factory.mktemp("corpus") / "in.txt"
    lines = [f"The heron of river {n} waits." for n in range(1_400)]
    lines[::50] = [f"Boat {n}  don't\tstop 🙂: {line}" for n, line in enumerate(lines[::50])]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path
