"""`generate`: one question a row, its answer kept as it came in the stage `answers-TEMPLATE`.

What has come is a piece of the journal before more is asked for; some hundred answers are put together in
one. A request that fails for good is none: the next run asks again, unless its part was finished with it.
"""

import contextlib
import dataclasses
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from augment_cli.answers.client import Answer, Client, Pace, TooManyFailures, ask_all
from augment_cli.answers.local import LocalModel, Messages, local_model
from augment_cli.answers.templates import Template, find_template
from augment_cli.contract.draws import stream_key
from augment_cli.contract.generate_parameters import DECIDING, DECIDING_LATER, JSON_SCHEMA, GenerateParameters
from augment_cli.errors import IncompleteError, UsageError
from augment_cli.process.interrupts import deferred
from augment_cli.store.files import sha256_of_json
from augment_cli.store.journal import Journal, MissingPieceError
from augment_cli.store.parquet import ROW_GROUP_ROWS
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store

VERSION = 1  # of what is asked beside the template; raising it asks everything again
ANSWERS_STAGE = "answers"
CORPUS_STAGE = "corpus"
ANSWERS = pa.schema(
    [
        pa.field("row_id", pa.int64(), nullable=False),
        pa.field("answer", pa.string()),
        pa.field("finish", pa.string()),
        pa.field("error", pa.string()),
        pa.field("prompt_tokens", pa.int32()),
        pa.field("completion_tokens", pa.int32()),
        pa.field("model", pa.string()),
    ]
)
_SUMS = ("requests", "errors", "prompt_tokens", "completion_tokens")  # a part's statistics
_TOGETHER = 256  # answers
_SECONDS_TO_END = 20.0  # that an interrupted run waits for the answers under way
_ENDING = "Interrupted: the answers under way are waited for, and kept; once more ends at once."
_CHARACTERS_A_TOKEN = 4  # of English, roughly


@dataclass
class Account:
    """What a run cost: requests, those without an answer, tokens, and what the server calls itself."""

    sums: Counter[str] = field(default_factory=Counter)
    models: set[str] = field(default_factory=set)

    def add(self, answer: Answer) -> None:
        """Count one."""
        self.sums += Counter(
            requests=1,
            errors=int(answer.error is not None),
            prompt_tokens=answer.prompt_tokens or 0,
            completion_tokens=answer.completion_tokens or 0,
        )
        self.models |= {answer.model} if answer.model else set()

    def lines(self, model: str) -> Iterator[str]:
        """For people; of a run that asked nothing, none."""
        if self.sums["requests"]:
            yield (
                f"{self.sums['requests']:,} requests, {self.sums['prompt_tokens']:,} tokens read, "
                f"{self.sums['completion_tokens']:,} written; {self.sums['errors']:,} without an answer"
            )
        if others := sorted(self.models - {model}):
            yield f"the server says that {', '.join(others)} answered, where {model} was asked"


def answers_name(template: str, name: str | None, draw: int) -> str:
    """The folder: `name` or `answers-TEMPLATE`, with `.1`, `.2`, … for further draws."""
    base = name or f"{ANSWERS_STAGE}-{template}"
    return f"{base}.{draw}" if draw else base


def answers_settings(
    store: Store, template: Template, parameters: GenerateParameters, draw: int = 0
) -> Settings:
    """What answers depend on: no address, no speed, no version of ours."""
    if not parameters.model:
        raise UsageError("--model: name the model as the server does, or its folder for --engine process")
    if template.has_other != bool(parameters.of):
        raise UsageError(
            f"--template {template.name}: compares sentences with texts of a stage; name it with --of STAGE"
            if template.has_other
            else f"--of {parameters.of}: the template {template.name} shows no second text"
        )
    inputs = {CORPUS_STAGE: store.stage(CORPUS_STAGE).digest}
    if parameters.of:
        if "text" not in store.read_rows(parameters.of, 0, []).schema.names or not store.has(parameters.of):
            raise UsageError(f"--of {parameters.of}: is unfinished, or has no texts")
        inputs[parameters.of] = store.stage(parameters.of).digest
    deciding = {name: getattr(parameters, name) for name in DECIDING}
    usual = GenerateParameters()
    for name in DECIDING_LATER:
        if (value := getattr(parameters, name)) != getattr(usual, name):
            deciding[name] = value
    model, resources = parameters.model, {"template": template.digest}
    if parameters.response_format == JSON_SCHEMA:
        resources["schema"] = sha256_of_json(template.response_format)
    if parameters.runs_here:
        folder, deciding["precision"] = local_model(parameters)
        model, resources = Path(parameters.model).resolve().name, resources | folder.resources
    named = {"template": template.name, "template_version": template.version, "model": model}
    return Settings(
        ANSWERS_STAGE,
        VERSION,
        parameters=named | deciding | {"draw": draw},
        seed=parameters.seed,
        inputs=inputs,
        resources=resources,
        by_part=not parameters.of,
    )


