"""Adverbials in another place: `He died in Rome in 1999` to `In 1999, he died in Rome`."""

from __future__ import annotations

import numpy as np

from augment_cli.english.rephrasing.grammar import FINITE, Grammar
from augment_cli.english.rephrasing.places import CLAUSE, PHRASE, Edit, Places
from augment_cli.resources import word_list
from augment_cli.syntax.tree import words

_FREE = words("during after before since until despite throughout following")
_TIMED = words("in on at")
_LASTING = words("in on at for within throughout by")
# With these verbs "with" says whom or what.
_WITH = words(
    "fill cover provide meet agree deal begin start end associate work compare combine replace speak talk "
    "live marry fight play travel mix supply share help equip connect link identify charge cooperate "
    "collaborate compete do go come stay be have stand sign remain quarrel argue join unite part continue "
    "concern content please fall trade familiarize interfere coincide correspond finish open close beg "
    "reason leave take bring credit present"
)
_BACKWARD = words("in on at by from")
_MOVING = words("in on at with from for under within without throughout across behind beneath")
_CONJUNCTIONS = words("as when after before although though because if while since until once whereas unless")
_SPATIAL = words("in at near from to by for with against under on")
_CONTRASTING = words("although though while whereas despite")
_ABSTRACT = words(
    "comparison addition fact general relation order contrast term spite favor favour response turn"
)
# Of the whole sentence, in front of it as in front of its verb.
_ADVERBS = frozenset(word_list("sentence_adverbs"))
_NARRATING = words("then later finally eventually soon subsequently afterwards meanwhile")
_QUANTIFIED = words("all every each most many some few no any both several none")
# With these verbs "after" and "before" say whom or what, not when.
_OBJECTS_BEHIND = words(
    "look take name run go come chase ask inquire call seek model pattern appear bring put"
)
_OCCASIONS = words("hour minute instant occasion case point situation stage date birthday anniversary")
# "as he said": no time. "did as he was told": no time either.
_COMPARED = words(
    "say tell do be have know see expect describe mention promise think act look treat serve seem"
)
# A place is what these are about, or it says where to.
_PLACED = words(
    "bear live die lie sit stand reside settle arrive land locate situate base find remain stay be place "
    "put set hold move go come enter travel result participate appear include end begin station write "
    "publish kill specialise specialize invest believe engage interest involve succeed fail star act "
    "educate bury"
)
_PHRASAL = words(
    "word example instance hand part sum short turn return contrast conclusion truth course consequence "
    "view opinion spite accordance case sense matter effect place end fact addition comparison general "
    "particular regard respect way"
)
# What follows from the main clause, or comes later, cannot stand in front.
_RESULTS = words(
    "lead cause make result leave kill become allow give bring force mean prompt help ensure create end "
    "win lose include accord follow begin start finish reach reduce increase destroy injure earn receive "
    "enable turn prove show establish set put provide produce mark add replace succeed depend range vary "
    "return arrive die join"
)
_LONGEST = 9
_LONGEST_CLAUSE = 14
_LONGEST_REST = 14


def adverbials(grammar: Grammar) -> list[Places]:
    """Places of all rules on adverbials."""
    return [
        _final_to_front(grammar),
        _front_to_final(grammar),
        _phrase_to_final(grammar),
        _place_to_front(grammar),
        _participle_to_front(grammar),
        _exchanged(grammar),
        _there(grammar),
        _however(grammar),
        _source_last(grammar),
        _source_first(grammar),
        _adverb_to_front(grammar),
        _adverb_inside(grammar),
    ]


def _is_oblique(grammar: Grammar) -> np.ndarray:
    """bool (N,): prepositional adverbials of the main verb."""
    return grammar.of_root & grammar.is_dep("obl", "obl:tmod")


