"""A store that is held open, what all stages made in it have in common, and its corpus."""

import contextlib
import dataclasses
import functools
import shlex
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from augment_cli import augmentations
from augment_cli import ingest as ingesting
from augment_cli.contract.parameters import declared
from augment_cli.contract.reasons import Reason, in_words
from augment_cli.engine.engine import Engine
from augment_cli.errors import IncompleteError, UsageError, UserError
from augment_cli.ingest import IngestOptions, IngestReport, checks, memory
from augment_cli.ingest import options as reading
from augment_cli.process.reporter import Reporter, Silent
from augment_cli.resources import SAMPLE
from augment_cli.runs.run import some_texts
from augment_cli.store.manifest import Stage
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from augment_cli.text.untouched import notes_on_writing
from augment_cli.vectors.mine import MINED_STAGE

_FEW = 0.03  # of the rows
_MADE = ("changed", "mined", "given")  # what the statistics of a part call rows with a text


def hardly_any(stage: Stage) -> str:
    """A line on a stage of which nearly no row has a text; empty where enough have one."""
    made, reasons = 0, Counter[str]()
    for part in stage.parts.values():
        numbers = part.statistics
        made += sum(numbers.get(name, 0) for name in _MADE)
        reasons.update(numbers.get("reasons") or {key: numbers[key] for key in Reason if key in numbers})
    del reasons[Reason.BEYOND_LIMIT]  # as was asked for
    rows = made + reasons.total()
    if not reasons or made >= _FEW * rows:
        return ""
    reason, times = reasons.most_common(1)[0]
    return (
        f"{stage.name}: {made:,} of {rows:,} rows have a text; of {times:,} the reason is {str(reason)!r}, "
        f"{in_words(reason)}. {_advice(stage.settings, reason)}"
    )


def _advice(settings: dict[str, Any], reason: str) -> str:
    """Which options may change it."""
    maker, parameters = settings["stage"], settings["parameters"]
    if maker == MINED_STAGE:
        if reason == Reason.NO_CANDIDATE and parameters["by"] == "tfidf":
            return (
                f"Words in more than --max-df {parameters['max_df']:g} of the sentences do not count (1: all "
                "do); --by vectors goes by no words"
            )
        return (
            "--range-min, --range-max, --near-duplicate, --max-score, --min-score and the margins decide it"
        )
    if maker not in augmentations.names():
        return "Look at what it was read from"
    options = [f"--{item.name.replace('_', '-')}" for item in declared(augmentations.get(maker).parameters)]
    if not options:
        return "No option changes that: leave the stage out, or read other text"
    return f"{', '.join(options)} decide it, if anything does (`augment-cli {maker} --help`)"


@dataclass(frozen=True)
class StageResult:
    """What happened to one stage in a run: how long it took, and whether anything was left to do."""

    stage: str
    seconds: float
    was_made: bool


