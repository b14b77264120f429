"""In which languages texts look to be, by scripts and the most frequent words: for people, and for cards."""

from collections import Counter
from collections.abc import Sequence

import regex

_LOOKED_AT = 1_000  # texts
_TOLD = 0.2  # of the texts, from which a language is theirs
_UNKNOWN = "unknown"
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


def shares_of_languages(texts: Sequence[str]) -> dict[str, float]:
    """Shares of languages among the first texts, the most frequent three."""
    counts = Counter(map(_language, texts[:_LOOKED_AT]))
    return {name: number / counts.total() for name, number in counts.most_common(3)}


def language_codes(texts: Sequence[str]) -> list[str]:
    """ISO codes of the languages of a fifth of the texts, the most frequent first; keywords tell none."""
    shares = shares_of_languages(texts)
    return [_CODES[name] for name, share in shares.items() if name in _CODES and share >= _TOLD]


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
    return name if hits else _UNKNOWN
