"""The token-id cache: each text column tokenised once per tokenizer, kept as a stage of the store."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from augment_cli import augmentations
from augment_cli.encoding.words_apart import FlatTokens, flat_tokens
from augment_cli.errors import UsageError
from augment_cli.models.claims import tokenizing
from augment_cli.store.files import sha256_of_json
from augment_cli.store.settings import Settings, library_versions
from augment_cli.store.store import Store
from augment_cli.text.spans import offsets_from_lengths
from train.data.order import row_groups

VERSION = 1
SCHEMA = pa.schema([pa.field("row_id", pa.int64(), nullable=False), pa.field("ids", pa.list_(pa.int32()))])


def tokenizer_digest(tokenizer: Any) -> str:
    """SHA-256 of what a fast tokenizer does to a text, truncation and padding left aside."""
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    return sha256_of_json(tokenizer.backend_tokenizer.to_str())


def special_ids(tokenizer: Any) -> tuple[list[int], list[int]]:
    """The ids a tokenizer puts before and after a text, such as those of [CLS] and [SEP]."""
    bare = tokenizer("a", add_special_tokens=False)["input_ids"]
    full = tokenizer("a")["input_ids"]
    at = next(i for i in range(len(full)) if full[i : i + len(bare)] == bare)
    return full[:at], full[at + len(bare) :]


def stage_draws(store: Store, name: str) -> list[str]:
    """A stage and its further independent draws: `una`, then `una.1`, `una.2`, … as far as complete."""
    # Their settings tell, as `una.1` may also be what somebody called another stage.
    if not store.has(name):
        known = ", ".join(stage for stage in store.stages() if "/" not in stage) or "none"
        command = name if name in augmentations.names() else f"AUGMENTATION --name {name}"
        raise UsageError(
            f"{store.path}: has no finished stage {name!r} (it has {known}); make it with "
            f"`augment-cli {command} --store {store.path}`"
        )
    draws = [name]
    while store.has(further := f"{name}.{len(draws)}") and _is_draw(store, name, further, len(draws)):
        draws.append(further)
    return draws


def _is_draw(store: Store, name: str, further: str, number: int) -> bool:
    """Whether a stage was made as another was, as its draw of that number."""
    first, other = (store.stage(one).settings for one in (name, further))
    drawn = other["parameters"].get("draw", other["parameters"].get("number", number))
    return bool(first["stage"] == other["stage"] and drawn == number)


def cache_tokens(store: Store, stage: str, tokenizer: Any, prompt: str = "") -> str:
    """Make the token-id stage of a text stage, unless the store has it, and return its name."""
    # The stage `tokens/<digest>/<stage>` holds `row_id` and `ids`: token ids without special tokens, of the
    # whole text behind the encoder's prompt, null where the text is null. Length limits and special tokens
    # are applied when a batch is made, so that they can change without tokenising again. Another process that
    # is writing to the store is waited for: trainings that start side by side on one store need the same ids.
    digest = tokenizer_digest(tokenizer)
    digest = sha256_of_json([digest, prompt]) if prompt else digest
    name = f"tokens/{digest[:12]}/{stage}"
    settings = Settings(
        stage="tokens",
        version=VERSION,
        inputs={stage: store.stage(stage).digest},
        resources={"tokenizer": digest},
        libraries=library_versions(["tokenizers"]),
        by_part=True,
    )
    if store.has(name) and store.stage(name).settings["fingerprint"] == settings.fingerprint:
        return name
    with store.lock(wait=True):
        store.reload()  # somebody may have written since it was opened
        known = name in store.stages() and store.stage(name).settings["fingerprint"]
        if known and known != settings.fingerprint and not store.continues(name, settings):
            store.remove(name)  # its texts have been made again since
        tokenise = flat_tokens(tokenizer.backend_tokenizer)
        for part in store.begin(name, settings):
            batches = _token_tables(store, stage, part, tokenise, prompt)
            with tokenizing("the encoder"):
                store.commit(store.write_part(name, part, SCHEMA, batches, settings))
    return name


def _token_tables(
    store: Store, stage: str, part: int, tokenise: FlatTokens, prompt: str
) -> Iterator[pa.Table]:
    kind = SCHEMA.field("ids").type
    for group in (group for group in row_groups(store.parts) if group.part == part):
        table = store.read_part(stage, part, ["row_id", "text"], [group.index])
        texts = table["text"].to_pylist()
        is_text = np.array([text is not None for text in texts], bool)
        ids, found = tokenise([prompt + text for text in texts if text is not None])
        lengths = np.zeros(len(texts), np.int64)
        lengths[is_text] = found
        offsets = pa.array(offsets_from_lengths(lengths), pa.int32())
        values = pa.array(ids, kind.value_type)
        column = pa.ListArray.from_arrays(offsets, values, kind, mask=pa.array(~is_text))
        yield pa.table({"row_id": table["row_id"], "ids": column}, SCHEMA)
