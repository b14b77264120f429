"""Clauses joined in another way: `He tried, but he failed` to `Although he tried, he failed`."""

import numpy as np

from augment_cli.english import LISTS
from augment_cli.english.rephrasing import CLAUSE, PHRASE, Edit, Places
from augment_cli.english.rephrasing.grammar import FINITE, HEAVY_MARKS, SUBJECTS, Grammar
from augment_cli.syntax.tree import words

_SAYING = words("say state report announce claim add argue note believe explain think")
_OBJECTS = words("me him us them myself yourself himself herself itself ourselves themselves")
_CONCESSIVE = words("although though")
_LONGEST_MAIN = 18


def clauses(grammar: Grammar) -> list[Places]:
    """Places of all rules on clauses."""
    return [
        *_parted(grammar),
        _at_semicolon(grammar),
        _subordinate_in_front(grammar, "although_to_but", _CONCESSIVE, "but"),
        _subordinate_in_front(grammar, "because_to_so", frozenset({"because"}), "so"),
        *_pronouns(grammar),
        *(_speaker_last(grammar), _speaker_first(grammar)),
        *_also(grammar),
        *_complementisers(grammar),
    ]


def _second_clauses(grammar: Grammar) -> tuple[np.ndarray, np.ndarray]:
    """Heads (m,) of the only finite clause that is joined to the main one, and its conjunction."""
    joined = grammar.of_root & grammar.is_dep("conj")
    once = grammar.per_row(joined) == 1
    heads = np.flatnonzero(joined & grammar.is_finite & (once & grammar.is_statement)[grammar.rows])
    links = grammar.child(grammar.is_dep("cc"))[heads]
    return heads[links >= 0], links[links >= 0]


def _parted(grammar: Grammar) -> list[Places]:
    """`She left, and he stayed.` to `She left. He stayed.`; `A, but B` to `Although A, B`."""
    heads, links = _second_clauses(grammar)
    subject = grammar.child(grammar.is_dep("nsubj", "nsubj:pass", "expl"))[heads]
    left, right = grammar.trimmed(heads)
    rows, after = grammar.rows[heads], grammar.next_in_row(links)
    comma = grammar.is_comma[np.maximum(left - 1, 0)]
    good = (links == left) & (right == grammar.ends[rows]) & (subject > links)
    good &= ~grammar.asks[np.maximum(subject, 0)]
    good &= (left > grammar.roots[rows]) & grammar.is_whole(heads, left, right)
    good &= grammar.is_plain[rows] & (grammar.subjects[rows] >= 0)
    good &= ~grammar.is_tag("IN", "WRB", "VBN", "VBG", "CC", at=after) & ~grammar.is_mark[after]
    # `thinks that A and B`: the second may belong to what is thought.
    content = grammar.rows_with(grammar.is_dep("ccomp", "acl:relcl", "csubj"))
    good &= ~content[rows] & (right - links >= 3)
    first, last = grammar.openings[rows], left - comma - 1
    is_but = good & grammar.is_word({"but"}, links)
    is_but &= ~grammar.is_word(words("also rather instead only then now"), after)
    parted = is_but & comma & ~grammar.rows_with(grammar.is_word(words("not n't only neither however")))[rows]
    is_but &= grammar.takes_front[rows] & (left - first < _LONGEST_MAIN)
    is_but &= grammar.count(grammar.is_comma, first, last) == 0
    is_but &= ~grammar.rows_with(grammar.is_word({"only", "also", "neither", "not"}))[rows]

    def although(opening: int, before: int, link: int) -> list[Edit]:
        mark = grammar.capital("although ", opening) + grammar.inward(opening)
        return [grammar.edit(opening, opening, mark), (grammar.stops[before], grammar.stops[link], ",")]

    def however(before: int, link: int) -> list[Edit]:
        return [(grammar.stops[before], grammar.stops[link], "; however,")]

    spans = [(first, first), (last + 1, links)]
    # What stands in front of the subject is said of both clauses.
    both = good & grammar.is_word({"and"}, links) & grammar.opens_with_subject[rows]
    return [
        _two_sentences(grammar, "clauses_to_sentences", last, after, both),
        Places("but_to_however", CLAUSE, [(last + 1, links)], (last, links), however).where(parted),
        Places("but_to_although", CLAUSE, spans, (first, last, links), although).where(is_but),
    ]


