"""What follows a verb said otherwise: purposes, `no`, adverbs of manner, particles, two objects."""

from __future__ import annotations

import numpy as np

from augment_cli.english.rephrasing.grammar import FINITE, NEGATIONS, Grammar
from augment_cli.english.rephrasing.places import CLAUSE, PHRASE, Edit, Places
from augment_cli.resources import word_list
from augment_cli.syntax.tree import words

# Behind these an infinitive is no purpose, or another kind of clause when the parse is wrong.
_NO_PURPOSE = words(
    "live grow wake awake turn return come go rise survive prove happen stand stop use say be have take "
    "cost need require cause allow force lead help ask tell order get want expect enable persuade urge "
    "invite leave teach oblige inspire motivate constrain compel encourage prompt drive push challenge "
    "hire train recruit elect appoint select choose instruct command warn remind advise permit forbid "
    "prepare believe make like seem appear begin continue try wish hope fail know find see feel think "
    "consider mean"
)
_OUTCOMES = words("be find see discover become learn hear say speak begin sum tell make judge have conclude")
_BOUND_TO = words("enough so as order how only too about not ready able and or than but")
_NOUNS_OF_ACTS = words(
    "chance opportunity right attempt effort ability desire decision plan way power time reason need "
    "permission refusal tendency order duty wish courage authority ambition promise offer license licence "
    "moment place inclination determination intention proposal failure capacity strength thing something "
    "nothing anything"
)
_HELPERS = words("will would could can should must has have had do does did")
_NO_IDIOMS = words("doubt matter wonder use good time one thing longer more less such fool")
_SINGLE = frozenset(word_list("manner_adverbs"))
_SPEAKING = words("say reply ask answer cry murmur mutter whisper add observe remark be")
_GIVING = words("send hand show offer lend sell teach bring award grant give")
_GIVEN = words(
    "look glance smile kiss push shove chance hint cry laugh start sigh nod shock turn lift ride try name "
    "call hand time help courage strength trouble pain pleasure idea impression feeling sense right way birth"
)


def predicates(grammar: Grammar) -> list[Places]:
    """Places of all rules on what follows a verb."""
    return [
        _purpose(grammar),
        _no_to_not_any(grammar),
        *_modals(grammar),
        *_manners(grammar),
        *_particles(grammar),
        _dative(grammar),
    ]


def _purpose(grammar: Grammar) -> Places:
    """`They closed the road to repair it.` to `They closed the road in order to repair it.`"""
    heads = np.flatnonzero(grammar.is_dep("advcl") & grammar.is_tag("VB"))
    marks = grammar.child(grammar.is_word({"to"}) & grammar.is_tag("TO"))[heads]
    left, _ = grammar.trimmed(heads)
    verbs = grammar.parents[heads]
    before = grammar.next_in_row(marks, -1)
    right = grammar.trimmed(heads)[1]
    good = (marks == left) & (heads == marks + 1) & (right > heads) & grammar.is_pos("VERB", at=verbs)
    good &= ~grammar.is_lemma(_NO_PURPOSE, verbs) & ~grammar.is_lemma(_OUTCOMES, heads)
    behind = (verbs < marks - 1) & ~grammar.is_word(_BOUND_TO, before) & ~grammar.is_mark[before]
    behind &= ~grammar.is_lemma(_NOUNS_OF_ACTS, before) & ~grammar.is_pos("ADJ", "ADV", at=before)
    behind &= ~grammar.rows_with(grammar.is_word({"too", "enough", "so", "it"}))[grammar.rows[heads]]
    in_front = (marks == before) & (verbs > heads)
    good &= behind | in_front

    def write(token: int) -> list[Edit]:
        return [grammar.edit(token, token, grammar.capital("in order to", token))]

    return Places("in_order_put_in", PHRASE, [(marks, marks)], (marks,), write).where(good)


