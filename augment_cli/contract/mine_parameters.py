"""How hard negatives are mined; `augment_cli/vectors/mine.py` does so."""

from __future__ import annotations

from dataclasses import dataclass

from augment_cli.contract.parameters import check_parameters, parameter
from augment_cli.errors import UsageError

WAYS = ("tfidf", "vectors")


@dataclass(frozen=True)
class MineParameters:
    """How to mine."""

    by: str = parameter(
        "tfidf", "lexical neighbours from the TF-IDF matrix, or dense ones by sentence vectors", choices=WAYS
    )
    positive: str = parameter(
        "", "stage of positives that margins are measured to; empty: the sentence itself, with score 1"
    )
    query_vectors: str = parameter(
        "",
        "dense: the set with the sentences' vectors as queries, where an encoder has prompts for queries and "
        "for documents; empty: the same as what is searched",
    )
    negatives: int = parameter(
        1,
        "for each sentence; further ones are stages of their own: NAME.1, NAME.2, …",
        minimum=1,
        maximum=100,
    )
    range_min: int = parameter(0, "leave out this many of the nearest", minimum=0)
    range_max: int = parameter(50, "look at this many of the nearest", minimum=1, maximum=10_000)
    max_score: float = parameter(1.0, "highest score of a negative", minimum=-1, maximum=1)
    min_score: float = parameter(-1.0, "lowest score of a negative", minimum=-1, maximum=1)
    margin: float = parameter(
        0.0, "a negative scores at least this far below the positive; 0: no matter", minimum=0, maximum=2
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
    rescore: str = parameter(
        "",
        "folder of a CrossEncoder of sentence-transformers, whose scores, from 0 to 1, replace those of the "
        "neighbours and of the positive before the limits: as many pairs a sentence as --range-max",
        later=True,
    )
    max_df: float = parameter(
        0.02, "lexical: leave out terms that more than this share of the sentences hold", above=0, maximum=1
    )
    seed: int = parameter(1, "of the draws")

    def check(self) -> None:
        """Raise `UsageError` where the parameters make no sense."""
        check_parameters(self)
        if self.range_min + self.negatives > self.range_max:
            raise UsageError(
                f"--range-min {self.range_min} --range-max {self.range_max}: hold fewer than "
                f"--negatives {self.negatives}"
            )
        if self.query_vectors and self.by != "vectors":
            raise UsageError("--query-vectors: is for --by vectors; lexical neighbours have no prompts")
        if self.search == "graph" and self.by != "vectors":
            raise UsageError("--search graph: is for --by vectors; lexical neighbours are searched exactly")
