"""Noun phrases said otherwise: genitives, relative clauses, coordination."""

from __future__ import annotations

import numpy as np

from augment_cli.english.rephrasing.grammar import SUBJECTS, Grammar
from augment_cli.english.rephrasing.places import CLAUSE, PHRASE, WORD, Edit, Places
from augment_cli.resources import word_list
from augment_cli.syntax.tree import words

_RELATIVE = words("which that who whom")
_OWN = ("det", "nmod:poss", "amod", "compound", "nummod", "flat")
_SETTLEMENTS = words(
    "village town city municipality commune hamlet settlement suburb neighbourhood neighborhood lake "
    "mountain hill church castle park school island museum hospital cemetery railway station airport"
)
_QUANTITIES = words("all every each any some most many few several no both another other")
# A name's own: "Newton's law" is no law that Newton has.
_EPONYMOUS = words(
    "disease syndrome law theorem paradox equation constant principle algorithm method test rule lemma "
    "conjecture inequality day eve comet function space group number algebra sake house place day's way "
    "share turn own"
)
_DETERMINERS = words("the this that his her their its my our your")
_OWNERS = words(
    "king queen emperor empress prince princess duke count captain colonel general doctor president "
    "minister mayor bishop pope priest judge king's father mother brother sister son daughter wife "
    "husband uncle aunt grandfather grandmother master mistress man woman boy girl child baby lady "
    "gentleman stranger soldier sailor poet author artist painter singer teacher student country city "
    "town village state nation government company church school university club team family party army "
    "band ship island region district world owner host"
)
_PARTITIVE = words(
    "end rest part most one some number member kind sort side top bottom middle half majority piece pair "
    "group list back front edge centre center beginning start course case north south east west corner "
    "use way time name age man woman idea word thought fear sight love picture portrait story house sake "
    "role title area inside outside lady gentleman son daughter king queen president image view face "
    "likeness likes hope benefit matter question"
)
_PARTICLES = words("into onto to up down off over out back")
_INDEFINITE = words("all everything anything something nothing")
_ORDERED = words("former latter respectively both either between")


def nouns(grammar: Grammar) -> list[Places]:
    """Places of all rules on noun phrases."""
    return [
        _to_possessive(grammar),
        _from_possessive(grammar),
        _of_owner(grammar),
        _owner_behind(grammar),
        *_relatives(grammar),
        _partners(grammar),
        _partners_of_one(grammar),
        _names_swapped(grammar),
        _which_to_sentence(grammar),
        _list_order(grammar),
        _located(grammar),
    ]


def _to_possessive(grammar: Grammar) -> Places:
    """`the capital of France` to `France's capital`."""
    owned = grammar.is_lemma(frozenset(word_list("owned_nouns"))) & grammar.is_pos("NOUN")
    names = np.flatnonzero(grammar.is_dep("nmod") & grammar.is_name & owned[grammar.parents])
    left, right = grammar.trimmed(names)
    nouns = grammar.parents[names]
    good = (left == nouns + 1) & grammar.is_word({"of"}, left) & (right - left <= 3)
    good &= grammar.count(grammar.is_name, left + 1, right) == right - left
    good &= ~grammar.parses.lower_at(right).where(lambda word: word.endswith("s"))
    article = np.maximum(nouns - 1, 0)
    good &= grammar.is_word({"the"}, article) & (grammar.rows[article] == grammar.rows[nouns])
    good &= ~grammar.is_name[grammar.next_in_row(article, -1)]  # "Ann the daughter of Bea"
    behind = grammar.next_in_row(right)
    good &= ~grammar.is_name[behind] | (behind == right)
    good &= ~grammar.is_word({"'s", "’s", "-", "and", "'"}, behind) & ~grammar.is_comma[behind]
    good &= _without_further(grammar, nouns, right)

    def write(begin: int, preposition: int, end: int) -> list[Edit]:
        owner, thing = grammar.text(preposition + 1, end), grammar.text(begin + 1, preposition - 1)
        return [grammar.edit(begin, end, f"{owner}'s {thing}")]

    return Places("of_to_possessive", PHRASE, [(article, right)], (article, left, right), write).where(good)


def _without_further(grammar: Grammar, nouns: np.ndarray, right: np.ndarray) -> np.ndarray:
    """bool (m,): nouns whose phrase ends where the name does."""
    return grammar.trimmed(nouns)[1] <= right


