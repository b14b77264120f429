"""Why a stage that is there is not made with other settings, and what to do instead."""

import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from augment_cli.errors import MixError
from augment_cli.store.manifest import Stage
from augment_cli.store.settings import differences

_CORPUS = {"corpus", "rejects"}
# Settings whose option has another name.
_NAMES = {"stages": "on", "positives": "positive", "negatives": "negative", "keep_columns": "keep-column"}
_ON_BY_DEFAULT = {"quoting"}  # switches that have a --no-

OptionOf = Callable[[Mapping[str, Any], str], str | None]


def option_of(settings: Mapping[str, Any], key: str) -> str | None:
    """The option that gives a stage's setting (`parameters.min_df`) again; None where no option does."""
    if key == "seed":
        return f"--seed {settings['seed']}"
    section, _, name = key.partition(".")
    if section != "parameters":
        return None
    value = settings["parameters"].get(name)
    if name == "unchanged_negatives":  # what stands there where not all are required
        return "--require-all" if value is None else "no --require-all"
    option = f"--{_NAMES.get(name, name).replace('_', '-')}"
    if value is None or value is False:
        return f"--no-{option[2:]}" if name in _ON_BY_DEFAULT else f"no {option}"
    if value is True:
        return option
    if name == "stages":
        return f"{option} {shlex.quote(','.join(value))}"
    values = value if isinstance(value, list) else [value]
    return " ".join(f"{option} {shlex.quote(str(one))}" for one in values) or f"no {option}"


def options_again(settings: Mapping[str, Any], usual: Any, names: Iterable[str]) -> list[str]:
    """The options, as words, of those parameters that are not as in `usual`, which has the defaults."""
    words: list[str] = []
    for name in names:
        value, default = settings["parameters"].get(name), getattr(usual, name, None)
        default = list(default) if isinstance(default, tuple) else default
        if value in (None, default) or not (value or default):
            continue
        text = option_of(settings, f"parameters.{name}") or ""
        words += [] if text.startswith("no ") else shlex.split(text)
    return words


def refusal(
    record: Stage,
    current: dict[str, Any],
    store: Path,
    parts: tuple[int | None, int],
    beside: str,
    anew: str,
    option: OptionOf = option_of,
) -> MixError:
    """The error for a stage that exists with other settings than those it is asked for with."""
    name, (before, today) = record.name, parts
    place = store / name
    if before:
        return MixError(
            f"{place}: was made from the first {before} of the corpus's {today} parts, before files were "
            "appended, and depends on all of them; nothing was changed. Make it anew with "
            f"{anew}, which deletes what was made from it too, or {beside}"
        )
    if record.settings["stage"] != current["stage"]:
        return MixError(
            f"{place}: the name is taken by a stage that {record.settings['stage']!r} made; nothing was "
            "changed. Choose another --name"
        )
    if name in _CORPUS and record.earlier:
        return MixError(
            f"{place}: files were appended to this corpus, so it is not what --corpus names; nothing was "
            "changed. Leave --corpus out to go on with all of it, or choose another --store"
        )
    key, old, new = next(differences(record.settings, current))
    made = f"{place}: made with {key} = {old}, now {new}; nothing was changed."
    if name in _CORPUS:
        return MixError(
            f"{made} Every stage is made from the corpus: read this one into another --store, or give "
            f"--overwrite, which deletes all stages of {store}"
        )
    options = []
    for one, *values in differences(record.settings, current):
        if (found := option(record.settings, one)) is not None:
            options.append(found)
        elif "null" not in values:  # a library, a model, an earlier stage; else it comes with another
            options.clear()
            break
    words = " ".join(dict.fromkeys(options))
    same = f"Use the same settings ({words})," if words else "No option brings that back:"
    return MixError(f"{made} {same} {beside}, or remove it with `augment-cli remove {name} --store {store}`")
