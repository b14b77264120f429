"""What the guards say of fixed pairs: where it changes, the augmentations they guard need another version."""

import re
from collections import Counter
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from augment_cli.augmentations.models.back_translate import BACK_TRANSLATE
from augment_cli.augmentations.models.paraphrase import PARAPHRASE
from augment_cli.contract.reasons import Reason
from augment_cli.english.guards import fidelity
from augment_cli.english.guards.fidelity import unfaithful, words_of
from augment_cli.syntax.tree import words

# The versions, then a line for each pair: the verdict, the verdict on a model that knows English alone, the
# original, the output. The first originals are sentences of the sample corpus, changed by rules; the others
# were written for this file, many after what readers found wrong, or sound, in outputs. A new pair is a line
# of its two texts alone.
GOLDEN = Path(__file__).parent / "golden" / "guards.tsv"
PASSES = "passes"
ADVICE = (
    "raise `version` in paraphrase.py and back_translate.py and name it in CHANGELOG.md as others are, then "
    "write golden/guards.tsv anew with `python -m tests.augment_cli.english.guards.test_guards_version`"
)


def versions():
    return ", ".join(f"{each.name} {each.version}" for each in (PARAPHRASE, BACK_TRANSLATE))


def read(path):
    """The versions, and the two verdicts of each pair; none of a new one."""
    first, *lines = path.read_text(encoding="utf-8").splitlines()
    cells = [line.split("\t") for line in lines]
    return first, {tuple(line[-2:]): line[:-2] for line in cells}


def verdicts(original, output):
    return [fidelity.unfaithful(original, output, is_english) or PASSES for is_english in (False, True)]


def changes(recorded, found):
    return [
        f"{pair[0]} -> {pair[1]}: was {' and '.join(old)}, is {' and '.join(found[pair])}"
        for pair, old in recorded.items()
        if old and old != found[pair]
    ]


def write(path):
    """Write the file anew; another verdict under a version that it names already is refused."""
    named, recorded = read(path)
    found = {pair: verdicts(*pair) for pair in recorded}
    changed = changes(recorded, found)
    if changed and {*named.split(", ")} & {*versions().split(", ")}:
        raise SystemExit("\n".join([f"first {ADVICE}", *changed]))
    lines = ["\t".join([*found[pair], *pair]) for pair in recorded]
    path.write_text("\n".join([versions(), *lines, ""]), encoding="utf-8")


def test_no_verdict_changes_without_another_version():
    named, recorded = read(GOLDEN)
    found = {pair: verdicts(*pair) for pair in recorded}
    changed = changes(recorded, found)
    assert not changed, "\n".join([f"{len(changed)} verdicts are others: {ADVICE}", *changed])
    assert named == versions(), f"the versions are others: {ADVICE}"
    assert all(recorded.values()), f"new pairs: {ADVICE}"


def test_every_reason_that_the_guards_give_occurs():
    source = Path(fidelity.__file__).read_text(encoding="utf-8")
    reasons = {Reason[name] for name in re.findall(r"\bReason\.([A-Z_]+)", source)}
    occurring = {verdict for pair in read(GOLDEN)[1].values() for verdict in pair}
    assert occurring == reasons | {PASSES} and len(reasons) >= 9


def test_a_participle_is_not_replaced_by_a_past_tense():
    original = "The choir, started by Olaf, sings."
    assert unfaithful(original, "The choir, began by Olaf, sings.") == "word_added"
    assert unfaithful("He started the choir.", "He began the choir.") is None
    original = "Remove the wrongly started choir."
    assert unfaithful(original, "Remove the wrongly began choir.") == "word_added"


def test_a_model_of_english_alone_writes_no_words_that_nobody_knows():
    original, output = "Aggregates in Linq foreach", "Aggregates in Linq foreached"
    assert unfaithful(original, output, is_english=True) == "invented_word"
    assert unfaithful("Local table in Oracle 10", "Local table in Oracle ten") == "name_or_number_changed"
    assert unfaithful("In 10 days they began to run.", "In ten days they started to run.") is None


WORDS = words(
    "the old boat left harbour Oslo Marta 1962 not never (quiet) \"money\" they can't isn't of and by was"
)
SENTENCES = st.lists(st.sampled_from(sorted(WORDS)), min_size=1, max_size=10).map(" ".join)


@given(SENTENCES)
def test_a_sentence_is_faithful_to_itself(text):
    assert unfaithful(text, text) is None


@settings(max_examples=25)
@given(SENTENCES, SENTENCES)
def test_numbers_and_names_of_whatever_passes_are_the_originals(original, output):
    if unfaithful(original, output) is None:
        for pattern in (r"\d+", r"\b(?:Oslo|Marta)\b"):
            assert Counter(re.findall(pattern, original)) == Counter(re.findall(pattern, output))
        for mark in '()"':
            assert original.count(mark) == output.count(mark)


@settings(max_examples=25)
@given(st.text(max_size=30), st.text(max_size=30))
def test_no_text_raises(original, output):
    unfaithful(original, output)


def test_contractions_numbers_and_genitives_are_read_as_words():
    texts = [word.text for word in words_of("Olaf's 3 boats won't sink; they're on the twelfth pier.")]
    assert texts == ["olaf", "3", "boats", "will", "not", "sink", "they", "are", "on", "the", "12th", "pier"]


if __name__ == "__main__":
    write(GOLDEN)
