"""Hard sentences: the terms written out here, NLTK, and both tokenisers must agree, offsets too."""

import pyarrow as pa
import pytest
from nltk.tokenize import word_tokenize

from augment_cli.tokenization import Tokens, get_tokenizer

# Terms are separated by single spaces, so the text of a case is short to write.
GOLDEN = {
    # Contractions.
    "I cannot go": "i can not go",
    "Cannot-do; un-cannot!": "can not -do ; un- can not !",
    "Gimme that, lemme see": "gim me that , lem me see",
    "gonna gotta wanna go": "gon na got ta wan na go",
    "wanna-be, wannabe": "wanna-be , wannabe",
    "D'ye want more'n that?": "d 'ye want more 'n that ?",
    "'Tis late; 'twas later": "' tis late ; ' twas later",
    "Cannot'tis": "can not 't is",
    "can't won't ain't": "ca n't wo n't ai n't",
    "It's they'll I'd we've you're I'm": "it 's they 'll i 'd we 've you 're i 'm",
    "the dogs' bowls": "the dogs ' bowls",
    "rock 'n' roll": "rock 'n ' roll",
    "the '80s and 'em": "the ' 80s and ' em",
    "shouldn't've": "shouldn't 've",
    "x's' )x's')": "x 's ' ) x's ' )",
    "O'Brien's o'clock": "o'brien 's o'clock",
    # Quotes.
    '"Hello," she said.': "`` hello , '' she said .",
    'He said "hi".': "he said `` hi '' .",
    'a "b" ("c") ["d"] <"e"> {"f"}': "a `` b '' ( `` c '' ) [ `` d '' ] < `` e '' > { `` f '' }",
    "''so'' (''what'')": "'' so '' ( `` what '' )",
    " ''x''": "`` x ''",
    '""x""': "`` `` x '' ''",
    "``a'' `b' ```c": "`` a '' ` b ' `` ` c",
    "“a” ‘b’ „c“ «d» it’s": "“ a ” ‘ b ’ „ c “ « d » it ’ s",
    '“"a"': "“ `` a ''",
    "'''x''' a''''b": "'' ' x '' ' a '' '' b",
    # Periods, commas, colons, dashes.
    "Wait... what.. no.": "wait ... what .. no .",
    "The U.S., e.g. N.Y.": "the u.s. , e.g. n.y .",
    "The end.)": "the end . )",
    'The "end."': "the `` end . ''",
    'The end. "': "the end. ``",
    "The end.'": "the end . '",
    "(The end).": "( the end ) .",
    "The end.”": "the end . ”",
    "Etc. .": "etc. .",
    ".": ".",
    ".)": ". )",
    "1,000.50 at 3:45, 4:x": "1,000.50 at 3:45 , 4 : x",
    "a,,b ,,,c :::": "a , ,b , , , c : : :",
    "5,6,7, 8": "5,6,7 , 8",
    "a--b ---c - d–e—f": "a -- b -- -c - d – e — f",
    "$5 & 50% #1 me@x.org a*b": "$ 5 & 50 % # 1 me @ x.org a * b",
    "Really?! [sic] {x} <y>": "really ? ! [ sic ] { x } < y >",
    "See https://a.org/b?c=d&e, ok": "see https : //a.org/b ? c=d & e , ok",
    # Other scripts and characters.
    "I ❤️ it 😀!": "i ❤️ it 😀 !",
    "Cafe\u0301's nai\u0308ve": "cafe\u0301 's nai\u0308ve",
    "cannot\u0301 'n\u0301": "can not \u0301 ' n\u0301",
    "İstanbul'da Iğdır": "i\u0307stanbul'da iğdır",
    "İcannot": "i\u0307 can not",
    "gımme 'ſ aſ's": "gım me 'ſ aſ 's",
    "ΟΔΟΣ ΣΑΣ Σ.": "οδος σας σ .",
    "İ ΟΔΟΣ.": "i\u0307 οδος .",
    "Ⱥ Kelvin Å ẞ": "ⱥ kelvin å ß",
    "我喜欢它。他说：“好。”": "我喜欢它。他说： “ 好。 ”",
    "x²'s ٣:٤ a:٤ ٤,x": "x² 's ٣:٤ a:٤ ٤ , x",
    # White space.
    "a\tb\u00a0c\u2028d\u3000e": "a b c d e",
    "\u00a0\"a\" \u00a0'b' .\u00a0": "'' a '' ' b ' .",
    "a. \u00a0)": "a. )",
    "a. )\u00a0": "a . )",
    "x's'\u00a0y": "x's ' y",
    "  a  b  ": "a b",
    "\u200ba": "\u200ba",
}


