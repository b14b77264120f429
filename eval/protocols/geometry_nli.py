"""How alike the spaces of premises, entailed and contradicting hypotheses are, as AugCSE measures it."""

from eval.contract import (
    Encode,
    Options,
    Progress,
    Protocol,
    Setting,
    TaskScore,
    caution,
    flaw,
    scored_split,
    undefined,
)
from eval.measures import geometry
from eval.tasks import Table

# Not recorded: the result states its rows and carries the distance as one more score.
GROMOV = Setting("gromov", False, "Gromov-Hausdorff distance too (needs gudhi)", recorded=False)
GROMOV_ROWS = 1000  # the Vietoris-Rips filtration grows with the square of the rows
SPACES = "AEC"  # premises (anchors), entailed, contradicting; `cond_hm_A_E` is of the first two


def triples(table: Table) -> list[tuple[str, str, str]]:
    """Premises with their first entailed and contradicting hypothesis; those without both left out."""
    task = table.task
    premises, hypotheses = (table.select(column, task.split) for column in task.text_columns)
    labels = table.select(task.label_column, task.split)
    by_premise: dict[str, dict[str, str]] = {}
    for premise, hypothesis, label in zip(premises, hypotheses, labels, strict=True):
        by_premise.setdefault(premise, {}).setdefault(label[0], hypothesis)
    return [
        (premise, by_label["e"], by_label["c"])
        for premise, by_label in by_premise.items()
        if {"e", "c"} <= set(by_label)
    ]


def _score(table: Table, encode: Encode, options: Options, progress: Progress) -> TaskScore:
    metric, gromov = table.task.metric, bool(options.value(GROMOV))
    rows = triples(table)[: GROMOV_ROWS if gromov else None]
    columns = zip(*rows, strict=True)
    spaces = {name: encode(list(column)) for name, column in zip(SPACES, columns, strict=True)}
    if reason := flaw(*spaces.values()):
        return undefined(metric, reason)
    scores = geometry.of_spaces(spaces, gromov=gromov)
    return TaskScore(scores[metric], scores, settings={"rows": len(rows)}, notes=caution(spaces["A"]))


PROTOCOL = Protocol(score=_score, splits=scored_split, percent=False, settings=(GROMOV,))