class StoreSteps:
    """A store with what every step needs beside it; used as `with Session(…) as session:`, which locks it."""

    def __init__(
        self,
        store: str | Path,
        engine: Engine | None = None,  # by default one worker for each core
        reporter: Reporter | None = None,
        shared: bool = False,  # let other processes make other parts of the same stages (`--parts`)
        overwrite: bool = False,  # delete the stage that is asked for where its settings differ
        sample: bool = False,  # take the shipped sample where no corpus is named and the store has none
    ) -> None:
        if shared and overwrite:
            raise UsageError("--overwrite deletes stages, and --parts lets others write to them; choose one")
        self._is_new, self._lock = not Path(store).exists(), contextlib.ExitStack()
        self.store, self.reporter = Store.create(store), reporter or Silent()
        self.engine = engine or Engine.for_this_machine()
        self.is_shared, self.overwrites, self.takes_sample = shared, overwrite, sample
        self.results: list[StageResult] = []  # what happened to each stage so far
        self.failures: list[str] = []  # messages about parts that failed for good
        self._said: set[str] = set()  # notes: a recipe has several stages of which the same is true

    def __enter__(self) -> Self:
        self._lock.enter_context(self.store.lock(self.is_shared))
        self.store.reload()  # another run may have written between opening and locking
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        try:
            if kind is not None:
                self.store.discard_if_empty(with_folder=self._is_new)
        finally:
            self._lock.close()
        if kind is None and self.failures:
            raise IncompleteError("\n".join(self.failures))

    def take_failures(self) -> list[str]:
        """Messages about parts that failed for good; once taken, they are the caller's to report."""
        failures, self.failures = self.failures, []
        return failures

    @contextlib.contextmanager
    def keeping(self) -> Iterator[None]:
        """Without `overwrite`: for an earlier stage, which was not the one asked for."""
        overwrites, self.overwrites = self.overwrites, False
        try:
            yield
        finally:
            self.overwrites = overwrites

    def make_room(self, stages: Sequence[str], settings: Callable[[], Settings]) -> None:
        """With `overwrite`, delete a stage that has other settings, and what was made from it."""
        if self.must_make_room(stages, settings):
            self.remove(stages)

    def must_make_room(
        self, stages: Sequence[str], settings: Callable[[], Settings], was_refused: bool = False
    ) -> bool:
        """Whether a stage has other settings and may go: by `--overwrite`, or as a refused corpus left it."""
        present = [stage for stage in stages if stage in self.store.stages()]
        if not (self.overwrites or was_refused) or not present:
            return False
        current = settings()
        return not all(
            self.store.stage(stage).settings["fingerprint"] == current.fingerprint
            or self.store.continues(stage, current)
            for stage in present
        )

    def remove(self, stages: Sequence[str]) -> None:
        """Delete those of the stages that are there, and what was made from them."""
        present = [stage for stage in stages if stage in self.store.stages()]
        hanging = self.store.made_from(*present)
        self.store.remove(*present, *hanging)
        why = "--overwrite" if self.overwrites else "what a refused corpus left"
        self.reporter.warn(f"{why}: removed {', '.join([*present, *hanging])}")

    def check_parts(self, parts: Collection[int] | None) -> None:
        """Refuse parts that the store does not have, unless others are there, as in an array's last task."""
        last = len(self.store.parts) - 1
        beyond = sorted(number for number in parts or () if number > last)
        if beyond and len(beyond) == len(parts or ()):
            raise UsageError(
                f"--parts: there is no part {beyond[0]}; numbers start at 0, and the last one here is {last}"
            )
        if beyond:
            self.reporter.warn(f"--parts: {beyond[0]} and higher are left out, as the last part is {last}")

    @contextlib.contextmanager
    def timed(self, stage: str, rows: int | None) -> Iterator[Callable[[int], None]]:
        """Make a stage within the `with` block; its value is called with rows done since the last call."""
        done = 0

        def count(rows_done: int) -> None:
            nonlocal done
            done += rows_done
            show(rows_done)

        start = time.perf_counter()
        with self.reporter.progress(stage, rows) as show:
            yield count
        self.results.append(StageResult(stage, time.perf_counter() - start, done > 0))
        if done and self.store.has(stage) and (line := hardly_any(self.store.stage(stage))):
            self.reporter.warn(line)


# What other stages are called, so that no column of pairs can be.
_STAGES = ("corpus", "rejects", "tfidf", "terms", "parses", "pack", "vectors", "answers", "read")
_TAKEN = {*augmentations.names(), *_STAGES}


