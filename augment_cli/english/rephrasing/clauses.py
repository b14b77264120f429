"""Clauses joined in another way: `He tried, but he failed` to `Although he tried, he failed`."""

from __future__ import annotations

import numpy as np

from augment_cli.english.rephrasing.grammar import FINITE, HEAVY_MARKS, SUBJECTS, Grammar
from augment_cli.english.rephrasing.places import CLAUSE, PHRASE, Edit, Places
from augment_cli.syntax.tree import words

_PRONOUNS = words("he she it they we i you")
_SAYING = words("say state report announce claim add argue note believe explain think")
_THINKING = words(
    "say believe think claim know feel hope suppose fear guess imagine suspect realize realise declare swear "
    "admit understand discover conclude assure deny doubt"
)
_OBJECTS = words("me him us them myself yourself himself herself itself ourselves themselves")
_CONCESSIVE = words("although though")
_LONGEST_MAIN = 18


def clauses(grammar: Grammar) -> list[Places]:
    """Places of all rules on clauses."""
    return [
        *_parted(grammar),
        _at_semicolon(grammar),
        *_subordinate_in_front(grammar),
        *_pronouns(grammar),
        _speaker_last(grammar),
        _speaker_first(grammar),
        *_also(grammar),
        *_complementisers(grammar),
    ]


def _second_clauses(grammar: Grammar) -> tuple[np.ndarray, np.ndarray]:
    """Heads (m,) of the only finite clause that is joined to the main one, and its conjunction."""
    joined = grammar.of_root & grammar.is_dep("conj")
    once = np.bincount(grammar.rows[joined], minlength=len(grammar.parses)) == 1
    heads = np.flatnonzero(joined & grammar.is_finite & (once & grammar.is_statement)[grammar.rows])
    links = grammar.child(grammar.is_dep("cc"))[heads]
    return heads[links >= 0], links[links >= 0]


def _parted(grammar: Grammar) -> list[Places]:
    """`She left, and he stayed.` to `She left. He stayed.`; `A, but B` to `Although A, B`."""
    heads, links = _second_clauses(grammar)
    subject = grammar.child(grammar.is_dep("nsubj", "nsubj:pass", "expl"))[heads]
    left, right = grammar.trimmed(heads)
    rows = grammar.rows[heads]
    comma = grammar.is_comma[np.maximum(left - 1, 0)]
    good = (links == left) & (right == grammar.ends[rows]) & (subject > links)
    good &= ~grammar.asks[np.maximum(subject, 0)]
    good &= (left > grammar.roots[rows]) & grammar.is_whole(heads, left, right)
    good &= grammar.is_plain[rows] & (grammar.subjects[rows] >= 0)
    after = grammar.next_in_row(links)
    good &= ~grammar.is_tag("IN", "WRB", "VBN", "VBG", "CC", at=after) & ~grammar.is_mark[after]
    # `thinks that A and B`: the second may belong to what is thought.
    content = grammar.rows_with(grammar.is_dep("ccomp", "acl:relcl", "csubj"))
    good &= ~content[rows] & (right - links >= 3)
    first, last = grammar.openings[rows], left - comma - 1
    is_but = good & grammar.is_word({"but"}, links)
    is_but &= ~grammar.is_word(words("also rather instead only then now"), after)
    parted = is_but & comma & ~grammar.rows_with(grammar.is_word(words("not n't only neither however")))[rows]
    is_but &= grammar.knows_capital[rows] & grammar.opens_with_subject[rows]
    is_but &= (grammar.count(grammar.is_comma, first, last) == 0) & (left - first < _LONGEST_MAIN)
    is_but &= ~grammar.rows_with(grammar.is_word({"only", "also", "neither", "not"}))[rows]

    def although(opening: int, before: int, link: int) -> list[Edit]:
        mark = grammar.capital("although ", opening) + grammar.inward(opening)
        return [grammar.edit(opening, opening, mark), (grammar.stops[before], grammar.stops[link], ",")]

    def however(before: int, link: int) -> list[Edit]:
        return [(grammar.stops[before], grammar.stops[link], "; however,")]

    spans = [(first, first), (last + 1, links)]
    return [
        # What stands in front of the subject is said of both clauses.
        _two_sentences(grammar, "clauses_to_sentences", last, after).where(
            good & grammar.is_word({"and"}, links) & grammar.opens_with_subject[rows]
        ),
        Places("but_to_however", CLAUSE, [(last + 1, links)], (last, links), however).where(parted),
        Places("but_to_although", CLAUSE, spans, (first, last, links), although).where(is_but),
    ]


