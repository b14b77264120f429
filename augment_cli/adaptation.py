"""Adaptation from one file: its texts become a store, the trainer runs beside, a verdict comes out."""

import contextlib
import dataclasses
import hashlib
import html
import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from augment_cli.contract.ingest_options import IngestOptions
from augment_cli.contract.parameters import several
from augment_cli.contract.vector_parameters import MINILM_PACKAGE
from augment_cli.encoding.layout import with_prompt
from augment_cli.encoding.words_apart import texts_of
from augment_cli.errors import BadInputError, MixError, UsageError, UserError, require
from augment_cli.errors.visible import visible
from augment_cli.ingest.look import look_at
from augment_cli.languages import unknown_language
from augment_cli.models.digest import model_digest
from augment_cli.pages.notebook import table_html
from augment_cli.places import CHECKOUT, STATIC, shipped
from augment_cli.process.reporter import SECONDS_BETWEEN_LINES, Reporter, framed
from augment_cli.reports.choosing import choose_rows
from augment_cli.resources import SAMPLE
from augment_cli.session import Session
from augment_cli.store.files import read_small_file, sha256_of_file
from augment_cli.store.store import Store
from augment_cli.vectors.stages import find_encoder
from augment_cli.version import __version__

_RUNS = Path("runs")
_TOLD = "adapted.json"  # what a finished adaptation was told, in its folder
_TABLES = (".csv", ".tsv", ".jsonl", ".parquet")  # files of texts, never encoders
_MAPPED_TOKENS = 128  # of a text on a map
_MOST_REJECTS = 0.5  # people's exports have blank rows, notes, other columns' remains
# What runs the trainer from any folder, in a checkout and from a wheel.
_TRAINER = (
    "import logging; from augment_cli.places import run; "
    "logging.basicConfig(format='%(levelname)s %(message)s'); "
    "logging.getLogger('augment_cli').setLevel('INFO'); run('train')"
)
_LOOKED_AT = 2_000  # rows
_FEW = 200  # texts; fewer have no neighbourhoods
_OTHER_DEV = ("held_out", "evaluate_every")  # settings of who does without neighbourhoods
_EVENT = re.compile(r"(step|before|dev) (\d+)/(\d+) (?:neighbours ([\d.]+))?.*?(?:ETA ([\d.]+) min)?$")
# Of what a stage's maker logs, how far it is; the rest is in words of Python.
_NOTE = re.compile(r"^(?:WARNING |INFO (?=.* of [\d,]+ rows)|INFO .*)")
_ENDING = 60.0  # seconds that the trainer has to write its checkpoint
_HELPS = 0.5  # weight of a table of words beside an encoder that sees context
_POINTS = 0.5  # of 100 texts; fewer are no difference


@dataclass(frozen=True)
class Verdict:
    """How an adaptation ended; shown as a page in a notebook."""

    outcome: str  # better, same, worse, unknown
    message: str
    folder: Path  # of the encoder that came out
    # Scores without labels, from 0 to 1, by name, each with that of the `before` and the `best` encoder.
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    following: tuple[str, ...] = ()  # what to do next, a line each
    page: Path | None = None  # with a map of the texts before and after, where there are enough of them

    def __str__(self) -> str:
        return "\n".join([self.message, *self.following])

    def _repr_html_(self) -> str:
        if self.page is not None:
            return framed(self.page)
        scores = [
            {"": name, "before": one["before"], "after": one["best"]} for name, one in self.scores.items()
        ]
        lines = "".join(f"<li>{html.escape(one)}" for one in self.following)
        return f"<p><b>{html.escape(self.message)}</b></p>{table_html(scores)}<ul>{lines}</ul>"


class Adapted(NamedTuple):
    """An adapted encoder and how it came out."""

    encoder: Any  # a SentenceTransformer; where that library is missing, our own with the method `encode`
    verdict: Verdict


