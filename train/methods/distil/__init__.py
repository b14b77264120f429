"""A static encoder from a teacher: vocabulary, table, regression on the teacher's sentence vectors.

From Python it is one call, ``train.methods.distil.distil.distil_to(out, store, teacher)``.
"""

from dataclasses import dataclass

from augment_cli.contract.parameters import check_parameters, parameter


@dataclass(frozen=True)
class Settings:
    """How to distil."""

    vocabulary: str = parameter(
        "own",
        "own: the teacher's tokens; learned: WordPiece, learned from the corpus",
        choices=("own", "learned"),
    )
    size: int = parameter(
        0, "most tokens, the most frequent ones; or pieces to learn (0: all; 30,000)", minimum=0
    )
    words: int = parameter(
        0, "whole words of the corpus to add, the most frequent ones that are no tokens yet", minimum=0
    )
    dimension: int = parameter(256, "length of a vector (0: the teacher's)", minimum=0)
    # `zipf`: Yokoi et al. 2024. With `regress` the principal directions are those of the teacher's sentences.
    postprocess: str = parameter(
        "zipf",
        "of the tokens' vectors: zipf (whitening by the tokens' probabilities), pca, none",
        choices=("zipf", "pca", "none"),
    )
    weights: str = parameter("sif", "of the tokens: sif, idf or none", choices=("sif", "idf", "none"))
    count: int = parameter(100_000, "sentences in which tokens and words are counted (0: all)", minimum=0)
    regress: int = parameter(0, "sentences whose teacher vectors the table is fitted to (0: none)", minimum=0)
    ridge: float = parameter(0.03, "how firmly the fitted table stays near the one before", above=0)
    vectors: str = parameter(
        "", "vectors of the store that are the teacher's (embed --name); without them it encodes here"
    )

    def __post_init__(self) -> None:
        check_parameters(self)