def _no_to_not_any(grammar: Grammar) -> Places:
    """`He had no shoes.` to `He did not have any shoes.`"""
    tokens = np.flatnonzero(grammar.is_word({"no"}) & grammar.is_dep("det") & grammar.is_pos("DET"))
    nouns = grammar.parents[tokens]
    verbs = grammar.parents[nouns]
    once = np.bincount(grammar.rows[grammar.is_word(NEGATIONS)], minlength=len(grammar.parses)) == 1
    good = once[grammar.rows[tokens]] & grammar.is_dep("obj", at=nouns) & (tokens > verbs)
    good &= grammar.is_pos("NOUN", at=nouns) & ~grammar.is_lemma(_NO_IDIOMS, nouns)
    good &= (grammar.trimmed(nouns)[0] == tokens) & grammar.is_pos("VERB", at=verbs)
    good &= ~grammar.is_word({"other", "such", "more", "less", "better", "further", "longer"}, tokens + 1)
    helper = grammar.child(grammar.is_dep("aux", "aux:pass"))[verbs]
    helped = (helper >= 0) & grammar.is_word(_HELPERS, np.maximum(helper, 0)) & (helper < verbs)
    good &= helped | ((helper < 0) & grammar.is_tag(*FINITE, at=verbs))
    good &= ~grammar.rows_with(grammar.is_word({"?", "all", "every", "each", "both", "many", "most", "any"}))[
        grammar.rows[tokens]
    ]
    good &= ~grammar.has_child(grammar.is_dep("conj") & grammar.is_pos("NOUN"))[nouns]
    helpers = np.where(helped, helper, verbs)
    do = np.where(grammar.is_tag("VBD", at=verbs), 0, np.where(grammar.is_tag("VBZ", at=verbs), 1, 2))

    def write(token: int, verb: int, aux: int, number: int) -> list[Edit]:
        if aux != verb:
            negated = "cannot" if grammar.text(aux).lower() == "can" else f"{grammar.text(aux)} not"
            first = grammar.edit(aux, aux, negated)
        else:
            first = grammar.edit(verb, verb, f"{('did', 'does', 'do')[number]} not {grammar.lemma(verb)}")
        return [first, grammar.edit(token, token, "any")]

    spans = [(helpers, helpers), (tokens, tokens)]
    return Places("no_to_not_any", PHRASE, spans, (tokens, verbs, helpers, do), write).where(good)


def _modals(grammar: Grammar) -> list[Places]:
    """`He must leave.` to `He has to leave.`, `could not` to `was unable to`, `should` to `ought to`."""
    tokens = np.flatnonzero(
        grammar.is_word(words("must could should")) & grammar.is_tag("MD") & grammar.is_dep("aux")
    )
    verbs = grammar.parents[tokens]
    subjects = grammar.child(grammar.is_dep("nsubj"))[verbs]
    good = (subjects >= 0) & (subjects < tokens) & grammar.is_tag("VB", at=verbs) & ~grammar.asks[subjects]
    good &= ~grammar.is_lemma(words("be have do help like"), verbs) & (grammar.is_pos("VERB", at=verbs))
    good &= ~grammar.is_word(words("it there this that who which what nothing everything"), subjects)
    behind = grammar.next_in_row(tokens)
    conditional = words("if lest unless whether though that than wish ?")
    plain = ~grammar.rows_with(grammar.is_word(conditional))[grammar.rows[tokens]]
    bare = good & (behind == verbs)
    negated = good & grammar.is_word({"not"}, behind) & (verbs == behind + 1)
    plural = grammar.is_plural(subjects) | grammar.is_word({"i"}, subjects)
    several = grammar.is_plural(subjects)
    have = np.where(plural, "have to", "has to")
    unable = np.where(several, "were unable to", "was unable to")
    # "I should think" is another "should".
    others = ~grammar.is_word({"i", "we"}, subjects)

    def put(token: int, last: int, text: str) -> list[Edit]:
        return [grammar.edit(token, last, str(text))]

    def places(rule: str, last: np.ndarray, texts: np.ndarray, mask: np.ndarray) -> Places:
        return Places(rule, PHRASE, [(tokens, last)], (tokens, last, texts), put).where(mask)

    must, could = grammar.is_word({"must"}, tokens), grammar.is_word({"could"}, tokens)
    return [
        places("must_to_have_to", tokens, have, bare & must),
        places("could_not_to_unable", behind, unable, negated & could & plain),
        places(
            "should_to_ought_to",
            tokens,
            np.full(len(tokens), "ought to"),
            bare & ~must & ~could & plain & others,
        ),
    ]


