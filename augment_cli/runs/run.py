"""One augmentation with its settings: what it needs, what its result depends on, a chain's label."""

import dataclasses
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from augment_cli import augmentations
from augment_cli.augmentations.labels import entailment_of_stage
from augment_cli.contract.augmentation import Augmentation, Resources, entailment_of
from augment_cli.contract.parameters import DEFAULT_SEED, check_parameters
from augment_cli.english.words import are_complements
from augment_cli.errors import UsageError, UserError, did_you_mean
from augment_cli.languages import against, language_of, registered
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import Store
from augment_cli.syntax.parses import stage_name
from augment_cli.text.spans import CodePoints
from augment_cli.text.untouched import PROTECTED, protecting
from augment_cli.tfidf.term_table import TermTable, forms_name, stage_names

Edit = tuple[int, int, str]  # start, end (code points, half-open), what stands there instead
# What is recorded beside an augmentation's own parameters.
_OF_ANY_RUN = {"draw", "of", "label", "protected", "protect"}
_BE = re.compile(r"(?:^|\W)(am|is|are|was|were|be|been|being)$", re.IGNORECASE)
# Of a subject with one of these, "not" may deny the quantifier: "All doors are not closed".
_QUANTIFIED = re.compile(r"\b(all|every\w*|each|both|many|most|no|none|nobody|few|any\w*)\b", re.IGNORECASE)
_NOT = re.compile(r"\s?(?:not|n['’]t)", re.IGNORECASE)


def label_of_chain(store: Store, of: str, descriptor: Augmentation, parameters: Mapping[str, Any]) -> str:
    """The label that a chain on a stage is made for; its rows have their own."""
    first, turns = entailment_of_stage(store.stage(of).settings), turns_of(store, of, descriptor)
    label = composed(first.label if first else "neither", entailment_of(descriptor, parameters).label)
    if label != "both":
        return label
    return "same" if turns == ("polarity", "polarity") else "other" if "content" in turns else "neither"


def turns_of(store: Store, of: str, descriptor: Augmentation) -> tuple[str | None, str | None]:
    """What the two steps turn; of a chain nobody knows."""
    settings = store.stage(of).settings
    is_chain = "of" in settings["parameters"] or settings["stage"] not in augmentations.names()
    return None if is_chain else augmentations.get(settings["stage"]).turns, descriptor.turns


def composed(first: str, second: str) -> str:
    """The label of two steps; `both` where both turn the sentence."""
    if "neither" in (first, second):
        return "neither"
    if first == second == "other":
        return "both"
    return "same" if first == second else "other"


def placed(edits: Sequence[Edit]) -> list[tuple[int, int]]:
    """Where what edits put in stands in the text that they give."""
    spans, shift = [], 0
    for start, end, text in edits:
        spans.append((start + shift, start + shift + len(text)))
        shift += len(text) - (end - start)
    return spans


def of_two_turns(
    original: str,
    between: str,
    first: Sequence[Edit],
    second: Sequence[Edit],
    turns: tuple[str | None, str | None],
) -> str:
    """The label of a row that both steps turn."""
    if "content" in turns:
        apart = all(
            end < low or start > high for start, end, _ in second for low, high in placed(first)
        )  # else the second may put back what the first took
        return "other" if apart else "neither"
    polar = turns == ("polarity", "polarity")
    return "same" if polar and _restores(original, between, first, second) else "neither"


def _restores(original: str, between: str, first: Sequence[Edit], second: Sequence[Edit]) -> bool:
    """Whether one step denies, and the other puts the complement right behind: `is open`, `is not closed`."""
    in_first = [(*edit, *span, original) for edit, span in zip(first, placed(first), strict=True)]
    in_second = [(*edit, edit[0], edit[1], between) for edit in second]
    for exchanged, denials in ((in_first, in_second), (in_second, in_first)):
        words = [edit for edit in exchanged if edit[5][edit[0] : edit[1]].lower() not in {"a", "an"}]
        if len(words) != 1 or len(denials) != 1:
            continue
        (start, end, new, at, _, text), (place, stop, put, low, high, source) = words[0], denials[0]
        denies = _NOT.fullmatch(put) if place == stop else not put and _NOT.fullmatch(source[place:stop])
        gap, front = between[high:at].strip().lower(), between[:low]
        restored = denies and are_complements(text[start:end], new) and gap in {"", "a", "an"}
        if restored and at > high - 1 and _BE.search(front) and not _QUANTIFIED.search(front):
            return True
    return False


