"""Changes that are marked: by a stage's edits, or by words."""

from hypothesis import given
from hypothesis import strategies as st

from augment_cli.pages.marking import marked, word_edits


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
