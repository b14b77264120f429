"""Options that several commands share, each defined once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Store = Annotated[Path, typer.Option("--store", help="folder of the store")]
Json = Annotated[bool, typer.Option("--json", help="print JSON on stdout")]
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", min=1, help="worker processes; one for each core by default", show_default=False),
]
Corpus = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus",
        help="file, folder or glob of .txt, .jsonl, .csv, .tsv, .parquet (also .gz, .zst), or - for standard "
        "input; may be given more than once. By default the store's own corpus, else the shipped sample",
        show_default=False,
    ),
]
TextColumn = Annotated[
    str | None, typer.Option("--text-column", help="field of structured input [default: text]")
]
IdColumn = Annotated[str | None, typer.Option("--id-column", help="field to keep as the rows' own id")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="read the first N sentences only")]
MaxCharacters = Annotated[int, typer.Option("--max-characters", min=1, help="longer lines are set aside")]
PartRows = Annotated[int, typer.Option("--part-rows", min=1, help="rows a part, in every stage")]
Format = Annotated[
    str | None, typer.Option("--format", help="text, jsonl, csv, tsv or parquet, whatever the file's ending")
]
Quoting = Annotated[
    bool, typer.Option("--quoting/--no-quoting", help='whether csv and tsv fields may be quoted with "')
]
SplitSentences = Annotated[
    bool, typer.Option("--split-sentences", help="cut each text into sentences, one row each")
]
Deduplicate = Annotated[
    bool, typer.Option("--deduplicate", help="keep the first of equal texts, count the others as duplicates")
]
MaxRejects = Annotated[
    float, typer.Option("--max-rejects", min=0, max=1, help="share of lines that may be set aside")
]
Strict = Annotated[bool, typer.Option("--strict", help="stop at the first bad line")]
Backend = Annotated[
    str, typer.Option("--backend", help="where parts are made: loky (processes), threading, or dask")
]
Scheduler = Annotated[
    str | None, typer.Option("--scheduler", help="address of the Dask scheduler, such as tcp://head:8786")
]
Parts = Annotated[
    str | None,
    typer.Option(
        "--parts",
        help="make these parts only, such as 0-9,12; several such commands may run in one store at once",
    ),
]
SpacyPipeline = Annotated[
    str | None,
    typer.Option(
        "--pipeline",
        help="spaCy pipeline that parses: an installed one, such as en_core_web_sm, or a folder "
        "[default: the shipped English one]",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="print what would be done, and stop")]

DEFAULT_STORE = Path("store")
