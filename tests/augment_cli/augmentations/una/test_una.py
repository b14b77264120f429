"""UNA's probabilities, draws and surfaces, against a plain reference and the weights they should follow."""

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

import augment_cli
from augment_cli import resources
from augment_cli.augmentations.una import vocabulary
from augment_cli.augmentations.una.term_replacement import (
    radius_in_ranks,
    replacement_probabilities,
    shares_of_rows,
)
from augment_cli.augmentations.una.word_classes import classes_of
from augment_cli.contract.draws import stream_key
from augment_cli.contract.rows import TokenRows
from augment_cli.errors import UsageError
from augment_cli.reports import report
from augment_cli.resources import EnglishTerms, load_english_terms
from augment_cli.runs.run import make_run
from augment_cli.session import SAMPLE
from augment_cli.store.store import Store
from augment_cli.text.spans import offsets_from_lengths
from augment_cli.tfidf.term_table import MIXED, TermTable
from tests.helpers.in_memory import augment
from tests.helpers.reference_una import ReferenceFit, probabilities, tokenize

LINES = SAMPLE.read_text("utf-8").splitlines()


@cache
def reference() -> ReferenceFit:
    return ReferenceFit([tokenize(text) for text in LINES])


@cache
def reference_scores() -> list[list[float]]:
    return [reference().scores(tokenize(text)) for text in LINES]


def token_rows(sentences: list[list[float]]) -> TokenRows:
    """Token rows that have weights and nothing else."""
    weights = np.array([weight for sentence in sentences for weight in sentence], float)
    offsets = offsets_from_lengths(np.array([len(sentence) for sentence in sentences], np.int64))
    nothing = np.zeros(len(weights), np.int32)
    return TokenRows(offsets, nothing, nothing, nothing, weights)


def term_table(scores: list[float]) -> TermTable:
    terms = pa.array([f"t{rank}" for rank in range(len(scores))], pa.string())
    return TermTable(terms, np.array(scores), np.array(scores))


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.1, 0.3, 0.5], [0, 0.5, 1]),
        ([0.05, 0.2, 0.2, 0.9], [0, 0.3 / 1.15, 0.3 / 1.15, 1]),
        ([0.05, 0.2, 0.2, 0.2], [0, 1, 2 / 3, 2 / 3]),
        ([0.2, 0.2, 0.2], [1, 0, 0]),
        ([0.7], [1]),
        ([0.0, 0.0], [1, 0]),
    ],
)
def test_probabilities_by_hand(scores, expected):
    rows = token_rows([scores])
    result = replacement_probabilities(rows, np.ones(len(scores), bool), 0.5)
    np.testing.assert_allclose(result, expected, rtol=1e-12)