def _at_semicolon(grammar: Grammar) -> Places:
    """`She left; he stayed.` to `She left. He stayed.`"""
    semicolons = grammar.is_word({";"})
    other = grammar.is_word(HEAVY_MARKS - {";"}) & ~grammar.is_tag("POS", "HYPH")
    chosen = (grammar.per_row(semicolons) == 1) & grammar.is_statement & ~grammar.rows_with(other)
    tokens = np.flatnonzero(semicolons & chosen[grammar.rows])
    rows, after = grammar.rows[tokens], grammar.next_in_row(tokens)
    subjects = grammar.is_dep(*SUBJECTS, "expl") & grammar.is_finite[grammar.parents] & ~grammar.asks
    subjects &= grammar.parents > grammar.places
    opens = np.zeros(len(grammar), bool)  # first words of subjects
    opens[grammar.trimmed(np.flatnonzero(subjects))[0]] = True
    good = opens[after] & ~grammar.is_pos("CCONJ", "SCONJ", "ADV", at=after)
    good &= grammar.count(subjects, grammar.openings[rows], tokens) > 0
    good &= (grammar.roots[rows] < tokens) & (tokens > grammar.openings[rows] + 2)
    return _two_sentences(grammar, "semicolon_to_sentences", tokens - 1, after, good)


def _two_sentences(
    grammar: Grammar, rule: str, last: np.ndarray, after: np.ndarray, good: np.ndarray
) -> Places:
    def write(before: int, begin: int, opening: int) -> list[Edit]:
        text = ". " + grammar.in_front(begin, begin, opening)
        return [(grammar.stops[before], grammar.stops[begin], text)]

    first = grammar.openings[grammar.rows[after]]
    return Places(rule, CLAUSE, [(last + 1, after)], (last, after, first), write).where(good)


def _subordinate_in_front(grammar: Grammar, rule: str, marks: frozenset[str], link: str) -> Places:
    """`Although A, B.` to `A, but B.`; `Because A, B.` to `A, so B.`"""
    chosen = (grammar.is_plain & (grammar.subjects >= 0))[grammar.rows]
    heads, left, right, rows = grammar.phrases(grammar.of_root & grammar.is_dep("advcl") & chosen)
    subject = grammar.child(grammar.is_dep(*SUBJECTS))[heads]
    good = (left == grammar.openings[rows]) & grammar.is_word(marks, left)
    good &= grammar.is_dep("mark", at=left) & (subject > left)
    good &= grammar.subject_spans[0][rows] == right + 2
    good &= grammar.is_comma[np.minimum(right + 1, len(grammar) - 1)]
    good &= grammar.is_whole(heads, left, right) & (grammar.count(grammar.is_comma, left, right) == 0)
    good &= ~grammar.is_verb[left + 1] & ~grammar.is_word({"of"}, left + 1)

    def write(mark: int, comma: int) -> list[Edit]:
        opening = grammar.in_front(mark + 1, mark + 1, mark)
        return [grammar.edit(mark, mark + 1, opening), grammar.put_behind(comma, f" {link}")]

    claims = [(left, left + 1), (right + 1, right + 2)]
    return Places(rule, CLAUSE, claims, (left, right + 1), write).where(good)


