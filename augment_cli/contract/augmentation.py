"""The descriptor of an augmentation: what it makes and reads, its parameters, its label, what runs it."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol, get_args

import numpy as np
import pyarrow as pa

from augment_cli.contract.draws import stream_key
from augment_cli.contract.parameters import NoParameters, parameter, read_word_list
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.errors import ContractError
from augment_cli.resources import word_list
from augment_cli.store.files import sha256_of_json
from augment_cli.tfidf.term_table import TermTable

Label = Literal["same", "other", "neither"]
LABELS: tuple[str, ...] = get_args(Label)
# Which label a stage must have to stand among the positives, or the negatives.
NEEDED = {"positive": "same", "negative": "other"}
# The column of an augmentation whose rows have labels of their own; a null row has the augmentation's.
LABEL_COLUMN = pa.field("label", pa.string())
SHIPPED_LIST, NO_LIST = "vulgar", "none"


@dataclass(frozen=True)
class Resources:
    """What `prepare` may use beside the parameters."""

    seed: int  # it and the draw decide all draws
    draw: int
    terms: TermTable | None = None  # where the augmentation needs `tfidf`

    def key(self, purpose: str) -> int:
        """Key of an independent stream of draws, such as `una/position`, for `contract/draws.py`."""
        return stream_key(self.seed, purpose, self.draw)


class Prepared(Protocol):
    """An augmentation with its parameters and resources: pure, any rows in any order."""

    def __call__(self, rows: Rows) -> Outcome:
        """An outcome for each row; never an exception for odd text."""
        ...


class PreparedModel(Prepared, Protocol):
    """An augmentation that runs a model; loads it when it is first called."""

    @property
    def splits(self) -> int:
        """How often memory ran out and a batch was cut in halves."""
        ...

    def batches_of(self, texts: pa.StringArray) -> list[np.ndarray]:
        """Which rows go through the model together, a pure function of the texts: each int64 (k,)."""
        ...

    def use_device(self, device: str) -> None:
        """Which of the devices to run on, as torch names it; before the first call."""
        ...


def with_digests(digests: Callable[[], Mapping[str, str]]) -> Callable[[Any, Resources], dict[str, Any]]:
    """A `resolve` for a descriptor: the parameters, and SHA-256 of word lists and tables that are read."""
    # Called when a run is resolved, since reading the files takes time.
    return lambda parameters, resources: dataclasses.asdict(parameters) | dict(digests())


_KINDS = ("negative", "positive")
_NEEDS = ("tfidf", "parses", "model")
LabelAndReason = tuple[Label, str]


@dataclass(frozen=True)
class Augmentation:
    """The descriptor of an augmentation; its command, help, docs and generic tests follow from it.

    It stands in the augmentation's own file as a constant named like the file; the first line of that file's
    docstring is the summary. Parameters have been checked when they come to any of the functions.
    """

    name: str  # command, and folder of the stage
    version: int  # raised whenever the same input would give another output
    kind: Literal["negative", "positive"]  # the result means something else, or the same
    paper: str  # where it comes from
    # (parameters, resources) to a function from `Rows` to `Outcome`
    prepare: Callable[[Any, Resources], Prepared]
    # Earlier stages that it reads, of tfidf, parses, model; they come as `Rows.tokens` and `Rows.parses`. One
    # that needs a model returns a `PreparedModel`, and is run batch by batch with a journal.
    needs: frozenset[str] = frozenset()
    # A frozen dataclass whose fields are made with `parameter`. Its `__post_init__` raises `UsageError` for
    # values that make no sense together.
    parameters: type = NoParameters
    # ISO 639-1 codes of the languages that it has rules or words for; empty for one that needs none. Parses
    # of another language are refused.
    languages: tuple[str, ...] = ()
    # Whether it takes parts of speech from the parse where the store has one, though it needs none. Then its
    # parameters have the field `parts_of_speech`, made with `parts_of_speech_parameter`.
    reads_parse_if_there: bool = False
    columns: tuple[pa.Field, ...] = ()  # its own, beside row_id, text, reason and edits
    # The JSON values that the result depends on: word lists by digest, shares as counts.
    resolve: Callable[[Any, Resources], dict[str, Any]] = lambda parameters, _: dataclasses.asdict(parameters)
    # Lines that a person should read before the run; lines that say what the run does with this store.
    warnings: Callable[[Any, Resources], list[str]] = lambda parameters, resources: []
    notes: Callable[[Any, Resources], list[str]] = lambda parameters, resources: []
    # Further stages that it reads with these parameters: `parses`, or `forms`, how the terms are written.
    also_needs: Callable[[Any], frozenset[str]] = lambda parameters: frozenset()
    # (parameters, draw, number of draws) to the parameters of one of several draws.
    of_draw: Callable[[Any, int, int], Any] = lambda parameters, draw, draws: parameters
    # Digests or versions of models that the result depends on.
    uses: Callable[[Any, Resources], dict[str, str]] = lambda parameters, resources: {}
    libraries: tuple[str, ...] = ()  # beside numpy and pyarrow, whose versions decide the result
    # What depends on the machine, such as `auto`, made explicit; the same for all workers, and a setting.
    pin: Callable[[Any], Any] = lambda parameters: parameters
    examples: tuple[str, ...] = ()  # command lines for the help
    # Whether the result depends on the seed with the default parameters; if not, further draws would be
    # copies. (`dn --mode v3` draws, the default of `dn` does not.)
    is_random: bool = True
    # What it is declared to do to the meaning, AugCSE's three classes; by default what its kind says.
    meaning: Literal["kept", "possibly altered", "altered"] | None = None
    # What a negative turns, for chains (`--of`): a predicate to its opposite, so that a second turn of it
    # restores what was said; or what is said of whom and what, which another turn does not restore.
    turns: Literal["polarity", "content"] | None = None
    # The label same, other or neither, and its reason; or a function from a stage's parameters, some of which
    # may be missing, to these. It follows from `meaning` where it is not given.
    entailment: LabelAndReason | Callable[[Mapping[str, Any]], LabelAndReason] | None = None

    def __post_init__(self) -> None:
        # Said here, where its author sees it: later a wrong word would be a stage that lacks something.
        if self.kind not in _KINDS:
            raise ContractError(f"kind = {self.kind!r}: choose one of {', '.join(_KINDS)}")
        if unknown := sorted(set(self.needs) - set(_NEEDS)):
            raise ContractError(f"needs {', '.join(unknown)}: choose among {', '.join(_NEEDS)}")
        if not dataclasses.is_dataclass(self.parameters):
            raise ContractError(f"parameters = {self.parameters!r} is not a dataclass")
        plain = [item.name for item in dataclasses.fields(self.parameters) if "help" not in item.metadata]
        if plain:
            raise ContractError(
                f"{self.parameters.__name__}.{plain[0]}: make it with `parameter(default, help)` of "
                "augment_cli.contract.parameters"
            )


def meaning_of(descriptor: Augmentation) -> str:
    """The declared class of an augmentation: meaning kept, possibly altered, or altered."""
    return descriptor.meaning or ("altered" if descriptor.kind == "negative" else "kept")


@dataclass(frozen=True)
class Entailment:
    """A label with its reason."""

    # same: original and result entail each other. other: neither entails the other. neither: one entails the
    # other and not the reverse, or it depends on the sentence.
    label: Label
    reason: str  # a clause, for messages and tables


_BY_MEANING = {
    "kept": Entailment("same", "it says the same in other words or marks"),
    "possibly altered": Entailment("neither", "whether it says the same depends on the sentence"),
    "altered": Entailment("other", "it says something else"),
}


def entailment_of(descriptor: Augmentation, parameters: Mapping[str, Any] | None = None) -> Entailment:
    """The label of an augmentation: its own, with a stage's parameters, or by AugCSE's class of meaning."""
    own = descriptor.entailment
    if callable(own):
        own = own(parameters if parameters is not None else {})
    return Entailment(*own) if own is not None else _BY_MEANING[meaning_of(descriptor)]


def avoid_parameter() -> str:
    """The parameter `avoid` of an augmentation that draws words from anywhere."""
    return parameter(
        SHIPPED_LIST, "words never put in: vulgar (the short list that ships), none, or a file, one a line"
    )


def avoided_words(choice: str) -> pa.StringArray:
    """The words of a parameter's value, in lower case and sorted; `UsageError` for an unreadable file."""
    return pa.array(_words(choice), pa.string())


