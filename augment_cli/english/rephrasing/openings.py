"""Words that open a sentence and join it to the one before: `But he left.` to `However, he left.`

And who says it, and what: `"Yes," said Anna.` to `"Yes," Anna said.` or `Anna said, "Yes."`, and back.
"""

import re

import numpy as np

from augment_cli.english import LISTS
from augment_cli.english.rephrasing import CLAUSE, PHRASE, Places
from augment_cli.english.rephrasing.grammar import FINITE, SUBJECTS, Grammar, upper_first
from augment_cli.syntax.tree import words

_CONTRASTING = words("but yet")
_ALSO_CONTRASTING = words("however nevertheless nonetheless still yet rather instead merely only")
_CLAUSAL = words("when if after before while although though as since then in on at")
_QUOTES = words("\" “ ‘ '")
_NOMINATIVES = words("i you he she it we they there")
_NO_SUBJECTS = words("which who what that this one nothing none neither no not")
# One quotation, by its marks: in front of its speaker, behind, and around.
_BEFORE = re.compile(r"""(["“'‘])([^"“”]+?)([,?!])(["”'’]) """)
_BEHIND_SPEAKER = re.compile(r"""[,:] (["“'‘])([^"“”]+?)([.?!])(["”'’])""")
_CONTINUED = re.compile(r"""([,.]) ["“'‘]([^"“”]+["”'’])""")
_MANNER = re.compile(r"(,? (?:to|in|with|at|from|\w+ly|again|\w+ing)\b[^,;:\"“”‘()]{0,60})\.")
_JOINING = words("and but or for so if when as though because while unless until since")
_PAIRS = {'"': '"', "“": "”", "'": "'", "‘": "’"}
_CLOSING_QUOTES = words("\" ” ’ ' »")
_MARKS = words(", ? !")
_BEHIND = words(". , ;") | _CLOSING_QUOTES | words("“ ‘")
_SPEAKERS = words("i he she they we")
_LONGEST = 5  # words of the one who speaks


def openings(grammar: Grammar) -> list[Places]:
    """Places of all rules on the first word of a sentence."""
    rows = np.flatnonzero(grammar.is_statement & (grammar.subjects >= 0))
    first = grammar.openings[rows]
    second = grammar.next_in_row(first)
    begins = grammar.subject_spans[0][rows]
    bare = (begins == second) & ~grammar.is_word(_NO_SUBJECTS, second)
    framed = (begins > second) & grammar.is_word(_CLAUSAL, second)
    joins = (bare | framed) & grammar.parses.whitespace[first]
    # Behind a quotation mark that opens a row a pronoun and its verb have to follow.
    quotes = grammar.filled(3)
    told = quotes[grammar.is_word(_QUOTES, quotes)] + 1
    spoken = _has_clause(grammar, grammar.next_in_row(told))
    first, joins = np.append(first, told), np.append(joins, spoken)
    return [
        *(_however(grammar, first, joins), _and_dropped(grammar, first, joins)),
        *(_interjection_dropped(grammar), _then_inside(grammar, rows, bare)),
    ]


def _has_clause(grammar: Grammar, pronouns: np.ndarray) -> np.ndarray:
    """bool (m,): tokens that are a pronoun in front of its finite verb."""
    behind = grammar.next_in_row(pronouns)
    return grammar.is_word(_NOMINATIVES, pronouns) & grammar.is_tag(*FINITE, "MD", at=behind)


def _interjection_dropped(grammar: Grammar) -> Places:
    """`"Oh, I know."` to `"I know."`"""
    first = grammar.filled(4)
    first = first + grammar.is_word(_QUOTES, first)
    good = grammar.is_word(words("oh ah well why"), first) & grammar.is_comma[grammar.next_in_row(first)]
    good &= _has_clause(grammar, grammar.next_in_row(first, 2))

    def text(token: int, pronoun: int) -> str:
        return upper_first(grammar.text(pronoun))

    return grammar.replaced("interjection_dropped", PHRASE, (first, first + 2), text, good)


def _however(grammar: Grammar, first: np.ndarray, joins: np.ndarray) -> Places:
    """`But he left.` to `However, he left.`"""
    good = joins & grammar.is_word(_CONTRASTING, first) & grammar.is_pos("CCONJ", "ADV", at=first)
    inside = grammar.is_word(_ALSO_CONTRASTING) & (grammar.places > grammar.openings[grammar.rows])
    good &= ~grammar.rows_with(inside)[grammar.rows[first]]

    def text(token: int) -> str:
        return "However," if grammar.text(token)[0].isupper() else "however,"

    return grammar.replaced("opening_however", PHRASE, (first,), text, good)


def _and_dropped(grammar: Grammar, first: np.ndarray, joins: np.ndarray) -> Places:
    """`And he left.` to `He left.`"""

    def text(token: int, following: int) -> str:
        word = grammar.text(following)
        return upper_first(word) if grammar.text(token)[0].isupper() else word

    good = joins & grammar.is_word({"and"}, first)
    return grammar.replaced("opening_and_dropped", PHRASE, (first, first + 1), text, good)