def _pronouns(grammar: Grammar) -> list[Places]:
    """`He came and saw it` to `He came and he saw it`, and back."""
    heads, links = _second_clauses(grammar)
    rows = grammar.rows[heads]
    subjects, roots = grammar.subjects[rows], grammar.roots[rows]
    own = grammar.child(grammar.is_dep(*SUBJECTS, "expl"))[heads]
    forms, tags = grammar.parses.lower.codes, grammar.parses.tags.codes
    pronoun = grammar.is_word(words("he she it they we i you"), subjects) & (subjects >= 0)
    pronoun &= grammar.subject_spans[0][rows] == grammar.subject_spans[1][rows]
    good = pronoun & grammar.is_word({"and", "but"}, links) & (links > roots) & (links < heads)
    left, right = grammar.trimmed(heads)
    good &= ~grammar.is_word({"not", "n't"}, heads - 1) & (right == grammar.ends[rows])
    helped = grammar.rows_with(grammar.of_root & grammar.is_dep("aux", "aux:pass"))
    bare = (own < 0) & ~helped[rows] & (tags[heads] == tags[roots])
    bare &= grammar.is_tag("VBD", "VBZ", at=heads) & (heads == links + 1)
    behind = grammar.next_in_row(links)
    bare |= (own < 0) & grammar.is_tag(*FINITE, "MD", at=behind) & grammar.is_pos("AUX", at=behind)
    repeated = (own == links + 1) & (forms[np.maximum(own, 0)] == forms[subjects]) & (heads > own)
    repeated &= ~grammar.is_comma[np.maximum(links - 1, 0)] & (left == links)

    def repeat(link: int, subject: int) -> list[Edit]:
        return [grammar.put_behind(link, " " + grammar.inward(subject))]

    def drop(token: int) -> list[Edit]:
        return [grammar.cut(token, token)]

    spans = [(links, links + 1)]
    return [
        Places("subject_repeated", PHRASE, spans, (links, subjects), repeat).where(good & bare),
        Places("subject_dropped", PHRASE, [(own, own)], (own,), drop).where(good & repeated),
    ]


def _said(grammar: Grammar) -> np.ndarray:
    """bool (N,): finite clauses of what somebody says."""
    content = grammar.of_root & grammar.is_dep("ccomp")
    return content & grammar.has_child(grammar.is_dep(*SUBJECTS, "expl"))


def _speaker_last(grammar: Grammar) -> Places:
    """`He said that the plan failed.` to `The plan failed, he said.`"""
    chosen = grammar.is_plain & grammar.opens_with_subject & ~grammar.is_negated
    said, left, right, rows = grammar.phrases(_said(grammar) & chosen[grammar.rows])
    roots = grammar.roots[rows]
    other = grammar.is_dep("aux", "aux:pass", "conj", "advmod", "advcl", "obl")
    good = grammar.is_lemma(_SAYING, roots) & (right == grammar.ends[rows])
    good &= ~grammar.rows_with(grammar.of_root & other)[rows] & grammar.is_whole(said, left, right)
    good &= (grammar.subject_spans[1][rows] == roots - 1) & (left == roots + 1)
    good &= grammar.is_word({"that"}, left) & grammar.is_dep("mark", at=left)
    first = grammar.next_in_row(left)
    good &= grammar.is_tag("VBD", "VBZ", at=roots) & ~grammar.is_pos("SCONJ", "ADV", "PUNCT", "ADP", at=first)
    good &= ~grammar.has_child(grammar.is_dep("conj"))[said]
    good &= grammar.count(grammar.is_comma, left, right) == 0

    def text(place: int, verb: int, begin: int, end: int) -> str:
        return f"{grammar.in_front(begin, end, place)}, {grammar.inward(place, verb)}"

    columns = grammar.openings[rows], roots, first, right
    return grammar.replaced("speaker_to_end", CLAUSE, columns, text, good)


def _speaker_first(grammar: Grammar) -> Places:
    """`The plan failed, he said.` to `He said that the plan failed.`"""
    chosen = (grammar.is_plain & (grammar.subjects >= 0))[grammar.rows]
    said, left, right, rows = grammar.phrases(_said(grammar) & chosen)
    roots, first = grammar.roots[rows], grammar.openings[rows]
    begins, subject_end = (edge[rows] for edge in grammar.subject_spans)
    good = (left == first) & (begins == right + 2) & grammar.is_comma[np.maximum(begins - 1, 0)]
    good &= (subject_end == roots - 1) & (roots == grammar.ends[rows]) & grammar.is_whole(said, left, right)
    good &= grammar.is_lemma(_SAYING, at=roots) & grammar.is_tag("VBD", "VBZ", at=roots)
    good &= grammar.is_pos("PRON", "DET", "PROPN", "NOUN", at=first)

    def text(place: int, end: int, begin: int, verb: int) -> str:
        return f"{grammar.in_front(begin, verb, place)} that {grammar.inward(place, end)}"

    return grammar.replaced("speaker_to_front", CLAUSE, (first, right, begins, roots), text, good)


