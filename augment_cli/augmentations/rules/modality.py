"""Change what must, can or may be: `must pay` to `need not pay`, `probably` to `certainly`.

Modal verbs, what says the same in other words (`is allowed to`, `has to`), adverbs of certainty, and verbs
that say whether something came about (`managed to`, `failed to`) are exchanged for others that the sentence
does not imply: `may` becomes `must`, never the reverse. One place of a sentence is drawn; a question gets no
denial, since it asks the same either way. With `--weaker` the sentence may also say less (`is` to `may be`,
`will` to `might`), which it does imply: these rows are labelled *neither*. With `--failed` the main verb of a
statement counts, too: `He left` to `He refused to leave`.

Changes 12 % of prose, 4 % of questions and 7 % of requests.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.augmentation import LABEL_COLUMN, Resources, english_rules, prepared, with_labels
from augment_cli.contract.parameters import parameter
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.clauses.clause_rules import FINITE, Arguments
from augment_cli.english.clauses.constituents import Constituents
from augment_cli.english.clauses.turns import Draw, Tokens, Turn, alternatives, by_turns, turns_of
from augment_cli.english.inflection import base_form
from augment_cli.resources import word_groups
from augment_cli.syntax.tree import Number, Role, VerbForm, any_of

_MODALS = alternatives("modal_words", "modals")
# with the negation behind
_DENIED_MODALS = alternatives("modal_words", "denied_modals")
_QUALITIES = alternatives("modal_words", "words")
# Before "to" and a verb.
_BEFORE_TO = alternatives("modal_words", "before_to")
_HAVE_TO = alternatives("modal_words", "have_to")
_WEAKER = {"is": "may be", "are": "may be", "was": "may have been", "were": "may have been", "will": "might"}
_WEAKER |= {"cannot": "may not", "certainly": "probably"}
_WORDS = word_groups("modality")
# By the verb's form: of anything; of somebody; of one thing or several.
_FAILED = {
    VerbForm.PAST: (("failed to",), ("refused to", "declined to"), ("was unable to", "were unable to")),
    VerbForm.PRESENT_THIRD: (("fails to",), ("refuses to", "declines to"), ("is unable to", "are unable to")),
    VerbForm.PRESENT: (("fail to",), ("refuse to", "decline to"), ("is unable to", "are unable to")),
}


@dataclass(frozen=True)
class ModalityParameters:
    """Parameters of the change of modality."""

    weaker: bool = parameter(
        False, "also say less than the sentence: is to may be; these rows are labelled neither"
    )
    failed: bool = parameter(
        False, "also say of the main verb that it did not come about: left to failed to leave"
    )


def _find(tokens: Tokens, draw: Draw) -> Iterator[Turn]:
    wanted = frozenset([*_MODALS, *_DENIED_MODALS, *_QUALITIES, *_BEFORE_TO, *_HAVE_TO])
    for place in tokens.among(wanted):
        row, word = tokens.rows[place], tokens.lower[place]
        for turn in _turns(tokens, place, word):
            text = turn[0][2]
            deny = not _WORDS.denying.isdisjoint(text.split()) or text in {"need not", "unnecessary"}
            if not (
                _asks_either_way(tokens, row, word, text)
                or _came_to_nothing(tokens, place, word, text)
                or (deny and (tokens.asks[row] or tokens.denied(place) or tokens.denies_behind(place)))
                or _is_free(tokens, place, text)
                or (tokens.asks[row] and text.startswith("certainly"))
                or ("never" in text and _is_taken_up(tokens, place))
            ):
                yield turn


def _is_free(tokens: Tokens, place: int, text: str) -> bool:
    """Whether the sentence says that one may or will: `listen anytime`, `a way to pay`, `help laughing`."""
    row = tokens.rows[place]
    before, own = tokens.lower[tokens.bounds[row] : place], tokens.words_of(row)
    behind, verb = tokens.word(place + 1, row), tokens.word(place + 2, row)
    if text in {"refuse", "refuses", "refused"}:  # "when I tried", "I want to die. How …"
        rest = tokens.lower[place + 2 : tokens.bounds[row + 1] - 1]
        again = not {".", "?", "!", "but", "and"}.isdisjoint(rest)
        return again or not {"when", "if", "unless", "while"}.isdisjoint(before) or verb in _WORDS.wished
    if text == "must":
        # "Can a user give me a plan?"
        asked = tokens.asks[row] and ("me" in own or not _WORDS.helped.isdisjoint(before[:1]))
        free = not _WORDS.choosing.isdisjoint(own) or not _WORDS.leave.isdisjoint(before)
        if asked or free or behind in _WORDS.anybody:
            return True
    return (
        own.count("as") > 1  # "as easily as they can"
        or "help" in {behind, verb}
        # "I can't come because it rains", "before he could leave", "tell me if it will rain"
        or (text in {"can", "able"} and not _WORDS.reasons.isdisjoint(own))
        or ("never" in text and not {"before", "until"}.isdisjoint(before[-4:]))
        or (text in {"cannot", "will never"} and not {"if", "whether", "when"}.isdisjoint(before))
    )


def _is_taken_up(tokens: Tokens, place: int) -> bool:
    """Whether what is said of it would be so of nothing: `so that he could see`, `could see it dimly`."""
    row, deps = tokens.rows[place], tokens.view.parses.deps
    before = tokens.lower[max(tokens.bounds[row], place - 6) : place]
    rest = tokens.lower[place + 1 : tokens.bounds[row + 1]]
    clause = deps.values[deps.codes[tokens.view.parents[place]]]
    return (
        clause.startswith(("acl", "relcl"))  # "a book he would write"
        or not {"so", "where", "which"}.isdisjoint(before)
        or not _WORDS.supposed.isdisjoint(tokens.words_of(row))
        or not _WORDS.degrees.isdisjoint(rest[:4])  # "would be a little more"
        or (tokens.lower[place] == "could" and not _WORDS.perceived.isdisjoint(rest[:3]))
        or "but" in rest  # "would have come, but"
        or any(tokens.tag(place + step, row) in {"RBR", "JJR"} for step in range(1, 5))
    )


def _asks_either_way(tokens: Tokens, row: int, word: str, text: str) -> bool:
    """`Is it possible`, which asks what `Is it impossible` asks."""
    asks = tokens.asks[row] or tokens.word(tokens.bounds[row], row) in {"is", "are", "was", "were"}
    short, long = sorted((word, text), key=len)
    return bool(asks) and long in {prefix + short for prefix in ("un", "im", "il")}


def _came_to_nothing(tokens: Tokens, place: int, word: str, text: str) -> bool:
    """Whether the sentence goes on that it did not come about: `tried …, but`, `might have …, if only`."""
    row = tokens.rows[place]
    if text == "must":
        return tokens.word(place + 1, row) == "have" and "if" in tokens.words_of(row)
    failed = tokens.denies_behind(place) or "but" in tokens.lower[place : tokens.bounds[row + 1]]
    return word in {"tried", "attempted"} and text == "managed" and failed


def _asked_if(tokens: Tokens, place: int) -> bool:
    """`asked if I could`, which asks what `asked if I couldn't` asks."""
    before = tokens.lower[max(tokens.bounds[tokens.rows[place]], place - 6) : place]
    return not {"if", "whether"}.isdisjoint(before) and not _WORDS.asked.isdisjoint(before)


def _turns(tokens: Tokens, place: int, word: str) -> Iterator[Turn]:
    row, tag = tokens.rows[place], tokens.tags[place]
    before, behind = tokens.word(place - 1, row), tokens.word(place + 1, row)
    follows, further = tokens.tag(place + 1, row), tokens.tag(place + 2, row)
    to_do = behind == "to" and further == "VB"
    if tag == "MD" and word in _DENIED_MODALS and behind in {"not", "n't", "n’t"}:
        if further == "VB" and not (tokens.denies_behind(place + 1) or _asked_if(tokens, place)):
            yield from turns_of(place, place + 1, _DENIED_MODALS[word])
    elif tag == "MD" and word in _MODALS:
        yield from _modal(tokens, place, word)
    elif word == "cannot" and follows == "VB" and not tokens.denies_behind(place):
        yield from turns_of(place, place, _QUALITIES[word])
    elif before in _WORDS.before or tokens.denied(place):
        return
    elif word in _HAVE_TO and to_do:
        near = [*tokens.lower[max(tokens.bounds[row], place - 6) : place], tokens.word(place + 2, row)]
        meant = _WORDS.not_duties.isdisjoint(near)  # "what they had to say"
        if meant and before not in _WORDS.helpers and tag in {"VBZ", "VBP", "VBD"}:
            yield from turns_of(place, place + 1, _HAVE_TO[word])
    elif word in _BEFORE_TO and to_do:
        passive = tag == "VBN" and before not in {"have", "has", "had"}
        told = tokens.lower[max(tokens.bounds[row], place - 2) : place]  # not "help required to build"
        if passive == (word in _WORDS.passives) and not (passive and _WORDS.be.isdisjoint(told)):
            yield from turns_of(place, place, _BEFORE_TO[word])
    elif word in _QUALITIES and word != "cannot" and tag in {"JJ", "RB"} and behind not in {"as", "not", "-"}:
        if (word in {"able", "unable"} and behind != "to") or (
            word in {"legal", "illegal"} and before not in _WORDS.be  # "offered legal help"
        ):
            return
        tag_before = tokens.tag(place - 1, row)
        if tag_before[:2] in {"VB", "RB"} or word not in {"legal", "possible", "able", "likely", "necessary"}:
            # "will certainly not come", but not "certainly not comes"
            helped = tag_before in {"VBZ", "VBP", "VBD", "MD"}
            others = [text for text in _QUALITIES[word] if helped or text != "certainly not"]
            yield from turns_of(place, place, others)


def _modal(tokens: Tokens, place: int, word: str) -> Iterator[Turn]:
    """A modal verb with its infinitive behind, or in front of its subject."""
    row = tokens.rows[place]
    before = {tokens.word(place - step, row) for step in range(1, 7)}
    following, tag = tokens.word(place + 1, row), tokens.tag(place + 1, row)
    if (
        tokens.denied(place)
        or not _WORDS.wondering.isdisjoint(before)
        or before & {"as", "than", "few", "little"}
        or following in _WORDS.hedges
        # "Before he could speak", "would like"
        or {"before", "until", "like"} & {tokens.word(tokens.bounds[row], row), following}
        # "I should think", "we shall leave", which are not duties
        or (tokens.word(place - 1, row), word) in {("i", "should"), ("i", "shall"), ("we", "shall")}
    ):
        return
    verb = place + 1 + (tag == "RB")
    perfect = tokens.word(verb, row) == "have" and tokens.tag(verb + 1, row) == "VBN"
    if tokens.tag(verb, row) == "VB":
        for text in _MODALS[word]:
            unfit = (
                (text == "cannot" and tokens.word(verb + 1, row) == "able")
                or (tag == "RB" and text in {"had to", "could never", "will never", "would never"})
                or (text == "must" and following == "be" and word == "can")  # "this can be caused by"
                or (perfect and text in {"had to", "need not", "must never"})
            )
            if not unfit:
                yield [(place, place, text)]
    elif tokens.asks[row] and place == tokens.bounds[row] and tag in {"PRP", "NN", "NNS", "DT", "NNP"}:
        # Nobody has to be asked what dogs or black holes must do.
        asked = {"can": "should", "could": "should"} if following in _WORDS.advised else {}
        other = ({"should": "can", "may": "must", "must": "can"} | asked).get(word)
        if other is not None:
            yield [(place, place, other)]


def _failed(tokens: Tokens, draw: Draw) -> Iterator[Turn]:
    """The main verb of a statement did not come about: `He left` to `He refused to leave`."""
    view, parses = tokens.view, tokens.view.parses
    verbs = Arguments(view).first_verbs
    verbs = verbs[verbs >= 0]
    subjects = view.subjects[view.rows[verbs]]
    joined = view.with_child(np.flatnonzero((view.roles == Role.CONJUNCT) & any_of(view.verb_forms, FINITE)))
    good = any_of(view.verb_forms[verbs], tuple(_FAILED)) & (subjects >= 0) & (subjects < verbs)
    good &= ~(view.is_be[verbs] | view.is_doubtful[verbs] | view.misread[verbs] | joined[verbs])
    good &= (view.roles[verbs] != Role.AUXILIARY) & (Constituents(view).quotation[verbs] == 0)
    plural = view.numbers_of(subjects) == Number.PLURAL
    for index in np.flatnonzero(good).tolist():
        verb, subject = int(verbs[index]), int(subjects[index])
        form = VerbForm(view.verb_forms[verb])
        lemma = parses.lemmas.values[parses.lemmas.codes[verb]]
        base = base_form(tokens.forms[verb], form, lemma)
        row = tokens.rows[verb]
        if base is None or base in _WORDS.states or tokens.asks[row] or tokens.denied(verb):
            continue
        if tokens.word(verb - 1, row) in {"only", "just", "merely", "even"}:
            continue
        anything, somebody, unable = _FAILED[form]
        who = tokens.lower[subject]
        texts = anything + (somebody if who in _WORDS.somebody or tokens.tags[subject] == "NNP" else ())
        if (who not in {"i", "you"} and form != VerbForm.PRESENT) or plural[index]:
            texts += unable[int(plural[index]) :][:1]
        yield from turns_of(verb, verb, [f"{text} {base}" for text in texts])


def _less(tokens: Tokens, draw: Draw) -> Iterator[Turn]:
    """What the sentence implies: `is` to `may be`."""
    for place in tokens.among(frozenset(_WEAKER)):
        row, word = tokens.rows[place], tokens.lower[place]
        follows = tokens.tag(place + 1, row)
        modal = tokens.tags[place] == "MD"
        if (modal and follows != "VB") or tokens.asks[row] or tokens.denied(place):
            continue
        if word in {"is", "are", "was", "were"} and follows not in {"DT", "JJ", "VBN", "NN", "IN"}:
            continue
        if tokens.tag(place - 1, row) in {"NN", "NNS", "NNP", "PRP", "NNPS", ")"}:
            yield [(place, place, _WEAKER[word])]


def _run(parameters: ModalityParameters, resources: Resources, rows: Rows) -> Outcome:
    def find(tokens: Tokens, draw: Draw) -> Iterator[Turn]:
        yield from _find(tokens, draw)
        if parameters.weaker:
            yield from _less(tokens, draw)
        if parameters.failed:
            yield from _failed(tokens, draw)

    outcome = by_turns(find, resources.key("modality"))(rows)
    weaker = pc.is_in(pc.utf8_lower(outcome.edits.replacements), pa.array(sorted(set(_WEAKER.values()))))
    return with_labels(outcome, outcome.edits.rows[weaker.to_numpy(zero_copy_only=False)])


MODALITY = english_rules(
    name="modality",
    version=5,
    kind="negative",
    paper="none; modals and hedges as in Saurí and Pustejovsky 2009 (FactBank)",
    parameters=ModalityParameters,
    prepare=prepared(_run),
    columns=(LABEL_COLUMN,),
    examples=("augment-cli modality", "augment-cli modality --failed"),
    entailment=("other", "it must, can or may be otherwise; what the sentence implies is labelled neither"),
)