@dataclass(frozen=True)
class Work:
    """What is to be asked, and what is there already."""

    stage: str
    settings: Settings
    template: Template
    parameters: GenerateParameters
    key: int
    missing: list[int]
    journal: Journal


def plan(
    store: Store, parameters: GenerateParameters, name: str | None = None, draw: int = 0, begins: bool = False
) -> Work:
    """What is left to ask; with `begins`, the stage is announced."""
    template = find_template(parameters.template)
    settings = answers_settings(store, template, parameters, draw)
    stage = answers_name(str(template.name), name, draw)
    if begins:
        missing = store.begin(stage, settings, beside="ask beside it with --name NAME")
    else:
        there = store.stage(stage).parts if stage in store.stages() else {}
        missing = [index for index in range(len(store.parts)) if index not in there]
    key = stream_key(parameters.seed, ANSWERS_STAGE, draw)
    return Work(stage, settings, template, parameters, key, missing, Journal(store.work, stage, settings))


def questions(store: Store, work: Work, index: int) -> dict[int, list[dict[str, str]]]:
    """The conversation for each row of a part that is asked about: by row_id."""
    corpus = store.read_part(CORPUS_STAGE, index, ["row_id", "text"])
    texts = corpus["text"].to_pylist()
    of = work.parameters.of
    others = store.read_part(of, index, ["text"])["text"].to_pylist() if of else [""] * len(texts)
    limit = work.parameters.rows or float("inf")
    rows = zip(corpus["row_id"].to_pylist(), texts, others, strict=True)
    return {
        row: work.template.messages(text, other, work.parameters.response_format == JSON_SCHEMA)
        for row, text, other in rows
        if row < limit and text.strip() and other is not None
    }


