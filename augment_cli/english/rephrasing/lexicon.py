"""Phrases and words replaced by what says the same, from lists."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from augment_cli.english import LISTS
from augment_cli.english.inflection import inflected, plural
from augment_cli.english.rephrasing import PHRASE, WORD, Edit, Places
from augment_cli.english.rephrasing.grammar import Grammar
from augment_cli.english.words import Trie
from augment_cli.english.words.word_edits import begins_with_vowel_sound
from augment_cli.resources import word_list, word_table
from augment_cli.syntax.tree import form_of_tag, words

PHRASES, SYNONYMS = "rephrase_phrases", "rephrase_synonyms"
Draw = Callable[[np.ndarray], np.ndarray]
Synonyms = dict[tuple[str, str], tuple[str, ...]]
_TAGS = {
    "NOUN": frozenset({"NN", "NNS"}),
    "VERB": frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ"}),
    "ADJ": frozenset({"JJ"}),
    "ADV": frozenset({"RB"}),
}
_ORDINAL = words("first second third last next same best worst least most much few little well")
_QUANTITIES = words("many several various much different")
_QUOTES = words("\" “ ‘ ' `` «")
_COMPARED = words("as than enough")


@dataclass(frozen=True)
class Entry:
    """One line of the list of phrases."""

    pattern: tuple[str, ...]  # words, or <POS>
    # what may stand there instead; <POS> repeats the pattern's words in order
    replacements: tuple[tuple[str, ...], ...]
    # coarse tags, fine tags or relations of the first word, joined by "/"; with "-" in front, of the word
    # before it; "!word": what must not follow; or ""
    condition: str


@lru_cache(maxsize=1)
def entries() -> tuple[Entry, ...]:
    """The shipped list of phrases."""
    return tuple(
        Entry(
            tuple(row[0].split()), tuple(tuple(text.split()) for text in row[1].split("|")), "".join(row[2:])
        )
        for row in word_table(PHRASES)
    )


class _Patterns(Trie):
    """All patterns at once, of words and parts of speech."""

    def find(self, grammar: Grammar) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """First token, last token and number of every pattern that is found, overlapping ones included."""
        parses = grammar.parses
        exact = parses.forms.map(lambda form: self.symbols.get(form, -1), np.int64)
        slots = parses.pos.map(lambda pos: self.symbols.get(f"<{pos}>", -1), np.int64)
        slots[grammar.is_year] = self.symbols.get("<NUM>", -1)  # "the 1980s", a noun to the parser
        begins, first = exact.copy(), grammar.filled()
        opening = parses.lower_at(first).map(lambda form: self.symbols.get(form, -1), np.int64)
        begins[first] = np.where(exact[first] >= 0, exact[first], opening)
        follows = np.append(False, parses.rows[1:] == parses.rows[:-1])
        return self.matches(begins, (exact, slots), follows)


def phrases(grammar: Grammar, draw: Draw) -> Places:
    """Phrases of the list, the longest at each place: `because of the storm` to `due to the storm`."""
    known = entries()
    first, last, numbers = _trie(PHRASES).find(grammar)
    before, behind = grammar.next_in_row(first, -1), grammar.next_in_row(last)
    inside = before < first

    def of(test: Callable[[Entry], bool]) -> np.ndarray:
        return np.array([test(entry) for entry in known], bool)[numbers]

    good = ~(inside & grammar.is_word(LISTS["bound_before"] | _QUOTES, before))
    good &= ~grammar.is_word({"-", "of"}, behind) | (behind == last)
    good &= ~grammar.is_word(_COMPARED, behind)
    named = grammar.is_name[last] & grammar.is_name[behind] & (behind > last)
    good &= ~named | of(lambda entry: entry.pattern[-1].startswith("<"))
    counted = of(lambda entry: any(text[0] == "a" for text in entry.replacements))
    bound = grammar.is_pos("DET", "ADJ", "NUM", at=before) | grammar.is_tag("PRP$", "POS", at=before)
    good &= ~(counted & inside & bound)
    # `a great number of his ships`: nothing stands for the "of".
    without_of = of(lambda entry: entry.pattern[-1] == "of" and entry.replacements[0][-1] in _QUANTITIES)
    good &= ~(without_of & grammar.is_pos("DET", "PRON", at=behind))
    # `did not leave because …`: the other conjunction would not be denied.
    causal = of(lambda entry: entry.pattern[0] == "because")
    good &= ~(causal & grammar.is_negated[grammar.rows[first]])
    # "the best of all the plays": one "of" is enough.
    whole = of(lambda entry: entry.pattern[0] in ("all", "half"))
    good &= ~(whole & inside & grammar.is_word(words("of for above after at"), before))
    good &= _conditions(grammar, first, behind, [known[number].condition for number in numbers.tolist()])
    keep = np.flatnonzero(good)
    # Places come by their first token, the longest first: the others at the same place go.
    keep = keep[np.diff(first[keep], prepend=-1) > 0]
    keep = keep[~of(lambda entry: entry.replacements == (("=",),))[keep]]
    first, last, numbers = first[keep], last[keep], numbers[keep]
    article = _article_before(grammar, first)

    def write(begin: int, end: int, number: int, uniform: float, article: int) -> list[Edit]:
        choices = known[number].replacements
        text = _filled(grammar, known[number].pattern, choices[int(uniform * len(choices))], begin)
        return [_with_article(grammar, article, begin, end, text)]

    claim = np.where(article >= 0, article, first)
    return Places("phrase", PHRASE, [(claim, last)], (first, last, numbers, draw(first), article), write)


def _conditions(grammar: Grammar, first: np.ndarray, behind: np.ndarray, wanted: list[str]) -> np.ndarray:
    """bool (m,): places whose entry's condition holds."""
    parses = grammar.parses
    before = grammar.next_in_row(first, -1)
    good = np.ones(len(first), bool)
    for index, condition in enumerate(wanted):
        if not condition:
            continue
        if condition[0] == "!":
            good[index] = parses.lower[int(behind[index])] != condition[1:]
            continue
        token = int(before[index] if condition[0] == "-" else first[index])
        own = {strings[token] for strings in (parses.pos, parses.tags, parses.deps)}
        good[index] = not own.isdisjoint(condition.removeprefix("-").split("/"))
    return good


