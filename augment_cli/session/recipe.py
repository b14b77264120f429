"""All augmentations of a recipe, run."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from augment_cli.errors import IncompleteError, MissingError
from augment_cli.parsing.pipelines import find_pipeline
from augment_cli.runs.recipe import RecipeRun
from augment_cli.runs.run import AugmentationRun
from augment_cli.runs.stored import share_changed
from augment_cli.session import Session, StageResult
from augment_cli.store.store import Store


@dataclass(frozen=True)
class RecipeResult:
    """What came of a recipe."""

    store: Store  # ready to be read
    stages: list[StageResult]  # all that were needed, in order: whether each was made now, and its seconds
    folders: list[str]  # the recipe's own stages that could be run, one for each draw
    missing: dict[str, str]  # stages whose model is not on this machine, and what would get it
    failures: list[str]  # messages about parts that failed for good; the same recipe tries them again

    @property
    def stages_made(self) -> list[str]:
        """Names of the stages that were not there before."""
        return [result.stage for result in self.stages if result.was_made]

    @property
    def seconds(self) -> dict[str, float]:
        """How long each stage took that was not there before."""
        return {result.stage: result.seconds for result in self.stages if result.was_made}

    def check(self) -> None:
        """Raise `MissingError` if a model is not on this machine, `IncompleteError` if parts failed."""
        if self.missing:
            advice = (
                "in a recipe, --set STAGE.model=FOLDER names a model, --set STAGE.allow_download=true gets it"
            )
            lines = [f"{stage}: {message}" for stage, message in self.missing.items()]
            lines += self.failures or ["All other stages are there; " + advice]
            raise MissingError("\n".join(lines))
        if self.failures:
            raise IncompleteError("\n".join(self.failures))


def run_all(
    session: Session, runs: Sequence[RecipeRun], pipeline: str | Path | None, least_changed: float = 0.0
) -> RecipeResult:
    """Run all augmentations of a recipe, and before them whatever is missing; the corpus is there.

    A rule that changes less than the share `least_changed` of some rows is left out, and said.
    """
    folders: list[str] = []
    missing: dict[str, str] = {}
    parses_first = _parse_comes_first([item.run for item in runs], pipeline)
    named = find_pipeline(pipeline).name if parses_first and pipeline is not None else None
    for item in runs:  # before anything is made
        run, by_name = item.run, named if item.run.parses is None else None
        run.check_language(by_name or run.pipeline(session.store))
        if run.folder(item.stage) not in session.store.stages():
            session.check_texts(run, by_name)
    if parses_first:
        session.parse(pipeline)
    for item in runs:
        if least_changed and _changes_less(session, item, least_changed):
            continue
        try:
            folders += session.augment(item.run, item.stage, item.draws)
        except MissingError as error:  # a model that is not here; the others need not wait for it
            if "model" not in item.run.needs:
                raise
            missing[item.stage] = str(error)
    return RecipeResult(session.store, session.results, folders, missing, session.take_failures())


def _changes_less(session: Session, item: RecipeRun, least: float) -> bool:
    """Whether a rule of which nothing is made yet changes less than a share of the corpus, which is said."""
    run = item.run
    if run.of or run.needs != {"parses"} or run.folder(item.stage) in session.store.stages():
        return False
    session.parse(name=run.parses)
    share = share_changed(session.store, run)
    if share < least:
        session.reporter.say(
            f"{item.stage}: left out, as it would change {share:.1%} of this corpus, less than {least:.0%} "
            "(--least-changed 0 keeps it)"
        )
    return share < least


def _parse_comes_first(runs: Sequence[AugmentationRun], pipeline: str | Path | None) -> bool:
    """Whether the parse is made before all augmentations, not only by the first that needs it.

    Some take the parts of speech from the parse if the store has one, and do without it otherwise. Where
    another augmentation of the recipe makes the parse, what these read must not depend on their order.
    """
    readers = [run for run in runs if run.parses is None and run.may_read_parses]
    if pipeline is not None:
        return bool(readers)
    return any("parses" in run.needs for run in readers) and len({run.needs for run in readers}) > 1
