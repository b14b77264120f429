"""Participles written out as clauses, commas that may stand or not, `and` as `as well as`."""

import numpy as np

from augment_cli.english import LISTS
from augment_cli.english.inflection import inflected
from augment_cli.english.rephrasing import PHRASE, WORD, Edit, Places
from augment_cli.english.rephrasing.grammar import FINITE, SUBJECTS, Grammar
from augment_cli.resources import word_list
from augment_cli.syntax.tree import VerbForm, words

_LINKS = words("and or but")
_ONE_OF_TWO = words(
    "both between either neither together each mutual as respectively without like unlike along also any"
)
# In front of their sentences these may have a comma.
_ADVERBS = frozenset(word_list("sentence_adverbs")) | words("thus hence now again perhaps")
_TIED = words("to as")
_NO_EXPANSION = words(
    "use own run do go make see leave give compare follow concern know wed date found require pass"
)
_BE = {"VBD": ("was", "were"), "VBZ": ("is", "are"), "VBP": ("is", "are")}


def expansions(grammar: Grammar) -> list[Places]:
    """Places of all rules that write a clause out, or shorten it."""
    return [*_participles(grammar, _tenses(grammar)), *_commas(grammar), _and_as_well(grammar)]


def _tenses(grammar: Grammar) -> np.ndarray:
    """object (n,): the tag of each row's finite main verb, "" where it is none of `_BE`."""
    finite = grammar.is_tag(*FINITE, "MD") & (
        grammar.is_root | (grammar.of_root & grammar.is_dep("aux", "aux:pass", "cop"))
    )
    first = grammar.first(finite)
    tags = np.array([grammar.parses.tags[token] if token >= 0 else "" for token in first.tolist()], object)
    return np.where(np.isin(tags, [*_BE]), tags, "")


def _participles(grammar: Grammar, tenses: np.ndarray) -> list[Places]:
    """`a map drawn by sailors` to `a map that was drawn by sailors`, `containing` to `that contained`."""
    found, left, right, rows = grammar.phrases(grammar.is_dep("acl") & grammar.is_tag("VBN", "VBG"))
    nouns, behind = grammar.parents[found], grammar.next_in_row(found)
    good = (nouns == found - 1) & (left == found) & grammar.is_tag("NN", "NNS", at=nouns) & (right > found)
    good &= ~grammar.has_child(grammar.is_dep("acl:relcl", "conj"))[nouns] & (tenses[rows] != "")
    good &= grammar.is_statement[rows]
    # "The doctor limped by": no second subject, and nothing joined, whose verb it may be
    subjects = np.bincount(grammar.parents[grammar.is_dep(*SUBJECTS)], minlength=len(grammar))
    good &= ~grammar.is_dep("conj", "ROOT", "root", at=nouns) & (subjects[grammar.parents[nouns]] < 2)
    good &= ~grammar.has_child(grammar.is_dep("conj", "aux", "cop"))[found]
    # "with his eyes fixed on her", "he saw the boy sitting there": the noun does it there and then.
    good &= ~grammar.has_child(grammar.is_word(words("with without")))[nouns]
    good &= ~grammar.is_lemma(words("see hear feel find have leave keep watch"), grammar.parents[nouns])
    good &= ~grammar.is_time[nouns] & ~grammar.is_lemma(words("way manner thing lot day turn"), nouns)
    good &= ~grammar.has_child(grammar.is_tag("PRP$"))[nouns]
    person = grammar.is_lemma(LISTS["persons"], nouns)
    several = grammar.is_tag("NNS", at=nouns)
    # "studies of sleep conducted there": of one or several, of what or who, by where it belongs
    above = grammar.parents[nouns]
    good &= ~grammar.is_dep("nmod", at=nouns) | (several == grammar.is_tag("NNS", at=above))
    good &= ~grammar.is_dep("nmod", at=nouns) | (person == grammar.is_lemma(LISTS["persons"], above))
    tags = tenses[rows]
    dated = grammar.is_year & grammar.is_pos("ADP")[grammar.next_in_row(grammar.places, -1)]
    past = (tags == "VBD") | (grammar.count(dated, left, right) > 0)
    pronouns = np.where(person, "who", "that")
    be = np.where(past, np.where(several, "were", "was"), np.where(several, "are", "is"))
    passive = good & grammar.is_tag("VBN", at=found) & grammar.is_pos("ADP", at=behind)
    passive &= ~grammar.is_word(_TIED, behind) & ~grammar.is_lemma(_NO_EXPANSION, found)
    # "a book written by her" was written once, whatever it is.
    once = grammar.is_lemma(frozenset(word_list("passive_verbs")), found)
    passive &= past | ~(once | grammar.is_word(words("before after during until since"), behind))
    active = good & grammar.is_tag("VBG", at=found) & grammar.is_lemma(LISTS["lasting_verbs"], found)
    forms = [
        inflected(grammar.parses.lemmas[token], form_of(was, many)) or ""
        for token, was, many in zip(found.tolist(), past.tolist(), several.tolist(), strict=True)
    ]
    written = np.array(forms, object)

    def put(token: int, pronoun: str, verb: str) -> list[Edit]:
        return [grammar.put_before(token, f"{pronoun} {verb} ")]

    def instead(token: int, pronoun: str, verb: str) -> list[Edit]:
        return [grammar.edit(token, token, f"{pronoun} {verb}")]

    span = [(found, found)]
    return [
        Places("participle_expanded", PHRASE, span, (found, pronouns, be), put).where(passive),
        Places("participle_to_relative", PHRASE, span, (found, pronouns, written), instead).where(
            active & (written != "")
        ),
    ]


