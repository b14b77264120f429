"""Noun phrases said otherwise: genitives, relative clauses, coordination."""

import numpy as np

from augment_cli.english import LISTS
from augment_cli.english.rephrasing import CLAUSE, PHRASE, WORD, Edit, Places
from augment_cli.english.rephrasing.grammar import SUBJECTS, Grammar
from augment_cli.resources import word_list
from augment_cli.syntax.tree import words

_RELATIVE = words("which that who whom")
_OWN = ("det", "nmod:poss", "amod", "compound", "nummod", "flat")
_QUANTITIES = words("all every each any some most many few several no both another other")
_DETERMINERS = words("the this that his her their its my our your")
_PARTICLES = words("into onto to up down off over out back")
_INDEFINITE = words("all everything anything something nothing")
_ORDERED = words("former latter respectively between")
_GENITIVE = words("'s ’s")
_OF_A_LAST_ITEM = words("other others etc more finally even then lastly many several all such same")


def nouns(grammar: Grammar) -> list[Places]:
    """Places of all rules on noun phrases."""
    return [
        *(_to_possessive(grammar), _from_possessive(grammar), _of_owner(grammar), _owner_behind(grammar)),
        *_relatives(grammar),
        *(_pronoun_put_in(grammar), _expanded(grammar), _partners(grammar), _partners_of_one(grammar)),
        *(_names_swapped(grammar), _which_to_sentence(grammar), _list_order(grammar), _located(grammar)),
    ]


def _to_possessive(grammar: Grammar) -> Places:
    """`the capital of France` to `France's capital`."""
    owned = grammar.is_lemma(frozenset(word_list("owned_nouns"))) & grammar.is_pos("NOUN")
    names, left, right, _ = grammar.phrases(grammar.is_dep("nmod") & grammar.is_name & owned[grammar.parents])
    nouns = grammar.parents[names]
    good = (left == nouns + 1) & grammar.is_word({"of"}, left) & (right - left <= 3)
    good &= grammar.count(grammar.is_name, left + 1, right) == right - left
    good &= ~grammar.parses.lower_at(right).where(lambda word: word.endswith("s"))
    article = np.maximum(nouns - 1, 0)
    good &= grammar.is_word({"the"}, article) & (grammar.rows[article] == grammar.rows[nouns])
    good &= ~grammar.is_name[grammar.next_in_row(article, -1)]  # "Ann the daughter of Bea"
    behind = grammar.next_in_row(right)
    good &= ~grammar.is_name[behind] | (behind == right)
    good &= ~grammar.is_word(words("'s ’s - and ' ,"), behind) & (grammar.trimmed(nouns)[1] <= right)

    def text(begin: int, preposition: int, end: int) -> str:
        return f"{grammar.text(preposition + 1, end)}'s {grammar.text(begin + 1, preposition - 1)}"

    return grammar.replaced("of_to_possessive", PHRASE, (article, left, right), text, good)


def _from_possessive(grammar: Grammar) -> Places:
    """`France's capital` to `the capital of France`."""
    owned = grammar.is_tag("NN", "NNS") & ~grammar.is_lemma(LISTS["eponymous"])
    names, left, right, _ = grammar.phrases(
        grammar.is_dep("nmod:poss") & grammar.is_name & owned[grammar.parents]
    )
    nouns = grammar.parents[names]
    good = grammar.is_tag("POS", at=right) & grammar.is_word(_GENITIVE, right) & (right - left <= 3)
    good &= grammar.count(grammar.is_name, left, right - 1) == right - left
    good &= _follows_closely(grammar, right, nouns) & grammar.parses.forms_at(nouns).where(str.islower)
    before = np.maximum(left - 1, 0)
    same = grammar.rows[before] == grammar.rows[left]
    bound = grammar.is_pos("DET", "ADJ", "PROPN", "NUM", "CCONJ", at=before)
    bound |= grammar.is_word({"of", ","}, before)
    good &= ~(bound & same & (before < left)) & ~grammar.is_pos("NOUN", at=before)
    behind = grammar.next_in_row(nouns)
    good &= ~grammar.is_name[behind] & ~grammar.is_word({"of", ",", "-", "and"}, behind)
    good &= ~grammar.is_dep("compound", at=nouns) & ~grammar.is_pos("NOUN", at=behind) | (behind == nouns)
    good &= grammar.trimmed(nouns)[1] <= nouns

    def text(begin: int, mark: int, noun: int) -> str:
        article = grammar.capital("the", begin)
        return f"{article} {grammar.text(mark + 1, noun)} of {grammar.text(begin, mark - 1)}"

    return grammar.replaced("possessive_to_of", PHRASE, (left, right, nouns), text, good)


