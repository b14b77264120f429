"""What decides a stage's contents, as one JSON object, its fingerprint, and how two of them differ."""

import importlib.metadata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from augment_cli.errors import EXTRAS, MissingError, lacking
from augment_cli.store.files import canonical_json, sha256_of_json, shortened
from augment_cli.store.parquet import SCHEMA_VERSION

Word = Annotated[str, Meta(min_length=1, max_length=200)]
Digest = Annotated[str, Meta(max_length=200)]  # of a file or a stage; of a library or tokeniser, its version
Count = Annotated[int, Meta(ge=-(2**62), le=2**62)]


@dataclass(frozen=True)
class Settings:
    """Everything the contents of a stage depend on."""

    stage: Word  # name of what made it: `corpus`, `tfidf`, `una`, … (not the folder, which may be another)
    version: Count  # version of the code that made it; raised when its output changes
    parameters: dict[Word, Any] = field(default_factory=dict)  # resolved parameters, JSON values
    seed: int | None = None  # seed of the draws; None where nothing is drawn
    # digest of each input: a stage of the store, or a file
    inputs: dict[Word, Digest] = field(default_factory=dict)
    # digest or version of word lists, pipelines and models
    resources: dict[Word, Digest] = field(default_factory=dict)
    # versions of the libraries whose behaviour decides the result
    libraries: dict[Word, Digest] = field(default_factory=dict)
    # whether a part depends on its inputs' parts up to its own number alone, so that files appended to the
    # corpus change none that is there. It says how the stage is made and is not stored.
    by_part: bool = field(default=False, compare=False)

    def as_json(self) -> dict[str, Any]:
        """The settings with the schema version and their fingerprint, as stored in each part."""
        value = {"schema": SCHEMA_VERSION, **vars(self)}
        value.pop("by_part", None)  # which is not there where msgspec made them
        return value | {"fingerprint": sha256_of_json(value)}

    @classmethod
    def of_json(cls, value: dict[str, Any]) -> "Settings":
        """The settings that `as_json` wrote."""
        if missing := _KEYS - value.keys():
            raise ValueError(f"Object missing required field `{min(missing)}`")
        if unknown := value.keys() - _KEYS:
            raise ValueError(f"Object contains unknown field `{min(unknown)}`")
        if type(value["schema"]) is not int:
            raise ValueError("Expected `int` - at `$.schema`")
        of_it = {key: item for key, item in value.items() if key not in ("schema", "fingerprint")}
        settings = msgspec.convert(of_it, cls)
        if value["fingerprint"] != sha256_of_json({key: value[key] for key in _KEYS - {"fingerprint"}}):
            raise ValueError("they do not fit their fingerprint")
        return settings

    @property
    def fingerprint(self) -> str:
        """SHA-256 over all of it; equal fingerprints mean equal contents."""
        return self.as_json()["fingerprint"]


_KEYS = Settings("", 0).as_json().keys()  # of the settings in a manifest


def differences(stored: dict[str, Any], current: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """The keys in which two settings differ: (key, stored value, current value), in a fixed order."""
    # Parameters come first, as they are what a person changes on purpose.
    order = ["stage", "version", "parameters", "seed", "inputs", "resources", "libraries", "schema"]
    for key in order:
        old, new = stored.get(key), current.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            for name in sorted(old.keys() | new.keys()):
                if old.get(name) != new.get(name):
                    yield f"{key}.{name}", _shown(old.get(name)), _shown(new.get(name))
        elif old != new:
            yield key, _shown(old), _shown(new)


def _shown(value: Any) -> str:
    return shortened(canonical_json(value), 40)


def library_versions(names: Iterable[str]) -> dict[str, str]:
    """Installed versions by distribution name."""
    try:
        return {name: importlib.metadata.version(name) for name in sorted(names)}
    except importlib.metadata.PackageNotFoundError as error:
        module = error.name.replace("-", "_")
        unknown = MissingError(f"{error.name} is needed, and not installed here; `pip install {error.name}`")
        raise (lacking(module) if module in EXTRAS else unknown) from error
