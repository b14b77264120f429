"""What goes into a packed stage. Loads nothing heavy; `augment_cli/pack/` packs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from augment_cli.contract.parameters import declared, parameter, several

if TYPE_CHECKING:
    import pyarrow as pa

CORPUS_STAGE = "corpus"
UNCHANGED = ("drop", "anchor")
LAYOUTS = ("n-tuple", "triplet", "pair", "labeled-pair")  # the names of sentence-transformers
FILTERS = ("min_positive", "max_negative", "margin")  # in the order in which they are applied
# `entailment`: a stage's label decides where it may stand. `kind`: it stands where its paper puts it.
BY_LABEL, BY_KIND = "entailment", "kind"
LABEL_MODES = (BY_LABEL, BY_KIND)


@dataclass(frozen=True)
class PackOptions:
    """What goes into the columns.

    Notes
    -----
    `augment_cli.pack.choose` fills in the stages that are not named. `side` is the side of a split that these
    options are for, `train` or `test`, and empty where nothing is split. `unchanged = "anchor"` is meant for
    positives: an anchor among its own negatives teaches nothing good. sentence-transformers takes every
    column but `label` and `score` for a text, those of `carry` included.
    """

    positives: tuple[str, ...] = parameter(
        (),
        "stage of positives, each giving rows of its own; corpus is the anchor itself, as in unsupervised "
        "SimCSE; repeatable [default: every finished one]",
        option="positive",
        unset=None,
    )
    negatives: tuple[str, ...] = parameter(
        (),
        "stage of negatives, each a column of its own; repeatable [default: every finished one]",
        option="negative",
        unset=None,
    )
    unchanged: str = parameter(
        "drop", "rows a stage left unchanged are dropped, or the anchor stands in", choices=UNCHANGED
    )
    require_all: bool = parameter(
        False, "drop rows that lack one of several negatives, instead of putting another of their own there"
    )
    carry: tuple[str, ...] = parameter(
        (), "column of the corpus to have behind the texts, such as row_id, id or what was kept; repeatable"
    )
    split: float = parameter(
        0.0,
        "share of the sentences held out, below 1: makes NAME-train and NAME-test; equal sentences are on "
        "the same side",
        minimum=0,
    )
    side: str = ""
    shuffle: bool = parameter(False, "random order within each part")
    seed: int = parameter(42, "of --split and --shuffle")
    min_positive: float | None = parameter(
        None, "lowest cosine of anchor and positive", minimum=-1, maximum=1
    )
    max_negative: float | None = parameter(
        None, "highest cosine of anchor and negative", minimum=-1, maximum=1
    )
    margin: float | None = parameter(
        None, "a negative's cosine is at least this far below the positive's", minimum=0, maximum=2
    )
    where: tuple[str, ...] = parameter(
        (),
        "STAGE:CONDITIONS, such as 'una:cosine < 0.9': texts of that stage which do not meet them are left "
        "out; columns of the stage and those that score made; repeatable",
    )
    vectors: str | None = parameter(None, "which vectors the cosines are of, where there are several")
    layout: str = parameter(
        "n-tuple",
        "n-tuple: each stage of negatives a column; triplet: each negative a row; pair: no negatives; "
        "labeled-pair: sentence1, sentence2, label",
        choices=LAYOUTS,
    )
    scores: bool = parameter(False, "a column score with the cosines, for distillation losses")
    labels: str = parameter(
        BY_LABEL,
        "what may stand where: entailment, same and other meanings; kind, as its paper has it",
        choices=LABEL_MODES,
    )

    @property
    def fills(self) -> bool:
        """Whether a negative may stand in for another."""
        several = len(self.negatives) > 1 and self.layout == "n-tuple"
        return several and not self.require_all and self.unchanged == "drop"

    def __post_init__(self) -> None:
        for item in declared(type(self)):
            if item.type == "tuple[str, ...]":
                object.__setattr__(self, item.name, several(getattr(self, item.name)))

    @property
    def stages(self) -> list[str]:
        """The stages that are read beside the corpus."""
        return [name for name in dict.fromkeys(self.positives + self.negatives) if name != CORPUS_STAGE]

    @property
    def columns(self) -> list[str]:
        """Names of the columns of texts: anchor, positive, negative, negative_1, …, by the layout."""
        if self.layout == "labeled-pair":
            return ["sentence1", "sentence2"]
        count = {"n-tuple": len(self.negatives), "triplet": 1, "pair": 0}[self.layout]
        negatives = [f"negative_{number}" if number else "negative" for number in range(count)]
        return ["anchor", "positive", *negatives]

    def schema(self, corpus: pa.Schema) -> pa.Schema:
        """Columns of texts, label or score, and what is carried from the corpus; no nulls but in the last."""
        import pyarrow as pa

        fields = [pa.field(name, pa.string(), nullable=False) for name in self.columns]
        if self.scores:
            is_pair = self.layout in ("pair", "labeled-pair")
            kind = pa.float32() if is_pair else pa.list_(pa.float32())
            fields.append(pa.field("score", kind, nullable=False))
        elif self.layout == "labeled-pair":
            fields.append(pa.field("label", pa.int64(), nullable=False))
        return pa.schema([*fields, *(corpus.field(name) for name in self.carry)])

    @property
    def filters(self) -> list[str]:
        """Names of the filters that are on, in the order in which they are applied."""
        return [name for name in FILTERS if getattr(self, name) is not None]

    @property
    def is_filtered(self) -> bool:
        """Whether rows may be left out for what is asked of them."""
        return bool(self.filters or self.where)

    @property
    def compared(self) -> list[str]:
        """The stages whose cosines to the corpus are asked for, those that are the corpus itself left out."""
        both = self.scores or self.margin is not None
        wanted = self.positives if both or self.min_positive is not None else ()
        wanted += self.negatives if both or self.max_negative is not None else ()
        return [name for name in dict.fromkeys(wanted) if name != CORPUS_STAGE]
