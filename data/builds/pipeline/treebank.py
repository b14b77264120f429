"""CoNLL-U treebanks as spaCy documents whose text is the raw text; better lemmas for silver trees.

A Universal Dependencies treebank lists syntactic words; what stood in the text as one token ("don't") is a
multi-word range above its words ("do", "n't"). The words become spaCy tokens, and the ranges and
``SpaceAfter=No`` decide where spaces go, so that ``doc.text`` equals the treebank's ``# text`` comment.

Format: https://universaldependencies.org/format.html
"""

import gzip
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spacy.tokens import Doc
from spacy.vocab import Vocab

SAME = "k|0|"
# Tags of inflected words, and the tags their base forms have.
BASES = {
    "VBD": ("VB", "VBP"),
    "VBN": ("VB", "VBP"),
    "VBG": ("VB", "VBP"),
    "VBZ": ("VB", "VBP"),
    "NNS": ("NN",),
    "JJR": ("JJ",),
    "JJS": ("JJ",),
    "RBR": ("RB",),
    "RBS": ("RB",),
}
ALIKE = {"VBD": "VBN", "VBN": "VBD"}  # where an irregular form of the one is often the other's too
PLAIN = {"VB", "VBP", "NN", "JJ", "RB", "IN", "CC", "UH", "RP", "WRB"}  # the lemma of "house" is "house"
SURE = 0.95  # share a word's commonest lemma must have to count as the lexicon's answer
SHORTEST_STEM = 2  # characters a script must leave of the word
PRODUCTIVE = 6  # different words a script must serve in the gold trees to be tried on others


@dataclass
class Sentence:
    """One tree: parallel lists with one entry a syntactic word."""

    text: str
    words: list[str] = field(default_factory=list)
    spaces: list[bool] = field(default_factory=list)  # whether a space follows in the raw text
    lemmas: list[str] = field(default_factory=list)
    pos: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    morphs: list[str] = field(default_factory=list)  # universal features, ``""`` where the treebank has ``_``
    # index of the head word within the sentence; a root is its own head, as in spaCy
    heads: list[int] = field(default_factory=list)
    deps: list[str] = field(default_factory=list)


def read_conllu(path: Path) -> Iterator[Sentence]:
    """Read the trees of a ``.conllu`` or ``.conllu.gz`` file in order."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as file:
        block: list[str] = []
        for line in file:
            if line.strip():
                block.append(line.rstrip("\n"))
            elif block:
                yield parse_sentence(block)
                block = []
        if block:
            yield parse_sentence(block)


def parse_sentence(lines: Sequence[str]) -> Sentence:
    """Build one tree from its CoNLL-U lines (comments, words, multi-word ranges, empty nodes)."""
    text = next((line[len("# text = ") :] for line in lines if line.startswith("# text = ")), "")
    sentence = Sentence(text)
    range_end, range_space = 0, True
    for line in lines:
        if line.startswith("#"):
            continue
        columns = line.split("\t")
        identifier, misc = columns[0], columns[9].split("|")
        space = "SpaceAfter=No" not in misc
        if "." in identifier:  # an empty node of the enhanced graph: not in the text
            continue
        if "-" in identifier:
            range_end, range_space = int(identifier.split("-")[1]), space
            continue
        number, head = int(identifier), int(columns[6])
        if number < range_end:
            space = False
        elif number == range_end:
            space = range_space
        sentence.words.append(columns[1])
        sentence.lemmas.append(columns[2])
        sentence.pos.append(columns[3])
        sentence.tags.append(columns[4])
        sentence.morphs.append("" if columns[5] == "_" else columns[5])
        sentence.heads.append(head - 1 if head else number - 1)
        sentence.deps.append(columns[7] if head else "ROOT")
        sentence.spaces.append(space)
    if sentence.spaces:
        sentence.spaces[-1] = False
    built = "".join(w + " " * s for w, s in zip(sentence.words, sentence.spaces, strict=True))
    if text and built != text:
        raise ValueError(f"words and spaces give {built!r}, but the text comment says {text!r}")
    sentence.text = built
    return sentence


def make_doc(vocab: Vocab, sentences: Sequence[Sentence]) -> Doc:
    """Join sentences by spaces into one document with tags, features, lemmas and trees."""
    words: list[str] = []
    spaces: list[bool] = []
    heads: list[int] = []
    for index, sentence in enumerate(sentences):
        heads += [len(words) + head for head in sentence.heads]
        words += sentence.words
        spaces += sentence.spaces
        spaces[-1] = index + 1 < len(sentences)
    return Doc(
        vocab,
        words=words,
        spaces=spaces,
        heads=heads,
        deps=[dep for sentence in sentences for dep in sentence.deps],
        pos=[pos for sentence in sentences for pos in sentence.pos],
        tags=[tag for sentence in sentences for tag in sentence.tags],
        morphs=[morph for sentence in sentences for morph in sentence.morphs],
        lemmas=[lemma for sentence in sentences for lemma in sentence.lemmas],
        sent_starts=[i == 0 for sentence in sentences for i in range(len(sentence.words))],
    )


def group(
    sentences: Iterable[Sentence], share: float, largest: int, generator: random.Random
) -> Iterator[list[Sentence]]:
    """Cut a sequence of sentences into groups, so that a parser also learns where sentences end."""
    waiting: list[Sentence] = []
    wanted = 0
    for sentence in sentences:
        if not waiting:
            wanted = generator.randint(2, largest) if generator.random() < share else 1
        waiting.append(sentence)
        if len(waiting) == wanted:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def lemma_script(word: str, lemma: str) -> str:
    """Return the shortest script that makes `lemma` from `word`; keeps the word's case where it can."""
    best = ""
    for case, base in (("k", word), ("l", word.lower())):
        shared = 0
        while shared < min(len(base), len(lemma)) and base[shared] == lemma[shared]:
            shared += 1
        script = f"{case}|{len(base) - shared}|{lemma[shared:]}"
        if not best or len(lemma) - shared < len(best.split("|", 2)[2]):
            best = script
    return best


