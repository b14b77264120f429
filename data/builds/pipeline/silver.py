"""Silver trees: what the teacher says about plain sentences, as spaCy training files.

One file a chunk, written under another name and then renamed, so that a stopped run goes on where it was.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, DocBin

from data.builds.frame import sentences
from data.builds.pipeline.lemmas import Lexicon, correct
from data.builds.pipeline.teacher import is_tree
from data.builds.pipeline.treebank import Sentence, make_doc

CHUNK = 5_000  # sentences a file
SHORTEST, LONGEST = 3, 60  # words
LOWERED = 0.05  # share of the sentences the student sees in lower case; the teacher reads the original


def sample_lines(paths: Sequence[Path], wanted: int, seed: int) -> list[str]:
    """Draw `wanted` lines (or all, if there are fewer) evenly from gzipped text files, in file order."""
    generator = random.Random(seed)
    lines: list[str] = []
    for index, path in enumerate(paths):
        here = [line.strip() for line in sentences([path]) if line.strip()]
        share = (wanted - len(lines)) // (len(paths) - index)
        lines += [here[i] for i in sorted(generator.sample(range(len(here)), min(share, len(here))))]
    return lines


def tokenize(nlp: Language, lines: Sequence[str]) -> Iterator[Sentence]:
    """Tokenize lines with the student's tokenizer; lines that are too short or too long are left out."""
    for line in lines:
        doc = nlp.make_doc(" ".join(line.split()))
        if SHORTEST <= len(doc) <= LONGEST:
            words = [token.text for token in doc]
            yield Sentence(text=doc.text, words=words, spaces=[bool(token.whitespace_) for token in doc])


def lower(sentence: Sentence) -> Sentence:
    """Return the sentence in lower case, its annotation unchanged."""
    words = [word.lower() for word in sentence.words]
    return Sentence(**{**vars(sentence), "words": words, "text": sentence.text.lower()})


def write_silver(
    nlp: Language,
    lines: Sequence[str],
    annotate: Callable[[Sequence[Sentence]], list[Sentence]],
    folder: Path,
    seed: int,
) -> Iterator[tuple[Path, int, int]]:
    """Annotate lines chunk by chunk into ``folder/silver-NNN.spacy``."""
    folder.mkdir(parents=True, exist_ok=True)
    for start in range(0, len(lines), CHUNK):
        path = folder / f"silver-{start // CHUNK:03d}.spacy"
        given = lines[start : start + CHUNK]
        if path.exists():
            yield path, -1, len(given)
            continue
        generator = random.Random(f"{seed} {start}")
        answers = annotate(list(tokenize(nlp, given)))
        trees = [sentence for sentence in answers if is_tree(sentence.heads)]
        trees = [lower(sentence) if generator.random() < LOWERED else sentence for sentence in trees]
        write_docs((make_doc(nlp.vocab, [sentence]) for sentence in trees), path)
        yield path, len(trees), len(given)


def write_docs(docs: Iterable[Doc], path: Path) -> None:
    """Write annotated documents to a ``.spacy`` file, which appears only when it is complete."""
    attributes = ["ORTH", "SPACY", "TAG", "POS", "MORPH", "LEMMA", "HEAD", "DEP", "SENT_START"]
    temporary = path.with_suffix(".part")
    DocBin(attrs=attributes, docs=docs).to_disk(temporary)
    temporary.rename(path)


def correct_lemmas(nlp: Language, source: Path, target: Path, lexicon: Lexicon) -> None:
    """Copy silver files into another folder with the lexicon's lemmas, after it has counted their words."""
    target.mkdir(parents=True, exist_ok=True)
    paths = sorted(source.glob("silver-*.spacy"))
    for path in paths:
        lexicon.count(DocBin().from_disk(path).get_docs(nlp.vocab))
    for path in paths:
        docs = DocBin().from_disk(path).get_docs(nlp.vocab)
        write_docs((correct(doc, lexicon) for doc in docs), target / path.name)
