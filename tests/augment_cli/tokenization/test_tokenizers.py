"""Tokenisers: hard sentences, real ones and adversarial strings against NLTK; by name, and plugged in."""

import gzip
import random
from itertools import islice, pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize import word_tokenize

from augment_cli.errors import UsageError
from augment_cli.store.store import Store
from augment_cli.tokenization import Tokens, get_tokenizer, treebank
from augment_cli.tokenization.tokens import exact_tokens
from tests.helpers.places import REPOSITORY
from tests.helpers.properties import examples

# Terms are separated by single spaces, so the text of a case is short to write.
GOLDEN = {
    # Contractions.
    "I cannot go": "i can not go",
    "Cannot-do; un-cannot!": "can not -do ; un- can not !",
    "Gimme that, lemme see": "gim me that , lem me see",
    "wanna-be, wannabe": "wanna-be , wannabe",
    "D'ye want more'n that?": "d 'ye want more 'n that ?",
    "'Tis late; 'twas later": "' tis late ; ' twas later",
    "Cannot'tis": "can not 't is",
    "can't won't ain't": "ca n't wo n't ai n't",
    "the dogs' bowls": "the dogs ' bowls",
    "the '80s and 'em": "the ' 80s and ' em",
    "shouldn't've": "shouldn't 've",
    "x's' )x's')": "x 's ' ) x's ' )",
    # Quotes.
    '"Hello," she said.': "`` hello , '' she said .",
    'a "b" ("c") ["d"] <"e"> {"f"}': "a `` b '' ( `` c '' ) [ `` d '' ] < `` e '' > { `` f '' }",
    "''so'' (''what'')": "'' so '' ( `` what '' )",
    " ''x''": "`` x ''",
    '""x""': "`` `` x '' ''",
    "``a'' `b' ```c": "`` a '' ` b ' `` ` c",
    "“a” ‘b’ „c“ «d» it’s": "“ a ” ‘ b ’ „ c “ « d » it ’ s",
    "'''x''' a''''b": "'' ' x '' ' a '' '' b",
    # Periods, commas, colons, dashes.
    "Wait... what.. no.": "wait ... what .. no .",
    "The U.S., e.g. N.Y.": "the u.s. , e.g. n.y .",
    'The "end."': "the `` end . ''",
    'The end. "': "the end. ``",
    "The end.'": "the end . '",
    "The end.”": "the end . ”",
    ".": ".",
    ".)": ". )",
    "1,000.50 at 3:45, 4:x": "1,000.50 at 3:45 , 4 : x",
    "a,,b ,,,c :::": "a , ,b , , , c : : :",
    "a--b ---c - d–e—f": "a -- b -- -c - d – e — f",
    "$5 & 50% #1 me@x.org a*b": "$ 5 & 50 % # 1 me @ x.org a * b",
    "See https://a.org/b?c=d&e, ok": "see https : //a.org/b ? c=d & e , ok",
    # Other scripts and characters.
    "I ❤️ it 😀!": "i ❤️ it 😀 !",
    "Cafe\u0301's nai\u0308ve": "cafe\u0301 's nai\u0308ve",
    "cannot\u0301 'n\u0301": "can not \u0301 ' n\u0301",
    "İstanbul'da Iğdır": "i\u0307stanbul'da iğdır",
    "İcannot": "i\u0307 can not",
    "gımme 'ſ aſ's": "gım me 'ſ aſ 's",
    "ΟΔΟΣ ΣΑΣ Σ.": "οδος σας σ .",
    "Ⱥ Kelvin Å ẞ": "ⱥ kelvin å ß",
    "我喜欢它。他说：“好。”": "我喜欢它。他说： “ 好。 ”",
    "x²'s ٣:٤ a:٤ ٤,x": "x² 's ٣:٤ a:٤ ٤ , x",
    # White space.
    "a\tb\u00a0c\u2028d\u3000e": "a b c d e",
    "\u00a0\"a\" \u00a0'b' .\u00a0": "'' a '' ' b ' .",
    "a. \u00a0)": "a. )",
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


def read(path, start, count):
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        return pa.array([line.rstrip("\n") for line in islice(lines, start, start + count)], pa.string())


def share_identical(texts) -> float:
    rows = []
    for tokens in (get_tokenizer("treebank")(texts), get_tokenizer("nltk")(texts)):
        flat = list(zip(tokens.terms.to_pylist(), tokens.starts.tolist(), tokens.ends.tolist(), strict=True))
        rows.append([flat[start:end] for start, end in pairwise(tokens.row_offsets.tolist())])
    return float(np.mean([ours == theirs for ours, theirs in zip(*rows, strict=True)]))


WIKIPEDIA = [(f"wiki_en-{part:02d}", 7000 * part, 20_000) for part in range(10)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "first", "count"),
    [*WIKIPEDIA, *((name, 0, 10_000) for name in ("books_en", "zh_wiki", "zh_wiki_short", "zh_simclue"))],
)
def test_real_sentences(data_folder, name, first, count):
    texts = read(data_folder / "corpus" / f"{name}.txt.gz", first, count)
    assert len(texts) == count
    assert share_identical(texts) >= 0.9999


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


