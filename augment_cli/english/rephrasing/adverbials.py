"""Adverbials in another place: `He died in Rome in 1999` to `In 1999, he died in Rome`."""

import numpy as np

from augment_cli.english import LISTS
from augment_cli.english.rephrasing import CLAUSE, PHRASE, Edit, Places
from augment_cli.english.rephrasing.grammar import FINITE, Grammar
from augment_cli.resources import word_list
from augment_cli.syntax.tree import words

_FREE = words("during after before since until despite throughout following")
_TIMED = words("in on at")
_LASTING = words("in on at for within throughout by")
_BACKWARD = words("in on at by from")
_MOVING = words("in on at with from for under within without throughout across behind beneath")
_CONJUNCTIONS = words("as when after before although though because if while since until once whereas unless")
_SPATIAL = words("in at near from to by for with against under on")
_CONTRASTING = words("although though while whereas despite")
# Of the whole sentence, in front of it as in front of its verb.
_ADVERBS = frozenset(word_list("sentence_adverbs"))
_NARRATING = words("then later finally eventually soon subsequently afterwards meanwhile")
_QUANTIFIED = words("all every each most many some few no any both several none")
_OCCASIONS = words("hour minute instant occasion case point situation stage date birthday anniversary")
_LONGEST = 9
_LONGEST_CLAUSE = 14
_LONGEST_REST = 14


def adverbials(grammar: Grammar) -> list[Places]:
    """Places of all rules on adverbials."""
    rules = (
        *(_final_to_front, _front_to_final, _phrase_to_final, _place_to_front, _participle_to_front),
        *(_exchanged, _there, _however, _source_last, _source_first, _adverb_to_front, _adverb_inside),
    )
    return [rule(grammar) for rule in rules]


def _is_oblique(grammar: Grammar) -> np.ndarray:
    """bool (N,): prepositional adverbials of the main verb."""
    return grammar.of_root & grammar.is_dep("obl", "obl:tmod")


def _is_adverbial(grammar: Grammar) -> np.ndarray:
    """bool (N,): prepositional adverbials and adverbial clauses of the main verb."""
    return _is_oblique(grammar) | (grammar.of_root & grammar.is_dep("advcl"))


def _moves(
    grammar: Grammar, heads: np.ndarray, left: np.ndarray, right: np.ndarray, prepositions: frozenset[str]
) -> np.ndarray:
    """bool (m,): adverbials (m,) that may stand at either end of the sentence."""
    parents = grammar.parents[heads]
    # "looked after the child" says whom
    taking = grammar.is_lemma(LISTS["after_object"], parents) & ~grammar.is_time[heads]
    free = grammar.is_word(_FREE, left) & ~(grammar.is_word({"after", "before"}, left) & taking)
    timed = grammar.is_word(prepositions, left) & grammar.is_time[heads]
    clausal = grammar.count(grammar.is_verb, left, right) > 0
    phrase = _is_oblique(grammar)[heads] & grammar.is_pos("ADP", "SCONJ", at=left) & (free | timed) & ~clausal
    phrase &= right - left < _LONGEST
    phrase &= grammar.count(grammar.asks, left, right) == 0  # "during which he left"
    linked = grammar.is_word(_CONJUNCTIONS) & grammar.is_pos("SCONJ", "ADV")
    has_subject = grammar.has_child(grammar.is_dep("nsubj", "nsubj:pass", "expl"))
    clause = grammar.of_root[heads] & grammar.is_dep("advcl", at=heads) & linked[left] & has_subject[heads]
    told = grammar.is_lemma(LISTS["compared_acts"], heads) | grammar.is_lemma(LISTS["compared_acts"], parents)
    told |= grammar.is_word(words("if though well long soon far"), left + 1)
    told |= ~grammar.is_tag("VBD", at=heads) | ~grammar.is_tag("VBD", at=parents)
    told |= ~grammar.is_pos("VERB", at=heads)
    clause &= (right - left < _LONGEST_CLAUSE) & ~(grammar.is_word({"as"}, left) & told)
    no_comma = grammar.count(grammar.is_comma, left, right) == 0
    return grammar.is_whole(heads, left, right) & no_comma & (phrase | clause)


