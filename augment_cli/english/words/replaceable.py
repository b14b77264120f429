"""Which words may be replaced: by themselves, and by a wider noun.

None that means something only together with its neighbours. A wider noun leaves a sentence true outside
negations, quantifiers and conditions (MacCartney and Manning 2007, Natural logic for textual inference): in
the scope of `no`, `every`, `if`, `without` or a superlative the direction turns round, or is lost.
"""

from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.english import LISTS
from augment_cli.english.words import PhraseTable, Words
from augment_cli.english.words.readings import entry_numbers, token_of_each_word
from augment_cli.resources import load_collocations, word_list
from augment_cli.resources.wordnet import NOUN, TAGS, VERB, load_wordnet
from augment_cli.syntax.parses import ParseRows
from augment_cli.text.spans import ranges
from augment_cli.text.untouched import has_gap, is_quoted

# A pair of neighbours met so much more often than chance would have it, and so often, is one expression.
_LEAST_RATIO, _LEAST_OFTEN = 60.0, 25
_NOMINAL = frozenset({"NOUN", "PROPN", "ADJ", "NUM"})


@lru_cache(maxsize=1)
def _expressions() -> PhraseTable:
    """WordNet's entries of several words, inflected: verbs in the first word, nouns in either end."""
    wordnet, numbers = load_wordnet(), entry_numbers()
    forms: dict[int, list[str]] = {}
    for entry, form in zip(wordnet.form_entries.tolist(), wordnet.forms.to_pylist(), strict=True):
        forms.setdefault(entry, []).append(form)
    phrases = []
    for lemma, part in numbers:
        if " " in lemma:
            words = lemma.split(" ")
            phrases.append(lemma)
            for place in {VERB: [0], NOUN: [0, len(words) - 1]}.get(part, []):
                inflected = forms.get(numbers.get((words[place], part), -1), [])
                phrases += [" ".join([*words[:place], form, *words[place + 1 :]]) for form in inflected]
    return PhraseTable([*phrases, *word_list("fixed_phrases")])


def may_be_replaced(words: Words, parses: ParseRows | None) -> np.ndarray:
    """bool (N,): words outside quotation marks, expressions, compounds, titles and texts with gaps."""
    if not len(words):
        return np.zeros(0, bool)
    free = ~has_gap(words.texts)[words.rows] & ~is_quoted(words.texts)[words.flat_starts]
    matches = _expressions().find(words)
    free[ranges(matches.first, matches.last - matches.first + 1)] = False
    free &= ~_in_collocation(words)
    nominal, noun = np.ones(len(words), bool), np.zeros(len(words), bool)
    if parses is not None:
        tokens, is_token = token_of_each_word(words, parses)
        nominal = ~is_token | parses.pos.among(_NOMINAL)[tokens]
        noun = is_token & parses.pos.among({"NOUN", "PROPN"})[tokens]
    return free & ~(nominal & _beside(words, _is_capital(words))) & ~(noun & _beside(words, noun))


def _is_capital(words: Words) -> np.ndarray:
    """bool (N,): words with a capital of their own; that at a beginning tells nothing."""
    codes, distinct = words.lower
    first_person = pc.match_substring_regex(distinct, r"^i(?:$|['’])").to_numpy(zero_copy_only=False)
    return words.has_capital & (words.positions > 0) & ~first_person[codes]


def _beside(words: Words, mask: np.ndarray) -> np.ndarray:
    """bool (N,): words with one of a mask directly before or behind them."""
    joined = words.follows_space
    before = np.append(False, mask[:-1]) & joined
    behind = np.append(mask[1:] & joined[1:], False)
    return before | behind