_PARTS, _TEXTS = 5, 200  # that are looked at, to tell the language


@dataclass(frozen=True)
class AugmentationRun:
    """One augmentation with all that decides its output; travels to the workers.

    Its parameters are checked here, once, however the run is made.
    """

    name: str  # of the augmentation
    parameters: Any  # an instance of its parameter class
    seed: int = DEFAULT_SEED  # independent draws of one seed differ in `draw` alone
    draw: int = 0
    fit: str | None = None  # which fit and which parse it reads, where there are several
    parses: str | None = None
    of: str | None = None  # the stage whose texts it reads in place of the corpus's
    protect: str = ""  # a regular expression of what no edit may cut into, beside the usual
    protection: int = PROTECTED  # number of the rules of the usual; 0 in stages that were begun without
    anyway: bool = field(default=False, compare=False)  # though the corpus looks to be in another language

    def __post_init__(self) -> None:
        check_parameters(self.parameters)
        try:
            re.compile(self.protect)
        except re.error as error:
            raise UsageError(f"--protect {self.protect!r}: is not a regular expression ({error})") from None

    @property
    def augmentation(self) -> Augmentation:
        """The descriptor."""
        return augmentations.get(self.name)

    @property
    def needs(self) -> frozenset[str]:
        """Earlier stages it reads: those of its descriptor, and what its parameters ask for beside them."""
        needs = self.augmentation.needs | self.augmentation.also_needs(self.parameters)
        return needs | {"parses"} if self._parts_of_speech == "parse" else needs

    @property
    def may_read_parses(self) -> bool:
        """Whether it reads the parse, or would where there is one."""
        return "parses" in self.needs or self._parts_of_speech == "auto"

    @property
    def _parts_of_speech(self) -> str | None:
        """`auto`, `parse` or `words` where the augmentation reads the parse if there is one."""
        return self.parameters.parts_of_speech if self.augmentation.reads_parse_if_there else None

    def resolved(self, store: Store, stage: str | None = None) -> "AugmentationRun":
        """The run with `parts_of_speech = "auto"` made explicit, and with the protection of a stage begun."""
        # A stage goes on as it was begun, so that running the same command again makes nothing anew; a new
        # one reads the parse where it is named or the store has it.
        folder = self.folder(stage)
        stored = store.stage(folder).settings["parameters"] if folder in store.stages() else None
        if stored is not None:
            self = dataclasses.replace(self, protection=stored.get("protected", 0))
        if self._parts_of_speech != "auto":
            return self
        begun_with = stored.get("parts_of_speech") if stored else None
        has_parses = self.parses is not None or store.has(stage_name(None))
        choice = begun_with or ("parse" if has_parses else "words")
        parameters = dataclasses.replace(self.parameters, parts_of_speech=choice)
        return dataclasses.replace(self, parameters=parameters)

    def rows_in_reach(self, first: int, count: int) -> int:
        """How many of `count` rows from row `first` on it looks at: all, or those before its `rows`."""
        # The others are there in the result, and cost nothing, so that progress does not count them.
        limit = getattr(self.parameters, "rows", 0)
        return min(count, max(0, limit - first)) if limit else count

    def check_named(self, store: Store, to_make: Collection[str] = ()) -> None:
        """See that the fit and the parses that are named are there, lest a misspelt name make others."""
        for need, option, name, folder in (
            ("tfidf", "fit", self.fit, stage_names(self.fit)[1]),
            ("parses", "parses", self.parses, stage_name(self.parses)),
        ):
            if name is None or need not in self.needs or folder in {*store.stages(), *to_make}:
                continue
            first = folder.removesuffix(f"-{name}")
            others = [other for other in store.stages() if other == first or other.startswith(f"{first}-")]
            named = [other.removeprefix(f"{first}-") for other in others if other != first]
            if first in others:
                named.append(f"the unnamed one (leave --{option} out)")
            raise UsageError(
                f"--{option} {name}: {store.path} has no such {option}; it has {', '.join(named) or 'none'}. "
                f"Make it with `augment-cli {option.removesuffix('s')} --name {name} --store {store.path}`"
            )

    def pipeline(self, store: Store) -> str | None:
        """Name of the pipeline that made the parses that it would read, or None where there are none."""
        stage = stage_name(self.parses)
        return store.stage(stage).settings["parameters"]["pipeline"] if stage in store.stages() else None

    def check_language(self, pipeline: str | None) -> None:
        """Refuse parses of a language that the augmentation has no rules for."""
        known = self.augmentation.languages
        if pipeline is None or not known or (language := language_of(pipeline)).code in known:
            return
        others = ", ".join(name for name in augmentations.names() if _needs_no_language(name))
        raise UsageError(
            f"{self.name}: has rules for {' and '.join(known)}, and none for {language.name}, which pipeline "
            f"{pipeline} parses; with it run {others}"
        )

    def check_texts(self, texts: Store | Sequence[str], pipeline: str | None) -> None:
        """Refuse texts that look to be in another language than the rules, or the pipeline, are for."""
        codes = [pipeline.partition("_")[0]] if pipeline else self.augmentation.languages
        if self.anyway or not codes:
            return
        texts = some_texts(texts) if isinstance(texts, Store) else texts
        reasons = {code: against(texts, code) for code in codes}
        if all(reasons.values()):
            names = " or ".join(registered()[code].name for code in reasons)
            made_for = f"reads what pipeline {pipeline} parses, which is for" if pipeline else "is for"
            parse = "`augment-cli parse --pipeline NAME` parses it with another; " if pipeline else ""
            raise UsageError(
                f"{self.name}: {made_for} {names}, and the text does not look so "
                f"({next(iter(reasons.values()))}); {parse}--anyway insists, and `augment-cli list` has what "
                "needs no language"
            )

    def folder(self, stage: str | None = None) -> str:
        """Folder: `stage`, the augmentation's name, or NAME-of-STAGE; `.1`, `.2`, … for further draws."""
        base = stage or (f"{self.name}-of-{self.of}" if self.of else self.name)
        return f"{base}.{self.draw}" if self.draw else base

    def resources(self, store: Store) -> Resources:
        """Load what the augmentation's `prepare` needs from the store."""
        terms = None
        if "tfidf" in self.needs:
            forms = forms_name(self.fit)
            has_forms = "forms" in self.needs and store.has(forms)
            terms = TermTable.read(store, stage_names(self.fit)[1], forms if has_forms else None)
        return Resources(self.seed, self.draw, terms)

    def settings(self, store: Store) -> Settings:
        """What the stage depends on."""
        descriptor = self.augmentation
        inputs = {"corpus": store.stage("corpus").digest}
        if "tfidf" in self.needs:
            stages = zip(("tfidf", "terms"), stage_names(self.fit), strict=True)
            inputs |= {name: store.stage(stage).digest for name, stage in stages}
        if "forms" in self.needs:
            inputs["forms"] = store.stage(forms_name(self.fit)).digest
        if "parses" in self.needs:
            inputs["parses"] = store.stage(stage_name(self.parses)).digest
        parameters = descriptor.resolve(self.parameters, self.resources(store))
        if self.of:
            inputs[self.of] = store.stage(self.of).digest
            parameters = parameters | {
                "of": self.of,
                "label": label_of_chain(store, self.of, descriptor, dataclasses.asdict(self.parameters)),
            }
        protection = {"protected": self.protection, "protect": self.protect}
        protection = {name: value for name, value in protection.items() if value}
        return Settings(
            descriptor.name,
            descriptor.version,
            parameters | {"draw": self.draw} | protection,
            seed=self.seed,
            inputs=inputs,
            resources=descriptor.uses(self.parameters, self.resources(store)),
            libraries=library_versions(["numpy", "pyarrow", *descriptor.libraries]),
            by_part=not {"tfidf", "forms"} & self.needs and not self.of,
        )

    def makes(self, store: Store, stored: Mapping[str, Any]) -> bool:
        """Whether a stage with some stored parameters came of these."""
        own = {key: value for key, value in stored.items() if key not in _OF_ANY_RUN}
        return self.augmentation.resolve(self.parameters, self.resources(store)) == own

    def code_points(self, texts: pa.StringArray) -> CodePoints:
        """Texts as augmentations get them: with what no edit may cut into."""
        return protecting(texts, self.protect, usual=bool(self.protection))

    def of_draw(self, draw: int, draws: int) -> "AugmentationRun":
        """The run of one of several draws, 0 … draws−1, with what its parameters spread over them."""
        parameters = self.augmentation.of_draw(self.parameters, draw, draws)
        return dataclasses.replace(self, parameters=parameters, draw=draw)

    def notes(self, store: Store) -> list[str]:
        """What it does that a person may want to know, such as a table that joins the corpus's own."""
        return self.augmentation.notes(self.parameters, self.resources(store))

    def warnings(self, store: Store) -> list[str]:
        """What a person should know before it runs, such as a window over most of the vocabulary."""
        return self.augmentation.warnings(self.parameters, self.resources(store))


