"""How to read a corpus, and what came of it."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field

from augment_cli.errors import IncompleteError, UsageError
from augment_cli.ingest import checks
from augment_cli.ingest.readers import FORMATS
from augment_cli.store.schema import CORPUS_WITH_ID, PART_ROWS

DEDUPLICATE = ("exact", "near")
NEAR_SIMILARITY = 0.8
MOST = 2**31 - 1  # of rows a part, sentences, characters a line: positions in a part are of 32 bits


@dataclass(frozen=True)
class IngestOptions:
    """How to read a corpus.

    Parameters
    ----------
    text_column, id_column : str, optional
        Fields of jsonl, csv, tsv and Parquet input; `text` and none by default.
    limit : int, optional
        Keep the first `limit` sentences.
    max_characters : int
        Longer lines are rejected.
    part_rows : int
        Rows a part, in all stages of the store.
    format : str, optional
        `text`, `jsonl`, `csv`, `tsv` or `parquet`; by the file's ending if not given.
    quoting : bool
        Whether fields of csv and tsv may be quoted with `"`.
    split_sentences : bool
        Cut each text into sentences, one row each.
    deduplicate : bool or {"exact", "near"}
        Keep the first of several equal texts; the others go to the rejects as `duplicate`.
        Takes some 100 bytes of memory for each different text. `near`: nearly equal ones
        too, as `near_duplicate`, with the row_id that each repeats (`augment_cli.ingest.near_duplicates`).
    near_similarity : float
        From which similarity on two texts are near, 0 to 1.
    encoding : str
        Of text, jsonl, csv and tsv: a name that Python knows, such as `latin-1`.
    keep_columns : tuple of str
        Further fields of structured input to keep in the corpus, as strings: labels, scores, topics.
    positive_columns, negative_columns : tuple of str
        Fields of structured input that hold a positive or a negative of the text; they are kept too, and each
        becomes a stage of its name (`augment_cli.ingest.pairs`).
    """

    text_column: str | None = None
    id_column: str | None = None
    limit: int | None = None
    max_characters: int = checks.MAX_CHARACTERS
    part_rows: int = PART_ROWS
    format: str | None = None
    quoting: bool = True
    split_sentences: bool = False
    deduplicate: bool | str = False
    near_similarity: float = NEAR_SIMILARITY
    keep_columns: tuple[str, ...] = ()
    encoding: str = "utf-8"
    positive_columns: tuple[str, ...] = ()
    negative_columns: tuple[str, ...] = ()

    @property
    def kept(self) -> tuple[str, ...]:
        """Fields that the corpus keeps beside text and id: those of pairs after the others."""
        return (*self.keep_columns, *self.positive_columns, *self.negative_columns)

    def _check_kept(self) -> None:
        for key in ("keep_columns", "positive_columns", "negative_columns"):
            object.__setattr__(self, key, tuple(getattr(self, key)))
            for name in getattr(self, key):
                if name in CORPUS_WITH_ID.names or self.kept.count(name) > 1:
                    option = f"--{key.replace('_', '-')[:-1]}"
                    raise UsageError(
                        f"{option} {name}: the corpus has a column of this name already; leave it out, or "
                        "rename the field in the input"
                    )
        costs = {"deduplicate": "drops pairs whose anchor repeats", "split_sentences": "cuts anchors"}
        for key, what in costs.items():
            if (self.positive_columns or self.negative_columns) and getattr(self, key):
                raise UsageError(
                    f"--{key.replace('_', '-')}: {what}; leave it out with --positive-column and "
                    "--negative-column"
                )

    def __post_init__(self) -> None:
        if self.deduplicate not in (False, True, *DEDUPLICATE):
            raise UsageError(f"--deduplicate {self.deduplicate}: choose one of {', '.join(DEDUPLICATE)}")
        if self.deduplicate == "exact":
            object.__setattr__(self, "deduplicate", True)
        if not 0 < self.near_similarity <= 1:
            raise UsageError(
                f"--near-similarity {self.near_similarity:g}: must be above 0 and at most 1, such as 0.8"
            )
        self._check_kept()
        try:
            known = codecs.lookup(self.encoding)
            if not known._is_text_encoding or known.incrementaldecoder is None:
                raise LookupError
            known.incrementaldecoder("surrogateescape").decode(b"", True)  # idna and punycode cannot
        except (LookupError, ValueError):
            raise UsageError(
                f"--encoding {self.encoding}: not a known text encoding; try latin-1, cp1252, utf-16 or "
                "gb18030"
            ) from None
        object.__setattr__(self, "encoding", known.name)
        if self.format is not None and self.format not in FORMATS:
            raise UsageError(f"--format {self.format}: choose one of {', '.join(FORMATS)}")
        for name in ("limit", "max_characters", "part_rows"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"--{name.replace('_', '-')} {value}: must be at least 1")
            if value is not None and value > MOST:
                raise UsageError(f"--{name.replace('_', '-')} {value}: must be at most {MOST:,}")


@dataclass(frozen=True)
class IngestReport:
    """What was read; `read == kept + rejected`, always."""

    kept: int
    reasons: dict[str, int] = field(default_factory=dict)

    @property
    def rejected(self) -> int:
        """Number of lines in the rejects, duplicates among them."""
        return sum(self.reasons.values())

    @property
    def duplicates(self) -> int:
        """Number of lines left out only because an equal or a near one was kept."""
        return sum(self.reasons.get(reason, 0) for reason in checks.REPEATS)

    @property
    def read(self) -> int:
        """Number of lines looked at (a damaged rest of a file counts as one)."""
        return self.kept + self.rejected

    def check(self, max_rejects: float, store: str = "store") -> None:
        """Raise `IncompleteError` if more than the share `max_rejects` was rejected, or a file is damaged.

        Parameters
        ----------
        max_rejects : float
            Share of lines, 0 to 1.
        store : str
            Its path, for the advice.
        """
        damaged = {reason: count for reason, count in self.reasons.items() if reason in checks.DAMAGE}
        detail = ", ".join(f"{count:,} {reason}" for reason, count in sorted(self.reasons.items()))
        advice = f"see what they are with `augment-cli inspect rejects --store {store}`"
        if damaged.keys() == {checks.UNCLOSED_QUOTE}:
            raise IncompleteError(
                f'a quotation mark that is never closed swallowed the rest of a file ({detail}); if " is a '
                f"character like any other there, read it again with --no-quoting, into another --store or "
                f"with --overwrite; {advice}"
            )
        if damaged:
            raise IncompleteError(f"input files are damaged ({detail}); {advice}, and fetch the files again")
        faults = self.rejected - self.duplicates
        if faults > max_rejects * self.read:
            raise IncompleteError(
                f"{faults:,} of {self.read:,} lines were rejected ({detail}), more than "
                f"--max-rejects {max_rejects:g} allows; {advice}{self.remedy}"
            )

    @property
    def remedy(self) -> str:
        """What helps against the reasons, as the end of a sentence; empty where nothing is known to."""
        if checks.NOT_UTF8 not in self.reasons:
            return ""
        return "; text that is not UTF-8 is read with its --encoding, such as latin-1, cp1252 or utf-16"

    def check_stored(self, max_rejects: float, store: str) -> None:
        """Raise `IncompleteError` if less than half of a corpus was kept, unless that is allowed.

        Parameters
        ----------
        max_rejects : float
            Share of lines, 0 to 1, that may be set aside.
        store : str
            Its path, for the message.
        """
        faults = self.rejected - self.duplicates
        if faults > max(max_rejects, 0.5) * self.read:
            raise IncompleteError(
                f"{store}: its corpus is what was left after {faults:,} of {self.read:,} lines were "
                f"rejected; see why with `augment-cli inspect rejects --store {store}`, and read a corrected "
                f"corpus into another --store "
                f"(--max-rejects {faults / self.read + 0.005:.2f} goes on with this one)"
            )
