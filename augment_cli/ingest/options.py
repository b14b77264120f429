"""What came of reading a corpus, the options of a stored one, and your own pairs.

The corpus holds the anchors; a column of positives or negatives becomes a stage of its name, with one row for
each anchor: the text, or null with the reason. What the input had there stays in the corpus as it was.
"""

import dataclasses
import shlex
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.ingest_options import IngestOptions
from augment_cli.contract.reasons import Reason
from augment_cli.errors import IncompleteError, MixError, UsageError
from augment_cli.ingest import checks
from augment_cli.ingest.checks import JOINED, RawLines, reasons_to_reject, without_line_breaks
from augment_cli.store.parquet import ROW_GROUP_ROWS, TEXT_OR_REASON
from augment_cli.store.refusals import option_of
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store

__all__ = ["IngestOptions", "IngestReport", "refuse_other_options", "stored_options"]


_REMEDIES = {  # of several, the first is told
    Reason.NO_TEXT_FIELD: "; `augment-cli look FILE` shows which fields the lines have",
    Reason.FIELD_COUNT: "; fields that hold the separator are quoted, or another is named with --separator",
    Reason.TOO_LONG: "; a line is one text, so put each on a line of its own",
    Reason.NOT_UTF8: "; text that is not UTF-8 needs its --encoding, such as latin-1 (augment-cli look)",
}


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
        return next((words for reason, words in _REMEDIES.items() if reason in self.reasons), "")

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


VERSION = 1
GIVEN = "given"  # the maker of such stages in their settings
_BESIDE = "rename the column of the input"


def roles_of(options: IngestOptions) -> dict[str, str]:
    """For each column of pairs, which is its stage's name too, `positive` or `negative`."""
    roles = dict.fromkeys(options.positive_columns, "positive")
    return roles | dict.fromkeys(options.negative_columns, "negative")


def check_columns(store: Store, options: IngestOptions, taken: Collection[str]) -> None:
    """See that no column of pairs has the name of a stage of another kind."""
    for column, role in roles_of(options).items():
        store.part_path(column, 0)  # refuses what cannot be a stage's name
        if column in taken:
            raise UsageError(
                f"--{role}-column {column}: another stage has this name; rename the column in the input"
            )


def given_settings(store: Store, column: str, role: str) -> Settings:
    """What a stage of the user's own texts depends on."""
    inputs = {"corpus": store.stage("corpus").digest}
    return Settings(GIVEN, VERSION, {"column": column, "kind": role}, inputs=inputs, by_part=True)


def begin_all(store: Store, options: IngestOptions) -> None:
    """Announce the stages of all columns of pairs, so that none is made where one of them cannot be."""
    for column, role in roles_of(options).items():
        known = store.read_rows("corpus", 0, []).schema.names
        if column not in known:
            raise UsageError(
                f"{store.path}: its corpus keeps no column {column!r} (it has {', '.join(known)}); read it "
                f"again with --corpus and --{role}-column {column} into another --store"
            )
        if column not in store.stages() and not any(
            part_of(store, index, column, role)[1]["given"] for index in range(len(store.parts))
        ):
            refuse_empty(column)
        store.begin(column, given_settings(store, column, role), beside=_BESIDE)


def refuse_empty(column: str) -> None:
    """Say that nothing was given."""
    raise UsageError(
        f"no row of the column {column!r} holds a text, and nothing was made; check the input's columns with "
        "`augment-cli look FILE`"
    )


def make_given(store: Store, column: str, role: str) -> Counter[str]:
    """Make the stage of a column of pairs; finished parts are kept. The caller holds the store's lock.

    The value is what was counted of the parts that were made.
    """
    counted: Counter[str] = Counter()
    settings = given_settings(store, column, role)
    for index in store.begin(column, settings, beside=_BESIDE):
        table, statistics = part_of(store, index, column, role)
        counted.update(statistics)
        groups = (table.slice(low, ROW_GROUP_ROWS) for low in range(0, table.num_rows, ROW_GROUP_ROWS))
        store.commit(store.write_part(column, index, TEXT_OR_REASON, groups, settings, statistics))
    return counted


def part_of(store: Store, index: int, column: str, role: str) -> tuple[pa.Table, dict[str, int]]:
    """A part of a column's stage, and what is counted of it."""
    parameters = store.stage("corpus").settings_of(index)["parameters"]
    rows = store.read_part("corpus", index, ["row_id", "text", column])
    return checked(rows, column, role, parameters["max_characters"], parameters.get("line_breaks", "reject"))


def checked(
    rows: pa.Table, column: str, role: str, max_characters: int, line_breaks: str
) -> tuple[pa.Table, dict[str, int]]:
    """row_id, text and reason; a text is null for the same reasons as a line of a corpus is rejected."""
    texts, broken = rows[column].combine_chunks(), np.array([], int)
    raw = pc.fill_null(texts, "").cast(pa.large_binary())
    if line_breaks == "join":
        raw, broken = without_line_breaks(raw)
        texts = pc.if_else(texts.is_null(), None, raw.cast(pa.string()))
    lines = RawLines("", np.arange(len(raw)), raw, raw, None, [])
    reasons = reasons_to_reject(lines, max_characters, keeps_breaks=line_breaks == "keep")
    reasons[reasons == Reason.EMPTY] = Reason.MISSING
    if role == "negative":  # a sentence cannot be its own negative
        is_same = pc.fill_null(pc.equal(texts, rows["text"].combine_chunks()), False)
        reasons[is_same.to_numpy(zero_copy_only=False) & (reasons == "")] = Reason.SAME_TEXT
    bad = reasons != ""
    statistics = {"given": int((~bad).sum()), **Counter(reasons[bad].tolist())}
    if joined := int((~bad[broken]).sum()):
        statistics[JOINED] = joined
    table = pa.table(
        [rows["row_id"], pc.if_else(pa.array(bad), None, texts), pa.array(reasons, pa.string(), mask=~bad)],
        schema=TEXT_OR_REASON,
    )
    return table, statistics