@pytest.mark.parametrize("opposite", [False, True])
@pytest.mark.parametrize("beta", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_probabilities_equal_the_reference_on_the_sample(beta, opposite):
    rows = token_rows(reference_scores())
    result = replacement_probabilities(rows, np.ones(len(rows.weights), bool), beta, opposite)
    expected = np.concatenate([probabilities(one, beta, opposite) for one in reference_scores()])
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("include_self", [False, True])
@pytest.mark.parametrize("rank", [0, 1, 12, 28, 29])
def test_drawn_ranks_follow_the_weights(rank, include_self):
    scores = np.sort(np.random.default_rng(7).gamma(2.0, size=30))[::-1]
    table, radius, count = term_table(scores.tolist()), 4, 60_000
    uniforms = np.random.default_rng(rank).random(count)
    drawn = table.draw_ids(np.full(count, rank), radius, uniforms, include_self)
    weights = np.where(np.abs(np.arange(30) - rank) <= radius, scores, 0.0)
    if not include_self:
        weights[rank] = 0.0
    counts = np.bincount(drawn, minlength=30)
    inside = weights > 0
    assert counts[~inside].sum() == 0
    assert stats.chisquare(counts[inside], count * weights[inside] / weights.sum()).pvalue > 1e-4


def test_draws_on_a_fitted_table_follow_the_reference_window(sample_store):
    """A corner of a real table, where many scores are equal."""
    table = TermTable.read(sample_store, "terms")
    term = reference().ranked[200]
    ranks, weights = reference().window(term, 20)
    uniforms = np.random.default_rng(0).random(50_000)
    drawn = table.draw_ids(table.ids_of(pa.array([term])).repeat(len(uniforms)), 20, uniforms)
    counts = np.bincount(drawn, minlength=len(table))
    assert counts.sum() == counts[ranks].sum()
    assert stats.chisquare(counts[ranks], len(uniforms) * np.array(weights)).pvalue > 1e-4


@pytest.mark.parametrize("kind", ["gamma", "few", "zeros", "tiny", "one"])
@pytest.mark.parametrize("size", [1, 2, 3000])
def test_the_search_finds_what_a_binary_search_finds(kind, size):
    """Scores of each kind, of which one slice of the search has one, none or all."""
    generator = np.random.default_rng(size)
    scores = {
        "gamma": generator.gamma(0.3, size=size),
        "few": generator.integers(1, 4, size).astype(np.float64),
        "zeros": np.where(generator.random(size) < 0.9, 0.0, 1.0),
        "tiny": generator.random(size) * 1e-310,
        "one": np.append(1.0, np.full(size - 1, 1e-18)),
    }[kind]
    table = term_table(np.sort(scores)[::-1].tolist())
    sums = table.prefix_sums
    targets = np.concatenate([sums[:-1], np.nextafter(sums, np.inf)[:-1], generator.random(9000) * sums[-1]])
    assert (table._ranks_of(targets) == np.searchsorted(sums, targets, side="right") - 1).all()


@pytest.mark.parametrize("uniform", [0.0, np.nextafter(1.0, 0.0), 0.5])
def test_the_extremes_of_the_generator_stay_in_the_window(uniform):
    table = term_table([3.0, 2.0, 1.0, 1e-300, 0.0])
    for rank in range(5):
        for radius in (1, 2, 9):
            drawn = int(table.draw_ids(np.array([rank]), radius, np.array([uniform]))[0])
            assert drawn != rank
            assert abs(drawn - rank) <= radius
            assert 0 <= drawn < 5


@pytest.mark.parametrize("is_any", [False, True])
def test_terms_are_drawn_evenly_and_never_the_word_itself(is_any):
    """Where a window has no weight, and where terms are random."""
    own, uniforms = np.full(30_000, 2), np.random.default_rng(0).random(30_000)
    table = term_table([5.0, 1.0, 1.0, 1.0] if is_any else [0.0] * 4)
    drawn = table.draw_any(own, uniforms) if is_any else table.draw_ids(own, 9, uniforms)
    counts = np.bincount(drawn, minlength=4)
    assert stats.chisquare(counts[[0, 1, 3]]).pvalue > 1e-4 and counts[2] == 0


def test_an_empty_window_draws_nothing():
    one, zero, no = np.array([0.3]), np.zeros(1, np.int64), np.zeros(1, bool)
    for scores, radius in (([1.0], 5), ([1.0, 2.0], 0)):
        assert term_table(scores).draw_ids(zero, radius, one).tolist() == [-1]
    # As where every word of a corpus is on the list of words to avoid.
    assert term_table([]).draw_between(zero, zero, zero, no, one).tolist() == [-1]


def test_the_realised_share_is_what_the_probabilities_promise(sample_store):
    options = {"surface": "in-place", "radius": "1%"}
    folder = augment_cli.run("una", sample_store.path, stage="una-share", jobs=1, **options)
    entry = report.stats(folder, "una-share")
    expected = [p for scores in reference_scores() for p in probabilities(scores, 0.5)]
    deviation = np.sqrt(sum(p * (1 - p) for p in expected)) / len(expected)
    assert entry["tokens"] == len(expected)
    assert entry["replaced"] == entry["edits"]
    assert entry["replaced_share"] == pytest.approx(np.mean(expected), abs=4 * deviation)
    assert entry["beta"] == 0.5


@pytest.mark.parametrize("sentence", ["The only sentence .", "word", "again again again"])
def test_where_every_idf_is_zero_the_first_token_is_replaced(fitted, sentence):
    """One sentence in the corpus: no score says anything, and neither does a window's weight."""
    store = fitted([sentence])
    row = augment_cli.augment([sentence], "una", store=store, surface="in-place").to_pylist()[0]
    if len(set(sentence.split())) == 1:
        assert row["reason"] == "empty_window"  # no other term to put in
    else:
        assert row["text"].removesuffix(sentence[3:]).lower() in {"only", "sentence", "."}


def test_protected_terms_are_never_replaced(sample_store, tmp_path):
    words = ["the", "river", ".", "a", "of", "was"]
    (tmp_path / "keep.txt").write_text("# these stay\n" + "\n".join(words) + "\n", "utf-8")
    options = {"store": sample_store, "keep": str(tmp_path / "keep.txt"), "beta": 1.0}
    replaced = {old.lower() for old, _ in edited(augment_cli.augment(LINES, "una", **options))}
    assert "bridge" in replaced and not replaced & set(words)


def test_the_authors_switch_may_give_the_word_back(sample_store):
    """With a window of three ranks, a term draws itself about every third time."""
    settings = {"store": sample_store, "radius": "1", "surface": "reference"}
    strict, loose = (
        augment_cli.augment(LINES, "una", include_self=own, **settings)["replaced"].to_numpy().sum()
        for own in (False, True)
    )
    assert 0.6 < loose / strict < 0.75


def test_the_reference_surface_is_the_tokens_joined_by_spaces(sample_store):
    table = augment_cli.augment(LINES, "una", store=sample_store, surface="reference", radius="1%")
    in_place = augment_cli.augment(LINES, "una", store=sample_store, surface="in-place", radius="1%")
    assert table["replaced"].to_pylist() == in_place["replaced"].to_pylist()
    for row in table.to_pylist():
        words, tokens = row["text"].split(" "), tokenize(row["original"])
        assert len(words) == len(tokens)
        assert sum(word != token for word, token in zip(words, tokens, strict=True)) == row["replaced"]


@pytest.mark.parametrize(
    ("radius", "ranks"), [("4000", 4000), ("1%", 3), ("0.5 %", 2), ("0%", 1), ("0", 0), (25, 25)]
)
def test_radius_is_a_count_or_a_share(radius, ranks):
    assert radius_in_ranks(radius, term_table([1.0] * 300)) == ranks


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        *(({"beta": beta}, "--beta|beta=") for beta in ("", "half", "0.1:", "-0.1", "0.1:0.2:0.3", "٠")),
        *(({"radius": radius}, "radius") for radius in ("-1", "1.5", "one", "%", "", "١")),
        ({"beta": 1.5}, "at most 1"),
        ({"bета": 0.5}, "no parameter"),
        ({"surface": "raw"}, "natural, in-place, reference"),
        ({"surface": "reference", "same": "pos"}, "leave same= and background= out"),
        ({"beta": "0.1:1.2"}, "at most 1"),
        ({"beta": "0.1-0.3"}, "a range such as 0.1:0.5"),
        ({"avoid": "/nowhere/words.txt"}, "avoid='/nowhere/words.txt': cannot be read"),
        ({"keep": "/nowhere/words.txt"}, "cannot be read"),
    ],
)
def test_wrong_parameters_are_named(sample_store, parameters, message):
    with pytest.raises(UsageError, match=message):
        augment_cli.augment(["A river."], "una", store=sample_store, **parameters)