def _moves(
    grammar: Grammar, heads: np.ndarray, left: np.ndarray, right: np.ndarray, prepositions: frozenset[str]
) -> np.ndarray:
    """bool (m,): adverbials (m,) that may stand at either end of the sentence."""
    opens = grammar.is_pos("ADP", "SCONJ", at=left)
    free = grammar.is_word(_FREE, left)
    free &= ~(grammar.is_word({"after", "before"}, left) & _takes_object(grammar, heads))
    timed = grammar.is_word(prepositions, left) & grammar.is_time[heads]
    whole = grammar.is_whole(heads, left, right)
    clausal = grammar.count(grammar.is_verb, left, right) > 0
    phrase = _is_oblique(grammar)[heads] & opens & (free | timed) & (right - left < _LONGEST) & ~clausal
    clause = grammar.of_root & grammar.is_dep("advcl")
    linked = grammar.is_word(_CONJUNCTIONS) & grammar.is_pos("SCONJ", "ADV")
    has_subject = grammar.has_child(grammar.is_dep("nsubj", "nsubj:pass", "expl"))
    adverbial = clause[heads] & linked[left] & has_subject[heads] & (right - left < _LONGEST_CLAUSE)
    parents = grammar.parents[heads]
    told = grammar.is_lemma(_COMPARED, heads) | grammar.is_lemma(_COMPARED, parents)
    told |= grammar.is_word(words("if though well long soon far"), left + 1) | ~grammar.is_tag(
        "VBD", at=heads
    )
    told |= ~grammar.is_tag("VBD", at=parents) | ~grammar.is_pos("VERB", at=heads)
    adverbial &= ~(grammar.is_word({"as"}, left) & told)
    phrase &= grammar.count(grammar.asks, left, right) == 0  # "during which he left"
    no_comma = grammar.count(grammar.is_comma, left, right) == 0
    return whole & no_comma & (phrase | adverbial)


def _takes_object(grammar: Grammar, heads: np.ndarray) -> np.ndarray:
    """bool (m,): nouns (m,) of a verb that takes one behind "after" or "before": `looked after the child`."""
    return grammar.is_lemma(_OBJECTS_BEHIND, grammar.parents[heads]) & ~grammar.is_time[heads]


def _to_front(
    grammar: Grammar, rule: str, cut: np.ndarray, left: np.ndarray, right: np.ndarray, first: np.ndarray
) -> Places:
    """Phrases put before the first words of their sentences, with a comma; cut away with a comma before."""

    def write(cut_from: int, begin: int, end: int, opening: int) -> list[Edit]:
        phrase = grammar.in_front(begin, end, opening)
        return [
            grammar.edit(opening, opening, f"{phrase}, {grammar.inward(opening)}"),
            grammar.cut(cut_from, end),
        ]

    return Places(rule, CLAUSE, [(first, first), (cut, right)], (cut, left, right, first), write)


def _final_to_front(grammar: Grammar) -> Places:
    """`He moved to Rome in 1999.` to `In 1999, he moved to Rome.`"""
    of_root = _is_oblique(grammar) | (grammar.of_root & grammar.is_dep("advcl"))
    chosen = grammar.is_plain & grammar.opens_with_subject & grammar.knows_capital
    heads = np.flatnonzero(of_root & chosen[grammar.rows])
    left, right = grammar.trimmed(heads)
    rows = grammar.rows[heads]
    roots = grammar.roots[rows]
    before = left - 1
    comma = grammar.is_comma[before]
    how = grammar.is_word({"with", "without"}, left) & grammar.is_pos("NOUN", at=heads) & ~comma
    how &= (right - left < 5) & grammar.is_whole(heads, left, right) & ~grammar.is_lemma(_WITH, roots)
    how &= grammar.is_tag("VBD", at=roots) & (
        grammar.count(grammar.is_mark | grammar.is_verb, left, right) == 0
    )
    how &= grammar.is_pos("PRON", "PROPN", at=grammar.subjects[rows]) & (left > roots + 1)
    good = (left > roots) & (right == grammar.ends[rows])
    good &= _moves(grammar, heads, left, right, _LASTING) | how
    # A clause in between could be what the adverbial belongs to.
    other = grammar.is_verb & (~grammar.of_root | ~grammar.is_dep("aux", "aux:pass", "cop"))
    good &= grammar.count(other, roots + 1, before) == 0
    good &= grammar.count(grammar.is_comma | grammar.is_word({"only"}), roots, before - comma) == 0
    clausal = grammar.is_dep("advcl", at=heads) | grammar.is_word({"because", "despite"}, left)
    good &= ~(clausal & grammar.is_negated[rows])
    # "He wondered if it rained": what he wondered, and no condition.
    good &= ~(
        grammar.is_word({"if"}, left) & grammar.is_lemma(words("wonder ask know see doubt inquire"), roots)
    )
    bound = grammar.is_time[before - comma] | grammar.is_lemma(_OCCASIONS, at=before - comma)
    good &= ~grammar.is_word({"before", "after", "since", "until", "when"}, left) | ~bound
    first = grammar.openings[rows]
    return _to_front(grammar, "final_adverbial_to_front", left - comma, left, right, first).where(good)


