"""What came of reading a corpus, and the options that a stored one was read with."""

from __future__ import annotations

import dataclasses
import shlex
from dataclasses import dataclass, field

from augment_cli.contract.ingest_options import IngestOptions
from augment_cli.contract.reasons import Reason
from augment_cli.errors import IncompleteError, MixError
from augment_cli.ingest import checks
from augment_cli.store.refusals import option_of
from augment_cli.store.store import Store

__all__ = ["IngestOptions", "IngestReport", "refuse_other_options", "stored_options"]


@dataclass(frozen=True)
class IngestReport:
    """What was read; `read == kept + rejected`, always.

    `left_out` says of each file that was named twice, by another path or a link, which one it is. `joined`
    counts the kept texts whose line breaks were made spaces. `notes` says how files were read that are not
    as their ending says, in this run.
    """

    kept: int
    reasons: dict[str, int] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    joined: int = 0
    notes: tuple[str, ...] = ()

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

    def check(self, max_rejects: float, store: str = "store", appended: bool = False) -> None:
        """Raise `IncompleteError` if more than the share `max_rejects` was rejected, or a file is damaged."""
        damaged = {reason: count for reason, count in self.reasons.items() if reason in checks.DAMAGE}
        detail = ", ".join(f"{count:,} {reason}" for reason, count in sorted(self.reasons.items()))
        advice = f"look at them with `augment-cli inspect rejects --store {shlex.quote(store)}`"
        if damaged.keys() == {Reason.UNCLOSED_QUOTE}:
            raise IncompleteError(
                f'a quotation mark that is never closed swallowed the rest of a file ({detail}); if " is a '
                "character like any other there, read it again with --no-quoting, into another --store or "
                f"with --overwrite; {advice}"
            )
        if damaged:
            raise IncompleteError(f"input files are damaged ({detail}); {advice}, and fetch the files again")
        faults = self.rejected - self.duplicates
        if faults > max_rejects * self.read:
            again = "" if appended else f", then give the same again with --max-rejects {self._enough:.2f}"
            raise IncompleteError(
                f"{faults:,} of {self.read:,} lines were rejected ({detail}), more than "
                f"--max-rejects {max_rejects:g} allows; the corpus of {store} has what is left "
                f"({self.kept:,}), and nothing else was made of it; {advice}{again}{self.remedy}"
            )

    @property
    def _enough(self) -> float:
        """A share for --max-rejects, of two decimals, that allows what was rejected."""
        return min((self.rejected - self.duplicates) / self.read + 0.005, 1)

    @property
    def remedy(self) -> str:
        """What helps against the reasons, as the end of a sentence; empty where nothing is known to."""
        if Reason.NO_TEXT_FIELD in self.reasons:
            return "; `augment-cli look FILE` shows which fields the lines have"
        if Reason.FIELD_COUNT in self.reasons:
            return "; fields that hold the separator are quoted, or another is named with --separator"
        if Reason.TOO_LONG in self.reasons:
            return "; a line is one text, so put each on a line of its own"
        if Reason.NOT_UTF8 not in self.reasons:
            return ""
        return "; text that is not UTF-8 is read with its --encoding, such as latin-1, cp1252 or utf-16"

    def check_stored(self, max_rejects: float, store: str) -> None:
        """Raise `IncompleteError` if less than half of a corpus was kept, unless that is allowed."""
        faults = self.rejected - self.duplicates
        if faults > max(max_rejects, 0.5) * self.read:
            see = f"`augment-cli inspect rejects --store {shlex.quote(store)}`"
            raise IncompleteError(
                f"{store}: its corpus is what was left after {faults:,} of {self.read:,} lines were "
                f"rejected; see why with {see}, and read a corrected corpus into it "
                f"(--max-rejects {self._enough:.2f} goes on with this one)"
            )


def stored_options(store: Store) -> IngestOptions:
    """The options that a store's corpus was read with."""
    known = {item.name for item in dataclasses.fields(IngestOptions)}
    stored = store.stage("corpus").settings["parameters"]
    stored = {"line_breaks": "reject"} | stored  # what nothing is recorded of
    return IngestOptions(**{key: value for key, value in stored.items() if key in known})


def refuse_other_options(store: Store, options: IngestOptions) -> None:
    """See that options, where they are not defaults, are those that a store's corpus was read with."""
    stored, default = stored_options(store), IngestOptions()
    for key, value in vars(options).items():
        if key in ("positive_columns", "negative_columns"):
            continue  # these make stages of what the corpus kept
        usual = getattr(default, key)
        read_with = getattr(stored, key)  # what is not in the settings was not chosen
        if key == "keep_columns" and options.kept == read_with:
            continue  # the corpus keeps those of pairs, too
        if value not in (usual, read_with):
            same = option_of(store.stage("corpus").settings, f"parameters.{key}")
            raise MixError(
                f"{store.path / 'corpus'}: made with parameters.{key} = {read_with!r}, now "
                f"{value!r}; give the same ({same}), or another --store"
            )
