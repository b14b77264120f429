"""Better lemmas for silver trees: the gold lexicon first, then what is a word in the silver trees.

The teacher reads word pieces and can't tell that "established" comes from "establish" but "based" from
"base". The silver trees can: one base form is common there, the other is not a word. So every inflected word
gets the lemma that the gold trees give it; if they don't have it, the candidate that stands most often in the
silver trees as a base form; if there is none, no lemma, and the student learns nothing from that word.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable

from spacy.tokens import Doc

from data.builds.pipeline.treebank import Sentence

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
