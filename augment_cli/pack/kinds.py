"""The kind of stage that is ready for training."""

import numpy as np
import pyarrow as pa

from augment_cli import pack
from augment_cli.store.kinds import StageKind
from augment_cli.store.manifest import Stage
from augment_cli.store.refusals import options_again
from augment_cli.store.store import Store

_TEXTS = ("anchor", "positive", "negative", "sentence")


def _check(store: Store, stage: Stage, index: int, table: pa.Table) -> list[str]:
    texts = [field for field in table.schema if field.name.startswith(_TEXTS)]
    if not texts or any(field.type != pa.string() for field in texts):
        return ["has no texts where every row has an anchor"]
    if any(table[field.name].null_count for field in texts):
        return ["has rows without a text"]
    scores = table["score"].combine_chunks() if "score" in table.schema.names else pa.array([], pa.float32())
    flat = scores.flatten() if pa.types.is_list(scores.type) else scores
    if not np.isfinite(flat.to_numpy(zero_copy_only=False).astype(np.float64)).all():
        return ["has scores that are not finite"]
    return []


def _command(store: Store, name: str) -> list[str]:
    settings = store.stage(name).settings
    stored, usual = settings["parameters"], pack.PackOptions()
    words = [
        "pack",
        *options_again(settings, usual, [key for key in stored if hasattr(usual, key) and key != "side"]),
    ]
    several = len(stored["negatives"]) > 1 and "layout" not in stored and stored["unchanged"] == "drop"
    words += ["--require-all"] if several and "unchanged_negatives" not in stored else []
    words += ["--seed", str(settings["seed"])] if settings["seed"] not in (None, usual.seed) else []
    base = name.removesuffix(f"-{stored['side']}") if "side" in stored else name
    return words + (["--name", base] if base != pack.PACK_STAGE else [])


KINDS = (
    StageKind(
        pack.PACK_STAGE,
        {pack.PACK_STAGE: pack.PackOptions(positives=("corpus",), negatives=("una",)).schema(pa.schema([]))},
        version=lambda: pack.VERSION,
        check=_check,
        describe=lambda stage: "anchor, positive, negatives, ready for training",
        goes_by_part=lambda settings: not {"where", "repeated_sentences"} & settings["parameters"].keys(),
        command=_command,
    ),
)