def _of_owner(grammar: Grammar) -> Places:
    """`the house of the king` to `the king's house`: an owner of a list, with nothing behind."""
    owners = grammar.is_dep("nmod") & grammar.is_lemma(LISTS["owners"]) & grammar.is_tag("NN")
    heads, left, right, _ = grammar.phrases(owners)
    nouns = grammar.parents[heads]
    low, high = grammar.trimmed(nouns)
    good = grammar.is_word({"of"}, left) & (left == nouns + 1) & (right == heads) & (heads - left <= 3)
    good &= grammar.is_word(_DETERMINERS, np.minimum(left + 1, len(grammar) - 1)) & (high == heads)
    good &= grammar.is_word({"the"}, low) & (nouns - low <= 2) & grammar.is_tag("NN", "NNS", at=nouns)
    good &= ~grammar.is_lemma(LISTS["partitive"], nouns) & ~grammar.is_tag("JJS", at=low + 1)
    inner = grammar.is_mark | grammar.is_verb | grammar.is_name | grammar.is_pos("NUM", "CCONJ")
    good &= grammar.count(inner, low, heads) == 0
    behind = grammar.next_in_row(heads)
    good &= ~grammar.is_word(words("'s ’s - and or ,"), behind) & ~grammar.is_pos("NOUN", "PROPN", at=behind)
    good &= ~grammar.has_child(grammar.is_dep("conj"))[nouns]

    def text(begin: int, preposition: int, end: int) -> str:
        owner = grammar.capital(grammar.text(preposition + 1, end), begin)
        return f"{owner}'s {grammar.text(begin + 1, preposition - 1)}"

    return grammar.replaced("owner_in_front", PHRASE, (low, left, heads), text, good)


def _owner_behind(grammar: Grammar) -> Places:
    """`the king's house` to `the house of the king`."""
    heads, left, right, _ = grammar.phrases(
        grammar.is_dep("nmod:poss") & grammar.is_tag("NN", "NNS") & ~grammar.is_time
    )
    nouns = grammar.parents[heads]
    good = grammar.is_tag("POS", at=right) & (right == heads + 1) & (heads - left <= 2)
    good &= grammar.is_word(_DETERMINERS, left) & grammar.is_tag("NN", "NNS", at=nouns)
    good &= _follows_closely(grammar, right, nouns)
    low, high = grammar.trimmed(nouns)
    good &= (high <= nouns) & (low == left)
    good &= ~grammar.is_lemma(LISTS["eponymous"], nouns) & ~grammar.is_dep("compound", at=nouns)
    good &= ~grammar.is_lemma(words("one other self"), heads) & ~grammar.is_tag("JJS", "JJR", at=right + 1)
    inner = grammar.is_mark & ~grammar.is_tag("POS") | grammar.is_verb | grammar.is_pos("NUM", "CCONJ")
    good &= grammar.count(inner, left, nouns) == 0
    before, behind = grammar.next_in_row(left, -1), grammar.next_in_row(nouns)
    good &= ~grammar.is_word({"of"}, before) & ~grammar.is_word({"of", "-", "and", "or", "own"}, behind)
    finite = grammar.is_tag("VBD", "VBZ", "MD", at=behind)
    good &= ~grammar.is_pos("NOUN", "PROPN", "VERB", at=behind) | finite

    def text(begin: int, mark: int, noun: int) -> str:
        article, owner = grammar.capital("the", begin), grammar.inward(begin, mark - 1)
        return f"{article} {grammar.text(mark + 1, noun)} of {owner}"

    return grammar.replaced("owner_behind", PHRASE, (left, right, nouns), text, good)


