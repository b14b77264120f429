"""Who says it, beside what is said: `"Yes," said Anna.` to `"Yes," Anna said.` and back."""

from __future__ import annotations

import numpy as np

from augment_cli.english.rephrasing.grammar import SUBJECTS, Grammar
from augment_cli.english.rephrasing.places import PHRASE, Edit, Places
from augment_cli.syntax.tree import words

_SAID = words(
    "said replied asked cried answered returned exclaimed remarked observed murmured muttered whispered "
    "continued added shouted retorted repeated demanded inquired enquired responded declared interrupted "
    "rejoined suggested agreed explained protested insisted says asks replies"
)
_QUOTES = words("\" ” ’ ' »")
_BEHIND = words(". , ;") | _QUOTES | words("“ ‘")
_LONGEST = 5  # words of the one who speaks


def reported(grammar: Grammar) -> list[Places]:
    """Places where the one who speaks and the verb of speaking change places."""
    verbs = np.flatnonzero(grammar.is_word(_SAID) & grammar.is_tag("VBD", "VBZ"))
    child = grammar.child(grammar.is_dep(*SUBJECTS))[verbs]
    verbs, heads = verbs[child >= 0], child[child >= 0]
    left, right = grammar.trimmed(heads)
    behind = (left == verbs + 1) & _is_free(grammar, verbs - 1, right + 1)
    before = (right == verbs - 1) & _is_free(grammar, left - 1, verbs + 1) & ~grammar.is_pos("PRON", at=heads)
    inner = grammar.is_mark | grammar.is_verb | grammar.asks
    plain = (right - left < _LONGEST) & (grammar.count(inner, left, right) == 0)
    plain &= grammar.is_whole(heads, left, right) & ~grammar.is_pos("DET", at=heads)
    first, last = np.minimum(left, verbs), np.maximum(right, verbs)

    def turn(begin: int, end: int, verb: int) -> list[Edit]:
        if verb == begin:
            return [grammar.edit(begin, end, f"{grammar.text(begin + 1, end)} {grammar.text(verb)}")]
        return [grammar.edit(begin, end, f"{grammar.text(verb)} {grammar.text(begin, end - 1)}")]

    return [
        Places("speaker_and_verb", PHRASE, [(first, last)], (first, last, verbs), turn).where(
            (behind | before) & plain
        )
    ]


def _is_free(grammar: Grammar, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Whether what is said ends right before a place, and the sentence or a clause right after another."""
    stop = len(grammar) - 1
    ends = grammar.is_word(_BEHIND, at=np.minimum(after, stop)) & (after <= stop)
    quotes = grammar.is_word(_QUOTES, at=np.maximum(before, 0)) & (before > 0)
    same = grammar.rows[np.maximum(before, 0)] == grammar.rows[np.minimum(after, stop)]
    return ends & quotes & same
