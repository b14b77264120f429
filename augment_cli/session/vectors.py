"""Vectors and what comparing them makes (scores, negatives, packed tables); a model's answers."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

from augment_cli.answers import generate as generating
from augment_cli.answers import read as reading
from augment_cli.answers.client import check_endpoint
from augment_cli.answers.templates import find_template
from augment_cli.contract.generate_parameters import GenerateParameters, ReadParameters
from augment_cli.contract.parameters import MOST_DRAWS
from augment_cli.contract.vector_parameters import CombineParameters
from augment_cli.errors import UsageError
from augment_cli.pack import (
    PACK_STAGE,
    PackOptions,
    check_cost,
    cost_of,
    cost_of_filters,
    costs_of_parts,
    pack,
    pack_settings,
    sides_of,
)
from augment_cli.session.augmenting import AugmentationSteps
from augment_cli.session.base import StoreSteps
from augment_cli.vectors import combine as combining
from augment_cli.vectors import embed as embedding
from augment_cli.vectors import mine as mining
from augment_cli.vectors import score as scoring
from augment_cli.vectors.cosines import is_mined
from augment_cli.vectors.mine_parameters import MineParameters, mine_settings, mined_names
from augment_cli.vectors.stages import (
    CORPUS_STAGE,
    EmbedParameters,
    as_stored,
    chosen_set,
    vectors_name,
    wanted,
)


class VectorSteps(AugmentationSteps):
    """The steps that embed, combine, score, mine and pack."""

    def embed(
        self, of: str = CORPUS_STAGE, parameters: EmbedParameters | None = None, name: str | None = None
    ) -> str:
        """Make sentence vectors of a stage's texts, by the installed MiniLM where no model is named."""
        parameters = parameters or EmbedParameters()
        self.make_room([vectors_name(of, name)], lambda: wanted(self.store, of, parameters, name)[2])
        work = embedding.begin(self.store, of, parameters, name)
        with self.timed(work.stage, work.rows) as progress:
            embedding.finish(self.store, work, self.engine, progress)
        return work.stage

    def combine(self, sets: Sequence[str], name: str, parameters: CombineParameters | None = None) -> str:
        """Make a set of vectors of the corpus out of others, smoothed over each sentence's neighbourhood."""
        parameters = parameters or CombineParameters()
        if parameters.lexical:
            self.fit(with_forms=False)
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
        with self.timed(work.stage, work.rows) as progress:
            scoring.finish(self.store, work, self.engine, progress)
        return work.stage

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

    def pack(self, options: PackOptions, stage: str = PACK_STAGE, dry_run: bool = False) -> list[str]:
        """Make the table that sentence-transformers trains on; say what each filter and each column costs."""
        # Vectors that filters or scores need and that are missing are made before it, but not in a dry run,
        # which stops when it has said what the filters cost.
        if options.compared:
            options = dataclasses.replace(options, vectors=chosen_set(self.store, options.vectors))
        if dry_run:
            self.reporter.say(check_cost(self.store, options, cost_of_filters(self.store, options)))
            return []
        if options.compared:
            own = [name for name in options.compared if not is_mined(self.store, name)]
            self.embed_missing((CORPUS_STAGE, *own), None, options.vectors)
        first, *further = sides = sides_of(options, stage)
        for name, one in sides.items():
            settings = functools.partial(pack_settings, self.store, one)
            if options.is_filtered and self.must_make_room([name], settings):  # before anything is deleted
                check_cost(self.store, options, cost_of_filters(self.store, options))
            self.make_room([name], settings)
        with self.timed(first, self.store.rows) as progress:
            pack(self.store, options, stage, self.engine, progress)
        results = self.results
        results += [dataclasses.replace(results[-1], stage=name) for name in further]
        parts = [part for name in sides for part in self.store.stage(name).parts.values()]
        if options.is_filtered and (costs := costs_of_parts(options, parts)):
            self.reporter.say(check_cost(self.store, options, costs))
        for name in sides:
            if cost := cost_of(self.store, name):
                tell = self.reporter.say if self.store.stage(name).rows else self.reporter.warn
                tell(cost)
        return list(sides)


class AnswerSteps(StoreSteps):
    """The steps that ask, and read."""

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