def _at_semicolon(grammar: Grammar) -> Places:
    """`She left; he stayed.` to `She left. He stayed.`"""
    semicolons = grammar.is_word({";"})
    once = np.bincount(grammar.rows[semicolons], minlength=len(grammar.parses)) == 1
    other = grammar.is_word(HEAVY_MARKS - {";"}) & ~grammar.is_tag("POS", "HYPH")
    tokens = np.flatnonzero(
        semicolons & (once & grammar.is_statement & ~grammar.rows_with(other))[grammar.rows]
    )
    after = grammar.next_in_row(tokens)
    subjects = grammar.is_dep(*SUBJECTS, "expl") & grammar.is_finite[grammar.parents] & ~grammar.asks
    subjects &= grammar.parents > grammar.places
    opens = np.zeros(len(grammar), bool)  # first words of subjects
    opens[grammar.trimmed(np.flatnonzero(subjects))[0]] = True
    rows = grammar.rows[tokens]
    good = opens[after] & ~grammar.is_pos("CCONJ", "SCONJ", "ADV", at=after)
    good &= grammar.count(subjects, grammar.openings[rows], tokens) > 0
    good &= (grammar.roots[rows] < tokens) & (tokens > grammar.openings[rows] + 2)
    return _two_sentences(grammar, "semicolon_to_sentences", tokens - 1, after).where(good)


def _two_sentences(grammar: Grammar, rule: str, last: np.ndarray, after: np.ndarray) -> Places:
    def write(before: int, begin: int, opening: int) -> list[Edit]:
        text = ". " + grammar.in_front(begin, begin, opening)
        return [(grammar.stops[before], grammar.stops[begin], text)]

    first = grammar.openings[grammar.rows[after]]
    return Places(rule, CLAUSE, [(last + 1, after)], (last, after, first), write)


def _subordinate_in_front(grammar: Grammar) -> list[Places]:
    """`Although A, B.` to `A, but B.`; `Because A, B.` to `A, so B.`"""
    found = []
    for rule, marks, link in (
        ("although_to_but", _CONCESSIVE, "but"),
        ("because_to_so", frozenset({"because"}), "so"),
    ):
        heads = np.flatnonzero(
            grammar.of_root
            & grammar.is_dep("advcl")
            & (grammar.is_plain & (grammar.subjects >= 0))[grammar.rows]
        )
        left, right = grammar.trimmed(heads)
        rows = grammar.rows[heads]
        subject = grammar.child(grammar.is_dep(*SUBJECTS))[heads]
        begins = grammar.subject_spans[0][rows]
        good = (left == grammar.openings[rows]) & grammar.is_word(marks, left)
        good &= grammar.is_dep("mark", at=left) & (subject > left) & (begins == right + 2)
        good &= grammar.is_comma[np.minimum(right + 1, len(grammar) - 1)]
        good &= grammar.is_whole(heads, left, right) & (grammar.count(grammar.is_comma, left, right) == 0)
        good &= ~grammar.is_verb[left + 1] & ~grammar.is_word({"of"}, left + 1)
        rows, left, right = rows[good], left[good], right[good]
        found.append(_coordinated(grammar, rule, link, rows, left, right + 1))
    return found


def _coordinated(
    grammar: Grammar, rule: str, link: str, rows: np.ndarray, first: np.ndarray, commas: np.ndarray
) -> Places:
    def write(mark: int, comma: int) -> list[Edit]:
        opening = grammar.in_front(mark + 1, mark + 1, mark)
        return [grammar.edit(mark, mark + 1, opening), grammar.put_behind(comma, f" {link}")]

    return Places(rule, CLAUSE, [(first, first + 1), (commas, commas + 1)], (first, commas), write)


