"""What follows a verb said otherwise: purposes, `no`, adverbs of manner, particles, two objects."""

import numpy as np

from augment_cli.english import LISTS
from augment_cli.english.inflection import inflected
from augment_cli.english.rephrasing import CLAUSE, PHRASE, Edit, Places
from augment_cli.english.rephrasing.grammar import FINITE, NEGATIONS, Grammar
from augment_cli.syntax.tree import VerbForm, words

_OUTCOMES = words("be find see discover become learn hear say speak begin sum tell make judge have conclude")
_BOUND_TO = words("enough so as order how only too about not ready able and or than but")
_HELPERS = words("will would could can should must has have had do does did")
_NO_IDIOMS = words("doubt matter wonder use good time one thing longer more less such fool")
_SPEAKING = words("say reply ask answer cry murmur mutter whisper add observe remark be")
# "walked down the road": where to, and no particle.
_NOT_PARTED = words(
    "carry take give go come walk run travel climb ride drive fly move march roll wander step sail look"
)
_PHASES = words("begin start continue")
_GIVING = words("send hand show offer lend sell teach bring award grant give")


def predicates(grammar: Grammar) -> list[Places]:
    """Places of all rules on what follows a verb."""
    return [
        *(_purpose(grammar), _no_to_not_any(grammar), *_modals(grammar)),
        *(*_manners(grammar), *_particles(grammar), _dative(grammar), _following(grammar), _gerunds(grammar)),
    ]


def _purpose(grammar: Grammar) -> Places:
    """`They closed the road to repair it.` to `They closed the road in order to repair it.`"""
    heads, left, right, rows = grammar.phrases(grammar.is_dep("advcl") & grammar.is_tag("VB"))
    marks = grammar.child(grammar.is_word({"to"}) & grammar.is_tag("TO"))[heads]
    verbs, before = grammar.parents[heads], grammar.next_in_row(marks, -1)
    good = (marks == left) & (heads == marks + 1) & (right > heads) & grammar.is_pos("VERB", at=verbs)
    good &= ~grammar.is_lemma(LISTS["no_purpose"], verbs) & ~grammar.is_lemma(_OUTCOMES, heads)
    behind = (verbs < marks - 1) & ~grammar.is_word(_BOUND_TO, before) & ~grammar.is_mark[before]
    behind &= ~grammar.is_lemma(LISTS["nouns_of_acts"], before) & ~grammar.is_pos("ADJ", "ADV", at=before)
    behind &= ~grammar.rows_with(grammar.is_word({"too", "enough", "so", "it", "from"}))[
        rows
    ]  # "from A to B"
    good &= behind | ((marks == before) & (verbs > heads))

    def text(token: int) -> str:
        return grammar.capital("in order to", token)

    return grammar.replaced("in_order_put_in", PHRASE, (marks,), text, good)


def _no_to_not_any(grammar: Grammar) -> Places:
    """`He had no shoes.` to `He did not have any shoes.`"""
    tokens = np.flatnonzero(grammar.is_word({"no"}) & grammar.is_dep("det") & grammar.is_pos("DET"))
    nouns, rows = grammar.parents[tokens], grammar.rows[tokens]
    verbs = grammar.parents[nouns]
    good = (grammar.per_row(grammar.is_word(NEGATIONS)) == 1)[rows]
    good &= grammar.is_dep("obj", at=nouns) & (tokens > verbs)
    good &= grammar.is_pos("NOUN", at=nouns) & ~grammar.is_lemma(_NO_IDIOMS, nouns)
    good &= (grammar.trimmed(nouns)[0] == tokens) & grammar.is_pos("VERB", at=verbs)
    good &= ~grammar.is_word(words("other such more less better further longer"), tokens + 1)
    helper = grammar.child(grammar.is_dep("aux", "aux:pass"))[verbs]
    helped = (helper >= 0) & grammar.is_word(_HELPERS, np.maximum(helper, 0)) & (helper < verbs)
    good &= helped | ((helper < 0) & grammar.is_tag(*FINITE, at=verbs))
    good &= ~grammar.rows_with(grammar.is_word(words("? all every each both many most any")))[rows]
    good &= ~grammar.has_child(grammar.is_dep("conj") & grammar.is_pos("NOUN"))[nouns]
    helpers = np.where(helped, helper, verbs)
    past, third = grammar.is_tag("VBD", at=verbs), grammar.is_tag("VBZ", at=verbs)
    lemmas = grammar.parses.lemmas.at(verbs)

    def write(token: int, aux: int, do: str, lemma: int) -> list[Edit]:
        negated = f"{do} not {lemmas.values[lemma]}" if do else f"{grammar.text(aux)} not"
        negated = "cannot" if negated.lower() == "can not" else negated
        return [grammar.edit(aux, aux, negated), grammar.edit(token, token, "any")]

    spans = [(helpers, helpers), (tokens, tokens)]
    do = np.select([helped, past, third], ["", "did", "does"], "do")
    return Places("no_to_not_any", PHRASE, spans, (tokens, helpers, do, lemmas.codes), write).where(good)