def _to_front(
    grammar: Grammar, rule: str, cut: np.ndarray, left: np.ndarray, right: np.ndarray, good: np.ndarray
) -> Places:
    """Phrases put before the first words of their sentences, with a comma; cut away with a comma before."""
    first = grammar.openings[grammar.rows[left]]

    def write(cut_from: int, begin: int, end: int, opening: int) -> list[Edit]:
        phrase = grammar.in_front(begin, end, opening)
        return [
            grammar.edit(opening, opening, f"{phrase}, {grammar.inward(opening)}"),
            grammar.cut(cut_from, end),
        ]

    return Places(rule, CLAUSE, [(first, first), (cut, right)], (cut, left, right, first), write).where(good)


def _to_end(
    grammar: Grammar, rule: str, left: np.ndarray, right: np.ndarray, links: np.ndarray, good: np.ndarray
) -> Places:
    """Phrases that open their sentences put behind them, each with what links it."""
    rows = grammar.rows[left]
    begins, ends = grammar.subject_spans[0][rows], grammar.ends[rows]

    def text(opening: int, end: int, link: str) -> str:
        return link + grammar.inward(opening, end)

    columns = left, begins, ends, right, links
    return grammar.moved_behind(rule, [(left, begins)], columns, text).where(good)


def _final_to_front(grammar: Grammar) -> Places:
    """`He moved to Rome in 1999.` to `In 1999, he moved to Rome.`"""
    heads, left, right, rows = grammar.phrases(_is_adverbial(grammar) & grammar.takes_front[grammar.rows])
    roots, before = grammar.roots[rows], left - 1
    comma = grammar.is_comma[before]
    how = grammar.is_word({"with", "without"}, left) & grammar.is_pos("NOUN", at=heads) & ~comma
    how &= (right - left < 5) & grammar.is_whole(heads, left, right)
    how &= ~grammar.is_lemma(LISTS["with_object"], roots) & grammar.is_tag("VBD", at=roots)
    how &= grammar.count(grammar.is_mark | grammar.is_verb, left, right) == 0
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
    wonders = grammar.is_lemma(words("wonder ask know see doubt inquire"), roots)
    good &= ~(grammar.is_word({"if"}, left) & wonders)
    bound = grammar.is_time[before - comma] | grammar.is_lemma(_OCCASIONS, at=before - comma)
    good &= ~grammar.is_word(words("before after since until when"), left) | ~bound
    return _to_front(grammar, "final_adverbial_to_front", left - comma, left, right, good)


def _front_to_final(grammar: Grammar) -> Places:
    """`In 1999, he moved to Rome.` to `He moved to Rome in 1999.`"""
    chosen = grammar.is_plain & (grammar.subjects >= 0) & ~grammar.is_negated
    heads, left, right, rows = grammar.phrases(_is_adverbial(grammar) & chosen[grammar.rows])
    begins, ends = grammar.subject_spans[0][rows], grammar.ends[rows]
    comma = grammar.is_comma[np.minimum(right + 1, len(grammar) - 1)]
    good = (left == grammar.openings[rows]) & (right < grammar.roots[rows]) & (begins == right + 1 + comma)
    good &= _moves(grammar, heads, left, right, _BACKWARD) & (ends - begins < _LONGEST_REST)
    # Nothing behind may take the adverbial for its own: no other verb, no comma, no other time.
    auxiliary = grammar.of_root & grammar.is_dep("aux", "aux:pass", "cop")
    verbs = (grammar.is_verb | grammar.is_tag("VBG", "VBN")) & ~auxiliary & ~grammar.is_root
    good &= grammar.count(verbs | grammar.is_comma | grammar.is_time, begins, ends) == 0
    links = np.where(grammar.is_word(_CONTRASTING, at=left), ", ", " ")
    return _to_end(grammar, "front_adverbial_to_end", left, right, links, good)