class CorpusSteps(StoreSteps):
    """The steps that make the corpus, and the stages of pairs that come with it."""

    def ingest(
        self,
        corpus: Sequence[str | Path] | None = None,
        options: IngestOptions | None = None,
        *,
        texts: Any = None,
        strict: bool = False,
        max_rejects: float = 0.01,
    ) -> IngestReport | None:
        """Make the corpus: from `corpus`, or `texts` in memory; else keep the store's own."""
        options = options or IngestOptions()
        # `texts` is what `augment_cli.ingest.memory.as_arrow` takes. Only one of the two can be given.
        if texts is not None:
            if corpus is not None:
                raise UsageError("give either files (corpus) or sentences (texts), not both")
            spooled = memory.spool(self.store, texts, options)
            try:
                return self.ingest([spooled], options, strict=strict, max_rejects=max_rejects)
            except UserError as error:
                error.args = (str(error).replace(str(spooled), "texts"),)
                raise
            finally:
                self.store.clean_work(memory.FOLDER)
        reading.check_columns(self.store, options, _TAKEN)
        if corpus is None and "rejects" in self.store.stages():
            if self.store.has("corpus") and self.store.has("rejects"):
                reading.refuse_other_options(self.store, options)
                self._give_pairs(options)
                ingesting.report_of(self.store).check_stored(max_rejects, str(self.store.path))
                if not self.is_shared:  # each of many tasks would say it
                    self.reporter.say(f"No --corpus: using the store's own ({self.store.rows:,} sentences).")
                return None
            of_sample = ingesting.corpus_settings(ingesting.find_files([SAMPLE]), options)
            if of_sample.fingerprint != self.store.stage("rejects").settings["fingerprint"]:
                raise UsageError(f"{self.store.path}: its corpus is unfinished; give the same --corpus again")
        if self.is_shared:
            raise UsageError("--parts needs a corpus in the store; run `augment-cli ingest` first")
        if corpus is None:
            if not self.takes_sample:
                raise UsageError(
                    f"{self.store.path}: no corpus there, and none is named; give files (corpus=…), "
                    "sentences (texts=…), or the shipped sample (corpus=augment_cli.SAMPLE)"
                )
            if not SAMPLE.exists():
                raise UsageError(f"{SAMPLE}: the sample corpus is missing; name your own with --corpus")
            self.reporter.say(f"No --corpus: using the shipped sample ({SAMPLE.name}).")
        chosen, make_room = corpus or [SAMPLE], None
        if ingesting.STDIN not in chosen:
            both = ["corpus", "rejects"]
            if self.must_make_room(
                both,
                lambda: ingesting.corpus_settings(ingesting.find_files(chosen), options),
                self._was_refused(max_rejects),
            ):
                # Once all is read, so that nothing is lost.
                make_room = functools.partial(self.remove, both)
        elif self.overwrites:
            raise UsageError("--overwrite cannot compare standard input; name the files with --corpus")
        with self.timed("corpus", None) as progress:
            report = ingesting.ingest(
                self.store, chosen, options, strict=strict, progress=progress, make_room=make_room
            )
        self._give_pairs(options)  # in any case: whoever goes on with what is left has them
        report.check(max_rejects, str(self.store.path))
        self._warn_of_rejects(report)
        for note in notes_on_writing(some_texts(self.store)):
            self.reporter.say(note)
        return report

    def _was_refused(self, max_rejects: float) -> bool:
        """Whether the corpus that is there is what a refused reading left, and nothing was made of it."""
        others = [self.store.stage(name).settings["stage"] for name in self.store.stages()]
        both = ("corpus", "rejects")  # a removal may have ended between the two
        if self.is_shared or not all(map(self.store.has, both)) or {*others} - {*both, reading.GIVEN}:
            return False
        try:
            ingesting.report_of(self.store).check(max_rejects)
        except IncompleteError:
            return True
        return False

    def append(
        self,
        corpus: Sequence[str | Path] | None = None,
        options: IngestOptions | None = None,
        *,
        texts: Any = None,
        strict: bool = False,
        max_rejects: float = 0.01,
    ) -> IngestReport:
        """Read further files, or `texts` in memory, into the corpus, as parts behind those that are there."""
        # They are read as the corpus was; other `options` are refused. Stages of given pairs are continued
        # at once, all others when they are asked for.
        options = options or IngestOptions()
        if (corpus is None) == (texts is None):
            raise UsageError(
                "--append needs what to read: name files with --corpus (in Python, or give texts=)"
            )
        if self.overwrites:
            raise UsageError("--append keeps all that is there, and --overwrite deletes it; choose one")
        ingesting.check_appendable(self.store)
        reading.check_columns(self.store, options, _TAKEN)
        reading.refuse_other_options(self.store, options)
        reading.begin_all(self.store, options)
        as_before = reading.stored_options(self.store)
        if as_before.line_breaks == "reject":  # or nothing was recorded; each appended part has its own
            as_before = dataclasses.replace(as_before, line_breaks=options.line_breaks)
        if texts is not None:
            corpus = [memory.spool(self.store, texts, as_before)]
        try:
            before = len(self.store.parts)
            with self.timed("corpus", None) as progress:
                report = ingesting.append(
                    self.store, corpus or [], as_before, strict=strict, progress=progress
                )
        finally:
            self.store.clean_work(memory.FOLDER)
        self.reporter.say(ingesting.what_was_appended(self.store, report, before))
        for name in self.store.stages():
            made_by = self.store.stage(name).settings
            if made_by["stage"] == reading.GIVEN:
                self._make_given(name, made_by["parameters"]["kind"])
        report.check(max_rejects, str(self.store.path), appended=True)
        if len(self.store.parts) > before:
            self._warn_of_rejects(report)
        return report

    def _warn_of_rejects(self, report: IngestReport) -> None:
        if report.left_out:
            more = f" and {len(report.left_out) - 3} more" if len(report.left_out) > 3 else ""
            self.reporter.warn(f"read once, though named twice: {', '.join(report.left_out[:3])}{more}")
        for note in report.notes:
            self.reporter.say(note)
        if report.joined:
            self._say_joined(report.joined)
        if report.rejected:
            self.reporter.warn(
                f"{report.rejected:,} of {report.read:,} lines set aside: "
                + ", ".join(f"{count:,} {reason}" for reason, count in sorted(report.reasons.items()))
                + f"; see them with `augment-cli inspect rejects --store {shlex.quote(str(self.store.path))}`"
            )

    def _give_pairs(self, options: IngestOptions) -> None:
        """Make the stages of the columns that hold the user's own positives and negatives."""
        for column, role in reading.roles_of(options).items():
            self.make_room([column], functools.partial(reading.given_settings, self.store, column, role))
        reading.begin_all(self.store, options)
        for column, role in reading.roles_of(options).items():
            self._make_given(column, role)

    def _make_given(self, column: str, role: str) -> None:
        with self.timed(column, None) as progress:
            counted = reading.make_given(self.store, column, role)
            progress(self.store.rows)
        if joined := counted.pop(checks.JOINED, 0):
            self._say_joined(joined, f"of {column}")
        total, given = counted.total(), counted.pop("given", 0)
        if counted:
            reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(counted.items()))
            self.reporter.say(f"{column}: {given:,} of {total:,} rows have a text; without one: {reasons}")

    def _say_joined(self, count: int, of: str = "") -> None:
        self.reporter.say(
            f"{count:,} texts {of + ' ' * bool(of)}had line breaks, each made one space; see --line-breaks"
        )