def _front_to_final(grammar: Grammar) -> Places:
    """`In 1999, he moved to Rome.` to `He moved to Rome in 1999.`"""
    of_root = _is_oblique(grammar) | (grammar.of_root & grammar.is_dep("advcl"))
    good_rows = grammar.is_plain & (grammar.subjects >= 0) & ~grammar.is_negated
    heads = np.flatnonzero(of_root & good_rows[grammar.rows])
    left, right = grammar.trimmed(heads)
    rows = grammar.rows[heads]
    roots, ends = grammar.roots[rows], grammar.ends[rows]
    begins = grammar.subject_spans[0][rows]
    comma = grammar.is_comma[np.minimum(right + 1, len(grammar) - 1)]
    good = (left == grammar.openings[rows]) & (right < roots) & (begins == right + 1 + comma)
    good &= _moves(grammar, heads, left, right, _BACKWARD)
    good &= ends - begins < _LONGEST_REST
    # Nothing behind may take the adverbial for its own: no other verb, no comma, no other time.
    auxiliary = grammar.of_root & grammar.is_dep("aux", "aux:pass", "cop")
    verbs = (grammar.is_verb | grammar.is_tag("VBG", "VBN")) & ~auxiliary
    verbs &= grammar.places != grammar.roots[grammar.rows]
    good &= grammar.count(verbs, begins, ends) == 0
    good &= grammar.count(grammar.is_comma | grammar.is_time, begins, ends) == 0
    links = [", " if parted else " " for parted in grammar.is_word(_CONTRASTING, at=left).tolist()]

    def write(opening: int, end: int, begin: int, last: int, link: str) -> list[Edit]:
        subject = grammar.in_front(begin, begin, opening)
        return [
            grammar.edit(opening, begin, subject),
            grammar.put_behind(last, link + grammar.inward(opening, end)),
        ]

    return Places(
        "front_adverbial_to_end", CLAUSE, [(left, begins)], (left, right, begins, ends, links), write
    ).where(good)


def _phrase_to_final(grammar: Grammar) -> Places:
    """`On one side, the coin has an eagle.` to the end of a short, plain rest."""
    good_rows = grammar.is_plain & (grammar.subjects >= 0) & ~grammar.is_negated
    heads = np.flatnonzero(_is_oblique(grammar) & good_rows[grammar.rows])
    left, right = grammar.trimmed(heads)
    rows = grammar.rows[heads]
    begins, ends = grammar.subject_spans[0][rows], grammar.ends[rows]
    good = (left == grammar.openings[rows]) & (right < grammar.roots[rows]) & grammar.is_pos("ADP", at=left)
    comma = grammar.is_comma[grammar.next_in_row(right)]
    good &= (begins == right + 1 + comma) & grammar.is_word(_MOVING, left)
    good &= (
        ~grammar.is_lemma(_PHRASAL | _ABSTRACT, heads) & ~grammar.is_time[heads] & (right - left < _LONGEST)
    )
    good &= grammar.count(grammar.is_mark | grammar.is_verb | grammar.asks, left, right) == 0
    inner = (
        grammar.is_mark | grammar.is_pos("ADP", "SCONJ", "CCONJ", "PART") | grammar.is_tag("VBG", "VBN", "RP")
    )
    inner |= (
        grammar.is_verb & ~grammar.of_root & (grammar.places != grammar.roots[grammar.rows])
    ) | grammar.is_time
    good &= (grammar.count(inner, begins, ends) == 0) & (ends - begins < _LONGEST_REST)

    def write(opening: int, end: int, begin: int, last: int) -> list[Edit]:
        subject = grammar.in_front(begin, begin, opening)
        return [
            grammar.edit(opening, begin, subject),
            grammar.put_behind(last, f" {grammar.inward(opening, end)}"),
        ]

    return Places("front_phrase_to_end", CLAUSE, [(left, begins)], (left, right, begins, ends), write).where(
        good
    )