def _phrase_to_final(grammar: Grammar) -> Places:
    """`On one side, the coin has an eagle.` to the end of a short, plain rest."""
    chosen = grammar.is_plain & (grammar.subjects >= 0) & ~grammar.is_negated
    heads, left, right, rows = grammar.phrases(_is_oblique(grammar) & chosen[grammar.rows])
    begins, ends = grammar.subject_spans[0][rows], grammar.ends[rows]
    good = (left == grammar.openings[rows]) & (right < grammar.roots[rows]) & grammar.is_pos("ADP", at=left)
    comma = grammar.is_comma[grammar.next_in_row(right)]
    good &= (begins == right + 1 + comma) & grammar.is_word(_MOVING, left) & (right - left < _LONGEST)
    good &= ~grammar.is_lemma(LISTS["phrasal_nouns"] | LISTS["abstract"], heads) & ~grammar.is_time[heads]
    good &= grammar.count(grammar.is_mark | grammar.is_verb | grammar.asks, left, right) == 0
    inner = grammar.is_mark | grammar.is_pos("ADP", "SCONJ", "CCONJ", "PART") | grammar.is_time
    inner |= grammar.is_tag("VBG", "VBN", "RP") | (grammar.is_verb & ~grammar.of_root & ~grammar.is_root)
    good &= (grammar.count(inner, begins, ends) == 0) & (ends - begins < _LONGEST_REST)
    return _to_end(grammar, "front_phrase_to_end", left, right, np.full(len(left), " "), good)


def _place_to_front(grammar: Grammar) -> Places:
    """`The plant is common in Guinea.` to `In Guinea, the plant is common.`"""
    chosen = grammar.takes_front & ~grammar.is_negated
    named = _is_oblique(grammar) & grammar.is_name & chosen[grammar.rows]
    heads, left, right, rows = grammar.phrases(named)
    roots = grammar.roots[rows]
    good = (left > roots) & (right == grammar.ends[rows]) & grammar.is_word({"in"}, left)
    good &= (right - left < 5) & grammar.is_whole(heads, left, right) & ~grammar.is_time[heads]
    good &= ~grammar.is_lemma(LISTS["placed_verbs"], roots)
    good &= ~grammar.rows_with(grammar.is_tag("JJS", "RBS") | grammar.is_word(words("first only last")))[rows]
    good &= grammar.count(grammar.is_mark | grammar.is_verb, roots + 1, right) == 0
    good &= grammar.count(grammar.is_pos("ADP", "SCONJ", "CCONJ"), roots + 1, left - 1) == 0
    return _to_front(grammar, "place_to_front", left, left, right, good)


def _participle_to_front(grammar: Grammar) -> Places:
    """`He left the house, taking his hat.` to `Taking his hat, he left the house.`"""
    chosen = grammar.of_root & (grammar.takes_front & ~grammar.is_negated)[grammar.rows]
    heads, left, right, rows = grammar.phrases(chosen & grammar.is_dep("advcl") & grammar.is_tag("VBG"))
    roots = grammar.roots[rows]
    good = (left == heads) & (left > roots + 1) & (right == grammar.ends[rows]) & grammar.is_comma[left - 1]
    good &= grammar.is_whole(heads, left, right) & ~grammar.is_lemma(LISTS["result_verbs"], heads)
    good &= grammar.is_tag("VBD", at=roots) & grammar.is_pos("VERB", at=roots)
    # One clause, whose subject does both.
    other = (grammar.is_verb & ~grammar.of_root) | grammar.is_comma
    good &= (grammar.count(other, roots + 1, left - 2) == 0) & (right - left < _LONGEST_CLAUSE)
    good &= grammar.count(grammar.is_comma | grammar.is_tag(*FINITE, "MD"), left, right) == 0
    good &= ~grammar.rows_with(grammar.of_root & grammar.is_dep("conj", "aux:pass", "expl"))[rows]
    good &= grammar.is_pos("PRON", "PROPN", at=grammar.subjects[rows])
    return _to_front(grammar, "participle_to_front", left - 1, left, right, good)


