"""Replace every adjective by its antonym: `a cheap car` to `an expensive car`.

AugCSE's SentenceAdjectivesAntonymsSwitch. Which words are adjectives says the parse; the antonyms are those
of `augment-cli antonym`, which goes by WordNet alone and takes adverbs too.

Differences from the original: the antonym is that of the most frequent sense that has one, instead of the
first sense of the first synset; comparatives and superlatives are inflected (`bigger` to `smaller`); names,
parts of words with a hyphen, and measures (`ten years old`) stay; `a` and `an` follow; spacing and case
survive.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import Augmentation
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.english.clauses.clause_rules import by_rule, distinct, put
from augment_cli.english.clauses.constituents import Constituents
from augment_cli.english.words import lexical
from augment_cli.english.words.lexical import antonyms
from augment_cli.english.words.readings import readings
from augment_cli.english.words.word_case import begins_with_vowel_sound
from augment_cli.resources.wordnet import TAGS, load_wordnet
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.tree import words
from augment_cli.text.edit_list import EditList
from augment_cli.text.letter_case import AS_IT_IS, case_of, in_case

_BE = words("am is are was were be been")
_TAGS = ("JJ", "JJR", "JJS")
_ARTICLES = frozenset({"a", "an"})
# "due to", "as opposed to": no adjectives that have an opposite.
_FIXED = words("due opposed such own")
# "ten years old", "six feet tall": nobody is ten years new.
MEASURES = words(
    "year years month months week weeks day days hour hours minute minutes foot feet inch inches mile miles "
    "metre metres meter meters kilometre kilometres kilometer kilometers m km cm mm ft"
)


@lru_cache(maxsize=1)
def _opposites() -> dict[str, dict[str, str]]:
    """For JJ, JJR and JJS: form of an adjective to that of its antonym."""
    wordnet, relation, table = load_wordnet(), antonyms(), readings()
    has = np.diff(relation.offsets) > 0
    tables = {}
    for place, tag in enumerate(TAGS):
        if tag in _TAGS:
            own = table.by_tag[place]
            known = np.flatnonzero((own >= 0) & has[own])
            targets = relation.targets[relation.offsets[own[known]]]
            forms = table.spellings.take(pa.array(known)).to_pylist()
            tables[tag] = dict(zip(forms, wordnet.forms.take(pa.array(targets)).to_pylist(), strict=True))
    return tables


@dataclass(frozen=True)
class AdjectiveParameters:
    """Parameters of the adjectives' antonyms."""

    place: str = parameter(
        "any",
        "which adjectives: any; predicate, those that is, was and the like say of the subject",
        choices=("any", "predicate"),
        later=True,
    )


def _replace(
    view: ClauseView, rows: np.ndarray, reasons: np.ndarray, edits: EditList, predicate: bool
) -> None:
    parses, spans = view.parses, Constituents(view)
    reasons[rows] = Reason.NO_ELIGIBLE_TOKEN
    tags = parses.tags
    maybe = np.flatnonzero(tags.among(_TAGS) & parses.pos.among({"ADJ"}))
    maybe = maybe[~_hyphenated(view, spans, maybe)]
    before = np.maximum(maybe - 1, 0)
    measured = parses.lower_at(before).among(MEASURES) & (view.rows[before] == view.rows[maybe])
    # "in general", "at large": an adjective between a preposition and no noun.
    behind = view.behind(maybe)
    alone = parses.pos.among({"ADP"})[before] & (before < maybe)
    alone &= ~parses.pos.among({"NOUN", "PROPN", "ADJ", "NUM", "CCONJ"})[behind] & ~spans.is_hyphen[behind]
    maybe = maybe[~measured & ~alone & ~parses.lower_at(maybe).among(_FIXED)]
    if predicate:
        before = np.maximum(maybe - 1, 0)
        before -= parses.lower_at(before).among(_ARTICLES | {"not"}) & (before > 0)
        maybe = maybe[parses.lower_at(before).among(_BE) & (view.rows[before] == view.rows[maybe])]
    forms = parses.forms_at(maybe)
    opens = spans.opens(maybe)
    tables = _opposites()
    pairs, of = distinct(forms.codes, tags.codes[maybe])
    spelled = [(forms.values[form], tables[tags.values[tag]]) for form, tag in pairs]
    new = [
        in_case(table[form.lower()], case_of(form)) if form.lower() in table else None
        for form, table in spelled
    ]
    has_opposite = np.array([text is not None for text in new], bool)[of]
    # A capital inside the sentence makes it part of a name.
    plain = forms.map(case_of, np.int64) == AS_IT_IS
    chosen = np.flatnonzero(has_opposite & (plain | opens))
    tokens, texts = maybe[chosen], [new[number] or "" for number in of[chosen].tolist()]
    put(edits, view.rows[tokens], parses.starts[tokens], parses.ends[tokens], texts)
    _adapt_articles(view, tokens, texts, edits)


def _hyphenated(view: ClauseView, spans: Constituents, tokens: np.ndarray) -> np.ndarray:
    """bool (m,): words joined to another by a hyphen or a slash."""
    parses, last = view.parses, len(view.roles) - 1
    before, behind = np.maximum(tokens - 1, 0), np.minimum(tokens + 1, last)
    rows = view.rows[tokens]
    left = spans.is_hyphen[before] & ~parses.whitespace[before] & (view.rows[before] == rows)
    right = spans.is_hyphen[behind] & ~parses.whitespace[tokens] & (view.rows[behind] == rows)
    return left | right


def _adapt_articles(view: ClauseView, tokens: np.ndarray, texts: list[str], edits: EditList) -> None:
    """Let `a` and `an` in front of new words (m,) fit them."""
    parses = view.parses
    before = tokens - 1
    same = (before >= 0) & (view.rows[np.maximum(before, 0)] == view.rows[tokens])
    index = np.flatnonzero(same)
    index = index[parses.whitespace[before[index]] & parses.tags.among({"DT"})[before[index]]]
    forms = parses.forms_at(before[index])
    articles, new = [], []
    for place, code in zip(index.tolist(), forms.codes.tolist(), strict=True):
        article = forms.values[code]
        if article.lower() not in _ARTICLES:
            continue
        wanted = "an" if begins_with_vowel_sound(texts[place]) else "a"
        if article.lower() != wanted:
            articles.append(before[place])
            new.append(article[0] + wanted[1:])
    places = np.array(articles, np.int64)
    put(edits, view.rows[places], parses.starts[places], parses.ends[places], new)


ADJECTIVE_ANTONYM = Augmentation(
    name="adjective-antonym",
    version=2,
    kind="negative",
    paper="Tang et al. 2022, AugCSE (SentenceAdjectivesAntonymsSwitch); WordNet 3.0",
    needs=frozenset({"parses"}),
    languages=("en",),
    parameters=AdjectiveParameters,
    prepare=lambda parameters, resources: by_rule(
        partial(_replace, predicate=parameters.place == "predicate")
    ),
    resolve=lexical.resolve,
    examples=("augment-cli adjective-antonym", "augment-cli adjective-antonym --place predicate"),
    is_random=False,
    turns="polarity",
    meaning="altered",
    entailment=("other", "an adjective is turned into its opposite"),
)