def avoided_digest(choice: str) -> str | None:
    """SHA-256 of the words, for the fingerprint of what is made without them; None where there are none."""
    words = _words(choice)
    return sha256_of_json(list(words)) if words else None


def _words(choice: str) -> tuple[str, ...]:
    if choice == NO_LIST:
        return ()
    # `avoided_words` is another list: what WordNet's replacements never are, whatever `--avoid` says.
    shipped = choice == SHIPPED_LIST
    return tuple(sorted(word_list("vulgar_words"))) if shipped else read_word_list(choice, "--avoid")


# One that applies rules of English to parses.
english_rules = partial(Augmentation, needs=frozenset({"parses"}), languages=("en",))


def prepared(run: Callable[[Any, Resources, Rows], Outcome]) -> Callable[[Any, Resources], Prepared]:
    """The `prepare` of a descriptor."""
    return lambda parameters, resources: partial(run, parameters, resources)


def with_labels(outcome: Outcome, neither: np.ndarray) -> Outcome:
    """The outcome with a label for each changed row: other, but for some rows (m,), which are neither."""
    labels = np.full(len(outcome.reasons), None, object)
    labels[outcome.edits.rows] = "other"
    labels[np.intersect1d(outcome.edits.rows, neither)] = "neither"
    return Outcome(outcome.edits, outcome.reasons, {"label": pa.array(labels, pa.string())})
