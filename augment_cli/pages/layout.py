"""The frame of every page: one file, its style and script inside it; two texts with what changed marked."""

import base64
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup, escape

from augment_cli.errors import MissingError, UsageError
from augment_cli.errors.visible import visible_line
from augment_cli.store.files import check_target
from augment_cli.version import __version__

_LONGEST = 20_000  # characters of both texts; comparing takes the square of it
_WORDS = re.compile(r"\w+(?:['’]\w+)*|\s+|[^\w\s]")


def render(
    source: str,
    title: str,
    values: Mapping[str, Any],
    *,
    filters: Mapping[str, Callable[..., Any]] | None = None,
    script: str = "",
) -> str:
    """A page, complete in itself."""
    environment = Environment(
        loader=FunctionLoader(template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"visible": visible_line, "said": _said, **(filters or {})}
    style = template("style.css")
    scripts = f"'{_digest(script)}'" if script else "'none'"
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src {scripts}; "
        "base-uri 'none'; form-action 'none'"
    )
    return environment.from_string(source).render(
        title=visible_line(title),
        version=__version__,
        style=Markup(style),
        script=Markup(script),
        policy=policy,
        **values,
    )


def template(name: str) -> str:
    """A file of `augment_cli/pages/templates`."""
    return files("augment_cli.pages").joinpath("templates", name).read_text("utf-8")


def _said(text: str) -> Markup:
    """Words of ours, where what stands between backticks is code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(visible_line(text)))))


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def check_place(out: Path, store: Path, title: str) -> None:
    """See that a page can be written, and replaces at most an earlier page of its kind."""
    if out.is_dir():
        raise UsageError(f"{out}: is a folder; name a file, such as {out / 'report.html'}")
    check_target(out, store, lambda beginning: _is_page(beginning, title))
    if not out.absolute().parent.is_dir():
        raise MissingError(f"{out}: the folder {out.absolute().parent} does not exist; make it first")


def _is_page(beginning: bytes, title: str) -> bool:
    """Whether a file that begins so is such a page: what `page.html` puts before the style."""
    return beginning.startswith(b"<!doctype html>") and all(
        mark in beginning for mark in (b'<meta name="generator" content="augment-cli ', title.encode())
    )


def marked(
    original: str, text: str, edits: Sequence[Mapping[str, Any]] = (), most: int | None = None
) -> tuple[Markup, Markup]:
    """Original and result, what went struck out and what came underlined."""
    before, after, longest = Markup(""), Markup(""), most and 2 * most
    for kept, removed, new in pieces(original, edits or word_edits(original, text), most):
        before += escape(line(kept, longest)) + _element("del", line(removed, longest))
        after += escape(line(kept, longest)) + _element("ins", line(new, longest))
    return before, after


def pieces(
    original: str, edits: Sequence[Mapping[str, Any]], most: int | None = None
) -> Iterator[tuple[str, str, str]]:
    """What stays, what goes and what comes there, from left to right; little beyond `most` characters."""
    position = 0
    for edit in edits:
        yield original[position : edit["start"]], original[edit["start"] : edit["end"]], edit["replacement"]
        position = edit["end"]
        if most is not None and position > most:
            break
    rest = original[position:]
    yield rest if most is None or len(rest) <= most else rest[:most] + "…", "", ""


def word_edits(original: str, text: str) -> list[dict[str, Any]]:
    """Edits that make one text of the other, whole words at a time."""
    if len(original) + len(text) > _LONGEST:
        return [{"start": 0, "end": len(original), "replacement": text}]
    ones, twos = _WORDS.findall(original), _WORDS.findall(text)
    starts = [0]
    for word in ones:
        starts.append(starts[-1] + len(word))
    opcodes = SequenceMatcher(None, ones, twos, autojunk=False).get_opcodes()
    return [
        {"start": starts[one], "end": starts[one_end], "replacement": "".join(twos[two:two_end])}
        for kind, one, one_end, two, two_end in opcodes
        if kind != "equal"
    ]


def _element(tag: str, text: str) -> Markup:
    return Markup(f"<{tag}>{{}}</{tag}>").format(text) if text else Markup("")


def line(value: object, most: int | None) -> str:
    """Text of a corpus within a line, at most so long; escaping is the page's."""
    shown = visible_line(value)
    return shown if most is None or len(shown) <= most else shown[:most] + "…"