# A year is drawn from its own decade, or from its own century where it is of long ago.
YEARS = [str(year) for year in range(1950, 2020) for _ in range(4)] + ["1492", "1415", "1588", "1583"] * 3
TEXTS = [f"The bridge over the river was built in {year} by the people of the town." for year in YEARS]


def early(years):
    return sum(int(year) < 1700 for year in years) / len(years)


@pytest.mark.parametrize("background", ["auto", "always", "none"])
def test_years_are_drawn_as_often_as_the_corpus_has_them(tmp_path, background):
    store = tmp_path / "store"
    augment_cli.ingest_corpus(store=store, texts=TEXTS)
    augment_cli.run("entity-swap", store, background=background, draws=4)
    stages = [augment_cli.open_store(store).read(f"entity-swap{end}") for end in ("", ".1", ".2", ".3")]
    texts = " ".join(text for stage in stages for text in stage["text"].to_pylist() if text)
    drawn = re.findall(r"\b(1[0-9]{3}|20[0-9]{2})\b", texts)
    assert len(drawn) > 800
    assert early(drawn) == pytest.approx(early(YEARS), abs=0.04)


def edited(table: pa.Table) -> list[tuple[str, str]]:
    return [
        (row["original"][edit["start"] : edit["end"]], edit["replacement"])
        for row in table.to_pylist()
        for edit in row["edits"]
    ]


