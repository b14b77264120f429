"""A store opened to make stages in it: the earlier ones that are missing, then the one asked for.

The commands and the Python interface both work through a `Session`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from augment_cli import augmentations
from augment_cli.engine.engine import Engine
from augment_cli.errors import IncompleteError, UsageError
from augment_cli.ingest import (
    STDIN,
    IngestOptions,
    IngestReport,
    corpus_settings,
    find_files,
    ingest,
    memory,
    pairs,
    report_of,
)
from augment_cli.ingest.appending import append, check_appendable, what_was_appended
from augment_cli.ingest.stored import refuse_other_options, stored_options
from augment_cli.pack import (
    PACK_STAGE,
    SIDES,
    PackOptions,
    cost_of,
    cost_of_filters,
    pack,
    pack_settings,
)
from augment_cli.parsing import stage as parsing
from augment_cli.runs.run import AugmentationRun
from augment_cli.runs.stored import augment_store
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from augment_cli.syntax.parses import stage_name
from augment_cli.tfidf import fit as tfidf
from augment_cli.tfidf import forms
from augment_cli.tokenization import TOKENIZERS, share_without_spaces
from augment_cli.vectors import embed as embedding
from augment_cli.vectors import mine as mining
from augment_cli.vectors import score as scoring
from augment_cli.vectors.cosines import is_mined
from augment_cli.vectors.stages import CORPUS_STAGE, chosen_set, vectors_name

# What other stages are called, so that no column of pairs can be.
_TAKEN = {*augmentations.names(), "corpus", "rejects", "tfidf", "terms", "parses", "pack", "vectors"}
_MOSTLY = 0.3  # share of characters of a script from which its tokeniser matters
SAMPLE = Path(__file__).parent / "sample" / "sentences.txt"


class Reporter(Protocol):
    """How progress reaches a person; the default says nothing."""

    def say(self, message: str) -> None:
        """A line worth reading."""

    def warn(self, message: str) -> None:
        """A line that should not be missed."""

    def progress(
        self, stage: str, rows: int | None
    ) -> contextlib.AbstractContextManager[Callable[[int], None]]:
        """A progress display for one stage; the value is called with rows done since the last call."""


class Silent:
    """A reporter that says nothing."""

    def say(self, message: str) -> None:
        """Nothing."""

    def warn(self, message: str) -> None:
        """Nothing."""

    @contextlib.contextmanager
    def progress(self, stage: str, rows: int | None) -> Iterator[Callable[[int], None]]:
        """Nothing."""
        yield lambda done: None


@dataclass(frozen=True)
class StageResult:
    """What happened to one stage in a run: how long it took, and whether anything was left to do."""

    stage: str
    seconds: float
    was_made: bool


class Session:
    """A store, an engine and a reporter, with one method for each kind of stage.

    Used as `with Session(…) as session:`, which holds the store's lock.

    Parameters
    ----------
    store : str or Path
        Folder of the store; made if it is not there.
    engine : Engine, optional
        One worker for each core by default.
    reporter : Reporter, optional
    shared : bool
        Let other processes make other parts of the same stages at the same time (`--parts`).
    overwrite : bool
        Delete a stage that is there with other settings, and what was made from it, instead of refusing.
        Only the stage that is asked for is meant, not the earlier ones that it needs.
    """

    def __init__(
        self,
        store: str | Path,
        engine: Engine | None = None,
        reporter: Reporter | None = None,
        shared: bool = False,
        overwrite: bool = False,
    ) -> None:
        if shared and overwrite:
            raise UsageError("--overwrite deletes stages, and --parts lets others write to them; choose one")
        self._overwrite = overwrite
        self._is_new = not Path(store).exists()
        self.store = Store.create(store)
        self.engine = engine or Engine.for_this_machine()
        self.reporter: Reporter = reporter or Silent()
        self.results: list[StageResult] = []
        self._shared = shared
        self._failures: list[str] = []
        self._said: set[str] = set()
        self._lock = contextlib.ExitStack()

    def __enter__(self) -> Session:
        self._lock.enter_context(self.store.lock(self._shared))
        self.store.reload()  # another run may have written between opening and locking
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        try:
            if kind is not None:
                self.store.discard_if_empty(with_folder=self._is_new)
        finally:
            self._lock.close()
        if kind is None and self._failures:
            raise IncompleteError("\n".join(self._failures))

    @contextlib.contextmanager
    def _keeping(self) -> Iterator[None]:
        """Without `overwrite`: for an earlier stage, which was not the one asked for."""
        overwrite, self._overwrite = self._overwrite, False
        try:
            yield
        finally:
            self._overwrite = overwrite

    def _make_room(self, stages: Sequence[str], settings: Callable[[], Settings]) -> None:
        """With `overwrite`, delete a stage that has other settings, and what was made from it."""
        present = [stage for stage in stages if stage in self.store.stages()]
        if not self._overwrite or not present:
            return
        current = settings()
        if all(
            self.store.stage(stage).settings["fingerprint"] == current.fingerprint
            or self.store.continues(stage, current)
            for stage in present
        ):
            return
        hanging = self.store.made_from(*present)
        self.store.remove(*present, *hanging)
        self.reporter.warn(f"--overwrite: removed {', '.join([*present, *hanging])}")

    def ingest(
        self,
        corpus: Sequence[str | Path] | None = None,
        options: IngestOptions | None = None,
        *,
        texts: Any = None,
        strict: bool = False,
        max_rejects: float = 0.01,
    ) -> IngestReport | None:
        """Make the corpus: from `corpus`, or `texts` in memory; else keep the store's own, else the sample.

        `texts` is what `augment_cli.ingest.memory.as_arrow` takes. Only one of the two can be given.
        """
        if texts is not None:
            if corpus is not None:
                raise UsageError("give either files (corpus) or sentences (texts), not both")
            spooled = memory.spool(self.store, texts, options or IngestOptions())
            try:
                return self.ingest([spooled], options, strict=strict, max_rejects=max_rejects)
            finally:
                self.store.clean_work(memory.FOLDER)
        pairs.check_columns(self.store, options or IngestOptions(), _TAKEN)
        if corpus is None and "rejects" in self.store.stages():
            if self.store.has("corpus") and self.store.has("rejects"):
                refuse_other_options(self.store, options or IngestOptions())
                self._give_pairs(options or IngestOptions())
                report_of(self.store).check_stored(max_rejects, str(self.store.path))
                self.reporter.say(f"No --corpus: using the store's own ({self.store.rows:,} sentences).")
                return None
            of_sample = corpus_settings(find_files([SAMPLE]), options or IngestOptions())
            if of_sample.fingerprint != self.store.stage("rejects").settings["fingerprint"]:
                raise UsageError(f"{self.store.path}: its corpus is unfinished; give the same --corpus again")
        if self._shared:
            raise UsageError("--parts needs a corpus in the store; run `augment-cli ingest` first")
        if corpus is None:
            if not SAMPLE.exists():
                raise UsageError(f"{SAMPLE}: the sample corpus is missing; name your own with --corpus")
            self.reporter.say(f"No --corpus: using the shipped sample ({SAMPLE.name}).")
        if STDIN not in (corpus or ()):
            chosen, reading = corpus or [SAMPLE], options or IngestOptions()
            self._make_room(["corpus", "rejects"], lambda: corpus_settings(find_files(chosen), reading))
        elif self._overwrite:
            raise UsageError("--overwrite cannot compare standard input; name the files with --corpus")
        with self._timed("corpus", None) as progress:
            report = ingest(self.store, corpus or [SAMPLE], options, strict=strict, progress=progress)
        self._warn_of_rejects(report)
        report.check(max_rejects, str(self.store.path))
        self._give_pairs(options or IngestOptions())
        return report

    def append(
        self,
        corpus: Sequence[str | Path] | None = None,
        options: IngestOptions | None = None,
        *,
        texts: Any = None,
        strict: bool = False,
        max_rejects: float = 0.01,
    ) -> IngestReport:
        """Read further files, or `texts` in memory, into the corpus, as parts behind those that are there.

        They are read as the corpus was; other `options` are refused. Stages of given pairs are continued at
        once, all others when they are asked for.

        Returns
        -------
        IngestReport
            Of what was appended.
        """
        options = options or IngestOptions()
        if (corpus is None) == (texts is None):
            raise UsageError(
                "--append needs what to read: name files with --corpus (in Python, or give texts=)"
            )
        if self._overwrite:
            raise UsageError("--append keeps all that is there, and --overwrite deletes it; choose one")
        check_appendable(self.store)
        pairs.check_columns(self.store, options, _TAKEN)
        refuse_other_options(self.store, options)
        reading = stored_options(self.store)
        if texts is not None:
            corpus = [memory.spool(self.store, texts, reading)]
        try:
            before = len(self.store.parts)
            with self._timed("corpus", None) as progress:
                report = append(self.store, corpus or [], reading, strict=strict, progress=progress)
        finally:
            self.store.clean_work(memory.FOLDER)
        if len(self.store.parts) > before:
            self._warn_of_rejects(report)
        self.reporter.say(what_was_appended(self.store, report, before))
        report.check(max_rejects, str(self.store.path))
        for name in self.store.stages():
            made_by = self.store.stage(name).settings
            if made_by["stage"] == pairs.GIVEN:
                pairs.make_given(self.store, name, made_by["parameters"]["kind"])
        self._give_pairs(options)
        return report

    def _warn_of_rejects(self, report: IngestReport) -> None:
        if report.rejected:
            self.reporter.warn(
                f"{report.rejected:,} of {report.read:,} lines set aside: "
                + ", ".join(f"{count:,} {reason}" for reason, count in sorted(report.reasons.items()))
                + f"; see them with `augment-cli inspect rejects --store {self.store.path}`"
            )

    def _give_pairs(self, options: IngestOptions) -> None:
        """Make the stages of the columns that hold the user's own positives and negatives."""
        for column, role in pairs.roles_of(options).items():
            self._make_room([column], functools.partial(pairs.given_settings, self.store, column, role))
            with self._timed(column, None) as progress:
                pairs.make_given(self.store, column, role)
                progress(self.store.rows)

    def fit(
        self, options: tfidf.FitOptions | None = None, name: str | None = None, with_forms: bool = True
    ) -> None:
        """Make a TF-IDF matrix and its term table; an existing one is kept unless `options` are given.

        Parameters
        ----------
        options : FitOptions, optional
        name : str, optional
            For a fit beside the first.
        with_forms : bool
            Count how the terms are written, too.
        """
        self._fit(options, name)
        stage = forms.forms_name(name)
        if not with_forms or self.store.has(stage):
            return
        if self._shared:
            raise UsageError("--parts needs the forms of the fit in the store; run `augment-cli fit` first")
        with self._timed(stage, self.store.rows) as progress:
            forms.make_forms(self.store, name, self.engine, progress)

    def _fit(self, options: tfidf.FitOptions | None, name: str | None) -> None:
        matrix, table = tfidf.stage_names(name)
        fits_again = options is not None
        if options is None:
            if self.store.has(matrix) and self.store.has(table):
                return
            options = tfidf.FitOptions()
            if table in self.store.stages():  # begun: finish it as it was begun
                stored = self.store.stage(table).settings["parameters"]
                options = tfidf.FitOptions(stored["tokenizer"], stored["min_df"], tuple(stored["stages"]))
        if self._shared:
            raise UsageError("--parts needs a fit in the store; run `augment-cli fit` first")
        options.check()
        self._warn_of_scripts(options)
        chosen = options
        if fits_again:
            self._make_room([table, matrix], lambda: tfidf.fit_settings(self.store, chosen))
        rows = self.store.rows + sum(self.store.stage(stage).rows for stage in options.stages)
        with self._timed(matrix, rows) as progress:
            tfidf.fit(self.store, options, name, self.engine, progress)
        if note := tfidf.vocabulary_note(self.store, name, options):
            self.reporter.say(note)

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
        """Parse the corpus with a spaCy pipeline; parses that are there are kept unless one is named.

        Parameters
        ----------
        pipeline : str or Path, optional
            Installed pipeline or folder; by default that of the stage if it has been begun, else the
            shipped English one.
        name : str, optional
            For parses beside the first: their stage is `parses-NAME`.
        parts : collection of int, optional
            Make these parts only.
        """
        stage = stage_name(name)
        if pipeline is None and self.store.has(stage):
            return
        if self._shared and parts is None:
            raise UsageError(
                "--parts needs parses in the store; run `augment-cli parse` first (it takes --parts too)"
            )
        self._check_parts(parts)
        source = parsing.chosen_pipeline(self.store, stage, pipeline)
        if pipeline is not None:
            self._make_room([stage], lambda: parsing.parse_settings(self.store, source))
        work = parsing.begin(self.store, source, stage, parts)
        with self._timed(stage, work.rows) as progress:
            parsing.finish(self.store, work, self.engine, progress)

    def augment(
        self,
        run: AugmentationRun,
        stage: str | None = None,
        draws: int = 1,
        parts: Collection[int] | None = None,
    ) -> list[str]:
        """Make `draws` independent draws of an augmentation, and before it what it needs.

        Where parts fail for good, the rest goes on; `IncompleteError` is raised at the session's end,
        unless the failures are taken (`take_failures`).
        """
        if draws < 1:
            raise UsageError(f"--draws {draws}: must be at least 1")
        run = run.settled(self.store, stage)
        run.check_named(self.store)
        # Before what it needs is made, which may take long.
        self.store.check_name(run.of_draw(0, draws).folder(stage), run.name)
        if "tfidf" in run.needs:
            self.fit(name=run.fit, with_forms="forms" in run.needs)
        if "parses" in run.needs:
            self.parse(name=run.parses)
        for note in run.notes(self.store):
            if note not in self._said:  # a recipe has several stages of which the same is true
                self._said.add(note)
                self.reporter.say(note)
        for warning in run.warnings(self.store):
            self.reporter.warn(warning)
        self._check_parts(parts)
        folders = []
        for draw in range(draws):
            one = run.of_draw(draw, draws)
            folders.append(one.folder(stage))
            self._make_room(folders[-1:], functools.partial(one.settings, self.store))
            with self._timed(folders[-1], self._rows_to_make(one, folders[-1], parts)) as progress:
                try:
                    augment_store(self.store, one, stage, self.engine, progress, parts)
                except IncompleteError as error:
                    self._failures.append(str(error))
        return folders

    def _rows_to_make(self, run: AugmentationRun, folder: str, parts: Collection[int] | None) -> int:
        """Rows that are left for a run to do: not those of finished parts, nor those beyond its `rows`."""
        finished = self.store.stage(folder).parts if folder in self.store.stages() else {}
        return sum(
            run.rows_in_reach(first, count)
            for index, (first, count) in enumerate(self.store.parts)
            if index not in finished and (parts is None or index in parts)
        )

    def take_failures(self) -> list[str]:
        """Messages about parts that failed for good; once taken, they are the caller's to report."""
        failures, self._failures = self._failures, []
        return failures

    def _check_parts(self, parts: Collection[int] | None) -> None:
        if parts is not None and (beyond := sorted(set(parts) - set(range(len(self.store.parts))))):
            raise UsageError(f"--parts: there is no part {beyond[0]}, the store has {len(self.store.parts)}")

    def pack(self, options: PackOptions, stage: str = PACK_STAGE, dry_run: bool = False) -> list[str]:
        """Make the table that sentence-transformers trains on; say what each filter and each column costs.

        Vectors that filters or scores need and that are missing are made before it, but not in a dry run,
        which stops when it has said what the filters cost.

        Returns
        -------
        list of str
            The stages: `stage`, or with a split `stage-train` and `stage-test`.
        """
        if options.compared:
            options = dataclasses.replace(options, vectors=chosen_set(self.store, options.vectors))
        self._price_filters(options, dry_run)
        if dry_run:
            return []
        sides = {stage: options}
        if options.split:
            sides = {f"{stage}-{side}": dataclasses.replace(options, side=side) for side in SIDES}
        for name, one in sides.items():
            self._make_room([name], functools.partial(pack_settings, self.store, one))
            with self._timed(name, self.store.rows) as progress:
                pack(self.store, one, name, self.engine, progress)
            if cost := cost_of(self.store, name):
                self.reporter.say(cost)
        return list(sides)

    def _price_filters(self, options: PackOptions, dry_run: bool) -> None:
        """Say before anything is written how many rows each filter costs; refuse what leaves none."""
        if options.compared and not dry_run:
            own = [name for name in options.compared if not is_mined(self.store, name)]
            self._embed_missing((CORPUS_STAGE, *own), None, options.vectors)
        if not options.filters and not dry_run:
            return
        costs = cost_of_filters(self.store, options)
        rows = costs.pop("rows")
        left = rows - sum(costs.values())
        said = [
            f"--{name.replace('_', '-')} {getattr(options, name):g} costs {cost:,}"
            for name, cost in costs.items()
        ]
        self.reporter.say("; ".join([f"{rows:,} rows without filters", *said, f"{left:,} left"]))
        if said and not left:
            raise UsageError(f"{self.store.path}: no row passes the filters ({'; '.join(said)}); loosen them")

    def embed(
        self,
        of: str = CORPUS_STAGE,
        parameters: embedding.EmbedParameters | None = None,
        name: str | None = None,
    ) -> str:
        """Make sentence vectors of a stage's texts, by the installed MiniLM where no model is named.

        Returns
        -------
        str
            Their folder.
        """
        parameters = parameters or embedding.EmbedParameters()
        self._make_room(
            [vectors_name(of, name)], lambda: embedding.wanted(self.store, of, parameters, name)[2]
        )
        work = embedding.begin(self.store, of, parameters, name)
        with self._timed(work.stage, work.rows) as progress:
            embedding.finish(self.store, work, self.engine, progress)
        return work.stage

    def score(
        self,
        of: str,
        options: scoring.ScoreOptions | None = None,
        name: str | None = None,
        parameters: embedding.EmbedParameters | None = None,
    ) -> str:
        """Score a stage's texts, and before it make the vectors and the fit that are missing.

        Returns
        -------
        str
            The folder of the scores.
        """
        options = options or scoring.ScoreOptions()
        options.check()
        self.store.stage(of)  # there must be one
        if "unknown_words" in options.columns:
            self.fit(name=options.fit, with_forms=False)
        if options.needs_vectors:
            options = dataclasses.replace(options, vectors=chosen_set(self.store, options.vectors))
            self._embed_missing((CORPUS_STAGE, of), parameters, options.vectors)
        stage = scoring.scores_name(of, name)
        self._make_room([stage], lambda: scoring.score_settings(self.store, of, options)[0])
        work = scoring.begin(self.store, of, options, name)
        with self._timed(work.stage, work.rows) as progress:
            scoring.finish(self.store, work, self.engine, progress)
        return work.stage

    def mine(
        self,
        options: mining.MineParameters | None = None,
        stage: str | None = None,
        fit: str | None = None,
        vectors: str | None = None,
        parameters: embedding.EmbedParameters | None = None,
    ) -> list[str]:
        """Mine hard negatives from the corpus, and before it make the vectors or the fit that are missing.

        Returns
        -------
        list of str
            Folders of the results, one for each negative.
        """
        options = options or mining.MineParameters()
        options.check()
        if options.by == "tfidf":
            self.fit(name=fit, with_forms=False)
        else:
            vectors = chosen_set(self.store, vectors)
            stages = (CORPUS_STAGE, *([options.positive] if options.positive else []))
            self._embed_missing(stages, parameters, vectors)
        for number, name in enumerate(mining.mined_names(options, stage)):
            settings = functools.partial(mining.mine_settings, self.store, options, fit, vectors, number)
            self._make_room([name], settings)
        work = mining.begin(self.store, options, stage, fit, vectors)
        with self._timed(work.stages[0], work.rows) as progress:
            mining.finish(self.store, work, self.engine, progress)
        return work.stages

    def _embed_missing(
        self, stages: Sequence[str], parameters: embedding.EmbedParameters | None, name: str | None
    ) -> None:
        """Make those vectors that are not there, all by one encoder."""
        for of in stages:
            if not self.store.has(vectors_name(of, name)):
                wanted = embedding.as_begun(
                    self.store, [vectors_name(other, name) for other in stages], parameters
                )
                with self._keeping():
                    self.embed(of, wanted, name)

    @contextlib.contextmanager
    def _timed(self, stage: str, rows: int | None) -> Iterator[Callable[[int], None]]:
        done = 0

        def count(rows_done: int) -> None:
            nonlocal done
            done += rows_done
            show(rows_done)

        start = time.perf_counter()
        with self.reporter.progress(stage, rows) as show:
            yield count
        self.results.append(StageResult(stage, time.perf_counter() - start, done > 0))
