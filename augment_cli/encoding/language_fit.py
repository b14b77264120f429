"""Whether an encoder's vocabulary holds the words of some texts, or only their letters."""

import re
from collections.abc import Sequence
from pathlib import Path

from augment_cli.text.language_guess import language_codes
from augment_cli.tokenization.tokens import WORDS

_LOOKED_AT = 1_000  # texts
_UNKNOWN = 0.05  # of all pieces
# Pieces a word. On English an English vocabulary has 1.0 (flight questions) to 1.6 (biomedical titles), on
# French 1.7, on German 2.3; a multilingual one 1.2 to 1.7 on all of them.
_MOST, _MOST_IN_ANOTHER = 2.0, 1.65
_FEWEST = 0.5  # a table of words leaves out what it does not know


def unknown_language(model: Path, texts: Sequence[str]) -> str:
    """What tells that an encoder does not know the texts' language; empty where it seems to, or is a file."""
    file = model / "tokenizer.json"
    if not file.is_file():
        return ""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    texts = texts[:_LOOKED_AT]
    pieces = [one.tokens for one in tokenizer.encode_batch(texts, add_special_tokens=False)]
    count = sum(map(len, pieces)) or 1
    # A letter of a script without spaces counts as a word; no word has more than a dozen on average.
    words = sum(len(re.findall(WORDS, text)) for text in texts)
    share = count / max(words, sum(letter.isalnum() for text in texts for letter in text) / 12, 1)
    unknown = sum(token in ("[UNK]", "<unk>") for tokens in pieces for token in tokens) / count
    most = _MOST_IN_ANOTHER if language_codes(texts)[:1] not in ([], ["en"]) else _MOST
    if unknown < _UNKNOWN and _FEWEST <= share < most:
        return ""
    shown = max(pieces, key=len)[:8]
    return f"{share:.1f} pieces a word, {unknown:.0%} unknown, such as {' '.join(shown)!r}"
