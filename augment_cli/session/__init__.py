"""A store opened to make stages in it: the earlier ones that are missing, then the one asked for.

The commands and the Python interface both work through a `Session`.
"""

import dataclasses
import functools
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from augment_cli import augmentations
from augment_cli import pack as packing
from augment_cli.answers import generate as generating
from augment_cli.answers import read as reading
from augment_cli.answers.client import check_endpoint
from augment_cli.answers.templates import find_template
from augment_cli.contract.generate_parameters import GenerateParameters, ReadParameters
from augment_cli.contract.parameters import MOST_DRAWS
from augment_cli.contract.vector_parameters import CombineParameters, EmbedParameters, MineParameters
from augment_cli.errors import IncompleteError, UsageError
from augment_cli.languages import against, registered
from augment_cli.parsing import stage as parsing
from augment_cli.parsing.pipelines import find_pipeline
from augment_cli.process.reporter import Reporter, Silent
from augment_cli.resources import SAMPLE
from augment_cli.runs.run import AugmentationRun, make_run, some_texts
from augment_cli.runs.stored import augment_store
from augment_cli.runs.stored import check as check_chain
from augment_cli.session.base import CorpusSteps, StageResult
from augment_cli.syntax.parses import stage_name
from augment_cli.tfidf import fit as tfidf
from augment_cli.tfidf.term_table import FormCounts, forms_name, make_forms, stage_names
from augment_cli.tokenization import share_without_spaces
from augment_cli.vectors import combine as combining
from augment_cli.vectors import embed as embedding
from augment_cli.vectors import mine as mining
from augment_cli.vectors import score as scoring
from augment_cli.vectors.cosines import is_mined
from augment_cli.vectors.mine import mine_settings, mined_names
from augment_cli.vectors.stages import CORPUS_STAGE, as_stored, chosen_set, vectors_name, wanted

_MOSTLY = 0.3  # share of characters of a script from which its tokeniser matters
__all__ = ["SAMPLE", "Reporter", "Session", "Silent", "StageResult"]