def _then_inside(grammar: Grammar, rows: np.ndarray, bare: np.ndarray) -> Places:
    """`Then he turned round.` to `He then turned round.`"""
    first = grammar.openings[rows]
    left, right = (edge[rows] for edge in grammar.subject_spans)
    verb = grammar.next_in_row(right)
    good = (
        bare & grammar.is_word(words("then now soon"), first) & (verb == grammar.roots[rows]) & (verb > right)
    )
    good &= grammar.is_tag(*FINITE, at=verb) & grammar.is_pos("VERB", at=verb) & (right - left < 4)
    good &= (grammar.count(grammar.is_mark, left, right) == 0) & grammar.parses.whitespace[right]
    return grammar.inside(
        "then_inside", (first, left, right), good, lambda token: f" {grammar.inward(token)}"
    )


def reported(grammar: Grammar) -> list[Places]:
    """Places where the one who speaks and the verb of speaking change places."""
    # Behind a quotation any verb is one of speaking, and what the parse takes for its object speaks.
    before, past = grammar.next_in_row(grammar.places, -1), grammar.is_tag("VBD")
    quoting = grammar.is_word(_CLOSING_QUOTES, before) & past & grammar.is_pos("VERB")
    quoting &= grammar.is_word(_MARKS, grammar.next_in_row(grammar.places, -2))
    own = grammar.child(grammar.is_dep(*SUBJECTS))
    named = grammar.is_pos("NOUN", "PROPN") | grammar.is_word(_SPEAKERS)
    other = grammar.child(
        grammar.is_dep("obj", "iobj", *SUBJECTS) & named & (grammar.parents < grammar.places)
    )
    own = np.where(quoting & (other >= 0), other, own)
    saying = grammar.is_word(LISTS["said"]) & (past | grammar.is_tag("VBZ"))
    verbs = np.flatnonzero((own >= 0) & (quoting | saying))
    heads, rows = own[verbs], grammar.rows[verbs]
    left, right = grammar.trimmed(heads)
    behind = (left == verbs + 1) & _is_free(grammar, verbs - 1, right + 1)
    in_front = (right == verbs - 1) & _is_free(grammar, left - 1, verbs + 1)
    in_front &= ~grammar.is_pos("PRON", at=heads)
    in_front &= left - 1 > grammar.openings[rows]  # `"My son said so."`
    inner = grammar.is_mark | grammar.is_verb | grammar.asks
    plain = (right - left < _LONGEST) & (grammar.count(inner, left, right) == 0)
    plain &= grammar.is_whole(heads, left, right) & ~grammar.is_pos("DET", at=heads)
    first, last = np.minimum(left, verbs), np.maximum(right, verbs)
    spans = zip(verbs.tolist(), first.tolist(), last.tolist(), strict=True)
    whole = np.array([_moved(grammar, *span) for span in spans], object)
    ends = grammar.parses.offsets[1:][rows] - 1

    def turned(begin: int, verb: int, end: int) -> str:
        if verb == begin:
            return f"{grammar.text(begin + 1, end)} {grammar.text(verb)}"
        return f"{grammar.text(verb)} {grammar.text(begin, end - 1)}"

    moves = plain & np.array([text is not None for text in whole.tolist()], bool)
    columns = grammar.openings[rows], whole, ends
    # `said Ann, who sat there`
    who = (
        grammar.asks[np.minimum(last + 2, len(grammar) - 1)]
        & grammar.is_comma[np.minimum(last + 1, len(grammar) - 1)]
    )
    turns = plain & (behind | in_front) & ~who
    return [
        grammar.replaced("quotation_moved", CLAUSE, columns, lambda begin, text, end: text, moves),
        grammar.replaced("speaker_and_verb", PHRASE, (first, verbs, last), turned, turns),
    ]


def _moved(grammar: Grammar, verb: int, first: int, last: int) -> str | None:
    """The sentence with its quotation on the other side of the speaker, or None: `"Yes," he said.`"""
    before, after = grammar.around(first, last)
    speaker, said = grammar.text(first, last), grammar.text(verb)
    if verb == first:  # "said Anna"
        speaker = f"{grammar.text(first + 1, last)} {said}"
    quoted = None if speaker.endswith(".") or " to " in speaker else _BEFORE.fullmatch(before)
    if quoted and _PAIRS[quoted[1]] == quoted[4] and _is_one(quoted[2], quoted[1]):
        mark, how = quoted[3], _MANNER.fullmatch(after)
        told = f"{upper_first(speaker)}{how[1] if how else ''}, {quoted[1]}{quoted[2]}"
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
    quoted = None if before or verb != last else _BEHIND_SPEAKER.fullmatch(after)
    if quoted and _PAIRS[quoted[1]] == quoted[4] and _is_one(quoted[2], quoted[1]):
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
    quotes = grammar.is_word(_CLOSING_QUOTES, at=np.maximum(before, 0)) & (before > 0)
    same = grammar.rows[np.maximum(before, 0)] == grammar.rows[np.minimum(after, stop)]
    return ends & quotes & same
