"""Replace discourse markers by others of their class: `however` by `nevertheless`.

AugCSE's DiscourseMarkerSubstitution. Every marker found is replaced by another of its class, drawn evenly.
The list is this project's (`resources/words/discourse_markers.txt`), after the classes of the Penn Discourse
Treebank; a class also keeps to one kind of grammar, so that a conjunction never stands for an adverb.

Differences from the original: markers of several words are found too (there only the 27 of one word
can match), and where they stand is looked at: an adverb counts beside a comma, a conjunction before a
clause, and what only opens a clause (`that said`) is put in nowhere else; ambiguous ones (`while`, `since`,
`once`) are put in but never taken out; the original's one seed for all sentences is the sentence's own.
"""

from functools import lru_cache

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import Augmentation, Resources, prepared, with_digests
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import NoParameters
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.words import (
    Matches,
    PhraseTable,
    Words,
    character_after,
    is_any,
    last_mark_before,
    lower_strings,
    next_words,
    word_edits,
)
from augment_cli.resources import word_list_digests, word_table

LIST = "discourse_markers"
# `because of`: a marker of its own, or none.
_NOT_BEFORE = {
    "because": {"of", "what", "why", "how", "who"},
    "despite": {"that"},
    "though": {"not"},
    "although": {"not"},
}
# "it is just because he left", "as though": no clause begins.
_NOT_BEHIND = {
    "though": {"as", "even"},
    "because": {"is", "was", "just", "only", "merely", "simply", "partly", "mainly", "largely", "not", "and"},
}


@lru_cache(maxsize=1)
def _markers() -> tuple[PhraseTable, tuple[tuple[str, ...], ...], list[list[list[str]]]]:
    """Table, rows, and the others of each marker's class that can stand without a comma, at one, in front."""
    rows = word_table(LIST)
    others = [[row for row in rows if row[1] == own[1] and row[0] != own[0]] for own in rows]
    fits = [
        [[marker for marker, _, kind in group if kind not in unfit] for group in others]
        for unfit in (("comma", "opening"), ("opening",), ())
    ]
    return PhraseTable([row[0] for row in rows]), rows, fits


def usable(words: Words, matches: Matches) -> tuple[np.ndarray, np.ndarray]:
    """bool (m,): whether each match is a marker there; int (m,): 1 where set off by a comma, 2 in front."""
    _, rows, _ = _markers()
    kinds = np.array([row[2] for row in rows])[matches.phrases]
    after, before = character_after(words, matches.last), last_mark_before(words, matches.first)
    opens = (words.positions[matches.first] == 0) | is_any(before, ',;:(—–“"')
    comma = is_any(after, ",") & opens
    ends = is_any(after, ".;!?)") & is_any(before, ",")
    kept = np.isin(kinds, ("comma", "opening")) & (comma | ends)
    kept |= kinds == "bare"
    kept |= (kinds == "clause") & is_any(after, " ")
    following = next_words(words, matches.last)
    leading = lower_strings(words, np.maximum(matches.first - 1, 0))
    for index, number in enumerate(matches.phrases.tolist()):
        behind, marker = following[index] or "", rows[number][0]
        if behind in _NOT_BEFORE.get(marker, ()):
            kept[index] = False
        if words.positions[matches.first[index]] and leading[index] in _NOT_BEHIND.get(marker, ()):
            kept[index] = False
        if kinds[index] == "clause" and not behind:  # "nice , though ."
            kept[index] = False
    in_front = comma & ~is_any(before, ",")
    return kept, (comma | ends).astype(np.int64) + in_front


def _run(parameters: NoParameters, resources: Resources, rows: Rows) -> Outcome:
    table, _, fits = _markers()
    words = Words.of(rows.code_points)
    matches = table.find(words)
    kept, places = usable(words, matches)
    matches, places = matches.where(kept), places[kept]
    at = words.rows[matches.first]
    draws = uniform(resources.key("discourse-marker"), rows.row_ids[at], words.positions[matches.first])
    chosen = []
    for number, place, draw in zip(matches.phrases.tolist(), places.tolist(), draws.tolist(), strict=True):
        choices = fits[place][number]
        chosen.append(choices[int(draw * len(choices))] if choices else None)
    found = pa.array(chosen, pa.string())
    matches, strings = matches.where(found.is_valid().to_numpy(zero_copy_only=False)), found.drop_null()
    strings = word_edits.in_case_of_first(words, matches.first, strings)
    spans = words.flat_starts[matches.first], words.flat_ends[matches.last]
    edits = word_edits.edits_of(words, words.rows[matches.first], *spans, strings)
    return Outcome(edits, word_edits.reasons_without(words, matches.first))


DISCOURSE_MARKER = Augmentation(
    name="discourse-marker",
    version=5,
    kind="positive",
    paper="Tang et al. 2022, AugCSE (DiscourseMarkerSubstitution)",
    languages=("en",),
    prepare=prepared(_run),
    resolve=with_digests(lambda: word_list_digests(LIST)),
    examples=("augment-cli discourse-marker", "augment-cli discourse-marker --draws 3"),
)
