"""Requests and questions in another frame: `play some jazz` to `could you play some jazz`.

People type them in lower case and without marks, and parses of such texts are poor. So these rules go by the
words that open a text, and ask the parse only how far a subject goes.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from augment_cli.english import BINDING, HEADLINE
from augment_cli.english.inflection import inflected
from augment_cli.english.rephrasing import Edit, Places
from augment_cli.english.rephrasing.grammar import Grammar
from augment_cli.english.rephrasing.lexicon import Draw
from augment_cli.resources import word_list, word_table
from augment_cli.syntax.tree import form_of_tag, words

# What people ask an assistant to do. Those of the second list are nouns, too.
_VERBS = frozenset(word_list("request_verbs"))
_NOUNS_TOO = frozenset(word_list("request_nouns"))
# What may follow a verb of the second list, so that it is one.
_OBJECTS = frozenset(word_list("request_objects"))
_QUESTION_WORDS = words("what who where when why how which")
_HAVE = words("have has had")
_BE = words("is are was were")
_MODALS = words("can could will would should must might")
_DO = {"do": "", "does": "VBZ", "did": "VBD"}
_AUXILIARIES = _BE | _MODALS | _HAVE | frozenset(_DO)
_SUBJECTS = words("i you we they he she it there")
_NAMES_THINGS = words("the my your our his her their")
_ENDS = words(". ? !")
_WEIGHT = words('" “ ” : ; ( ) [ ] … ... – —')
_NO_QUESTION = words("about come if not else up")
_REQUESTS = ("could you {}", "can you {}", "please {}", "can you please {}", "could you please {}")
_WISHES = ("i'd like you to {}", "i need you to {}", "i want you to {}")
_ASKING = ("can you tell me {}", "could you tell me {}", "do you know {}")
_TELLING = ("tell me {}", "please tell me {}", "i'd like to know {}", "i want to know {}")
# Beginnings of a request, of a question that is told, and of a wish, the longest first.
_POLITE = ("please", "pls", "plz", "kindly")
_ABLE = tuple(f"{modal} {you}" for modal in ("can", "could", "would", "will") for you in ("you", "u"))
_WISHED = tuple(
    f"{wish} you to" for wish in ("i want", "i need", "i would like", "i'd like", "i 'd like", "i’d like")
)
_FIRST_PERSON = re.compile(r"(?<![^ ])i(?=(?:'d|'ve)?(?: |$))")
_LONGEST = 28  # tokens
_NOT_DONE = words("'s , to and or of - ' ’s that")  # behind these a word was no verb
_THIRD = words("he him his she her hers they them their it its that this then and or")
_BEFORE_IF = words("as even only what and or but , know see")
_WONDERING = words("know tell see check ask mind wonder sure")
_ENDING = words("like for about with to at from by on in and or of please")
_DENYING = words("n't not , n’t but")
_TOLD = word_list("told_questions")
_OTHERS = {before: tuple(after) for before, *after in word_table("request_frames")}
_REWORDED = {tuple(before.split()): after for before, after in _OTHERS.items() if before != "how do i"}


@dataclass(frozen=True)
class _Text:
    """A text that a request or a question opens, word by word."""

    grammar: Grammar
    first: int
    last: int  # the last word in front of the mark
    mark: str

    @cached_property
    def words(self) -> list[str]:
        """The words, in lower case."""
        return [self.grammar.text(token).lower() for token in range(self.first, self.last + 1)]

    @cached_property
    def is_small(self) -> bool:
        """Whether nothing in the text has a capital."""
        text = self.grammar.text(self.first, self.last)
        return text == text.lower()

    def tag(self, place: int) -> str:
        """Penn tag of a word."""
        return self.grammar.parses.tags[self.first + place]

    def pos(self, place: int) -> str:
        """Part of speech of a word."""
        return self.grammar.parses.pos[self.first + place]

    def begins(self, *openings: str) -> int:
        """How many words the longest of some openings has with which the text begins, or 0."""
        own = self.words
        known = (opening.split() for opening in openings)
        return max((len(opening) for opening in known if own[: len(opening)] == opening), default=0)

    def text(self, place: int, end: int | None = None) -> str:
        """The text from a word on, up to and with another; a first word without its capital."""
        last = self.last if end is None else self.first + end
        write = self.grammar.text if place else self.grammar.inward
        return write(self.first + place, last)

    def told(self, frame: str, body: str) -> str:
        """A frame around a body, written as the text is."""
        text = frame.format(body)
        if not self.is_small or self.grammar.text(self.first)[0].isupper():
            text = _FIRST_PERSON.sub("I", text)
        return self.grammar.capital(text, self.first)


def requests(grammar: Grammar, draw: Draw) -> list[Places]:
    """Other frames for requests, wishes and questions."""
    texts = list(_texts(grammar))
    uniform = draw(np.array([text.first for text in texts], np.int64))
    found: dict[str, list[tuple[int, int, list[Edit]]]] = {rule: [] for rule in _RULES}
    for text, number in zip(texts, uniform.tolist(), strict=True):
        for rule, choose in _RULES.items():
            if not (choices := choose(text)):
                continue
            written, end, mark = choices[int(number * len(choices))]
            if written == grammar.text(text.first, text.first + end):
                continue
            edits = [grammar.edit(text.first, text.first + end, written)]
            if text.mark in ("?", ".") and mark != text.mark:
                edits.append(grammar.edit(text.last + 1, text.last + 1, mark))
            # The whole text is claimed: a frame and a moved part do not go together.
            found[rule].append((text.first, text.last + bool(text.mark), edits))
            break
    return [Places.of_edits(rule, found[rule]) for rule in _ORDER]


def _texts(grammar: Grammar) -> Iterator[_Text]:
    """The texts that a word of a request or a question opens, up to the first mark that ends a sentence."""
    opening = grammar.openings[np.diff(grammar.parses.offsets) > 1]
    opens = grammar.is_word(
        _VERBS | _NOUNS_TOO | _QUESTION_WORDS | _AUXILIARIES | frozenset(_POLITE) | words("i may do let if"),
        opening,
    )
    is_end, heavy = grammar.is_word(_ENDS), grammar.is_word(_WEIGHT)
    for first in opening[opens].tolist():
        stop = int(grammar.parses.offsets[grammar.rows[first] + 1])
        ends = np.flatnonzero(is_end[first:stop])
        end = first + int(ends[0]) if len(ends) else stop
        mark = grammar.text(end) if end < stop else ""
        inner = end < stop - 1 and mark != "?"
        if 2 < end - first + 1 <= _LONGEST and not inner and not heavy[first:end].any() and mark != "!":
            text = _Text(grammar, first, end - 1, mark)
            headline = len(text.words) >= HEADLINE and BINDING.isdisjoint(text.words)
            if not headline and not grammar.text(first, end - 1).isupper():
                yield text


# What a rule makes of a text: the new text, the last word that it stands for, the mark behind.
_Choices = list[tuple[str, int, str]]


def _requested(text: _Text) -> _Choices:
    """`turn it off`, `can you turn it off`, `i'd like you to turn it off`, with and without `please`."""
    able, wished = text.begins(*_ABLE), text.begins(*_WISHED)
    start = able or wished
    polite = len(text.words) > start and text.words[start] in _POLITE
    start += polite
    if text.words[start - 1 : start] == [","] or start >= len(text.words) - 1:
        return []
    verb, behind = text.words[start], text.words[start + 1]
    if verb in _NOUNS_TOO:
        is_verb = bool(start) or behind in _OBJECTS or text.tag(0) == "VB" or text.is_small
        is_verb &= start > 0 or behind in _OBJECTS or text.tag(0) in ("VB", "VBP")
    else:
        is_verb = verb in _VERBS
    if not is_verb or behind in _AUXILIARIES | _NOT_DONE:
        return []
    # "Convert a table to JSON": a title, which has no mark at its end.
    if not start and not text.is_small and (text.tag(0) != "VB" or text.mark in ("?", "")):
        return []
    mine = {"me", "my", "us", "our", "i"} & set(text.words[start:])
    if (able and not polite and not mine and not text.is_small) or (not able and text.mark == "?"):
        return []
    if able and not polite and not mine and text.words[0] in ("can", "will") and text.mark == "?":
        return []
    denied = not {"n't", "not", "never"}.isdisjoint(text.words[start : start + 3])
    end = whole = len(text.words) - 1
    if text.words[-1] == "please":
        end -= 1 + (text.words[-2] == ",")
    if text.words[start:] == ["help"] or denied or end <= start:
        return []
    body = text.text(start, end)
    frames: tuple[str, ...] = (*_REQUESTS, *_WISHES)
    if text.mark == ".":
        frames = ("please {}", "could you {}", "can you {}", *_WISHES)
    elif text.mark == "?":
        frames = tuple(frame for frame in _REQUESTS if frame[0] != "p")
    old = text.grammar.text(text.first, text.last).lower()
    made = [(text.told(frame, body), whole, "?" if frame[0] == "c" else ".") for frame in frames]
    return [one for one in made if one[0].lower() != old]


def _reframed(text: _Text) -> _Choices:
    """`tell me how it works` to `i'd like to know how it works`."""
    start = text.begins(*_TOLD)
    asks = start and len(text.words) >= start + 3
    if not asks or text.words[start] not in _QUESTION_WORDS | {"if", "whether"}:
        return []
    return _framed(text, text.text(start), start)


def _framed(text: _Text, body: str, start: int = 0, is_thing: bool = False) -> _Choices:
    frames = _ASKING if text.mark == "?" else _TELLING if text.mark == "." else (*_ASKING, *_TELLING)
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


def _embedded(text: _Text) -> _Choices:
    """`where is the key` to `tell me where the key is`; `what is the price` also to `tell me the price`."""
    own = text.words
    if text.mark == ".":  # "What began as a joke ended in court." asks nothing
        return []
    if (own[-1] in _ENDING and own[0] != "how") or not _DENYING.isdisjoint(own[:-1]) or _asks_twice(own):
        return []
    if own[0] not in _QUESTION_WORDS:
        return _yes_or_no(text)
    if own[1] in _NO_QUESTION or len(own) < 3 or (own[0] == "what" and "like" in own):
        return []
    if own[0] == "how" and own[1:3] in (["do", "i"], ["can", "i"], ["do", "you"], ["to", own[2]]):
        start = 2 if own[1] == "to" else 3
        return [] if start >= len(own) else _framed(text, f"how to {text.text(start)}")
    if own[1] in ("is", "are", "'s", "’s") and own[0] == "what" and own[2] in _NAMES_THINGS:
        verbs = {text.tag(place) for place in range(3, len(own))} & words("VBG VBN VBD VBZ VBP MD")
        last = text.pos(len(own) - 1)
        if len(own) > 3 and not verbs and last not in ("ADP", "ADV", "ADJ", "PRON", "SCONJ"):
            return _framed(text, text.text(2), is_thing=True)
    # Who or what does something: nothing moves.
    place = 1
    named = own[0] not in ("why", "who", "when", "where")
    while place < min(4, len(own) - 1) and own[place] not in _AUXILIARIES:
        pos = text.pos(place)
        if pos in ("VERB", "AUX"):
            break
        if not named or pos not in ("NOUN", "ADJ", "ADV", "PROPN"):
            return []
        place += 1
    if own[place] not in _AUXILIARIES:
        finite = [verb for verb in range(len(own)) if text.tag(verb) in ("VBZ", "VBD", "VBP", "MD")]
        asks = own[0] in ("who", "what", "which") and finite == [place] and text.pos(place) == "VERB"
        return _framed(text, text.text(0)) if asks else []
    return _inverted(text, text.text(0, place - 1) + " ", place)


def _asks_twice(own: list[str]) -> bool:
    """Whether a second question or sentence follows an `and`."""
    behind = {word for before, word in pairwise(own) if before in ("and", "or")}
    return not behind.isdisjoint(_QUESTION_WORDS | _AUXILIARIES | _SUBJECTS)


def _yes_or_no(text: _Text) -> _Choices:
    """`is there a bus` to `do you know if there is a bus`."""
    own = text.words
    if own[0] not in _AUXILIARIES or len(own) < 4:
        return []
    if own[1] not in _SUBJECTS and _subject_end(text, 1, own[0]) in (-1, len(own) - 1):
        return []
    if own[1] == "you" or (own[0] in _MODALS and own[1] in ("i", "we")):
        return []
    return _inverted(text, "if ", 0)


def _inverted(text: _Text, opening: str, place: int) -> _Choices:
    """A question with its verb behind the subject, where it is plain how far the subject goes."""
    own, verb = text.words, text.words[place]
    begin = place + 1
    end = _subject_end(text, begin, verb)
    if end < 0 or (own[begin] == "it" and len(own) == begin + 1):
        return []
    subject, behind = text.text(begin, end), own[end + 1 :]
    rest = text.text(end + 1) if behind else ""
    if verb in _DO:
        if not behind or text.tag(end + 1) not in ("VB", "VBP", "NN") or "ever" in behind:
            return []
        form = own[end + 1]
        if _DO[verb]:
            if not text.tag(end + 1).startswith("VB"):
                return []
            form = inflected(form, int(form_of_tag(_DO[verb]))) or ""
        if not form:
            return []
        said = f"{subject} {form}" + (f" {text.text(end + 2)}" if len(behind) > 1 else "")
    elif verb in _HAVE | _MODALS:
        tag = text.tag(end + 1) if behind else ""
        if not (tag in ("VBN", "VBD") if verb in _HAVE else tag.startswith("VB")):
            return []
        said = f"{subject} {verb} {rest}"
    else:
        said = f"{subject} {verb} {rest}".rstrip()
    return _framed(text, opening + said)


def _subject_end(text: _Text, begin: int, verb: str) -> int:
    """The last word of the subject that begins somewhere, or −1 where it is not plain."""
    own, grammar = text.words, text.grammar
    if begin >= len(own):
        return -1
    if own[begin] in _SUBJECTS:
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
    if clausal or end - begin > 6 or (not behind and end - begin > 4 and verb in _BE):
        return -1
    if verb not in _BE:
        return end if behind and text.pos(end + 1) in ("VERB", "AUX") else -1
    # `how far is Rome from Milan`, `who is Anna in the film`: the parse does not say where it ends.
    has_preposition = any(text.pos(place) == "ADP" and own[place] != "of" for place in inside)
    return -1 if has_preposition or (behind and text.pos(end + 1) in ("NOUN", "PROPN")) else end


def _reworded(text: _Text) -> _Choices:
    """`i want to leave` to `i'd like to leave`."""
    for size in (5, 4, 3, 2):
        others = _REWORDED.get(tuple(text.words[:size]))
        if others and len(text.words) > size:
            if {"not", "n't", "only"} & set(text.words[size : size + 2]) or "please" in text.words:
                return []
            return [(text.told(other, ""), size - 1, text.mark) for other in others]
    return []


def _condition_moved(text: _Text) -> _Choices:
    """`if i go there, do i need a visa` to `do i need a visa if i go there`, and back."""
    own = text.words
    if own.count("if") != 1 or not _THIRD.isdisjoint(own):
        return []
    whole, place = len(own) - 1, own.index("if")
    if place == 0:
        if own.count(",") != 1:
            return []
        comma = own.index(",")
        if comma < 4 or comma > whole - 3 or own[comma + 1] not in _QUESTION_WORDS | _AUXILIARIES:
            return []
        return [(text.told("{}", f"{text.text(comma + 1)} {text.text(0, comma - 1)}"), whole, text.mark)]
    opens = own[0] in _QUESTION_WORDS | _AUXILIARIES and own[place - 1] not in _BEFORE_IF and "," not in own
    long = place >= 4 and whole - place >= 3 and own[place + 1] in _SUBJECTS
    if not (opens and long) or text.mark not in ("?", "") or not _WONDERING.isdisjoint(own[:place]):
        return []
    return [(text.told("{}", f"{text.text(place)}, {text.text(0, place - 1)}"), whole, text.mark)]


# In the order in which a text is asked, and in the one in which they are numbered.
_RULES: dict[str, Callable[[_Text], _Choices]] = {
    "question_framed": _reframed,
    "request_framed": _requested,
    "question_embedded": _embedded,
    "wish_reworded": _reworded,
    "condition_moved": _condition_moved,
}
_ORDER = ("request_framed", "question_embedded", "question_framed", "wish_reworded", "condition_moved")
