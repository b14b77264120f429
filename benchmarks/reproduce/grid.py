"""The grid: profiles, rows, sweeps and claims, as `grid.toml` states them."""

from __future__ import annotations

import dataclasses
import shlex
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from augment_cli.errors import MissingError, UsageError
from benchmarks.reproduce.entries import Bed, Claim, Evaluation, Primary, Profile, Published, Row, Sweep

Commands = tuple[tuple[str, ...], ...]  # the words of each
GRID = Path(__file__).with_name("grid.toml")
MOST_PRIMARY = 10  # each more makes Holm's correction harder on all


@dataclass(frozen=True)
class Grid:
    """Everything `grid.toml` says; `rows` holds the sweeps' points too, behind the others."""

    profiles: dict[str, Profile]
    rows: tuple[Row, ...]
    sweeps: tuple[Sweep, ...]
    claims: tuple[Claim, ...]
    evaluations: dict[str, Evaluation]
    # the commands, in order, of each stage that is not an augmentation with its defaults
    stages: dict[str, Commands] = field(default_factory=dict)
    # encoders that are made on the machine, by the profile that uses them
    beds: dict[str, Bed] = field(default_factory=dict)
    primary: tuple[Primary, ...] = ()  # the comparisons that were named before anything was run
    registered: tuple[Primary, ...] = ()  # the same of the draws (`draws.py`)
    # scores that papers print, × 100, by name and test set
    columns: dict[str, dict[str, float]] = field(default_factory=dict)

    @property
    def primary_rows(self) -> frozenset[str]:
        """Names of the rows that a primary comparison needs."""
        return frozenset(name for one in self.primary for name in (one.better, one.worse))

    def of_profile(self, profile: Profile) -> Grid:
        """The rows that a profile has, each with its baseline there, and the comparisons between them."""
        called = set(self.names(profile))
        rows = tuple(
            dataclasses.replace(row, baseline=row.baselines.get(profile.name, row.baseline))
            for row in self.rows
            if (not row.profiles or called & {*row.profiles})
            and (not profile.only or {row.name, row.sweep, row.sweep.partition(":")[0]} & {*profile.only})
            and not {row.name, row.sweep} & {*profile.left_out}
        )
        names = {row.name for row in rows}
        points: dict[str, list[str]] = defaultdict(list)  # of each sweep
        for row in rows:
            points[row.sweep].append(row.name)
        evaluations = {
            name: dataclasses.replace(
                item,
                rows=tuple(
                    row for asked in profile.scored.get(name, item.rows) for row in points.get(asked, [asked])
                ),
                also=tuple(profile.also.get(name, item.also)),
            )
            for name, item in self.evaluations.items()
            if (not item.profiles or called & {*item.profiles})
            and not (profile.scored and item.rows and name not in profile.scored)
        }
        # What some rows alone are scored on can be said of these alone.
        scored = {name: {*item.rows} for name, item in evaluations.items() if item.rows}
        elsewhere = self.evaluations.keys() - evaluations.keys()
        claims = tuple(
            one
            for one in self.claims
            if {one.better, one.worse} <= scored.get(one.measure, names) & names
            and one.measure not in elsewhere
        )
        primary = tuple(one for one in self.primary if profile.decides and {one.better, one.worse} <= names)
        return dataclasses.replace(self, rows=rows, claims=claims, primary=primary, evaluations=evaluations)

    def names(self, profile: Profile) -> list[str]:
        """A profile's name, that of the one it is like, and so on."""
        above = [profile.like] if profile.like else []
        if profile.like in self.profiles:
            above = self.names(self.profiles[profile.like])
        return [profile.name, *above]

    def row(self, name: str) -> Row:
        """The row of that name."""
        return next(row for row in self.rows if row.name == name)

    def choose(self, names: Iterable[str]) -> list[Row]:
        """Rows by their names, or by their sweep's; all where no name is given."""
        wanted = list(names)
        for name in wanted:
            if not any(name in (row.name, row.sweep) for row in self.rows):
                known = ", ".join(dict.fromkeys(row.sweep or row.name for row in self.rows))
                raise UsageError(f"no row or sweep is called {name!r}; there are: {known}")
        return [row for row in self.rows if not wanted or row.name in wanted or row.sweep in wanted]

    def tasks(self, evaluation: str, profile: Profile, *, sweep: bool = False) -> tuple[str, ...]:
        """Names of the test sets of an evaluation, for rows or for sweeps' points."""
        item = self.evaluations[evaluation]
        scaled = item.scaled if profile.scaled and item.scaled else item.tasks
        of_rows = profile.tasks.get(evaluation, scaled)
        return tuple(profile.sweep_tasks.get(evaluation, of_rows) if sweep else of_rows)

    def changes(self, row: Row, profile: Profile) -> list[str]:
        """A row's settings on top of its recipe, later ones winning; a sweep's point has those of its row."""
        scaled = row.scaled if profile.scaled else ()
        of = next((sweep.row for sweep in self.sweeps if sweep.name == row.sweep), row.name)
        return [*profile.set, *scaled, *row.set, *profile.of_row.get(of, ())]


