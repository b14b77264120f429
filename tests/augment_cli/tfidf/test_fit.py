"""TF-IDF, maximum scores and how terms are written, against a plain-Python reference."""

import math
import shutil
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import augment_cli
from augment_cli.engine.engine import Engine
from augment_cli.errors import MissingError, MixError, UsageError
from augment_cli.ingest import IngestOptions
from augment_cli.session import SAMPLE, Session
from augment_cli.store.store import Store
from augment_cli.tfidf import fit
from augment_cli.tfidf.fit import FitOptions
from tests.helpers.properties import examples
from tests.helpers.reference_una import ReferenceFit, tokenize


@pytest.fixture
def make_store(tmp_path):
    def make(sentences: list[str], part_rows: int = 50_000, name: str = "store", **options: object) -> Store:
        source = tmp_path / f"{name}.txt"
        source.write_text("\n".join(sentences) + "\n", "utf-8")
        with Session(tmp_path / name, Engine(1)) as session:
            session.ingest([source], IngestOptions(part_rows=part_rows))
            session.fit(FitOptions(**options))
            return session.store

    return make


def sample(count: int | None = None) -> list[str]:
    return SAMPLE.read_text("utf-8").splitlines()[:count]


def reference_of(sentences: list[str]) -> ReferenceFit:
    return ReferenceFit([tokenize(sentence) for sentence in sentences])


def test_terms_equal_the_plain_reference(make_store):
    table = make_store(sample()).read("terms")
    reference = reference_of(sample())
    assert table["term"].to_pylist() == reference.ranked
    for name, tolerance in (("document_frequency", 0), ("max_score", 1e-12), ("idf", 1e-12)):
        expected = [getattr(reference, name)[term] for term in reference.ranked]
        np.testing.assert_allclose(table[name].to_numpy(), expected, rtol=tolerance)


def test_the_matrix_equals_the_plain_reference_and_points_into_the_text(make_store):
    store = make_store(sample(), part_rows=400)
    reference = reference_of(sample())
    terms = store.read("terms")["term"].to_pylist()
    texts = store.read("corpus")["text"].to_pylist()
    for row, text in zip(store.read("tfidf").to_pylist(), texts, strict=True):
        tokens = tokenize(text)
        assert [terms[index] for index in row["term_ids"]] == tokens
        np.testing.assert_allclose(row["weights"], reference.scores(tokens), rtol=1e-12)
        for token, start, end in zip(tokens, row["starts"], row["ends"], strict=True):
            assert token in {text[start:end].lower(), "``", "''"}


def exact_ties(sentences: list[str]) -> list[list[str]]:
    """Terms of equal document frequency and equal greatest share of a sentence, in first-seen order."""
    groups: dict[tuple[int, Fraction], list[str]] = {}
    documents = [tokenize(sentence) for sentence in sentences]
    for term in dict.fromkeys(term for tokens in documents for term in tokens):
        holding = [tokens for tokens in documents if term in tokens]
        share = max(Fraction(tokens.count(term), len(tokens)) for tokens in holding)
        groups.setdefault((len(holding), share), []).append(term)
    return list(groups.values())