def _follows_closely(grammar: Grammar, mark: np.ndarray, nouns: np.ndarray) -> np.ndarray:
    """bool (m,): nouns with two words at most, of their own, between the owner's mark and them."""
    own = grammar.is_pos("ADJ") | (grammar.is_tag("NN") & grammar.is_dep("compound"))
    inner = grammar.count(own & (grammar.parents > grammar.places), mark + 1, nouns - 1)
    return (nouns > mark) & (nouns - mark < 4) & (inner == nouns - mark - 1)


def _relatives(grammar: Grammar) -> list[Places]:
    """`a book which was written by …` to `a book written by …`; `that` to `which` and back, or left out."""
    relative = grammar.is_dep("acl:relcl")
    pronoun = grammar.is_word(_RELATIVE) & grammar.is_tag("WDT", "WP")
    found = np.flatnonzero(pronoun & relative[grammar.parents] & grammar.is_dep("obj", *SUBJECTS))
    verbs = grammar.parents[found]
    nouns = grammar.parents[verbs]
    before, be = np.maximum(found - 1, 0), grammar.next_in_row(found)
    left, right = grammar.trimmed(verbs)
    follows = (nouns < found) & (grammar.rows[before] == grammar.rows[found]) & (left == found)
    set_off = grammar.is_comma[before]
    close = follows & ~set_off & (before == nouns)
    spaced, plain = grammar.parses.whitespace[found], grammar.is_pos("NOUN", at=nouns)

    reduced = follows & grammar.is_dep("aux:pass", "cop", at=be)
    reduced &= grammar.is_word(words("was were is are"), be)
    after = grammar.next_in_row(be)
    participle = (after == verbs) & grammar.is_tag("VBN", at=verbs) & grammar.is_dep("nsubj:pass", at=found)
    predicate = set_off & grammar.is_word({"a", "an", "the"}, after) & grammar.is_pos("NOUN", at=verbs)
    reduced &= (participle & (grammar.is_pos("NOUN", at=before) | set_off)) | predicate
    reduced &= ~grammar.is_word({"born", "able", "not"}, after)
    # Only where the clause ends with a mark does nothing else close it.
    closed = grammar.is_mark[grammar.next_in_row(right)] & (nouns == before - 1)
    reduced &= ~set_off | closed
    reduced &= ~(participle & grammar.is_word({"to", "as"}, at=grammar.next_in_row(verbs)))
    reduced &= ~grammar.has_child(grammar.is_dep("conj", "aux"))[verbs]

    human = grammar.is_word({"who", "whom"}, found)
    exchanged = close & spaced & plain & ~human & ~grammar.is_pos("ADP", at=before)
    exchanged &= ~grammar.is_lemma(
        words("person man woman people child player one those all thing way time"), nouns
    )
    persons = close & spaced & plain & human & grammar.is_dep(*SUBJECTS, at=found)
    subject = grammar.child(grammar.is_dep(*SUBJECTS))[verbs]
    dropped = close & plain & grammar.is_dep("obj", at=found) & (subject == found + 1)
    dropped &= ~grammar.rows_with(grammar.is_word({"such", "so"}))[grammar.rows[found]]
    dropped &= grammar.is_pos("PRON", at=subject)

    def other(token: int) -> str:
        return "which" if grammar.text(token).lower() == "that" else "that"

    def drop(first: int, last: int) -> list[Edit]:
        return [grammar.drop(first, last)]

    def left_out(rule: str, last: np.ndarray, good: np.ndarray) -> Places:
        return Places(rule, PHRASE, [(found, last)], (found, last), drop).where(good)

    return [
        left_out("relative_reduced", be, reduced),
        grammar.replaced("relative_pronoun", PHRASE, (found,), other, exchanged),
        # `the man who came` to `the man that came`
        grammar.replaced("person_pronoun", WORD, (found,), lambda token: "that", persons),
        # `the book that he wrote` to `the book he wrote`
        left_out("relative_pronoun_dropped", found, dropped),
    ]