def load_grid(path: Path = GRID) -> Grid:
    """Read a grid."""
    try:
        text = path.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except FileNotFoundError as error:
        raise MissingError(f"{path} does not exist; name the grid's TOML file") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not TOML: {error}") from error
    profiles = _alike(Profile, table["profile"], path)
    rows = [_row(item, path) for item in table.get("row", [])]
    sweeps = [one for item in table.get("sweep", []) for one in _of_rows(_make(Sweep, item, path))]
    stages = {name: _commands(given) for name, given in table.get("stages", {}).items()}
    by_name = {row.name: row for row in rows}
    for sweep in sweeps:
        if sweep.row not in by_name:
            raise UsageError(f"{path}: sweep {sweep.name} names the row {sweep.row!r}, which is not there")
        for value in sweep.values:
            rows.append(_point(sweep, value, by_name[sweep.row]))
            if sweep.stage and value != sweep.default:
                stages[sweep.point(value)] = _commands(sweep.stage.format(value=value))
    claims = [_make(Claim, item, path) for item in table.get("claim", [])]
    named = {row.name for row in rows}
    primary = tuple(_make(Primary, item, path) for item in table.get("primary", []))
    registered = tuple(_make(Primary, item, path) for item in table.get("registered", []))
    if len(primary) > MOST_PRIMARY:
        raise UsageError(f"{path}: {len(primary)} primary comparisons; name {MOST_PRIMARY} at most")
    asked = [name for row in rows for name in (row.baseline, *row.baselines.values())]
    asked += [name for profile in profiles.values() for name in profile.unlisted]
    if unknown := sorted({one.together_with for one in profiles.values()} - profiles.keys() - {""}):
        raise UsageError(f"{path}: together_with names profiles that are not there: {', '.join(unknown)}")
    known = named | {name for sweep in sweeps for name in (sweep.name, sweep.name.partition(":")[0])}
    chosen = [name for profile in profiles.values() for name in (*profile.only, *profile.left_out)]
    chosen += [name for profile in profiles.values() for names in profile.scored.values() for name in names]
    asked += [name for name in chosen if name not in known]
    asked += [name for one in (*claims, *primary, *registered) for name in (one.better, one.worse)]
    if unknown := sorted({name for name in asked if name} - named):
        raise UsageError(f"{path}: names rows that are not there: {', '.join(unknown)}")
    if len(named) < len(rows):
        raise UsageError(f"{path}: two rows have one name")
    evaluations = {name: _make(Evaluation, item, path) for name, item in table["evaluation"].items()}
    beds = _alike(Bed, table.get("bed", {}), path)
    given = {name for profile in profiles.values() for name in (*profile.of_row, *profile.seeds_of)}
    if odd := sorted(given - named):
        raise UsageError(
            f"{path}: a profile has settings or seeds of rows that are not there: {', '.join(odd)}"
        )
    if unknown := sorted(beds.keys() - profiles.keys()):
        raise UsageError(f"{path}: has beds for profiles that are not there: {', '.join(unknown)}")
    columns = table.get("columns", {})
    published = [row.published for row in rows if row.published]
    on = {name for one in (*claims, *primary, *registered, *published) for name in one.on}
    if unknown := sorted(on - columns.keys()):
        raise UsageError(f"{path}: `on` names columns that are not there: {', '.join(unknown)}")
    return Grid(
        profiles,
        tuple(rows),
        tuple(sweeps),
        tuple(claims),
        evaluations,
        stages,
        beds,
        primary,
        registered,
        columns,
    )


def _alike(kind: Any, table: Mapping[str, Mapping[str, Any]], path: Path) -> dict[str, Any]:
    """The profiles or beds of a file, each on top of the one that it is like."""
    if odd := sorted({item["like"] for item in table.values() if "like" in item} - table.keys()):
        raise UsageError(f"{path}: is like {', '.join(odd)}, which is not there")

    def whole(item: Mapping[str, Any]) -> dict[str, Any]:
        return (whole(table[item["like"]]) if "like" in item else {}) | dict(item)

    return {name: _make(kind, {"name": name} | whole(item), path) for name, item in table.items()}


def _of_rows(sweep: Sweep) -> list[Sweep]:
    """A sweep of several rows as one of each, called `NAME:ROW`."""
    if not sweep.rows:
        return [sweep]
    return [
        dataclasses.replace(
            sweep, name=f"{sweep.name}:{row}", title=f"{sweep.title}, {row}", row=row, rows=()
        )
        for row in sweep.rows
    ]


def _commands(given: str | list[str]) -> Commands:
    return tuple(tuple(shlex.split(command)) for command in ([given] if isinstance(given, str) else given))


def _row(item: Mapping[str, Any], path: Path) -> Row:
    published = item.get("published")
    figures = _make(Published, published, path) if published else None
    return _make(Row, dict(item) | {"published": figures}, path)


def _point(sweep: Sweep, value: Any, base: Row) -> Row:
    name = sweep.point(value)
    varied = [] if value == sweep.default else sweep.set
    changes = [text.format(value=value, stage=name) for text in varied]
    return dataclasses.replace(
        base,
        name=name,
        title=f"{sweep.title}: {value}",
        baseline="",
        baselines={},
        first=False,
        note="",
        published=None,
        set=(*base.set, *changes),
        sweep=sweep.name,
        value=value,
        profiles=sweep.profiles or base.profiles,
    )


def _make(kind: Any, item: Mapping[str, Any], path: Path) -> Any:
    fields = {one.name for one in dataclasses.fields(kind)}
    if unknown := sorted(set(item) - fields):
        raise UsageError(f"{path}: unknown keys {', '.join(unknown)}; known: {', '.join(sorted(fields))}")
    try:
        return kind(**{key: tuple(v) if isinstance(v, list) else v for key, v in item.items()})
    except TypeError as error:
        raise UsageError(f"{path}: {error} in {dict(item)}") from error