WORDS = st.sampled_from(["river", "bank", "cold", "the", ".", "a", "b"])
SENTENCES = st.lists(st.lists(WORDS, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=12)


@examples(25)
@given(SENTENCES, st.integers(1, 5), st.randoms())
def test_ties_keep_first_seen_order_whatever_the_order_of_parts(
    tmp_path_factory, sentences, part_rows, random
):
    folder = tmp_path_factory.mktemp("ties")
    (folder / "corpus.txt").write_text("\n".join(sentences) + "\n", "utf-8")
    with Session(folder / "store", Engine(1)) as session:
        session.ingest([folder / "corpus.txt"], IngestOptions(part_rows=part_rows))
        parts = list(range(len(session.store.parts)))
        random.shuffle(parts)
        work = folder / "work"
        work.mkdir()
        for index in parts:
            fit.count_part(session.store.path, "corpus", index, "treebank", work)
        paths = [work / f"counts-corpus-{index:05d}.arrow" for index in sorted(parts)]
        terms, _, _ = fit.reduce_counts(paths, min_df=1)
    shutil.rmtree(folder)
    reference = reference_of(sentences)
    ranked = terms["term"].to_pylist()
    # Scores fall; terms of equal frequencies (an exact tie) stand in first-seen order. Two different
    # pairs of frequencies can have equal scores too, but not in floating point on every machine.
    assert all(
        reference.max_score[before] > reference.max_score[after] - 1e-12 for before, after in pairwise(ranked)
    )
    for tied in exact_ties(sentences):
        assert [term for term in ranked if term in tied] == tied


def test_min_df_leaves_rare_terms_out_of_the_table_and_unscored(make_store):
    store = make_store(["a cold river", "a cold bank", "a b c"], min_df=2)
    assert store.read("terms")["term"].to_pylist() == ["cold", "a"]
    last = store.read("tfidf").to_pylist()[2]
    assert last["term_ids"] == [1, -1, -1]
    assert last["weights"] == [0.0, 0.0, 0.0]


def test_a_large_vocabulary_is_said_with_what_min_df_would_save(make_store, monkeypatch):
    store = make_store(["a river flows", "a river bends"])
    options = FitOptions()
    assert fit.vocabulary_note(store, None, options) is None
    monkeypatch.setattr(fit, "MANY_TERMS", 4)
    monkeypatch.setattr(fit, "_TERM_BYTES", 2**20)
    note = fit.vocabulary_note(store, None, options)
    assert note is not None
    assert "4 terms, 2 of them in one sentence alone: `augment-cli fit --min-df 2" in note
    assert "about 2 MiB in each process" in note
    assert fit.vocabulary_note(store, None, FitOptions(min_df=2)) is None


def test_fitting_on_several_stages_counts_their_texts_together(make_store):
    store = make_store(sample(200))
    augmented = augment_cli.run("uda", store.path, radius="5%", beta=0.3, jobs=1)
    both = augment_cli.fit(store.path, name="both", stages=("corpus", "uda"), jobs=1)
    texts = [text for text in augmented.read("uda")["text"].to_pylist() if text is not None]
    reference = reference_of(sample(200) + texts)
    assert both.read("terms-both")["term"].to_pylist() == reference.ranked
    assert both.stage("terms-both").parts[0].statistics["documents"] == 200 + len(texts)
    assert both.read("tfidf-both").num_rows == 200


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_df": 0}, "at least 1"),
        ({"stages": ("una",)}, "corpus first"),
        ({"tokenizer": "spacey"}, "treebank"),
    ],
)
def test_impossible_options_are_refused(make_store, options, message):
    store = make_store(sample(5))
    with pytest.raises(UsageError, match=message):
        augment_cli.fit(store.path, name="other", **options)


def test_terms_of_another_store_weigh_the_texts_of_this_one(make_store, tmp_path):
    large = make_store(sample(300), name="large")
    texts = [*sample(40), "Zyxwv quux is no word of theirs."]
    small = make_store(texts, part_rows=15, name="small", terms_of=str(tmp_path / "large"))
    assert small.read("terms").equals(large.read("terms"))
    reference = reference_of(sample(300))
    terms = small.read("terms")["term"].to_pylist()
    for row, text in zip(small.read("tfidf").to_pylist(), texts, strict=True):
        tokens = tokenize(text)
        known = [token in reference.max_score for token in tokens]
        assert [index >= 0 for index in row["term_ids"]] == known
        assert [terms[index] for index in row["term_ids"] if index >= 0] == [
            token for token in tokens if token in reference.max_score
        ]
        shares = [math.log(1 + tokens.count(token) / len(tokens)) for token in tokens]
        expected = [
            share * reference.idf[token] if is_known else 0.0
            for share, token, is_known in zip(shares, tokens, known, strict=True)
        ]
        np.testing.assert_allclose(row["weights"], expected, rtol=1e-12)


