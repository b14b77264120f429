"""The natural surface: words for words, names with capitals, classes, ranges of β, the shipped terms."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import augment_cli
from augment_cli import resources
from augment_cli.augmentations.una import vocabulary
from augment_cli.augmentations.una.term_replacement import bounds_of, shares_of_rows
from augment_cli.augmentations.una.word_classes import classes_of
from augment_cli.contract.draws import stream_key
from augment_cli.errors import UsageError
from augment_cli.resources import EnglishTerms, load_english_terms
from augment_cli.runs.run import make_run
from augment_cli.session import SAMPLE
from augment_cli.store.store import Store
from augment_cli.tfidf import term_table
from augment_cli.tfidf.term_table import TermTable
from tests.helpers.in_memory import augment

Fitted = Callable[[list[str]], Store]


def sample() -> list[str]:
    return SAMPLE.read_text("utf-8").splitlines()


def edited(table: pa.Table) -> list[tuple[str, str]]:
    """What each edit replaced, and by what."""
    return [
        (row["original"][edit["start"] : edit["end"]], edit["replacement"])
        for row in table.to_pylist()
        for edit in row["edits"]
    ]


@pytest.mark.parametrize("options", [{}, {"same": "pos"}, {"terms": "random"}])
def test_only_words_change_places(sample_store: Store, options: dict) -> None:
    table = augment_cli.augment(sample(), "una", store=sample_store, beta=0.9, **options)
    pairs = edited(table)
    assert len(pairs) > (200 if options.get("same") == "pos" else 2_000)
    for old, new in pairs:
        assert old[0].isalnum()
        assert new.strip()[0].isalnum()
        assert not set(new) & set('()[]{}"“”')
        assert old not in {"n't", "'s", "ca", "wo"}


@pytest.mark.parametrize("apostrophe", ["'", "’"])
def test_contractions_stay_whole_with_either_apostrophe(fitted: Fitted, apostrophe: str) -> None:
    sentence = f"Anna{apostrophe}s river isn{apostrophe}t cold."
    store = fitted([sentence, "We'll see the town.", "The bridge can't fall.", "They met Anna near a river."])
    options = {"store": store, "positions": "random", "beta": 1.0, "background": "none"}
    table = augment_cli.augment([sentence] * 40, "una", **options)
    assert {old for old, _ in edited(table)} == {"Anna", "river", "cold"}
    for text in table["text"].to_pylist():
        assert f"{apostrophe}s " in text
        assert f"isn{apostrophe}t " in text


def test_names_are_written_as_inside_sentences(fitted: Fitted) -> None:
    store = fitted(["We saw Putin and NATO by the McDonald farm.", "Often they met Putin.", "Zorblax ran."])
    table = settled_table(store)
    spelled = dict(zip(table.terms.to_pylist(), vocabulary.spelled(table).to_pylist(), strict=True))
    assert spelled["putin"] == "Putin"
    assert spelled["nato"] == "NATO"
    assert spelled["mcdonald"] == "McDonald"
    assert spelled["farm"] == "farm"
    assert spelled["often"] == "often"  # at the beginning only: as the shipped table has it
    assert spelled["zorblax"] == "Zorblax"  # and a name where that has not


def settled_table(store: Store) -> TermTable:
    """The table of a store with its forms, and the cases that are unknown settled."""
    own = TermTable.read(store, "terms", "forms")
    return vocabulary.vocabulary_of(own, False, (), 100, "any").table


def test_forms_are_counted_as_by_hand(sample_store: Store) -> None:
    """Each term that is met inside sentences has the case that most of its tokens there have."""
    from augment_cli.tokenization import get_tokenizer

    counts: dict[str, list[int]] = {}
    tokens = get_tokenizer("treebank")(pa.array(sample()))
    for text, first, last in zip(sample(), tokens.row_offsets[:-1], tokens.row_offsets[1:], strict=True):
        words_before = 0
        for place in range(first, last):
            written = text[tokens.starts[place] : tokens.ends[place]]
            if written[0].isalnum():
                if words_before:
                    several = sum(map(str.isupper, written)) > 1 and not any(map(str.islower, written))
                    case = 0 if not written[0].isupper() else 2 if several else 1
                    counts.setdefault(tokens.terms[place].as_py(), [0, 0, 0])[case] += 1
                words_before += 1
    table = TermTable.read(sample_store, "terms", "forms")
    seen = 0
    for term, case in zip(table.terms.to_pylist(), table.cases.tolist(), strict=True):
        if term in counts and case != term_table.MIXED:
            small, capital, capitals = counts[term]
            expected = 2 if capitals > max(small, capital) else 1 if capital > small else 0
            assert case == expected, term
            seen += 1
    assert seen > 2_000


def test_same_part_of_speech_draws_within_classes(sample_store: Store) -> None:
    table = augment_cli.augment(sample(), "una", store=sample_store, same="pos", background="none", beta=0.5)
    own = settled_table(sample_store)
    classes = dict(zip(own.terms.to_pylist(), classes_of(own).tolist(), strict=True))
    pairs = [(old.lower(), new.strip().lower()) for old, new in edited(table)]
    assert len(pairs) > 200
    assert all(classes[old] == classes[new] >= 0 for old, new in pairs)
    assert not {old for old, _ in pairs} & {"the", "of", "is", "and"}
    quoted = ['The teacher said "the painter left the bridge".', "The teacher was born in , and left."] * 20
    options = {"same": "pos", "background": "none", "positions": "random", "beta": 1.0}
    changed = augment_cli.augment(quoted, "una", store=sample_store, **options)
    assert not {old for old, _ in edited(changed)} & {"painter", "left", "bridge"}


@pytest.mark.parametrize(
    ("alike", "different"),
    [
        (("piano", "violin"), "pianos"),
        (("painters", "sculptors"), "painter"),
        (("accepted", "rejected"), "accepting"),
        (("attacked", "defended"), "accepted"),
        (("northern", "western"), "young"),
        (("france", "sweden"), "paris"),
        (("spanish", "dutch"), "swedish"),  # `the Dutch`, but hardly `the Swedish`
        (("1923", "1927"), "1933"),
        (("1215", "1270"), "1350"),
        (("20", "70"), "27"),
        (("3.5", "2.7"), "22.7"),
        (("4,000", "7,000"), "4,300"),
        (("monday", "friday"), "june"),
        (("quickly", "slowly"), "often"),
    ],
)
def test_classes_tell_kinds_and_forms_apart(alike: tuple[str, str], different: str) -> None:
    terms = pa.array([*alike, different])
    table = TermTable(terms, np.ones(3), np.ones(3), np.zeros(3, np.int8))
    first, second, other = classes_of(table).tolist()
    assert first == second != other


def test_some_words_have_no_class() -> None:
    # Of no kind, in no table, of several parts of speech, not of a number's size alone.
    words = ["thou", "qqxyz", "ago", "idea", "attack", "30-34", "8", "007", "million"]
    table = TermTable(pa.array([*words, "winter"]), np.ones(10), np.ones(10), np.zeros(10, np.int8))
    assert classes_of(table).tolist() == [-1] * 9 + [0]


@pytest.mark.parametrize("name", ["entity_kinds", "exchangeable_words"])
def test_a_word_is_of_one_kind(name: str) -> None:
    lines = resources.word_table(name)
    assert len(lines[0]) == 1 or all(len(line) == 2 and line[0] in "nvar-" for line in lines)
    words = [(line[0] if len(line) == 2 else "", word) for line in lines for word in line[-1].split()]
    assert len(words) == len(set(words)) > 250


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("He met the governor in 1950 and the mayor in 1953.", {"1950", "1953"}),  # the order of years
        ("Chapter 3 and No. 5 are from Paris Hilton.", {"3", "5", "Paris"}),
        ("It seats 20 or 21, with 50–60 outside.", {"20", "21", "50", "60"}),
        ("It has over 1984 seats and weighs 2000 tons.", {"1984", "2000"}),
        ("The University of London and the Treaty of Rome are old.", {"London", "Rome"}),
        ("On 30 March they left Manchester, New Hampshire.", {"30", "Manchester", "Hampshire"}),
    ],
)
def test_parts_of_something_longer_stay(fitted: Fitted, text: str, kept: set[str]) -> None:
    options = {"store": fitted([text]), "same": "pos", "positions": "random", "beta": 1.0}
    table = augment_cli.augment([text] * 20, "una", background="always", **options)
    assert not {old for old, _ in edited(table)} & kept


def test_names_numbers_and_words_of_a_kind_change(fitted: Fitted) -> None:
    text = "It was in 1923 that a physicist from Norway, who had 27 friends, played the piano."
    store = fitted([text])
    options = {"store": store, "same": "pos", "positions": "random", "beta": 1.0, "background": "always"}
    pairs = edited(augment_cli.augment([text] * 20, "una", **options))
    assert {old for old, _ in pairs} >= {"1923", "piano", "physicist", "Norway", "27"}
    assert all(new[:3] == "192" for old, new in pairs if old == "1923")
    assert all(new[0] not in "aeio" for old, new in pairs if old == "physicist")  # behind `a`


def test_a_name_stays_where_it_is_none(fitted: Fitted) -> None:
    store = fitted(["We saw Norway.", "They met Anna in Norway.", "It is a norway maple."])
    options = {"store": store, "same": "pos", "positions": "random", "beta": 1.0, "background": "always"}
    texts = ["It is a norway maple.", "We saw Norway.", "no norway here"]
    table = augment_cli.augment(texts * 20, "una", **options)
    pairs = [edited(table.slice(row, 1)) for row in range(3)]
    assert "norway" not in {old for old, _ in pairs[0]}
    assert "Norway" in {old for old, _ in pairs[1]}
    assert "norway" in {old for old, _ in pairs[2]}  # a text without capitals has its names in small letters


# --- β


def test_a_range_of_shares_goes_from_the_first_to_the_last_draw() -> None:
    run = make_run("una", beta="0.1:0.5")
    assert [run.of_draw(draw, 3).parameters.beta for draw in range(3)] == ["0.1", "0.3", "0.5"]
    assert run.of_draw(0, 1).parameters.beta == "0.1:0.5"


def test_in_a_single_draw_a_range_is_spread_over_the_rows() -> None:
    shares = shares_of_rows("0.1:0.5", stream_key(1, "una/beta"), np.arange(20_000))
    assert 0.1 <= shares.min() < 0.101
    assert 0.499 < shares.max() < 0.5
    assert np.mean(shares) == pytest.approx(0.3, abs=0.005)
    assert (shares_of_rows("0.4", 7, np.arange(3)) == 0.4).all()


def test_harder_draws_replace_less(sample_store: Store) -> None:
    store = augment_cli.run("una", sample_store.path, stage="una-range", beta="0.05:0.6", draws=3, jobs=1)
    stages = ("una-range", "una-range.1", "una-range.2")
    replaced = [sum(store.read(name)["replaced"].to_pylist()) for name in stages]
    assert replaced[0] * 2 < replaced[1] * 1.2 < replaced[2]
    assert [store.stage(name).settings["parameters"]["beta"] for name in stages] == [0.05, 0.325, 0.6]


@pytest.mark.parametrize("beta", ["", "half", "0.1:", "-0.1", "0.1:0.2:0.3", "1.01", "٠"])
def test_other_shares_are_refused(beta: str) -> None:
    with pytest.raises(UsageError, match="--beta"):
        bounds_of(beta)


# --- the paper's modes


def test_the_papers_radius_with_another_surface_is_said(sample_store: Store) -> None:
    said = {
        (radius, surface): any(
            "--surface in-place" in note
            for note in make_run("una", radius=radius, surface=surface).notes(sample_store)
        )
        for radius in ("4000", "1%")
        for surface in ("natural", "in-place", "reference")
    }
    assert [key for key, is_said in said.items() if is_said] == [("4000", "natural")]
    for other in (make_run("una", radius="4000", same="pos"), make_run("uda", radius="4000")):
        assert not any("--surface" in note for note in other.notes(sample_store))


@pytest.mark.parametrize("surface", ["in-place", "reference"])
def test_the_papers_surfaces_have_the_settings_of_the_first_version(
    sample_store: Store, surface: str
) -> None:
    """A stage made by 0.1.0 goes on: its settings name what they named then, and nothing else."""
    run = replace(make_run("una", surface=surface), protection=0)  # as of a stage that was begun without
    settings = run.settings(sample_store)
    assert settings.parameters == {
        "beta": 0.5,
        "radius": 31,
        "positions": "tfidf",
        "terms": "tfidf",
        "include_self": False,
        "keep": None,
        "surface": "natural" if surface == "in-place" else surface,
        "draw": 0,
    }
    assert set(settings.inputs) == {"corpus", "tfidf", "terms"}


# --- words never put in


def test_avoided_words_are_never_drawn(sample_store: Store, tmp_path: Path) -> None:
    options = {"store": sample_store, "beta": 0.9, "background": "none"}
    usual = {new.strip().lower() for _, new in edited(augment_cli.augment(sample(), "una", **options))}
    avoided = sorted(usual)[::2]
    (tmp_path / "avoid.txt").write_text("\n".join(avoided), "utf-8")
    table = augment_cli.augment(sample(), "una", avoid=str(tmp_path / "avoid.txt"), **options)
    drawn = {new.strip().lower() for _, new in edited(table)}
    assert len(drawn) > 500
    assert not drawn & set(avoided)


def test_the_shipped_list_is_on_by_default_and_can_be_refused(fitted: Fitted) -> None:
    word = resources.word_list("vulgar_words")[0]
    store = fitted([f"A {word} river.", f"The {word} town.", "The river and the town."])
    texts = ["The river and the town."] * 60
    options = {"store": store, "beta": 1.0, "background": "none", "radius": 50}
    clean = augment_cli.augment(texts, "una", **options)["text"].to_pylist()
    loose = augment_cli.augment(texts, "una", avoid="none", **options)["text"].to_pylist()
    assert not any(word in text.lower().split() for text in clean)
    assert any(word in re.findall(r"\w+", text.lower()) for text in loose)


def test_no_synonym_in_any_sense_is_vulgar() -> None:
    texts = ["The member of the house had a rooster and a behind."] * 300
    vulgar = set(resources.word_list("vulgar_words"))

    def drawn(avoid: str) -> set[str]:
        table = augment("random-insertion", texts, senses="any", rate=0.5, avoid=avoid)
        return {word for text in table["text"].to_pylist() for word in re.findall(r"\w+", text.lower())}

    assert drawn("none") & vulgar
    assert not drawn("vulgar") & vulgar


# --- the shipped terms


def test_a_joined_table_is_the_fit_of_both_corpora(fitted: Fitted, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ["The river flows.", "A cold river.", "The town has a bridge."]
    second = ["The town sleeps.", "A bridge near the town.", "Cold water.", "The bridge of the town."]
    other = fitted(second)
    terms = TermTable.read(other, "terms", "forms")
    shipped = EnglishTerms(
        len(second),
        terms.terms,
        terms.document_frequency,
        terms.shares,
        terms.cases,
        pa.nulls(len(terms), pa.string()),
        np.zeros(len(terms), np.int8),
    )
    monkeypatch.setattr(vocabulary, "load_english_terms", lambda: shipped)
    own = table_of(other, first)
    joined, ids = vocabulary.joined_table(own)
    both = table_of(other, first + second)
    expected = {
        term: (idf, score)
        for term, idf, score in zip(both.terms.to_pylist(), both.idf, both.max_score, strict=True)
    }
    assert set(joined.terms.to_pylist()) == set(expected)
    for term, idf, score in zip(joined.terms.to_pylist(), joined.idf, joined.max_score, strict=True):
        if term != ".":  # in every sentence of both: its share of them is not in the tables
            assert (idf, score) == pytest.approx(expected[term])
    assert (np.diff(joined.max_score) <= 0).all()
    assert joined.terms.take(pa.array(ids[:-1])).to_pylist() == own.terms.to_pylist()
    assert ids[-1] == -1


def table_of(store: Store, sentences: list[str]) -> TermTable:
    """The fitted table of some sentences, in a store beside another."""
    folder = store.path.with_name(f"{len(sentences)}")
    (folder.with_suffix(".txt")).write_text("\n".join(sentences) + "\n", "utf-8")
    augment_cli.ingest_corpus(folder.with_suffix(".txt"), folder)
    return TermTable.read(augment_cli.fit(folder, jobs=1), "terms", "forms")


def test_a_small_english_corpus_is_joined_and_told_so(sample_store: Store) -> None:
    run = make_run("una")
    (note,) = run.notes(sample_store)
    assert "1,406 sentences, fewer than 20,000" in note
    assert "--background none" in note
    assert run.settings(sample_store).parameters["background"]
    alone = make_run("una", background="none")
    assert alone.notes(sample_store) == []
    assert alone.settings(sample_store).parameters["background"] is None


def sentences_of(words: list[str], others: list[str]) -> list[str]:
    """Sentences of ten words: nine of the first, and every one of the others once in turn."""
    return [
        " ".join([*(words[(9 * n + place) % len(words)] for place in range(9)), others[n % len(others)]])
        + "."
        for n in range(400)
    ]


def test_a_domain_with_words_of_its_own_draws_from_these_alone(fitted: Fitted) -> None:
    english = [term for term in load_english_terms().terms.to_pylist() if term.isalpha()][:2_000]
    store = fitted(sentences_of(english, [f"qz{chr(97 + n % 26)}{chr(97 + n // 26)}x" for n in range(40)]))
    run = make_run("una")
    (note,) = run.notes(store)
    assert "knows 90% of its words" in note and "drawn from these 2,04" in note
    assert "--background always" in note and run.settings(store).parameters["background"] is None
    assert make_run("una", background="always").settings(store).parameters["background"]


def test_a_domain_of_few_words_is_joined_and_told_that_they_will_stand_out(fitted: Fitted) -> None:
    english = [term for term in load_english_terms().terms.to_pylist() if term.isalpha()][:300]
    store = fitted(sentences_of(english, [f"qz{chr(97 + n)}x" for n in range(20)]))
    (note,) = make_run("una").notes(store)
    assert "knows 90% of its words, so common words will stand out" in note
    assert make_run("una").settings(store).parameters["background"]


def test_a_corpus_in_another_language_is_not_joined(fitted: Fitted) -> None:
    store = fitted(["Der Fluss fließt langsam durch die alte Stadt.", "Die Brücke führt über den Fluss."])
    assert make_run("una").settings(store).parameters["background"] is None


def test_the_shipped_terms_are_what_they_say() -> None:
    shipped = load_english_terms()
    terms = shipped.terms.to_pylist()
    assert terms == sorted(terms)
    assert len(terms) > 90_000
    assert shipped.document_frequency.min() >= 5
    assert shipped.document_frequency[terms.index("the")] > 500_000
    assert shipped.cases[terms.index("putin")] == term_table.CAPITALISED
    assert shipped.cases[terms.index("nato")] == term_table.CAPITALS


# --- uda


def test_uda_replaces_words_by_words_of_nearly_the_same_meaning(fitted: Fitted) -> None:
    sentence = "The largest town often has a supply of rivers in large part."
    store = fitted([sentence, "The town has a bridge.", "Rivers flow."])
    table = augment_cli.augment([sentence] * 200, "uda", store=store, positions="random", beta=1.0)
    assert set(edited(table)) == {("largest", "biggest"), ("often", "frequently")}


def test_uda_leaves_phrases_and_names(fitted: Fitted, tmp_path: Path) -> None:
    texts = ["He did not nearly see it.", "The Film Academy opened.", "It happened to rain.", "Big Ben rang."]
    store = fitted(texts)
    table = augment_cli.augment(texts * 20, "uda", store=store, positions="random", beta=1.0)
    assert table["text"].null_count == len(texts) * 20
    (tmp_path / "avoid.txt").write_text("frequently", "utf-8")
    options = {"positions": "random", "beta": 1.0, "avoid": str(tmp_path / "avoid.txt")}
    assert augment_cli.augment(["It often rains."], "uda", store=store, **options)["text"].to_pylist() == [
        None
    ]


@pytest.mark.parametrize("options", [{"surface": "reference"}, {"same": "pos"}])
def test_uda_says_what_goes_together(options: dict) -> None:
    with pytest.raises(UsageError, match="add --terms tfidf"):
        make_run("uda", **options)
