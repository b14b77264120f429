"""`read`: an augmentation stage out of answers: each a text with its label, or a reason. Nothing is asked."""

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa

from augment_cli.answers.client import Answer
from augment_cli.answers.generate import ANSWERS_STAGE, CORPUS_STAGE
from augment_cli.answers.templates import ANSWER, Template, find_template
from augment_cli.contract.augmentation import LABEL_COLUMN, LABELS
from augment_cli.contract.generate_parameters import JSON_SCHEMA, ReadParameters
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.guards.fidelity import guard_digests, unfaithful
from augment_cli.errors import UsageError
from augment_cli.neural.checks import one_line, reason_against
from augment_cli.runs.tables import add_statistics, edited, empty_statistics
from augment_cli.store.files import sha256_of_json
from augment_cli.store.parquet import AUGMENTATION, ROW_GROUP_ROWS
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import Store
from augment_cli.text.spans import CodePoints, apply_edits, edits_of

VERSION = 2
READ_STAGE = "read"
SCHEMA = pa.schema([*AUGMENTATION, LABEL_COLUMN])
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_FENCE = re.compile(r"^```\w*\s*\n(.*?)\n?```$", re.DOTALL)
_QUOTES = (('"', '"'), ("“", "”"), ("'", "'"), ("«", "»"), ("*", "*"))
_REFUSAL = re.compile(
    r"(?:i['’]?m|i am) (?:sorry|unable|afraid)|(?:sorry|apologies)\b|"
    r"i (?:can ?not|can['’]t|won['’]t|will not) "
    r"(?:help|assist|do|fulfil|comply|provide|rewrite|write|create|generate|answer|continue)|as an ai\b",
    re.IGNORECASE,
)


def read_name(answers: str, name: str | None = None) -> str:
    """The folder: `name`, or `llm-X` of the answers `answers-X`."""
    return name or f"llm-{answers.removeprefix(f'{ANSWERS_STAGE}-')}"


def judged_by(settings: Mapping[str, Any]) -> str | None:
    """The stage whose texts a judge gave its verdicts on, by the settings of what was read; else None."""
    if settings["stage"] != READ_STAGE:
        return None
    of = set(settings["inputs"]) - {CORPUS_STAGE, settings["parameters"]["answers"]}
    return min(of, default=None)


def template_of(store: Store, answers: str, parameters: ReadParameters) -> Template:
    """The template that answers are read by."""
    record = store.stage(answers)
    if record.settings["stage"] != ANSWERS_STAGE:
        raise UsageError(f"{answers}: holds no answers; `augment-cli generate` makes such a stage")
    if not store.has(answers):
        raise UsageError(f"{answers}: is unfinished; run the same `augment-cli generate` again")
    template = find_template(parameters.template or record.settings["parameters"]["template"])
    if template.has_other != bool(record.settings["parameters"]["of"]):
        raise UsageError(
            f"--template {template.name}: is not for such answers; name the one that asked for them"
        )
    return template


def read_settings(store: Store, answers: str, parameters: ReadParameters) -> Settings:
    """What the texts depend on; raises as `template_of` does."""
    template = template_of(store, answers, parameters)
    if parameters.faithful and (template.read.length != "alike" or template.read.choices):
        raise UsageError(f"--faithful: is for paraphrases, and {template.name} asks for something else")
    of = store.stage(answers).settings["parameters"]["of"]
    names = [CORPUS_STAGE, answers, *([of] if of else [])]
    reading = {name: getattr(template.read, name) for name in template.read.__struct_fields__}
    return Settings(
        READ_STAGE,
        VERSION,
        parameters={"answers": answers, "template": template.name, "faithful": parameters.faithful},
        inputs={name: store.stage(name).digest for name in names},
        resources={"reading": sha256_of_json(reading)}
        | ({"guards": sha256_of_json(guard_digests())} if parameters.faithful else {}),
        libraries=library_versions(["numpy", "pyarrow"]),
        by_part=not of,
    )


def read(
    store: Store, answers: str, parameters: ReadParameters, name: str | None, progress: Callable[[int], None]
) -> str:
    """Make the stage of texts from a stage of answers; the caller holds the store's lock."""
    stage, settings = read_name(answers, name), read_settings(store, answers, parameters)
    template = template_of(store, answers, parameters)
    asked = store.stage(answers).settings["parameters"]
    for index in store.begin(stage, settings, beside="read beside it with --name NAME"):
        corpus = store.read_part(CORPUS_STAGE, index, ["row_id", "text"])
        found = store.read_part(answers, index, ["answer", "finish", "error"]).to_pylist()
        others = [None] * corpus.num_rows
        if asked["of"]:
            others = store.read_part(asked["of"], index, ["text"])["text"].to_pylist()
        statistics = empty_statistics()
        become = functools.partial(_become, template, asked, parameters)
        groups = _groups(corpus, found, others, become, statistics)
        pending = store.write_part(stage, index, SCHEMA, groups, settings, statistics)
        store.commit(pending)
        progress(corpus.num_rows)
    return stage


