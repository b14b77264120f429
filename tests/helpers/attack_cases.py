"""Attacks as data: tests/faults/campaign/*.toml, where each line stands for one case or for hundreds.

A table is named by how its promise begins in benchmarks/results/promises.md. A line says what is attacked
(`on`), how, which file (`at`), with what (`with`), which commands meet it (`run`), and how they must end
(`exit`, `words`). A list multiplies: three files, four values and two commands are 24 cases; `times`
repeats with other random numbers.
"""

from __future__ import annotations

import itertools
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.helpers.places import REPOSITORY

FOLDER = REPOSITORY / "tests/faults/campaign"
KEYS = {"on", "how", "at", "with", "run", "exit", "words", "times", "then"}


@dataclass(frozen=True)
class Case:
    """One attack and one command that meets it."""

    number: str  # file, line and place within the line, for pytest
    promise: str  # how the promise's row begins in benchmarks/results/promises.md
    on: str  # the subject: what is attacked, of which the case gets a copy (`attack_subjects`)
    how: str  # the way: a function of `attack_ways`
    at: str  # which file of the subject, with wildcards of which one is drawn
    value: Any  # what the way needs besides
    run: str  # the command; `{value}` in it stands for the value
    exit: tuple[int, ...]  # exit codes that are right
    words: str  # what stderr must match, as a regular expression; empty for anything
    then: str  # a command that must end with 0 afterwards; empty for none
    seed: int  # decides what is drawn

    def __str__(self) -> str:
        return f"{self.number}-{self.how}"


def cases(name: str) -> list[Case]:
    """All cases of a file, such as `stores`."""
    return list(_cases(FOLDER / f"{name}.toml"))


def files() -> list[str]:
    """The names of all files of attacks."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def counts() -> Counter[str]:
    """How many cases each promise has, by how its row begins."""
    return Counter(case.promise for name in files() for case in cases(name))


def _cases(path: Path) -> Iterator[Case]:
    number = 0
    for promise, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
        for line in table["attacks"]:
            if unknown := set(line) - KEYS:
                raise ValueError(
                    f"{path}: {promise}: an attack knows nothing of {', '.join(unknown)}: {line}"
                )
            number += 1
            of_all = {key: line.get(key, "") for key in ("on", "how", "words", "then")}
            lists = (_several(line.get(key, "")) for key in ("at", "with", "run"))
            drawn = itertools.product(*lists, range(line.get("times", 1)))
            for place, (at, value, run, seed) in enumerate(drawn):
                own = {"at": at, "value": value, "run": run, "seed": 1000 * number + seed}
                own |= {"number": f"{path.stem}-{number}.{place}", "exit": tuple(_several(line["exit"]))}
                yield Case(promise=promise, **of_all, **own)


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
