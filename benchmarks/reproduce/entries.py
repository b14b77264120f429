"""What `grid.toml` holds: profiles, beds, rows, sweeps, claims, evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Profile:
    """From which encoder, on what, how often."""

    name: str
    about: str  # in words
    encoder: str  # folder or hub name all rows start from
    corpus: tuple[str, ...]  # files or globs under the data folder
    rows: int  # sentences of it, the first ones; 0 for all
    seeds: tuple[int, ...]  # of every row; sweeps take the first unless the command asks for more
    scaled: bool  # whether the rows' `scaled` settings apply: corpus and encoder are smaller than the papers'
    pooling: str  # of encoders that are not trained
    score_precision: str  # number format when encoding the test sets, `fp32` or `bf16`
    seconds: float  # rough length of one training, until one has been measured
    set: tuple[str, ...] = ()  # settings of all rows
    # options of `augment-cli ingest` that choose among them, such as only short ones
    ingest: tuple[str, ...] = ()
    # command of each stage that is made otherwise than in other profiles, such as for fewer rows
    stages: dict[str, str] = field(default_factory=dict)
    # files or globs of a larger corpus under the data folder, whose TF-IDF weighs this one's texts; empty
    # for its own
    terms: tuple[str, ...] = ()
    # settings of single rows on top of their own, such as more steps for one with large batches
    of_row: dict[str, list[str]] = field(default_factory=dict)
    # test sets of single evaluations, in place of theirs
    tasks: dict[str, list[str]] = field(default_factory=dict)
    # the same for sweeps' points, which are compared on STS-B dev
    sweep_tasks: dict[str, list[str]] = field(default_factory=dict)
    # what single evaluations keep beside the main scores, in place of theirs
    also: dict[str, list[str]] = field(default_factory=dict)
    only: tuple[str, ...] = ()  # rows and sweeps it has, of those that may be in it; empty for all
    left_out: tuple[str, ...] = ()  # rows and sweeps it does not have, though they may be in it
    # rows and sweeps of the evaluations that it has beside STS, in place of theirs; empty for theirs
    scored: dict[str, list[str]] = field(default_factory=dict)
    decides: bool = True  # whether the primary comparisons of its rows are made from it
    # another profile, whose keys it has where it does not give its own, and whose rows and evaluations
    like: str = ""
    seeds_of: dict[str, list[int]] = field(default_factory=dict)  # seeds of single rows, in place of those
    # how many of the seeds rows have that are in no primary comparison; 0 for all. Where it is set, the
    # rows of the primary comparisons come first, and each row's difference to no training is shown.
    other_seeds: int = 0
    # whether results say in their key that the starting encoder was a candidate for the best one. It is one
    # in every training now; results of `cpu` are older and go on counting.
    from_step_0: bool = False
    warning: str = ""  # what to know before reading its document; `{row}` becomes the row's STS average
    unlisted: tuple[str, ...] = ()  # rows that are scored and may be named in `warning`, and are in no table
    remarks: tuple[str, ...] = ()  # what to know of how its rows were measured, a paragraph each
    # what the trainings wait for that are missing still, such as a machine of another kind
    waits_for: str = ""
    # another profile, whose trainings its document counts with its own in a table of the primary
    # comparisons
    together_with: str = ""
    sweep_seeds: int = 1  # how many of its seeds a sweep's points have
    # another profile, whose sweeps of the learning rate choose each row's here; empty for the rows' own
    rates_from: str = ""


@dataclass(frozen=True)
class Bed:
    """An encoder that is made on the machine, for the profile of the same name (see `bed.py`)."""

    name: str
    about: str  # what it is
    seen: str  # what the encoder it was made from has been trained on
    start: str  # the installed encoder it is made from
    layers: int  # how many of its layers are kept, the first ones; 0 for all
    corpus: tuple[str, ...]  # files under the data folder
    rows: int  # how many sentences of them
    recipe: str  # of the training
    set: tuple[str, ...] = ()  # settings on top
    redrawn: int = 0  # how many of them, the last ones, have random weights instead of their own
    # variables under which it is made, in a process of its own: libraries choose their kernels by them
    environment: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""  # of the encoder that the results were made from
    machine: str = ""  # on what it was made: another processor rounds differently, and makes another
    like: str = ""  # another bed, whose keys it has where it does not give its own


@dataclass(frozen=True)
class Published:
    """What a paper reports, Spearman or accuracy × 100."""

    paper: str
    score: float  # of the row, and of the paper's own baseline
    baseline: float
    measure: str = "average"  # `average` (seven STS test sets), `dev` (STS-B dev) or `transfer`
    model: str = "BERT-base"  # the encoder it was measured with
    of: str = ""  # the row that is the paper's baseline where it is not the row's own here
    # mean and standard deviation over seeds where somebody published them; `expected` 0 where not
    expected: float = 0.0
    sd: float = 0.0
    # the paper's columns of the row and of its baseline, by their names in the grid; empty where it prints
    # none
    on: tuple[str, ...] = ()
    # the difference over the test sets that were scored here (`published.py`); None where it is unknown
    alike: float | None = None
    sets: str = ""  # what to know of the paper's test sets where it is

    @property
    def difference(self) -> float:
        """Row minus baseline, in points, over the test sets that were scored here where that is known."""
        return round(self.score - self.baseline if self.alike is None else self.alike, 2)


@dataclass(frozen=True)
class Row:
    """A line of the table: a recipe with settings on top; without a recipe the encoder is not trained."""

    name: str
    title: str
    recipe: str = ""
    baseline: str = ""
    set: tuple[str, ...] = ()
    scaled: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()  # the profiles that have it; empty for all
    # its baseline in profiles where it is another one, by profile
    baselines: dict[str, str] = field(default_factory=dict)
    # of an encoder that is not trained; empty for the profile's. `augment_cli.encoding.pooling` and
    # `augment_cli.encoding.word_table` name them; tokens are counted in the profile's `terms`, else in its
    # corpus.
    pooling: str = ""
    encoder: str = ""  # instead of the profile's, where nothing is trained
    output: str = "best"  # which of the run's encoders is scored
    once: bool = False  # whether it has no seed, since nothing is trained
    first: bool = False  # whether it comes before the rest
    # whether it has all seeds of a profile that spares them for the primary comparisons
    all_seeds: bool = False
    published: Published | None = None
    note: str = ""
    sweep: str = ""  # name of the sweep this is a point of; empty where it is none
    value: Any = None  # the point

    @property
    def has_seed(self) -> bool:
        """Whether another seed gives another result."""
        return bool(self.recipe) and not self.once


@dataclass(frozen=True)
class Sweep:
    """One setting of a row over several values."""

    name: str
    title: str
    set: tuple[str, ...]
    values: tuple[Any, ...]
    row: str = ""
    rows: tuple[str, ...] = ()  # several rows in place of one `row`: a sweep `NAME-ROW` of each
    # command that makes the stage of a value, where each needs its own; the stage is called
    # `row-setting-value`
    stage: str = ""
    labels: tuple[Any, ...] = ()  # what the values are called on the axis; the values themselves by default
    published: tuple[float, ...] = ()  # STS-B dev of each value in the paper, × 100; empty where it has none
    best: Any = None  # the value the paper found best, where it gives no numbers
    default: Any = None  # the value that the row itself has in every profile, so that its point is the row
    against: Any = None  # the value the others are compared with, where neither of these is right
    note: str = ""
    profiles: tuple[str, ...] = ()  # the profiles that have it; empty for those of its row

    @property
    def reference(self) -> Any:
        """The value the others are compared with: the paper's best, else the default, else the first."""
        if self.published:
            return self.values[self.published.index(max(self.published))]
        possible = (self.best, self.default, self.against, self.values[0])
        known = (value for value in possible if value is not None)
        return next(known)

    def point(self, value: Any) -> str:
        """Name of a point, which is also the name of its stage."""
        return f"{self.name}-{value}".replace(".", "_").replace("%", "")


@dataclass(frozen=True)
class Claim:
    """One row should be better than another by `published` points (0: the paper gives no number)."""

    better: str
    worse: str
    measure: str = "average"
    published: float = 0.0
    note: str = ""  # what to know about the paper's number
    # the paper's columns of both, by their names in the grid; empty where it prints none
    on: tuple[str, ...] = ()


@dataclass(frozen=True)
class Primary:
    """A comparison that was named before anything was run, one of at most ten."""

    better: str  # the row that should be better
    worse: str  # the other row
    question: str  # what it answers, in words
    control: str  # what is the same in both rows, and what alone differs
    published: float  # the paper's difference in points
    note: str = ""  # what to know about the paper's number
    measure: str = "average"  # what the paper's number is of; the comparison here is on the STS average
    # the paper's columns of both, by their names in the grid; empty where it prints none
    on: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evaluation:
    """Test sets scored together."""

    tasks: tuple[str, ...]
    scaled: tuple[str, ...] = ()  # tasks in profiles that are scaled; empty for the same ones
    # rows it is done for, with their first seed alone; empty for all rows and seeds
    rows: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()  # the profiles that have it; empty for all
    also: tuple[str, ...] = ()  # scores of its tasks that are kept beside the main ones, as `task:score`