@pytest.mark.parametrize("options", [{}, {"same": "pos"}, {"terms": "random"}])
def test_only_words_change_places(sample_store, options):
    table = augment_cli.augment(LINES[:300], "una", store=sample_store, beta=0.9, **options)
    pairs = edited(table)
    assert len(pairs) > (40 if options.get("same") == "pos" else 500)
    for old, new in pairs:
        assert old[0].isalnum()
        assert new.strip()[0].isalnum()
        assert not set(new) & set('()[]{}"“”')
        assert old not in {"n't", "'s", "ca", "wo"}


@pytest.mark.parametrize("apostrophe", ["'", "’"])
def test_contractions_stay_whole_with_either_apostrophe(fitted, apostrophe):
    sentence = f"Anna{apostrophe}s river isn{apostrophe}t cold."
    store = fitted([sentence, "We'll see the town.", "The bridge can't fall.", "They met Anna near a river."])
    options = {"store": store, "positions": "random", "beta": 1.0, "background": "none"}
    table = augment_cli.augment([sentence] * 40, "una", **options)
    assert {old for old, _ in edited(table)} == {"Anna", "river", "cold"}
    for text in table["text"].to_pylist():
        assert f"{apostrophe}s " in text
        assert f"isn{apostrophe}t " in text


def settled_table(store: Store) -> TermTable:
    """The table of a store with its forms, and the cases that are unknown settled."""
    own = TermTable.read(store, "terms", "forms")
    return vocabulary.vocabulary_of(own, False, (), "any").table


def test_forms_are_counted_as_by_hand(sample_store):
    """Each term that is met inside sentences has the case that most of its tokens there have."""
    from augment_cli.tokenization import get_tokenizer

    counts: dict[str, list[int]] = {}
    tokens = get_tokenizer("treebank")(pa.array(LINES))
    for text, first, last in zip(LINES, tokens.row_offsets[:-1], tokens.row_offsets[1:], strict=True):
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
        if term in counts and case != MIXED:
            small, capital, capitals = counts[term]
            expected = 2 if capitals > max(small, capital) else 1 if capital > small else 0
            assert case == expected, term
            seen += 1
    assert seen > 2_000


def test_same_part_of_speech_draws_within_classes(sample_store):
    table = augment_cli.augment(LINES, "una", store=sample_store, same="pos", background="none", beta=0.5)
    own = settled_table(sample_store)
    classes = dict(zip(own.terms.to_pylist(), classes_of(own).tolist(), strict=True))
    pairs = [(old.lower(), new.strip().lower()) for old, new in edited(table)]
    assert len(pairs) > 200 and all(classes[old] == classes[new] >= 0 for old, new in pairs)
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
        (("attacked", "defended"), "accepted"),
        (("france", "sweden"), "paris"),
        (("france", "sweden"), "peru"),  # of another part of the world
        (("spanish", "dutch"), "swedish"),  # `the Dutch`, but hardly `the Swedish`
        (("1923", "1927"), "1933"),
        (("20", "70"), "27"),
        (("4,000", "7,000"), "4,300"),
        (("monday", "friday"), "june"),
    ],
)
def test_classes_tell_kinds_and_forms_apart(alike, different):
    terms = pa.array([*alike, different])
    table = TermTable(terms, np.ones(3), np.ones(3), np.zeros(3, np.int8))
    first, second, other = classes_of(table).tolist()
    assert first == second != other


def test_some_words_have_no_class():
    # Of no kind, in no table, of several parts of speech, not of a number's size alone.
    words = ["thou", "qqxyz", "ago", "idea", "attack", "30-34", "8", "007", "million"]
    table = TermTable(pa.array([*words, "winter"]), np.ones(10), np.ones(10), np.zeros(10, np.int8))
    assert classes_of(table).tolist() == [-1] * 9 + [0]


