"""Cosines of a stage's texts to their originals, from vectors that are there."""

import numpy as np
import pyarrow.compute as pc

from augment_cli.encoding.transforms import unit
from augment_cli.errors import UsageError
from augment_cli.store.parquet import ROW_GROUP_ROWS
from augment_cli.store.store import Store
from augment_cli.vectors.mine import MINED_STAGE
from augment_cli.vectors.stages import CORPUS_STAGE, VectorStage
from augment_cli.vectors.texts import rows_by_part


def is_mined(store: Store, of: str) -> bool:
    """Whether a stage's texts are sentences of the corpus, whose vectors then serve."""
    return bool(store.stage(of).settings["stage"] == MINED_STAGE)


def vectors_for(store: Store, of: str, name: str | None = None) -> list[VectorStage]:
    """The vectors that `cosines` reads for a stage: those of the corpus, and its own where it needs any."""
    originals = VectorStage.open(store, CORPUS_STAGE, name)
    if is_mined(store, of):
        return [originals]
    own = VectorStage.open(store, of, name)
    originals.check_comparable(own)
    return [originals, own]


def cosines(store: Store, of: str, index: int, name: str | None = None) -> np.ndarray:
    """Cosine of each text of a part and its original."""
    # float32 (n,), NaN where there is no text, 0 where a vector has no direction
    stages = vectors_for(store, of, name)
    found = []
    for group in range(-(-store.parts[index][1] // ROW_GROUP_ROWS)):
        texts = store.read_part(of, index, ["text"], [group])["text"]
        has_text = texts.is_valid().to_numpy()
        originals, has_original = stages[0].read(index, [group])
        if len(stages) == 1:
            others = store.read_part(of, index, ["other_row_id"], [group])["other_row_id"]
            own, has_own = _gathered(stages[0], pc.fill_null(others, -1).to_numpy())
        else:
            own, has_own = stages[1].read(index, [group])
        if missing := int((has_text & ~(has_own & has_original)).sum()):
            raise UsageError(
                f"{store.path}: {missing:,} texts of {of!r} in part {index} have no vector; make all of them "
                f"(`augment-cli embed` without --rows)"
            )
        products = np.einsum("ij,ij->i", unit(originals)[0], unit(own)[0])
        found.append(np.where(has_text, products, np.nan).astype(np.float32))
    return np.concatenate([np.zeros(0, np.float32), *found])


def _gathered(stage: VectorStage, row_ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors of rows anywhere in the corpus, a part in memory at a time; row −1 has none."""
    vectors = np.zeros((len(row_ids), stage.dimension), np.float16)
    present = np.zeros(len(row_ids), bool)
    for part, some, places in rows_by_part(stage.store, row_ids):
        known, is_there = stage.read(part)
        vectors[some], present[some] = known[places], is_there[places]
    return vectors, present
