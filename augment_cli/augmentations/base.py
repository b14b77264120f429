"""What an augmentation is: a batch of rows in, an outcome per row out, and a card that says the rest."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
import pyarrow as pa

from augment_cli.draws import stream_key
from augment_cli.errors import UsageError
from augment_cli.spans import CodePoints, Edits
from augment_cli.syntax.parses import ParseRows
from augment_cli.term_table import TermTable

# Why a row is unchanged. An augmentation uses one of these, or adds one of its own to this list.
NO_TOKEN = "no_token"  # nothing but white space
NO_ELIGIBLE_TOKEN = "no_eligible_token"  # every token is protected or not in the term table
NO_POSITION_DRAWN = "no_position_drawn"  # the draws chose no token
EMPTY_WINDOW = "empty_window"  # no other term to put in
SAME_TEXT = "same_text"  # the edits give the original again
TOO_FEW_WORDS = "too_few_words"  # one word is left alone, rather than leave none
# Of rules on syntax:
RULE_DOES_NOT_APPLY = "rule_does_not_apply"  # the drawn rule finds no place in the sentence
NO_RULE_APPLIES = "no_rule_applies"  # none of the rules does
NO_FINITE_VERB = "no_finite_verb"  # the root is no finite verb
NO_SUBJECT = "no_subject"  # the main verb has no subject
NEGATED = "negated"  # the verb is negated already
OTHER_AUXILIARY = "other_auxiliary"  # have, do, or the "to" of an infinitive
INVERTED = "inverted"  # the verb stands in front of its subject
NO_AUXILIARY_FITS = "no_auxiliary_fits"  # none of those to draw from has the tense
DOUBTFUL_PARSE = "doubtful_parse"  # the word cannot have the form that its tag says
ONE_NEGATION_ONLY = "one_negation_only"  # fewer than two places for a negation
NO_OBJECT = "no_object"  # the main verb has no object
ONE_SENTENCE = "one_sentence"  # nothing to put in another order
# What a model said was turned down.
EMPTY_OUTPUT = "empty_output"  # no word in it
SAME_WORDS = "same_words"  # the original but for case and punctuation
TRUNCATED_OUTPUT = "truncated_output"  # the model ran into its limit
LOOPING_OUTPUT = "looping_output"  # a piece repeats itself
WRONG_SCRIPT = "wrong_script"  # letters that the original's script does not have
ABSURD_LENGTH = "absurd_length"  # far longer or shorter than the original
MEANING_LOST = "meaning_lost"  # none of the candidates means the same
BEYOND_LIMIT = "beyond_limit"  # the model was to be run on the first rows only
_MODEL_REASONS = frozenset(
    {
        EMPTY_OUTPUT,
        SAME_WORDS,
        TRUNCATED_OUTPUT,
        LOOPING_OUTPUT,
        WRONG_SCRIPT,
        ABSURD_LENGTH,
        MEANING_LOST,
        BEYOND_LIMIT,
    }
)
_SYNTAX_REASONS = frozenset(
    {
        RULE_DOES_NOT_APPLY,
        NO_RULE_APPLIES,
        NO_FINITE_VERB,
        NO_SUBJECT,
        NEGATED,
        OTHER_AUXILIARY,
        INVERTED,
        NO_AUXILIARY_FITS,
        DOUBTFUL_PARSE,
        ONE_NEGATION_ONLY,
        NO_OBJECT,
        ONE_SENTENCE,
    }
)
_TOKEN_REASONS = frozenset(
    {NO_TOKEN, NO_ELIGIBLE_TOKEN, NO_POSITION_DRAWN, EMPTY_WINDOW, SAME_TEXT, TOO_FEW_WORDS}
)
REASONS = _TOKEN_REASONS | _SYNTAX_REASONS | _MODEL_REASONS


def parameter(
    default: Any,
    help: str,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
    choices: tuple[str, ...] | None = None,
) -> Any:
    """A field of a parameter class, with what the command line and the docs say of it."""
    metadata = {"help": help, "minimum": minimum, "maximum": maximum, "choices": choices}
    return field(default=default, metadata=metadata)


# Values of a parameter `parts_of_speech`: an augmentation with one reads the parse where it is there.
PARTS_OF_SPEECH = ("auto", "parse", "words")


@dataclass(frozen=True)
class NoParameters:
    """There is nothing to choose."""


def check_parameters(parameters: Any) -> None:
    """Raise `UsageError` for a value outside its range or choices, naming the option."""
    for item in dataclasses.fields(parameters):
        value, option = getattr(parameters, item.name), "--" + item.name.replace("_", "-")
        minimum, maximum = item.metadata["minimum"], item.metadata["maximum"]
        choices = item.metadata["choices"]
        if choices is not None and value not in choices:
            raise UsageError(f"{option} {value}: choose one of {', '.join(choices)}")
        if minimum is not None and not value >= minimum:
            raise UsageError(f"{option} {value}: must be at least {minimum:g}")
        if maximum is not None and not value <= maximum:
            raise UsageError(f"{option} {value}: must be at most {maximum:g}")


@dataclass(frozen=True)
class TokenRows:
    """The TF-IDF rows of a batch, flattened over its N token occurrences.

    Attributes
    ----------
    offsets : ndarray of int64, shape (n+1,)
        Tokens of row i are offsets[i]:offsets[i+1].
    term_ids : ndarray of int32, shape (N,)
        Rows of the term table; −1 where the term is not in it.
    starts, ends : ndarray of int32, shape (N,)
        Span in the original text, code points, half-open.
    weights : ndarray of float64, shape (N,)
        tf·idf of the occurrence's term in its sentence; 0 where the term is not in the table.
    """

    offsets: np.ndarray
    term_ids: np.ndarray
    starts: np.ndarray
    ends: np.ndarray
    weights: np.ndarray

    @cached_property
    def rows(self) -> np.ndarray:
        """int64 (N,): the sentence of each token, 0 … n−1."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