@pytest.mark.parametrize("name", ["entity_kinds", "exchangeable_words"])
def test_a_word_is_of_one_kind(name):
    lines = resources.word_table(name)
    assert len(lines[0]) == 1 or all(len(line) == 2 and line[0] in "nvar-" for line in lines)
    words = [(line[0] if len(line) == 2 else "", word) for line in lines for word in line[-1].split()]
    assert len(words) == len(set(words)) > 250


LONGER = {
    "He met the governor in 1950 and the mayor in 1953.": {"1950", "1953"},  # the order of years
    "Chapter 3 and No. 5 are from Paris Hilton.": {"3", "5", "Paris"},
    "It seats 20 or 21, with 50–60 outside.": {"20", "21", "50", "60"},
    "It has over 1984 seats and weighs 2000 tons.": {"1984", "2000"},
    "The University of London and the Treaty of Rome are old.": {"London", "Rome"},
    "On 30 March they left Manchester, New Hampshire.": {"30", "Manchester", "Hampshire"},
    # what comes again
    "The town won, since the town had an Italian from Italy.": {"town", "Italian", "Italy"},
    # names of a headline, of which nothing says how they hang together, behind the first that changes
    "norway beats finland stockholm crowd cheers late winner monday": {"finland", "stockholm"},
}


KINDS = "It was in 1923 that a physicist from Norway, who had 27 friends, played the piano."
MAPLES = ["It is a norway maple.", "We saw Norway.", "no norway here"]


@pytest.fixture(scope="module")
def exchanged(fitted):
    """What each text's words become, where any may be replaced by one of its kind."""
    texts = [*LONGER, KINDS, *MAPLES]
    options = {"same": "pos", "positions": "random", "beta": 1.0, "background": "always"}
    table = augment_cli.augment(texts * 20, "una", store=fitted(texts), **options)
    of = [pa.array(range(place, len(table), len(texts))) for place in range(len(texts))]
    return {text: edited(table.take(rows)) for text, rows in zip(texts, of, strict=True)}


def test_parts_of_something_longer_stay(exchanged):
    for text, kept in LONGER.items():
        assert not {old for old, _ in exchanged[text]} & kept, text


def test_names_numbers_and_words_of_a_kind_change(exchanged):
    pairs = exchanged[KINDS]
    assert {old for old, _ in pairs} >= {"1923", "piano", "physicist", "Norway", "27"}
    assert all(new[:3] == "192" for old, new in pairs if old == "1923")
    assert all(new[0] not in "aeio" for old, new in pairs if old == "physicist")  # behind `a`


def test_a_name_stays_where_it_is_none(exchanged):
    replaced = [{old for old, _ in exchanged[text]} for text in MAPLES]
    assert "norway" not in replaced[0]
    assert "Norway" in replaced[1]
    assert "norway" in replaced[2]  # a text without capitals has its names in small letters


def test_a_name_changes_everywhere_alike(fitted):
    text = "Norway won, since Norway had luck."
    options = {"same": "pos", "positions": "random", "beta": 0.5, "background": "always"}
    table = augment_cli.augment([text] * 20, "una", store=fitted([text]), **options)
    texts = [row["text"] for row in table.to_pylist() if row["text"]]
    assert texts
    assert all(first == second for first, second in (re.findall(r"[A-Z]\w+", text) for text in texts))


def test_a_range_of_shares_goes_from_the_first_to_the_last_draw():
    run = make_run("una", beta="0.1:0.5")
    assert [run.of_draw(draw, 3).parameters.beta for draw in range(3)] == ["0.1", "0.3", "0.5"]
    assert run.of_draw(0, 1).parameters.beta == "0.1:0.5"


def test_in_a_single_draw_a_range_is_spread_over_the_rows():
    shares = shares_of_rows("0.1:0.5", stream_key(1, "una/beta"), np.arange(20_000))
    assert 0.1 <= shares.min() < 0.101
    assert 0.499 < shares.max() < 0.5
    assert np.mean(shares) == pytest.approx(0.3, abs=0.005)
    assert (shares_of_rows("0.4", 7, np.arange(3)) == 0.4).all()


