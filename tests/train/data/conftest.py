"""The tiny encoder's tokenizer, and the token ids of two columns of the tiny store."""

import pytest
from transformers import AutoTokenizer

from augment_cli.store.store import Store
from train.data.tokens import cache_tokens, stage_draws


@pytest.fixture(scope="module")
def tokenizer(tiny_encoder):
    return AutoTokenizer.from_pretrained(tiny_encoder)


@pytest.fixture(scope="module")
def stages(tiny_store, tokenizer):
    store = Store.open(tiny_store)
    return {
        name: [cache_tokens(store, draw, tokenizer) for draw in stage_draws(store, name)]
        for name in ("corpus", "una")
    }