def loaded(verdict: Verdict) -> Adapted:
    """The encoder that came out, for Python."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError:
        from augment_cli.encoding.loading import load_encoder

        return Adapted(load_encoder(verdict.folder), verdict)
    return Adapted(SentenceTransformer(str(verdict.folder), device="cpu"), verdict)


def adapt(
    encoder: str | Path,
    texts: Any,
    options: IngestOptions | None,
    out: str | Path | None,
    changes: str | Sequence[str],
    lookup: bool,
    allow_download: bool,
    prompt: str,
    reporter: Reporter,
) -> Verdict:
    """Adapt an encoder to the texts of a file, or of memory; `changes` are settings of the recipe."""
    if not isinstance(encoder, str | Path) or Path(encoder).suffix in _TABLES:
        raise UsageError("adapt: the encoder comes first, the texts second, as in adapt('minilm', texts)")
    require("torch", "transformers", "sklearn", "scipy", extra="train")
    name, encoder, options = str(encoder), shipped(encoder), options or IngestOptions()
    model, texts = find_encoder(encoder, allow_download).path, SAMPLE if texts is None else texts
    in_memory = not isinstance(texts, str | Path)
    if in_memory and hasattr(texts, "__len__") and not len(texts):
        raise BadInputError("texts: there is none; give the texts to adapt to")
    out = Path(out or _RUNS / _name_of(texts, name, in_memory))
    if prompt:
        if not model.is_dir():
            raise UsageError(f"--prompt {prompt!r}: {encoder} is a file of word vectors; leave it out")
        # A folder for each prompt: that of another run is refused below, and must be whole then.
        model = with_prompt(model, prompt, out / f"start-{hashlib.sha256(prompt.encode()).hexdigest()[:8]}")
        name = encoder = str(model)
    if model.is_dir():
        _refuse_another(out, model_digest(model))
    if not in_memory:
        options = _with_column(Path(texts), options, reporter)
    with Session(out / "store", reporter=reporter) as session:
        given: dict[str, Any] = {"texts": texts} if in_memory else {"corpus": [texts]}
        try:
            session.ingest(options=options, max_rejects=_MOST_REJECTS, **given)
        except MixError:
            raise MixError(f"{out}: holds the run of other texts; name another folder with --out") from None
        store = session.store
    changes = several(changes)
    if few := _few(store):
        if not any(change.partition("=")[0].strip() in _OTHER_DEV for change in changes):
            raise BadInputError(few)
        reporter.warn(few)
    if unlike := unknown_language(model, list(texts_of(store, _LOOKED_AT))):
        reporter.warn(
            f"the encoder hardly knows the language of these texts ({unlike}); take one of that language "
            "or of many, such as multilingual-e5-small"
        )
    digest = model_digest(model) if model.is_dir() else sha256_of_file(model)
    told = {"version": __version__, "encoder": digest, "changes": list(changes), "lookup": lookup}
    if _is_finished(out, told):
        reporter.say("finished before: the same texts, settings and encoder; another --out trains anew")
        return _with_page(read_verdict(out, name), encoder, reporter)
    command = [sys.executable, "-c", _TRAINER, "adapt", "--encoder", encoder, "--out", str(out)]
    command += ["--store", str(out / "store"), *["--allow-download"] * allow_download]
    _train([*command, *(word for change in changes for word in ("--set", change))], reporter)
    if lookup:
        _make_lookup(out, store, reporter)
    told["store"] = sha256_of_file(store.path / "manifest.json")
    (out / _TOLD).write_text(json.dumps(told) + "\n", "utf-8")
    return _with_page(read_verdict(out, name), encoder, reporter)


def _with_page(verdict: Verdict, start: str, reporter: Reporter) -> Verdict:
    """The verdict with its page, which is made once, and of enough texts."""
    from augment_cli.pages import figures

    run = verdict.folder.parent
    page = run / figures.ADAPTATION
    if not page.is_file() or page.stat().st_mtime < (run / "log.jsonl").stat().st_mtime:
        rows = choose_rows(Store.open(run / "store"), "corpus", figures.MOST)
        texts = list(dict.fromkeys(row["text"] for row in rows))
        if len(texts) < figures.FEWEST:
            return verdict
        from augment_cli.encoding.loading import load_encoder

        reporter.say(f"page: a map of {len(texts)} texts before and after")
        folders = (start, verdict.folder)
        vectors = [load_encoder(one, max_length=_MAPPED_TOKENS).encode(texts) for one in folders]
        said = {"message": verdict.message, "scores": verdict.scores, "following": verdict.following}
        figures.write_adaptation(run, f"Adaptation {run.name}", said, texts, *vectors)
    return dataclasses.replace(verdict, page=page, following=(*verdict.following, f"page: {page}"))


def _is_finished(out: Path, told: dict[str, Any]) -> bool:
    """Whether the same was made here and is still there, seen without torch, which takes seconds to load."""
    needed = [out / "best", out / "log.jsonl", out / "summary.json", *[out / "lookup"] * told["lookup"]]
    try:
        known = json.loads(read_small_file(out / _TOLD))
        store = sha256_of_file(out / "store" / "manifest.json")
    except (UserError, OSError, ValueError):
        return False
    return bool(known == told | {"store": store}) and all(map(Path.exists, needed))


def _with_column(file: Path, options: IngestOptions, reporter: Reporter) -> IngestOptions:
    """The options with the column of texts, encoding and format that a file seems to have."""
    found = look_at(file, options, _LOOKED_AT)
    column, encoding = found["text_column"], found["encoding"] or options.encoding
    if column and not options.text_column:
        others = [one["name"] or "one without a name" for one in found["columns"] if one["name"] != column]
        beside = f" (others: {', '.join(others)})" if others else ""
        reporter.say(f"text column: {column}{beside}; --text-column names another")
    return dataclasses.replace(options, text_column=column or options.text_column, encoding=encoding)


def _name_of(texts: Any, encoder: str, in_memory: bool) -> str:
    """The folder of a run: by the file, and by the encoder where it is not the usual one."""
    stem = "texts" if in_memory else Path(texts).name.partition(".")[0] or "texts"
    usual = encoder in ("minilm", MINILM_PACKAGE) or encoder.endswith("all-MiniLM-L6-v2")
    return f"adapt-{stem}" + ("" if usual else f"-{Path(encoder).name}")


def _refuse_another(out: Path, digest: str) -> None:
    """Refuse a folder with the run of another encoder, before anything is made."""
    for file in out.glob("checkpoints/*/state.json"):
        # What is damaged is said by the trainer.
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            if json.loads(file.read_bytes())["settings"]["encoder"] != digest:
                raise MixError(f"{out}: holds the run of another encoder; name another folder with --out")


def _few(store: Store) -> str:
    """What is said where the texts have no neighbourhoods to learn from; else empty."""
    if store.rows >= _FEW * 10 or len(texts := set(texts_of(store))) >= _FEW:
        return ""
    return (
        f"different texts: {len(texts)}; so few have no neighbourhoods to learn from, and cannot tell "
        f"whether training helped: give {_FEW} or more, or take the encoder as it is (--set held_out=0.1 "
        "trains anyway, and asks held-out texts whether their halves find each other)"
    )


def _train(command: list[str], reporter: Reporter) -> None:
    """Run the trainer, with its lines as progress and notes; its error becomes one of this process."""
    last, shown = "", float("-inf")
    output: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "encoding": "utf-8"}
    with subprocess.Popen(command, errors="replace", **output) as process:
        assert process.stderr is not None
        try:
            for line in map(str.rstrip, process.stderr):
                last, said = line or last, ""
                if found := _EVENT.match(line):
                    if found[1] != "step" or time.monotonic() - shown >= SECONDS_BETWEEN_LINES:
                        said = _progress(*found.groups())
                        shown = time.monotonic() if said and found[1] == "step" else shown
                elif not line.startswith(("error: ", "verdict: ")):
                    said = _NOTE.sub("", line)
                if said:
                    reporter.say(said)
        except BaseException:
            process.terminate()
            try:  # it keeps what it made, and leaves the folder free for the next command
                process.communicate(timeout=_ENDING)
            finally:
                process.kill()
            raise
    if process.returncode:
        code = process.returncode
        kind = next((one for one in UserError.__subclasses__() if one.exit_code == code), UserError)
        raise kind(last.removeprefix("error: ") or f"the trainer ended with code {code}")


def _progress(event: str, step: str, steps: str, score: str | None, minutes: str | None) -> str:
    """What a person is told of a line of the trainer's; empty where the log alone has it."""
    if steps == "0" or (event != "step" and not score):
        return ""
    if event != "step":
        return f"training: step {step} of {steps}, dev score {float(score or 0):.3f}"
    left = f"{float(minutes):.0f} min" if minutes and float(minutes) >= 1 else "less than a minute"
    return f"training: step {step} of {steps}" + (f", {left} left" if step != steps else "")