def form_of(was: bool, many: bool) -> int:
    """The finite form of a verb in the past or present, of one or several."""
    return int(VerbForm.PAST if was else VerbForm.PRESENT if many else VerbForm.PRESENT_THIRD)


def _commas(grammar: Grammar) -> list[Places]:
    """Commas that may stand or not: of a list, between two clauses, behind what opens a sentence."""
    joined, link = grammar.is_dep("conj"), grammar.child(grammar.is_dep("cc") & grammar.is_word(_LINKS))
    heads, left, right, _ = grammar.phrases(joined & (link >= 0))
    links = link[heads]
    before = grammar.next_in_row(links, -1)
    good = (links == left) & (before == links - 1) & grammar.is_whole(heads, left, right)
    own = grammar.has_child(grammar.is_dep(*SUBJECTS, "expl"))
    first = grammar.parents[heads]
    # Items of a list of three or more: `apples, pears and plums`.
    comma = grammar.is_comma[before]
    plain = grammar.is_pos("NOUN", "PROPN", "ADJ", at=heads) & ~own[heads]
    plain &= grammar.parses.pos.codes[heads] == grammar.parses.pos.codes[first]
    # `the London, Chatham and Dover Railway`
    plain &= ~(grammar.is_name[heads] & grammar.is_dep("compound", "nmod", "amod", at=first))
    plain &= ~grammar.is_pos("ADV", "ADP", "SCONJ", at=grammar.next_in_row(links))
    siblings = np.bincount(grammar.parents[joined], minlength=len(grammar))[first]
    middle = grammar.count(grammar.is_comma, first, before - comma) == siblings - 1
    # `a buzz, and a laugh, and a cry`: each has its own, and its comma
    alone = grammar.count(grammar.is_dep("cc"), first, before) == 0
    alone &= ~grammar.is_word({"so"}, grammar.next_in_row(links))  # "an hour or so"
    listed = good & plain & alone & (siblings > 1) & middle & ~grammar.is_word({"but"}, links)
    # Clauses: `She left and he stayed at home`.
    left_one = grammar.trimmed(first)[0]
    clause = (
        good
        & grammar.is_root[first]
        & own[heads]
        & own[first]
        & grammar.is_finite[heads]
        & grammar.is_finite[first]
    )
    clause &= (right - links > 3) & (links - left_one > 3)
    clause &= ~grammar.is_word(words("that which who"), grammar.next_in_row(links))
    add = (listed | clause) & ~comma & ~grammar.is_mark[before]
    short = clause & grammar.is_word({"and"}, links) & (links - left_one < 9) & (right - links < 9)
    # Two predicates need none: `He obeyed, and followed her`.
    predicates = good & grammar.is_pos("VERB", at=heads) & grammar.is_pos("VERB", at=first) & ~own[heads]
    predicates &= (
        (siblings == 1) & grammar.is_word({"and"}, links) & (heads - links < 3) & (links - first < 10)
    )
    predicates &= (right - links < 12) & grammar.is_tag("VBD", "VBZ", "VBP", at=heads)
    predicates &= grammar.count(grammar.is_mark, first, before - 1) == 0
    # `It was good, he said, and dear`, `saw, and wrote to, him`: the comma is one of two.
    single = ~grammar.is_comma[grammar.next_in_row(right)]
    single &= grammar.count(grammar.is_comma, left_one, before - 1) == 0
    drop = (listed | ((short | predicates) & single)) & comma

    def behind(token: int) -> list[Edit]:
        return [grammar.put_behind(token, _comma(grammar, token))]

    def gone(token: int) -> list[Edit]:
        return [grammar.cut(token, token)]

    return [
        Places("comma_put_in", WORD, [(before, links + 1)], (before,), behind).where(add),
        Places("comma_dropped", WORD, [(before, links)], (before,), gone).where(drop),
        *_comma_of_opening(grammar),
        _semicolon_to_comma(grammar),
    ]


def _semicolon_to_comma(grammar: Grammar) -> Places:
    """`The wind rose; and they left.` to `The wind rose, and they left.`"""
    marks = grammar.is_word({";"})
    tokens = np.flatnonzero(marks & (grammar.per_row(marks) == 1)[grammar.rows])
    link, behind = grammar.next_in_row(tokens), grammar.next_in_row(tokens, 2)
    good = grammar.is_word(words("and but for"), link) & grammar.is_pos("CCONJ", "SCONJ", at=link)
    clause = grammar.is_pos("PRON", "DET", "PROPN", "NOUN", "ADV", at=behind)
    # With commas in either half it is the semicolon that parts them.
    first = grammar.openings[grammar.rows[tokens]]
    good &= clause & (grammar.count(grammar.is_comma, first, tokens) < 2)
    return grammar.replaced("semicolon_to_comma", WORD, (tokens,), lambda token: ",", good)


