"""The fast tokeniser equals NLTK on adversarial strings, however the rows are batched."""

import random
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.tokenization import Tokens, get_tokenizer, treebank
from augment_cli.tokenization.tokens import exact_tokens
from tests.helpers.properties import examples

FAST = get_tokenizer("treebank")

MARKS = list("\"\"''`.,:;?!$*()[]{}<>-«“‘„»”’—")
LETTERS = list("stdmnlrevayi1 ")
PIECES = [
    *("cannot", "gimme", "gonna", "gotta", "lemme", "wanna", "d'ye", "more'n", "'tis", "'twas"),
    *("n't", "'s", "'m", "'d", "'ll", "'re", "'ve", "''", "``", "--", "..", " ", " "),
]
FOREIGN = [
    *("\u00a0", "\t", "\u2028", "\u3000", "\u200b", "\x1f", "\x85", "\n", "\u0301", "²", "٣", "😀", "中"),
    *("É", "ß", "ẞ", "İ", "ı", "ſ", "Σ", "K", "Ⱥ", "'tıs", "twaſ", "gımme"),
]


def adversarial(pieces):
    return st.lists(st.sampled_from(pieces), max_size=14).map("".join)


def rows_of(tokens: Tokens) -> list[list[tuple[str, int, int]]]:
    flat = list(zip(tokens.terms.to_pylist(), tokens.starts.tolist(), tokens.ends.tolist(), strict=True))
    bounds = tokens.row_offsets.tolist()
    return [flat[start:end] for start, end in pairwise(bounds)]


def check(texts):
    assert rows_of(FAST(pa.array(texts, pa.string()))) == [exact_tokens(text) for text in texts]


@examples(400)
@given(st.lists(adversarial(MARKS + LETTERS + PIECES), min_size=1, max_size=8))
def test_equal_on_marks_and_contractions(texts):
    check(texts)


@examples(400)
@given(st.lists(adversarial(MARKS + PIECES + FOREIGN), min_size=1, max_size=8))
def test_equal_on_foreign_characters(texts):
    check(texts)


@examples(200)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), min_size=1, max_size=4))
def test_equal_on_any_text(texts):
    check(texts)


@pytest.mark.parametrize("seed", range(4))
def test_equal_on_few_pieces_again_and_again(seed):
    # Long runs of the same few marks, which strings over a large alphabet seldom hold.
    generator = random.Random(seed)
    texts = []
    for _ in range(150):
        few = generator.sample(MARKS + LETTERS + PIECES + FOREIGN, generator.randint(2, 6))
        texts += ["".join(generator.choices(few, k=generator.randint(1, 12))) for _ in range(10)]
    check(texts)


@examples(100)
@given(adversarial(MARKS + LETTERS + PIECES + FOREIGN))
def test_terms_are_their_source_lower_cased(text):
    end_before = 0
    for term, start, end in rows_of(FAST(pa.array([text])))[0]:
        source = text[start:end]
        assert end_before <= start < end
        assert not text[end_before:start].strip()
        if term in ("``", "''"):
            assert source in ('"', "''", "``")
        elif "Σ" not in source:  # its lower case depends on what stands beside the term
            assert source.lower() == term
        end_before = end
    assert not text[end_before:].strip()


@examples(100)
@given(
    st.lists(adversarial(MARKS + LETTERS + PIECES + FOREIGN), max_size=12),
    st.integers(1, 5),
    st.integers(1, 40),
)
def test_any_split_into_batches_gives_the_same(texts, rows, size):
    whole = rows_of(FAST(pa.array(texts, pa.string())))
    one_by_one = [row for text in texts for row in rows_of(FAST(pa.array([text])))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(treebank, "CHUNK_ROWS", rows)
        patch.setattr(treebank, "CHUNK_BYTES", size)
        in_chunks = rows_of(FAST(pa.array(texts, pa.string())))
    assert whole == one_by_one == in_chunks


def test_equal_with_a_spread_of_characters_beside_every_rule():
    codes = [*range(1, 0x2000, 5), *range(0x2000, 0x2070)]
    codes += [*range(0x2070, 0xD800, 97), *range(0xE000, 0x20000, 97)]
    pattern = "{0}'s '{0} a{0}'s '{0}s {0}cannot can,{0}wanna{0} \"{0}\" don't{0}'{0} .{0}) ,{0}..{0}'"
    check([pattern.format(chr(code)) for code in codes])
