"""Attacks as data: tests/faults/campaign/*.toml, where each line stands for one case or for hundreds.

A table is named by how its promise begins in benchmarks/results/promises.md. A line says what is attacked
(`on`), how, which file (`at`), with what (`with`), which commands meet it (`run`), and how they must end
(`exit`, `words`). A list multiplies: three files, four values and two commands are 24 cases; `times`
repeats with other random numbers.

A case, run: the subject is spoilt, the command meets it, and what may not happen is looked for.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from augment_cli.store.files import sha256_of_file
from tests.helpers.attack_ways import WAYS
from tests.helpers.commands import ENVIRONMENT, Result, typed
from tests.helpers.file_faults import Faults, injected
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
    return list(_cases(FOLDER / f"{name}.toml"))


def files() -> list[str]:
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


# What may not reach a terminal.
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f‎‏\u2028-\u202e\u2066-\u2069]")
_BYTES = (".parquet", ".safetensors")  # what is the same, bit for bit, however it came to be
_KEPT = ("*.parquet", "*.safetensors", "*.json", "*.txt", "*.toml")
# A short training, which attacks call TRAIN.
TRAIN = (
    "train simcse --store store --encoder model --out run --set batch=4 --set checkpoint_every=2 --set "
    "evaluate_every=0 --set log_every=1 --set max_length=16 --set temperature=1"
)
# The C library ends a process by itself, exit 127, where a new thread finds no memory.
_ABORT = "cannot allocate memory for thread-local data: ABORT"
_PATIENCE = 60  # seconds; a command that waits for a pipe would wait for ever
_LONGEST = 300  # seconds that a command in a process of its own may take on a busy machine


@pytest.mark.slow
def test_it_is_met(case, subject, tmp_path):
    problems = attack(case, subject(case.on), tmp_path)
    assert problems == [], problems
    shutil.rmtree(tmp_path, ignore_errors=True)


def attack(case: Case, subject: Path, folder: Path) -> list[str]:
    """What is wrong with how a command met an attack on a copy of its subject; empty if nothing is."""
    home = folder / "here"
    shutil.copytree(subject, home, symlinks=True)
    if case.how in DISTURBANCES:
        return disturbed(case, subject, home)
    before = digests(home)
    draws = random.Random(case.seed)
    target = _target(home, case.at, draws)
    WAYS[case.how](target, case.value, draws)
    spoilt = digests(home)
    unspoilt = {name for name, digest in before.items() if spoilt.get(name) == digest}
    result = run(words_of(case.run, case.value, target, home), home)
    problems = judge(case, result)
    problems += lost(before, unspoilt, digests(home))
    if (home / "a pickle was run").exists():
        problems.append("a pickle was run")
    if case.then and not problems:
        after = run(words_of(case.then, case.value, target, home), home)
        if after.returncode:
            problems.append(f"then {case.then} exits with {after.returncode}: {after.stderr[-300:]}")
    return problems


def judge(case: Case, result: Result) -> list[str]:
    problems = []
    if result.returncode not in case.exit:
        problems.append(f"exit {result.returncode} instead of {case.exit}: {result.stderr[-600:]}")
    for word in ("Traceback", "internal error", "Exception ignored"):
        if word in result.stderr + result.stdout:
            problems.append(f"{word}: {result.stderr[-600:]}")
    if result.returncode and not result.stderr.strip():
        problems.append(f"exit {result.returncode} without a word")
    if result.returncode and case.words and not re.search(case.words, result.stderr):
        problems.append(f"says nothing of {case.words!r}: {result.stderr[-600:]}")
    for stream in (result.stdout, result.stderr):
        if found := _COMMANDS.search(stream.replace("\r", "")):
            problems.append(f"U+{ord(found[0]):04X} reaches the terminal")
    return problems


def lost(before: dict[str, str], unspoilt: set[str], after: dict[str, str]) -> list[str]:
    """Sound files that a command took away, and sound parts and weights that it changed."""
    problems = [f"{name} is lost" for name in sorted(unspoilt - after.keys())]
    return problems + [
        f"{name} is changed"
        for name in sorted(unspoilt & after.keys())
        if name.endswith(_BYTES) and after[name] != before[name]
    ]


def digests(home: Path) -> dict[str, str]:
    """SHA-256 of the files that matter, by their path."""
    return {
        str(path.relative_to(home)): sha256_of_file(path)
        for pattern in _KEPT
        for path in home.rglob(pattern)
        if path.is_file() and ".work" not in path.parts and not path.stat().st_size > 10**8
    }


def disturbed(case: Case, subject: Path, home: Path) -> list[str]:
    """The same for a command that is struck while it runs; run again, it must end in the same bytes."""
    seconds, operations, expected = _undisturbed(case, subject, home.parent)
    words = words_of(case.run, case.value, home, home)
    if case.how == "address_space":
        result = _in_a_process(words, home, _LONGEST, megabytes=case.value)
    elif case.how == "interrupt":
        result = _in_a_process(words, home, case.value * seconds)
        if result.returncode and _is_too_early(result.stderr):
            return []
    else:
        at = random.Random(case.seed).randrange(1, operations + 1)
        with injected(Faults(at, getattr(errno, case.value))):
            result = run(words, home)
    problems = [] if result.stderr.rstrip().endswith(_ABORT) else judge(case, result)
    if result.returncode == 0 and lost(expected, set(expected), digests(home)):
        problems.append("exit 0, and work is lost")
    again = run(words, home)
    if again.returncode:
        problems.append(f"then exits with {again.returncode}: {again.stderr[-300:]}")
    return problems + lost(expected, set(expected), digests(home))


DISTURBANCES = ("interrupt", "operation", "address_space")
_KNOWN: dict[tuple[str, str], tuple[float, int, dict[str, str]]] = {}


def _undisturbed(case: Case, subject: Path, folder: Path) -> tuple[float, int, dict[str, str]]:
    known = (case.how, case.run)  # only what runs in this process has its operations counted
    if known not in _KNOWN:
        home = folder / "undisturbed"
        shutil.copytree(subject, home)
        words, began, counted = words_of(case.run, case.value, home, home), time.monotonic(), Faults()
        if case.how != "operation":
            result = _in_a_process(words, home, _LONGEST)
        else:
            with injected(counted):
                result = run(words, home)
        assert result.returncode == 0, result.stderr
        left = {name: digest for name, digest in digests(home).items() if name.endswith(_BYTES)}
        _KNOWN[known] = time.monotonic() - began, counted.count, left
    return _KNOWN[known]


def _in_a_process(words: list[str], home: Path, seconds: float, megabytes: int = 0) -> Result:
    """A command in a process of its own, with a Ctrl-C after some seconds, and perhaps a limit."""
    limit = megabytes * 10**6 or resource.RLIM_INFINITY
    module = words if words[0] in ("train", "eval") else ["augment_cli", *words]
    process = subprocess.Popen(
        [sys.executable, "-m", *module],
        cwd=home,
        text=True,
        start_new_session=True,
        env=ENVIRONMENT | {"PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY)),
    )
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGINT)
        try:
            out, err = process.communicate(timeout=_LONGEST)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            err += "Traceback: it never ended"
    return Result(process.returncode, out, err)


# What Python runs before the first statement that could take an interrupt.
_FIRST_FILES = ("__init__.py", "__main__.py", "interrupts.py", "version.py")


def _is_too_early(said: str) -> bool:
    """Whether an interrupt came while Python itself began, before any line of ours could take it."""
    frames = [(Path(name), code) for name, code in re.findall(r'File "([^"]+)".*\n\s+(.*)', said)]
    ours = [(path, code) for path, code in frames if path.is_relative_to(REPOSITORY)]
    return "Traceback" in said and all(
        path.name in _FIRST_FILES and not code.startswith(("main(", "with ")) for path, code in ours
    )


def words_of(command: str, value: Any, target: Path, home: Path) -> list[str]:
    """A command line as its words; `{value}`, `{at}` and `{here}`, the subject's copy, may stand in them."""
    plain = command.replace("TRAIN", TRAIN)
    if isinstance(value, str) and value.startswith("--"):  # several words, as typed
        plain = plain.replace("{value}", value)
    return [
        word.replace("{value}", str(value)).replace("{at}", str(target)).replace("{here}", str(home))
        for word in shlex.split(plain)
    ]


def _target(home: Path, at: str, draws: random.Random) -> Path:
    if "*" not in at:
        return home / at
    found = sorted(home.glob(at))
    assert found, f"{at}: no such file in the subject"
    return draws.choice(found)


def run(words: list[str], home: Path) -> Result:
    """A command in this process: `train …`, `eval …`, or anything of augment-cli."""
    typed_words = words if words[0] in ("train", "eval") else ["augment-cli", *words]
    try:
        with (
            contextlib.chdir(home),
            _limited(_PATIENCE),
            mock.patch.object(os, "sched_getaffinity", lambda process: {0}),  # no worker processes
        ):
            return typed(*typed_words)
    except TooLong:
        return Result(1, "", "Traceback: it never ended")
    except Exception:  # what the interpreter would print
        return Result(1, "", traceback.format_exc())


class TooLong(BaseException):
    """A command waits for something that will never come."""


@contextlib.contextmanager
def _limited(seconds: int) -> Iterator[None]:
    def stop(number: int, frame: object) -> None:
        raise TooLong(f"longer than {seconds} s")

    assert threading.current_thread() is threading.main_thread()
    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
