"""What a protocol declares (`Protocol`), is run with (`Options`) and returns (`TaskScore`)."""

from eval.contract.protocol import (
    Cells,
    Encode,
    Options,
    Progress,
    Protocol,
    Setting,
    TaskScore,
    caution,
    every_split,
    flaw,
    rejoin,
    scored_split,
    undefined,
)

__all__ = ["Cells", "Encode", "Options", "Progress", "Protocol", "Setting", "TaskScore", "caution"]
__all__ += ["every_split", "flaw", "rejoin", "scored_split", "undefined"]