@pytest.mark.parametrize(
    "name", ["tests.helpers.plugin_tokenizers:by_bar", "tests.helpers.plugin_tokenizers:ByBar"]
)
def test_a_plugin_is_called(name):
    tokenizer = get_tokenizer(name)
    assert (tokenizer.name, tokenizer.version) == (name, "7")
    tokens = tokenizer(pa.array(["A b|c", "", "D"]))
    assert tokens.terms.to_pylist() == ["a b", "c", "", "d"]
    assert tokens.row_offsets.tolist() == [0, 2, 3, 4]
    assert tokens.starts.tolist() == [0, 4, 0, 0]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("spacy", r"'spacy'.*treebank, nltk, characters, or package\.module:callable"),
        ("no_such_module_here:f", "No module named 'no_such_module_here'"),
        ("tests.helpers.plugin_tokenizers:nothing", "no attribute 'nothing'"),
        (":f", "package.module:callable"),
        ("tests.helpers.plugin_tokenizers:", "package.module:callable"),
        ("tests.helpers.plugin_tokenizers:unversioned", "attribute `version`"),
        ("tests.helpers.plugin_tokenizers:__name__", "must be a callable"),
    ],
)
def test_a_plugin_that_is_none(name, message):
    with pytest.raises(UsageError, match=message):
        get_tokenizer(name)


@pytest.mark.parametrize(
    ("name", "texts", "message"),
    [
        ("returns_list", ["a|b", "c"], "returned list instead of"),
        ("loses_a_row", ["a|b", "c"], r"for 2 texts and 1 terms; \(3, 1, 1\)"),
        ("counts_bytes", ["é|c"], r"'c' at 3:4 of the text 'é\|c'; spans are code points \(not bytes\)"),
        ("overlaps", ["a|b"], r"the token 'b' at 2:3 of the text 'a\|b'; .*without overlap"),
    ],
)
def test_a_plugin_with_a_wrong_answer(name, texts, message):
    with pytest.raises(UsageError, match=message):
        get_tokenizer(f"tests.helpers.plugin_tokenizers:{name}")(pa.array(texts))


def test_the_example_of_a_tokenizer(tmp_path, command, monkeypatch):
    (tmp_path / "my_tokens.py").write_text((REPOSITORY / "examples/tokenizer/by_space.py").read_text("utf-8"))
    (tmp_path / "in.txt").write_text("小猫 喝 牛奶\nÉté Hiver ,\n")
    monkeypatch.syspath_prepend(tmp_path)
    fitted = command("fit", "--corpus", "in.txt", "--tokenizer", "my_tokens:by_space", "--jobs", "1")
    assert fitted.returncode == 0, fitted.stderr
    store = Store.open(tmp_path / "store")
    assert set(store.read("terms")["term"].to_pylist()) == {"小猫", "喝", "牛奶", "été", "hiver", ","}
    assert store.stage("terms").settings["resources"]["tokenizer"] == "1"


def test_letters_of_scripts_without_spaces_are_terms():
    tokens = get_tokenizer("characters")(pa.array(["The 长江 is Größer, v2", ""]))
    assert tokens.terms.to_pylist() == ["the", "长", "江", "is", "größer", "v2"]
    assert tokens.starts.tolist() == [0, 4, 5, 7, 10, 18]
    assert tokens.row_offsets.tolist() == [0, 6, 6]
