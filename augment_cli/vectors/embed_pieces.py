"""One piece of a stage of sentence vectors, encoded in a worker."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from augment_cli.errors import BadInputError
from augment_cli.neural.loading import ModelFolder
from augment_cli.neural.runtime import hand_back_memory, inference, keep_freed_memory
from augment_cli.store.journal import Journal
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from augment_cli.vectors.embed_parameters import EmbedParameters, is_static_model
from augment_cli.vectors.stages import as_bytes, unit

if TYPE_CHECKING:
    from augment_cli.encoding.encoder import Encoder
    from augment_cli.encoding.static import StaticEncoder


def encode_piece(
    store_path: Path,
    stage: str,
    of: str,
    index: int,
    piece: int,
    positions: np.ndarray,
    model: ModelFolder,
    parameters: EmbedParameters,
    settings: Settings,
) -> tuple[int, int]:
    """Encode one piece of a part (in a worker) into the journal; returns the part and the piece's texts."""
    store = Store.open(store_path)
    texts = _texts_of(store.path, of, store.stage(of).digest, index).take(pa.array(positions)).to_pylist()
    halves = _encode_in_halves(texts, load(model, parameters), parameters)
    if not np.isfinite(halves).all():
        raise BadInputError(
            f"{model.path}: gives vectors with numbers that are not finite in half precision; check the "
            "model, or add --normalize where its numbers are merely large"
        )
    if is_static_model(model):  # whose memory is mostly what one step after the other has freed
        hand_back_memory()
    Journal(store.work, stage, settings).write(index, piece, pa.table({"vector": as_bytes(halves)}))
    return index, len(texts)


def _encode_in_halves(
    texts: list[str], encoder: Encoder | StaticEncoder, parameters: EmbedParameters
) -> np.ndarray:
    """Vectors of texts as they are stored, float16 (n, d); what is too large for that is infinite."""
    # A static encoder's are made so by as many as it looks up at once: in single precision all of a piece
    # would need more memory than anything else.
    from augment_cli.encoding.static import LOOK_UP_TEXTS, StaticEncoder

    size = LOOK_UP_TEXTS if isinstance(encoder, StaticEncoder) else len(texts)
    with np.errstate(over="ignore"):
        parts = [
            encode(texts[start : start + size], encoder, parameters).astype(np.float16)
            for start in range(0, len(texts), size)
        ]
    return np.concatenate(parts)


@lru_cache(maxsize=1)
def _texts_of(store_path: Path, of: str, digest: str, index: int) -> pa.ChunkedArray:
    """A part's texts; the last one is kept, as a worker encodes many of its pieces."""
    return Store.open(store_path).read_part(of, index, ["text"])["text"]


@lru_cache(maxsize=1)
def _load(
    model: ModelFolder, pooling: str, max_length: int, precision: str, device: str, prompt_name: str
) -> Any:
    if model.path.is_file():
        from augment_cli.encoding.static import load_static

        return load_static(model.path)
    if not is_static_model(model):  # looking up allocates little, and memory that is handed back is the less
        keep_freed_memory()
    from augment_cli.encoding.loading import load_encoder

    return load_encoder(
        model.path,
        pooling=pooling or None,
        max_length=max_length or None,
        precision="bf16" if precision == "bf16" else "fp32",
        device=device,
        prompt_name=prompt_name,
    )


def load(model: ModelFolder, parameters: EmbedParameters) -> Encoder | StaticEncoder:
    """The encoder that the parameters ask for; the last one is kept, as a worker encodes many pieces."""
    used = (parameters.pooling, parameters.max_length, parameters.precision, parameters.device)
    found: Encoder | StaticEncoder = _load(model, *used, parameters.prompt_name)
    return found


def encode(texts: list[str], encoder: Encoder | StaticEncoder, parameters: EmbedParameters) -> np.ndarray:
    """Vectors of texts, float32 (n, d), as `parameters` (pinned) want them."""
    from augment_cli.encoding.static import StaticEncoder

    if isinstance(encoder, StaticEncoder):
        vectors = encoder.encode(texts)
    else:
        with inference(parameters.threads):
            vectors = encoder.encode(texts, batch_tokens=parameters.batch_tokens)
    return unit(vectors)[0] if parameters.normalize else vectors