def _place_to_front(grammar: Grammar) -> Places:
    """`The plant is common in Guinea.` to `In Guinea, the plant is common.`"""
    chosen = grammar.is_plain & grammar.opens_with_subject & grammar.knows_capital & ~grammar.is_negated
    heads = np.flatnonzero(_is_oblique(grammar) & grammar.is_name & chosen[grammar.rows])
    left, right = grammar.trimmed(heads)
    rows = grammar.rows[heads]
    roots = grammar.roots[rows]
    good = (left > roots) & (right == grammar.ends[rows]) & grammar.is_word({"in"}, left)
    good &= (right - left < 5) & grammar.is_whole(heads, left, right) & ~grammar.is_time[heads]
    good &= ~grammar.is_lemma(_PLACED, roots) & (grammar.subjects[rows] >= 0)
    good &= ~grammar.rows_with(grammar.is_tag("JJS", "RBS") | grammar.is_word(words("first only last")))[rows]
    good &= grammar.count(grammar.is_mark | grammar.is_verb, roots + 1, right) == 0
    good &= grammar.count(grammar.is_pos("ADP", "SCONJ", "CCONJ"), roots + 1, left - 1) == 0
    first = grammar.openings[rows]
    return _to_front(grammar, "place_to_front", left, left, right, first).where(good)


def _participle_to_front(grammar: Grammar) -> Places:
    """`He left the house, taking his hat.` to `Taking his hat, he left the house.`"""
    chosen = grammar.is_plain & grammar.opens_with_subject & grammar.knows_capital & ~grammar.is_negated
    heads = np.flatnonzero(
        grammar.of_root & grammar.is_dep("advcl") & grammar.is_tag("VBG") & chosen[grammar.rows]
    )
    left, right = grammar.trimmed(heads)
    rows = grammar.rows[heads]
    roots = grammar.roots[rows]
    good = (left == heads) & (left > roots + 1) & (right == grammar.ends[rows]) & grammar.is_comma[left - 1]
    good &= grammar.is_whole(heads, left, right) & ~grammar.is_lemma(_RESULTS, heads)
    good &= grammar.is_tag("VBD", at=roots) & grammar.is_pos("VERB", at=roots)
    # One clause, whose subject does both.
    other = (grammar.is_verb & ~grammar.of_root) | grammar.is_comma
    good &= (grammar.count(other, roots + 1, left - 2) == 0) & (right - left < _LONGEST_CLAUSE)
    good &= grammar.count(grammar.is_comma | grammar.is_tag(*FINITE, "MD"), left, right) == 0
    good &= ~grammar.rows_with(grammar.of_root & grammar.is_dep("conj", "aux:pass", "expl"))[rows]
    good &= grammar.is_pos("PRON", "PROPN", at=grammar.subjects[rows])
    first = grammar.openings[rows]
    return _to_front(grammar, "participle_to_front", left - 1, left, right, first).where(good)


def _exchanged(grammar: Grammar) -> Places:
    """`was born in Rome on 5 May` to `was born on 5 May in Rome`: two neighbours, one of them a time."""
    oblique = grammar.is_dep("obl", "obl:agent", "obl:tmod") & grammar.is_pos("NOUN", "PROPN", "NUM")
    statement = (grammar.is_plain | grammar.is_statement)[grammar.rows]
    heads = np.flatnonzero(oblique & statement & (grammar.parents < grammar.places))
    left, right = grammar.trimmed(heads)
    whole = grammar.is_whole(heads, left, right) & (right - left < 6) & (left > grammar.parents[heads])
    whole &= grammar.count(grammar.is_mark, left, right) == 0
    whole &= grammar.count(grammar.is_verb, left, right) == 0
    heads, left, right = heads[whole], left[whole], right[whole]
    # The second of a pair begins behind the first, with the same verb.
    by_left = np.full(len(grammar) + 1, -1)
    by_left[left] = np.arange(len(heads))
    second = by_left[np.minimum(right + 1, len(grammar))]
    one = np.flatnonzero(second >= 0)
    two = second[one]
    good = grammar.parents[heads[one]] == grammar.parents[heads[two]]
    timed = grammar.is_word(_TIMED, left) & grammar.is_time[heads]
    placed = grammar.is_word(_SPATIAL, left) & ~grammar.is_time[heads] & ~grammar.is_pos("NUM", at=heads)
    placed &= grammar.is_name[heads] | grammar.is_dep("obl:agent", at=heads)
    good &= (timed[one] & placed[two]) | (placed[one] & timed[two])
    behind = grammar.next_in_row(right[two])
    # What follows a comma could belong to the second: `in Rome in May, which …`, `in Paris, Texas`.
    further = grammar.next_in_row(right[two], 2)
    bound = grammar.is_pos("CCONJ", "DET", "NUM", "PROPN", "NOUN", at=further)
    bound |= grammar.is_tag("WDT", "WP", "WRB", "IN", "VBG", "VBN", at=further)
    good &= (right[two] == grammar.ends[grammar.rows[heads[two]]]) | (grammar.is_comma[behind] & ~bound)
    good &= grammar.parses.forms_at(left[two]).where(str.islower)
    one, two = one[good], two[good]
    first, middle, last = left[one], right[one], right[two]

    def write(begin: int, inner: int, end: int) -> list[Edit]:
        text = f"{grammar.text(inner + 1, end)} {grammar.text(begin, inner)}"
        return [grammar.edit(begin, end, text)]

    return Places("adverbials_exchanged", PHRASE, [(first, last)], (first, middle, last), write)


