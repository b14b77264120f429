"""The grid: profiles, rows and comparisons, as `grid.toml` and `papers.toml` state them."""

import dataclasses
import itertools
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from augment_cli.errors import MissingError, UsageError
from augment_cli.store.files import read_toml

GRID = Path(__file__).with_name("grid.toml")
PAPERS = Path(__file__).with_name("papers.toml")


@dataclass(frozen=True)
class Bed:
    """The encoder that the draws start from, which is made on this machine (`work.py`)."""

    encoder: str  # where it is written
    about: str  # what it is
    seen: str  # what the encoder it was made from has been trained on
    start: str  # the installed encoder it is made from
    corpus: tuple[str, ...]  # files under the data folder
    rows: int  # how many sentences of them
    recipe: str  # of the training
    set: tuple[str, ...] = ()  # settings on top
    digest: str = ""  # of the encoder that the results were made from


@dataclass(frozen=True)
class Profile:
    """From which encoder, on what, how often."""

    name: str
    about: str  # in words
    encoder: str  # folder or hub name that all rows start from
    corpus: tuple[str, ...]  # files or globs under the data folder
    rows: int  # sentences of it, the first ones; 0 for all
    seeds: tuple[int, ...]  # of every row that draws something
    pooling: str  # of encoders that are not trained
    score_precision: str  # number format when encoding the test sets, `fp32` or `bf16`
    only: tuple[str, ...]  # the rows that it has
    tasks: tuple[str, ...]  # test sets
    set: tuple[str, ...] = ()  # settings of all rows
    ingest: tuple[str, ...] = ()  # options of `augment-cli ingest` that choose among the lines
    terms: tuple[str, ...] = ()  # a larger corpus under the data folder, whose TF-IDF weighs this one's texts
    of_row: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # settings of single rows, the last word
    waits_for: str = ""  # what the missing trainings need, such as a machine of another kind
    like: str = ""  # another profile, whose values it has where it gives none
    suite: str = "sts"  # of its tests, as eval/results/published.toml names it
    source: str = ""  # the paper whose table it is, as that file names it
    printed: Mapping[str, str] = field(default_factory=dict)  # by row: the paper's own row there
    store: str = ""  # profiles of one name share a store; empty for one of its own
    # Further encoders, by the prefix of the names of their rows: `encoder`, and perhaps `set` and `only`.
    backbone: Mapping[str, Any] = field(default_factory=dict)
    # Settings of which every combination is a row of its own, named `row@value@value`.
    search: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A method: a recipe with settings on top; without a recipe the encoder is not trained."""

    name: str
    title: str
    recipe: str = ""
    set: tuple[str, ...] = ()
    pooling: str = ""  # of an encoder that is not trained; empty for the profile's
    encoder: str = ""  # that it starts from; empty for the profile's
    whiten: bool = False  # whether what is scored is whitened on its own sentences


@dataclass(frozen=True)
class Comparison:
    """Two rows that were compared by plan, before the trainings of the draws."""

    better: str
    worse: str
    published: float = 0.0  # the paper's difference in points; 0 where it has none
    on: tuple[str, ...] = ()  # the paper's columns of both; empty where it prints none


@dataclass(frozen=True)
class Grid:
    """Everything `grid.toml` says."""

    bed: Bed | None
    profiles: dict[str, Profile]
    rows: dict[str, Row]
    comparisons: tuple[Comparison, ...]
    # The words of the command that makes each stage, for those that are no augmentation with its defaults.
    stages: dict[str, tuple[tuple[str, ...], ...]]
    columns: dict[str, dict[str, float]]  # scores that papers print, × 100, by name and test set
    # By profile that has several encoders or a search: its own rows.
    variants: dict[str, dict[str, Row]] = field(default_factory=dict)

    def bed_of(self, profile: Profile) -> Bed | None:
        """The bed that a profile starts from; None where it starts from another encoder."""
        return self.bed if self.bed and self.bed.encoder == profile.encoder else None

    def choose(self, profile: Profile, names: Iterable[str]) -> list[Row]:
        """Rows of a profile by their names; all where no name is given."""
        wanted = list(names)
        if unknown := [name for name in wanted if name not in profile.only]:
            raise UsageError(
                f"{profile.name} has no row called {', '.join(unknown)}; there are: {', '.join(profile.only)}"
            )
        rows = self.variants.get(profile.name) or self.rows
        return [rows[name] for name in profile.only if not wanted or name in wanted]


def load_grid(path: Path = GRID) -> Grid:
    table = _read(path)
    if path == GRID:  # the papers' tables share its rows and stages
        papers = _read(PAPERS)
        table = {key: value | papers[key] if key in papers else value for key, value in table.items()}
    given = table["profile"]
    if unknown := sorted({item["like"] for item in given.values() if "like" in item} - given.keys()):
        raise UsageError(f"{path}: is like {', '.join(unknown)}, which is not there")

    def whole(item: Mapping[str, Any]) -> dict[str, Any]:
        return (whole(given[item["like"]]) if "like" in item else {}) | dict(item)

    rows = {name: _make(Row, {"name": name} | item, path) for name, item in table["row"].items()}
    profiles = {name: _make(Profile, {"name": name} | whole(item), path) for name, item in given.items()}
    variants = {name: made for name, one in profiles.items() if (made := _variants(one, rows))}
    profiles |= {
        name: dataclasses.replace(profiles[name], only=tuple(made)) for name, made in variants.items()
    }
    comparisons = tuple(_make(Comparison, item, path) for item in table.get("comparison", []))
    columns = table.get("columns", {})
    asked = {name for profile in profiles.values() for name in (*profile.only, *profile.of_row)}
    asked |= {name for one in comparisons for name in (one.better, one.worse)}
    absent = asked - rows.keys() - {name for made in variants.values() for name in made}
    absent |= {name for one in comparisons for name in one.on} - columns.keys()
    if absent:
        raise UsageError(f"{path}: names rows or columns that are not there: {', '.join(sorted(absent))}")
    stages = {
        name: tuple(tuple(shlex.split(command)) for command in ([one] if isinstance(one, str) else one))
        for name, one in table.get("stages", {}).items()
    }
    bed = _make(Bed, table["bed"], path) if "bed" in table else None
    return Grid(bed, profiles, rows, comparisons, stages, columns, variants)


def _read(path: Path) -> dict[str, Any]:
    try:
        return read_toml(path)
    except FileNotFoundError as error:
        raise MissingError(f"{path} does not exist; name the grid's TOML file") from error


def _variants(profile: Profile, rows: Mapping[str, Row]) -> dict[str, Row]:
    """The rows of a profile with several encoders or a search; empty where it has neither."""
    if not (profile.backbone or profile.search):
        return {}
    made = {}
    for prefix, own in {"": {"encoder": profile.encoder}, **profile.backbone}.items():
        for name in (name for name in own.get("only", profile.only) if name in rows):
            for values in itertools.product(*profile.search.values()):
                row, called = rows[name], "@".join([f"{prefix}-{name}".removeprefix("-"), *values])
                found = [f"{key}={value}" for key, value in zip(profile.search, values, strict=True)]
                title = ", ".join([own["encoder"], row.title, *found])
                settings = (*row.set, *own.get("set", ()), *found)
                made[called] = dataclasses.replace(
                    row, name=called, title=title, set=settings, encoder=own["encoder"]
                )
    return made


def _make(kind: Any, item: Mapping[str, Any], path: Path) -> Any:
    fields = {one.name for one in dataclasses.fields(kind)}
    if unknown := sorted(set(item) - fields):
        raise UsageError(f"{path}: unknown keys {', '.join(unknown)}; known: {', '.join(sorted(fields))}")
    try:
        return kind(**{key: tuple(v) if isinstance(v, list) else v for key, v in item.items()})
    except TypeError as error:
        raise UsageError(f"{path}: {error} in {dict(item)}") from error