def _filled(grammar: Grammar, pattern: tuple[str, ...], replacement: tuple[str, ...], first: int) -> str:
    """A replacement with the words of the pattern's slots, in order."""
    slots = (grammar.text(first + place) for place, part in enumerate(pattern) if part.startswith("<"))
    text = " ".join(next(slots) if part.startswith("<") else part for part in replacement)
    return grammar.capital(text.replace(" ,", ",").replace(" .", "."), first)


def _article_before(grammar: Grammar, first: np.ndarray) -> np.ndarray:
    """int64 (m,): the indefinite article directly before each token, or −1."""
    before = grammar.next_in_row(first, -1)
    is_article = grammar.is_word({"a", "an"}, before) & grammar.is_pos("DET", at=before) & (before < first)
    return np.where(is_article, before, -1)


def _with_article(grammar: Grammar, article: int, first: int, last: int, text: str) -> Edit:
    """One edit that puts a text in place of a span, and fits the article in front to it."""
    if article < 0:
        return grammar.edit(first, last, text)
    word = grammar.text(article)
    fitting = word[0] + "n" * begins_with_vowel_sound(text.split(" ")[0])
    if fitting == word:
        return grammar.edit(first, last, text)
    return grammar.edit(article, last, f"{fitting} {text}")


@lru_cache(maxsize=1)
def shipped_synonyms() -> Synonyms:
    """The shipped list of synonyms, and words that are spelled in two ways."""
    table = {(row[0], row[1]): tuple(row[2].split("|")) for row in word_table(SYNONYMS)}
    for pos, name in (("NOUN", "spelled_nouns"), ("VERB", "spelled_verbs"), ("ADJ", "spelled_adjectives")):
        for pair in LISTS[name]:
            one, other = pair.split("/")
            table.setdefault((one, pos), (other,))
            table.setdefault((other, pos), (one,))
    return table


@cache
def form(lemma: str, tag: str) -> str | None:
    """A lemma, maybe of several words, inflected for a Penn tag; None where there is no such form."""
    if tag == "NNS":
        before, space, noun = lemma.rpartition(" ")
        several = plural(noun)
        return None if several is None else before + space + several
    if not tag.startswith("VB") or tag in ("VB", "VBP"):
        return lemma
    verb, space, rest = lemma.partition(" ")
    other = inflected(verb, int(form_of_tag(tag)))
    return None if other is None else other + space + rest


