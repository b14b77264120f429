"""What `grid.toml` holds: profiles, beds, rows, sweeps, claims, evaluations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Profile:
    """From which encoder, on what, how often.

    Attributes
    ----------
    about : str
        In words.
    like : str
        Another profile, whose keys it has where it does not give its own, and whose rows and evaluations.
    encoder : str
        Folder or hub name all rows start from.
    corpus : tuple of str
        Files or globs under the data folder.
    rows : int
        Sentences of it, the first ones; 0 for all.
    ingest : tuple of str
        Options of `augment-cli ingest` that choose among them, such as only short ones.
    seeds : tuple of int
        Of every row; sweeps take the first unless the command asks for more.
    scaled : bool
        Whether the rows' `scaled` settings apply: corpus and encoder are smaller than the papers'.
    pooling : str
        Of encoders that are not trained.
    score_precision : str
        Number format when encoding the test sets, `fp32` or `bf16`.
    seconds : float
        Rough length of one training, until one has been measured.
    set : tuple of str
        Settings of all rows.
    stages : dict of str to str
        Command of each stage that is made otherwise than in other profiles, such as for fewer rows.
    terms : tuple of str
        Files or globs of a larger corpus under the data folder, whose TF-IDF weighs this one's texts; empty
        for its own.
    of_row : dict of str to list of str
        Settings of single rows on top of their own, such as more steps for one with large batches.
    tasks : dict of str to list of str
        Test sets of single evaluations, in place of theirs.
    sweep_tasks : dict of str to list of str
        The same for sweeps' points, which are compared on STS-B dev.
    also : dict of str to list of str
        What single evaluations keep beside the main scores, in place of theirs.
    only : tuple of str
        Rows and sweeps it has, of those that may be in it; empty for all.
    left_out : tuple of str
        Rows and sweeps it does not have, though they may be in it.
    scored : dict of str to list of str
        Rows and sweeps of the evaluations that it has beside STS, in place of theirs; empty for theirs.
    decides : bool
        Whether the primary comparisons of its rows are made from it.
    seeds_of : dict of str to list of int
        Seeds of single rows, in place of those.
    other_seeds : int
        How many of the seeds rows have that are in no primary comparison; 0 for all. Where it is set, the
        rows of the primary comparisons come first, and each row's difference to no training is shown.
    from_step_0 : bool
        Whether results say in their key that the starting encoder was a candidate for the best one. It is
        one in every training now; results of `cpu` are older and go on counting.
    warning : str
        What to know before reading its document; `{row}` becomes the row's STS average.
    unlisted : tuple of str
        Rows that are scored and may be named in `warning`, and are in no table.
    remarks : tuple of str
        What to know of how its rows were measured, a paragraph each.
    waits_for : str
        What the trainings wait for that are missing still, such as a machine of another kind.
    together_with : str
        Another profile, whose trainings its document counts with its own in a table of the primary
        comparisons.
    sweep_seeds : int
        How many of its seeds a sweep's points have.
    rates_from : str
        Another profile, whose sweeps of the learning rate choose each row's here; empty for the rows' own.
    """

    name: str
    about: str
    encoder: str
    corpus: tuple[str, ...]
    rows: int
    seeds: tuple[int, ...]
    scaled: bool
    pooling: str
    score_precision: str
    seconds: float
    set: tuple[str, ...] = ()
    ingest: tuple[str, ...] = ()
    stages: dict[str, str] = field(default_factory=dict)
    terms: tuple[str, ...] = ()
    of_row: dict[str, list[str]] = field(default_factory=dict)
    tasks: dict[str, list[str]] = field(default_factory=dict)
    sweep_tasks: dict[str, list[str]] = field(default_factory=dict)
    also: dict[str, list[str]] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    scored: dict[str, list[str]] = field(default_factory=dict)
    decides: bool = True
    like: str = ""
    seeds_of: dict[str, list[int]] = field(default_factory=dict)
    other_seeds: int = 0
    from_step_0: bool = False
    warning: str = ""
    unlisted: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    waits_for: str = ""
    together_with: str = ""
    sweep_seeds: int = 1
    rates_from: str = ""


@dataclass(frozen=True)
class Bed:
    """An encoder that is made on the machine, for the profile of the same name (see `bed.py`).

    Attributes
    ----------
    about : str
        What it is.
    like : str
        Another bed, whose keys it has where it does not give its own.
    seen : str
        What the encoder it was made from has been trained on.
    start : str
        The installed encoder it is made from.
    layers : int
        How many of its layers are kept, the first ones; 0 for all.
    redrawn : int
        How many of them, the last ones, have random weights instead of their own.
    corpus : tuple of str
        Files under the data folder.
    rows : int
        How many sentences of them.
    recipe : str
        Of the training.
    set : tuple of str
        Settings on top.
    environment : dict
        Variables under which it is made, in a process of its own: libraries choose their kernels by them.
    digest : str
        Of the encoder that the results were made from.
    machine : str
        On what it was made: another processor rounds differently, and makes another.
    """

    name: str
    about: str
    seen: str
    start: str
    layers: int
    corpus: tuple[str, ...]
    rows: int
    recipe: str
    set: tuple[str, ...] = ()
    redrawn: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)
    digest: str = ""
    machine: str = ""
    like: str = ""


@dataclass(frozen=True)
class Published:
    """What a paper reports, Spearman or accuracy × 100.

    Attributes
    ----------
    score, baseline : float
        Of the row, and of the paper's own baseline.
    measure : str
        `average` (seven STS test sets), `dev` (STS-B dev) or `transfer`.
    model : str
        The encoder it was measured with.
    of : str
        The row that is the paper's baseline where it is not the row's own here.
    expected, sd : float
        Mean and standard deviation over seeds where somebody published them; `expected` 0 where not.
    on : tuple of str
        The paper's columns of the row and of its baseline, by their names in the grid; empty where it prints
        none.
    alike : float or None
        The difference over the test sets that were scored here (`published.py`); None where it is unknown.
    sets : str
        What to know of the paper's test sets where it is.
    """

    paper: str
    score: float
    baseline: float
    measure: str = "average"
    model: str = "BERT-base"
    of: str = ""
    expected: float = 0.0
    sd: float = 0.0
    on: tuple[str, ...] = ()
    alike: float | None = None
    sets: str = ""

    @property
    def difference(self) -> float:
        """Row minus baseline, in points, over the test sets that were scored here where that is known."""
        return round(self.score - self.baseline if self.alike is None else self.alike, 2)


@dataclass(frozen=True)
class Row:
    """A line of the table: a recipe with settings on top; without a recipe the encoder is not trained.

    Attributes
    ----------
    profiles : tuple of str
        The profiles that have it; empty for all.
    baselines : dict of str to str
        Its baseline in profiles where it is another one, by profile.
    pooling : str
        Of an encoder that is not trained; empty for the profile's. `augment_cli.encoding.pooling` and
        `augment_cli.encoding.word_table` name them; tokens are counted in the profile's `terms`, else in its
        corpus.
    encoder : str
        Instead of the profile's, where nothing is trained.
    output : str
        Which of the run's encoders is scored.
    once : bool
        Whether it has no seed, since nothing is trained.
    first : bool
        Whether it comes before the rest.
    all_seeds : bool
        Whether it has all seeds of a profile that spares them for the primary comparisons.
    sweep : str
        Name of the sweep this is a point of; empty where it is none.
    value : any value of TOML
        The point.
    """

    name: str
    title: str
    recipe: str = ""
    baseline: str = ""
    set: tuple[str, ...] = ()
    scaled: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    baselines: dict[str, str] = field(default_factory=dict)
    pooling: str = ""
    encoder: str = ""
    output: str = "best"
    once: bool = False
    first: bool = False
    all_seeds: bool = False
    published: Published | None = None
    note: str = ""
    sweep: str = ""
    value: Any = None

    @property
    def has_seed(self) -> bool:
        """Whether another seed gives another result."""
        return bool(self.recipe) and not self.once


@dataclass(frozen=True)
class Sweep:
    """One setting of a row over several values.

    Attributes
    ----------
    rows : tuple of str
        Several rows in place of one `row`: a sweep `NAME-ROW` of each.
    stage : str
        Command that makes the stage of a value, where each needs its own; the stage is called
        `row-setting-value`.
    labels : tuple
        What the values are called on the axis; the values themselves by default.
    published : tuple of float
        STS-B dev of each value in the paper, × 100; empty where it has none.
    best : any value of TOML
        The value the paper found best, where it gives no numbers.
    default : any value of TOML
        The value that the row itself has in every profile, so that its point is the row.
    against : any value of TOML
        The value the others are compared with, where neither of these is right.
    profiles : tuple of str
        The profiles that have it; empty for those of its row.
    """

    name: str
    title: str
    set: tuple[str, ...]
    values: tuple[Any, ...]
    row: str = ""
    rows: tuple[str, ...] = ()
    stage: str = ""
    labels: tuple[Any, ...] = ()
    published: tuple[float, ...] = ()
    best: Any = None
    default: Any = None
    against: Any = None
    note: str = ""
    profiles: tuple[str, ...] = ()

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
    """One row should be better than another by `published` points (0: the paper gives no number).

    Attributes
    ----------
    note : str
        What to know about the paper's number.
    on : tuple of str
        The paper's columns of both, by their names in the grid; empty where it prints none.
    """

    better: str
    worse: str
    measure: str = "average"
    published: float = 0.0
    note: str = ""
    on: tuple[str, ...] = ()


@dataclass(frozen=True)
class Primary:
    """A comparison that was named before anything was run, one of at most ten.

    Attributes
    ----------
    better : str
        The row that should be better.
    worse : str
        The other row.
    question : str
        What it answers, in words.
    control : str
        What is the same in both rows, and what alone differs.
    published : float
        The paper's difference in points.
    note : str
        What to know about the paper's number.
    measure : str
        What the paper's number is of; the comparison here is on the STS average.
    on : tuple of str
        The paper's columns of both, by their names in the grid; empty where it prints none.
    """

    better: str
    worse: str
    question: str
    control: str
    published: float
    note: str = ""
    measure: str = "average"
    on: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evaluation:
    """Test sets scored together.

    Attributes
    ----------
    scaled : tuple of str
        Tasks in profiles that are scaled; empty for the same ones.
    rows : tuple of str
        Rows it is done for, with their first seed alone; empty for all rows and seeds.
    profiles : tuple of str
        The profiles that have it; empty for all.
    also : tuple of str
        Scores of its tasks that are kept beside the main ones, as `task:score`.
    """

    tasks: tuple[str, ...]
    scaled: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
