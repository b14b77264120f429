"""How much a manifest may name: far more than any honest store, and no more than a report gets through."""

import json

import pytest

from augment_cli.errors import BadInputError
from augment_cli.store import manifest as manifest_module
from augment_cli.store.manifest import MOST_STAGES
from augment_cli.store.store import Store
from tests.helpers.sealing import sealed


def with_stages(store, count):
    manifest = json.loads((store.path / "manifest.json").read_text())
    for number in range(len(manifest["stages"]), count):
        manifest["stages"][f"una-{number}"] = manifest["stages"]["una"]
    (store.path / "manifest.json").write_text(json.dumps(sealed(manifest)))


def test_a_manifest_of_too_many_stages_is_refused_in_one_line(store):
    with_stages(store, MOST_STAGES)
    assert len(Store.open(store.path).stages()) == MOST_STAGES
    with_stages(store, MOST_STAGES + 1)
    with pytest.raises(BadInputError, match="it has 2,001 stages, and a store has at most 2,000") as raised:
        Store.open(store.path)
    assert "\n" not in str(raised.value)


def test_a_manifest_of_too_many_parts_is_refused_in_one_line(store, monkeypatch):
    parts = sum(len(store.stage(name).parts) for name in store.stages())
    monkeypatch.setattr(manifest_module, "MOST_PARTS", parts)
    Store.open(store.path)
    monkeypatch.setattr(manifest_module, "MOST_PARTS", parts - 1)
    with pytest.raises(BadInputError, match=f"it has {parts} parts, and a store has at most {parts - 1}"):
        Store.open(store.path)