def _pronouns(grammar: Grammar) -> list[Places]:
    """`He came and saw it` to `He came and he saw it`, and back."""
    heads, links = _second_clauses(grammar)
    rows = grammar.rows[heads]
    subjects = grammar.subjects[rows]
    own = grammar.child(grammar.is_dep(*SUBJECTS, "expl"))[heads]
    forms = grammar.parses.lower.codes
    pronoun = grammar.is_word(_PRONOUNS, subjects) & (subjects >= 0)
    pronoun &= grammar.subject_spans[0][rows] == grammar.subject_spans[1][rows]
    good = pronoun & grammar.is_word({"and", "but"}, links) & (links > grammar.roots[rows]) & (links < heads)
    good &= ~grammar.is_word({"not", "n't"}, heads - 1) & (grammar.trimmed(heads)[1] == grammar.ends[rows])
    helped = grammar.rows_with(grammar.of_root & grammar.is_dep("aux", "aux:pass"))
    same = grammar.parses.tags.codes
    bare = (own < 0) & ~helped[rows] & (same[heads] == same[grammar.roots[rows]])
    bare &= grammar.is_tag("VBD", "VBZ", at=heads) & (heads == links + 1)
    behind = grammar.next_in_row(links)
    bare |= (own < 0) & grammar.is_tag(*FINITE, "MD", at=behind) & grammar.is_pos("AUX", at=behind)
    repeated = (own == links + 1) & (forms[np.maximum(own, 0)] == forms[subjects]) & (heads > own)
    in_front = np.maximum(links - 1, 0)
    repeated &= ~grammar.is_comma[in_front] & (grammar.trimmed(heads)[0] == links)
    return [
        Places(
            "subject_repeated",
            PHRASE,
            [(links, links + 1)],
            (links, subjects),
            lambda link, subject: [grammar.put_behind(link, " " + grammar.inward(subject))],
        ).where(good & bare),
        Places(
            "subject_dropped", PHRASE, [(own, own)], (own,), lambda token: [grammar.cut(token, token)]
        ).where(good & repeated),
    ]


def _speaker_last(grammar: Grammar) -> Places:
    """`He said that the plan failed.` to `The plan failed, he said.`"""
    said = np.flatnonzero(
        grammar.of_root
        & grammar.is_dep("ccomp")
        & grammar.has_child(grammar.is_dep(*SUBJECTS, "expl"))
        & (grammar.is_plain & grammar.opens_with_subject & ~grammar.is_negated)[grammar.rows]
    )
    left, right = grammar.trimmed(said)
    rows = grammar.rows[said]
    roots = grammar.roots[rows]
    _, subject_end = grammar.subject_spans
    other = grammar.rows_with(
        grammar.of_root & grammar.is_dep("aux", "aux:pass", "conj", "advmod", "advcl", "obl")
    )
    good = grammar.is_lemma(_SAYING, roots) & (right == grammar.ends[rows]) & ~other[rows]
    good &= (subject_end[rows] == roots - 1) & (left == roots + 1) & grammar.is_whole(said, left, right)
    good &= (
        grammar.is_word({"that"}, left)
        & grammar.is_dep("mark", at=left)
        & grammar.is_tag("VBD", "VBZ", at=roots)
    )
    first = grammar.next_in_row(left)
    good &= ~grammar.is_pos("SCONJ", "ADV", "PUNCT", "ADP", at=first)
    good &= ~grammar.has_child(grammar.is_dep("conj"))[said] & (
        grammar.count(grammar.is_comma, left, right) == 0
    )
    opening = grammar.openings[rows]

    def write(begin: int, end: int, verb: int, place: int) -> list[Edit]:
        content, speaker = grammar.in_front(begin, end, place), grammar.inward(place, verb)
        return [grammar.edit(place, end, f"{content}, {speaker}")]

    return Places("speaker_to_end", CLAUSE, [(opening, right)], (first, right, roots, opening), write).where(
        good
    )


def _speaker_first(grammar: Grammar) -> Places:
    """`The plan failed, he said.` to `He said that the plan failed.`"""
    said = np.flatnonzero(
        grammar.of_root
        & grammar.is_dep("ccomp")
        & grammar.has_child(grammar.is_dep(*SUBJECTS, "expl"))
        & (grammar.is_plain & (grammar.subjects >= 0))[grammar.rows]
    )
    left, right = grammar.trimmed(said)
    rows = grammar.rows[said]
    roots = grammar.roots[rows]
    begins, subject_end = (edge[rows] for edge in grammar.subject_spans)
    first = grammar.openings[rows]
    good = (left == first) & (begins == right + 2) & grammar.is_comma[np.maximum(begins - 1, 0)]
    good &= (subject_end == roots - 1) & (roots == grammar.ends[rows]) & grammar.is_whole(said, left, right)
    good &= grammar.is_lemma(_SAYING, at=roots) & grammar.is_tag("VBD", "VBZ", at=roots)
    good &= grammar.is_pos("PRON", "DET", "PROPN", "NOUN", at=first)

    def write(begin: int, verb: int, place: int, end: int) -> list[Edit]:
        speaker, content = grammar.in_front(begin, verb, place), grammar.inward(place, end)
        return [grammar.edit(place, verb, f"{speaker} that {content}")]

    return Places("speaker_to_front", CLAUSE, [(first, roots)], (begins, roots, first, right), write).where(
        good
    )