def _pronoun_put_in(grammar: Grammar) -> Places:
    """`the book he wrote` to `the book that he wrote`."""
    verbs, left, right, _ = grammar.phrases(grammar.is_dep("acl:relcl") & grammar.is_finite)
    nouns = grammar.parents[verbs]
    subjects = grammar.child(grammar.is_dep(*SUBJECTS))[verbs]
    before = grammar.next_in_row(left, -1)
    good = (subjects == left) & grammar.is_pos("PRON", at=left) & (before == left - 1) & (nouns == before)
    good &= grammar.is_tag("PRP", at=left) & ~grammar.is_word({"it"}, left)
    good &= grammar.is_pos("NOUN", at=before) | grammar.is_word(_INDEFINITE, before)
    good &= grammar.count(grammar.asks, left, right) == 0
    # "In the air he found the cure", "my heart I gave": a phrase in front of a main clause looks the same.
    bound = grammar.is_tag("PRP$", "WP$", "WDT", "WP")
    good &= ~grammar.has_child(grammar.is_dep("obj") | bound)[verbs]
    own = grammar.has_child(bound & (grammar.places < grammar.parents))
    good &= ~own[nouns] & ~grammar.is_lemma(words("rest other time"), nouns)
    good &= (grammar.parents[nouns] < nouns) | grammar.is_dep(*SUBJECTS, at=nouns)
    return grammar.put_in("relative_pronoun_put_in", left, lambda token: "that ", good)


def _expanded(grammar: Grammar) -> Places:
    """`a book written by Smith` to `a book that was written by Smith`."""
    verbs = grammar.is_lemma(frozenset(word_list("passive_verbs"))) & grammar.is_tag("VBN")
    found, left, _, rows = grammar.phrases(verbs & grammar.is_dep("acl"))
    nouns = grammar.parents[found]
    good = (nouns == found - 1) & grammar.is_pos("NOUN", at=nouns)
    good &= grammar.is_word({"by", "in"}, grammar.next_in_row(found))
    good &= (left == found) & ~grammar.is_dep("nmod", at=nouns)
    good &= grammar.rows_with(grammar.is_tag("VBD") | grammar.is_year)[rows]
    good &= ~grammar.is_lemma(words("use own operate run know find see"), found)
    plural = grammar.is_tag("NNS")

    def text(token: int) -> str:
        return "that were " if plural[token - 1] else "that was "

    return grammar.put_in("relative_expanded", found, text, good)