def test_the_papers_radius_with_another_surface_is_said(sample_store):
    def says(name: str, **options: str) -> bool:
        return any("--surface in-place" in note for note in make_run(name, **options).notes(sample_store))

    assert says("una", radius="4000") and not says("una", radius="1%")
    assert not any(says("una", radius="4000", surface=other) for other in ("in-place", "reference"))
    assert not says("una", radius="4000", same="pos") and not says("uda", radius="4000")


@pytest.mark.parametrize("surface", ["in-place", "reference"])
def test_the_papers_surfaces_have_the_settings_of_the_first_version(sample_store, surface):
    """A stage made by 0.1.0 goes on: its settings name what they named then, and nothing else."""
    run = replace(make_run("una", surface=surface), protection=0)  # as of a stage that was begun without
    settings = run.settings(sample_store)
    own = {"beta": 0.5, "radius": 31, "positions": "tfidf", "terms": "tfidf", "include_self": False}
    name = "natural" if surface == "in-place" else surface
    assert settings.parameters == own | {"keep": None, "surface": name, "draw": 0}
    assert set(settings.inputs) == {"corpus", "tfidf", "terms"}


def test_avoided_words_are_never_drawn(sample_store, tmp_path):
    options = {"store": sample_store, "beta": 0.9, "background": "none"}
    usual = {new.strip().lower() for _, new in edited(augment_cli.augment(LINES, "una", **options))}
    avoided = sorted(usual)[::2]
    (tmp_path / "avoid.txt").write_text("\n".join(avoided), "utf-8")
    table = augment_cli.augment(LINES, "una", avoid=str(tmp_path / "avoid.txt"), **options)
    drawn = {new.strip().lower() for _, new in edited(table)}
    assert len(drawn) > 500
    assert not drawn & set(avoided)


def test_the_shipped_list_is_on_by_default_and_can_be_refused(fitted):
    word = resources.word_list("vulgar_words")[0]
    store = fitted([f"A {word} river.", f"The {word} town.", "The river and the town."])
    texts = ["The river and the town."] * 60
    options = {"store": store, "beta": 1.0, "background": "none", "radius": 50}
    clean = augment_cli.augment(texts, "una", **options)["text"].to_pylist()
    loose = augment_cli.augment(texts, "una", avoid="none", **options)["text"].to_pylist()
    assert not any(word in text.lower().split() for text in clean)
    assert any(word in re.findall(r"\w+", text.lower()) for text in loose)


def test_no_synonym_in_any_sense_is_vulgar():
    texts = ["The member of the house had a rooster and a behind."] * 300
    vulgar = set(resources.word_list("vulgar_words"))

    def drawn(avoid: str) -> set[str]:
        table = augment("random-insertion", texts, senses="any", rate=0.5, avoid=avoid)
        return {word for text in table["text"].to_pylist() for word in re.findall(r"\w+", text.lower())}

    assert drawn("none") & vulgar
    assert not drawn("vulgar") & vulgar


def test_a_joined_table_is_the_fit_of_both_corpora(fitted, monkeypatch):
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
    found, expected = (
        dict(zip(table.terms.to_pylist(), zip(table.idf, table.max_score, strict=True), strict=True))
        for table in (joined, both)
    )
    del found["."], expected["."]  # in every sentence of both: its share of them is not in the tables
    assert found == {term: pytest.approx(values) for term, values in expected.items()}
    assert (np.diff(joined.max_score) <= 0).all()
    assert joined.terms.take(pa.array(ids[:-1])).to_pylist() == own.terms.to_pylist()
    assert ids[-1] == -1


def table_of(store: Store, sentences: list[str]) -> TermTable:
    folder = store.path.with_name(f"{len(sentences)}")
    (folder.with_suffix(".txt")).write_text("\n".join(sentences) + "\n", "utf-8")
    augment_cli.ingest_corpus(folder.with_suffix(".txt"), folder)
    return TermTable.read(augment_cli.fit(folder, jobs=1), "terms", "forms")