def _from_possessive(grammar: Grammar) -> Places:
    """`France's capital` to `the capital of France`."""
    owned = grammar.is_tag("NN", "NNS") & ~grammar.is_lemma(_EPONYMOUS)
    names = np.flatnonzero(grammar.is_dep("nmod:poss") & grammar.is_name & owned[grammar.parents])
    left, right = grammar.trimmed(names)
    nouns = grammar.parents[names]
    good = grammar.is_tag("POS", at=right) & grammar.is_word({"'s", "’s"}, right) & (right - left <= 3)
    good &= grammar.count(grammar.is_name, left, right - 1) == right - left
    good &= ~grammar.is_word(words("mr mrs miss ms dr mr. mrs. ms. dr."), left)
    good &= (nouns == right + 1) | ((nouns == right + 2) & grammar.is_pos("ADJ", at=nouns - 1))
    before = np.maximum(left - 1, 0)
    same = grammar.rows[before] == grammar.rows[left]
    bound = grammar.is_pos("DET", "ADJ", "PROPN", "NUM", "CCONJ", at=before) | grammar.is_word(
        {"of", ","}, before
    )
    good &= ~(bound & same & (before < left)) & ~grammar.is_pos("NOUN", at=before)
    behind = grammar.next_in_row(nouns)
    good &= ~grammar.is_name[behind] & ~grammar.is_word({"of", ",", "-", "and"}, behind)
    good &= ~grammar.is_dep("compound", at=nouns) & ~grammar.is_pos("NOUN", at=behind) | (behind == nouns)
    good &= _without_further(grammar, nouns, nouns)

    def write(begin: int, mark: int, noun: int) -> list[Edit]:
        article = grammar.capital("the", begin)
        text = f"{article} {grammar.text(mark + 1, noun)} of {grammar.text(begin, mark - 1)}"
        return [grammar.edit(begin, noun, text)]

    return Places("possessive_to_of", PHRASE, [(left, nouns)], (left, right, nouns), write).where(good)


def _of_owner(grammar: Grammar) -> Places:
    """`the house of the king` to `the king's house`: an owner of a list, with nothing behind."""
    heads = np.flatnonzero(grammar.is_dep("nmod") & grammar.is_lemma(_OWNERS) & grammar.is_tag("NN"))
    left, right = grammar.trimmed(heads)
    nouns = grammar.parents[heads]
    low, high = grammar.trimmed(nouns)
    good = grammar.is_word({"of"}, left) & (left == nouns + 1) & (right == heads) & (heads - left <= 3)
    good &= grammar.is_word(_DETERMINERS, np.minimum(left + 1, len(grammar) - 1)) & (high == heads)
    good &= grammar.is_word({"the"}, low) & (nouns - low <= 2) & grammar.is_tag("NN", "NNS", at=nouns)
    good &= ~grammar.is_lemma(_PARTITIVE, nouns) & ~grammar.is_tag("JJS", at=low + 1)
    inner = grammar.is_mark | grammar.is_verb | grammar.is_name | grammar.is_pos("NUM", "CCONJ")
    good &= grammar.count(inner, low, heads) == 0
    behind = grammar.next_in_row(heads)
    good &= ~grammar.is_word({"'s", "’s", "-", "and", "or"}, behind) & ~grammar.is_pos(
        "NOUN", "PROPN", at=behind
    )
    good &= ~grammar.is_comma[behind] & ~grammar.has_child(grammar.is_dep("conj"))[nouns]

    def write(begin: int, preposition: int, end: int) -> list[Edit]:
        owner = grammar.capital(grammar.text(preposition + 1, end), begin)
        return [grammar.edit(begin, end, f"{owner}'s {grammar.text(begin + 1, preposition - 1)}")]

    return Places("owner_in_front", PHRASE, [(low, heads)], (low, left, heads), write).where(good)


