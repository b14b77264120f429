"""Say of how many, or how often, it holds otherwise: `all members` to `no members`, `often` to `rarely`.

Quantifiers (all, every, both, most, many, some, few, no), adverbs of frequency, bounds (`at least`, `more
than`, `up to` before a number) and `only` are exchanged for others that the sentence does not imply: `all`
becomes `no` or `only some`, never `some`. One place of a sentence is drawn. Where a negation stands in the
sentence, what would deny a second time is left out, as it is in questions, which ask the same either way, and
of what a request asks for (`show me some`).

Changes 7 % of prose, and 1 % of questions and requests.
"""

from collections.abc import Iterator
from itertools import pairwise

from augment_cli.contract.augmentation import english_rules
from augment_cli.english.clauses.turns import Draw, Tokens, Turn, alternatives, by_turns, turns_of
from augment_cli.resources import word_groups

# Before a plural: what may stand there instead. Those of `_WORDS.denying` need a sentence without negation.
_OF_PLURALS = alternatives("quantifiers", "of_plurals")
_OF_SINGULARS = alternatives("quantifiers", "of_singulars")
# "all of the", "all the": the text with its "of"
_BEFORE_OF = alternatives("quantifiers", "before_of")
_ALONE = alternatives("quantifiers", "alone")
_WORDS = word_groups("quantifier")
_BOUNDS = {
    ("at", "least"): ("at most",),
    ("at", "most"): ("at least",),
    ("more", "than"): ("less than",),
    ("less", "than"): ("more than",),
    ("fewer", "than"): ("more than",),
    ("a", "maximum"): ("a minimum",),
    ("a", "minimum"): ("a maximum",),
}
_BOUND = alternatives("quantifiers", "bound")
_PLURAL = {"NNS", "NNPS"}


def _find(tokens: Tokens, draw: Draw) -> Iterator[Turn]:
    tables = (_OF_PLURALS, _OF_SINGULARS, _BEFORE_OF, _ALONE, _BOUND)
    wanted = {word for table in tables for word in table} | {first for first, _ in _BOUNDS} | {"only", "both"}
    for place in tokens.among(frozenset(wanted)):
        row, word = tokens.rows[place], tokens.lower[place]
        before, behind = tokens.word(place - 1, row), tokens.word(place + 1, row)
        if word != "only" and before in {"-", "/"}:
            continue
        for turn in _turns(tokens, place, word, before, behind):
            if not _is_unfit(tokens, place, word, before, turn[0][2]):
                yield turn


def _is_unfit(tokens: Tokens, place: int, word: str, before: str, text: str) -> bool:
    """Whether a text in the place of a quantifier would deny twice, say two things, or tell nothing."""
    row = tokens.rows[place]
    denies, denied = not _WORDS.denying.isdisjoint(text.split()), word in _WORDS.denied
    doubles = denies or denied or text.startswith(("all", "every"))  # "All birds cannot fly" says two things
    if tokens.denied(place) or (doubles and tokens.denies_behind(place)):
        return True
    # The new word denies: no question, and nothing asked for.
    if denies and (
        tokens.asks[row]
        or before in {"and", "or", "between"}
        or _is_wanted(tokens, place)
        or not _tells(tokens, place)
    ):
        return True
    # The old one did: nothing needs it.
    conditional = denied and "if" in tokens.lower[tokens.bounds[row] : place]
    if conditional or (denied and _is_stressed(tokens, place)):
        return True
    presents = (word.startswith(("some", "several")) or before == "a") and _presents(tokens, place, text)
    # "an idea, but no money": "but some money" is no contrast
    contrasts = word == "no" and before in {"but", "by", "straight"}
    return presents or contrasts or ((denies or denied) and _goes_on(tokens, place))


def _is_stressed(tokens: Tokens, place: int) -> bool:
    """Whether more than a denial says that there is none: `no sign whatever`, `never so much as`."""
    rest = tokens.lower[place + 1 : tokens.bounds[tokens.rows[place] + 1]]
    stressed = not {"whatever", "whatsoever", "yet"}.isdisjoint(rest) or ("at", "all") in pairwise(rest)
    return stressed or (tokens.lower[place] == "never" and "so" in rest[:4])


def _is_wanted(tokens: Tokens, place: int) -> bool:
    """Whether it is what a request asks for, of which nobody asks for none: `show me some restaurants`."""
    row = tokens.rows[place]
    before = tokens.lower[tokens.bounds[row] : place]
    asked = tokens.tag(tokens.bounds[row], row) in {"VB", "VBP"} or not _WORDS.wanting.isdisjoint(before)
    return asked and tokens.tags[place] in {"DT", "NN", "JJ", "PDT", "PRP"}


