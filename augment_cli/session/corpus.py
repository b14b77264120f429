"""The corpus: read from files or memory, and continued."""

from __future__ import annotations

import dataclasses
import functools
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from augment_cli import augmentations
from augment_cli.errors import IncompleteError, UsageError, UserError
from augment_cli.ingest import (
    STDIN,
    IngestOptions,
    IngestReport,
    checks,
    corpus_settings,
    find_files,
    ingest,
    memory,
    pairs,
    report_of,
)
from augment_cli.ingest.appending import append, check_appendable, what_was_appended
from augment_cli.ingest.options import refuse_other_options, stored_options
from augment_cli.resources.sample import SAMPLE
from augment_cli.session.base import StoreSteps

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
        pairs.check_columns(self.store, options, _TAKEN)
        if corpus is None and "rejects" in self.store.stages():
            if self.store.has("corpus") and self.store.has("rejects"):
                refuse_other_options(self.store, options)
                self._give_pairs(options)
                report_of(self.store).check_stored(max_rejects, str(self.store.path))
                if not self.is_shared:  # each of many tasks would say it
                    self.reporter.say(f"No --corpus: using the store's own ({self.store.rows:,} sentences).")
                return None
            of_sample = corpus_settings(find_files([SAMPLE]), options)
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
        if STDIN not in chosen:
            both = ["corpus", "rejects"]
            if self.must_make_room(
                both, lambda: corpus_settings(find_files(chosen), options), self._was_refused(max_rejects)
            ):
                # Once all is read, so that nothing is lost.
                make_room = functools.partial(self.remove, both)
        elif self.overwrites:
            raise UsageError("--overwrite cannot compare standard input; name the files with --corpus")
        with self.timed("corpus", None) as progress:
            report = ingest(
                self.store, chosen, options, strict=strict, progress=progress, make_room=make_room
            )
        self._give_pairs(options)  # in any case: whoever goes on with what is left has them
        report.check(max_rejects, str(self.store.path))
        self._warn_of_rejects(report)
        return report

    def _was_refused(self, max_rejects: float) -> bool:
        """Whether the corpus that is there is what a refused reading left, and nothing was made of it."""
        others = [self.store.stage(name).settings["stage"] for name in self.store.stages()]
        both = ("corpus", "rejects")  # a removal may have ended between the two
        if self.is_shared or not all(map(self.store.has, both)) or {*others} - {*both, pairs.GIVEN}:
            return False
        try:
            report_of(self.store).check(max_rejects)
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
        check_appendable(self.store)
        pairs.check_columns(self.store, options, _TAKEN)
        refuse_other_options(self.store, options)
        pairs.begin_all(self.store, options)
        reading = stored_options(self.store)
        if reading.line_breaks == "reject":  # or nothing was recorded; each appended part has its own
            reading = dataclasses.replace(reading, line_breaks=options.line_breaks)
        if texts is not None:
            corpus = [memory.spool(self.store, texts, reading)]
        try:
            before = len(self.store.parts)
            with self.timed("corpus", None) as progress:
                report = append(self.store, corpus or [], reading, strict=strict, progress=progress)
        finally:
            self.store.clean_work(memory.FOLDER)
        self.reporter.say(what_was_appended(self.store, report, before))
        for name in self.store.stages():
            made_by = self.store.stage(name).settings
            if made_by["stage"] == pairs.GIVEN:
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
        for column, role in pairs.roles_of(options).items():
            self.make_room([column], functools.partial(pairs.given_settings, self.store, column, role))
        pairs.begin_all(self.store, options)
        for column, role in pairs.roles_of(options).items():
            self._make_given(column, role)

    def _make_given(self, column: str, role: str) -> None:
        with self.timed(column, None) as progress:
            counted = pairs.make_given(self.store, column, role)
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
