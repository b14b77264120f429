"""How a corpus that is there was read."""

from __future__ import annotations

import dataclasses

from augment_cli.errors import MixError
from augment_cli.ingest.options import IngestOptions
from augment_cli.store.refusals import option_of
from augment_cli.store.store import Store


def stored_options(store: Store) -> IngestOptions:
    """The options that a store's corpus was read with."""
    known = {item.name for item in dataclasses.fields(IngestOptions)}
    stored = store.stage("corpus").settings["parameters"]
    return IngestOptions(**{key: value for key, value in stored.items() if key in known})


def refuse_other_options(store: Store, options: IngestOptions) -> None:
    """See that options, where they are not defaults, are those that a store's corpus was read with."""
    stored, default = store.stage("corpus").settings["parameters"], IngestOptions()
    for key, value in vars(options).items():
        if key in ("positive_columns", "negative_columns"):
            continue  # these make stages of what the corpus kept
        usual = getattr(default, key)
        read_with = stored.get(key, usual)  # what is not in the settings was not chosen
        if key == "keep_columns" and list(options.kept) == read_with:
            continue  # the corpus keeps those of pairs, too
        if value not in (usual, tuple(read_with) if isinstance(read_with, list) else read_with):
            same = option_of(store.stage("corpus").settings, f"parameters.{key}")
            raise MixError(
                f"{store.path / 'corpus'}: made with parameters.{key} = {stored.get(key)!r}, now "
                f"{value!r}; give the same ({same}), or another --store"
            )