def _owner_behind(grammar: Grammar) -> Places:
    """`the king's house` to `the house of the king`."""
    heads = np.flatnonzero(grammar.is_dep("nmod:poss") & grammar.is_tag("NN") & ~grammar.is_time)
    left, right = grammar.trimmed(heads)
    nouns = grammar.parents[heads]
    good = grammar.is_word({"'s", "’s"}, right) & (right == heads + 1) & (heads - left <= 2)
    good &= grammar.is_word(_DETERMINERS, left) & grammar.is_tag("NN", "NNS", at=nouns)
    good &= (nouns == right + 1) | ((nouns == right + 2) & grammar.is_pos("ADJ", at=nouns - 1))
    good &= _without_further(grammar, nouns, nouns) & (grammar.trimmed(nouns)[0] == left)
    good &= ~grammar.is_lemma(_EPONYMOUS, nouns) & ~grammar.is_dep("compound", at=nouns)
    good &= ~grammar.is_lemma(words("one other self"), heads) & ~grammar.is_tag("JJS", "JJR", at=right + 1)
    inner = grammar.is_mark & ~grammar.is_tag("POS") | grammar.is_verb | grammar.is_pos("NUM", "CCONJ")
    good &= grammar.count(inner, left, nouns) == 0
    before, behind = grammar.next_in_row(left, -1), grammar.next_in_row(nouns)
    good &= ~grammar.is_word({"of"}, before) & ~grammar.is_word({"of", "-", "and", "or", "own"}, behind)
    good &= ~grammar.is_pos("NOUN", "PROPN", "VERB", at=behind) | grammar.is_tag(
        "VBD", "VBZ", "MD", at=behind
    )

    def write(begin: int, mark: int, noun: int) -> list[Edit]:
        article = grammar.capital("the", begin)
        owner = grammar.inward(begin, mark - 1)
        return [grammar.edit(begin, noun, f"{article} {grammar.text(mark + 1, noun)} of {owner}")]

    return Places("owner_behind", PHRASE, [(left, nouns)], (left, right, nouns), write).where(good)


def _relatives(grammar: Grammar) -> list[Places]:
    """`a book which was written by …` to `a book written by …` and back; `that` to `which` and back."""
    relative = grammar.is_dep("acl:relcl")
    pronoun = grammar.is_word(_RELATIVE) & grammar.is_tag("WDT", "WP")
    found = np.flatnonzero(pronoun & relative[grammar.parents] & grammar.is_dep("obj", *SUBJECTS))
    verbs = grammar.parents[found]
    nouns = grammar.parents[verbs]
    before = np.maximum(found - 1, 0)
    follows = (
        (nouns < found) & (grammar.rows[before] == grammar.rows[found]) & (grammar.trimmed(verbs)[0] == found)
    )

    be = grammar.next_in_row(found)
    reduced = (
        follows & grammar.is_dep("aux:pass", "cop", at=be) & grammar.is_word(words("was were is are"), be)
    )
    after = grammar.next_in_row(be)
    participle = (after == verbs) & grammar.is_tag("VBN", at=verbs) & grammar.is_dep("nsubj:pass", at=found)
    set_off = grammar.is_comma[before]
    predicate = set_off & grammar.is_word({"a", "an", "the"}, after) & grammar.is_pos("NOUN", at=verbs)
    # Only where the clause ends with a mark does nothing else close it.
    end = grammar.next_in_row(grammar.trimmed(verbs)[1])
    reduced &= (participle & (grammar.is_pos("NOUN", at=before) | set_off)) | predicate
    reduced &= ~grammar.is_word({"born", "able", "not"}, after)
    reduced &= ~set_off | (grammar.is_mark[end] & (nouns == before - 1))
    reduced &= ~(participle & grammar.is_word({"to", "as"}, at=grammar.next_in_row(verbs)))
    reduced &= ~grammar.has_child(grammar.is_dep("conj", "aux"))[verbs]

    human = grammar.is_word({"who", "whom"}, found)
    exchanged = (
        grammar.parses.whitespace[found]
        & follows
        & ~human
        & ~set_off
        & (before == nouns)
        & grammar.is_pos("NOUN", at=nouns)
    )
    persons = follows & human & ~set_off & (before == nouns) & grammar.parses.whitespace[found]
    persons &= grammar.is_pos("NOUN", at=nouns) & grammar.is_dep(*SUBJECTS, at=found)
    exchanged &= grammar.is_dep("nsubj", "nsubj:pass", "obj", at=found) & ~grammar.is_pos("ADP", at=before)
    exchanged &= ~grammar.is_lemma(
        words("person man woman people child player one those all thing way time"), nouns
    )
    subject = grammar.child(grammar.is_dep(*SUBJECTS))[verbs]
    dropped = (
        follows & ~set_off & (before == nouns) & grammar.is_dep("obj", at=found) & (subject == found + 1)
    )
    dropped &= ~grammar.rows_with(grammar.is_word({"such", "so"}))[grammar.rows[found]]
    dropped &= grammar.is_pos("PRON", at=subject) & grammar.is_pos("NOUN", at=nouns)

    def other(token: int, is_that: bool) -> list[Edit]:
        return [grammar.edit(token, token, "which" if is_that else "that")]

    own = [(found, found)]
    return [
        Places(
            "relative_reduced", PHRASE, [(found, be)], (found, be), lambda *span: [grammar.drop(*span)]
        ).where(reduced),
        Places("relative_pronoun", PHRASE, own, (found, grammar.is_word({"that"}, found)), other).where(
            exchanged
        ),
        # `the man who came` to `the man that came`
        Places(
            "person_pronoun", WORD, own, (found,), lambda token: [grammar.edit(token, token, "that")]
        ).where(persons),
        # `the book that he wrote` to `the book he wrote`
        Places(
            "relative_pronoun_dropped", PHRASE, own, (found, found), lambda *span: [grammar.drop(*span)]
        ).where(dropped),
        _pronoun_put_in(grammar),
        _expanded(grammar),
    ]


