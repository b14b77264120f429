"""Sentences as lists of tokens, for rules that turn one place of a sentence: of all places one is drawn."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

import numpy as np

from augment_cli.contract.augmentation import Prepared
from augment_cli.contract.draws import uniform
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english import LISTS
from augment_cli.english.clauses.clause_rules import outcome_of, put
from augment_cli.english.clauses.constituents import Constituents
from augment_cli.english.words.word_edits import begins_with_vowel_sound
from augment_cli.resources import word_list, word_table
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import words
from augment_cli.text.spans import EditList
from augment_cli.text.surface import AS_IT_IS, CAPITALISED, CAPITALS, case_of, in_case

_POLAR = words("any anyone anything anybody anywhere anymore ever either yet nor until slightest")
_PARTING = frozenset(".;:!?")
_ASKING = words("who what which whose whom when where why how")

Change = tuple[int, int, str]  # first and last token, what stands there instead; "" takes them out
Turn = list[Change]
_OTHERS = {"my": ("his", "her", "their"), "our": ("their",), "your": ("his", "her", "their")}
_NEARBY = {"my": "thou", "our": "we", "your": "you"}  # "how can we keep our balance" is of everybody
_OF_MEN, _OF_WOMEN = words("wife girlfriend fiancee ex-wife"), words("husband boyfriend fiance ex-husband")
# Of nobody else: "changed my mind", "do your best", "yes, my lord"; and what only its owner feels or moves.
_OWN = frozenset(word_list("own_things"))
_SELVES = words("myself yourself yourselves ourselves own")
_THIRD = words("he she him her his hers they them their theirs himself herself themselves")
_HELPERS = words("do does did can could should would will was were is are have has had")
_BE = words("was were is are")
_STATES = frozenset(word_list("stative_verbs")) | words(
    "live go come stay put work know need say think feel lie stand see look find hate love happen exist stem "
    "sit rank belong contain consist differ matter prefer believe seem sound taste smell"
)
_NOT_ASKED = words("not n't n’t never and so too")
_ASKED = {"where": ("when",), "when": ("where", "why"), "why": ("when",), "how": ("why",)}
_WORKING = words("work live happen sleep grow survive")


@dataclass(frozen=True)
class Tokens:
    """The tokens of a batch as lists; a position counts over all rows."""

    view: ClauseView

    @cached_property
    def forms(self) -> list[str]:
        """As they stand in the text."""
        return self.view.parses.forms.listed()

    @cached_property
    def lower(self) -> list[str]:
        """In lower case."""
        return self.view.parses.lower.listed()

    @cached_property
    def tags(self) -> list[str]:
        """Penn tags."""
        return self.view.parses.tags.listed()

    @cached_property
    def spaced(self) -> list[bool]:
        """Whether white space follows."""
        return self.view.parses.whitespace.tolist()

    @cached_property
    def rows(self) -> list[int]:
        """Of each token."""
        return self.view.rows.tolist()

    @cached_property
    def bounds(self) -> list[int]:
        """Tokens of row i are bounds[i]:bounds[i+1]."""
        return self.view.parses.offsets.tolist()

    @cached_property
    def asks(self) -> np.ndarray:
        """bool (n,): rows with a question mark, or that begin with a word or helper that asks."""
        parses = self.view.parses
        asks = self.view.any(parses.forms.among({"?"}))
        first = np.minimum(parses.offsets[:-1], max(len(self.lower) - 1, 0))
        opens = parses.lower.among(_ASKING)[first] | parses.tags.among({"MD"})[first]
        return asks | opens

    @cached_property
    def names(self) -> np.ndarray:
        """bool (N,): words with a capital that is not the row's first, as names and titles have."""
        capital = self.view.parses.forms.where(lambda form: case_of(form) != AS_IT_IS)
        return capital & ~Constituents(self.view).opens(np.arange(len(capital)))

    def word(self, place: int, row: int) -> str:
        """The word at a place of a row, in lower case; empty beyond the row."""
        return self.lower[place] if self.bounds[row] <= place < self.bounds[row + 1] else ""

    def tag(self, place: int, row: int) -> str:
        """The tag at a place of a row; empty beyond the row."""
        return self.tags[place] if self.bounds[row] <= place < self.bounds[row + 1] else ""

    def among(self, wanted: frozenset[str] | Mapping[str, object]) -> list[int]:
        """Places of some words in lower case, but for those of names, titles and quotations."""
        found = self.view.parses.lower.among(frozenset(wanted)) & (Constituents(self.view).quotation == 0)
        return np.flatnonzero(found & ~self.names).tolist()

    def words_of(self, row: int) -> list[str]:
        """All words of a row, in lower case."""
        return self.lower[self.bounds[row] : self.bounds[row + 1]]

    def denied(self, place: int) -> bool:
        """Whether a negation stands before, up to the last mark, or directly behind."""
        row = self.rows[place]
        before = self._to_mark(range(place - 1, self.bounds[row] - 1, -1))
        return not LISTS["denials"].isdisjoint(before) or self.word(place + 1, row) in LISTS["denials"]

    def denies_behind(self, place: int) -> bool:
        """Whether a word of the sentence behind denies, or needs the negation that stands here."""
        behind = range(place + 1, self.bounds[self.rows[place] + 1])
        return not (LISTS["denials"] | _POLAR).isdisjoint(self._to_mark(behind))

    def _to_mark(self, places: range) -> list[str]:
        return [self.lower[place] for place in takewhile(lambda at: self.forms[at] not in _PARTING, places)]

    def noun_behind(self, place: int) -> str:
        """Tag of the noun whose adjectives, if any, stand directly behind; empty where there is none."""
        row = self.rows[place]
        for behind in range(place + 1, place + 4):
            tag = self.tag(behind, row)
            if tag in {"NN", "NNS", "NNP", "NNPS"}:
                while self.tag(behind + 1, row) in {"NN", "NNS", "NNP", "NNPS"}:
                    behind += 1
                return self.tag(behind, row)
            if tag not in {"JJ", "VBN", "VBG", "JJR", "JJS"}:
                return ""
        return ""


