"""Maps and figures of pages, marked changes, and the bad stage that a page names first."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import augment_cli
from augment_cli.pages import figures
from augment_cli.pages.drawing import histogram, interval, lines, overlap_of, stacked_bar
from augment_cli.pages.figures import write_adaptation
from augment_cli.pages.layout import marked, word_edits
from augment_cli.pages.report import write_report
from tests.helpers.made_stores import spoil, store_of

TOPICS = ("river <water>", "oven & bread", "planet moon")
TEXTS = [f"{topic} number {n}" for topic in TOPICS for n in range(20)]
SAID = {
    "message": "better `for` topics",
    "scores": {"half": {"before": 0.1, "best": 0.2}},
    "following": ["model: x"],
}


def vectors(spread, seed=0):
    centres = np.repeat(np.eye(3, 8), 20, axis=0)
    return centres + spread * np.random.default_rng(seed).normal(size=(60, 8))


def test_texts_of_a_topic_lie_together_and_are_named_by_their_words():
    near, far = figures.places_of(vectors(0.1), vectors(5.0))
    assert near.shape == far.shape == (60, 2)

    def together(places):
        apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 1e9 * np.eye(60)
        return float((apart.argmin(axis=1) // 20 == np.arange(60) // 20).mean())

    assert together(near) == 1 and together(far) < 0.7
    groups = np.repeat([0, 1, 2], 20)
    for name, word in zip(figures.names_of(groups, TEXTS), ("river", "oven", "moon"), strict=True):
        assert word in name.split(", ")
    found = np.split(figures.groups_of(vectors(0.1), vectors(0.1, 1)), 3)
    assert not set(found[0]) & set(found[1]) and not set(found[1]) & set(found[2])


def test_the_page_of_an_adaptation_has_two_maps_and_the_nearest_texts(tmp_path):
    before, after = vectors(5.0), vectors(0.1)
    page = write_adaptation(tmp_path, "Adaptation <x>", SAID, TEXTS, before, after).read_text("utf-8")
    assert page.count("<svg") == 2 and page.count("<circle") == 120 and "<water>" not in page
    assert "river &lt;water&gt; number 0</title>" in page and "half" in page and "model: x" in page
    rows = re.findall(r'<tr class="texts">.*?>([^<]+)</th><td[^>]*>([^<]+)</td><td[^>]*>([^<]+)</td>', page)
    assert len(rows) == 10
    nearest = (figures.unit(after) @ figures.unit(after).T - 2 * np.eye(60)).argmax(axis=1)
    shown = [text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for text in TEXTS]
    for text, one, other in rows:
        assert other == shown[nearest[shown.index(text)]] != one
    assert (tmp_path / "map.png").read_bytes()[:4] == b"\x89PNG"
    assert "://" not in page and "default-src &#39;none&#39;" in page


@pytest.fixture
def first(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sentences = augment_cli.SAMPLE.read_text("utf-8").splitlines()[:150]
    augment_cli.run("crop", "store", texts=sentences, jobs=1)
    return augment_cli.run("random-sentence", "store", jobs=1)


def test_a_first_report_has_cosines_and_a_map_also_as_png(first, tmp_path):
    written = first.report(png=True)
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "crop (neither): median" in page and "by the shipped static encoder" in page
    assert page.count("<circle") == 150 and "No cosines yet" not in page
    assert written["pictures"] == ["report.cosines.png", "report.map.png"]
    assert all((tmp_path / name).read_bytes()[:4] == b"\x89PNG" for name in written["pictures"])
    names = re.findall(r'data-name="([^"]+)"', page[: page.index("</tbody>")])
    assert names[:4] == ["label", "rows", "changed", "why not"]
    assert page.index("random-sentence</code>: easy negatives") < page.index("Stages</h2>")


def test_scores_stand_in_the_place_of_the_shipped_encoder(first, tmp_path):
    first.score("crop", columns=["cosine"], model="static", jobs=1)
    first.report()
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "crop (neither): median" in page and "random-sentence (other): median" not in page
    assert "by the shipped static encoder" not in page[: page.index("A map of them")]


values = st.lists(st.floats(-2, 2), min_size=1, max_size=50).map(np.array)


@given(values, values)
def test_an_overlap_is_symmetric_and_whole_with_itself(first, second):
    share = overlap_of(first, second, 0.0, 1.0, 20)
    assert 0.0 <= share <= 1.0 and share == pytest.approx(overlap_of(second, first, 0.0, 1.0, 20))
    assert overlap_of(first, first, 0.0, 1.0, 20) == pytest.approx(1.0)


def test_a_picture_says_what_it_shows_and_escapes_it():
    picture = histogram([("a", np.array([0.1])), ("b", np.array([0.1, 0.9]))], 0.0, 1.0, 10, 'a "<b>"')
    assert 'aria-label="a &#34;&lt;b&gt;&#34;"' in picture and picture.count('class="overlap"') == 1
    assert "<title>a&lt;b: 50.0 %</title>" in stacked_bar([("a<b", 0.5)], "says")


def test_a_line_has_a_few_hundred_points_within_its_frame_and_leaves_out_what_is_not_a_number():
    values = np.where(np.arange(5_000) % 7, np.sin(np.arange(5_000)), np.nan)
    picture = lines([("loss", np.arange(5_000), values)], "says")
    drawn = re.search('points="([^"]+)"', picture)[1].split()
    points = [tuple(map(float, point.split(","))) for point in drawn]
    assert 200 <= len(points) <= 300
    assert all(0 <= x <= 640 and 0 <= y <= 180 for x, y in points)
    assert [x for x, _ in points] == sorted(x for x, _ in points)
    assert "nan" not in picture
    assert lines([("loss", np.arange(3), np.full(3, np.nan))], "says") == ""


def applied(original, edits):
    for edit in reversed(edits):
        original = original[: edit["start"]] + edit["replacement"] + original[edit["end"] :]
    return original


@given(st.text(), st.text())
def test_edits_by_words_make_one_text_of_the_other(original, text):
    assert applied(original, word_edits(original, text)) == text
    assert word_edits(original, original) == []


def test_whole_words_are_marked_and_markup_is_text():
    before, after = marked("The <b>old</b> mill stood.", "The <b>new</b> mill isn't there.")
    assert before == "The &lt;b&gt;<del>old</del>&lt;/b&gt; mill <del>stood</del>."
    assert after == "The &lt;b&gt;<ins>new</ins>&lt;/b&gt; mill <ins>isn&#39;t there</ins>."
    edit = {"start": 4, "end": 7, "replacement": "young"}
    assert marked("The old mill.", "The young mill.", [edit])[1] == "The <ins>young</ins> mill."


def test_long_texts_are_cut_where_that_is_asked_for():
    text = "a long tale " * 200
    assert len(marked(text, "b" + text, most=50)[0]) < 120 < len(marked(text, "b" + text)[0])
    assert len(word_edits(text * 10, "b" + text * 10)) == 1  # comparing such texts would take too long


def first_notice(folder, *names):
    """The first sentence of the page of a store with these stages, and the page's list of such sentences."""
    lines = [f"The {'young' if n % 10 else 'naïve'} keeper saw the heron of river {n}." for n in range(120)]
    written = write_report(store_of(folder, lines, *names), folder / "report.html")
    page = (folder / "report.html").read_text("utf-8")
    return written["notices"][0], re.search(r'<h2 id="look">.*?</section>', page, re.DOTALL)[0]


def test_the_page_names_the_stage_with_a_defect_first(tmp_path, monkeypatch):
    spoil(monkeypatch, "synonym", lambda text: text.replace("ï", ""))
    noise = ("random-swap", "word-deletion", "random-sentence", "word-repetition", "crop")
    notice, look = first_notice(tmp_path, *noise, "synonym")
    assert notice.startswith("synonym: ") and "have words without ï" in notice
    first = look.partition("</li>")[0]
    assert re.search(r'<br><span class="about">[A-Z].+\.</span>', first), first  # the advice
    assert "`" not in look


def test_noise_alone_is_named_as_what_it_may_be_made_for(tmp_path):
    assert "see whether it is meant to be so" in first_notice(tmp_path, "word-repetition")[0]


def test_an_interval_stands_on_its_scale():
    picture = interval(2.0, 4.0, 6.0, 2.0, 6.0, "from 2 to 6")
    assert 'x1="4.0" x2="116.0"' in picture and 'cx="60.0"' in picture
    assert 'x1="4.0" x2="4.0"' in interval(1.0, 1.0, 1.0, 1.0, 1.0, "one value")