def _also(grammar: Grammar) -> list[Places]:
    """`He also wrote plays.` to `In addition, he wrote plays.` or `He wrote plays as well.`"""
    also = grammar.is_word({"also"}) & grammar.of_root & grammar.is_dep("advmod")
    tokens = np.flatnonzero(
        also & (grammar.is_statement & grammar.opens_with_subject & grammar.knows_capital)[grammar.rows]
    )
    rows = grammar.rows[tokens]
    roots = grammar.roots[rows]
    after = grammar.next_in_row(tokens)
    good = (tokens < roots) & (tokens > grammar.subject_spans[1][rows])
    good &= ~grammar.is_word({"known", "called", "spelled", "spelt", ",", "been"}, after)
    tokens, rows, roots = tokens[good], rows[good], roots[good]
    first, ends = grammar.openings[rows], grammar.ends[rows]
    other = (grammar.is_verb | grammar.is_tag("VBG", "VBN")) & ~grammar.of_root
    other &= grammar.places != grammar.roots[grammar.rows]
    other |= grammar.of_root & grammar.is_dep("conj", "advcl", "ccomp", "xcomp", "parataxis")
    short = (
        grammar.is_plain[rows]
        & (ends - first < 16)
        & (grammar.count(other | grammar.is_comma, first, ends) == 0)
    )

    def in_addition(opening: int, token: int) -> list[Edit]:
        text = grammar.capital("in addition, ", opening) + grammar.inward(opening)
        return [grammar.edit(opening, opening, text), grammar.cut(token, token)]

    chosen = np.flatnonzero(short)
    at, last = tokens[chosen], ends[chosen]

    def as_well(token: int, end: int) -> list[Edit]:
        return [grammar.cut(token, token), grammar.put_behind(end, " as well")]

    return [
        Places(
            "also_to_in_addition", CLAUSE, [(first, first), (tokens, tokens)], (first, tokens), in_addition
        ),
        Places("also_to_as_well", CLAUSE, [(at, at)], (at, last), as_well),
    ]


def _complementisers(grammar: Grammar) -> list[Places]:
    """`He said that he left` to `He said he left`, and back."""
    content = grammar.is_dep("ccomp") & (grammar.parents < grammar.places)
    content &= grammar.has_child(grammar.is_dep(*SUBJECTS))
    saying = grammar.is_lemma(_THINKING) & grammar.is_pos("VERB")
    heads = np.flatnonzero(content & saying[grammar.parents])
    left, _ = grammar.trimmed(heads)
    subject = grammar.child(grammar.is_dep(*SUBJECTS))[heads]
    mark = grammar.child(grammar.is_dep("mark"))[heads]
    begin = grammar.trimmed(np.maximum(subject, 0))[0]
    direct = (left == grammar.parents[heads] + 1) & grammar.parses.whitespace[grammar.parents[heads]]
    marks = grammar.is_word({"that"}) & grammar.is_dep("mark")
    once = np.bincount(grammar.rows[marks], minlength=len(grammar.parses)) <= 1  # `that A, and that B`
    direct &= once[grammar.rows[heads]]
    plain = grammar.is_pos("PRON", "DET", "PROPN", at=begin) & ~grammar.is_tag("WP", "WDT", at=begin)
    that = direct & (mark == left) & (begin == left + 1) & grammar.is_word({"that"}, at=left)
    that &= plain & ~grammar.is_word({"that", "this"}, at=begin)
    bare = direct & (mark < 0) & (begin == left) & plain & grammar.is_tag("VBD", "VBZ", "VBP", at=left - 1)
    finite = grammar.has_child(grammar.is_dep("aux", "aux:pass", "cop") & grammar.is_tag(*FINITE, "MD"))
    bare &= finite[heads] | grammar.is_tag(*FINITE, at=heads)
    speaker = grammar.child(grammar.is_dep(*SUBJECTS))[grammar.parents[heads]]
    # "believed himself to be"; "that knew its secret was crushed"
    bare &= ~grammar.is_word(_OBJECTS, at=begin) & ~grammar.is_tag("PRP$", at=begin)
    bare &= (speaker >= 0) & (speaker < grammar.parents[heads])  # `"It failed," said the minister`
    dropped, added = left[that], left[bare]

    def drop(token: int) -> list[Edit]:
        return [grammar.drop(token, token)]

    def add(token: int) -> list[Edit]:
        return [grammar.put_before(token, "that ")]

    return [
        Places("that_dropped", PHRASE, [(dropped, dropped)], (dropped,), drop),
        Places("that_put_in", PHRASE, [(added, added)], (added,), add),
    ]