def _comma(grammar: Grammar, token: int) -> str:
    """A comma as a row writes its marks: with a space in front, as tokenised corpora do, or without."""
    return " ," if grammar.has_text(token, " , ") else ","


def _comma_of_opening(grammar: Grammar) -> list[Places]:
    """`In his youth he sailed.` to `In his youth, he sailed.`, and back where it is short."""
    adverbial = grammar.is_dep("obl", "obl:tmod", "obl:unmarked", "advcl", "advmod")
    heads, left, right, rows = grammar.phrases(adverbial & grammar.is_finite[grammar.parents])
    subject = grammar.child(grammar.is_dep(*SUBJECTS))[grammar.parents[heads]]
    begins = grammar.trimmed(np.maximum(subject, 0))[0]
    behind = grammar.next_in_row(right)
    comma = grammar.is_comma[behind]
    good = (left == grammar.openings[rows]) & (subject > right) & (begins == right + 1 + comma)
    good &= (grammar.parents[heads] > subject) & ~grammar.asks[np.maximum(subject, 0)]
    good &= grammar.is_whole(heads, left, right) & (grammar.count(grammar.asks, left, right) == 0)
    good &= grammar.is_mark[grammar.parses.offsets[1:][rows] - 1]  # a title has no mark at its end
    # "By the time he left …"; "On Sunday wide receiver Dean signed": it goes on.
    good &= ~grammar.is_lemma({"time"}, right)
    noun = grammar.is_tag("NN", at=right) & ~grammar.is_time[right]
    good &= ~((noun | grammar.is_name[right]) & grammar.is_name[begins])
    adverb = (left == right) & grammar.is_word(_ADVERBS, left)
    phrase = (right > left) & grammar.is_pos("ADP", "SCONJ", at=left)
    # Without a comma the two must not run into one another: `In 1999 Rome`, `In winter sports`.
    short = grammar.is_pos("ADP", at=left) & (right - left < 4) & (right > left)
    short &= grammar.is_pos("NOUN", "PROPN", "NUM", at=heads)
    after_noun = grammar.is_tag("NN", "NNS", at=right) & grammar.is_name[begins]
    short &= grammar.is_pos("PRON", "DET", at=begins) | after_noun

    def behind_it(token: int) -> list[Edit]:
        return [grammar.put_behind(token, _comma(grammar, token))]

    def gone(token: int) -> list[Edit]:
        return [grammar.cut(token, token)]

    return [
        Places("comma_of_opening", WORD, [(right, right)], (right,), behind_it).where(
            good & ~comma & (adverb | phrase)
        ),
        Places("comma_of_opening_dropped", WORD, [(behind, behind)], (behind,), gone).where(
            good & comma & (adverb | short)
        ),
    ]


def _and_as_well(grammar: Grammar) -> Places:
    """`He sold furs and dried meat.` to `He sold furs as well as dried meat.`"""
    heads, left, right, rows = grammar.phrases(grammar.is_dep("conj") & grammar.is_pos("NOUN"))
    first = grammar.parents[heads]
    links = grammar.child(grammar.is_dep("cc") & grammar.is_word({"and"}))[heads]
    good = (links == left) & grammar.is_dep("obj", "obl", "nmod", at=first) & grammar.is_pos("NOUN", at=first)
    # "the works of A and B are known": its verb goes with both.
    good &= ~grammar.is_dep(*SUBJECTS, at=grammar.parents[first])
    good &= ~grammar.is_pos("NOUN", "PROPN", "VERB", "AUX", at=grammar.next_in_row(right))
    good &= ~grammar.is_pos("ADV", at=grammar.next_in_row(links))
    good &= np.bincount(grammar.parents[grammar.is_dep("conj")], minlength=len(grammar))[first] == 1
    low = grammar.trimmed(first)[0]
    # Each has words of its own, and both an article or owner, or neither: not `the mass and stability`.
    own, determined = grammar.is_dep("amod", "compound"), grammar.is_dep("det", "nmod:poss")
    owned, has_own = grammar.has_child(determined), grammar.has_child(own | determined)
    good &= has_own[heads] & (has_own[first] | grammar.is_tag("NNS", at=first))
    back = grammar.has_child(grammar.is_tag("PRP$"))  # "a plumber and his niece"
    good &= (owned[heads] == owned[first]) & (back[first] | ~back[heads])
    good &= grammar.is_whole(heads, left, right) & grammar.is_statement[rows]
    good &= ~grammar.rows_with(grammar.is_word(_ONE_OF_TWO))[rows] & ~grammar.is_negated[rows]
    good &= ~grammar.is_lemma(LISTS["of_two"], grammar.parents[first]) & ~grammar.is_time[heads]
    good &= grammar.count(grammar.is_mark | grammar.is_pos("NUM"), low, right) == 0

    def text(token: int) -> str:
        return "as well as"

    return grammar.replaced("and_to_as_well_as", PHRASE, (links,), text, good)