def test_terms_of_a_store_without_terms_or_with_other_options_is_refused(make_store, tmp_path):
    with pytest.raises(UsageError, match="leave --min-df"):
        make_store(sample(5), min_df=2, terms_of=str(tmp_path / "store"))
    source = tmp_path / "bare.txt"
    source.write_text("One sentence.\n", "utf-8")
    with Session(tmp_path / "bare", Engine(1)) as session:
        session.ingest([source], IngestOptions())
    with pytest.raises(MissingError, match="has no fitted terms"):
        make_store(sample(5), name="other", terms_of=str(tmp_path / "bare"))
    make_store(sample(5), name="cut", tokenizer="nltk")
    with pytest.raises(MixError, match="cut by the tokenizer"):
        make_store(sample(5), name="third", terms_of=str(tmp_path / "cut"))


@pytest.mark.parametrize("terms", [1, 7, 5000])
def test_terms_of_many_rows_are_counted_as_one_by_one(terms):
    """More rows than are counted at once, empty ones among them."""
    generator = np.random.default_rng(terms)
    offsets = np.append(0, np.cumsum(generator.integers(0, 9, 2500)))
    ids = generator.integers(0, terms, offsets[-1]).astype(np.int32)
    counts, document_frequency, max_share = fit.count_terms(ids, offsets, terms)
    expected_df, expected_share = np.zeros(terms), np.zeros(terms)
    for start, end in pairwise(offsets.tolist()):
        row = ids[start:end].tolist()
        assert counts[start:end].tolist() == [row.count(term) for term in row]
        for term in set(row):
            expected_df[term] += 1
            expected_share[term] = max(expected_share[term], row.count(term) / len(row))
    assert document_frequency.tolist() == expected_df.tolist()
    assert max_share.tolist() == expected_share.tolist()


SENTENCES_OF_FORMS = [
    "The McDonald farm is old.",
    "A farm of the McDonald family burned.",
    "“NATO met,” said the NATO man of Köln.",
    "Macdonald met nobody in Köln.",
    "the USA and the usa",
    "…",
    "",
    "Zebras sleep.",
    "İstanbul is far; İstanbul was near.",
    "It met nobody, nobody at all.",
]


def fitted(folder: Path, options: FitOptions | None = None) -> Session:
    folder.mkdir()
    (folder / "corpus.txt").write_text("\n".join(SENTENCES_OF_FORMS * 3) + "\n", "utf-8")
    session = Session(folder / "store", Engine(1))
    session.__enter__()
    session.ingest([folder / "corpus.txt"], IngestOptions(part_rows=4), max_rejects=1)
    session.fit(options)
    return session


def forms_of(store: Store) -> tuple[bytes, dict[str, tuple[int, str | None]]]:
    table, terms = store.read("forms"), store.read("terms")["term"].to_pylist()
    written = zip(table["case"].to_pylist(), table["mixed"].to_pylist(), strict=True)
    return store.part_path("forms", 0).read_bytes(), dict(zip(terms, written, strict=True))


@pytest.mark.parametrize("options", [None, FitOptions(min_df=4), FitOptions(tokenizer="nltk")])
def test_counted_on_the_way_of_the_fit_as_from_its_matrix(tmp_path, options):
    session = fitted(tmp_path / "once", options)
    on_the_way, forms = forms_of(session.store)
    session.store.remove("forms")
    session.fit()
    assert forms_of(session.store)[0] == on_the_way
    session.fit(options or FitOptions(), name="again")
    assert session.store.part_path("forms-again", 0).read_bytes()[:4] == b"PAR1"
    assert not list(session.store.work.glob("forms*"))
    assert forms["nobody"] == (0, None)
    if options is None:
        assert forms["mcdonald"] == (3, "McDonald") and forms["nato"] == (2, None)
        assert forms["köln"] == (1, None) and forms["zebras"] == (-1, None)
    session.__exit__(None, None, None)


def test_a_fit_whose_forms_nobody_needs_does_not_count_them(tmp_path):
    session = fitted(tmp_path / "plain")
    session.store.remove("forms", "tfidf", "terms")
    session.fit(with_forms=False)
    assert session.store.has("tfidf") and "forms" not in session.store.stages()
    session.__exit__(None, None, None)
