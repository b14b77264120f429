"""Every command but those of augmentations: its operation, and the options that it has beside.

The options, their help and the examples are declared in `augment_cli/api/`; what a command does and prints is
in `actions.py`. The help lists the commands in the order of this file.
"""

from __future__ import annotations

from augment_cli import api
from augment_cli.cli import options
from augment_cli.cli.command import add
from augment_cli.cli.options import switch, valued

add(api.adapt, [options.JSON, options.QUIET])

add(api.look, [options.JSON])
add(api.inspect, [options.STORE, options.JSON])
add(api.stats, [options.STORE, options.JSON])
add(
    api.status,
    [switch("settings", "also the parts and all settings, digests among them"), options.STORE, options.JSON],
)
add(api.list_augmentations, [switch("recipes", "the recipes of `augment-cli run`"), options.JSON])
add(api.report, [options.STORE, options.JSON])
add(api.verify, [options.STORE, options.JSON])
add(api.judge, [options.STORE, options.JSON])

add(api.ingest_corpus, [options.STORE, options.JSON, options.QUIET])
add(api.fit)
add(api.parse)
add(
    api.run_recipe,
    [
        options.STORE,
        *options.WORKERS,
        options.DRY_RUN,
        valued("report", str | None, "write the page of `augment-cli report` there"),
        switch("behind", "make all that is behind since files were appended, no recipe"),
        options.JSON,
        options.QUIET,
    ],
)
add(api.embed)
add(api.combine)
add(api.score)
add(api.mine)
_SAMPLE = valued(
    "sample",
    int,
    "ask at most this many, keep their answers, say how long the rest takes, and stop; 0: ask all",
    0,
    min=0,
)
add(api.generate, [options.DRY_RUN, _SAMPLE], looks_ahead=True)
add(api.llm_paraphrase, [options.DRY_RUN, _SAMPLE], looks_ahead=True)
add(api.read_answers)

add(api.convert_weights)
add(api.remove, [options.STORE])
add(
    api.pack_table,
    [
        valued("out", str | None, "write the rows to this .csv or .jsonl file too"),
        valued(
            "beir",
            str | None,
            "with --split: write the held-out pairs to this folder too, as a retrieval set in BEIR's layout, "
            "each positive a query",
        ),
        valued("recipe", str | None, "TOML file with a [pack] table instead of these options"),
        options.STORE,
        *options.WORKERS,
        switch("dry_run", "say how many rows each filter costs, and stop"),
        options.JSON,
        options.QUIET,
    ],
)
add(api.card, [options.STORE], {"title": None, "license_name": None})
add(api.doctor, [options.STORE, options.JSON])

add(api.publish, [options.QUIET, options.JSON])
add(api.fetch, [options.QUIET, options.JSON])