def _pronoun_put_in(grammar: Grammar) -> Places:
    """`the book he wrote` to `the book that he wrote`."""
    verbs = np.flatnonzero(grammar.is_dep("acl:relcl") & grammar.is_finite)
    left, right = grammar.trimmed(verbs)
    nouns = grammar.parents[verbs]
    subjects = grammar.child(grammar.is_dep(*SUBJECTS))[verbs]
    before = grammar.next_in_row(left, -1)
    good = (subjects == left) & grammar.is_pos("PRON", at=left) & (before == left - 1) & (nouns <= before)
    good &= grammar.is_tag("PRP", at=left) & ~grammar.is_word({"it"}, left)
    good &= grammar.is_pos("NOUN", at=before) | grammar.is_word(_INDEFINITE, before)
    good &= (nouns == before) & (grammar.count(grammar.asks, left, right) == 0)
    # "In the air he found the cure", "my heart I gave": a phrase in front of a main clause looks the same.
    good &= ~grammar.has_child(grammar.is_dep("obj") | grammar.is_tag("PRP$", "WP$", "WDT", "WP"))[verbs]
    own = grammar.has_child(grammar.is_tag("PRP$", "WP$", "WDT", "WP") & (grammar.places < grammar.parents))
    good &= ~own[nouns] & ~grammar.is_lemma(words("rest other time"), nouns)
    good &= (grammar.parents[nouns] < nouns) | grammar.is_dep(*SUBJECTS, at=nouns)

    return Places(
        "relative_pronoun_put_in",
        PHRASE,
        [(left, left)],
        (left,),
        lambda token: [grammar.put_before(token, "that ")],
    ).where(good)


def _expanded(grammar: Grammar) -> Places:
    """`a book written by Smith` to `a book that was written by Smith`."""
    verbs = grammar.is_lemma(frozenset(word_list("passive_verbs"))) & grammar.is_tag("VBN")
    found = np.flatnonzero(verbs & grammar.is_dep("acl"))
    nouns = grammar.parents[found]
    behind = grammar.next_in_row(found)
    good = (nouns == found - 1) & grammar.is_pos("NOUN", at=nouns) & grammar.is_word({"by", "in"}, behind)
    good &= (grammar.trimmed(found)[0] == found) & ~grammar.is_dep("nmod", at=nouns)
    past = grammar.rows_with(grammar.is_tag("VBD")) | grammar.rows_with(grammar.is_year)
    good &= past[grammar.rows[found]] & ~grammar.is_lemma(words("use own operate run know find see"), found)
    plural = grammar.is_tag("NNS", at=nouns).tolist()

    def write(token: int, is_plural: bool) -> list[Edit]:
        return [grammar.put_before(token, "that were " if is_plural else "that was ")]

    return Places("relative_expanded", PHRASE, [(found, found)], (found, plural), write).where(good)


