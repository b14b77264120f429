"""What a sequence model must bring back of the original, and must not invent: the guards on its outputs.

They look at words, not at meaning: names, numbers and rare words come back, other content words come back or
have a word akin to them in their place, no piece is a word that does not exist. A paraphrase that a person
would accept can fail; one that loses or invents something should not pass. The guards on words are for
English, and skip a sentence most of whose words are not.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from augment_cli.contract.reasons import Reason
from augment_cli.english import LISTS
from augment_cli.english.guards.slips import ends_or_begins_otherwise, has_slip, is_garbled
from augment_cli.english.guards.structure import is_restructured, parser
from augment_cli.english.guards.vocabulary import Vocabulary, english, vocabulary_digests
from augment_cli.resources import collocations_digest
from augment_cli.syntax.tree import words
from augment_cli.text.numbers import cardinal, ordinal
from augment_cli.text.untouched import quotations

_WORD = re.compile(r"\d+(?:[.,:/]\d+)*\w*|[^\W\d_]+(?:'[^\W\d_]+)*")
_ABBREVIATION_GAP = re.compile(r"[.!?][\"')\]]*\s+[\"'(\[]*$")
_NEGATED = {"won't": "will", "can't": "can", "cannot": "can", "shan't": "shall", "ain't": "be"} | {
    f"{verb}n't": verb
    for verb in words(
        "are could dare did do does had has have is might must need ought should was were would"
    )
}
_SUFFIXES = {"'ll": "will", "'ve": "have", "'re": "are", "'m": "am", "'d": "'d"}
_NEGATIONS = words("not no never none nobody nothing nowhere neither nor without hardly scarcely")
_MODALS = words("can could may might must shall should will would")
_BE = words("is are was were am be been being")
_VERB_TAGS = words("VB VBZ VBD VBN VBG")
_NOT_INFLECTED = words("JJ RB")
_BEFORE_PARTICIPLE = words("is are was were be been has have had")
_PERSONS = {
    form: forms.split()[0]
    for forms in (
        *("i me my mine myself", "we us our ours ourselves", "you your yours yourself yourselves"),
        *("he him his himself", "she her hers herself", "they them their theirs themselves"),
    )
    for form in forms.split()
}
_FIGURES = {cardinal(number): str(number) for number in (*range(21), *range(30, 100, 10))}
_FIGURES |= {ordinal(number): f"{number}th" for number in (*range(4, 21), *range(30, 100, 10))}
_FIGURES |= {"third": "3rd", "twenty-first": "21st"}
_ORDINALS = frozenset(["first", "second"])  # "second" may be of a minute
# Words and phrases that turn an argument; one of a group may stand for another.
_TURNS = (
    re.compile(r"\b(?:therefore|hence|consequently|accordingly|as a (?:result|consequence))\b"),
    re.compile(r"\bthus\b"),
    re.compile(r"\b(?:however|nevertheless|nonetheless|even so|that said)\b"),
    re.compile(r"\b(?:moreover|furthermore)\b"),
    re.compile(r"(?<!\bas )\b(?:if|whether)\b"),
    re.compile(r"\bunless\b"),
    re.compile(r"\b(?:before|prior)\b"),
)
_PAIRS = tuple(zip("([{“«", ")]}”»", strict=True))
_COUNTED = '()[]{}“”«»„"‘'
_SINGLE_QUOTE = re.compile(r"(?<!\w)['’]|['’](?!\w)")  # an apostrophe has a letter on either side
_NAME = re.compile(r"(?<=[a-z0-9,;:] )[A-Z][\w-]*(?: (?:(?:upon|on|under|sur|de|von|van) )?[A-Z][\w-]*)+")
_VERSION = re.compile(r"\b(([A-Z]\w*)[ -]\d+)\b")  # "Oracle 10" is not "Oracle ten"
_SYMBOL = re.compile(r"[@#$€£°^*+=<>|~/\\&]")
_SHORTEST, _LONGEST = 0.6, 1.7  # words of the output over words of the original
_SLACK = 3  # words that an output may have more or fewer in any case
_ENGLISH_SHARE = 0.7  # of the original's words, for the guards on words
_FUNCTION_SHARE = 0.25  # of function words among them, which English has whatever its rare words


@dataclass(frozen=True)
class Word:
    """A word of a sentence."""

    text: str  # lower-case, without a contracted or genitive ending; numbers from 0 to 20 and tens in figures
    is_capitalised: bool  # written with a capital where that is not due to the sentence's beginning
    is_first: bool  # whether it begins a sentence


def words_of(text: str, known: frozenset[str] = frozenset()) -> list[Word]:
    """The words of a text, contractions written out."""
    words = []
    text = text.replace("’", "'").replace("‘", "'")
    for match in _WORD.finditer(text):
        before = text[: match.start()]
        is_first = not re.search(r"\w", before) or _ABBREVIATION_GAP.search(before) is not None
        written = match.group()
        is_capitalised = written[0].isupper() and not is_first
        pieces = _pieces(written.lower(), known)
        words += [Word(piece, is_capitalised and piece not in _PERSONS, is_first) for piece in pieces]
    return words


def _pieces(word: str, known: frozenset[str]) -> list[str]:
    if word in _NEGATED:
        return [_NEGATED[word], "not"]
    if word.endswith("'s"):
        return [_FIGURES.get(word[:-2], word[:-2])]
    host, mark, _ = word.rpartition("'")
    suffix = word[len(host) :]
    if mark and suffix in _SUFFIXES and (host in LISTS["contracting_hosts"] or word in known):
        return [host, _SUFFIXES[suffix]]
    return [_FIGURES.get(word, word)]


def unfaithful(original: str, output: str, is_english: bool = False) -> str | None:
    """Why an output does not say what the original says, or None where no guard finds anything."""
    # "The two boats left Rome." for "Two boats left Paris.": a name has changed, NAME_OR_NUMBER_CHANGED.
    vocabulary = english()
    known = frozenset(match.lower() for match in _WORD.findall(original.replace("’", "'")))
    before, after = words_of(original), words_of(output, known)
    if not _marks_pair(original, output):
        return Reason.UNPAIRED_MARK
    if quotations(original) != quotations(output):
        return Reason.QUOTATION_CHANGED
    versions = [
        text for text, word in _VERSION.findall(original) if word.lower() not in vocabulary.function_words
    ]
    if _numbers(before) != _numbers(after) or any(text not in output for text in versions):
        return Reason.NAME_OR_NUMBER_CHANGED
    low, high = _SHORTEST * len(before) - _SLACK, _LONGEST * len(before) + _SLACK
    if not low <= len(after) <= high:
        return Reason.ABSURD_LENGTH
    lost, new = _difference(before, after)
    if any(is_garbled(word, lost) for word in new if not vocabulary.knows(word)):
        return Reason.INVENTED_WORD
    letters = [word for word in before if not (word.is_capitalised or word.text[0].isdigit())]
    recognised = sum(vocabulary.knows(word.text) for word in letters)
    plain = sum(word.text in vocabulary.function_words for word in letters)
    is_rare = recognised < _ENGLISH_SHARE * len(letters) and plain < _FUNCTION_SHARE * len(letters)
    if is_rare and not is_english:
        # A title of rare words, or another language: an English word for one that no list has is a loss.
        if any(not vocabulary.knows(word) for word in lost) and any(map(vocabulary.knows, new)):
            return Reason.NAME_OR_NUMBER_CHANGED
        return Reason.BROKEN_GRAMMAR if ends_or_begins_otherwise(original, output) else None
    own = {word.text for word in before} | known | _SUFFIXES.keys()
    come = (word.text for word in after if word.text not in own)
    if not all(word[0].isdigit() or vocabulary.knows(word) for word in come):
        return Reason.INVENTED_WORD
    is_renamed = _names(before, after, vocabulary) != _names(after, before, vocabulary)
    if is_renamed or any(name not in output for name in _NAME.findall(original)):
        return Reason.NAME_OR_NUMBER_CHANGED
    if _count(before, _NEGATIONS) != _count(after, _NEGATIONS):
        return Reason.NEGATION_CHANGED
    if any(phrase in original.lower() and phrase not in output.lower() for phrase in vocabulary.kept_phrases):
        return Reason.WORD_LOST
    if reason := _compare_content(before, after, vocabulary):
        return reason
    if any(len(turn.findall(original.lower())) != len(turn.findall(output.lower())) for turn in _TURNS):
        return Reason.WORD_ADDED
    if _roles(before) != _roles(after) or has_slip(original, output, vocabulary):
        return Reason.BROKEN_GRAMMAR
    return Reason.BROKEN_GRAMMAR if is_restructured(original, output) else None


def guard_digests() -> dict[str, str]:
    """What the guards read, for the fingerprint: word lists, collocations, the pipeline and its spaCy."""
    pipeline = parser()
    return {
        **vocabulary_digests(),
        "collocations": collocations_digest(),
        "pipeline": pipeline.digest,
        **pipeline.library_versions(),
    }


def _marks_pair(original: str, output: str) -> bool:
    """Whether brackets, double quotes and symbols stand in the output as in the original, and pair."""
    if sorted(_SYMBOL.findall(original)) != sorted(_SYMBOL.findall(output)):
        return False
    if any(output.count(mark) != original.count(mark) for mark in _COUNTED):
        return False
    if len(_SINGLE_QUOTE.findall(output)) != len(_SINGLE_QUOTE.findall(original)):
        return False
    for opening, closing in _PAIRS:
        depths = accumulate((mark == opening) - (mark == closing) for mark in output)
        if original.count(opening) == original.count(closing) and min(depths, default=0) < 0:
            return False
    # A mark that opens has no space behind it, one that closes none before it.
    quoted = re.findall(r'"[^"]*"', output) if output.count('"') % 2 == 0 else []
    return not any(map(_is_padded, quoted)) or any(map(_is_padded, re.findall(r'"[^"]*"', original)))


def _is_padded(quotation: str) -> bool:
    return quotation[1:-1].strip() != quotation[1:-1]


def _numbers(words: Sequence[Word]) -> Counter[str]:
    return Counter(word.text for word in words if word.text[0].isdigit() or word.text in _ORDINALS)


def _names(words: Sequence[Word], others: Sequence[Word], vocabulary: Vocabulary) -> Counter[str]:
    """Names and rare words: written with a capital in either text, or not among the common words."""
    written = {word.text for word in (*words, *others) if word.is_capitalised}
    written -= vocabulary.function_words - LISTS["calendar"]
    return Counter(
        word.text
        for word in words
        if word.text in written or not (word.text[0].isdigit() or vocabulary.is_common(word.text))
    )


def _count(words: Sequence[Word], wanted: frozenset[str]) -> int:
    return sum(word.text in wanted for word in words)


def _roles(words: Sequence[Word]) -> Counter[str]:
    """Persons that pronouns stand for, and modal verbs, each with its number."""
    texts = [_PERSONS.get(word.text, word.text) for word in words]
    return Counter(text for text in texts if text in _PERSONS or text in _MODALS)


def _is_participle(word: str, words: Sequence[str]) -> bool:
    """Whether a word stands where only a participle can: behind "be", "have" or an adverb, or before "by"."""
    place = words.index(word)
    before = words[place - 1] if place else ""
    return "by" in words[place + 1 : place + 4] or before in _BEFORE_PARTICIPLE or before.endswith("ly")


def _difference(before: Sequence[Word], after: Sequence[Word]) -> tuple[list[str], list[str]]:
    """The words that only one of two texts has, each as often as it has it more."""
    one, other = (Counter(word.text for word in side) for side in (before, after))
    return list((one - other).elements()), list((other - one).elements())


def _compare_content(before: Sequence[Word], after: Sequence[Word], vocabulary: Vocabulary) -> str | None:
    """Whether every content word of one text has its counterpart in the other, each used once."""
    lost, new = (
        [word for word in side if word not in vocabulary.function_words]
        for side in _difference(before, after)
    )
    before_texts = [word.text for word in before]

    def may_stand_for(new_word: str, lost_word: str) -> bool:
        tags = vocabulary.tags(new_word)
        if "VBD" in tags and "VBN" not in tags and _is_participle(lost_word, before_texts):
            return False  # "began" for "started" in "was started"
        return vocabulary.may_replace(lost_word, new_word)

    has_turned = _count(before, _BE) != _count(after, _BE)  # active and passive

    def is_form_of(new_word: str, lost_word: str) -> bool:
        if not vocabulary.is_inflection(new_word, lost_word):
            return False
        if vocabulary.share_a_form(new_word, lost_word):
            return True
        tags = vocabulary.tags(new_word), vocabulary.tags(lost_word)
        return bool(has_turned and tags[0] & _VERB_TAGS and tags[1] & _VERB_TAGS) or (
            bool(tags[0] & _NOT_INFLECTED) != bool(tags[1] & _NOT_INFLECTED)
        )

    for akin in (is_form_of, may_stand_for):
        for word in list(new):
            partner = next((other for other in lost if akin(word, other)), None)
            if partner is not None:
                new.remove(word)
                lost.remove(partner)
    texts = frozenset(before_texts), frozenset(word.text for word in after)
    # A word that the original has already is said twice, whatever the phrase.
    if any(word in texts[0] or not vocabulary.is_free(word, texts[0]) for word in new):
        return Reason.WORD_ADDED
    if any(not vocabulary.is_free(word, texts[1]) for word in lost):
        return Reason.WORD_LOST
    return None
