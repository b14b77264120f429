"""The frame of every page: one file, its style and script inside it, and a policy that forbids all else."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from augment_cli.errors.visible import visible_line
from augment_cli.version import __version__


def render(
    source: str,
    title: str,
    values: Mapping[str, Any],
    *,
    filters: Mapping[str, Callable[..., Any]] | None = None,
    script: str = "",
) -> str:
    """A page, complete in itself.

    Parameters
    ----------
    source : str
        A Jinja2 template that extends `page.html`; every value is escaped unless it is `Markup`.
    title : str
        The page's title and first heading, as text.
    values : mapping of str to Any
        What the template is filled with; one that it names and nobody gives is an error.
    filters : mapping of str to callable, optional
        Beside `visible`, which marks control characters.
    script : str
        The page's only script; by default it has none, and its policy allows none.
    """
    environment = Environment(
        loader=FunctionLoader(template),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"visible": visible_line, **(filters or {})}
    style = template("style.css")
    return environment.from_string(source).render(
        title=visible_line(title),
        version=__version__,
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
        **values,
    )


def template(name: str) -> str:
    """A file of `augment_cli/pages/templates`."""
    return files("augment_cli.pages").joinpath("templates", name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    scripts = f"'{_digest(script)}'" if script else "'none'"
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src {scripts}; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
