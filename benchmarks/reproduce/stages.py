"""The store of a profile: its corpus and the augmentations that rows need, made by `augment-cli`."""

import gzip
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from augment_cli import augmentations
from augment_cli.contract.augmentation import Resources
from augment_cli.errors import MissingError, UsageError
from augment_cli.neural.loading import find_folder
from augment_cli.reports.doctor import examine
from augment_cli.store.store import Store
from augment_cli.tfidf.term_table import TERMS_STAGE
from benchmarks.reproduce.grid import Grid, Profile
from train.data import CORPUS
from train.data.tokens import cache_tokens, stage_draws

_MODELS = ("--model", "--forward", "--backward")  # options that name one
_LAST_LINES = 5  # of a command that failed, for the message


class Stages:
    """Which stages there are, why one cannot be made, and the making."""

    def __init__(
        self,
        grid: Grid,
        profile: Profile,
        folder: Path,
        data: Path,
        jobs: int = 1,
        allow_download: bool = False,
    ) -> None:
        self.grid, self.profile, self.folder, self.data, self.jobs = grid, profile, folder, data, jobs
        self.allow_download = allow_download
        self._store: Store | None = None
        self._failed: dict[str, str] = {}
        self._doctor: dict[str, dict[str, Any]] = {}
        self.open()

    def open(self) -> Store | None:
        self._store = Store.open(self.folder) if (self.folder / "manifest.json").is_file() else None
        return self._store

    def has(self, name: str) -> bool:
        """Whether a stage is finished."""
        return self._store is not None and self._store.has(name)

    def digests(self, names: Iterable[str]) -> dict[str, str | None]:
        """Digest of each stage with all its draws, None for one that is not finished here."""
        return {name: self._digest(name) if self.has(name) else None for name in names}

    def _digest(self, name: str) -> str:
        assert self._store is not None
        return "+".join(self._store.stage(draw).digest for draw in stage_draws(self._store, name))

    def rows(self) -> int:
        """Sentences of the corpus; the lines of its files, at most, where it is not yet read."""
        if self._store is not None:
            return self._store.rows
        lines = 0
        for path in (path for one in self.profile.corpus for path in _found(self.data / one)):
            with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
                lines += sum(1 for _ in file)
        return min(lines, self.profile.rows or lines)

    def commands(self, name: str) -> list[list[str]]:
        """The arguments of each `augment-cli` that makes a stage; the last one writes the stage itself."""
        if name == CORPUS:
            limit = ["--limit", str(self.profile.rows)] if self.profile.rows else []
            words = [*_files(self.data, self.profile.corpus), *self.profile.ingest, *self._allowed, *limit]
            return [["ingest", *words, "--store", str(self.folder)]]
        listed = [list(words) for words in self.grid.stages.get(name, ((name,),))]
        if listed[-1][0] != name:
            listed[-1] += ["--name", name]
        common = ["--store", str(self.folder), "--jobs", str(self.jobs), *self._allowed]
        return [[*words, *common, *self._fetched(words)] for words in listed]

    def _fetched(self, words: list[str]) -> list[str]:
        """What a command that runs a model says where its model may be fetched."""
        return ["--allow-download"] if self.allow_download and _runs_model(words[0]) else []

    @property
    def _allowed(self) -> list[str]:
        """What each command on a corpus says of which the profile leaves most lines out."""
        return ["--max-rejects", "1"] if self.profile.ingest else []

    def reason(self, name: str) -> str:
        """Why a stage that is not there cannot be made here; empty where it can."""
        if name in self._failed:
            return self._failed[name]
        if name == CORPUS:
            files = [self.data / pattern for pattern in self.profile.corpus]
            absent = [str(path) for path in files if not _found(path)]
            return f"{', '.join(absent)} missing" if absent else ""
        words = self.commands(name)[-1]
        if words[0] not in augmentations.names():
            return f"augment-cli has no augmentation {words[0]!r}"
        if "--engine" in words:  # which no download brings
            return _lacking_engine(words[0], words[words.index("--engine") + 1])
        if self.allow_download and _runs_model(words[0]):
            return ""
        if named := [words[words.index(option) + 1] for option in _MODELS if option in words]:
            return "; ".join(filter(None, (_lacking(words[0], model) for model in named)))
        if not self._doctor:
            self._doctor = {entry["what"]: entry for entry in examine(self.folder)}
        entry = self._doctor[words[0]]
        return "" if entry["ready"] else f"{words[0]} lacks {', '.join(entry['missing'])}"

    def make(self, names: Iterable[str], tokenizer: Any = None) -> None:
        """Make what is missing, the corpus first, and cache token ids if a tokenizer is given."""
        for name in (CORPUS, *(name for name in names if name != CORPUS)):
            if not self.has(name):
                self._run(name)
            if name == CORPUS and self.profile.terms and not self.has(TERMS_STAGE):
                self._fit_terms()
            if tokenizer is not None:
                assert self._store is not None
                for draw in stage_draws(self._store, name):
                    cache_tokens(self._store, draw, tokenizer)

    @property
    def counted(self) -> Path:
        """The store whose corpus is counted: that of the profile's `terms`, else its own."""
        return self.folder.with_name(f"{self.folder.name}-terms") if self.profile.terms else self.folder

    def term_commands(self) -> list[list[str]]:
        """The commands that weigh the corpus by the terms of a larger one, which gets a store of its own."""
        large = str(self.counted)
        jobs = ["--jobs", str(self.jobs)]
        return [
            ["ingest", *_files(self.data, self.profile.terms), "--store", large],
            ["fit", "--store", large, *jobs],
            ["fit", "--terms-of", large, "--store", str(self.folder), *jobs, *self._allowed],
        ]

    def _fit_terms(self) -> None:
        done = self._call(self.term_commands())
        if done.returncode:
            raise MissingError(f"{TERMS_STAGE}: {done.stderr.strip()}")

    def _call(self, commands: list[list[str]]) -> subprocess.CompletedProcess[str]:
        """Run commands until one fails; returns how the last one ended."""
        for command in commands:
            print(f"augment-cli {' '.join(command)}", file=sys.stderr, flush=True)
            done = subprocess.run(
                [sys.executable, "-m", "augment_cli", *command], capture_output=True, text=True, check=False
            )
            if done.returncode:
                break
        self.open()
        return done

    def _run(self, name: str) -> None:
        if why := self.reason(name):
            raise MissingError(f"{name}: {why}")
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        done = self._call(self.commands(name))
        if done.returncode or not self.has(name):
            said = " ".join(done.stderr.strip().splitlines()[-_LAST_LINES:])
            self._failed[name] = said or f"augment-cli ended with code {done.returncode}"
            raise MissingError(f"{name}: {self._failed[name]}")
        if name == CORPUS and self.profile.rows and self._store and self._store.rows < self.profile.rows:
            raise UsageError(
                f"{self.folder}: the corpus gave {self._store.rows:,} sentences of {self.profile.rows:,}; "
                f"name more files in profile.{self.profile.name}.corpus of the grid"
            )


def _files(data: Path, patterns: Iterable[str]) -> list[str]:
    """What `ingest` is told of the files of a corpus."""
    return [word for pattern in patterns for word in ("--corpus", str(data / pattern))]


def _found(path: Path) -> list[Path]:
    """The files of a corpus, whose name may be a pattern."""
    return sorted(path.parent.glob(path.name))


def _runs_model(command: str) -> bool:
    return command in augmentations.names() and "model" in augmentations.get(command).needs


def _lacking_engine(augmentation: str, engine: str) -> str:
    """What an augmentation with an engine that is not its usual one lacks; empty where it runs here."""
    descriptor = augmentations.get(augmentation)
    try:
        descriptor.uses(descriptor.parameters(engine=engine), Resources(0, 0))
    except MissingError as error:
        return f"{augmentation}: {error}"
    return ""


def _lacking(augmentation: str, model: str) -> str:
    """What an augmentation with a model of its own lacks; empty where the model is on this machine."""
    try:
        find_folder(model, False, "--model")
    except MissingError:
        return f"{augmentation} lacks model {model}"
    return ""
