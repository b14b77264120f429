"""Templates: TOML files that say what a model is asked, and how its answer is read."""

import json
import re
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from augment_cli.errors import UsageError, did_you_mean
from augment_cli.store.files import read_toml, sha256_of_json

_FOLDER = Path(__file__).parents[1] / "resources" / "prompts"
ANSWER = "answer"  # the key of an answer in JSON
_FIELD = re.compile(r"\{(text|other)\}")


class Example(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One that is shown before the question."""

    text: str
    answer: str
    other: str = ""


class Reading(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How an answer is read."""

    # of a text that came out of it (`augment_cli/contract/augmentation.py`)
    label: Literal["same", "other", "neither"] = "neither"
    length: Literal["alike", "shorter", "longer", "any"] = "any"  # held against the original's
    prefix: str = ""  # what a model may put in front
    # the only answers there are, where the answer is a verdict on the other text; those that are labels
    # become its label
    choices: tuple[str, ...] = ()


class Template(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What is asked."""

    version: int
    user: str  # with `{text}`, and `{other}` where it shows a second text
    system: str = ""
    examples: tuple[Example, ...] = ()
    read: Reading = Reading()  # what decides no answer
    name: str | UnsetType = UNSET  # of the file

    @property
    def has_other(self) -> bool:
        """Whether it shows a second text."""
        return "{other}" in self.user

    @property
    def digest(self) -> str:
        """SHA-256 of what decides the answers: not of how they are read."""
        return sha256_of_json([self.version, self.system, self.user, msgspec.to_builtins(self.examples)])

    @property
    def response_format(self) -> dict[str, Any]:
        """What holds a server's answer to an object with the one key `answer`."""
        own = {"enum": list(self.read.choices)} if self.read.choices else {}
        schema = {
            "type": "object",
            "properties": {ANSWER: {"type": "string", **own}},
            "required": [ANSWER],
            "additionalProperties": False,
        }
        return {"type": "json_schema", "json_schema": {"name": ANSWER, "strict": True, "schema": schema}}

    def messages(self, text: str, other: str = "", as_json: bool = False) -> list[dict[str, str]]:
        """The conversation that ends with the question about a text, its examples answered in JSON or not."""
        said = [("system", self.system)] if self.system else []
        for one in self.examples:
            answer = json.dumps({ANSWER: one.answer}, ensure_ascii=False) if as_json else one.answer
            said += [("user", self._question(one.text, one.other)), ("assistant", answer)]
        said.append(("user", self._question(text, other)))
        return [{"role": role, "content": content} for role, content in said]

    def _question(self, text: str, other: str) -> str:
        fields = {"text": text, "other": other}
        return _FIELD.sub(lambda match: fields[match[1]], self.user)


def shipped_templates() -> list[str]:
    """Names of the templates that come with the package."""
    return sorted(path.stem for path in _FOLDER.glob("*.toml"))


def find_template(name: str) -> Template:
    """A shipped template by its name, or a file whose name ends in `.toml`."""
    path = Path(name).expanduser() if name.endswith(".toml") else _FOLDER / f"{name}.toml"
    if not name.endswith(".toml") and name not in shipped_templates():
        known = shipped_templates()
        raise UsageError(
            f"--template {name}: there is none; choose {', '.join(known)}, or a file NAME.toml."
            f"{did_you_mean(name, known)}"
        )
    try:
        values: dict[str, Any] = read_toml(path)
        template = msgspec.convert(values | {"name": path.stem}, Template)
    except (FileNotFoundError, msgspec.ValidationError) as error:
        what = "there is no such file" if isinstance(error, FileNotFoundError) else str(error)
        raise UsageError(
            f"--template {name}: {what}; docs/how-to/generate.md has what a template is"
        ) from error
    if "{text}" not in template.user:
        raise UsageError(f"--template {name}: its user text lacks {{text}}, where the sentence goes")
    if bool(template.read.choices) != template.has_other:
        raise UsageError(f"--template {name}: choices are verdicts on {{other}}; give both or neither")
    return template