def _tells(tokens: Tokens, place: int) -> bool:
    """Whether a finite verb is there, and nothing behind speaks of them: not `all names, and they are`."""
    row = tokens.rows[place]
    own = range(tokens.bounds[row], tokens.bounds[row + 1])
    finite = any(tokens.tags[other] in {"VBZ", "VBD", "VBP", "MD"} for other in own)
    # "All moles are diggers, making tunnels", "many guests, some of whom"
    goes_on = any(
        tokens.lower[other] == "," and (tokens.tags[other + 1] == "VBG" or tokens.lower[other + 2] == "of")
        for other in range(place + 1, own.stop - 2)
    )
    told = {"they", "them", "these", "those"} & set(tokens.lower[place + 1 : own.stop])
    return finite and not goes_on and not told


def _goes_on(tokens: Tokens, place: int) -> bool:
    """Whether some of them are named behind: `no attempts, including two`, `no one, especially fans`."""
    row = tokens.rows[place]
    rest = tokens.lower[place + 1 : tokens.bounds[row + 1]]
    return not _WORDS.naming.isdisjoint(rest) or tokens.word(place + 1, row) in {"less", "more", "else"}


def _presents(tokens: Tokens, place: int, text: str) -> bool:
    """Whether `some` only names something new, so that `all` reads odd: `there are some`, `What are some`."""
    row, every = tokens.rows[place], text.startswith(("all", "every"))
    before, behind = tokens.word(place - 1, row), tokens.tag(place + 1, row)
    if tokens.lower[place] in {"someone", "somebody", "something"}:
        if every:
            return tokens.asks[row] or behind not in {"VBZ", "VBD", "MD"}
        return tokens.tag(place - 1, row) == "IN" or before in {"or", *_WORDS.be} or behind in {"JJ", "DT"}
    shown = before in {"have", "has", "had", "me", *_WORDS.be} or behind == "JJ" or tokens.asks[row]
    partitive = tokens.word(place + 1, row) == "of"
    return every and (shown or not (partitive or _is_subject(tokens, place)))


def _turns(tokens: Tokens, place: int, word: str, before: str, behind: str) -> Iterator[Turn]:
    row = tokens.rows[place]
    follows, further = tokens.tag(place + 1, row), tokens.word(place + 2, row)
    if (word, behind) in _BOUNDS:
        of = behind in {"maximum", "minimum"}
        number = tokens.tag(place + 2 + of, row) in {"CD", "$"}
        counted = word == "at" and further in {"a", "half", "of"}
        # "less than one charge"
        one = tokens.word(place + 2 + of, row) == "one"
        one |= "only" in tokens.lower[max(tokens.bounds[row], place - 4) : place]
        if not one and (number or counted):
            yield from turns_of(place, place + 1, _BOUNDS[word, behind])
    elif word in _BOUND and follows in {"CD", "$"} and behind != "one":
        # "he wrote it over two years"
        lasts = word == "over" and further in _WORDS.times
        lasts &= tokens.word(place + 3, row) not in {"old", "ago"}
        if not lasts and before not in _WORDS.before - {"for", "than"} | {"just"}:
            yield from turns_of(place, place, _BOUND[word])
    elif word == "only":
        yield from _only(tokens, place, before, behind)
    elif word == "both":
        yield from _both(tokens, place, behind)
    elif word in _ALONE:
        yield from _alone(tokens, place, word, before, behind)
    elif before in _WORDS.before and not (before == "very" and word in {"few", "many", "much"}):
        yield from _a_few(tokens, place, word, before)
    elif word in _BEFORE_OF and behind == "of" and further in _WORDS.determiners:
        if tokens.noun_behind(place + 2) in _PLURAL:
            yield from turns_of(place, place + 1, _BEFORE_OF[word])
    elif word == "all" and behind in _WORDS.determiners and tokens.noun_behind(place + 1) in _PLURAL:
        yield from turns_of(place, place, _BEFORE_OF[word])
    elif not (behind in _WORDS.set or follows in {"CD", "DT", "JJR"} or _is_time(tokens, place, word)):
        noun = tokens.noun_behind(place)
        if word in _OF_PLURALS and noun in _PLURAL and tokens.tags[place] in {"DT", "PDT", "JJ", "JJS"}:
            yield from turns_of(place, place, _OF_PLURALS[word])
        elif word in _OF_SINGULARS and noun == "NN" and _is_subject(tokens, place):
            yield from turns_of(place, place, _OF_SINGULARS[word])


def _is_time(tokens: Tokens, place: int, word: str) -> bool:
    """`every few years`, which is no quantity of years."""
    near = (tokens.word(place + step, tokens.rows[place]) for step in (1, 2, 3))
    return word != "no" and not _WORDS.times.isdisjoint(near)