def _exchanged(grammar: Grammar) -> Places:
    """`was born in Rome on 5 May` to `was born on 5 May in Rome`: two neighbours, one of them a time."""
    oblique = grammar.is_dep("obl", "obl:agent", "obl:tmod") & grammar.is_pos("NOUN", "PROPN", "NUM")
    oblique &= grammar.is_statement[grammar.rows] & (grammar.parents < grammar.places)
    heads, left, right, _ = grammar.phrases(oblique)
    whole = grammar.is_whole(heads, left, right) & (right - left < 6) & (left > grammar.parents[heads])
    whole &= grammar.count(grammar.is_mark | grammar.is_verb, left, right) == 0
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

    def text(begin: int, inner: int, end: int) -> str:
        return f"{grammar.text(inner + 1, end)} {grammar.text(begin, inner)}"

    columns = left[one], right[one], right[two]
    return grammar.replaced("adverbials_exchanged", PHRASE, columns, text, good)


def _there(grammar: Grammar) -> Places:
    """`There are three schools in the town.` to `In the town, there are three schools.`"""
    there = grammar.is_word({"there"}) & grammar.is_dep("expl") & grammar.of_root
    opens = grammar.is_plain & (grammar.first(there) == grammar.openings)
    inner = (_is_oblique(grammar) | grammar.is_dep("nmod")) & opens[grammar.rows]
    heads, left, right, rows = grammar.phrases(inner)
    roots, parents = grammar.roots[rows], grammar.parents[heads]
    of_thing = (grammar.parents[parents] == roots) | (parents == roots)
    determined = grammar.is_tag("DT", "PRP$", at=np.minimum(left + 1, len(grammar) - 1))
    of_thing &= grammar.is_name[heads] | determined
    good = (left > roots + 1) & (right == grammar.ends[rows]) & (grammar.of_root[heads] | of_thing)
    good &= ~grammar.is_lemma(LISTS["abstract"], at=heads) & (right - left < _LONGEST)
    good &= grammar.is_word(words("in on at near"), left) & grammar.is_whole(heads, left, right)
    good &= grammar.count(grammar.is_comma, grammar.openings[rows], right) == 0
    good &= grammar.count(grammar.is_tag(*FINITE, "MD"), roots + 1, right) == 0
    return _to_front(grammar, "place_of_existence_to_front", left, left, right, good)


def _however(grammar: Grammar) -> Places:
    """`However, the plan failed.` to `The plan, however, failed.`"""
    rows = np.flatnonzero(grammar.is_statement & (grammar.subjects >= 0))
    opening = grammar.openings[rows]
    left, right = (edge[rows] for edge in grammar.subject_spans)
    good = grammar.is_word({"however"}, at=opening) & (left == opening + 2)
    good &= grammar.is_comma[np.minimum(opening + 1, len(grammar) - 1)]
    behind = grammar.next_in_row(right)
    good &= grammar.count(grammar.is_mark | grammar.is_verb, left, right) == 0
    good &= grammar.is_pos("VERB", "AUX", "ADV", at=behind) & (behind > right)
    good &= grammar.parses.whitespace[right] & (right - left < _LONGEST)
    good &= ~grammar.is_dep("expl", at=grammar.subjects[rows])
    return grammar.inside("however_inside", (opening, left, right), good, lambda _: ", however,")