def _modals(grammar: Grammar) -> list[Places]:
    """`He must leave.` to `He has to leave.`, `could not` to `was unable to`, `should` to `ought to`."""
    modals = grammar.is_word(words("must could should")) & grammar.is_tag("MD") & grammar.is_dep("aux")
    tokens = np.flatnonzero(modals)
    verbs = grammar.parents[tokens]
    subjects = grammar.child(grammar.is_dep("nsubj"))[verbs]
    good = (subjects >= 0) & (subjects < tokens) & grammar.is_tag("VB", at=verbs) & ~grammar.asks[subjects]
    good &= ~grammar.is_lemma(words("be have do help like"), verbs) & (grammar.is_pos("VERB", at=verbs))
    good &= ~grammar.is_word(words("it there this that who which what nothing everything"), subjects)
    behind = grammar.next_in_row(tokens)
    conditional = grammar.is_word(words("if lest unless whether though that than wish till until before ?"))
    plain = ~grammar.rows_with(conditional)[grammar.rows[tokens]]
    bare = good & (behind == verbs)
    negated = good & grammar.is_word({"not"}, behind) & (verbs == behind + 1) & plain
    several, person = grammar.is_plural(subjects), grammar.is_word({"i"}, subjects)
    have = np.where(several | person, "have to", "has to")
    unable = np.where(several, "were unable to", "was unable to")
    # "I should think" is another "should".
    ought = bare & plain & ~person & ~grammar.is_word({"we"}, subjects)
    must, could, should = (grammar.is_word({modal}, tokens) for modal in ("must", "could", "should"))
    return [
        grammar.replaced(rule, PHRASE, (tokens, texts, last), lambda first, text, end: str(text), mask)
        for rule, texts, last, mask in (
            ("must_to_have_to", have, tokens, bare & must),
            ("could_not_to_unable", unable, behind, negated & could),
            ("should_to_ought_to", np.full(len(tokens), "ought to"), tokens, ought & should),
        )
    ]


def _manners(grammar: Grammar) -> list[Places]:
    """`He opened the door slowly.` to `He slowly opened the door.`, and back."""
    tokens = np.flatnonzero(
        grammar.is_word(LISTS["manner_adverbs"]) & grammar.is_tag("RB") & grammar.is_dep("advmod")
    )
    verbs, rows = grammar.parents[tokens], grammar.rows[tokens]
    alone = grammar.is_alone[tokens]
    alone &= grammar.is_pos("VERB", at=verbs) & ~grammar.is_lemma(_SPEAKING, verbs)
    helped = (
        grammar.is_tag("VBN", "VBG", "VB", at=verbs)
        & grammar.has_child(grammar.is_dep("aux", "aux:pass"))[verbs]
    )
    alone &= (grammar.is_tag("VBD", "VBZ", "VBP", at=verbs) | helped) & ~grammar.is_negated[rows]
    alone &= ~grammar.has_child(grammar.is_dep("ccomp", "xcomp") | grammar.is_tag("TO"))[verbs]
    alone &= np.bincount(verbs, minlength=len(grammar))[verbs] == 1  # of two adverbs each keeps its place
    before, behind = grammar.next_in_row(verbs, -1), grammar.next_in_row(tokens)
    strange = grammar.is_mark | grammar.is_verb | grammar.is_pos("SCONJ", "CCONJ", "ADP", "PART")
    closed = grammar.is_mark[behind] | grammar.is_pos("ADP", "CCONJ", at=behind)
    subject = grammar.child(grammar.is_dep("nsubj", "nsubj:pass"))[verbs]
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
    early &= ~grammar.is_mark[grammar.next_in_row(tokens, -1)] & (tokens > grammar.openings[rows])
    early &= grammar.child(grammar.is_dep("compound:prt"))[verbs] < 0
    return [
        _forward(grammar, "manner_before_verb", tokens, verbs, late),
        _back(grammar, "manner_behind_verb", tokens, end, early),
    ]


def _forward(grammar: Grammar, rule: str, tokens: np.ndarray, places: np.ndarray, good: np.ndarray) -> Places:
    """Words put in front of others further left."""

    def write(token: int, place: int) -> list[Edit]:
        return [grammar.put_before(place, f"{grammar.text(token)} "), grammar.cut(token, token)]

    return Places(rule, PHRASE, [(places, tokens)], (tokens, places), write).where(good)


def _back(grammar: Grammar, rule: str, tokens: np.ndarray, places: np.ndarray, good: np.ndarray) -> Places:
    """Words put behind others further right."""

    def write(token: int, place: int) -> list[Edit]:
        return [grammar.drop(token, token), grammar.put_behind(place, f" {grammar.text(token)}")]

    return Places(rule, PHRASE, [(tokens, places)], (tokens, places), write).where(good)