def _partners(grammar: Grammar) -> Places:
    """`tea and coffee` to `coffee and tea`, where neither of the two has anything to its right."""
    pos, tags = grammar.parses.pos.codes, grammar.parses.tags.codes
    joined = grammar.is_dep("conj")
    found = np.flatnonzero(joined & grammar.is_pos("NOUN", "ADJ", "PROPN") & ~grammar.is_year)
    partner = grammar.parents[found]
    left, right = grammar.trimmed(found)
    good = (pos[found] == pos[partner]) & (tags[found] == tags[partner]) & (partner < found)
    good &= grammar.is_word({"and", "or"}, left) & (left == partner + 1) & (right == found)
    counts = np.bincount(grammar.parents[np.flatnonzero(joined)], minlength=len(grammar))
    good &= (counts[partner] == 1) & (found - left <= 4)
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
    good &= owned[partner] == owned[found]
    opens = first == grammar.openings[grammar.rows[found]]
    good &= ~opens & ~grammar.rows_with(grammar.is_word(_ORDERED))[grammar.rows[found]]
    # A word in front that says something of the first alone, or of both, must not become the second's.
    before = np.maximum(first - 1, 0)
    good &= ~grammar.is_pos("ADJ", "NUM", "ADV", "PROPN", at=before) & ~grammar.is_word(
        {"a", "an", "-", "/"}, before
    )
    behind = grammar.next_in_row(found)
    good &= ~grammar.is_word({"-", "/", "of", "alike", "(", "'s", "’s"}, at=behind) & ~grammar.is_pos(
        "PROPN", at=behind
    )
    # "BA in maths or MS in physics", "radio and tune into", "corrupt and hostile to": more is joined.
    lower, anchor = grammar.parses.lower.codes, grammar.next_in_row(before, -1)
    in_phrase = grammar.is_pos("ADP", at=before) & (before < first)
    good &= ~(in_phrase & ((lower[anchor] == lower[found]) | (lower[before] == lower[behind])))
    good &= ~(grammar.is_pos("ADJ", at=found) & grammar.is_pos("ADP", at=behind))
    good &= ~(grammar.is_tag("NN", at=found) & ~has_own & grammar.is_word(_PARTICLES, at=behind))
    # "is a society and the constitution guarantees": the second has a verb of its own.
    good &= ~(
        grammar.is_tag("VBD", "VBZ", "VBP", "MD", at=behind) & (partner >= grammar.roots[grammar.rows[found]])
    )
    # A name of several parts (`the Department of Health and Education`) keeps their order.
    named = grammar.is_name[found]
    titled = grammar.is_word({"of", "for", "the", "by", "&"}, at=before) | grammar.is_pos("NOUN", at=before)
    good &= ~(named & (titled | grammar.is_mark[before]))
    good &= ~(named & grammar.is_pos("NOUN", "VERB", at=behind) & ~grammar.is_verb[behind])
    # `the names Ann and Bea are those of Carl and Dan`: the first belongs to the first.
    pairs_of_names = np.bincount(grammar.rows[joined & grammar.is_name], minlength=len(grammar.parses))
    good &= ~named | (pairs_of_names[grammar.rows[found]] == 1)
    noun_behind = grammar.is_pos("NOUN", at=behind) & grammar.is_pos("NOUN", at=found)
    good &= ~noun_behind & ~grammar.is_tag("VBN", "VBG", at=behind)
    good &= ~_is_fixed(grammar, partner, found) & _are_plain(grammar, partner, found)
    good &= (
        ~grammar.is_tag("JJR", "JJS", at=found)
        & ~grammar.has_child(grammar.is_dep("acl", "acl:relcl"))[found]
    )

    def write(begin: int, inner_end: int, link: int, end: int) -> list[Edit]:
        text = f"{grammar.text(link + 1, end)} {grammar.text(link)} {grammar.text(begin, inner_end)}"
        return [grammar.edit(begin, end, text)]

    return Places("partners_swapped", PHRASE, [(first, found)], (first, partner, left, found), write).where(
        good
    )