def _partners(grammar: Grammar) -> Places:
    """`tea and coffee` to `coffee and tea`, where neither of the two has anything to its right."""
    joined = grammar.is_dep("conj")
    found, left, right, rows = grammar.phrases(
        joined & grammar.is_pos("NOUN", "ADJ", "PROPN") & ~grammar.is_year
    )
    partner = grammar.parents[found]
    good = _are_alike(grammar, found, partner) | (
        grammar.is_pos("NOUN", at=found) & grammar.is_tag("NN", "NNS", at=partner)
    )
    good &= (partner < found) & grammar.is_word({"and", "or"}, left)
    good &= (left == partner + 1) & (right == found) & (found - left <= 4)
    good &= _children(grammar, joined)[partner] == 1
    own = grammar.child(grammar.is_dep(*_OWN))
    in_front = (own[partner] >= 0) & (own[partner] < partner)
    first = np.where(in_front, np.minimum(grammar.edges[0][own[partner]], partner), partner)
    has_own = (own[found] >= 0) & (own[found] < found)
    good &= ((first != partner) == has_own) & ~(grammar.is_pos("ADJ", at=found) & (first != partner))
    inner = grammar.is_pos("ADP", "PUNCT", "CCONJ", "SCONJ", "VERB", "AUX") | grammar.is_dep("advmod")
    # `two hours and ten minutes` is one measure; "his" in `a plumber and his niece` looks back.
    inner |= grammar.is_pos("NUM") | grammar.is_tag("PRP$") | grammar.is_word(_QUANTITIES)
    good &= (grammar.count(inner, first, partner) == 0) & (grammar.count(inner, left + 1, found) == 0)
    good &= grammar.is_whole(found, left, right)
    # `a university's hospital and medical school`: the article or owner may be that of both.
    owned = grammar.has_child(grammar.is_dep("det", "nmod:poss"))
    good &= (owned[partner] == owned[found]) & (first != grammar.openings[rows])
    good &= ~grammar.rows_with(grammar.is_word(_ORDERED))[rows]
    # A word in front that says something of the first alone, or of both, must not become the second's.
    before, behind = np.maximum(first - 1, 0), grammar.next_in_row(found)
    good &= ~grammar.is_pos("ADJ", "NUM", "ADV", "PROPN", at=before)
    good &= ~grammar.is_word({"a", "an", "-", "/"}, before)
    good &= ~grammar.is_word(words("- / of alike ( 's ’s"), at=behind) & ~grammar.is_pos("PROPN", at=behind)
    # "BA in maths or MS in physics", "radio and tune into", "corrupt and hostile to": more is joined.
    lower, anchor = grammar.parses.lower.codes, grammar.next_in_row(before, -1)
    in_phrase = grammar.is_pos("ADP", at=before) & (before < first)
    good &= ~(in_phrase & ((lower[anchor] == lower[found]) | (lower[before] == lower[behind])))
    good &= ~(grammar.is_pos("ADJ", at=found) & grammar.is_pos("ADP", at=behind))
    good &= ~(grammar.is_tag("NN", at=found) & ~has_own & grammar.is_word(_PARTICLES, at=behind))
    # "is a society and the constitution guarantees": the second has a verb of its own.
    acts = grammar.is_tag("VBD", "VBZ", "VBP", "MD", at=behind)
    good &= ~(acts & (partner >= grammar.roots[rows]))
    # A name of several parts (`the Department of Health and Education`) keeps their order.
    named = grammar.is_name[found]
    titled = grammar.is_word({"of", "for", "the", "by", "&"}, at=before) | grammar.is_pos("NOUN", at=before)
    good &= ~(named & (titled | grammar.is_mark[before]))
    good &= ~(named & grammar.is_pos("NOUN", at=behind))
    # `the names Ann and Bea are those of Carl and Dan`: the first belongs to the first.
    good &= ~named | (grammar.per_row(joined & grammar.is_name)[rows] == 1)
    good &= ~(grammar.is_pos("NOUN", at=behind) & grammar.is_pos("NOUN", at=found))
    good &= ~grammar.is_tag("VBN", "VBG", at=behind)
    good &= ~_is_fixed(grammar, partner, found) & _are_plain(grammar, partner, found)
    good &= ~grammar.is_tag("JJR", "JJS", at=found)
    good &= ~grammar.has_child(grammar.is_dep("acl", "acl:relcl"))[found]

    def text(begin: int, inner_end: int, link: int, end: int) -> str:
        return f"{grammar.text(link + 1, end)} {grammar.text(link)} {grammar.text(begin, inner_end)}"

    return grammar.replaced("partners_swapped", PHRASE, (first, partner, left, found), text, good)


def _partners_of_one(grammar: Grammar) -> Places:
    """`his hopes and fears` to `his fears and hopes`: two bare nouns behind one article or owner."""
    found, _, right, rows = grammar.phrases(grammar.is_dep("conj") & grammar.is_pos("NOUN"))
    partner = grammar.parents[found]
    good = (found == partner + 2) & _are_alike(grammar, found, partner) & (right == found)
    good &= grammar.is_word({"and", "or"}, np.maximum(found - 1, 0))
    determiner = grammar.next_in_row(partner, -1)
    good &= grammar.is_word(words("the his her its their my our your these those"), determiner)
    good &= (grammar.parents[determiner] == partner) & (determiner < partner)
    good &= _children(grammar, grammar.is_dep("conj"))[partner] == 1
    good &= ~grammar.rows_with(grammar.is_word(_ORDERED))[rows]
    behind = grammar.next_in_row(found)
    good &= grammar.is_mark[behind] | grammar.is_pos("VERB", "AUX", "ADP", "ADV", at=behind)
    good &= ~grammar.is_word(words("- / ( 's ’s"), at=behind)
    good &= ~grammar.is_tag("VBN", "VBG", at=behind) & ~grammar.is_lemma({"other"}, found)
    good &= ~_is_fixed(grammar, partner, found) & _are_plain(grammar, partner, found)

    def write(first: int, last: int) -> list[Edit]:
        return [grammar.edit(first, first, grammar.text(last)), grammar.edit(last, last, grammar.text(first))]

    return Places("partners_of_one_swapped", PHRASE, [(partner, found)], (partner, found), write).where(good)