def estimate(store: Store, work: Work) -> dict[str, int]:
    """How much is left to ask: `requests`, and `prompt_tokens` roughly, by the number of characters."""
    requests = characters = 0
    for index in work.missing:
        asked, there = questions(store, work, index), _kept(work, index)
        left = [messages for row, messages in asked.items() if row not in there]
        requests += len(left)
        characters += sum(len(message["content"]) for messages in left for message in messages)
    return {"requests": requests, "prompt_tokens": characters // _CHARACTERS_A_TOKEN}


@dataclass(frozen=True)
class Sample:
    """Some requests that were asked to see how long all of them take."""

    account: Account
    seconds: float  # that they took, loading aside

    def seconds_for(self, requests: int) -> float:
        """How long this many requests take at that speed; 0 where nothing was asked."""
        return self.seconds * requests / max(1, self.account.sums["requests"])


def sample(store: Store, work: Work, count: int, progress: Callable[[int], None]) -> Sample:
    """Ask at most `count` of what is left, from all over the first part that has some left."""
    # The answers are kept where an interrupted run leaves its own, so that they are not asked for again.
    account, failures = Account(), TooManyFailures(work.parameters.max_failures)
    for index in work.missing:
        if not questions(store, work, index).keys() - _kept(work, index).keys():
            continue
        with _asking(work) as engine:
            engine.load()
            began = time.monotonic()
            _ask_part(store, work, index, engine, (failures, account), progress, count)
            return Sample(account, time.monotonic() - began)
    return Sample(account, 0.0)


def finish(store: Store, work: Work, progress: Callable[[int], None]) -> Account:
    """Ask what is left, and commit each part as it is complete."""
    account = Account()
    if not work.missing:
        return account
    failures = TooManyFailures(work.parameters.max_failures)
    with _asking(work) as engine:
        for index in work.missing:
            answers = _ask_part(store, work, index, engine, (failures, account), progress)
            if engine.is_over:
                break
            _commit(store, work, index, answers)
    store.clean_work(work.stage)
    return account


class _Server:
    """A server, asked about many rows at a time."""

    def __init__(self, work: Work) -> None:
        parameters = work.parameters
        limits = parameters.timeout, parameters.total_timeout
        self._client = Client(parameters.endpoint, parameters.allow_remote, *limits)
        self._pace, self._key = Pace(parameters.concurrency), work.key
        names = ("model", "temperature", "top_p", "max_tokens")
        self._body: dict[str, Any] = {name: getattr(parameters, name) for name in names}
        self._has_schema = parameters.response_format == JSON_SCHEMA
        if self._has_schema:
            self._body["response_format"] = work.template.response_format

    def answers(self, asked: Mapping[int, Messages]) -> Iterator[list[tuple[int, Answer]]]:
        def ask(row: int) -> Answer:
            return self._client.ask(asked[row], self._body | {"seed": (self._key + row) % 2**31})

        for found in ask_all(list(asked), ask, self._pace):
            refused = [answer.error for _, answer in found if self._has_schema and answer.is_without_schema]
            if refused:
                raise UsageError(
                    f"--response-format {JSON_SCHEMA}: the server refuses it ({refused[0]}); leave it out, "
                    "and answers are read as plain text"
                )
            yield found

    def load(self) -> None:
        pass

    @property
    def is_over(self) -> bool:
        return self._pace.is_over

    def stop(self) -> None:
        self._pace.stop(_SECONDS_TO_END)

    def close(self) -> None:
        self._pace.stop()
        self._client.close()


@contextlib.contextmanager
def _asking(work: Work) -> Iterator[LocalModel | _Server]:
    """Whom to ask; where the run is interrupted, what is under way is kept before it ends."""
    engine = LocalModel(work.parameters, work.key) if work.parameters.runs_here else _Server(work)
    with contextlib.closing(engine), deferred(engine.stop, _ENDING):
        yield engine


def _ask_part(
    store: Store,
    work: Work,
    index: int,
    engine: LocalModel | _Server,
    keeping: tuple[TooManyFailures, Account],
    progress: Callable[[int], None],
    most: int = 0,
) -> dict[int, Answer]:
    """The answers of a part; with `most`, of at most that many further rows, evenly spaced."""
    failures, account = keeping
    asked, answers = questions(store, work, index), _kept(work, index)
    answers = {row: answer for row, answer in answers.items() if row in asked}
    latest, number = "", max(work.journal.finished(index), default=-1) + 1
    small: dict[int, list[int]] = {}  # the rows of pieces that will be put together, by number
    left = [row for row in asked if row not in answers]
    if 0 < most < len(left):
        left = [left[place * len(left) // most] for place in range(most)]
    for found in engine.answers({row: asked[row] for row in left}):
        answers |= found
        if kept := {row: answer for row, answer in found if answer.error is None}:
            work.journal.write(index, number, _table(kept))
            small[number] = list(kept)
            number += 1
        for _, answer in found:
            account.add(answer)
            # A question that is too long says nothing of whether the next one will be answered.
            failures.add(answer.error is not None and not answer.is_too_long)
            latest = answer.error or latest
        progress(len(found))
        together = list(itertools.chain(*small.values()))
        if len(together) >= _TOGETHER:
            work.journal.write(index, number, _table({row: answers[row] for row in together}))
            work.journal.forget(index, small)
            small, number = {}, number + 1
        if failures.is_reached():
            raise _given_up(failures, latest)
    if latest and failures.is_reached(at_end=True):
        raise _given_up(failures, latest)
    return answers


def _given_up(failures: TooManyFailures, latest: str) -> IncompleteError:
    return IncompleteError(
        f"generate: {failures}, the latest with {latest!r}; see to the server and run the same command "
        "again, which goes on from the answers that are there"
    )


def _kept(work: Work, index: int) -> dict[int, Answer]:
    """The answers of a part that an earlier run got."""
    found: dict[int, Answer] = {}
    for number in sorted(work.journal.finished(index)):
        try:
            for row in work.journal.read(index, number).to_pylist():
                row_id = row.pop("row_id")
                found[row_id] = Answer(**row)
        except MissingPieceError:
            continue
    return found


def _table(answers: dict[int, Answer]) -> pa.Table:
    rows = [{"row_id": row, **dataclasses.asdict(answer)} for row, answer in answers.items()]
    return pa.Table.from_pylist(rows, schema=ANSWERS)


def _commit(store: Store, work: Work, index: int, answers: dict[int, Answer]) -> None:
    first, count = store.parts[index]
    whole = Account()
    for answer in answers.values():
        whole.add(answer)
    nothing = Answer()
    groups = (
        _table(
            {row: answers.get(row, nothing) for row in range(low, min(low + ROW_GROUP_ROWS, first + count))}
        )
        for low in range(first, first + count, ROW_GROUP_ROWS)
    )
    statistics = {name: whole.sums[name] for name in _SUMS}
    store.commit(store.write_part(work.stage, index, ANSWERS, groups, work.settings, statistics))
    work.journal.remove(index)
