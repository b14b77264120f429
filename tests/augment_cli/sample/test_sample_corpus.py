"""The shipped sample corpus holds what its README promises: clean unique lines and every construction."""

import re
import unicodedata
from importlib.resources import files

import pytest

from augment_cli.languages import language_codes

SAMPLE = files("augment_cli") / "sample"
IRREGULAR = "built|made|held|sold|lost|found|taken|written|given|sown|shot|hit|left|told|struck|broken|stolen"
BE = r"(?:is|are|was|were|been|being|be)"
PARTICIPLE = rf"(?:\w+ed|{IRREGULAR})"


NAMES = ("sentences.txt", "sentences.de.txt", "sentences.es.txt", "sentences.fr.txt", "sentences.zh.txt")


def lines_of(name):
    return (SAMPLE / name).read_bytes().decode("utf-8").removesuffix("\n").split("\n")


@pytest.fixture(scope="module")
def sentences():
    return lines_of("sentences.txt")


def test_there_are_enough_sentences_and_the_readme_says_how_many(sentences):
    assert len(sentences) >= 1000
    readme = (SAMPLE / "README.md").read_text(encoding="utf-8")
    assert all(f"{len(lines_of(name)):,} sentences" in readme for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_lines_are_clean_and_all_different(name):
    lines = lines_of(name)
    assert (SAMPLE / name).read_bytes().endswith(b"\n")
    assert len({line.casefold() for line in lines}) == len(lines)
    assert [s for s in lines if not s or s != s.strip() or "  " in s or not s.isprintable()] == []
    assert [s for s in lines if unicodedata.normalize("NFC", s) != s] == []


@pytest.mark.parametrize("name", NAMES[1:])
def test_lines_of_other_languages_are_told_as_such(name):
    assert language_codes(lines_of(name)) == [name.split(".")[1]]


# What the README promises, with the fewest sentences that make a rule worth showing on this corpus.
CONSTRUCTIONS = {
    "question": (r"\?$", 40),
    "exclamation": (r"!$", 15),
    "passive": (rf"\b{BE} {PARTICIPLE}\b", 150),
    "passive with agent": (rf"\b{BE} {PARTICIPLE}\b[^,.;]* by (?:an?|the|[A-Z]|\w+s\b)", 30),
    "restrictive relative clause": (r"\w (?:who|which|that|whose|whom) \w+", 80),
    "non-restrictive relative clause": (r", (?:who|which|whose|whom) ", 40),
    "subordinate clause first": (r"^(?:Because|When|Although|If|While|Since|Until) [^,]+, ", 60),
    "because": (r"(?i)\bbecause\b", 50),
    "when": (r"(?i)\bwhen\b", 40),
    "although": (r"(?i)\balthough\b", 30),
    "if": (r"(?i)\bif\b", 40),
    "while": (r"(?i)\bwhile\b", 20),
    "since": (r"(?i)\bsince\b", 15),
    "until": (r"(?i)\buntil\b", 15),
    "complement clause": (r"\b(?:said|says?|thinks?|believe|claimed|argued|admitted|warned) that\b", 20),
    "negation": (r"(?i)n't\b|\b(?:not|never|no|nobody|none|neither|cannot)\b", 150),
    "contraction": (r"(?i)n't\b|\b(?:I|you|he|she|it|we|they|there|let)['’](?:m|s|re|ve|ll|d)\b", 70),
    "modal": (r"\b(?:can|could|may|might|must|shall|should|will|would)\b", 80),
    "perfect": (rf"\b(?:has|have|had) (?:been|{PARTICIPLE}|never|not)\b", 100),
    "progressive": (r"\b(?:am|is|are|was|were|been) \w+ing\b", 30),
    "there is": (r"(?i)\bthere(?:'s| is| are| was| were)\b", 25),
    "list": (r"\w+, (?:\w+ ){1,4}(?:and|or) |\w+, [^,.;]+, (?:and|or) ", 80),
    "semicolon": (r";", 20),
    "colon": (r"\w: \w", 8),
    "dash": (r" [–—] ", 5),
    "parentheses": (r"\([^)]+\)", 3),
    "straight double quotation marks": (r'"[^"]+"', 10),
    "single quotation marks": (r"(?:^| )['‘][A-Z].*['’]", 4),
    "curly quotation marks": (r"“[^”]+”", 5),
    "digits": (r"\d", 150),
    "year": (r"\b1[0-9]{3}\b|\b20\d\d\b", 60),
    "time of day": (r"\b\d{1,2}:\d{2}\b|\b\d+ [ap]\.m\.", 10),
    "money": (r"[$£€¥]\d|\b(?:euros|francs|dollars)\b", 15),
    "percentage": (r"\d%|per cent", 8),
    "range": (r"\bbetween [\d$][^ ]* and |\d[–-]\d| \d+ to \d+ ", 6),
    "ordinal": (r"\b(?:\d+(?:st|nd|rd|th)|first|second|third|fifth)\b", 30),
    "unit": (r"\d (?:kg|g|km|ml|°C|°F|km/h|km²)(?!\w)|\b(?:kilo)?metres\b", 20),
    "comparative": (r"\b(?:\w+er|more \w+|less \w+) than\b", 40),
    "colour": (r"\b(?:red|green|blue|white|black|yellow|brown|grey)\b", 20),
    "discourse marker": (
        r"(?i)\b(?:however|in addition|for example|for instance|on the other hand|therefore|moreover)\b",
        8,
    ),
    "letter with an accent": (r"[À-ÖØ-öø-ÿ]", 10),
    "abbreviation in capitals": (r"\b(?:[A-Z]{2,}|U\.S\.)", 5),
    "hyphenated word": (r"[a-z]-[a-z]", 10),
    "title without final punctuation": (r"[^.!?\"'”’]$", 8),
}


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_construction_occurs_often_enough(construction, sentences):
    pattern, least = CONSTRUCTIONS[construction]
    assert sum(re.search(pattern, s) is not None for s in sentences) >= least


def test_lengths_run_from_titles_to_long_sentences_but_most_are_ordinary(sentences):
    lengths = [len(s.split()) for s in sentences]
    assert sum(n <= 4 for n in lengths) >= 40
    assert sum(n >= 40 for n in lengths) >= 15
    assert sum(8 <= n <= 25 for n in lengths) > len(lengths) / 2


def test_topics_return_so_that_document_frequencies_differ(sentences):
    words = [set(re.findall(r"[a-z]+", s.lower())) for s in sentences]
    topics = ["river", "bridge", "doctor", "match", "planet", "soup", "software", "train", "court", "music"]
    topics += ["farmer", "rain", "school", "bank", "forest", "king"]
    frequencies = {topic: sum(topic in sentence for sentence in words) for topic in topics}
    assert min(frequencies.values()) >= 2, frequencies
    assert max(frequencies.values()) < len(sentences) / 20, frequencies
