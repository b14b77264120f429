"""Requests and questions in another frame: `play some jazz` to `could you play some jazz`.

People type them in lower case and without marks, and parses of such texts are poor. So these rules go by the
words that open a text, and ask the parse only how far a subject goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from augment_cli.english.headlines import BINDING, HEADLINE
from augment_cli.english.inflection import inflected
from augment_cli.english.rephrasing.grammar import Grammar
from augment_cli.english.rephrasing.lexicon import Draw
from augment_cli.english.rephrasing.opened import (
    ABLE,
    ASKING,
    AUXILIARIES,
    BE,
    DO,
    ENDS,
    HAVE,
    MODALS,
    NAMES_THINGS,
    NO_QUESTION,
    NOUNS_TOO,
    OBJECTS,
    POLITE,
    QUESTION_WORDS,
    REQUESTS,
    REWORDED,
    SUBJECTS,
    TELLING,
    TOLD,
    VERBS,
    WEIGHT,
    WISHED,
    WISHES,
    Text,
)
from augment_cli.english.rephrasing.places import CLAUSE, Edit, Places
from augment_cli.syntax.tree import form_of_tag, words

_LONGEST = 28  # tokens


def requests(grammar: Grammar, draw: Draw) -> list[Places]:
    """Other frames for requests, wishes and questions."""
    texts = list(_texts(grammar))
    uniform: Sequence[float] | np.ndarray = (
        draw(np.array([text.first for text in texts], np.int64)) if texts else []
    )
    found: dict[str, list[tuple[int, int, list[Edit]]]] = {
        "request_framed": [],
        "question_embedded": [],
        "question_framed": [],
        "wish_reworded": [],
        "condition_moved": [],
    }
    for text, number in zip(texts, uniform, strict=True):
        for rule, choices in _choices(text):
            written, end, mark = choices[int(number * len(choices))]
            if written == grammar.text(text.first, text.first + end):
                continue
            edits = [grammar.edit(text.first, text.first + end, written)]
            if text.mark in ("?", ".") and mark != text.mark:
                edits.append(grammar.edit(text.last + 1, text.last + 1, mark))
            # The whole text is claimed: a frame and a moved part do not go together.
            found[rule].append((text.first, text.last + bool(text.mark), edits))
            break
    return [_as_places(rule, places) for rule, places in found.items()]


def _as_places(rule: str, places: list[tuple[int, int, list[Edit]]]) -> Places:
    first, last = (np.array([place[column] for place in places], np.int64) for column in (0, 1))
    edits: Sequence[list[Edit]] = [place[2] for place in places]
    return Places(rule, CLAUSE, [(first, last)], (edits,), lambda edits: edits)


def _texts(grammar: Grammar) -> Iterator[Text]:
    """The texts that a word of a request or a question opens, up to the first mark that ends a sentence."""
    opening = grammar.openings[np.diff(grammar.parses.offsets) > 1]
    opens = grammar.is_word(
        VERBS | NOUNS_TOO | QUESTION_WORDS | AUXILIARIES | frozenset(POLITE) | words("i may do let if"),
        opening,
    )
    is_end, heavy = grammar.is_word(ENDS), grammar.is_word(WEIGHT)
    for first in opening[opens].tolist():
        stop = int(grammar.parses.offsets[grammar.rows[first] + 1])
        ends = np.flatnonzero(is_end[first:stop])
        end = first + int(ends[0]) if len(ends) else stop
        mark = grammar.text(end) if end < stop else ""
        inner = end < stop - 1 and mark != "?"
        if 2 < end - first + 1 <= _LONGEST and not inner and not heavy[first:end].any() and mark != "!":
            text = Text(grammar, first, end - 1, mark)
            headline = len(text.words) >= HEADLINE and BINDING.isdisjoint(text.words)
            if not headline and not grammar.text(first, end - 1).isupper():
                yield text


# What a rule makes of a text: the new text, the last word that it stands for, the mark behind.
_Choices = list[tuple[str, int, str]]


def _choices(text: Text) -> Iterator[tuple[str, _Choices]]:
    """Rules that fit a text, with their results."""
    for rule, choices in (
        ("question_framed", _reframed(text)),
        ("request_framed", _requested(text)),
        ("question_embedded", _embedded(text)),
        ("wish_reworded", _reworded(text)),
        ("condition_moved", _condition_moved(text)),
    ):
        if choices:
            yield rule, choices


def _requested(text: Text) -> _Choices:
    """`turn it off`, `can you turn it off`, `i'd like you to turn it off`, with and without `please`."""
    able, wished = text.begins(*ABLE), text.begins(*WISHED)
    start = able or wished
    polite = len(text.words) > start and text.words[start] in POLITE
    start += polite
    if text.words[start - 1 : start] == [","] or start >= len(text.words) - 1:
        return []
    verb, behind = text.words[start], text.words[start + 1]
    if verb in NOUNS_TOO:
        is_verb = bool(start) or behind in OBJECTS or text.tag(0) == "VB" or text.is_small
        is_verb &= start > 0 or behind in OBJECTS or text.tag(0) in ("VB", "VBP")
    else:
        is_verb = verb in VERBS
    if not is_verb or behind in AUXILIARIES | {"'s", ",", "to", "and", "or", "of", "-", "'", "’s", "that"}:
        return []
    # "Convert a table to JSON": a title, which has no mark at its end.
    if not start and not text.is_small and (text.tag(0) != "VB" or text.mark in ("?", "")):
        return []
    mine = {"me", "my", "us", "our", "i"} & set(text.words[start:])
    if (able and not polite and not mine and not text.is_small) or (not able and text.mark == "?"):
        return []
    if able and not polite and not mine and text.words[0] in ("can", "will") and text.mark == "?":
        return []
    if text.words[start:] == ["help"] or not {"n't", "not", "never"}.isdisjoint(
        text.words[start : start + 3]
    ):
        return []
    end = len(text.words) - 1
    behind_polite = text.words[-1] == "please"
    if behind_polite:
        end -= 1 + (text.words[-2] == ",")
    if end <= start:
        return []
    body = text.text(start, end)
    whole = len(text.words) - 1
    frames: tuple[str, ...] = (*REQUESTS, *WISHES)
    if text.mark == ".":
        frames = ("please {}", "could you {}", "can you {}", *WISHES)
    elif text.mark == "?":
        frames = tuple(frame for frame in REQUESTS if frame[0] != "p")
    old = text.grammar.text(text.first, text.last).lower()
    made = []
    for frame in frames:
        written = text.told(frame, body)
        mark = "?" if frame.split()[0] in ("can", "could") else "."
        if written.lower() != old:
            made.append((written, whole, mark))
    return made


def _reframed(text: Text) -> _Choices:
    """`tell me how it works` to `i'd like to know how it works`."""
    start = text.begins(*TOLD)
    if (
        not start
        or len(text.words) < start + 3
        or text.words[start] not in QUESTION_WORDS | {"if", "whether"}
    ):
        return []
    return _framed(text, text.text(start), start)


def _framed(text: Text, body: str, start: int = 0, is_thing: bool = False) -> _Choices:
    frames = ASKING if text.mark == "?" else TELLING if text.mark == "." else (*ASKING, *TELLING)
    old = " ".join(text.words[:start])
    whole = len(text.words) - 1
    # "How did you find out": nobody is asked whether he knows what he did.
    yours = "you" in text.words and {"can", "do", "would", "should"}.isdisjoint(text.words)
    return [
        (text.told(frame, body), whole, text.mark)
        for frame in frames
        if frame.format("").strip().replace("i'd", "i 'd") != old
        and not (frame == "do you know {}" and (is_thing or yours or "know" in text.words))
    ]


def _embedded(text: Text) -> _Choices:
    """`where is the key` to `tell me where the key is`; `what is the price` also to `tell me the price`."""
    own = text.words
    if text.mark == ".":  # "What began as a joke ended in court." asks nothing
        return []
    if own[-1] in words("like for about with to at from by on in and or of please") and own[0] != "how":
        return []
    if not {"n't", "not", ",", "n’t", "but"}.isdisjoint(own[:-1]) or _asks_twice(own):
        return []
    if own[0] not in QUESTION_WORDS:
        return _yes_or_no(text)
    if own[1] in NO_QUESTION or len(own) < 3 or (own[0] == "what" and "like" in own):
        return []
    if own[0] == "how" and own[1:3] in (["do", "i"], ["can", "i"], ["do", "you"], ["to", own[2]]):
        start = 2 if own[1] == "to" else 3
        return [] if start >= len(own) else _framed(text, f"how to {text.text(start)}")
    if own[1] in ("is", "are", "'s", "’s") and own[0] == "what" and own[2] in NAMES_THINGS:
        thing = text.text(2)
        verbs = {text.tag(place) for place in range(3, len(own))} & {"VBG", "VBN", "VBD", "VBZ", "VBP", "MD"}
        if (
            len(own) > 3
            and not verbs
            and text.pos(len(own) - 1) not in ("ADP", "ADV", "ADJ", "PRON", "SCONJ")
        ):
            return _framed(text, thing, is_thing=True)
    # Who or what does something: nothing moves.
    place = 1
    while (
        place < min(4, len(own) - 1)
        and own[place] not in AUXILIARIES
        and text.pos(place) not in ("VERB", "AUX")
    ):
        if text.pos(place) not in ("NOUN", "ADJ", "ADV", "PROPN") or own[0] in (
            "why",
            "who",
            "when",
            "where",
        ):
            return []
        place += 1
    if own[place] not in AUXILIARIES:
        finite = [verb for verb in range(len(own)) if text.tag(verb) in ("VBZ", "VBD", "VBP", "MD")]
        asks = own[0] in ("who", "what", "which") and finite == [place] and text.pos(place) == "VERB"
        return _framed(text, text.text(0)) if asks else []
    return _inverted(text, text.text(0, place - 1) + " ", place)


def _asks_twice(own: list[str]) -> bool:
    """Whether a second question or sentence follows an `and`."""
    behind = {word for before, word in pairwise(own) if before in ("and", "or")}
    return not behind.isdisjoint(QUESTION_WORDS | AUXILIARIES | SUBJECTS)


def _yes_or_no(text: Text) -> _Choices:
    """`is there a bus` to `do you know if there is a bus`."""
    own = text.words
    if own[0] not in AUXILIARIES or len(own) < 4:
        return []
    if own[1] not in SUBJECTS and _subject_end(text, 1, own[0]) in (-1, len(own) - 1):
        return []
    if own[1] == "you" or (own[0] in MODALS and own[1] in ("i", "we")):
        return []
    return _inverted(text, "if ", 0)


def _inverted(text: Text, opening: str, place: int) -> _Choices:
    """A question with its verb behind the subject, where it is plain how far the subject goes."""
    own, verb = text.words, text.words[place]
    begin = place + 1
    end = _subject_end(text, begin, verb)
    if end < 0 or (own[begin] == "it" and len(own) == begin + 1):
        return []
    subject, behind = text.text(begin, end), own[end + 1 :]
    rest = text.text(end + 1) if behind else ""
    if verb in DO:
        if not behind or text.tag(end + 1) not in ("VB", "VBP", "NN") or "ever" in behind:
            return []
        form = own[end + 1]
        if DO[verb]:
            if not text.tag(end + 1).startswith("VB"):
                return []
            form = inflected(form, int(form_of_tag(DO[verb]))) or ""
        if not form:
            return []
        said = f"{subject} {form}" + (f" {text.text(end + 2)}" if len(behind) > 1 else "")
    elif verb in HAVE | MODALS:
        tag = text.tag(end + 1) if behind else ""
        if not (tag in ("VBN", "VBD") if verb in HAVE else tag.startswith("VB")):
            return []
        said = f"{subject} {verb} {rest}"
    else:
        said = f"{subject} {verb} {rest}".rstrip()
    return _framed(text, opening + said)


def _subject_end(text: Text, begin: int, verb: str) -> int:
    """The last word of the subject that begins somewhere, or −1 where it is not plain."""
    own, grammar = text.words, text.grammar
    if begin >= len(own):
        return -1
    if own[begin] in SUBJECTS:
        return begin
    token = text.first + begin
    subject = grammar.is_dep("nsubj", "nsubj:pass")[token : text.last + 1]
    heads = token + np.flatnonzero(subject)
    left, right = grammar.edges
    heads = heads[(left[heads] == token) & (right[heads] <= text.last)]
    if not len(heads):
        return -1
    end = int(right[heads[0]]) - text.first
    inside = range(begin, end + 1)
    clausal = any(text.pos(place) in ("VERB", "AUX", "SCONJ", "PUNCT") for place in inside)
    behind = own[end + 1 :]
    if clausal or end - begin > 6 or (not behind and end - begin > 4 and verb in BE):
        return -1
    if verb not in BE:
        return end if behind and text.pos(end + 1) in ("VERB", "AUX") else -1
    # `how far is Rome from Milan`, `who is Anna in the film`: the parse does not say where it ends.
    has_preposition = any(text.pos(place) == "ADP" and own[place] != "of" for place in inside)
    return -1 if has_preposition or (behind and text.pos(end + 1) in ("NOUN", "PROPN")) else end


def _reworded(text: Text) -> _Choices:
    """`i want to leave` to `i'd like to leave`."""
    for size in (5, 4, 3, 2):
        others = REWORDED.get(tuple(text.words[:size]))
        if others and len(text.words) > size:
            if {"not", "n't", "only"} & set(text.words[size : size + 2]) or "please" in text.words:
                return []
            return [(text.told(other, ""), size - 1, text.mark) for other in others]
    return []


def _condition_moved(text: Text) -> _Choices:
    """`if i go there, do i need a visa` to `do i need a visa if i go there`, and back."""
    own = text.words
    if own.count("if") != 1 or not _THIRD.isdisjoint(own):
        return []
    whole, place = len(own) - 1, own.index("if")
    if place == 0:
        if own.count(",") != 1:
            return []
        comma = own.index(",")
        if comma < 4 or comma > whole - 3 or own[comma + 1] not in QUESTION_WORDS | AUXILIARIES:
            return []
        return [(text.told("{}", f"{text.text(comma + 1)} {text.text(0, comma - 1)}"), whole, text.mark)]
    opens = own[0] in QUESTION_WORDS | AUXILIARIES and own[place - 1] not in _BEFORE_IF and "," not in own
    if (
        not opens
        or place < 4
        or whole - place < 3
        or text.mark not in ("?", "")
        or own[place + 1] not in SUBJECTS
    ):
        return []
    if not {"know", "tell", "see", "check", "ask", "mind", "wonder", "sure"}.isdisjoint(own[:place]):
        return []
    return [(text.told("{}", f"{text.text(place)}, {text.text(0, place - 1)}"), whole, text.mark)]


_THIRD = words("he him his she her hers they them their it its that this then and or")
_BEFORE_IF = words("as even only what and or but , know see")
