"""Who says it, and what: `"Yes," said Anna.` to `"Yes," Anna said.` or `Anna said, "Yes."`, and back."""

from __future__ import annotations

import re

import numpy as np

from augment_cli.english.rephrasing.grammar import SUBJECTS, Grammar, upper_first
from augment_cli.english.rephrasing.places import CLAUSE, PHRASE, Edit, Places
from augment_cli.syntax.tree import words

_SAID = words(
    "said replied asked cried answered returned exclaimed remarked observed murmured muttered whispered "
    "continued added shouted retorted repeated demanded inquired enquired responded declared interrupted "
    "rejoined suggested agreed explained protested insisted called sighed roared screamed yelled sobbed "
    "gasped growled grumbled laughed faltered stammered pleaded begged urged ordered commanded announced "
    "admitted thought croaked squeaked snapped snarled hissed assented ventured pursued resumed began "
    "ejaculated queried says asks replies"
)
# One quotation, by its marks: in front of its speaker, behind, and around.
_BEFORE = re.compile(r"""(["“'‘])([^"“”]+?)([,?!])(["”'’]) """)
_BEHIND_SPEAKER = re.compile(r"""[,:] (["“'‘])([^"“”]+?)([.?!])(["”'’])""")
_CONTINUED = re.compile(r"""([,.]) ["“'‘]([^"“”]+["”'’])""")
_MANNER = re.compile(r"(,? (?:to|in|with|at|from|\w+ly|again|\w+ing)\b[^,;:\"“”‘()]{0,60})\.")
_JOINING = words("and but or for so if when as though because while unless until since")
_PAIRS = {'"': '"', "“": "”", "'": "'", "‘": "’"}
_QUOTES = words("\" ” ’ ' »")
_MARKS = words(", ? !")
_BEHIND = words(". , ;") | _QUOTES | words("“ ‘")
_LONGEST = 5  # words of the one who speaks


def reported(grammar: Grammar) -> list[Places]:
    """Places where the one who speaks and the verb of speaking change places."""
    # Behind a quotation any verb is one of speaking, and what the parse takes for its object speaks.
    quoting = grammar.is_word(_QUOTES, grammar.next_in_row(grammar.places, -1)) & grammar.is_tag("VBD")
    quoting &= grammar.is_pos("VERB") & grammar.is_word(_MARKS, grammar.next_in_row(grammar.places, -2))
    own = grammar.child(grammar.is_dep(*SUBJECTS))
    other = grammar.child(grammar.is_dep("obj") & ~grammar.is_pos("PRON"))
    own = np.where((own < 0) & quoting, other, own)
    verbs = np.flatnonzero((own >= 0) & (quoting | (grammar.is_word(_SAID) & grammar.is_tag("VBD", "VBZ"))))
    heads = own[verbs]
    left, right = grammar.trimmed(heads)
    behind = (left == verbs + 1) & _is_free(grammar, verbs - 1, right + 1)
    before = (right == verbs - 1) & _is_free(grammar, left - 1, verbs + 1) & ~grammar.is_pos("PRON", at=heads)
    before &= left - 1 > grammar.openings[grammar.rows[verbs]]  # `"My son said so."`
    inner = grammar.is_mark | grammar.is_verb | grammar.asks
    plain = (right - left < _LONGEST) & (grammar.count(inner, left, right) == 0)
    plain &= grammar.is_whole(heads, left, right) & ~grammar.is_pos("DET", at=heads)
    first, last = np.minimum(left, verbs), np.maximum(right, verbs)

    def turn(begin: int, end: int, verb: int) -> list[Edit]:
        if verb == begin:
            return [grammar.edit(begin, end, f"{grammar.text(begin + 1, end)} {grammar.text(verb)}")]
        return [grammar.edit(begin, end, f"{grammar.text(verb)} {grammar.text(begin, end - 1)}")]

    whole = [
        _moved(grammar, *span) for span in zip(verbs.tolist(), first.tolist(), last.tolist(), strict=True)
    ]
    moves = plain & np.array([text is not None for text in whole], bool)
    opening = grammar.openings[grammar.rows[verbs]]
    end = grammar.parses.offsets[1:][grammar.rows[verbs]] - 1
    written = np.array(whole, object)

    return [
        Places(
            "quotation_moved",
            CLAUSE,
            [(opening, end)],
            (opening, end, written),
            lambda begin, stop, text: [grammar.edit(begin, stop, text)],
        ).where(moves),
        Places("speaker_and_verb", PHRASE, [(first, last)], (first, last, verbs), turn).where(
            (behind | before) & plain
        ),
    ]


def _moved(grammar: Grammar, verb: int, first: int, last: int) -> str | None:
    """The sentence with its quotation on the other side of the speaker, or None: `"Yes," he said.`"""
    before, after = grammar.around(first, last)
    speaker, said = grammar.text(first, last), grammar.text(verb)
    if verb == first:  # "said Anna"
        speaker = f"{grammar.text(first + 1, last)} {said}"
    quoted = None if speaker.endswith(".") or " to " in speaker else _BEFORE.fullmatch(before)
    if quoted and _PAIRS[quoted[1]] == quoted[4] and _is_one(quoted[2], quoted[1]):
        mark, told = quoted[3], f"{upper_first(speaker)}, {quoted[1]}{quoted[2]}"
        how = _MANNER.fullmatch(after)
        if how:
            told = f"{upper_first(speaker)}{how[1]}, {quoted[1]}{quoted[2]}"
        if how or after in {".", ""}:
            return f"{told}{'.' if mark == ',' else mark}{quoted[4]}"
        goes_on = _CONTINUED.fullmatch(after)
        if goes_on and _is_one(goes_on[2][:-1], quoted[1]):
            # "The mill," said Ann, "is on fire": the comma may be the speaker's alone.
            own = goes_on[2].split(" ")[0] in _JOINING
            if mark == "," and (goes_on[1] == "." or own):
                mark = goes_on[1]
            elif mark == "," or goes_on[1] == ",":
                return None
            return f"{told}{mark} {goes_on[2]}"
    quoted = _BEHIND_SPEAKER.fullmatch(after)
    if (
        not before
        and quoted
        and verb == last
        and _PAIRS[quoted[1]] == quoted[4]
        and _is_one(quoted[2], quoted[1])
    ):
        mark = "," if quoted[3] == "." else quoted[3]
        text = f"{quoted[1]}{quoted[2]}{mark}{quoted[4]} {grammar.inward(first, last)}."
        return text if quoted[2][0].isupper() else None
    return None


def _is_one(content: str, mark: str) -> bool:
    """Whether nothing else is quoted inside a quotation."""
    return mark in '"“' or not re.search(r"(?:^|\W)['‘]|['’](?:\W|$)", content)


def _is_free(grammar: Grammar, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Whether what is said ends right before a place, and the sentence or a clause right after another."""
    stop = len(grammar) - 1
    ends = grammar.is_word(_BEHIND, at=np.minimum(after, stop)) & (after <= stop)
    quotes = grammar.is_word(_QUOTES, at=np.maximum(before, 0)) & (before > 0)
    same = grammar.rows[np.maximum(before, 0)] == grammar.rows[np.minimum(after, stop)]
    return ends & quotes & same
