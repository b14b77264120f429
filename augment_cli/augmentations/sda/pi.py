"""Positives: put in, or repeat, a punctuation mark, as the paper does: in two rows of three none may stand.

Mao et al. 2022 (SDA), section PI. The paper's text draws one rule at random, its Algorithm 1 takes the first
that applies, and the authors' later code has two rules of another kind: all three are modes. As in the
paper, a mark behind the subject, or repeated, is ungrammatical: some two thirds of the changed rows.
`--subject-weight 0 --repeat-weight 0` keeps to places where a mark may stand.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import Augmentation, Resources, prepared
from augment_cli.contract.draws import uniform
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows, pick
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
    subject_weight: float = parameter(
        0.4,
        "weight of: comma or quotation marks at the subject; with 0 here and for --repeat-weight a mark "
        "stands only where it may",
        minimum=0,
    )
    repeat_weight: float = parameter(0.1, "weight of: repeat a mark inside the sentence", minimum=0)
    final_weight: float = parameter(0.05, "weight of: exclamation mark at the end", minimum=0)
    quote_share: float = parameter(
        0.5, "share of the subject rule that takes quotation marks instead of a comma", minimum=0, maximum=1
    )

    def __post_init__(self) -> None:
        if not (self.weights > 0).any():
            raise UsageError("--clause-weight … --final-weight: at least one must be above 0")

    @property
    def weights(self) -> np.ndarray:
        """Of the rules of clauses, subjects, repeated marks and the end, float64 (4,)."""
        return np.array([self.clause_weight, self.subject_weight, self.repeat_weight, self.final_weight])


def _run(parameters: PunctuationInsertionParameters, resources: Resources, rows: Rows) -> Outcome:
    if rows.parses is None:
        raise ValueError("punctuation insertion needs the parses of its rows")
    count, edits = len(rows), EditList()
    rules, reasons = np.full(count, _NONE), np.full(count, Reason.NO_TOKEN, object)
    if len(rows.parses.starts):
        view, key = ClauseView.of(rows.parses), resources.key("pi")
        draws = [uniform(key, rows.row_ids, np.full(count, number)) for number in range(4)]
        rules, reason = _MODES[parameters.mode](view, draws, edits, parameters)
        reasons[np.diff(rows.parses.offsets) > 0] = reason
    names = pa.array([*RULES, None], pa.string()).take(pa.array(np.where(rules < 0, len(RULES), rules)))
    return Outcome(edits.edits(), reasons, {"rule": names})


def _recommended(
    view: ClauseView, draws: list[np.ndarray], edits: EditList, parameters: PunctuationInsertionParameters
) -> tuple[np.ndarray, str]:
    sites, weights = PunctuationSites(view), parameters.weights
    drawn = np.searchsorted(np.cumsum(weights)[:-1] / weights.sum(), draws[0], side="right")
    quoted = draws[1] < parameters.quote_share
    wanted = np.choose(drawn, [_CLAUSE, np.where(quoted, _QUOTES, _COMMA), _REPEAT, _FINAL])
    fires = _applicable(sites)[wanted, np.arange(len(wanted))]
    rules = np.where(fires, wanted, _NONE)
    _apply(sites, rules, edits, sites.repeated)
    return rules, Reason.RULE_DOES_NOT_APPLY


def _first_match(
    view: ClauseView, draws: list[np.ndarray], edits: EditList, parameters: PunctuationInsertionParameters
) -> tuple[np.ndarray, str]:
    sites = PunctuationSites(view)
    clause, comma, quotes, _, _ = _applicable(sites)
    quoted = quotes & ((draws[1] < parameters.quote_share) | ~comma)
    conditions = [clause, quoted, comma, sites.repeated_literally >= 0, sites.final[0] >= 0]
    rules = np.select(conditions, [_CLAUSE, _QUOTES, _COMMA, _REPEAT, _FINAL], _NONE)
    _apply(sites, rules, edits, sites.repeated_literally)
    return rules, Reason.NO_RULE_APPLIES


def _v3(
    view: ClauseView, draws: list[np.ndarray], edits: EditList, parameters: PunctuationInsertionParameters
) -> tuple[np.ndarray, str]:
    """Subject or clause, the other if that changes nothing, else the end of the sentence."""
    parses = view.parses
    first, last = _v3_subject(view)
    before, (marks, ends) = _v3_clause(view), PunctuationSites(view).final
    has_clause, quoted = before >= 0, draws[1] < 0.5
    by_subject = (first >= 0) & ((draws[0] < 0.5) | ~has_clause)
    rules = np.select(
        [by_subject & quoted, by_subject, has_clause, np.diff(parses.offsets) > 0],
        [_QUOTES, _COMMA, _CLAUSE, np.where(draws[2] < 0.5, _WRAP, _FINAL)],
        _NONE,
    )
    for rule, places, tokens, mark in (
        (_QUOTES, parses.starts, first, "'"),
        (_QUOTES, parses.ends, last, "'"),
        (_COMMA, parses.ends, last, ","),
        (_CLAUSE, parses.ends, before - 1, ","),
        (_WRAP, parses.starts, parses.offsets[:-1], "'"),
        (_WRAP, parses.ends, ends, "'"),
    ):
        rows = np.flatnonzero(rules == rule)
        edits.insert(rows, places[tokens[rows]], mark)
    rows = np.flatnonzero(rules == _FINAL)
    has_mark = marks[rows] >= 0
    tokens = np.where(has_mark, marks[rows], ends[rows])
    starts = np.where(has_mark, parses.starts[tokens], parses.ends[tokens])
    edits.replace(rows, starts, parses.ends[tokens], _TAIL_MARKS, pick(draws[3][rows], len(_TAIL_MARKS)))
    return rules, Reason.SAME_TEXT


_MODES = {"recommended": _recommended, "first_match": _first_match, "v3": _v3}


def _applicable(sites: PunctuationSites) -> np.ndarray:
    """bool (5, n): whether clause, comma, quotes, repeat and final find a place in each row."""
    places = (sites.clause, sites.subject_ends, sites.quotations[0], sites.repeated, sites.final[1])
    return np.array([place >= 0 for place in places])


def _apply(sites: PunctuationSites, rules: np.ndarray, edits: EditList, repeated: np.ndarray) -> None:
    """Edits of the rules that fire; `repeated` holds the tokens of rule 3."""
    parses = sites.view.parses
    (first, last), (marks, ends) = sites.quotations, sites.final
    for language, mine in sites.view.by_language:
        for rule, places, tokens, mark in (
            (_CLAUSE, parses.ends, sites.clause, language.comma),
            (_COMMA, parses.ends, sites.subject_ends, language.comma),
            (_QUOTES, parses.starts, first, language.opening),
            (_QUOTES, parses.ends, last, language.closing),
        ):
            rows = np.flatnonzero(mine & (rules == rule))
            edits.insert(rows, places[tokens[rows]], mark)
        rows = np.flatnonzero(mine & (rules == _FINAL))
        # Any final mark becomes an exclamation mark; one more where one stands; appended where there is none.
        has_mark = marks[rows] >= 0
        tokens = np.where(has_mark, marks[rows], ends[rows])
        keep = parses.forms_at(tokens).where(lambda form: form[-1:] in "!！") | ~has_mark
        starts = np.where(keep, parses.ends[tokens], parses.starts[tokens])
        codes = np.zeros(len(rows), np.int64)
        edits.replace(rows, starts, parses.ends[tokens], [language.exclamation], codes)
    rows = np.flatnonzero(rules == _REPEAT)
    tokens = repeated[rows]
    words = parses.forms_at(tokens)
    edits.replace(rows, parses.ends[tokens], parses.ends[tokens], words.values, words.codes)


def _v3_subject(view: ClauseView) -> tuple[np.ndarray, np.ndarray]:
    """First and last token of the v3 subject span, each located by its string, as the released code does."""
    # The span is the noun and its direct children, where the root's leftmost child is the subject.
    rows, leftmost = view.rows, view.first(view.of_root)
    fits = (leftmost >= 0) & (view.roles[leftmost] == Role.SUBJECT)
    subject = np.where(fits, leftmost, -1)
    inside = (view.parents == subject[rows]) | (np.arange(len(rows)) == subject[rows])
    tokens = np.flatnonzero(inside)
    last = np.full(len(view.parses), -1)
    last[rows[tokens]] = tokens
    forms = view.parses.forms.codes
    first, last = (
        np.where(fits, view.first(forms == np.where(fits, forms[edge], -1)[rows]), -1)
        for edge in (view.first(inside), last)
    )
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
    prepare=prepared(_run),
    columns=(pa.field("rule", pa.string()),),
    examples=(
        "augment-cli pi",
        "augment-cli pi --mode first_match --name pi-first",
        "augment-cli pi --subject-weight 0 --repeat-weight 0",
    ),
)