def _in_collocation(words: Words) -> np.ndarray:
    """bool (N,): content words of pairs that stand together far more often than chance would have it."""
    table = load_collocations()
    codes, distinct = words.lower
    names = distinct.to_pylist()
    known = np.array([table.numbers.get(word, -1) for word in names], np.int64)[codes]
    grammar = np.isin(names, list(word_list("function_words")))[codes]
    pair = words.follows_space.copy()
    pair[0] = False
    pair[1:] &= (known[1:] >= 0) & (known[:-1] >= 0) & ~grammar[1:] & ~grammar[:-1]
    second = np.flatnonzero(pair)
    together = table.together(known[second - 1], known[second])
    chance = table.counts[known[second - 1]] * table.counts[known[second]] / table.counts.sum()
    second = second[(together >= _LEAST_OFTEN) & (together > _LEAST_RATIO * chance)]
    found = np.zeros(len(words), bool)
    found[second] = found[second - 1] = True
    return found


_TURNING_TAGS = frozenset({"JJR", "JJS", "RBR", "RBS"})
_COMPARED = TAGS["JJR"] | TAGS["JJS"] | TAGS["RBR"] | TAGS["RBS"]
_DETERMINERS = frozenset({"det", "poss", "nmod:poss", "nummod", "predet", "det:predet"})
_DEEPEST = 40  # steps from a word to its root


def entails_wider(words: Words, parses: ParseRows | None) -> np.ndarray:
    """bool (N,): words in whose place a wider noun leaves the sentence true; by texts without a parse."""
    turning = words.among(
        pa.array(sorted(LISTS["turning_clauses"] | LISTS["turning_heads"] | LISTS["turning_objects"]))
    ) | words.among(_compared())
    asks = np.zeros(len(words.counts), bool)
    places = np.flatnonzero(words.texts.values == ord("?"))
    asks[np.searchsorted(words.texts.offsets, places, "right") - 1] = True
    kept = ~asks[words.rows]
    if parses is None:
        return kept & (np.bincount(words.rows, turning, len(words.counts)) == 0)[words.rows]
    tokens, is_token = token_of_each_word(words, parses)
    if not len(parses.starts):
        return kept
    result: np.ndarray = kept & is_token & ~(_in_scope(parses) | _is_generic(parses))[tokens]
    return result


@lru_cache(maxsize=1)
def _compared() -> pa.StringArray:
    """Superlatives and comparatives, for texts without a parse."""
    wordnet = load_wordnet()
    return pc.unique(wordnet.forms.filter(pa.array(wordnet.form_bits & _COMPARED > 0)))


def _in_scope(parses: ParseRows) -> np.ndarray:
    """bool (T,): tokens below what a word turns the direction of."""
    parents, verbs, lower = parses.parents, parses.pos.among({"VERB"}), parses.lower
    clause = np.flatnonzero(lower.among(LISTS["turning_clauses"]))
    for _ in range(_DEEPEST):
        clause = np.where(verbs[clause], clause, parents[clause])
    scope = lower.among(LISTS["turning_objects"])
    scope[clause] = True
    head = lower.among(LISTS["turning_heads"]) | parses.tags.among(_TURNING_TAGS)
    # "so" and "first" of a verb say why and when.
    head &= ~(parses.deps.among({"advmod"}) & verbs[parents])
    head |= parses.tags.among({"CD"}) & parses.deps.among({"nummod"})
    scope[parents[np.flatnonzero(head)]] = True
    # "the most powerful hurricane": what compares an adjective compares its noun.
    adjectives = np.flatnonzero(scope & parses.deps.among({"amod"}) & parses.pos.among({"ADJ"}))
    scope[parents[adjectives]] = True
    for _ in range(_DEEPEST):
        wider = scope | scope[parents]
        if (wider == scope).all():
            break
        scope = wider
    return scope


def _is_generic(parses: ParseRows) -> np.ndarray:
    """bool (T,): bare plurals that a clause is about: `Wolves hunt in packs` is said of all of them."""
    determined = np.zeros(len(parses.starts), bool)
    determined[parses.parents[np.flatnonzero(parses.deps.among(_DETERMINERS))]] = True
    subject = parses.deps.among({"nsubj", "nsubj:pass", "nsubjpass"})
    # "the wolf and the bear": joined to a subject it is one.
    joined = parses.deps.among({"conj"})
    subject |= joined & subject[parses.parents]
    return ~determined & subject & parses.tags.among({"NNS", "NN"})
