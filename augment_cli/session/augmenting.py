"""Augmentations, and before them what they need: the terms of the corpus, and its parses."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection
from pathlib import Path

from augment_cli import augmentations
from augment_cli.errors import IncompleteError, UsageError
from augment_cli.parsing import stage as parsing
from augment_cli.parsing.pipelines import find_pipeline
from augment_cli.runs.run import AugmentationRun, make_run
from augment_cli.runs.stored import augment_store
from augment_cli.runs.stored import check as check_chain
from augment_cli.session.base import StoreSteps
from augment_cli.syntax.parses import stage_name
from augment_cli.tfidf import fit as tfidf
from augment_cli.tfidf.forms import FormCounts, make_forms
from augment_cli.tfidf.names import forms_name, stage_names
from augment_cli.tokenization import TOKENIZERS, share_without_spaces

_MOSTLY = 0.3  # share of characters of a script from which its tokeniser matters


class AugmentationSteps(StoreSteps):
    """The steps that fit the terms, parse the sentences and make an augmentation."""

    def fit(
        self, options: tfidf.FitOptions | None = None, name: str | None = None, with_forms: bool = True
    ) -> None:
        """Make a TF-IDF matrix and its term table; an existing one is kept unless `options` are given."""
        counted = self._fit(options, name, with_forms)
        stage = forms_name(name)
        if not with_forms or self.store.has(stage):
            return
        if self.is_shared:
            raise UsageError("--parts needs the forms of the fit in the store; run `augment-cli fit` first")
        with self.timed(stage, self.store.rows) as progress:
            make_forms(self.store, name, self.engine, progress, counted)

    def _fit(self, options: tfidf.FitOptions | None, name: str | None, with_forms: bool) -> FormCounts | None:
        matrix, table = stage_names(name)
        fits_again = options is not None
        if options is None:
            if self.store.has(matrix) and self.store.has(table):
                return None
            options = tfidf.FitOptions()
            if table in self.store.stages():  # begun: finish it as it was begun
                stored = self.store.stage(table).settings["parameters"]
                options = tfidf.FitOptions(stored["tokenizer"], stored["min_df"], tuple(stored["stages"]))
        if self.is_shared:
            raise UsageError("--parts needs a fit in the store; run `augment-cli fit` first")
        options.check()
        self._warn_of_scripts(options)
        chosen = options
        if fits_again:
            self.make_room([table, matrix], lambda: tfidf.fit_settings(self.store, chosen))
        rows = self.store.rows + sum(self.store.stage(stage).rows for stage in options.stages)
        with self.timed(matrix, rows) as progress:
            counted = tfidf.fit(self.store, options, name, self.engine, progress, with_forms)
        if note := tfidf.vocabulary_note(self.store, name, options):
            self.reporter.say(note)
        return counted

    def _warn_of_scripts(self, options: tfidf.FitOptions) -> None:
        """A tokeniser that goes by spaces takes whole sentences of some scripts as one term."""
        if options.tokenizer not in TOKENIZERS or not self.store.parts:
            return
        texts = self.store.read_part("corpus", 0, ["text"], [0])["text"].combine_chunks()
        if (share := share_without_spaces(texts)) > _MOSTLY:
            self.reporter.warn(
                f"{share:.0%} of the text is in a script without spaces between words, of which the "
                f"tokeniser {options.tokenizer!r} makes a term of each phrase; name one for the language: "
                f"`augment-cli fit --tokenizer package.module:callable --store {self.store.path}`"
            )

    def parse(
        self,
        pipeline: str | Path | None = None,
        name: str | None = None,
        parts: Collection[int] | None = None,
    ) -> None:
        """Parse the corpus with a spaCy pipeline; parses that are there are kept unless one is named."""
        stage = stage_name(name)
        if pipeline is None and self.store.has(stage):
            return
        if self.is_shared and parts is None:
            raise UsageError(
                "--parts needs parses in the store; run `augment-cli parse` first (it takes --parts too)"
            )
        self.check_parts(parts)
        source = parsing.chosen_pipeline(self.store, stage, pipeline)
        if pipeline is not None:
            self.make_room([stage], lambda: parsing.parse_settings(self.store, source, stage))
        work = parsing.begin(self.store, source, stage, parts)
        with self.timed(stage, work.rows) as progress:
            parsing.finish(self.store, work, self.engine, progress)

    def augment(
        self,
        run: AugmentationRun,
        stage: str | None = None,
        draws: int = 1,
        parts: Collection[int] | None = None,
    ) -> list[str]:
        """Make `draws` independent draws of an augmentation, and before it what it needs."""
        # Where parts fail for good, the rest goes on; `IncompleteError` is raised at the session's end,
        # unless the failures are taken (`take_failures`).
        if draws < 1:
            raise UsageError(f"--draws {draws}: must be at least 1")
        if stage is not None and re.fullmatch(r".+\.\d+", stage):
            raise UsageError(
                f"--name {stage}: a number behind a dot is the number of a further draw (--draws); choose "
                "another name"
            )
        if run.of in augmentations.names() and run.of not in self.store.stages() and not self.is_shared:
            with self.keeping():
                self.augment(make_run(run.of, fit=run.fit, parses=run.parses))
        run = run.resolved(self.store, stage)
        run.check_named(self.store)
        if run.of:
            check_chain(self.store, run)
        run.check_language(run.pipeline(self.store))
        if run.folder(stage) not in self.store.stages():
            self.check_texts(run)
        # Before what it needs is made, which may take long.
        self.store.check_name(run.of_draw(0, draws).folder(stage), run.name)
        if "tfidf" in run.needs:
            self.fit(name=run.fit, with_forms="forms" in run.needs)
        if "parses" in run.needs:
            self.parse(name=run.parses)
        for note in () if self.is_shared else run.notes(self.store):
            if note not in self._said:
                self._said.add(note)
                self.reporter.say(note)
        for warning in run.warnings(self.store):
            self.reporter.warn(warning)
        self.check_parts(parts)
        folders = []
        for draw in range(draws):
            one = run.of_draw(draw, draws)
            folders.append(one.folder(stage))
            self.make_room(folders[-1:], functools.partial(one.settings, self.store))
            with self.timed(folders[-1], self._rows_to_make(one, folders[-1], parts)) as progress:
                try:
                    augment_store(self.store, one, stage, self.engine, progress, parts)
                except IncompleteError as error:
                    self.failures.append(str(error))
        return folders

    def check_texts(self, run: AugmentationRun, pipeline: str | Path | None = None) -> None:
        """Refuse a corpus in another language than rules or pipeline are for, unless the run insists."""
        named = run.pipeline(self.store) if pipeline is None else None
        if named is None or "parses" not in run.needs:
            named = find_pipeline(pipeline).name if "parses" in run.needs else None
        run.check_texts(self.store, named)

    def _rows_to_make(self, run: AugmentationRun, folder: str, parts: Collection[int] | None) -> int:
        """Rows that are left for a run to do: not those of finished parts, nor those beyond its `rows`."""
        finished = self.store.stage(folder).parts if folder in self.store.stages() else {}
        return sum(
            run.rows_in_reach(first, count)
            for index, (first, count) in enumerate(self.store.parts)
            if index not in finished and (parts is None or index in parts)
        )
