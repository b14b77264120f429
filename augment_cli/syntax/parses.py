"""Cached parses of a batch of sentences as flat arrays: what every rule on syntax reads."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.syntax.language import UNKNOWN, Language
from augment_cli.text.spans import CodePoints, ascending_slices, strings_of

PARSES_STAGE = "parses"
_SEPARATOR = "\0"
_TORN = r"^([nN]) (['’][tT])$"  # of `do n 't`
_FEW_VALUES = 100  # of so few, those that do not occur are asked too
_FEW_CODES = 10  # up to here comparisons of all codes are faster than looking each code up in a table
STRING_COLUMNS = ("lemmas", "pos", "tags", "morphs", "deps")


def stage_name(parses: str | None) -> str:
    """Folder of a parse: `parses`, or `parses-NAME` for one beside it (another pipeline)."""
    return PARSES_STAGE if not parses else f"{PARSES_STAGE}-{parses}"


@dataclass(frozen=True)
class Coded:
    """N strings as codes into their distinct values, so that a test is made once for each value."""

    codes: np.ndarray  # index into `values`
    values: tuple[str, ...]

    @classmethod
    def of(cls, strings: pa.Array) -> Coded:
        """Code a string column without nulls, which may be dictionary-encoded already."""
        encoded = strings if pa.types.is_dictionary(strings.type) else strings.dictionary_encode()
        return cls(encoded.indices.to_numpy().astype(np.int32), tuple(strings_of(encoded.dictionary)))

    def lowered(self) -> Coded:
        """The strings in lower case, each distinct one once."""
        if len(self.codes) < len(self.values):
            return self.compacted().lowered()
        lowered = _lowered(self.values)
        distinct = tuple(dict.fromkeys(lowered))
        code_of = dict(zip(distinct, range(len(distinct)), strict=True))
        mapping = np.array([code_of[value] for value in lowered], np.int32)
        return Coded(mapping[self.codes] if lowered else self.codes, distinct)

    def among(self, wanted: Collection[str]) -> np.ndarray:
        """bool (N,): whether each string is one of `wanted`."""
        found = [code for value in wanted if (code := self._code_of.get(value)) is not None]
        if len(found) <= _FEW_CODES:
            mask = np.zeros(len(self.codes), bool)
            for code in found:
                mask |= self.codes == code
            return mask
        table = np.zeros(len(self.values), bool)
        table[found] = True
        return table.take(self.codes)

    def numbered(self, numbers: Mapping[str, int]) -> np.ndarray:
        """int32 (N,): the number of each string, 0 for those that have none."""
        table = np.zeros(max(len(self.values), 1), np.int32)
        for value, number in numbers.items():
            code = self._code_of.get(value)
            if code is not None:
                table[code] = number
        return table.take(self.codes)

    @cached_property
    def _code_of(self) -> dict[str, int]:
        return dict(zip(self.values, range(len(self.values)), strict=True))

    def at(self, positions: np.ndarray) -> Coded:
        """Some of the strings (m,), coded as all are."""
        some = Coded(self.codes[positions], self.values)
        some.__dict__["_code_of"] = self._code_of
        return some

    def listed(self) -> list[str]:
        """The strings themselves."""
        return [self.values[code] for code in self.codes.tolist()]

    def __getitem__(self, position: int) -> str:
        return self.values[self.codes[position]]

    def compacted(self) -> Coded:
        """The same strings with only those values that occur: what is then asked is asked of these alone."""
        occurring = self._occurring
        numbers = np.zeros(len(self.values), np.int32)
        numbers[occurring] = np.arange(len(occurring))
        return Coded(numbers[self.codes], tuple(self.values[code] for code in occurring.tolist()))

    @property
    def _occurring(self) -> np.ndarray:
        """int64 (m,): the codes that occur, ascending."""
        occurs = np.zeros(len(self.values), bool)
        occurs[self.codes] = True
        return np.flatnonzero(occurs)

    def where(self, test: Callable[[str], bool]) -> np.ndarray:
        """bool (N,): whether `test` holds for each string; called once for each distinct value."""
        return self.map(test, bool)

    def map(self, function: Callable[[str], Any], dtype: Any) -> np.ndarray:
        """(N,) of `dtype`: `function` of each string; called once for each distinct value that occurs."""
        table = np.zeros(len(self.values), dtype)
        few = len(table) <= min(_FEW_VALUES, len(self.codes))
        codes = np.arange(len(table)) if few else self._occurring
        table[codes] = np.array([function(self.values[code]) for code in codes.tolist()], dtype)
        return table.take(self.codes)


def _lowered(values: Sequence[str]) -> list[str]:
    """Each string in lower case; a single call for all of them is several times as fast as one for each."""
    joined = _SEPARATOR.join(values)
    # A capital sigma is the one letter whose lower case depends on what stands beside it.
    if joined.count(_SEPARATOR) != len(values) - 1 or "Σ" in joined:
        return [value.lower() for value in values]
    return joined.lower().split(_SEPARATOR)


def _coded(name: str) -> cached_property[Coded]:
    """A property of `ParseRows` that gives one of its string columns coded."""

    def column(parses: ParseRows) -> Coded:
        return Coded.of(parses.strings[name])

    return cached_property(column)


@dataclass(frozen=True)
class ParseRows:
    """The parses of a batch of n sentences, flattened over its N tokens."""

    offsets: np.ndarray  # tokens of row i are offsets[i]:offsets[i+1]
    starts: np.ndarray  # span of each token in the original text, code points, half-open
    ends: np.ndarray
    whitespace: np.ndarray  # whether white space follows the token
    # lemmas, pos, tags, morphs and deps; the properties of these names give them coded
    strings: Mapping[str, pa.Array]
    # head of each token as a position in its own row, 0 … row length − 1; a root is its own head
    heads: np.ndarray
    sentence_starts: np.ndarray  # whether a sentence begins at the token; a row may hold more than one
    texts: CodePoints  # the original texts
    # what rows may be in: languages told by their script, and last the one of all other rows
    languages: tuple[Language, ...] = (UNKNOWN,)

    @classmethod
    def from_table(
        cls, table: pa.Table, texts: CodePoints, languages: tuple[Language, ...] = (UNKNOWN,)
    ) -> ParseRows:
        """The parses of a row group of the `parses` stage (schema `PARSES`), with its texts."""
        names = table.schema.names
        lists = {name: table[name].combine_chunks() for name in names if name != "row_id"}
        offsets = lists["starts"].offsets.to_numpy().astype(np.int64)
        flat = {name: column.flatten() for name, column in lists.items()}
        numbers: dict[str, Any] = {
            name: flat[name].to_numpy(zero_copy_only=False)
            for name in ("starts", "ends", "whitespace", "heads", "sentence_starts")
        }
        strings = {name: flat[name] for name in STRING_COLUMNS}
        return cls(offsets=offsets - offsets[0], texts=texts, languages=languages, strings=strings, **numbers)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def rows(self) -> np.ndarray:
        """int64 (N,): the sentence of each token, 0 … n−1."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def text_starts(self) -> np.ndarray:
        """int64 (N,): where each token begins in the code points of all texts."""
        return self.texts.offsets[:-1][self.rows] + self.starts

    lemmas = _coded("lemmas")
    pos = _coded("pos")  # coarse tags (UPOS)
    tags = _coded("tags")  # fine tags
    morphs = _coded("morphs")  # `Number=Sing|Person=3`
    deps = _coded("deps")  # dependency labels

    @cached_property
    def parents(self) -> np.ndarray:
        """int64 (N,): head of each token as a position in the flat arrays."""
        return self.offsets[:-1][self.rows] + self.heads

    @cached_property
    def forms(self) -> Coded:
        """The tokens as they stand in the text."""
        return self.forms_at(np.arange(len(self.starts)))

    @cached_property
    def lower(self) -> Coded:
        """The tokens in lower case."""
        return self.forms.lowered()

    def forms_at(self, positions: np.ndarray) -> Coded:
        """Some of the tokens (int (m,), positions in the flat arrays) as they stand in the text."""
        if "forms" in self.__dict__:
            return self.forms.at(positions)
        forms = self._tokens_and_gaps.take(pa.array(2 * positions))
        if self._has_torn:
            forms = pc.replace_substring_regex(forms, _TORN, r"\1\2")
        return Coded.of(forms)

    @cached_property
    def _has_torn(self) -> bool:
        """Whether a token has a space behind its first character, as "n 't" has."""
        long = np.flatnonzero(self.ends - self.starts == 4)
        return bool((self.texts.values[self.text_starts[long] + 1] == ord(" ")).any())

    @cached_property
    def _tokens_and_gaps(self) -> pa.StringArray:
        """Each token, then what follows it up to the next one (2N,): a view of the texts, without a copy."""
        base, places = self.texts.offsets[:-1][self.rows], self.texts.byte_positions
        return ascending_slices(self.texts.data, places[base + self.starts], places[base + self.ends])

    def form_of(self, token: int) -> str:
        """One token (its position in the flat arrays) as it stands in the text."""
        first = self.texts.offsets[self.rows[token]]
        low, high = self.texts.byte_positions[[first + self.starts[token], first + self.ends[token]]]
        form = self.texts.data[low:high].tobytes().decode()
        return form.replace(" ", "") if self._has_torn else form

    def lemmas_at(self, positions: np.ndarray) -> Coded:
        """Lemmas of some of the tokens."""
        # A row group's dictionary holds thousands of lemmas; what follows is asked of each value.
        return self.lemmas.at(positions).compacted()

    def holding(self, letter: str, mask: np.ndarray) -> np.ndarray:
        """bool (N,): the tokens in a mask (N,) that hold a character; only these are looked at."""
        positions = np.flatnonzero(mask)
        found = np.zeros(len(self.starts), bool)
        found[positions] = self.forms_at(positions).where(lambda form: letter in form)
        return found

    def lower_at(self, positions: np.ndarray) -> Coded:
        """Some of the tokens, in lower case."""
        if "forms" in self.__dict__:
            return self.lower.at(positions)
        return self.forms_at(positions).lowered()