def apply_script(script: str, word: str) -> str:
    """Return the lemma; a script that drops more than the word has, or leaves nothing, returns the word."""
    case, drop, add = script.split("|", 2)
    base = word.lower() if case == "l" else word
    if int(drop) > len(base):
        return word
    return base[: len(base) - int(drop)] + add or word


class Lexicon:
    """What gold trees say about lemmas, and how often silver trees have each base form."""

    # The teacher reads word pieces and can't tell that "established" comes from "establish" but "based" from
    # "base". The silver trees can: one base form is common there, the other is not a word. So an inflected
    # word gets the lemma of the gold trees; else the candidate that stands most often in the silver trees as
    # a base form; else no lemma, and the student learns nothing from that word.

    def __init__(self, gold: Iterable[Sentence]) -> None:
        lemmas: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        served: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        self.bases: Counter[tuple[str, str]] = Counter()
        for sentence in gold:
            for word, tag, lemma in zip(sentence.words, sentence.tags, sentence.lemmas, strict=True):
                if lemma != "_":
                    lemmas[word.lower(), tag][lemma] += 1
                    served[tag][lemma_script(word.lower(), lemma)].add(word.lower())
                self.bases[word.lower(), tag] += 1
        self.known: dict[tuple[str, str], str | None] = {}  # None: the gold trees disagree with themselves
        for key, counts in lemmas.items():
            lemma, count = counts.most_common(1)[0]
            self.known[key] = lemma if count >= SURE * counts.total() else None
        self.scripts = {
            tag: {script: len(words) for script, words in scripts.items() if len(words) >= PRODUCTIVE}
            for tag, scripts in served.items()
            if tag in BASES
        }
        self.found: dict[tuple[str, str], str] = {}

    def count(self, docs: Iterable[Doc]) -> None:
        """Add the base forms of silver documents."""
        for doc in docs:
            self.bases.update((token.lower_, token.tag_) for token in doc)

    def lemma(self, word: str, tag: str, guess: str) -> str:
        """Return the lemma of a word, `guess` where that is the best there is, ``""`` where nothing is."""
        key = (word.lower(), tag)
        if tag.startswith("NNP"):
            return guess
        if key in self.known:
            return self.known[key] or guess
        if tag in PLAIN and (word.islower() or (word.istitle() and tag != "JJ")):
            return word.lower()
        if tag not in BASES:
            return guess
        if key not in self.found:
            self.found[key] = self._search(*key)
        return self.found[key]

    def _search(self, word: str, tag: str) -> str:
        alike = self.known.get((word, ALIKE.get(tag, "")))
        if alike:
            return alike
        best, most = "", 0
        for script, words in self.scripts.get(tag, {}).items():
            if int(script.split("|", 2)[1]) > len(word) - SHORTEST_STEM:
                continue
            candidate = apply_script(script, word)
            found = words * sum(self.bases[candidate, base] for base in BASES[tag])
            if found > most:
                best, most = candidate, found
        return best


def correct(doc: Doc, lexicon: Lexicon) -> Doc:
    """Set the document's lemmas to the lexicon's, in place; returns the document."""
    for token in doc:
        token.lemma_ = lexicon.lemma(token.text, token.tag_, token.lemma_)
    return doc