def _there(grammar: Grammar) -> Places:
    """`There are three schools in the town.` to `In the town, there are three schools.`"""
    there = grammar.is_word({"there"}) & grammar.is_dep("expl") & grammar.of_root
    opens = np.zeros(len(grammar.parses), bool)
    filled = np.flatnonzero(np.diff(grammar.parses.offsets) > 0)
    opens[filled] = there[grammar.openings[filled]]
    opens &= grammar.is_plain
    heads = np.flatnonzero((_is_oblique(grammar) | grammar.is_dep("nmod")) & opens[grammar.rows])
    left, right = grammar.trimmed(heads)
    rows = grammar.rows[heads]
    roots = grammar.roots[rows]
    own = grammar.of_root[heads]
    of_thing = (grammar.parents[grammar.parents[heads]] == roots) | (grammar.parents[heads] == roots)
    of_thing &= grammar.is_name[heads] | grammar.is_tag(
        "DT", "PRP$", at=np.minimum(left + 1, len(grammar) - 1)
    )
    good = (left > roots + 1) & (right == grammar.ends[rows]) & (own | of_thing)
    good &= ~grammar.is_lemma(_ABSTRACT, at=heads)
    good &= grammar.is_word(words("in on at near"), left) & grammar.is_whole(heads, left, right)
    good &= right - left < _LONGEST
    good &= grammar.count(grammar.is_comma, grammar.openings[rows], right) == 0
    good &= grammar.count(grammar.is_tag(*FINITE, "MD"), roots + 1, right) == 0
    first = grammar.openings[rows]
    return _to_front(grammar, "place_of_existence_to_front", left, left, right, first).where(good)


def _however(grammar: Grammar) -> Places:
    """`However, the plan failed.` to `The plan, however, failed.`"""
    rows = np.flatnonzero(grammar.is_statement & (grammar.subjects >= 0))
    opening = grammar.openings[rows]
    left, right = (edge[rows] for edge in grammar.subject_spans)
    good = grammar.is_word({"however"}, at=opening) & (left == opening + 2)
    good &= grammar.is_comma[np.minimum(opening + 1, len(grammar) - 1)]
    behind = grammar.next_in_row(right)
    good &= grammar.count(grammar.is_mark, left, right) == 0
    good &= (
        grammar.is_pos("VERB", "AUX", "ADV", at=behind) & (behind > right) & grammar.parses.whitespace[right]
    )
    good &= (right - left < _LONGEST) & ~grammar.is_dep("expl", at=grammar.subjects[rows])
    good &= grammar.count(grammar.is_verb, left, right) == 0

    def write(begin: int, subject: int, end: int) -> list[Edit]:
        return [
            grammar.edit(begin, subject, grammar.in_front(subject, subject, begin)),
            grammar.put_behind(end, ", however,"),
        ]

    return Places(
        "however_inside", CLAUSE, [(opening, left), (right, right)], (opening, left, right), write
    ).where(good)


def _source_last(grammar: Grammar) -> Places:
    """`According to Ann, the plan failed.` to `The plan failed, according to Ann.`"""
    heads = np.flatnonzero(_is_oblique(grammar) & (grammar.is_plain & (grammar.subjects >= 0))[grammar.rows])
    left, right = grammar.trimmed(heads)
    rows = grammar.rows[heads]
    begins, ends = grammar.subject_spans[0][rows], grammar.ends[rows]
    good = (left == grammar.openings[rows]) & grammar.is_word({"according"}, at=left) & (begins == right + 2)
    good &= (
        grammar.is_word({"to"}, at=grammar.next_in_row(left)) & grammar.is_comma[np.maximum(begins - 1, 0)]
    )
    good &= grammar.is_whole(heads, left, right) & (grammar.count(grammar.is_comma, left, right) == 0)
    good &= grammar.count(grammar.is_comma, begins, grammar.subject_spans[1][rows]) == 0
    good &= ends - begins < 25

    def write(opening: int, end: int, begin: int, last: int) -> list[Edit]:
        return [
            grammar.edit(opening, begin, grammar.in_front(begin, begin, opening)),
            grammar.put_behind(last, ", " + grammar.inward(opening, end)),
        ]

    return Places("source_to_end", CLAUSE, [(left, begins)], (left, right, begins, ends), write).where(good)