def synonyms(grammar: Grammar, draw: Draw, table: Synonyms) -> Places:
    """Words that have a synonym, outside names, compounds and phrases: `She hurried` to `She rushed`."""
    found = _replaceable(grammar, table)
    parses, article = grammar.parses, _article_before(grammar, found)
    spelled = []
    for token, uniform in zip(found.tolist(), draw(found).tolist(), strict=True):
        choices = table[parses.lemmas[token], parses.pos[token]]
        other = form(choices[int(uniform * len(choices))], parses.tags[token])
        repeated = other is not None and grammar.has_text(token, other)
        # "kids' school": "children" would need another ending.
        owns = parses.tags[min(token + 1, len(grammar) - 1)] == "POS"
        repeated |= owns and (other or "").endswith("s") != grammar.text(token).endswith("s")
        spelled.append(None if repeated else other)
    kept = np.array([text is not None for text in spelled], bool)

    def write(token: int, text: str, article: int) -> list[Edit]:
        return [_with_article(grammar, article, token, token, grammar.capital(text, token))]

    claim = np.where(article >= 0, article, found)
    return Places("synonym", WORD, [(claim, found)], (found, spelled, article), write).where(kept)


def _replaceable(grammar: Grammar, table: Synonyms) -> np.ndarray:
    """int64 (m,): words of a table that stand alone, in small letters but for the first of a row."""
    eligible = np.zeros(len(grammar), bool)
    for pos, tags in _TAGS.items():
        own = {lemma for lemma, kind in table if kind == pos}
        eligible |= grammar.is_lemma(own) & grammar.is_pos(pos) & grammar.is_tag(*tags)
    eligible &= ~grammar.is_dep("fixed", "compound:prt", "flat", "compound", "cc", "goeswith")
    eligible &= ~grammar.has_child(grammar.is_dep("compound:prt", "fixed", "flat"))
    eligible &= ~(grammar.is_dep("amod") & grammar.is_pos("VERB"))
    found = np.flatnonzero(eligible)
    forms, opens = grammar.parses.forms_at(found), found == grammar.openings[grammar.rows[found]]
    small = forms.where(str.islower) | (opens & forms.where(lambda word: word[1:].islower()))
    found = found[small & forms.where(str.isascii)]
    before, behind = grammar.next_in_row(found, -1), grammar.next_in_row(found)
    inside = before < found
    hyphen = grammar.is_word({"-", "/", "–"})
    good = ~hyphen[before] & ~hyphen[behind] & ~grammar.is_word(_QUOTES, at=before)
    good &= ~(grammar.is_word({"so", "as", "how", "too", "not"}, before) & inside)
    good &= ~grammar.is_word(_COMPARED, behind) & ~grammar.is_name[behind]
    good &= ~grammar.is_word({"to"}, behind) | ~grammar.is_word({"used"}, found)
    # "that very day", "the very first"
    ordinal = grammar.is_pos("NOUN", at=behind) | grammar.is_word(_ORDINAL, behind)
    good &= ~(grammar.is_word({"very"}, found) & ordinal)
    # "is required to", "was comprised of": no passive of "need" and of verbs with a preposition says this.
    phrasal = {lemma for (lemma, pos), others in table.items() if pos == "VERB" and " " in others[0]}
    phrasal |= {"require", "possess", "inhabit", "glance", "depart"}
    passive = grammar.is_tag("VBN", at=found) | grammar.is_word({"to"}, behind)
    good &= ~(grammar.is_lemma(phrasal, found) & passive) & ~(grammar.is_name[before] & inside)
    good &= ~(grammar.is_word({"large"}, found) & grammar.is_word({"at"}, before))
    good &= ~_in_fixed_phrase(grammar)[found]
    # "finished eighth": only what one finishes is completed.
    taking = grammar.has_child(grammar.is_dep("obj"))[found] & grammar.is_tag("DT", "PRP$", "NNS", at=behind)
    return found[good & (~grammar.is_lemma({"finish"}, found) | taking)]


@lru_cache(maxsize=2)
def _trie(name: str) -> _Patterns:
    """The trie of the list of phrases, or of the phrases whose words are not to be replaced one by one."""
    if name == PHRASES:
        return _Patterns([entry.pattern for entry in entries()])
    return _Patterns([tuple(phrase.split(" ")) for phrase in word_list(name)])


def _in_fixed_phrase(grammar: Grammar) -> np.ndarray:
    """bool (N,): tokens inside a phrase whose words are not to be replaced one by one."""
    first, last, _ = _trie("fixed_phrases").find(grammar)
    steps = np.bincount(first, minlength=len(grammar) + 1) - np.bincount(last + 1, minlength=len(grammar) + 1)
    return np.cumsum(steps)[:-1] > 0
