"""The digests of a manifest, mended as a careful forger would."""

from __future__ import annotations

from typing import Any

from augment_cli.store.files import sha256_of_json


def sealed(value: Any) -> Any:
    """The same manifest with the fingerprints and the digest that belong to it."""
    stages = value.get("stages")
    for stage in stages.values() if isinstance(stages, dict) else ():
        if not isinstance(stage, dict):
            continue
        earlier = stage.get("earlier")
        for entry in (stage, *(earlier if isinstance(earlier, list) else ())):
            settings = entry.get("settings") if isinstance(entry, dict) else None
            if isinstance(settings, dict):
                settings.pop("fingerprint", None)
                settings["fingerprint"] = sha256_of_json(settings)
    value.pop("sha256", None)
    return value | {"sha256": sha256_of_json(value)}