class Session(CorpusSteps):
    """A store, an engine and a reporter, with one method for each kind of stage; it holds the store's lock.

    Used as `with Session(…) as session:`.
    """

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
        """Warn of a script without spaces, of which a tokeniser takes whole sentences as one term."""
        if options.tokenizer in ("treebank", "nltk") and (share := self._without_spaces()) > _MOSTLY:
            self.reporter.warn(
                f"{share:.0%} of the text is in a script without spaces between words, of which the "
                f"tokeniser {options.tokenizer!r} makes a term of each phrase; name one for the language: "
                f"`augment-cli fit --tokenizer characters --store {self.store.path}`, or a module:callable"
            )

    def _without_spaces(self) -> float:
        """Share of the first texts' characters that are of a script without spaces between words."""
        if not self.store.parts:
            return 0.0
        return share_without_spaces(self.store.read_part("corpus", 0, ["text"], [0])["text"].combine_chunks())

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
        if not self.store.has(stage):
            self._warn_of_language(source.name)
        work = parsing.begin(self.store, source, stage, parts)
        with self.timed(stage, work.rows) as progress:
            parsing.finish(self.store, work, self.engine, progress)

    def _warn_of_language(self, pipeline: str) -> None:
        """Warn where the text looks to be in another language than the pipeline's."""
        code = pipeline.partition("_")[0]
        if found := against(some_texts(self.store), code):
            self.reporter.warn(
                f"pipeline {pipeline} is for {registered()[code].name}, and the text does not look so "
                f"({found}): its parses say nothing of it; `augment-cli parse --pipeline NAME --overwrite` "
                "takes another"
            )

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
                self.reporter.say(note)
            self._said.add(note)
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

    def check_texts(self, run: AugmentationRun, pipeline: str | None = None) -> None:
        """Refuse a corpus in another language than rules or pipeline are for, unless the run insists."""
        reads = "parses" in run.needs
        run.check_texts(
            self.store, pipeline or run.pipeline(self.store) or find_pipeline().name if reads else None
        )

    def _rows_to_make(self, run: AugmentationRun, folder: str, parts: Collection[int] | None) -> int:
        """Rows that are left for a run to do: not those of finished parts, nor those beyond its `rows`."""
        finished = self.store.stage(folder).parts if folder in self.store.stages() else {}
        return sum(
            run.rows_in_reach(first, count)
            for index, (first, count) in enumerate(self.store.parts)
            if index not in finished and (parts is None or index in parts)
        )

    def embed(
        self, of: str = CORPUS_STAGE, parameters: EmbedParameters | None = None, name: str | None = None
    ) -> str:
        """Make sentence vectors of a stage's texts, by the installed MiniLM where no model is named."""
        parameters = parameters or EmbedParameters()
        self.make_room([vectors_name(of, name)], lambda: wanted(self.store, of, parameters, name)[2])
        work = embedding.begin(self.store, of, parameters, name)
        return self._finished(embedding, work)

    def combine(self, sets: Sequence[str], name: str, parameters: CombineParameters | None = None) -> str:
        """Make a set of vectors of the corpus out of others, smoothed over each sentence's neighbourhood."""
        parameters = parameters or CombineParameters()
        if parameters.lexical:
            options = tfidf.FitOptions("characters") if self._without_spaces() > _MOSTLY else None
            made = all(map(self.store.has, stage_names(None)))
            self.fit(None if made else options, with_forms=False)
        stage = vectors_name(name=name)
        self.make_room([stage], lambda: combining.combine_settings(self.store, sets, parameters))
        with self.timed(stage, self.store.rows) as progress:
            return combining.combine(self.store, sets, parameters, name, progress)

    def score(
        self,
        of: str,
        options: scoring.ScoreOptions | None = None,
        name: str | None = None,
        parameters: EmbedParameters | None = None,
    ) -> str:
        """Score a stage's texts, and before it make the vectors and the fit that are missing."""
        options = options or scoring.ScoreOptions()
        options.check()
        self.store.stage(of)  # there must be one
        if "unknown_words" in options.columns:
            self.fit(name=options.fit, with_forms=False)
        if options.needs_vectors:
            options = dataclasses.replace(options, vectors=chosen_set(self.store, options.vectors))
            self.embed_missing((CORPUS_STAGE, of), parameters, options.vectors)
        stage = scoring.scores_name(of, name)
        self.make_room([stage], lambda: scoring.score_settings(self.store, of, options)[0])
        work = scoring.begin(self.store, of, options, name)
        return self._finished(scoring, work)

    def _finished(self, room: Any, work: Any) -> str:
        with self.timed(work.stage, work.rows) as progress:
            room.finish(self.store, work, self.engine, progress)
        return str(work.stage)

    def mine(
        self,
        options: MineParameters | None = None,
        stage: str | None = None,
        fit: str | None = None,
        vectors: str | None = None,
        parameters: EmbedParameters | None = None,
    ) -> list[str]:
        """Mine hard negatives from the corpus, and before it make the vectors or the fit that are missing."""
        options = options or MineParameters()
        options.check()
        if options.by == "tfidf":
            self.fit(name=fit, with_forms=False)
        else:
            vectors = chosen_set(self.store, vectors)
            stages = (CORPUS_STAGE, *([options.positive] if options.positive else []))
            self.embed_missing(stages, parameters, vectors)
        for number, name in enumerate(mined_names(options, stage)):
            settings = functools.partial(mine_settings, self.store, options, fit, vectors, number)
            self.make_room([name], settings)
        work = mining.begin(self.store, options, stage, fit, vectors)
        with self.timed(work.stages[0], work.rows) as progress:
            mining.finish(self.store, work, self.engine, progress)
        return work.stages

    def embed_missing(
        self, stages: Sequence[str], parameters: EmbedParameters | None, name: str | None
    ) -> None:
        """Make those vectors that are not there, all by one encoder."""
        for of in stages:
            if not self.store.has(vectors_name(of, name)):
                alike = as_stored(self.store, [vectors_name(other, name) for other in stages], parameters)
                with self.keeping():
                    self.embed(of, alike, name)

    def pack(
        self, options: packing.PackOptions, stage: str = packing.PACK_STAGE, dry_run: bool = False
    ) -> list[str]:
        """Make the table that sentence-transformers trains on; say what each filter and each column costs."""
        # Vectors that filters or scores need and that are missing are made before it, but not in a dry run,
        # which stops when it has said what the filters cost.
        if options.compared:
            options = dataclasses.replace(options, vectors=chosen_set(self.store, options.vectors))
        if dry_run:
            self.reporter.say(
                packing.check_cost(self.store, options, packing.cost_of_filters(self.store, options))
            )
            return []
        if options.compared:
            own = [name for name in options.compared if not is_mined(self.store, name)]
            self.embed_missing((CORPUS_STAGE, *own), None, options.vectors)
        first, *further = sides = packing.sides_of(options, stage)
        for name, one in sides.items():
            settings = functools.partial(packing.pack_settings, self.store, one)
            if options.is_filtered and self.must_make_room([name], settings):  # before anything is deleted
                packing.check_cost(self.store, options, packing.cost_of_filters(self.store, options))
            self.make_room([name], settings)
        with self.timed(first, self.store.rows) as progress:
            packing.pack(self.store, options, stage, self.engine, progress)
        results = self.results
        results += [dataclasses.replace(results[-1], stage=name) for name in further]
        parts = [part for name in sides for part in self.store.stage(name).parts.values()]
        if options.is_filtered and (costs := packing.costs_of_parts(options, parts)):
            self.reporter.say(packing.check_cost(self.store, options, costs))
        for name in sides:
            if cost := packing.cost_of(self.store, name):
                tell = self.reporter.say if self.store.stage(name).rows else self.reporter.warn
                tell(cost)
        return list(sides)

    def generate(self, parameters: GenerateParameters, name: str | None = None, draws: int = 1) -> list[str]:
        """Ask a model about each row of the corpus; what was answered before is not asked again."""
        if not 1 <= draws <= MOST_DRAWS:
            raise UsageError(f"--draws {draws}: must be 1 to {MOST_DRAWS:,}")
        stages = []
        for draw in range(draws):
            work = self._planned(parameters, name, draw)
            requests = generating.estimate(self.store, work)["requests"]
            with self.timed(work.stage, requests) as progress:
                account = generating.finish(self.store, work, progress)
            for line in account.lines(parameters.model):
                self.reporter.say(line)
            stages.append(work.stage)
        return stages

    def _planned(self, parameters: GenerateParameters, name: str | None, draw: int = 0) -> generating.Work:
        if not parameters.runs_here:
            check_endpoint(parameters.endpoint, parameters.allow_remote)
        template = find_template(parameters.template)
        settings = functools.partial(generating.answers_settings, self.store, template, parameters, draw)
        self.make_room([generating.answers_name(str(template.name), name, draw)], settings)
        return generating.plan(self.store, parameters, name, draw, begins=True)

    def sample(
        self, parameters: GenerateParameters, count: int, name: str | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Ask a few of what `generate` would, and keep the answers for it."""
        work = self._planned(parameters, name)
        with self.reporter.progress(work.stage, count) as progress:
            tried = generating.sample(self.store, work, count, progress)
        for line in tried.account.lines(parameters.model):
            self.reporter.say(line)
        left = generating.estimate(self.store, work)
        seconds = {"seconds": tried.seconds, "seconds_left": tried.seconds_for(left["requests"])}
        return work.stage, {**left, "asked": tried.account.sums["requests"], **seconds}

    def read(self, answers: str, parameters: ReadParameters | None = None, name: str | None = None) -> str:
        """Make texts of answers, each with its label or a reason."""
        parameters = parameters or ReadParameters()
        stage = reading.read_name(answers, name)
        self.make_room([stage], lambda: reading.read_settings(self.store, answers, parameters))
        with self.timed(stage, self.store.rows) as progress:
            return reading.read(self.store, answers, parameters, name, progress)

    def paraphrase(
        self, parameters: GenerateParameters, faithful: bool = False, name: str | None = None, draws: int = 1
    ) -> list[str]:
        """Ask a model, and make texts of its answers, in one go."""
        own = parameters.template if parameters.template.endswith(".toml") else None
        answers = self.generate(parameters, name, draws)
        return [self.read(one, ReadParameters(template=own, faithful=faithful)) for one in answers]