Find = Callable[[Tokens, "Draw"], Iterator[Turn]]
Draw = Callable[[int], float]  # a number on [0, 1) for a place


def alternatives(table: str, kind: str) -> dict[str, tuple[str, ...]]:
    """Of a shipped table the rows of one kind: for each word what may stand in its place."""
    return {word: tuple(others) for name, word, *others in word_table(table) if name == kind}


def by_turns(find: Find, key: int) -> Prepared:
    """An augmentation that turns one place of each row, drawn among those that a rule finds."""

    def run(rows: Rows) -> Outcome:
        def rule(view: ClauseView, chosen: np.ndarray, reasons: np.ndarray, edits: EditList) -> None:
            tokens = Tokens(view)
            own = np.zeros(len(rows), bool)
            own[chosen] = True
            places = np.arange(len(view.roles)) - view.parses.offsets[:-1][view.rows]
            draws = uniform(key, rows.row_ids[view.rows], 2 * places)
            turns: dict[int, list[Turn]] = {}
            for turn in find(tokens, lambda place: float(draws[place])):
                if own[row := tokens.rows[turn[0][0]]]:
                    turns.setdefault(row, []).append(turn)
            reasons[chosen] = Reason.NO_ELIGIBLE_TOKEN
            first = np.array([turns[row][0][0][0] for row in turns], np.int64)
            counters = 2 * places[first] + 1 if len(first) else first
            picks = uniform(key, rows.row_ids[list(turns)], counters)
            for found, pick in zip(turns.values(), picks.tolist(), strict=True):
                _write(tokens, found[int(pick * len(found))], edits)

        return outcome_of(rows, rule)

    return run


def _write(tokens: Tokens, turn: Turn, edits: EditList) -> None:
    """The changes of one place, in the case of what stood there; `a` and `an` follow."""
    parses = tokens.view.parses
    spans: list[tuple[int, int, str]] = []
    for first, last, text in turn:
        row, start, end = tokens.rows[first], int(parses.starts[first]), int(parses.ends[last])
        opens = first == tokens.bounds[row]
        if not text:  # goes, with the space behind it
            following = last + 1
            end = int(parses.starts[following])
            if opens and case_of(tokens.forms[first]) == CAPITALISED:
                end = int(parses.ends[following])
                text = in_case(tokens.forms[following], CAPITALISED)
        else:
            case = case_of(tokens.forms[first])
            text = in_case(text, case if case != CAPITALS or len(tokens.forms[first]) > 1 else CAPITALISED)
            article = first - 1
            if tokens.word(article, row) in {"a", "an"} and tokens.spaced[article]:
                wanted = "an" if begins_with_vowel_sound(text) else "a"
                if tokens.lower[article] != wanted:
                    own = tokens.forms[article][0] + wanted[1:]
                    spans.append((int(parses.starts[article]), int(parses.ends[article]), own))
        spans.append((start, end, text))
    starts, ends, texts = zip(*spans, strict=True)
    put(edits, np.full(len(spans), tokens.rows[turn[0][0]]), np.array(starts), np.array(ends), list(texts))


def turns_of(place: int, last: int, texts: Sequence[str]) -> Iterator[Turn]:
    """One turn for each text that may stand in the place of some tokens."""
    for text in texts:
        yield [(place, last, text)]


