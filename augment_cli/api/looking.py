"""The Python interface for looking at a store and handing it on; `api.py` has what fills one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from augment_cli import augmentations
from augment_cli.contract.augmentation import meaning_of
from augment_cli.contract.entailment import entailment_of
from augment_cli.contract.parameters import several
from augment_cli.errors import UsageError
from augment_cli.pages.judging import write_judging
from augment_cli.pages.report import write_report
from augment_cli.reports import comparison, verdicts
from augment_cli.reports import report as numbers
from augment_cli.reports.agreement import agreement
from augment_cli.reports.card import write_card
from augment_cli.reports.choosing import Choice, choose_rows
from augment_cli.reports.difficulty import with_difficulty
from augment_cli.reports.soundness import verify as problems_of
from augment_cli.session.recipe import summaries
from augment_cli.store.store import Store
from augment_cli.store.targets import check_target

STORE = "store"


def list_augmentations() -> list[dict[str, Any]]:
    """What there is to run (`augment-cli list`): name, kind, label with its reason, needs, summary, paper.

    An augmentation of another package that cannot be loaded has the error as its summary.

    Examples
    --------
    >>> import augment_cli
    >>> [one["name"] for one in augment_cli.list_augmentations() if one["name"].startswith("random-s")]
    ['random-sentence', 'random-swap']
    """
    return [_entry_of(name) for name in augmentations.names()]


def _entry_of(name: str) -> dict[str, Any]:
    try:
        descriptor = augmentations.get(name)
    except UsageError as error:
        unknown = dict.fromkeys(("kind", "meaning", "label", "label_reason", "paper"), "")
        return {"name": name, "needs": [], "summary": str(error)} | unknown
    entailment = entailment_of(descriptor)
    return {
        "name": name,
        "kind": descriptor.kind,
        "meaning": meaning_of(descriptor),
        "label": entailment.label,
        "label_reason": entailment.reason,
        "needs": sorted(descriptor.needs),
        "summary": augmentations.summary(name),
        "paper": descriptor.paper,
    }


def list_recipes() -> list[dict[str, str]]:
    """The shipped recipes of `augment_cli.run_recipe`: name and summary (`augment-cli list --recipes`).

    Examples
    --------
    >>> import augment_cli
    >>> [one["name"] for one in augment_cli.list_recipes() if one["name"].startswith("d")]
    ['default']
    """
    return [{"name": name, "summary": summary} for name, summary in summaries().items()]


def report(store: Store | str | Path = STORE, out: str | Path = "report.html") -> dict[str, Any]:
    """Write the page of a store, to be opened in a browser (`augment-cli report`).

    Returns
    -------
    dict
        path, bytes, stages, and notices: the sentences that say where to look.

    Raises
    ------
    UsageError
        If the store has no augmentation yet, or `out` is a file that something else wrote.

    Examples
    --------
    >>> import augment_cli
    >>> augment_cli.report("store", "page.html")["stages"]
    ['una']
    """
    return write_report(_opened(store), Path(out))


def inspect(
    stage: str,
    store: Store | str | Path = STORE,
    *,
    count: int = 10,
    seed: int = 0,
    rows: Sequence[int] = (),
    contains: str | None = None,
    where: str | None = None,
    reason: str | None = None,
    sort: str | None = None,
    unchanged: bool = False,
) -> list[dict[str, Any]]:
    """Random rows of a stage, of an augmentation with their originals (`augment-cli inspect`).

    Parameters
    ----------
    stage : str
    store : Store or path
    count : int
        At most so many.
    seed : int
        Which random rows.
    rows : sequence of int
        These `row_id` only.
    contains : str, optional
        Only rows with this text, before or after, in any case.
    where : str, optional
        Conditions on columns of the stage or its scores, such as `cosine < 0.6 and reason == no_subject`.
    reason : str, optional
        Only rows that were left as they are, or set aside, for this reason.
    sort : str, optional
        The first rows by a column, smallest first; `-COLUMN`, largest first.
    unchanged : bool
        Also rows that the augmentation left as they are.

    Returns
    -------
    list of dict
        The stage's columns; `original` and `scores` where there are any.

    Examples
    --------
    >>> import augment_cli
    >>> [row["row_id"] for row in augment_cli.inspect("una", "store", rows=[2])]
    [2]
    """
    wanted = several(rows)
    choice = Choice(where, sort, wanted, contains, not (unchanged or wanted or reason), reason=reason)
    return choose_rows(_opened(store), stage, max(count, len(wanted)), seed, choice)


def stats(stage: str | None = None, store: Store | str | Path = STORE) -> Any:
    """Numbers of a stage, a dict; without one, a list with a dict an augmentation (`augment-cli stats`).

    Examples
    --------
    >>> import augment_cli
    >>> augment_cli.stats("una", "store")["rows"]
    6
    """
    opened = _opened(store)
    if stage is None:
        return [with_difficulty(opened, entry) for entry in comparison.compare(opened)]
    return with_difficulty(opened, numbers.stats(opened, stage))


def status(
    store: Store | str | Path = STORE, corpus: Sequence[str | Path] | None = None
) -> list[dict[str, Any]]:
    """Every stage of a store: parts, rows, settings, what has changed since (`augment-cli status --json`).

    Parameters
    ----------
    store : Store or path
    corpus : sequence of paths, optional
        Input files to compare with, too.

    Examples
    --------
    >>> import augment_cli
    >>> [one["stage"] for one in augment_cli.status("store") if one["complete"]]
    ['rejects', 'corpus', 'terms', 'tfidf', 'forms', 'una']
    """
    return numbers.status(_opened(store), None if corpus is None else several(corpus))


def verify(store: Store | str | Path = STORE) -> list[str]:
    """Read every part again; what is wrong, one line each (`augment-cli verify`).

    Examples
    --------
    >>> import augment_cli
    >>> augment_cli.verify("store")
    []
    """
    return problems_of(_opened(store))


def card(
    store: Store | str | Path = STORE,
    *,
    title: str = "Augmented sentences",
    license_name: str = "unknown",
    language: str = "en",
) -> str:
    """Write the dataset card, README.md at the store's root, and return its text (`augment-cli card`).

    Examples
    --------
    >>> import augment_cli
    >>> "license: \\"cc0-1.0\\"" in augment_cli.card("store", title="Rivers", license_name="cc0-1.0")
    True
    """
    opened = _opened(store)
    with opened.lock():
        opened.reload()
        return write_card(opened, title, license_name, language)


def judge(
    stage: str | Sequence[str] | None = None,
    store: Store | str | Path = STORE,
    *,
    count: int = 30,
    seed: int = 0,
    write: str | Path | None = None,
    html: str | Path | None = None,
    read: Sequence[str | Path] = (),
    compare: str | None = None,
) -> list[dict[str, Any]]:
    """Sample changed rows of a stage for reading, or count the verdicts in files (`augment-cli judge`).

    Parameters
    ----------
    stage : str or sequence of str, optional
        Whose changed rows to sample.
    store : Store or path
    count, seed : int
        How many rows of each stage, and which.
    write : path, optional
        New file for the sample, to be filled in; without one nothing is written.
    html : path, optional
        A page to judge the sample on, which does not say whose a row is.
    read : sequence of paths
        Files whose verdicts are counted instead.
    compare : str, optional
        A stage that `read_answers` made of a judge's answers: how far it agrees with those files.

    Returns
    -------
    list of dict
        The sample, the counts of each stage, or the one agreement.

    Examples
    --------
    >>> import augment_cli
    >>> len(augment_cli.judge("una", "store", count=3))
    3
    """
    stages = several(stage or ())
    if (not stages) == (not read):
        raise UsageError("name either stages to sample from or, with --read, files to count")
    if not stages:
        found = verdicts.read([Path(path) for path in several(read)])
        return verdicts.summary(found) if compare is None else [agreement(_opened(store), compare, found)]
    opened = _opened(store)
    judgements = [one for name in stages for one in verdicts.sample(opened, name, count, seed)]
    if html is not None:
        write_judging(opened, Path(html), judgements, seed)
    if write is not None:
        check_target(Path(write), opened.path, lambda beginning: True)  # what is there is never replaced
        verdicts.write(Path(write), judgements)
    return [{name: getattr(one, name) for name in one.__struct_fields__} for one in judgements]


def remove(
    stages: str | Sequence[str], store: Store | str | Path = STORE, *, with_descendants: bool = False
) -> list[str]:
    """Delete stages, so that they can be made with other settings (`augment-cli remove`).

    Parameters
    ----------
    stages : str or sequence of str
    store : Store or path
    with_descendants : bool
        Delete what was made from them, too.

    Returns
    -------
    list of str
        What was made from them and is kept.

    Examples
    --------
    >>> import augment_cli
    >>> augment_cli.remove("una", "store")
    []
    """
    names = list(several(stages))
    path = _opened(store).path
    with Store.open(path).lock():
        opened = Store.open(path)
        for name in names:
            opened.stage(name)
        hanging = opened.made_from(*names)
        if with_descendants:
            names, hanging = [*names, *hanging], []
        opened.remove(*dict.fromkeys(names))
    if isinstance(store, Store):
        store.reload()
    return hanging


def _opened(store: Store | str | Path) -> Store:
    return store if isinstance(store, Store) else Store.open(store)
