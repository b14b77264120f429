"""What mined stages are made with: the parameters, the names of the stages, their columns."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import pyarrow as pa

from augment_cli.contract.parameters import check_parameters, parameter
from augment_cli.errors import UsageError
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import Store
from augment_cli.tfidf.names import stage_names
from augment_cli.vectors.choosing import Limits
from augment_cli.vectors.graph import graph_library
from augment_cli.vectors.lexical import check_max_df, sparse_library
from augment_cli.vectors.stages import CORPUS_STAGE, VectorStage

VERSION = 2
MINED_STAGE = "mined"
WAYS = ("tfidf", "vectors")
MINED = pa.schema(
    [
        pa.field("row_id", pa.int64(), nullable=False),
        pa.field("text", pa.string()),
        pa.field("reason", pa.string()),
        pa.field("other_row_id", pa.int64()),
        pa.field("score", pa.float32()),
        pa.field("rank", pa.int32()),
        pa.field("positive_score", pa.float32()),
    ]
)
_NO_LIMIT = {"max_score": 1.0, "min_score": -1.0, "margin": 0.0, "relative_margin": 0.0}


@dataclass(frozen=True)
class MineParameters:
    """How to mine."""

    by: str = parameter(
        "tfidf", "lexical neighbours from the TF-IDF matrix, or dense ones by sentence vectors", choices=WAYS
    )
    positive: str = parameter(
        "", "stage of positives that margins are measured to; empty: the sentence itself, with score 1"
    )
    negatives: int = parameter(
        1,
        "for each sentence; further ones are stages of their own: NAME.1, NAME.2, …",
        minimum=1,
        maximum=100,
    )
    range_min: int = parameter(0, "leave out so many of the nearest", minimum=0)
    range_max: int = parameter(50, "look at the nearest so many only", minimum=1, maximum=10_000)
    max_score: float = parameter(1.0, "highest score of a negative", minimum=-1, maximum=1)
    min_score: float = parameter(-1.0, "lowest score of a negative", minimum=-1, maximum=1)
    margin: float = parameter(
        0.0, "a negative scores at least so much below the positive; 0: no matter", minimum=0, maximum=2
    )
    relative_margin: float = parameter(
        0.0, "a negative scores at least this share below the positive; 0: no matter", minimum=0, maximum=1
    )
    near_duplicate: float = parameter(
        0.95, "from this score on a sentence counts as the same one and is left out", minimum=0, maximum=2
    )
    search: str = parameter(
        "exact",
        "dense: compare every sentence with every other, or follow a graph of near ones: approximate, for "
        "millions",
        choices=("exact", "graph"),
    )
    sampling: str = parameter("top", "take the nearest, or draw", choices=("top", "random"))
    max_df: float = parameter(
        0.02, "lexical: leave out terms that more than this share of the sentences hold", minimum=0, maximum=1
    )
    seed: int = parameter(1, "of the draws")

    @property
    def limits(self) -> Limits:
        """What a neighbour must meet."""
        chosen = {
            key: None if getattr(self, key) == default else getattr(self, key)
            for key, default in _NO_LIMIT.items()
        }
        return Limits(self.range_min, self.range_max, **chosen)

    def check(self) -> None:
        """Raise `UsageError` where the parameters make no sense."""
        check_parameters(self)
        check_max_df(self.max_df)
        if self.range_min + self.negatives > self.range_max:
            raise UsageError(
                f"--range-min {self.range_min} --range-max {self.range_max}: hold fewer than "
                f"--negatives {self.negatives}"
            )
        if self.search == "graph" and self.by != "vectors":
            raise UsageError("--search graph: is for --by vectors; lexical neighbours are searched exactly")


def mined_names(parameters: MineParameters, stage: str | None = None) -> list[str]:
    """Folders of the results, one for each negative; `stage` is the first one's."""
    base = stage or f"{MINED_STAGE}-{parameters.by}"
    return [f"{base}.{number}" if number else base for number in range(parameters.negatives)]


def mine_settings(
    store: Store, parameters: MineParameters, fit: str | None, vectors: str | None, number: int
) -> Settings:
    """What a mined stage depends on; `number` is 0 for the first negative, 1 for the second, …"""
    stages = [CORPUS_STAGE, *([parameters.positive] if parameters.positive else [])]
    if parameters.by == "vectors":
        opened = [VectorStage.open(store, stage, vectors) for stage in stages]
        for other in opened[1:]:
            opened[0].check_comparable(other)
        read, libraries = [one.stage for one in opened], ["numpy", "pyarrow"]
        if parameters.search == "graph":
            graph_library()
            libraries.append("usearch")
    else:
        sparse_library()
        read, libraries = list(stage_names(fit)), ["numpy", "pyarrow", "scipy"]
    values = asdict(parameters)
    if parameters.by == "vectors":
        del values["max_df"]
    if parameters.search == "exact":  # as in stages that were mined before there was another way
        del values["search"]
    values |= {"positive": parameters.positive or None, "number": number}
    seed = values.pop("seed") if parameters.sampling == "random" else values.pop("seed") and None
    return Settings(
        MINED_STAGE,
        VERSION,
        parameters=values,
        seed=seed,
        inputs={stage: store.stage(stage).digest for stage in (*stages, *read)},
        libraries=library_versions(libraries),
    )
