"""Run an augmentation: over a store's parts, or over a list of sentences in memory."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from augment_cli import augmentations
from augment_cli.contract.augmentation import Augmentation, Resources
from augment_cli.contract.parameters import check_parameters
from augment_cli.errors import UsageError
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import Store
from augment_cli.syntax.parses import stage_name
from augment_cli.tfidf.fit import stage_names
from augment_cli.tfidf.term_table import TermTable

DEFAULT_SEED = 42


@dataclass(frozen=True)
class AugmentationRun:
    """One augmentation with all that decides its output; travels to the workers.

    Parameters
    ----------
    name : str
        Of the augmentation.
    parameters : object
        An instance of its parameter class.
    seed, draw : int
        Independent draws of one seed differ in `draw` alone.
    fit, parses : str, optional
        Which fit and which parse it reads, where there are several.
    """

    name: str
    parameters: Any
    seed: int = DEFAULT_SEED
    draw: int = 0
    fit: str | None = None
    parses: str | None = None

    @property
    def augmentation(self) -> Augmentation:
        """The card."""
        return augmentations.get(self.name)

    @property
    def needs(self) -> frozenset[str]:
        """Earlier stages it reads: those of its card, and the parse where its parameters ask for it."""
        asks = getattr(self.parameters, "parts_of_speech", None) == "parse"
        return self.augmentation.needs | (frozenset({"parses"}) if asks else frozenset())

    @property
    def may_read_parses(self) -> bool:
        """Whether it reads the parse, or would where there is one."""
        return "parses" in self.needs or getattr(self.parameters, "parts_of_speech", None) == "auto"

    def settled(self, store: Store, stage: str | None = None) -> AugmentationRun:
        """The run with `parts_of_speech = "auto"` made explicit.

        A stage goes on as it was begun, so that running the same command again makes nothing anew; a new
        one reads the parse where it is named or the store has it.
        """
        if getattr(self.parameters, "parts_of_speech", None) != "auto":
            return self
        folder, begun = self.folder(stage), None
        if folder in store.stages():
            begun = store.stage(folder).settings["parameters"].get("parts_of_speech")
        there = self.parses is not None or store.has(stage_name(None))
        choice = begun or ("parse" if there else "words")
        parameters = dataclasses.replace(self.parameters, parts_of_speech=choice)
        return dataclasses.replace(self, parameters=parameters)

    def folder(self, stage: str | None = None) -> str:
        """Folder of the result: `stage` or the augmentation's name, with `.1`, `.2`, … for further draws."""
        base = stage or self.name
        return f"{base}.{self.draw}" if self.draw else base

    def resources(self, store: Store) -> Resources:
        """Load what the augmentation's `prepare` needs from the store."""
        terms = None
        if "tfidf" in self.needs:
            terms = TermTable.read(store, stage_names(self.fit)[1])
        return Resources(self.seed, self.draw, terms)

    def settings(self, store: Store) -> Settings:
        """What the stage depends on."""
        card = self.augmentation
        inputs = {"corpus": store.stage("corpus").digest}
        if "tfidf" in self.needs:
            inputs |= {name: store.stage(stage).digest for name, stage in self._fit_stages()}
        if "parses" in self.needs:
            inputs["parses"] = store.stage(stage_name(self.parses)).digest
        parameters = card.resolve(self.parameters, self.resources(store))
        return Settings(
            card.name,
            card.version,
            parameters | {"draw": self.draw},
            seed=self.seed,
            inputs=inputs,
            resources=card.uses(self.parameters, self.resources(store)),
            libraries=library_versions(["numpy", "pyarrow", *card.libraries]),
        )

    def warnings(self, store: Store) -> list[str]:
        """What a person should know before it runs, such as a window over most of the vocabulary."""
        return self.augmentation.warnings(self.parameters, self.resources(store))

    def _fit_stages(self) -> list[tuple[str, str]]:
        return list(zip(("tfidf", "terms"), stage_names(self.fit), strict=True))


def make_run(name: str, **options: Any) -> AugmentationRun:
    """An augmentation run from keyword arguments, as typed in a notebook or a recipe.

    `seed`, `draw`, `fit` and `parses` are those of `AugmentationRun`; the rest are the augmentation's
    parameters.

    Raises
    ------
    UsageError
        For an unknown augmentation or parameter, or a value of the wrong kind or out of range.
    """
    card = augmentations.get(name)
    known = {item.name: item for item in dataclasses.fields(card.parameters)}
    common = {key: options.pop(key) for key in ("seed", "draw", "fit", "parses") if key in options}
    if unknown := sorted(options.keys() - known.keys()):
        raise UsageError(f"{name}: has no parameter {unknown[0]!r}; it has {', '.join(known)}")
    for key, value in options.items():
        options[key] = _coerce(f"{name}: parameter {key!r}", value, type(known[key].default))
    parameters = card.parameters(**options)
    check_parameters(parameters)
    return AugmentationRun(name, parameters, **common)


def _coerce(where: str, value: Any, kind: type) -> Any:
    if isinstance(value, bool) or kind is bool:
        if isinstance(value, bool) and kind is bool:
            return value
    elif (kind is float and isinstance(value, int | float)) or (kind is str and isinstance(value, str | int)):
        return kind(value)
    elif isinstance(value, kind):
        return value
    raise UsageError(f"{where}: {value!r} is no {kind.__name__}")