@dataclass(frozen=True)
class Batch:
    """Some rows of the corpus with what the augmentation needs of them."""

    row_ids: np.ndarray
    texts: pa.StringArray
    code_points: CodePoints
    tokens: TokenRows | None = None
    parses: ParseRows | None = None

    def __len__(self) -> int:
        return len(self.row_ids)


@dataclass(frozen=True)
class Outcome:
    """What became of a batch of n rows.

    Attributes
    ----------
    edits : Edits
        Replacements on the original texts. A row without any is unchanged.
    reasons : ndarray of object, shape (n,)
        Why a row without edits is unchanged; ignored where there are edits.
    columns : mapping of str to pyarrow.Array
        The augmentation's own columns, as its card declares them.
    """

    edits: Edits
    reasons: np.ndarray
    columns: Mapping[str, pa.Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Resources:
    """What `prepare` may use: the term table where the augmentation asks for it, and the draw's key."""

    seed: int
    draw: int
    terms: TermTable | None = None

    def key(self, purpose: str) -> int:
        """Key of an independent stream of draws for one purpose."""
        return stream_key(self.seed, purpose, self.draw)


class Prepared(Protocol):
    """An augmentation with its parameters and resources: pure, any rows in any order."""

    def __call__(self, batch: Batch) -> Outcome: ...


class PreparedModel(Prepared, Protocol):
    """An augmentation that runs a model; loads it when it is first called."""

    @property
    def splits(self) -> int:
        """How often memory ran out and a batch was cut in halves."""
        ...

    def plan(self, texts: pa.StringArray) -> list[np.ndarray]:
        """Positions of the rows that go through the model together; every row is in one batch."""
        ...

    def use_device(self, device: str) -> None:
        """Which of the devices to run on, as torch names it; before the first call."""
        ...


@dataclass(frozen=True)
class Augmentation:
    """The card of an augmentation; registering it makes the command, its help, the docs and the tests.

    The first line of its file's docstring is its summary.

    Parameters
    ----------
    name : str
        Command, and folder of the stage.
    version : int
        Raised whenever the same input would give another output.
    kind : {"negative", "positive"}
        Whether the result means something else (hard negative) or the same (positive).
    paper : str
        Where it comes from.
    needs : frozenset of {"tfidf", "parses", "model"}
        Earlier stages it reads; they come as `Batch.tokens` and `Batch.parses`. One that needs a model
        returns a `PreparedModel`, and is run batch by batch with a journal.
    parameters : type
        A frozen dataclass whose fields are made with `parameter`.
    prepare : callable
        (parameters, resources) to a function from `Batch` to `Outcome`.
    columns : tuple of pyarrow.Field
        Columns of its own beside row_id, text, reason and edits.
    resolve : callable
        (parameters, resources) to the JSON values that the result depends on: word lists by digest,
        shares as counts. The default takes the parameters as they are.
    warnings : callable
        (parameters, resources) to lines a person should read before the run.
    uses : callable
        (parameters, resources) to the digests or versions of models that the result depends on.
    libraries : tuple of str
        Distributions, beside numpy and pyarrow, whose versions decide the result.
    pin : callable
        Parameters with what depends on the machine, such as `auto`, made explicit; the same for all
        workers, and part of the settings.
    examples : tuple of str
        Command lines for the help.
    is_random : bool
        Whether the result depends on the seed with the default parameters; if not, further draws would be
        copies. (`dn --mode v3` draws, the default of `dn` does not.)
    meaning : {"kept", "possibly altered", "altered"}, optional
        What the augmentation is declared to do to the meaning, the three classes of AugCSE; where it
        is not given, a negative counts as altered and a positive as kept.
    """

    name: str
    version: int
    kind: Literal["negative", "positive"]
    paper: str
    needs: frozenset[str]
    parameters: type
    prepare: Callable[[Any, Resources], Prepared]
    columns: tuple[pa.Field, ...] = ()
    resolve: Callable[[Any, Resources], dict[str, Any]] = lambda parameters, resources: dataclasses.asdict(
        parameters
    )
    warnings: Callable[[Any, Resources], list[str]] = lambda parameters, resources: []
    uses: Callable[[Any, Resources], dict[str, str]] = lambda parameters, resources: {}
    libraries: tuple[str, ...] = ()
    pin: Callable[[Any], Any] = lambda parameters: parameters
    examples: tuple[str, ...] = ()
    is_random: bool = True
    meaning: Literal["kept", "possibly altered", "altered"] | None = None


def meaning_of(card: Augmentation) -> str:
    """The declared class of an augmentation: meaning kept, possibly altered, or altered."""
    return card.meaning or ("altered" if card.kind == "negative" else "kept")


def read_word_list(path: str, option: str) -> tuple[str, ...]:
    """Words of a UTF-8 file, one a line, lower-cased, sorted; blank lines and `#` comments are skipped."""
    try:
        lines = Path(path).expanduser().read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{option} {path}: cannot be read ({error}); give a UTF-8 file, one term a line"
        ) from error
    words = {line.strip().lower() for line in lines if line.strip() and not line.startswith("#")}
    return tuple(sorted(words))
