"""How to read a corpus, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from augment_cli.errors import IncompleteError, UsageError
from augment_cli.ingest import checks
from augment_cli.ingest.readers import FORMATS
from augment_cli.store.schema import PART_ROWS

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
    deduplicate : bool
        Keep the first of several equal texts; the others go to the rejects as `duplicate`.
        Takes some 100 bytes of memory for each different text.
    """

    text_column: str | None = None
    id_column: str | None = None
    limit: int | None = None
    max_characters: int = checks.MAX_CHARACTERS
    part_rows: int = PART_ROWS
    format: str | None = None
    quoting: bool = True
    split_sentences: bool = False
    deduplicate: bool = False

    def __post_init__(self) -> None:
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
        """Number of lines left out only because an equal one was kept."""
        return self.reasons.get(checks.DUPLICATE, 0)

    @property
    def read(self) -> int:
        """Number of lines looked at (a damaged rest of a file counts as one)."""
        return self.kept + self.rejected

    def check(self, max_rejects: float) -> None:
        """Raise `IncompleteError` if more than the share `max_rejects` was rejected, or a file is damaged."""
        damaged = {reason: count for reason, count in self.reasons.items() if reason in checks.DAMAGE}
        detail = ", ".join(f"{count:,} {reason}" for reason, count in sorted(self.reasons.items()))
        advice = "see what they are with `augment-cli inspect rejects`"
        if damaged:
            raise IncompleteError(f"input files are damaged ({detail}); {advice}, and fetch the files again")
        faults = self.rejected - self.duplicates
        if faults > max_rejects * self.read:
            raise IncompleteError(
                f"{faults:,} of {self.read:,} lines were rejected ({detail}), more than "
                f"--max-rejects {max_rejects:g} allows; {advice}"
            )
