"""Words between spaces, in lower case."""

import re

import pyarrow as pa

from augment_cli.tokenization import Tokens, tokens_of_rows


def by_space(texts: pa.Array) -> Tokens:
    return tokens_of_rows(
        [(match[0].lower(), match.start(), match.end()) for match in re.finditer(r"\S+", text)]
        for text in texts.to_pylist()
    )


by_space.version = "1"