def owners(tokens: Tokens, draw: Draw) -> Iterator[Turn]:
    """`what is my balance` to `what is his balance`: of somebody else."""
    for place in tokens.among(_OTHERS):
        row, word = tokens.rows[place], tokens.lower[place]
        own = tokens.words_of(row)
        noun = _thing(tokens, place)
        if not noun or tokens.tags[place] != "PRP$" or own.count(word) > 1:
            continue
        if _is_spoken_to(tokens, place, place + len(noun)) or _NEARBY[word] in own:
            continue
        if not _SELVES.isdisjoint(own) or not _THIRD.isdisjoint(own) or _OWN & set(noun):
            continue
        others = _OTHERS[word]
        if noun[-1] in _OF_MEN:
            others = ("his",)
        elif noun[-1] in _OF_WOMEN:
            others = ("her",)
        yield [(place, place, others[int(draw(place) * len(others))])]


def _is_spoken_to(tokens: Tokens, place: int, last: int) -> bool:
    """Whether a phrase stands between marks, as in `yes, my brother, no`, or names somebody: `my Anna`."""
    row = tokens.rows[place]
    opens = place == tokens.bounds[row] or not tokens.lower[place - 1][0].isalnum()
    closes = not tokens.word(last + 1, row)[:1].isalnum()
    return (opens and closes and tokens.word(last + 1, row) not in {"'s", "’s"}) or bool(tokens.names[last])


def _thing(tokens: Tokens, place: int) -> list[str]:
    """The words behind an owner, up to the noun; empty where no noun is plain."""
    row, found = tokens.rows[place], []
    for behind in range(place + 1, place + 6):
        tag = tokens.tag(behind, row)
        if tag not in {"JJ", "NN", "NNS", "NNP", "NNPS", "VBG", "VBN", "JJR", "JJS", "CD"}:
            break
        found.append(tokens.lower[behind])
    nouns = [tokens.tag(place + step, row) for step in range(1, len(found) + 1)]
    return found if any(tag.startswith("NN") for tag in nouns) else []


def question_words(tokens: Tokens, draw: Draw) -> Iterator[Turn]:
    """`why was the card declined` to `when was the card declined`: where a verb of action follows."""
    for place in tokens.among(_ASKED):
        row, word = tokens.rows[place], tokens.lower[place]
        helper = tokens.word(place + 1, row)
        if place != tokens.bounds[row] or helper not in _HELPERS or tokens.denied(place + 1):
            continue
        own = tokens.words_of(row)
        verb = _verb(tokens, place + 2, helper)
        works = word == "how" and verb in _WORKING
        if not verb or (verb in _STATES and not works) or not _NOT_ASKED.isdisjoint(own) or own.count(","):
            continue
        if not set(_ASKED).isdisjoint(own[1:]) or own[-1] in {"at", "in", "on", "from"}:
            continue
        if word == "how":
            if verb not in LISTS["manner_verbs"]:
                yield _reason(tokens, place, helper)
            continue
        others = _fitting(word, own, helper)
        if others:
            yield [(place, place, others[int(draw(place) * len(others))])]


def _reason(tokens: Tokens, place: int, helper: str) -> Turn:
    """`how does it work` to `why does it work`; `how can I move it` to `why should I move it`."""
    who = tokens.word(place + 2, tokens.rows[place])
    if helper in _BE or helper.startswith("ha"):  # "how are we made"
        return [(place, place, "why")]
    if who in {"i", "we"} or (who in {"you", "one"} and helper in {"can", "could"}):
        return [(place, place + 1, "why should")]
    return [(place, place, "why")]


def _fitting(word: str, own: list[str], helper: str) -> tuple[str, ...]:
    """What else could be asked: not when, where the question says when."""
    timed = any(part.isdigit() for part in own) or not LISTS["timed"].isdisjoint(own)
    placed = not words("in at on there here from into to near").isdisjoint(own)
    return tuple(
        other
        for other in _ASKED[word]
        if not (other == "when" and (timed or helper in {"is", "are"}))  # "why is it called so"
        and not (other == "where" and (placed or helper in {"is", "are"}))
        and not (other == "why" and helper in {"can", "could", "will"})
    )


def _verb(tokens: Tokens, begin: int, helper: str) -> str:
    """The verb behind the subject of a question, or nothing where it is not plain."""
    row = tokens.rows[begin - 1]
    for place in range(begin, begin + 6):
        tag = tokens.tag(place, row)
        if place > begin and tag in {"VB", "VBN", "VBP", "VBD"} and not tokens.names[place]:
            wanted = {"VBN", "VBD"} if helper in _BE | {"have", "has", "had"} else {"VB", "VBP"}
            return tokens.lower[place] if tag in wanted else ""
        if tag not in {"PRP", "PRP$", "DT", "NN", "NNS", "NNP", "NNPS", "JJ", "POS", "CD"}:
            return ""
    return ""