def _also(grammar: Grammar) -> list[Places]:
    """`He also wrote plays.` to `In addition, he wrote plays.` or `He wrote plays as well.`"""
    also = grammar.is_word({"also"}) & grammar.of_root & grammar.is_dep("advmod")
    chosen = grammar.is_statement & grammar.opens_with_subject & grammar.knows_capital
    tokens = np.flatnonzero(also & chosen[grammar.rows])
    rows = grammar.rows[tokens]
    good = (tokens < grammar.roots[rows]) & (tokens > grammar.subject_spans[1][rows])
    good &= ~grammar.is_word(words("known called spelled spelt , been"), grammar.next_in_row(tokens))
    first, ends = grammar.openings[rows], grammar.ends[rows]
    other = (grammar.is_verb | grammar.is_tag("VBG", "VBN")) & ~grammar.of_root & ~grammar.is_root
    other |= grammar.of_root & grammar.is_dep("conj", "advcl", "ccomp", "xcomp", "parataxis")
    short = grammar.is_plain[rows] & (ends - first < 16)
    short &= grammar.count(other | grammar.is_comma, first, ends) == 0

    def in_addition(opening: int, token: int) -> list[Edit]:
        text = grammar.capital("in addition, ", opening) + grammar.inward(opening)
        return [grammar.edit(opening, opening, text), grammar.cut(token, token)]

    def as_well(token: int, end: int) -> list[Edit]:
        return [grammar.cut(token, token), grammar.put_behind(end, " as well")]

    spans = [(first, first), (tokens, tokens)]
    return [
        Places("also_to_in_addition", CLAUSE, spans, (first, tokens), in_addition).where(good),
        Places("also_to_as_well", CLAUSE, spans[1:], (tokens, ends), as_well).where(good & short),
    ]


def _complementisers(grammar: Grammar) -> list[Places]:
    """`He said that he left` to `He said he left`, and back."""
    own = grammar.child(grammar.is_dep(*SUBJECTS))
    content = grammar.is_dep("ccomp") & (grammar.parents < grammar.places) & (own >= 0)
    saying = grammar.is_lemma(LISTS["thinking"]) & grammar.is_pos("VERB")
    heads, left, _, rows = grammar.phrases(content & saying[grammar.parents])
    parents, mark = grammar.parents[heads], grammar.child(grammar.is_dep("mark"))[heads]
    begin = grammar.trimmed(own[heads])[0]
    direct = (left == parents + 1) & grammar.parses.whitespace[parents]
    marks = grammar.is_word({"that"}) & grammar.is_dep("mark")
    direct &= grammar.per_row(marks)[rows] <= 1  # `that A, and that B`
    plain = grammar.is_pos("PRON", "DET", "PROPN", at=begin) & ~grammar.is_tag("WP", "WDT", at=begin)
    that = direct & (mark == left) & (begin == left + 1) & grammar.is_word({"that"}, at=left)
    that &= plain & ~grammar.is_word({"that", "this"}, at=begin)
    bare = direct & (mark < 0) & (begin == left) & plain & grammar.is_tag("VBD", "VBZ", "VBP", at=left - 1)
    finite = grammar.has_child(grammar.is_dep("aux", "aux:pass", "cop") & grammar.is_tag(*FINITE, "MD"))
    bare &= finite[heads] | grammar.is_tag(*FINITE, at=heads)
    # "believed himself to be"; "that knew its secret was crushed"
    bare &= ~grammar.is_word(_OBJECTS, at=begin) & ~grammar.is_tag("PRP$", at=begin)
    bare &= (own[parents] >= 0) & (own[parents] < parents)  # `"It failed," said the minister`

    def drop(token: int) -> list[Edit]:
        return [grammar.drop(token, token)]

    return [
        Places("that_dropped", PHRASE, [(left, left)], (left,), drop).where(that),
        grammar.put_in("that_put_in", left, lambda token: "that ", bare),
    ]