def _partners_of_one(grammar: Grammar) -> Places:
    """`his hopes and fears` to `his fears and hopes`: two bare nouns behind one article or owner."""
    found = np.flatnonzero(grammar.is_dep("conj") & grammar.is_pos("NOUN"))
    partner = grammar.parents[found]
    tags = grammar.parses.tags.codes
    good = (found == partner + 2) & (tags[found] == tags[partner]) & grammar.is_pos("NOUN", at=partner)
    good &= grammar.is_word({"and", "or"}, np.maximum(found - 1, 0)) & (grammar.trimmed(found)[1] == found)
    determiner = grammar.next_in_row(partner, -1)
    good &= grammar.is_word(words("the his her its their my our your these those"), determiner)
    good &= (grammar.parents[determiner] == partner) & (determiner < partner)
    good &= np.bincount(grammar.parents[grammar.is_dep("conj")], minlength=len(grammar))[partner] == 1
    good &= ~grammar.rows_with(grammar.is_word(_ORDERED))[grammar.rows[found]]
    behind = grammar.next_in_row(found)
    good &= grammar.is_mark[behind] | grammar.is_pos("VERB", "AUX", "ADP", "ADV", at=behind)
    good &= ~grammar.is_word({"-", "/", "of", "(", "'s", "’s"}, at=behind)
    good &= ~grammar.is_tag("VBN", "VBG", at=behind) & ~grammar.is_lemma({"other"}, found)
    good &= ~_is_fixed(grammar, partner, found) & _are_plain(grammar, partner, found)

    def write(first: int, last: int) -> list[Edit]:
        return [grammar.edit(first, first, grammar.text(last)), grammar.edit(last, last, grammar.text(first))]

    return Places("partners_of_one_swapped", PHRASE, [(partner, found)], (partner, found), write).where(good)


def _names_swapped(grammar: Grammar) -> Places:
    """`with Ann Lee and Bob Dean` to `with Bob Dean and Ann Lee`."""
    links = np.flatnonzero(grammar.is_word({"and"}) & grammar.is_pos("CCONJ"))
    name = grammar.is_name
    left, right = links - 1, grammar.next_in_row(links)
    count = len(grammar)
    begins = np.append(True, ~(name[:-1] & (grammar.rows[1:] == grammar.rows[:-1])))[:count]
    first_of = np.maximum.accumulate(np.where(begins & name, grammar.places, -1))
    ends = np.append(~(name[1:] & (grammar.rows[1:] == grammar.rows[:-1])), True)[:count]
    last_of = np.minimum.accumulate(np.where(ends & name, grammar.places, count)[::-1])[::-1]
    good = name[np.maximum(left, 0)] & name[right] & (right > links)
    first, last = first_of[np.maximum(left, 0)], np.minimum(last_of[right], count - 1)
    first = np.maximum(first, 0)
    before, behind = grammar.next_in_row(first, -1), grammar.next_in_row(last)
    # Two names of two words are those of two persons; one name may be half of a country's, or of a firm's.
    good &= (left - first == 1) & (last - right == 1) & (before < first)
    good &= grammar.is_word(words("with by between of from against for to including under like"), before)
    good &= grammar.is_word(words(". ; )"), behind) | grammar.is_pos("ADP", "AUX", "VERB", at=behind)
    good &= ~grammar.rows_with(grammar.is_word(_ORDERED | {"respective"}))[grammar.rows[links]]
    good &= ~grammar.is_tag("VBN", "VBG", at=behind) & _are_plain(grammar, left, right)

    def write(begin: int, link: int, end: int) -> list[Edit]:
        text = f"{grammar.text(link + 1, end)} {grammar.text(link)} {grammar.text(begin, link - 1)}"
        return [grammar.edit(begin, end, text)]

    return Places("names_swapped", PHRASE, [(first, last)], (first, links, last), write).where(good)


def _which_to_sentence(grammar: Grammar) -> Places:
    """`They took a bus, which left at ten.` to `They took a bus. It left at ten.`"""
    found = np.flatnonzero(grammar.is_word({"which"}) & grammar.is_dep(*SUBJECTS))
    verbs = grammar.parents[found]
    nouns = grammar.parents[verbs]
    rows = grammar.rows[found]
    left, right = grammar.trimmed(verbs)
    good = grammar.is_dep("acl:relcl", at=verbs) & (left == found) & (right == grammar.ends[rows])
    good &= (
        (nouns == found - 2) & grammar.is_comma[np.maximum(found - 1, 0)] & grammar.is_pos("NOUN", at=nouns)
    )
    good &= grammar.is_plain[rows] & (grammar.roots[rows] < nouns)
    good &= grammar.count(grammar.asks, grammar.openings[rows], right) == 1
    good &= ~grammar.rows_with(grammar.is_dep("ccomp", "advcl"))[rows]
    good &= (
        grammar.is_tag("VBD", "VBZ", "VBP", "MD", at=grammar.next_in_row(found)) & ~grammar.is_negated[rows]
    )
    pronouns = np.where(grammar.is_tag("NNS", at=nouns), "They", "It")

    def write(token: int, pronoun: str) -> list[Edit]:
        return [(grammar.stops[token - 2], grammar.stops[token], f". {pronoun}")]

    return Places("which_to_sentence", CLAUSE, [(found - 1, found)], (found, pronouns), write).where(good)