def _names_swapped(grammar: Grammar) -> Places:
    """`with Ann Lee and Bob Dean` to `with Bob Dean and Ann Lee`."""
    links = np.flatnonzero(grammar.is_word({"and"}) & grammar.is_pos("CCONJ"))
    name = grammar.is_name
    # Two names of two words are those of two persons; one name may be half of a country's, or of a firm's.
    first, last = np.maximum(links - 2, 0), np.minimum(links + 2, len(grammar) - 1)
    before, behind = grammar.next_in_row(first, -1), grammar.next_in_row(last)
    rows = grammar.rows[links]
    good = (links - first == 2) & (last - links == 2) & (before < first)
    good &= (grammar.rows[first] == rows) & (grammar.rows[last] == rows)
    good &= (grammar.count(name, first, last) == 4) & ~name[before] & (~name[behind] | (behind == last))
    good &= grammar.is_word(words("with by between of from against for to including under like"), before)
    good &= grammar.is_word(words(". ; )"), behind) | grammar.is_pos("ADP", "AUX", "VERB", at=behind)
    good &= ~grammar.rows_with(grammar.is_word(_ORDERED | {"respective"}))[rows]
    good &= ~grammar.is_tag("VBN", "VBG", at=behind)
    good &= _are_plain(grammar, links - 1, np.minimum(links + 1, last))

    def text(begin: int, link: int, end: int) -> str:
        return f"{grammar.text(link + 1, end)} {grammar.text(link)} {grammar.text(begin, link - 1)}"

    return grammar.replaced("names_swapped", PHRASE, (first, links, last), text, good)


def _which_to_sentence(grammar: Grammar) -> Places:
    """`They took a bus, which left at ten.` to `They took a bus. It left at ten.`"""
    found = np.flatnonzero(grammar.is_word({"which"}) & grammar.is_dep(*SUBJECTS))
    verbs, rows = grammar.parents[found], grammar.rows[found]
    nouns = grammar.parents[verbs]
    left, right = grammar.trimmed(verbs)
    good = grammar.is_dep("acl:relcl", at=verbs) & (left == found) & (right == grammar.ends[rows])
    good &= (nouns == found - 2) & grammar.is_comma[np.maximum(found - 1, 0)]
    good &= grammar.is_pos("NOUN", at=nouns) & grammar.is_plain[rows] & (grammar.roots[rows] < nouns)
    good &= grammar.count(grammar.asks, grammar.openings[rows], right) == 1
    good &= ~grammar.rows_with(grammar.is_dep("ccomp", "advcl"))[rows] & ~grammar.is_negated[rows]
    good &= grammar.is_tag("VBD", "VBZ", "VBP", "MD", at=grammar.next_in_row(found))
    pronouns = np.where(grammar.is_tag("NNS", at=nouns), "They", "It")

    def write(token: int, pronoun: str) -> list[Edit]:
        return [(grammar.stops[token - 2], grammar.stops[token], f". {pronoun}")]

    return Places("which_to_sentence", CLAUSE, [(found - 1, found)], (found, pronouns), write).where(good)


