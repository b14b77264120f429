"""What paraphrasing and back-translation share: settings of decoding, and the frame around a batch."""

import abc
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import SequenceMatcher
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli.contract.augmentation import Resources
from augment_cli.contract.parameters import parameter
from augment_cli.contract.reasons import Reason
from augment_cli.contract.rows import Outcome, Rows
from augment_cli.english.guards.fidelity import guard_digests, unfaithful
from augment_cli.errors import UsageError
from augment_cli.neural.checks import reason_against
from augment_cli.neural.generation import Decoding, Generated
from augment_cli.neural.runtime import MemoryGuard, RuntimeParameters, batches_by_length
from augment_cli.text.spans import edits_of


@dataclass(frozen=True)
class RewritingParameters(RuntimeParameters):
    """Options of every augmentation whose model writes sentences anew."""

    faithful: bool = parameter(
        True, "turn down outputs that lose, add or invent names, numbers or words, or have slips of grammar"
    )
    longest: int = parameter(
        0, "most tokens of an input, longer ones stay as they are; 0 for what the model reads", minimum=0
    )


@dataclass(frozen=True)
class Rewritten:
    """What became of one sentence."""

    text: str | None  # the new sentence; None where the old one stays
    reason: str | None  # why it stays
    columns: Mapping[str, Any] = field(default_factory=dict)  # the stage's own columns


def decoding_settings(parameters: Any, resources: Resources, sampling: Sequence[str]) -> dict[str, Any]:
    """What of the decoding decides the outputs."""
    if resources.draw and not parameters.sample:
        raise UsageError("--draws: a beam search finds the same text each time; add --sample")
    names = sampling if parameters.sample else ["beams"]
    values = {
        "max_length": parameters.max_length or None,
        "sample": parameters.sample,
        "longest": parameters.longest or None,
        "faithful": guard_digests() if parameters.faithful else None,
    }
    return values | {name: getattr(parameters, name) for name in names}


def decoding_of(parameters: Any, **others: int) -> Decoding:
    """How outputs are found, by the parameters that have the names of its fields, and others."""
    names = [item.name for item in fields(Decoding) if hasattr(parameters, item.name)]
    return Decoding(**{name: getattr(parameters, name) for name in names} | others)


class Rewriter(abc.ABC):
    """A `PreparedModel` that writes sentences anew; how, says a subclass."""

    def __init__(
        self, parameters: RewritingParameters, columns: Sequence[pa.Field], is_english: bool = False
    ) -> None:
        self._batch_tokens, self._first_rows = parameters.batch_tokens, parameters.rows
        self._longest, self._is_faithful = parameters.longest, parameters.faithful
        self._columns, self._is_english = columns, is_english
        self._guard = MemoryGuard()

    @abc.abstractmethod
    def lengths(self, texts: Sequence[str]) -> np.ndarray:
        """Tokens of each text as the model reads it, int64 (n,)."""

    @abc.abstractmethod
    def rewrite(self, items: list[tuple[int, str]]) -> list[Rewritten]:
        """What became of each (row_id, text) of a batch; no text is blank."""

    @abc.abstractmethod
    def use_device(self, device: str) -> None:
        """Which of the devices to run on, as torch names it; before the first batch."""

    def reason(self, original: str, output: Generated) -> str | None:
        """Why an output is turned down by what it says, or None."""
        reason = reason_against(original, output.text, output.is_complete)
        if reason or not self._is_faithful:
            return reason
        return unfaithful(original, output.text, self._is_english)

    def sound_part(self, original: str, output: str) -> str | None:
        """The original with those changes of an output that are not turned down, or None where none is."""
        return sound_part(original, output, lambda part: self.reason(original, Generated(part, True)) is None)

    @property
    def splits(self) -> int:
        """How often memory ran out and a batch was cut in halves."""
        return self._guard.splits

    def batches_of(self, texts: pa.StringArray) -> list[np.ndarray]:
        """Rows of similar length together, int64 positions; pure in the texts."""
        return batches_by_length(np.maximum(self.lengths(texts.to_pylist()), 1), self._batch_tokens)

    def __call__(self, rows: Rows) -> Outcome:
        """Rewrite one batch."""
        texts = rows.texts.to_pylist()
        is_beyond = rows.row_ids >= (self._first_rows or np.inf)
        wanted = [number for number, text in enumerate(texts) if text.strip() and not is_beyond[number]]
        items = [(int(rows.row_ids[number]), texts[number]) for number in wanted]
        rewritten = dict(zip(wanted, self._guard.run(self.rewrite, items) if items else [], strict=True))
        results = [
            rewritten.get(number)
            or Rewritten(None, Reason.BEYOND_LIMIT if is_beyond[number] else Reason.NO_TOKEN)
            for number in range(len(texts))
        ]
        columns = {
            column.name: pa.array(
                [result.columns.get(column.name, None if column.nullable else False) for result in results],
                column.type,
            )
            for column in self._columns
        }
        edits = edits_of(texts, [result.text for result in results])
        return Outcome(edits, np.array([result.reason for result in results], object), columns)


_MOST = 6  # words or phrases that are others, beyond which an output is another sentence


def sound_part(original: str, output: str, is_sound: Callable[[str], bool]) -> str | None:
    """Original with those words of an output that are sound one by one, and together; None without any."""
    before, after = original.split(" "), output.split(" ")
    blocks = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    changes = [number for number, (kind, *_) in enumerate(blocks) if kind == "replace"]
    if not 0 < len(changes) <= _MOST:
        return None

    def text_with(chosen: Collection[int]) -> str:
        words = []
        for number, (_, one, one_end, two, two_end) in enumerate(blocks):
            words += after[two:two_end] if number in chosen else before[one:one_end]
        return " ".join(words)

    sound = [number for number in changes if is_sound(text_with([number]))]
    text = text_with(sound)
    return text if sound and is_sound(text) else None