def _list_order(grammar: Grammar) -> Places:
    """`apples, pears and plums` to `apples, plums and pears`: the last two of a list."""
    joined = grammar.is_dep("conj") & grammar.is_pos("NOUN", "PROPN", "ADJ")
    last = np.flatnonzero(joined & grammar.has_child(grammar.is_word({"and", "or"}) & grammar.is_dep("cc")))
    left, right = grammar.trimmed(last)
    link = left
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
    good &= (grammar.parses.pos.codes[item] == grammar.parses.pos.codes[last]) & (begin <= item)
    inner = grammar.is_pos("PUNCT", "VERB", "AUX", "SCONJ", "PRON", "ADP") | grammar.is_dep("advmod", "cc")
    good &= (grammar.count(inner, begin, item) == 0) & (grammar.count(inner, link + 1, last) == 0)
    inner = grammar.is_word(
        words("other others etc more finally even then lastly many several all such same")
    )
    good &= grammar.count(inner | grammar.is_tag("JJS", "PRP$"), link + 1, last) == 0
    good &= ~grammar.rows_with(grammar.is_word(_ORDERED | {"order"}))[grammar.rows[last]]
    behind = grammar.next_in_row(last)
    good &= grammar.is_mark[behind] | grammar.is_pos("VERB", "AUX", "ADP", "PRON", at=behind)
    good &= ~grammar.is_word({"-", "/", "(", "of", "'s", "’s", '"', "”"}, at=behind)
    # `Paris, Texas` and `Berg am Irchel`
    named = grammar.is_name[last] & (grammar.is_comma[behind] | ~grammar.is_mark[behind])
    good &= ~named & ~grammar.is_year[last] & _are_plain(grammar, item, last)

    def write(first: int, inner_end: int, conjunction: int, end: int) -> list[Edit]:
        middle = grammar.between(inner_end, conjunction + 1)
        text = f"{grammar.text(conjunction + 1, end)}{middle}{grammar.text(first, inner_end)}"
        return [grammar.edit(first, end, text)]

    return Places("list_reordered", PHRASE, [(begin, last)], (begin, item, link, last), write).where(good)


def _is_fixed(grammar: Grammar, partner: np.ndarray, found: np.ndarray) -> np.ndarray:
    """bool (m,): pairs of words whose order use has fixed: `bread and butter`."""
    pairs = [f"{a} {b}" for a, b in zip(_words(grammar, partner), _words(grammar, found), strict=True)]
    fixed = frozenset(word_list("fixed_pairs"))
    return np.array([pair in fixed for pair in pairs], bool)


def _are_plain(grammar: Grammar, partner: np.ndarray, found: np.ndarray) -> np.ndarray:
    """bool (m,): pairs of words of letters alone, without a capital inside: not `C#`, `VB.Net` or `SQL`."""
    one, other = (
        grammar.parses.forms_at(tokens).where(lambda form: form.isalpha() and form[1:].islower())
        for tokens in (np.maximum(partner, 0), found)
    )
    return one & other


def _words(grammar: Grammar, tokens: np.ndarray) -> list[str]:
    lower = grammar.parses.lower
    return [lower.values[code] for code in lower.codes[tokens].tolist()]


def _located(grammar: Grammar) -> Places:
    """`is a village in Poland` to `is a village located in Poland`."""
    kinds = grammar.is_lemma(_SETTLEMENTS) & grammar.is_pos("NOUN") & grammar.has_child(grammar.is_dep("cop"))
    prepositions = np.flatnonzero(grammar.is_word({"in"}) & grammar.is_dep("case"))
    places = grammar.parents[prepositions]
    nouns = grammar.parents[places]
    good = grammar.is_dep("nmod", at=places) & kinds[nouns] & (prepositions == nouns + 1)
    good &= (places > prepositions) & grammar.is_name[places] & ~grammar.is_time[places]

    def write(token: int) -> list[Edit]:
        return [grammar.put_before(token, "located ")]

    return Places("located_put_in", PHRASE, [(prepositions, prepositions)], (prepositions,), write).where(
        good
    )
