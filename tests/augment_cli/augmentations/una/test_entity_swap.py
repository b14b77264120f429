"""Names and years are drawn as often as they are written, in small corpora too."""

import re

import pytest

import augment_cli

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
    drawn = []
    for stage in ("entity-swap", "entity-swap.1", "entity-swap.2", "entity-swap.3"):
        for row in augment_cli.open_store(store).read(stage)["text"].to_pylist():
            drawn += re.findall(r"\b(1[0-9]{3}|20[0-9]{2})\b", row or "")
    assert len(drawn) > 800
    assert early(drawn) == pytest.approx(early(YEARS), abs=0.04)