def _make_lookup(out: Path, store: Store, reporter: Reporter) -> None:
    from augment_cli.encoding.layout import is_static
    from augment_cli.encoding.loading import load_encoder
    from augment_cli.encoding.lookup import Lookup

    best, words, texts = out / "best", CHECKOUT / STATIC, list(texts_of(store))
    helps = words.is_dir() and not is_static(best) and not unknown_language(words, texts)
    found = Lookup.fit(load_encoder(best), texts, [(load_encoder(words), _HELPS)] if helps else ())
    reporter.say(f"lookup: {len(found.points):,} of {len(texts):,} texts")
    shutil.rmtree(out / "lookup", ignore_errors=True)
    found.save(best, out / "lookup")


def read_verdict(out: Path, start: str) -> Verdict:
    """The verdict of a finished run's folder."""
    events = [json.loads(line) for line in (out / "log.jsonl").read_text("utf-8").splitlines()]
    ended = next(event for event in reversed(events) if event["event"] == "verdict")
    summary = json.loads((out / "summary.json").read_text("utf-8"))["scores"]
    scores = {
        name: {when: summary[f"{when} {name}"][0] for when in ("before", "best")}
        for when_and_name in summary
        if (name := when_and_name.removeprefix("before ")) != when_and_name and f"best {name}" in summary
    }
    best, lookup = out / "best", out / "lookup"
    shown, shown_lookup = (json.dumps(str(folder), ensure_ascii=False) for folder in (best, lookup))
    following = [
        f"model: {best}",
        f"vector database: index SentenceTransformer({shown}).encode(texts), and encode queries with it, too",
        f"with labels: augment-eval start={shlex.quote(start)} adapted={shlex.quote(str(best))} "
        "--labelled FILE --text-column TEXT --label-column CLASS",
        f"topics: BERTopic(embedding_model=SentenceTransformer({shown}))",
        f"few labels: SetFitModel.from_pretrained({shown})",
    ]
    if lookup.is_dir():
        use = f"SentenceTransformer({shown_lookup})"
        doubt = (
            "" if ended["outcome"] == "better" else ", though nothing here says that it helps (ask labels)"
        )
        following.append(f"lookup, for topics and classes{doubt}: {use}")
    elif ended["outcome"] == "better":
        following.append("more for topics and classes, not for search: the same command with --lookup")
    if (out / "run.html").is_file():
        following.append(f"training: {out / 'run.html'}")
    said = in_words(ended["outcome"], scores) or ended["message"]
    return Verdict(ended["outcome"], visible(said), best, scores, tuple(following))


def in_words(outcome: str, scores: dict[str, dict[str, float]]) -> str:
    """What gained and what lost, by the corpus's own texts without labels; empty where nothing came out."""
    half, found = (scores.get(name) for name in ("half_neighbours", "found_by_half"))
    if outcome != "better" or half is None or found is None:
        return ""
    change = 100 * (found["best"] - found["before"])
    single = "about as often" if abs(change) < _POINTS else "more often" if change > 0 else "less often"
    caution = "; keep the start for search" if change <= -_POINTS else ""
    halves, first = ([100 * scores[when] for when in ("best", "before")] for scores in (half, found))
    why = "" if half["best"] > half["before"] else "the texts' words confirm the groups that it learned, and "
    return (
        f"better for topics and classes: {why}of 100 nearest texts, {halves[0]:.1f} are found by either "
        f"half of a text's words ({halves[1]:.1f} before); the one text is found {single}: half of its words "
        f"finds it first in {first[0]:.1f} of 100 ({first[1]:.1f} before){caution}"
    )
