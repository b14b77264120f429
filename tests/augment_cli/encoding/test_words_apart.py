"""Tokens word by word are the tokens of whole texts."""

from itertools import chain, product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from augment_cli.encoding.words_apart import PlainWords, WordTokens, keeps_words_apart

VOCABULARY = ["[UNK]", "[PAD]", *"abcxyz.,-!", "##a", "##b", "##c", "ab", "##ab", "中", "é", "e"]


def make_tokenizer():
    tokenizer = Tokenizer(
        models.WordPiece({word: number for number, word in enumerate(VOCABULARY)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.BertNormalizer(lowercase=True),
            normalizers.Replace(Regex(r"[^\s\x{21}-\x{7e}中]"), " "),
            normalizers.Replace(Regex(r"\w{101,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens([AddedToken("[PAD]", special=True)])
    return tokenizer


def are_those_of_texts(found, tokenizer, texts):
    expected = [item.ids for item in tokenizer.encode_batch(texts, add_special_tokens=False)]
    ids, lengths = found
    assert lengths.tolist() == list(map(len, expected))
    return ids.tolist() == list(chain.from_iterable(expected))


TOKENIZER = make_tokenizer()
PIECES = [*"abcxyzABC.,-!#09[] \t\n\r\x1c\x85\u00a0\u2028\u0301\u200b中éñΣ", "[PAD]", "a" * 60]
TEXTS = st.lists(st.sampled_from(PIECES)).map("".join)


@given(st.lists(st.lists(TEXTS, max_size=6), min_size=1, max_size=4), st.sampled_from([0, 3, 1000]))
@example([["a b", "", "  a  ", "[PAD]a", "a\tb c", "A\u0301 \u0301a"], ["a b", "中a b"]], 4)
def test_tokens_of_words_are_those_of_texts(batches, room):
    tokens = WordTokens(TOKENIZER, room)
    for texts in batches:  # one after the other, as words of earlier ones are kept
        assert are_those_of_texts(tokens(texts), TOKENIZER, texts)


@pytest.mark.parametrize(
    ("normalizer", "is_plain"),
    [
        (None, True),
        (normalizers.BertNormalizer(lowercase=False), True),
        (normalizers.BertNormalizer(lowercase=True), True),
        (normalizers.Replace(Regex(r"[^\s\x{41}-\x{7e}]"), " "), False),  # without digits
    ],
)
def test_plain_words_are_those_that_the_normalizer_leaves_alone(normalizer, is_plain):
    tokenizer = make_tokenizer()
    tokenizer.normalizer = normalizer
    tokens = WordTokens(tokenizer)
    assert PlainWords.fits(tokenizer) == (tokens._plain is not None) == is_plain
    texts = ["ab ABx a-b, 0a9 ##a", "a" * 101 + " [pad]b [PAD]a", *["a b c"] * 3]
    assert are_those_of_texts(tokens(texts), tokenizer, texts)


def test_hundreds_of_plain_words_at_a_call():
    words = ["".join(letters) for letters in product("abcxy-", repeat=4)]
    texts = [" ".join(words), words[5]]
    assert are_those_of_texts(WordTokens(TOKENIZER)(texts), TOKENIZER, texts)


def replacing(pattern, content=" "):
    return lambda one: setattr(one, "normalizer", normalizers.Replace(pattern, content))


@pytest.mark.parametrize(
    "change",
    [
        lambda one: setattr(one, "pre_tokenizer", pre_tokenizers.Metaspace()),
        lambda one: setattr(one, "pre_tokenizer", pre_tokenizers.ByteLevel()),
        lambda one: setattr(one, "pre_tokenizer", None),
        lambda one: setattr(one, "model", models.BPE()),
        lambda one: setattr(one, "normalizer", normalizers.Prepend("a")),
        lambda one: one.add_tokens(["a b"]),
        replacing(" a"),
        replacing(Regex(r"[^\s]x?[ ]")),
        replacing(Regex(r"\w{101,}"), ""),
    ],
)
def test_other_tokenizers_are_left_alone(change):
    tokenizer = make_tokenizer()
    assert keeps_words_apart(tokenizer)
    change(tokenizer)
    assert not keeps_words_apart(tokenizer)


def test_no_more_words_are_kept_than_there_is_room_for():
    tokens = WordTokens(TOKENIZER, room=2)
    tokens(["é 中 a"])  # plain words are never kept
    tokens(["ñ b éx é"])
    assert sorted(tokens._numbers) == ["é", "中"]