def _source_last(grammar: Grammar) -> Places:
    """`According to Ann, the plan failed.` to `The plan failed, according to Ann.`"""
    chosen = (grammar.is_plain & (grammar.subjects >= 0))[grammar.rows]
    heads, left, right, rows = grammar.phrases(_is_oblique(grammar) & chosen)
    begins, subject_ends = (edge[rows] for edge in grammar.subject_spans)
    good = (left == grammar.openings[rows]) & grammar.is_word({"according"}, at=left) & (begins == right + 2)
    good &= grammar.is_word({"to"}, at=grammar.next_in_row(left))
    good &= grammar.is_comma[np.maximum(begins - 1, 0)] & grammar.is_whole(heads, left, right)
    good &= grammar.count(grammar.is_comma, left, right) == 0
    good &= (grammar.count(grammar.is_comma, begins, subject_ends) == 0) & (grammar.ends[rows] - begins < 25)
    return _to_end(grammar, "source_to_end", left, right, np.full(len(left), ", "), good)


def _source_first(grammar: Grammar) -> Places:
    """`The plan failed, according to Ann.` to `According to Ann, the plan failed.`"""
    _, left, right, rows = grammar.phrases(_is_oblique(grammar) & grammar.takes_front[grammar.rows])
    good = (left > grammar.roots[rows]) & (right == grammar.ends[rows]) & grammar.is_word({"according"}, left)
    good &= grammar.is_comma[left - 1] & (grammar.count(grammar.is_comma, left, right) == 0)
    return _to_front(grammar, "source_to_front", left - 1, left, right, good)


def _adverb_to_front(grammar: Grammar) -> Places:
    """`The mill was originally built in 1890.` to `Originally, the mill was built in 1890.`"""
    adverbs = grammar.is_word(_ADVERBS) & grammar.is_tag("RB", "RBR") & grammar.is_dep("advmod")
    chosen = grammar.takes_front & ~grammar.is_negated
    tokens = np.flatnonzero(adverbs & grammar.of_root & chosen[grammar.rows])
    rows = grammar.rows[tokens]
    subject_end = grammar.subject_spans[1][rows]
    before, after = tokens - 1, grammar.next_in_row(tokens)
    good = (tokens > subject_end) & (tokens <= grammar.roots[rows]) & grammar.is_alone[tokens]
    good &= (before == subject_end) | grammar.is_pos("AUX", at=before)
    good &= ~grammar.is_mark[after] & ~grammar.is_pos("ADV", "CCONJ", at=after)
    good &= grammar.count(grammar.is_word(_QUANTIFIED), grammar.openings[rows], subject_end) == 0
    # In front it would speak of both: `was originally a mill and is a school`.
    joined = grammar.rows_with(grammar.of_root & grammar.is_dep("conj"))[rows]
    good &= ~joined | grammar.is_word(_NARRATING, tokens)
    return _to_front(grammar, "adverb_to_front", tokens, tokens, tokens, good)


def _adverb_inside(grammar: Grammar) -> Places:
    """`Originally, the mill was built in 1890.` to `The mill was originally built in 1890.`"""
    rows = np.flatnonzero(grammar.is_plain & (grammar.subjects >= 0) & ~grammar.is_negated)
    opening, roots = grammar.openings[rows], grammar.roots[rows]
    left, right = (edge[rows] for edge in grammar.subject_spans)
    good = grammar.is_word(_ADVERBS, at=opening) & grammar.is_dep("advmod", at=opening)
    good &= (left == opening + 2) & grammar.is_comma[np.minimum(opening + 1, len(grammar) - 1)]
    inner = grammar.is_mark | grammar.is_verb | grammar.is_word(_QUANTIFIED)
    good &= grammar.count(inner, left, right) == 0
    verb = grammar.next_in_row(right)
    auxiliary = grammar.is_pos("AUX", at=verb) & (verb <= roots)
    good &= auxiliary | ((verb == roots) & grammar.is_tag(*FINITE, at=verb))
    good &= grammar.parses.whitespace[verb] & grammar.parses.whitespace[right]  # not "he's"
    place = np.where(auxiliary, verb, right)
    columns = opening, left, place
    return grammar.inside("adverb_inside", columns, good, lambda first: f" {grammar.inward(first)}")
