"""Scores of a pipeline on a treebank by spaCy's own scorer, from raw text and from the treebank's words."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from data.builds.pipeline.treebank import Sentence, make_doc

# Our names for spaCy's scores; dependency scores leave punctuation out, as spaCy does.
SCORES = {
    "UPOS": "pos_acc",
    "XPOS": "tag_acc",
    "morph": "morph_acc",
    "lemma": "lemma_acc",
    "UAS": "dep_uas",
    "LAS": "dep_las",
    "tokens": "token_f",
}


def score(nlp: Language, sentences: Sequence[Sentence], *, gold_words: bool) -> dict[str, float]:
    """Return the scores of `SCORES` in percent, one sentence a document."""
    examples = []
    for sentence in sentences:
        reference = make_doc(nlp.vocab, [sentence])
        if gold_words:
            given = Doc(nlp.vocab, words=sentence.words, spaces=sentence.spaces)
        else:
            given = nlp.make_doc(sentence.text)
        examples.append(Example(given, reference))
    scores = nlp.evaluate(examples)
    return {name: 100 * scores[key] for name, key in SCORES.items()}


def weakest_labels(
    nlp: Language, sentences: Sequence[Sentence], least: int, count: int
) -> list[tuple[str, float]]:
    """Return the `count` dependency labels with the lowest F score, in percent, lowest first."""
    # Labels that stand fewer than `least` times in the gold trees are left out.
    times = Counter(dep.lower() for sentence in sentences for dep in sentence.deps)
    examples = [Example(nlp.make_doc(s.text), make_doc(nlp.vocab, [s])) for s in sentences]
    found = nlp.evaluate(examples)["dep_las_per_type"]
    scores = [(label, 100 * values["f"]) for label, values in found.items() if times[label] >= least]
    return sorted(scores, key=lambda pair: pair[1])[:count]


def words_per_second(nlp: Language, texts: Sequence[str], rounds: int = 3) -> float:
    """Return the best of some rounds of ``nlp.pipe`` over the texts, in words a second of this process."""
    best = 0.0
    for _ in range(rounds):
        start = time.process_time()
        words = sum(len(doc) for doc in nlp.pipe(texts))
        best = max(best, words / (time.process_time() - start))
    return best