def make_run(name: str, **options: Any) -> AugmentationRun:
    """An augmentation run from keyword arguments, as typed in a notebook or a recipe."""
    descriptor = augmentations.get(name)
    known = {item.name: item for item in dataclasses.fields(descriptor.parameters)}
    common = {key: options.pop(key) for key in _COMMON if key in options}
    for key, value in common.items():
        if value is not None or _COMMON[key] in (int, bool):
            common[key] = _coerce(f"{name}: {key!r}", value, _COMMON[key])
    if unknown := sorted(options.keys() - known.keys()):
        alike = did_you_mean(unknown[0], [*known, *_COMMON])
        raise UsageError(f"{name}: has no parameter {unknown[0]!r}; it has {', '.join(known)}.{alike}")
    for key, value in options.items():
        options[key] = _coerce(f"{name}: parameter {key!r}", value, type(known[key].default))
    return AugmentationRun(name, descriptor.parameters(**options), **common)


def parts_to_look_at(store: Store) -> range:
    """A few parts, from all over the corpus."""
    return range(0, len(store.parts), -(-len(store.parts) // _PARTS) or 1)


def some_texts(store: Store) -> list[str]:
    """Sentences from all over the corpus."""
    texts: list[str] = []
    for part in parts_to_look_at(store):
        own = store.read_part("corpus", part, ["text"], [0])["text"]
        texts += own[:: -(-len(own) // _TEXTS)].to_pylist()
    return texts


def _needs_no_language(name: str) -> bool:
    try:
        return not augmentations.get(name).languages
    except UserError:  # of another package, which cannot be loaded
        return False


# Of every augmentation.
_COMMON: dict[str, type] = {
    "seed": int,
    "draw": int,
    "fit": str,
    "parses": str,
    "of": str,
    "protect": str,
    "anyway": bool,
}
_KINDS = {bool: "boolean", int: "integer", float: "number", str: "string"}


def _coerce(where: str, value: Any, kind: type) -> Any:
    if isinstance(value, bool) or kind is bool:
        if isinstance(value, bool) and kind is bool:
            return value
    elif (kind is float and isinstance(value, int | float)) or (
        kind is str and isinstance(value, str | int | float)
    ):
        return kind(value)
    elif isinstance(value, kind):
        return value
    raise UsageError(f"{where}: {value!r} is not a valid {_KINDS[kind]}")