def _source_first(grammar: Grammar) -> Places:
    """`The plan failed, according to Ann.` to `According to Ann, the plan failed.`"""
    chosen = grammar.is_plain & grammar.opens_with_subject & grammar.knows_capital
    heads = np.flatnonzero(_is_oblique(grammar) & chosen[grammar.rows])
    left, right = grammar.trimmed(heads)
    rows = grammar.rows[heads]
    good = (left > grammar.roots[rows]) & (right == grammar.ends[rows]) & grammar.is_word({"according"}, left)
    good &= grammar.is_comma[left - 1] & (grammar.count(grammar.is_comma, left, right) == 0)
    first = grammar.openings[rows]
    return _to_front(grammar, "source_to_front", left - 1, left, right, first).where(good)


def _adverb_to_front(grammar: Grammar) -> Places:
    """`The mill was originally built in 1890.` to `Originally, the mill was built in 1890.`"""
    adverbs = grammar.is_word(_ADVERBS) & grammar.is_tag("RB", "RBR") & grammar.is_dep("advmod")
    chosen = grammar.is_plain & grammar.opens_with_subject & grammar.knows_capital & ~grammar.is_negated
    tokens = np.flatnonzero(adverbs & grammar.of_root & chosen[grammar.rows])
    rows = grammar.rows[tokens]
    first, subject_end = grammar.openings[rows], grammar.subject_spans[1][rows]
    before, after = tokens - 1, grammar.next_in_row(tokens)
    good = (tokens > subject_end) & (tokens <= grammar.roots[rows]) & (grammar.edges[0][tokens] == tokens)
    good &= (grammar.edges[1][tokens] == tokens) & (
        (before == subject_end) | grammar.is_pos("AUX", at=before)
    )
    good &= ~grammar.is_mark[after] & ~grammar.is_pos("ADV", "CCONJ", at=after)
    good &= grammar.count(grammar.is_word(_QUANTIFIED), first, subject_end) == 0
    # In front it would speak of both: `was originally a mill and is a school`.
    joined = grammar.rows_with(grammar.of_root & grammar.is_dep("conj"))[rows]
    good &= ~joined | grammar.is_word(_NARRATING, tokens)
    return _to_front(grammar, "adverb_to_front", tokens, tokens, tokens, first).where(good)


def _adverb_inside(grammar: Grammar) -> Places:
    """`Originally, the mill was built in 1890.` to `The mill was originally built in 1890.`"""
    rows = np.flatnonzero(grammar.is_plain & (grammar.subjects >= 0) & ~grammar.is_negated)
    opening = grammar.openings[rows]
    left, right = (edge[rows] for edge in grammar.subject_spans)
    roots = grammar.roots[rows]
    good = (
        grammar.is_word(_ADVERBS, at=opening) & grammar.is_dep("advmod", at=opening) & (left == opening + 2)
    )
    good &= grammar.is_comma[np.minimum(opening + 1, len(grammar) - 1)]
    good &= grammar.count(grammar.is_mark | grammar.is_verb, left, right) == 0
    good &= grammar.count(grammar.is_word(_QUANTIFIED), left, right) == 0
    verb = grammar.next_in_row(right)
    auxiliary = grammar.is_pos("AUX", at=verb) & (verb <= roots)
    good &= auxiliary | ((verb == roots) & grammar.is_tag(*FINITE, at=verb))
    good &= grammar.parses.whitespace[verb] & grammar.parses.whitespace[right]  # not "he's"
    place = np.where(auxiliary, verb, right)

    def write(begin: int, subject: int, behind: int) -> list[Edit]:
        adverb = grammar.inward(begin)
        return [
            grammar.edit(begin, subject, grammar.in_front(subject, subject, begin)),
            grammar.put_behind(behind, f" {adverb}"),
        ]

    return Places(
        "adverb_inside", CLAUSE, [(opening, left), (place, place)], (opening, left, place), write
    ).where(good)