def triples(tokens: Tokens, row: int = 0) -> list[tuple[str, int, int]]:
    here = slice(tokens.row_offsets[row], tokens.row_offsets[row + 1])
    terms = tokens.terms[here.start : here.stop].to_pylist()
    return list(zip(terms, tokens.starts[here].tolist(), tokens.ends[here].tolist(), strict=True))


@pytest.mark.parametrize("name", ["treebank", "nltk"])
@pytest.mark.parametrize("text", GOLDEN)
def test_terms_are_those_written_here(name, text):
    tokens = get_tokenizer(name)(pa.array([text]))
    assert tokens.terms.to_pylist() == GOLDEN[text].split(" ")
    assert word_tokenize(text.lower(), preserve_line=True) == GOLDEN[text].split(" ")


def test_offsets_are_the_same_and_point_into_the_original():
    texts = pa.array(list(GOLDEN))
    fast, exact = get_tokenizer("treebank")(texts), get_tokenizer("nltk")(texts)
    for row, text in enumerate(GOLDEN):
        assert triples(fast, row) == triples(exact, row)
        for term, start, end in triples(fast, row):
            source = text[start:end]
            assert source.lower() == term or (term in ("``", "''") and source in ('"', "''"))


@pytest.mark.parametrize("name", ["treebank", "nltk"])
def test_offsets_count_code_points_of_the_original(name):
    # The emoji is one code point, the dotted capital I one that becomes two.
    tokens = get_tokenizer(name)(pa.array(['😀 "İx" can\'t']))
    assert triples(tokens) == [
        ("😀", 0, 1),
        ("``", 2, 3),
        ("i\u0307x", 3, 5),
        ("''", 5, 6),
        ("ca", 7, 9),
        ("n't", 9, 12),
    ]


@pytest.mark.parametrize("name", ["treebank", "nltk"])
def test_rows_without_tokens_and_batches_without_rows(name):
    tokenizer = get_tokenizer(name)
    tokens = tokenizer(pa.array(["", "a b", " \u3000\t", "c", "\u2028"]))
    assert tokens.row_offsets.tolist() == [0, 0, 2, 2, 3, 3]
    assert tokens.terms.to_pylist() == ["a", "b", "c"]
    nothing = tokenizer(pa.array([], pa.string()))
    assert nothing.row_offsets.tolist() == [0]
    assert len(nothing.terms) == len(nothing.starts) == len(nothing.ends) == 0
    assert tokenizer(pa.array(["", ""])).row_offsets.tolist() == [0, 0, 0]


@pytest.mark.parametrize("name", ["treebank", "nltk"])
def test_dtypes(name):
    tokens = get_tokenizer(name)(pa.array(["a b."]))
    assert tokens.row_offsets.dtype == "int64"
    assert tokens.starts.dtype == tokens.ends.dtype == "int32"
    assert tokens.terms.type in (pa.string(), pa.large_string())


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_any_string_type_and_a_slice(kind):
    tokens = get_tokenizer("treebank")(pa.array(["x", "a b.", 'é "y"', "z"], kind).slice(1, 2))
    assert tokens.terms.to_pylist() == ["a", "b", ".", "é", "``", "y", "''"]
    assert tokens.starts.tolist() == [0, 2, 3, 0, 2, 3, 4]


def test_a_null_is_refused():
    with pytest.raises(ValueError, match="1 nulls"):
        get_tokenizer("treebank")(pa.array(["a", None]))


def test_rows_left_to_nltk_are_put_back_in_their_place():
    odd = ["a\x1fb's", 'Ⱥ "x"', "\n", "it's\n.", "İ ΟΔΟΣ", "a." + " )" * 100]
    texts = pa.array([text for row in odd for text in ("It's one.", row, 'é "2"')] * 3)
    fast, exact = get_tokenizer("treebank")(texts), get_tokenizer("nltk")(texts)
    for row in range(len(texts)):
        assert triples(fast, row) == triples(exact, row)
