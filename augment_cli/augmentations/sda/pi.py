"""Positives: put in, or repeat, a punctuation mark where the syntax allows it (punctuation insertion).

Mao et al. 2022 (SDA), section PI. The paper's text draws one rule at random, its Algorithm 1 takes the first
that applies, and the authors' later code has two rules of another kind: all three are modes. As in the
paper, a mark behind the subject, or repeated, is ungrammatical: some two thirds of the changed rows.
`--subject-weight 0 --repeat-weight 0` keeps to places where a mark may stand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import Augmentation, Resources
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.errors import UsageError
from augment_cli.syntax.clauses import ClauseView
from augment_cli.syntax.sites import PunctuationSites
from augment_cli.syntax.tree import Role
from augment_cli.text.spans import EditList

RULES = ("clause", "subject_comma", "subject_quotes", "repeat", "final", "wrap")
_CLAUSE, _COMMA, _QUOTES, _REPEAT, _FINAL, _WRAP, _NONE = (*range(6), -1)

_TAIL_MARKS = (",", ".", ";", "!")


@dataclass(frozen=True)
class PunctuationInsertionParameters:
    """Parameters of PI; the weights are those of one draw among the four rules."""

    mode: str = parameter(
        "recommended",
        "recommended: draw one rule; first_match: the paper's Algorithm 1; v3: the authors' later code",
        choices=("recommended", "first_match", "v3"),
    )
    clause_weight: float = parameter(0.45, "weight of: comma at a subordinate clause", minimum=0)
    subject_weight: float = parameter(0.4, "weight of: comma or quotation marks at the subject", minimum=0)
    repeat_weight: float = parameter(0.1, "weight of: repeat a mark inside the sentence", minimum=0)
    final_weight: float = parameter(0.05, "weight of: exclamation mark at the end", minimum=0)
    quote_share: float = parameter(
        0.5, "share of the subject rule that takes quotation marks instead of a comma", minimum=0, maximum=1
    )


class PunctuationInsertion:
    """PI with its parameters: a pure function of the rows."""

    def __init__(self, parameters: PunctuationInsertionParameters, resources: Resources) -> None:
        self._parameters = parameters
        names = ("clause", "subject", "repeat", "final")
        weights = np.array([getattr(parameters, f"{name}_weight") for name in names])
        if not weights.sum() > 0:
            raise UsageError("--clause-weight … --final-weight: at least one must be above 0")
        self._bounds = np.cumsum(weights)[:-1] / weights.sum()
        self._key = resources.key("pi")

    def __call__(self, rows: Rows) -> Outcome:
        """Insert punctuation into some rows."""
        if rows.parses is None:
            raise ValueError("punctuation insertion needs the parses of its rows")
        count = len(rows)
        edits = EditList()
        if not len(rows.parses.starts):
            return Outcome(
                edits.edits(), np.full(count, Reason.NO_TOKEN, object), {"rule": pa.nulls(count, pa.string())}
            )
        view = ClauseView.of(rows.parses)
        draws = [uniform(self._key, rows.row_ids, np.full(count, number)) for number in range(4)]
        modes = {"recommended": self._recommended, "first_match": self._first_match, "v3": self._v3}
        rules, reasons = modes[self._parameters.mode](view, draws, edits)
        reasons[np.diff(rows.parses.offsets) == 0] = Reason.NO_TOKEN
        names = pa.array([*RULES, None], pa.string()).take(pa.array(np.where(rules < 0, len(RULES), rules)))
        return Outcome(edits.edits(), reasons, {"rule": names})

    def _recommended(
        self, view: ClauseView, draws: list[np.ndarray], edits: EditList
    ) -> tuple[np.ndarray, np.ndarray]:
        sites = PunctuationSites(view)
        drawn = np.searchsorted(self._bounds, draws[0], side="right")
        quoted = draws[1] < self._parameters.quote_share
        wanted = np.choose(drawn, [_CLAUSE, np.where(quoted, _QUOTES, _COMMA), _REPEAT, _FINAL])
        applies = _applicable(sites)
        fires = applies[wanted, np.arange(len(wanted))]
        rules = np.where(fires, wanted, _NONE)
        _apply(sites, rules, edits, sites.repeated)
        return rules, np.full(len(rules), Reason.RULE_DOES_NOT_APPLY, object)

    def _first_match(
        self, view: ClauseView, draws: list[np.ndarray], edits: EditList
    ) -> tuple[np.ndarray, np.ndarray]:
        sites = PunctuationSites(view)
        clause, comma, quotes, _, _ = _applicable(sites)
        repeat = sites.repeated_literally >= 0
        quoted = quotes & ((draws[1] < self._parameters.quote_share) | ~comma)
        ends_in_mark = sites.final[0] >= 0
        conditions = [clause, quoted, comma, repeat, ends_in_mark]
        rules = np.select(conditions, [_CLAUSE, _QUOTES, _COMMA, _REPEAT, _FINAL], _NONE)
        _apply(sites, rules, edits, sites.repeated_literally)
        return rules, np.full(len(rules), Reason.NO_RULE_APPLIES, object)

    def _v3(
        self, view: ClauseView, draws: list[np.ndarray], edits: EditList
    ) -> tuple[np.ndarray, np.ndarray]:
        """Subject or clause, the other if that changes nothing, else the end of the sentence."""
        parses = view.parses
        first, last = _v3_subject(view)
        before = _v3_clause(view)
        has_subject, has_clause = first >= 0, before >= 0
        prefers_subject = draws[0] < 0.5
        by_subject = has_subject & (prefers_subject | ~has_clause)
        quoted = draws[1] < 0.5
        rules = np.select(
            [by_subject & quoted, by_subject, has_clause, np.diff(parses.offsets) > 0],
            [_QUOTES, _COMMA, _CLAUSE, np.where(draws[2] < 0.5, _WRAP, _FINAL)],
            _NONE,
        )
        rows = np.flatnonzero(rules == _QUOTES)
        edits.insert(rows, parses.starts[first[rows]], "'")
        edits.insert(rows, parses.ends[last[rows]], "'")
        rows = np.flatnonzero(rules == _COMMA)
        edits.insert(rows, parses.ends[last[rows]], ",")
        rows = np.flatnonzero(rules == _CLAUSE)
        edits.insert(rows, parses.ends[before[rows] - 1], ",")
        marks, ends = PunctuationSites(view).final
        rows = np.flatnonzero(rules == _WRAP)
        edits.insert(rows, parses.starts[parses.offsets[rows]], "'")
        edits.insert(rows, parses.ends[ends[rows]], "'")
        rows = np.flatnonzero(rules == _FINAL)
        codes = np.minimum((draws[3][rows] * len(_TAIL_MARKS)).astype(np.int64), len(_TAIL_MARKS) - 1)
        has_mark = marks[rows] >= 0
        tokens = np.where(has_mark, marks[rows], ends[rows])
        starts = np.where(has_mark, parses.starts[tokens], parses.ends[tokens])
        edits.replace(rows, starts, parses.ends[tokens], _TAIL_MARKS, codes)
        return rules, np.full(len(rules), Reason.SAME_TEXT, object)


def _applicable(sites: PunctuationSites) -> np.ndarray:
    """bool (5, n): whether clause, comma, quotes, repeat and final find a place in each row."""
    return np.array(
        [
            sites.clause >= 0,
            sites.subject_ends >= 0,
            sites.quotations[0] >= 0,
            sites.repeated >= 0,
            sites.final[1] >= 0,
        ]
    )


def _apply(sites: PunctuationSites, rules: np.ndarray, edits: EditList, repeated: np.ndarray) -> None:
    """Edits of the rules that fire; `repeated` holds the tokens of rule 3."""
    parses = sites.view.parses
    for language, mine in sites.view.by_language:
        if not mine.any():
            continue
        for rule, tokens in ((_CLAUSE, sites.clause), (_COMMA, sites.subject_ends)):
            rows = np.flatnonzero(mine & (rules == rule))
            edits.insert(rows, parses.ends[tokens[rows]], language.comma)
        first, last = sites.quotations
        rows = np.flatnonzero(mine & (rules == _QUOTES))
        edits.insert(rows, parses.starts[first[rows]], language.opening)
        edits.insert(rows, parses.ends[last[rows]], language.closing)
        marks, ends = sites.final
        rows = np.flatnonzero(mine & (rules == _FINAL))
        _exclaim(sites, rows, marks[rows], ends[rows], language.exclamation, edits)
    rows = np.flatnonzero(rules == _REPEAT)
    tokens = repeated[rows]
    words = parses.forms_at(tokens)
    edits.replace(rows, parses.ends[tokens], parses.ends[tokens], words.values, words.codes)


def _exclaim(
    sites: PunctuationSites,
    rows: np.ndarray,
    marks: np.ndarray,
    ends: np.ndarray,
    exclamation: str,
    edits: EditList,
) -> None:
    """Any final mark becomes an exclamation mark; one more where one stands; appended where there is none."""
    parses = sites.view.parses
    has_mark = marks >= 0
    tokens = np.where(has_mark, marks, ends)
    already = parses.forms_at(tokens).where(lambda form: form[-1:] in "!！")
    keep = already | ~has_mark
    starts = np.where(keep, parses.ends[tokens], parses.starts[tokens])
    edits.replace(rows, starts, parses.ends[tokens], [exclamation], np.zeros(len(rows), np.int64))


def _v3_subject(view: ClauseView) -> tuple[np.ndarray, np.ndarray]:
    """First and last token of the v3 subject span, each located by its string, as the released code does."""
    # The span is the noun and its direct children, where the root's leftmost child is the subject.
    count, rows = len(view.parses), view.rows
    leftmost = view.first(view.of_root)
    fits = np.flatnonzero((leftmost >= 0) & (view.roles[leftmost] == Role.SUBJECT))
    first, last = np.full(count, -1), np.full(count, -1)
    subject = np.full(count, -1)
    subject[fits] = leftmost[fits]
    positions = np.arange(len(rows))
    inside = (view.parents == subject[rows]) | (positions == subject[rows])
    tokens = np.flatnonzero(inside)
    first[rows[tokens[::-1]]] = tokens[::-1]
    last[rows[tokens]] = tokens
    forms = view.parses.forms.codes
    for edge in (first, last):
        wanted = np.full(count, -1)
        wanted[fits] = forms[edge[fits]]
        edge[:] = np.where(edge >= 0, view.first(forms == wanted[rows]), -1)
    return first, last


def _v3_clause(view: ClauseView) -> np.ndarray:
    """The leftmost direct child of the first subordinate clause's verb, unless it opens the sentence."""
    heads = view.first(view.clauses)
    rows = view.rows
    children = (view.parents == heads[rows]) & (np.arange(len(rows)) != heads[rows])
    leftmost = view.first(children)
    is_inside = (leftmost >= 0) & (leftmost > view.parses.offsets[:-1])
    return np.where(is_inside, leftmost, -1)


PI = Augmentation(
    name="pi",
    version=1,
    kind="positive",
    paper="Mao et al. 2022, SDA: Simple Discrete Augmentation for Contrastive Sentence Representation",
    needs=frozenset({"parses"}),
    parameters=PunctuationInsertionParameters,
    prepare=PunctuationInsertion,
    columns=(pa.field("rule", pa.string()),),
    examples=(
        "augment-cli pi",
        "augment-cli pi --mode first_match --name pi-first",
        "augment-cli pi --subject-weight 0 --repeat-weight 0",
    ),
)