def _list_order(grammar: Grammar) -> Places:
    """`apples, pears and plums` to `apples, plums and pears`: the last two of a list."""
    joined = grammar.is_dep("conj") & grammar.is_pos("NOUN", "PROPN", "ADJ")
    linked = grammar.has_child(grammar.is_word({"and", "or"}) & grammar.is_dep("cc"))
    last, link, right, _ = grammar.phrases(joined & linked)
    good = grammar.is_word({"and", "or"}, at=link) & (right == last) & (last > link)
    last, link = last[good], link[good]
    # The item in front: it ends before the comma, or the conjunction, and belongs to the same list.
    comma = grammar.is_comma[np.maximum(link - 1, 0)]
    item = np.maximum(link - 1 - comma, 0)
    begin, end = grammar.trimmed(item)
    good = joined[item] & (grammar.parents[item] == grammar.parents[last]) & (end == item)
    good &= grammar.rows[item] == grammar.rows[last]
    good &= comma | (begin == item)  # `dirt, grain size and shape`: the grain is that of both
    good &= grammar.is_comma[np.maximum(begin - 1, 0)] & (item - begin < 5) & (last - link < 6)
    good &= grammar.parses.pos.codes[item] == grammar.parses.pos.codes[last]
    # `games, film or radio music`: the music is that of both
    good &= ~(
        grammar.is_tag("NN", at=item) & (begin == item) & grammar.has_child(grammar.is_dep("compound"))[last]
    )
    inner = grammar.is_pos("PUNCT", "VERB", "AUX", "SCONJ", "PRON", "ADP") | grammar.is_dep("advmod", "cc")
    good &= grammar.count(inner, begin, item) == 0
    inner |= grammar.is_word(_OF_A_LAST_ITEM) | grammar.is_tag("JJS", "PRP$")
    good &= grammar.count(inner, link + 1, last) == 0
    good &= ~grammar.rows_with(grammar.is_word(_ORDERED | {"order"}))[grammar.rows[last]]
    behind = grammar.next_in_row(last)
    good &= grammar.is_mark[behind] | grammar.is_pos("VERB", "AUX", "ADP", "PRON", at=behind)
    good &= ~grammar.is_word(words("- / ( of 's ’s \" ”"), at=behind)
    # `Paris, Texas` and `Berg am Irchel`
    named = grammar.is_name[last] & (grammar.is_comma[behind] | ~grammar.is_mark[behind])
    # `the Academy for Theatre, Radio and Film`
    above = grammar.parents[grammar.parents[last]]
    named |= grammar.is_name[last] & grammar.is_name[above] & (above != grammar.parents[last])
    good &= ~named & ~grammar.is_year[last] & _are_plain(grammar, item, last)

    def text(first: int, inner_end: int, conjunction: int, end: int) -> str:
        middle = grammar.between(inner_end, conjunction + 1)
        return f"{grammar.text(conjunction + 1, end)}{middle}{grammar.text(first, inner_end)}"

    return grammar.replaced("list_reordered", PHRASE, (begin, item, link, last), text, good)


def _children(grammar: Grammar, mask: np.ndarray) -> np.ndarray:
    """int64 (N,): how many dependents of each token are in a mask (N,)."""
    return np.bincount(grammar.parents[mask], minlength=len(grammar))


def _are_alike(grammar: Grammar, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """bool (m,): pairs of tokens with the same tags."""
    pos, tags = grammar.parses.pos.codes, grammar.parses.tags.codes
    return (pos[one] == pos[other]) & (tags[one] == tags[other])


def _is_fixed(grammar: Grammar, partner: np.ndarray, found: np.ndarray) -> np.ndarray:
    """bool (m,): pairs of words whose order use has fixed: `bread and butter`."""
    fixed = frozenset(word_list("fixed_pairs"))
    pairs = zip(*(grammar.parses.lower.at(tokens).listed() for tokens in (partner, found)), strict=True)
    return np.array([" ".join(pair) in fixed for pair in pairs], bool)


def _are_plain(grammar: Grammar, partner: np.ndarray, found: np.ndarray) -> np.ndarray:
    """bool (m,): pairs of words of letters alone, without a capital inside: not `C#`, `VB.Net` or `SQL`."""
    one, other = (
        grammar.parses.forms_at(tokens).where(lambda form: form.isalpha() and form[1:].islower())
        for tokens in (np.maximum(partner, 0), found)
    )
    return one & other


def _located(grammar: Grammar) -> Places:
    """`is a village in Poland` to `is a village located in Poland`."""
    kinds = grammar.is_lemma(LISTS["settlements"]) & grammar.is_pos("NOUN")
    kinds &= grammar.has_child(grammar.is_dep("cop"))
    prepositions = np.flatnonzero(grammar.is_word({"in"}) & grammar.is_dep("case"))
    places = grammar.parents[prepositions]
    nouns = grammar.parents[places]
    good = grammar.is_dep("nmod", at=places) & kinds[nouns] & (prepositions == nouns + 1)
    good &= (places > prepositions) & grammar.is_name[places] & ~grammar.is_time[places]
    return grammar.put_in("located_put_in", prepositions, lambda token: "located ", good)