def test_a_small_english_corpus_is_joined_and_told_so(sample_store):
    run = make_run("una")
    (note,) = run.notes(sample_store)
    assert "1,406 sentences, fewer than 20,000" in note
    assert "--background none" in note
    assert run.settings(sample_store).parameters["background"]
    alone = make_run("una", background="none")
    assert alone.notes(sample_store) == []
    assert alone.settings(sample_store).parameters["background"] is None


def shipped_are_drawn(
    table: TermTable, same: str, terms: list[str] | None = None, joins: str = "auto"
) -> bool:
    """Whether shipped words come for some terms of a corpus, or any, where the shipped table joins."""
    joined = vocabulary.vocabulary_of(table, True, (), same, joins)
    ids = joined.own[:-1] if terms is None else joined.own[table.ids_of(pa.array(terms))]
    ids = np.repeat(ids[joined.replaceable[ids]], 50)
    drawn = joined.draw(ids, 100, np.arange(len(ids)) % 50 / 50, False)
    return not np.isin(drawn, joined.own).all()


def test_the_own_words_of_a_corpus_come_before_the_shipped_ones(sample_store):
    table = TermTable.read(sample_store, "terms", "forms")
    assert not shipped_are_drawn(table, "any")
    assert not shipped_are_drawn(table, "pos", ["monday"])
    # a kind of which the corpus has few words, and a corpus that has few
    assert shipped_are_drawn(table, "pos", ["canada"])
    assert shipped_are_drawn(table_of(sample_store, LINES[:50]), "any")
    assert shipped_are_drawn(table, "any", joins="always")


def sentences_of(words: list[str], others: list[str]) -> list[str]:
    """Sentences of ten words: nine of the first, and every one of the others once in turn."""
    return [
        " ".join([*(words[(9 * n + place) % len(words)] for place in range(9)), others[n % len(others)]])
        + "."
        for n in range(400)
    ]


@pytest.mark.parametrize(
    ("common", "own", "said", "is_joined"),
    [
        (2_000, 40, ["drawn from these 2,04", "--background always"], False),
        (300, 20, ["so common words will stand out"], True),
    ],
)
def test_a_domain_with_words_of_its_own_draws_from_these_alone_where_they_are_many(
    fitted, common, own, said, is_joined
):
    english = [term for term in load_english_terms().terms.to_pylist() if term.isalpha()][:common]
    store = fitted(sentences_of(english, [f"qz{chr(97 + n % 26)}{chr(97 + n // 26)}x" for n in range(own)]))
    run = make_run("una")
    (note,) = run.notes(store)
    assert "knows 90% of its words" in note and all(words in note for words in said)
    assert (run.settings(store).parameters["background"] is not None) == is_joined
    assert make_run("una", background="always").settings(store).parameters["background"]


def test_a_corpus_in_another_language_is_not_joined(fitted):
    store = fitted(["Der Fluss fließt langsam durch die alte Stadt.", "Die Brücke führt über den Fluss."])
    assert make_run("una").settings(store).parameters["background"] is None


def test_uda_replaces_words_by_words_of_nearly_the_same_meaning(fitted):
    sentence = "The largest town often has a supply of rivers in large part."
    store = fitted([sentence, "The town has a bridge.", "Rivers flow."])
    table = augment_cli.augment([sentence] * 200, "uda", store=store, positions="random", beta=1.0)
    assert set(edited(table)) == {("largest", "biggest"), ("often", "frequently")}


def test_uda_leaves_phrases_and_names(fitted, tmp_path):
    texts = ["He did not nearly see it.", "The Film Academy opened.", "It happened to rain.", "Big Ben rang."]
    store = fitted(texts)
    table = augment_cli.augment(texts * 20, "uda", store=store, positions="random", beta=1.0)
    assert table["text"].null_count == len(texts) * 20
    (tmp_path / "avoid.txt").write_text("frequently", "utf-8")
    options = {"positions": "random", "beta": 1.0, "avoid": str(tmp_path / "avoid.txt")}
    assert augment_cli.augment(["It often rains."], "uda", store=store, **options)["text"].null_count == 1


@pytest.mark.parametrize("options", [{"surface": "reference"}, {"same": "pos"}])
def test_uda_says_what_goes_together(options):
    with pytest.raises(UsageError, match="add --terms tfidf"):
        make_run("uda", **options)