def _dep(tokens: Tokens, place: int) -> str:
    deps = tokens.view.parses.deps
    return deps.values[deps.codes[place]]


def _is_subject(tokens: Tokens, place: int) -> bool:
    """Whether the noun behind is a subject: `every door is shut`, not `shut every door`."""
    return _dep(tokens, int(tokens.view.parents[place])).startswith("nsubj")


def _a_few(tokens: Tokens, place: int, word: str, before: str) -> Iterator[Turn]:
    """`a few`, which is one quantifier of two words."""
    row = tokens.rows[place]
    free = tokens.word(place - 2, row) not in {"quite", "only", "just", "not"}
    free &= tokens.word(place + 1, row) not in _WORDS.times
    if free and word == "few" and before == "a" and tokens.noun_behind(place) in _PLURAL:
        yield from turns_of(place - 1, place, ("no", "all", "a great many"))


def _alone(tokens: Tokens, place: int, word: str, before: str, behind: str) -> Iterator[Turn]:
    row, follows = tokens.rows[place], tokens.tag(place + 1, tokens.rows[place])
    if before in _WORDS.before_alone or not behind[:1].isalpha() or behind in {"else", "but"}:
        return
    if "as" in tokens.lower[max(tokens.bounds[row], place - 3) : place]:  # "good as it often is"
        return
    if tokens.tags[place] == "RB" and word not in {"nowhere", "everywhere"}:
        # of a verb: "is typically", "usually goes"; not "an always solid performance", "never again"
        helped = before in _WORDS.be | _WORDS.helpers and follows in {"JJ", "DT", "IN"}
        opens = place == tokens.bounds[row] or behind in {"speaking", "been", "fail", "fails", "failed"}
        if opens or not (follows[:2] == "VB" or helped):
            return
    elif tokens.tags[place] in {"NN", "PRP"}:  # the subject: "nobody came"; not "see nobody come"
        subject = _dep(tokens, place).startswith("nsubj") and follows[:2] in {"VB", "MD"}
        if not subject or not tokens.word(place + 2, row)[:1].isalnum():
            return
    yield from turns_of(place, place, _ALONE[word])


def _only(tokens: Tokens, place: int, before: str, behind: str) -> Iterator[Turn]:
    """`is only` to `is not only`, `only if` to `even if`: `only X` implies X, so it cannot just go."""
    row = tokens.rows[place]
    if behind == "if":
        if before != "and":  # "if and only if"
            yield [(place, place, "even")]
    elif tokens.asks[row] or behind in {"one", "then", "after", "when", "a", "an"}:
        return
    elif before == "the" and tokens.word(place - 2, row) in _WORDS.be:
        yield [(place - 1, place, "not the only")]
    elif before in _WORDS.be or (
        place == tokens.bounds[row] and tokens.tag(place + 1, row) in {"DT", "NNS", "NNP"}
    ):
        yield [(place, place, "not only")]


def _both(tokens: Tokens, place: int, behind: str) -> Iterator[Turn]:
    """`both … and …` to `neither … nor …`; `both of the` and `both the` to `neither of the`."""
    row, further = tokens.rows[place], tokens.word(place + 2, tokens.rows[place])
    if behind == "of" and further in _WORDS.determiners | {"them", "us", "you", "these"}:
        yield from turns_of(place, place + 1, _BEFORE_OF["both"])
        return
    # "popular for both", "easy to use both"; "both on and off the field"
    before = {tokens.tag(place - 1, row), tokens.tag(place - 2, row)}
    fixed = before & {"IN", "TO"} or (tokens.tag(place + 1, row) in {"IN", "RB"} and further == "and")
    if fixed or _dep(tokens, place) not in {"preconj", "cc:preconj"}:
        return
    ands = [
        other
        for other in range(place + 2, min(place + 9, tokens.bounds[row + 1]))
        if tokens.lower[other] in {"and", ",", "or", ";"}
    ]
    if ands and tokens.lower[ands[0]] == "and" and (len(ands) == 1 or tokens.lower[ands[1]] != "and"):
        yield [(place, place, "neither"), (ands[0], ands[0], "nor")]


QUANTIFIER = english_rules(
    name="quantifier",
    version=4,
    kind="negative",
    paper="none; quantifiers as in Richardson et al. 2020 (semantic fragments)",
    prepare=lambda parameters, resources: by_turns(_find, resources.key("quantifier")),
    examples=("augment-cli quantifier", "augment-cli quantifier --draws 2"),
    entailment=("other", "it holds of more or fewer, in a way that the sentence does not imply"),
)