Become = Callable[[int, str, dict[str, Any], str | None], tuple[str | None, str | None]]


def _groups(
    corpus: pa.Table,
    found: list[dict[str, Any]],
    others: Sequence[str | None],
    become: Become,
    statistics: dict[str, Any],
) -> Iterator[pa.Table]:
    for low in range(0, corpus.num_rows, ROW_GROUP_ROWS):
        group = corpus.slice(low, ROW_GROUP_ROWS)
        originals, ids = group["text"].to_pylist(), group["row_id"].to_pylist()
        some = slice(low, low + len(ids))
        # A text with its label, or none with a reason.
        results = list(map(become, ids, originals, found[some], others[some]))
        outcome = Outcome(
            edits_of(originals, [text for text, _ in results]),
            np.array([None if text is not None else word for text, word in results], object),
            {LABEL_COLUMN.name: pa.array([word if text else None for text, word in results], pa.string())},
        )
        texts = group["text"].combine_chunks()
        rows = Rows(group["row_id"].to_numpy(), texts, CodePoints.of(texts))
        table = edited(rows, outcome, apply_edits(rows.code_points, outcome.edits)).cast(SCHEMA)
        add_statistics(statistics, table)
        yield table


def _become(
    template: Template,
    asked: dict[str, Any],
    parameters: ReadParameters,
    row: int,
    original: str,
    found: dict[str, Any],
    other: str | None,
) -> tuple[str | None, str | None]:
    """(text, its label), or (None, the reason why there is none)."""
    if not original.strip():
        return None, Reason.NO_TOKEN
    if asked["rows"] and row >= asked["rows"]:
        return None, Reason.BEYOND_LIMIT
    if template.has_other and other is None:
        return None, Reason.MISSING
    if found["answer"] is None:
        is_too_long = Answer(error=found["error"]).is_too_long
        return None, Reason.INPUT_TOO_LONG if is_too_long else Reason.NO_ANSWER
    as_json = asked.get("response_format") == JSON_SCHEMA
    text, reason = parsed(template, original, found["answer"], found["finish"], as_json)
    if reason is None and template.read.choices:
        if text not in LABELS:
            return None, Reason.UNSURE
        return (None, Reason.SAME_TEXT) if other == original else (other, text)
    if reason is None and parameters.faithful:
        reason = unfaithful(original, text)
    return (None, reason) if reason else (text, template.read.label)


def parsed(
    template: Template, original: str, answer: str, finish: str | None, as_json: bool = False
) -> tuple[str, str | None]:
    """What an answer says, and why it does not count, or None."""
    reading, is_complete = template.read, finish not in ("length", "max_tokens")
    if finish in ("content_filter", "refusal"):
        return "", Reason.REFUSED
    text = _FENCE.sub(r"\1", _THOUGHT.sub("", answer).strip()).strip()
    if as_json and text:
        try:
            text = msgspec.json.decode(text, type=dict[str, str])[ANSWER]
        except (msgspec.MsgspecError, RecursionError, KeyError):
            return "", Reason.NOT_PARSABLE if is_complete else Reason.TRUNCATED_OUTPUT
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].endswith(":"):
        lines = lines[1:]
    if not lines:
        return "", Reason.EMPTY_OUTPUT if is_complete else Reason.TRUNCATED_OUTPUT
    line = one_line(lines[0])
    if reading.prefix and line.lower().startswith(reading.prefix.lower()):
        line = line[len(reading.prefix) :].strip()
    for opening, closing in _QUOTES:
        inner = line[1:-1]
        if len(line) > 2 and line[0] == opening and line[-1] == closing and opening not in inner:
            line = line if original.startswith(opening) else inner.strip()
    if _REFUSAL.match(line) and not _REFUSAL.match(original):
        return line, Reason.REFUSED
    if reading.choices:
        word = line.strip(" .!*\"'`").casefold()
        return word, None if len(lines) == 1 and word in reading.choices else Reason.NOT_PARSABLE
    if len(lines) > 1:
        return line, Reason.NOT_PARSABLE if is_complete else Reason.TRUNCATED_OUTPUT
    reason = reason_against(original, line, is_complete)
    if reason == Reason.ABSURD_LENGTH and reading.length != "alike":
        reason = None
    words, before = len(line.split()), len(original.split())
    if reason is None and {"shorter": words >= before, "longer": words <= before}.get(reading.length, False):
        reason = Reason.OTHER_LENGTH
    return line, reason