def _manners(grammar: Grammar) -> list[Places]:
    """`He opened the door slowly.` to `He slowly opened the door.`, and back."""
    tokens = np.flatnonzero(grammar.is_word(_SINGLE) & grammar.is_tag("RB") & grammar.is_dep("advmod"))
    verbs = grammar.parents[tokens]
    alone = (grammar.edges[0][tokens] == tokens) & (grammar.edges[1][tokens] == tokens)
    alone &= grammar.is_pos("VERB", at=verbs) & ~grammar.is_lemma(_SPEAKING, verbs)
    alone &= grammar.is_tag("VBD", "VBZ", "VBP", at=verbs) & ~grammar.is_negated[grammar.rows[tokens]]
    alone &= ~grammar.has_child(grammar.is_dep("aux", "aux:pass", "ccomp", "xcomp"))[verbs]
    alone &= grammar.child(grammar.is_dep("conj"))[tokens] < 0
    alone &= np.bincount(verbs, minlength=len(grammar))[verbs] == 1  # of two adverbs each keeps its place
    before, behind = grammar.next_in_row(verbs, -1), grammar.next_in_row(tokens)
    strange = grammar.is_mark | grammar.is_verb | grammar.is_pos("SCONJ", "CCONJ", "ADP", "PART")
    closed = grammar.is_mark[behind] | grammar.is_pos("ADP", "CCONJ", at=behind)
    subject = grammar.child(grammar.is_dep("nsubj"))[verbs]
    late = alone & (tokens > verbs) & closed & (grammar.count(strange, verbs + 1, tokens - 1) == 0)
    late &= (tokens - verbs < 6) & (subject >= 0) & (subject < verbs) & ~grammar.is_mark[before]
    objects = grammar.child(grammar.is_dep("obj"))[verbs]
    left, right = grammar.trimmed(np.maximum(objects, 0))
    has_object = (objects > verbs) & (left == verbs + 1) & (right - left < 4)
    has_object &= grammar.count(strange, left, right) == 0
    end = np.where(has_object, right, verbs)
    after = grammar.next_in_row(end)
    early = alone & (tokens == verbs - 1) & (has_object | (objects < 0))
    early &= (grammar.is_mark[after] & (after > end)) | grammar.is_pos("ADP", at=after)
    early &= ~grammar.is_mark[grammar.next_in_row(tokens, -1)] & (
        tokens > grammar.openings[grammar.rows[tokens]]
    )
    early &= grammar.child(grammar.is_dep("compound:prt"))[verbs] < 0

    def forward(token: int, verb: int) -> list[Edit]:
        return [grammar.put_before(verb, f"{grammar.text(token)} "), grammar.cut(token, token)]

    def back(token: int, place: int) -> list[Edit]:
        return [grammar.drop(token, token), grammar.put_behind(place, f" {grammar.text(token)}")]

    return [
        Places("manner_before_verb", PHRASE, [(verbs, tokens)], (tokens, verbs), forward).where(late),
        Places("manner_behind_verb", PHRASE, [(tokens, end)], (tokens, end), back).where(early),
    ]


def _particles(grammar: Grammar) -> list[Places]:
    """`She picked up the book.` to `She picked the book up.`, and back."""
    tokens = np.flatnonzero(
        grammar.is_dep("compound:prt") & grammar.is_word(words("up down off out on back in away"))
    )
    verbs = grammar.parents[tokens]
    objects = grammar.child(grammar.is_dep("obj"))[verbs]
    left, right = grammar.trimmed(np.maximum(objects, 0))
    good = (objects > verbs) & (right - left < 3) & grammar.is_pos("NOUN", "PROPN", at=np.maximum(objects, 0))
    good &= grammar.is_tag("DT", "PRP$", at=left) & (grammar.edges[1][tokens] == tokens)
    good &= grammar.is_pos("VERB", at=verbs) & ~grammar.is_lemma(words("carry take give"), verbs)
    good &= grammar.count(grammar.is_mark | grammar.is_verb, left, right) == 0
    behind = good & (tokens == verbs + 1) & (left == tokens + 1)
    behind &= ~grammar.is_pos("ADP", "PART", at=grammar.next_in_row(right))
    apart = good & (left == verbs + 1) & (tokens == right + 1) & ~grammar.is_word({"back", "away"}, tokens)

    def apart_from(token: int, begin: int, end: int) -> list[Edit]:
        return [grammar.drop(token, token), grammar.put_behind(end, f" {grammar.text(token)}")]

    def beside(token: int, begin: int, end: int) -> list[Edit]:
        return [grammar.put_before(begin, f"{grammar.text(token)} "), grammar.cut(token, token)]

    columns = (tokens, left, right)
    return [
        Places("particle_behind_object", PHRASE, [(tokens, right)], columns, apart_from).where(behind),
        Places("particle_before_object", PHRASE, [(left, tokens)], columns, beside).where(apart),
    ]


def _dative(grammar: Grammar) -> Places:
    """`He sent his brother a letter.` to `He sent a letter to his brother.`"""
    persons = np.flatnonzero(grammar.is_dep("iobj") & grammar.is_pos("PRON", "PROPN", "NOUN"))
    verbs = grammar.parents[persons]
    things = grammar.child(grammar.is_dep("obj"))[verbs]
    low, high = grammar.trimmed(persons)
    left, right = grammar.trimmed(np.maximum(things, 0))
    good = grammar.is_lemma(_GIVING, verbs) & (things > persons) & (low == verbs + 1) & (left == high + 1)
    good &= (high - low < 3) & (right - left < 6) & grammar.is_tag("DT", "PRP$", at=left)
    good &= grammar.is_pos("NOUN", at=np.maximum(things, 0)) & ~grammar.is_lemma(
        _GIVEN, np.maximum(things, 0)
    )
    good &= grammar.count(grammar.is_mark | grammar.is_verb | grammar.asks, low, right) == 0
    good &= grammar.is_mark[grammar.next_in_row(right)] | grammar.is_pos(
        "CCONJ", at=grammar.next_in_row(right)
    )

    def write(begin: int, middle: int, thing: int, end: int) -> list[Edit]:
        return [grammar.edit(begin, end, f"{grammar.text(thing, end)} to {grammar.text(begin, middle)}")]

    return Places("receiver_to_end", CLAUSE, [(low, right)], (low, high, left, right), write).where(good)
