"""Remove a negation behind an auxiliary: `is not` to `is`, `can't` to `can`, `did not go` to `went`.

AugCSE's SentenceAuxiliaryNegationRemoval, which drops `not` and `n't` behind am, are, can, could, had, has,
have, is, may, might, must, shall, should, was, were, will, would, and `do` together with its `not`.

Differences from the original: `does not` and `did not`, which it leaves alone, go too, and the verb behind
takes over the ending (`goes`, `went`) where it stands directly behind and its form is known; `not only`,
`not just` and `whether or not` stay, and so do negations with a word behind them that needs one (`not … any`,
`at all`, `yet`); every other of the sentence goes; spacing and case survive; a question is labelled
*neither*, since `Is it free?` asks what `Isn't it free?` asks, and so is a text that loses several negations,
which may undo each other. No parse is needed, since auxiliary and negation stand together.
"""

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.augmentation import (
    LABEL_COLUMN,
    Augmentation,
    Resources,
    prepared,
    with_digests,
    with_labels,
)
from augment_cli.contract.parameters import NoParameters
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import PhraseTable, Words, next_words, word_edits
from augment_cli.english.words.word_edits import joined, restored
from augment_cli.resources import word_groups
from augment_cli.resources.wordnet import TAGS, load_wordnet, wordnet_digest
from augment_cli.syntax.tree import words

_WORDS = word_groups("negation-removal")
_IRREGULAR = {"can't": "can", "cannot": "can", "won't": "will", "shan't": "shall"}
# Behind these the verb gets the ending of do.
_DO = {"do": "VB", "does": "VBZ", "did": "VBD"}
_DO_OF = {tag: word for word, tag in _DO.items()}
_INVERTING = words("why how when where")
# "Because it did not start, we walked", "Help! It does not start": what else is said needs the negation.
_NEEDING = words("because help")
_OWN_FORMS = {"have": ("has", "had"), "be": ("is", "was"), "do": ("does", "did")}


@lru_cache(maxsize=1)
def _phrases() -> tuple[PhraseTable, list[str]]:
    """Negated auxiliaries, and what is left of each; `VB`, `VBZ` or `VBD` where only the ending is."""
    table = dict(_IRREGULAR)
    for word in sorted(_WORDS.auxiliaries):
        table[f"{word} not"] = word
        table.setdefault(f"{word}n't", word)
    for word, tag in _DO.items():
        table[f"{word} not"] = table[f"{word}n't"] = tag
    return PhraseTable(list(table)), list(table.values())


@lru_cache(maxsize=1)
def _inflected() -> dict[str, dict[str, str]]:
    """For VBZ and VBD: base form of a verb to its inflected one."""
    wordnet = load_wordnet()
    tables: dict[str, dict[str, str]] = {}
    lemmas = wordnet.lemmas.take(pa.array(wordnet.form_entries))
    for place, tag in enumerate(("VBZ", "VBD")):
        mask = pa.array(wordnet.form_first & TAGS[tag] > 0)
        tables[tag] = dict(
            zip(lemmas.filter(mask).to_pylist(), wordnet.forms.filter(mask).to_pylist(), strict=True)
        )
        tables[tag] |= {verb: own[place] for verb, own in _OWN_FORMS.items()}
    bases = wordnet.forms.filter(pa.array(wordnet.form_bits & TAGS["VB"] > 0)).to_pylist()
    tables["VB"] = {verb: verb for verb in [*bases, *_OWN_FORMS]}
    return tables


def _reaches_polar(words: Words, index: int) -> bool:
    """Whether a word that needs the negation stands behind it: before the next mark, *anymore* anywhere."""
    codes, distinct = words.lower
    before, is_near = "", True
    for place in range(index + 1, words.offsets[words.rows[index] + 1]):
        is_near &= bool(words.follows_space[place])
        word = distinct[codes[place]].as_py()
        near = word in _WORDS.polar or (before, word) in {("at", "all"), ("least", "bit"), ("big", "deal")}
        if (is_near and near) or word == "anymore":
            return True
        before = word
    return False


def _asks(words: Words, texts: pa.Array, rows: np.ndarray) -> np.ndarray:
    """bool (m,): rows (m,) with a question mark, or that begin with a word that asks."""
    marks = pc.match_substring(texts.take(pa.array(rows)), "?").to_numpy(zero_copy_only=False)
    return marks | words.among(_WORDS.asking)[words.offsets[rows]]


def _run(parameters: NoParameters, resources: Resources, rows: Rows) -> Outcome:
    table, left = _phrases()
    rows, split = joined(rows)
    words = Words.of(rows.code_points)
    matches = table.find(words)
    ends, texts, keep = [], [], []
    following = next_words(words, matches.last)
    inflected = _inflected()
    needed = np.bincount(words.rows, words.among(_NEEDING), len(rows)) > 0
    before = np.maximum(matches.first - 1, 0)
    asked = words.among(_INVERTING)[before] & (words.rows[before] == words.rows[matches.first])
    for number, last, behind, inverted in zip(
        matches.phrases.tolist(), matches.last.tolist(), following, asked.tolist(), strict=True
    ):
        rest, end = left[number], last
        if rest in inflected and inverted:  # "Why doesn't honey spoil?"
            rest = _DO_OF[rest]
        elif rest in inflected:
            # "does not know or care": two verbs would need the ending.
            shared = next_words(words, np.array([last + 1, last + 2]))
            several = shared[0] in {"or", "and"} and shared[1] in inflected["VB"]
            rest, end = inflected[rest].get(behind or "", "") if not several else "", last + 1
        free = behind not in _WORDS.stays_before and not needed[words.rows[last]]
        keep.append(bool(rest) and free and not _reaches_polar(words, last))
        ends.append(min(end, len(words) - 1))
        texts.append(rest)
    kept = np.array(keep, bool)
    first, last_word = matches.first[kept], np.array(ends, np.int64)[kept]
    strings = pc.filter(pa.array(texts, pa.string()), pa.array(kept))
    strings = word_edits.in_case_of_first(words, first, strings, last_word)
    edits = word_edits.edits_of(
        words, words.rows[first], words.flat_starts[first], words.flat_ends[last_word], strings
    )
    # Of "If he does not win, it is not his fault" no negation is left, and the same is said.
    changed, counts = np.unique(edits.rows, return_counts=True)
    neither = changed[(counts > 1) | _asks(words, rows.texts, changed)]
    reasons = word_edits.reasons_for(words, np.zeros(len(words), bool))
    return restored(with_labels(Outcome(edits, reasons), neither), split)


NEGATION_REMOVAL = Augmentation(
    name="negation-removal",
    version=7,
    kind="negative",
    paper="Tang et al. 2022, AugCSE (SentenceAuxiliaryNegationRemoval)",
    languages=("en",),
    prepare=prepared(_run),
    resolve=with_digests(lambda: {"wordnet": wordnet_digest()}),
    columns=(LABEL_COLUMN,),
    examples=("augment-cli negation-removal",),
    is_random=False,
    turns="polarity",
    entailment=(
        "other",
        "what was denied is asserted; a row that asks, or loses several, is labelled neither",
    ),
)
