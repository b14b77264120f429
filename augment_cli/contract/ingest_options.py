"""How a corpus is read. Loads nothing heavy, as every command that reads a corpus has these options."""

import codecs
from dataclasses import dataclass

from augment_cli.contract.parameters import check_parameters, parameter, several
from augment_cli.errors import UsageError

FORMATS = ("text", "jsonl", "csv", "tsv", "parquet")
DEDUPLICATE = ("exact", "near")
LINE_BREAKS = ("join", "keep", "reject")
_MOST = 2**31 - 1  # of rows a part, sentences, characters a line: positions in a part are of 32 bits


@dataclass(frozen=True)
class IngestOptions:
    """How to read a corpus.

    Notes
    -----
    `deduplicate` is also True, for `exact`, and False. It takes some 100 bytes of memory for each different
    text. Equal texts go to the rejects as `duplicate`, nearly equal ones as `near_duplicate` with the row_id
    that each repeats (`augment_cli.ingest.checks`).
    """

    text_column: str | None = parameter(None, "field of structured input [default: text]")
    id_column: str | None = parameter(None, "field to keep as the rows' own id")
    limit: int | None = parameter(None, "read the first N sentences only", minimum=1, maximum=_MOST)
    max_characters: int = parameter(5_000, "longer lines are set aside", minimum=1, maximum=_MOST)
    part_rows: int = parameter(50_000, "rows a part, in every stage", minimum=1, maximum=_MOST)
    format: str | None = parameter(None, "of the input, whatever the file's ending", choices=FORMATS)
    quoting: bool = parameter(True, 'whether csv and tsv fields may be quoted with "')
    split_sentences: bool = parameter(False, "cut each text into sentences, one row each")
    deduplicate: bool | str = parameter(
        False,
        "keep the first of equal texts, count the others as duplicates: exact (also with no value), or near "
        "(of nearly equal ones, too)",
        choices=DEDUPLICATE,
    )
    near_similarity: float = parameter(
        0.8, "of near duplicates: least share of 4-grams that they have in common", above=0, maximum=1
    )
    keep_columns: tuple[str, ...] = parameter(
        (), "further field to keep in the corpus, such as label; repeatable", option="keep_column"
    )
    encoding: str = parameter("utf-8", "of text, jsonl, csv and tsv, such as latin-1, cp1252 or utf-16")
    separator: str | None = parameter(
        None, "between the fields of csv and tsv, such as ; or tab [default: as in the header]"
    )
    line_breaks: str = parameter(
        "join", "inside a field: made one space, kept, or a reason to set the row aside", choices=LINE_BREAKS
    )
    positive_columns: tuple[str, ...] = parameter(
        (),
        "field with a positive of the text: becomes a stage of its name; repeatable",
        option="positive_column",
    )
    negative_columns: tuple[str, ...] = parameter(
        (),
        "field with a negative of the text: becomes a stage of its name; repeatable",
        option="negative_column",
    )

    @property
    def kept(self) -> tuple[str, ...]:
        """Fields that the corpus keeps beside text and id: those of pairs after the others."""
        return (*self.keep_columns, *self.positive_columns, *self.negative_columns)

    def __post_init__(self) -> None:
        if self.deduplicate == "exact":
            object.__setattr__(self, "deduplicate", True)
        for key in ("keep_columns", "positive_columns", "negative_columns"):
            object.__setattr__(self, key, several(getattr(self, key)))
        check_parameters(self)
        self._check_kept()
        object.__setattr__(self, "encoding", _encoding(self.encoding))
        if self.separator is not None:
            object.__setattr__(self, "separator", _separator(self.separator))

    def _check_kept(self) -> None:
        if not self.kept:
            return
        from augment_cli.store.parquet import CORPUS_WITH_ID  # loads Arrow

        for kind in ("keep", "positive", "negative"):
            for name in getattr(self, f"{kind}_columns"):
                if name in CORPUS_WITH_ID.names or self.kept.count(name) > 1:
                    advice = "leave it out, or rename the field in the input"
                    if name == "id" and kind == "keep":
                        advice = "name the field with --id-column id, and it is that column"
                    raise UsageError(
                        f"--{kind}-column {name}: the corpus has a column of this name already; {advice}"
                    )
        costs = {"deduplicate": "drops pairs whose anchor repeats", "split_sentences": "cuts anchors"}
        for key, what in costs.items():
            if (self.positive_columns or self.negative_columns) and getattr(self, key):
                raise UsageError(
                    f"--{key.replace('_', '-')}: {what}; leave it out with --positive-column and "
                    "--negative-column"
                )


def _separator(name: str) -> str:
    """The one character that a separator is, by itself or by its name."""
    character = {"tab": "\t", "\\t": "\t"}.get(name, name)
    if len(character) != 1 or character in '"\r\n\0':
        raise UsageError(f"--separator {name}: give one character, such as ';', ',' or '|', or tab")
    return character


def _encoding(name: str) -> str:
    """Python's name of a text encoding that a file can be decoded with piece by piece."""
    try:
        known = codecs.lookup(name)
        if not known._is_text_encoding or known.incrementaldecoder is None:
            raise LookupError
        known.incrementaldecoder("surrogateescape").decode(b"", True)  # idna and punycode cannot
    except (LookupError, ValueError):
        raise UsageError(
            f"--encoding {name}: not a known text encoding; try latin-1, cp1252, utf-16 or gb18030"
        ) from None
    return known.name


@dataclass(frozen=True)
class Tolerance:
    """Which lines a corpus may have beside its sentences."""

    max_rejects: float = parameter(0.01, "share of lines that may be set aside", minimum=0, maximum=1)
    strict: bool = parameter(False, "stop at the first bad line")

    def __post_init__(self) -> None:
        check_parameters(self)