def _particles(grammar: Grammar) -> list[Places]:
    """`She picked up the book.` to `She picked the book up.`, and back."""
    particles = grammar.is_word(words("up down off out on back in away"))
    tokens = np.flatnonzero(grammar.is_dep("compound:prt") & particles)
    verbs = grammar.parents[tokens]
    objects = grammar.child(grammar.is_dep("obj"))[verbs]
    heads = np.maximum(objects, 0)
    left, right = grammar.trimmed(heads)
    good = (objects > verbs) & (right - left < 3) & grammar.is_pos("NOUN", "PROPN", at=heads)
    good &= grammar.is_tag("DT", "PRP$", at=left) & (grammar.edges[1][tokens] == tokens)
    good &= grammar.is_pos("VERB", at=verbs) & ~grammar.is_lemma(_NOT_PARTED, verbs)
    good &= grammar.count(grammar.is_mark | grammar.is_verb, left, right) == 0
    behind = good & (tokens == verbs + 1) & (left == tokens + 1)
    behind &= ~grammar.is_pos("ADP", "PART", at=grammar.next_in_row(right))
    apart = good & (left == verbs + 1) & (tokens == right + 1) & ~grammar.is_word({"back", "away"}, tokens)
    return [
        _back(grammar, "particle_behind_object", tokens, right, behind),
        _forward(grammar, "particle_before_object", tokens, left, apart),
    ]


def _dative(grammar: Grammar) -> Places:
    """`He sent his brother a letter.` to `He sent a letter to his brother.`"""
    persons, low, high, _ = grammar.phrases(grammar.is_dep("iobj") & grammar.is_pos("PRON", "PROPN", "NOUN"))
    verbs = grammar.parents[persons]
    things = grammar.child(grammar.is_dep("obj"))[verbs]
    heads = np.maximum(things, 0)
    left, right = grammar.trimmed(heads)
    good = grammar.is_lemma(_GIVING, verbs) & (things > persons) & (low == verbs + 1) & (left == high + 1)
    good &= (high - low < 3) & (right - left < 6) & grammar.is_tag("DT", "PRP$", at=left)
    good &= grammar.is_pos("NOUN", at=heads) & ~grammar.is_lemma(LISTS["given"], heads)
    good &= grammar.count(grammar.is_mark | grammar.is_verb | grammar.asks, low, right) == 0
    behind = grammar.next_in_row(right)
    good &= grammar.is_mark[behind] | grammar.is_pos("CCONJ", at=behind)

    def text(begin: int, middle: int, thing: int, end: int) -> str:
        return f"{grammar.text(thing, end)} to {grammar.text(begin, middle)}"

    return grammar.replaced("receiver_to_end", CLAUSE, (low, high, left, right), text, good)


def _following(grammar: Grammar) -> Places:
    """`after the battle` to `following the battle`, and `after` for `following`."""
    tokens = np.flatnonzero(grammar.is_word({"after", "following"}) & grammar.is_dep("case"))
    nouns = grammar.parents[tokens]
    good = grammar.is_lemma(LISTS["events"], nouns) & (grammar.trimmed(nouns)[0] == tokens) & (nouns > tokens)
    good &= grammar.is_dep("obl", at=nouns) & ~grammar.is_lemma(LISTS["after_object"], grammar.parents[nouns])
    good &= grammar.is_pos("DET", "PRON", "PROPN", at=grammar.next_in_row(tokens))

    def text(token: int) -> str:
        return grammar.capital("after" if grammar.text(token).lower() == "following" else "following", token)

    return grammar.replaced("after_to_following", PHRASE, (tokens,), text, good)


def _gerunds(grammar: Grammar) -> Places:
    """`She began to laugh` to `She began laughing`, and back."""
    verbs = np.flatnonzero(grammar.is_dep("xcomp") & grammar.is_tag("VB", "VBG") & grammar.is_pos("VERB"))
    before, heads = grammar.next_in_row(verbs, -1), grammar.parents[verbs]
    to = grammar.is_word({"to"}, before) & grammar.is_tag("VB", at=verbs) & (heads == verbs - 2)
    lemmas = [grammar.parses.lemmas[verb] for verb in verbs.tolist()]
    forms = np.array([inflected(lemma, VerbForm.PRESENT_PARTICIPLE) or "" for lemma in lemmas], object)
    bare = grammar.is_tag("VBG", at=verbs) & (heads == verbs - 1)
    bare &= np.array([grammar.text(verb).lower() for verb in verbs.tolist()], object) == forms
    # "get started using it"; "to start to learn" has one "to" too many
    led = grammar.next_in_row(heads, -1)
    bare &= ~grammar.is_word(words("to get gets got getting"), led)
    # "was beginning to rain": one ending is enough.
    good = grammar.is_lemma(_PHASES, heads) & ~grammar.is_tag("VBG", at=heads)
    good &= ~grammar.is_lemma(LISTS["no_gerunds"], verbs) & ~grammar.has_child(grammar.is_dep("conj"))[verbs]
    places = np.where(to, before, verbs)
    texts = np.where(to, forms, np.array([f"to {lemma}" for lemma in lemmas], object))

    def text(first: int, new: str, last: int) -> str:
        return new

    return grammar.replaced(
        "phase_reworded", PHRASE, (places, texts, verbs), text, good & (to | bare) & (forms != "")
    )
