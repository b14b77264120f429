"""Answers of a language model, and the texts that are read from them."""

from __future__ import annotations

import functools
from typing import Any

from augment_cli.answers import generate as generating
from augment_cli.answers import read as reading
from augment_cli.answers.client import check_endpoint
from augment_cli.answers.templates import find_template
from augment_cli.contract.generate_parameters import GenerateParameters, ReadParameters
from augment_cli.contract.parameters import MOST_DRAWS
from augment_cli.errors import UsageError
from augment_cli.session.base import StoreSteps


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
