"""The Python interface, for notebooks and scripts; the commands do the same through `Session`."""

from augment_cli.api.answers import generate, llm_paraphrase, read_answers
from augment_cli.api.texts import augment, fit, ingest_corpus, open_store, parse, run
from augment_cli.api.vectors import combine, embed, mine, pack_table, score

__all__ = [
    "augment",
    "combine",
    "embed",
    "fit",
    "generate",
    "ingest_corpus",
    "llm_paraphrase",
    "mine",
    "open_store",
    "pack_table",
    "parse",
    "read_answers",
    "run",
    "score",
]
