"""Tokenisers outside the package, for the tests of the plug-in point."""

import pyarrow as pa

from augment_cli.tokenization import Tokens, tokens_of_rows


class ByBar:
    version = "7"

    def __call__(self, texts: pa.Array) -> Tokens:
        rows = []
        for text in texts.to_pylist():
            row, start = [], 0
            for term in text.split("|"):
                row.append((term.lower(), start, start + len(term)))
                start += len(term) + 1
            rows.append(row)
        return tokens_of_rows(rows)


by_bar = ByBar()


def unversioned(texts: pa.Array) -> Tokens:
    return by_bar(texts)


def returns_list(texts: pa.Array) -> list:
    return texts.to_pylist()


def loses_a_row(texts: pa.Array) -> Tokens:
    return by_bar(texts.slice(1))


def counts_bytes(texts: pa.Array) -> Tokens:
    rows = []
    for text in texts.to_pylist():
        term, _, rest = text.partition("|")
        middle = len(term.encode())
        rows.append([(term, 0, middle), (rest, middle + 1, middle + 1 + len(rest.encode()))])
    return tokens_of_rows(rows)


def overlaps(texts: pa.Array) -> Tokens:
    return tokens_of_rows(
        [(text, 0, len(text)), (text[-1:], len(text) - 1, len(text))] for text in texts.to_pylist()
    )


returns_list.version = counts_bytes.version = overlaps.version = "1"  # type: ignore[attr-defined]
returns_list.version = loses_a_row.version = "1"  # type: ignore[attr-defined]
