"""The page that says what of the papers is here."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from augment_cli.errors import UsageError
from benchmarks.reproduce.coverage import PAGES, Item, load_items, page, singles_table, whole_page
from benchmarks.reproduce.grid import load_grid

GRID = load_grid()


def test_the_page_is_what_the_items_and_the_results_give() -> None:
    assert (PAGES / "coverage.md").read_text(encoding="utf-8") == whole_page(GRID)


def test_rows_show_the_papers_number_and_sweeps_their_best() -> None:
    items = [
        Item("A", "rows", ("una", "mix")),
        Item("A", "a sweep", ("una-alpha",), lacks="more"),
        Item("B", "elsewhere", see="a page"),
    ]
    measured = {"una": {"average": 66.94}, "una-alpha-1": {"dev": 77.0}, "una-alpha-5": {"dev": 76.0}}
    lines = page(GRID, items, measured).splitlines()
    start = lines.index("## A")
    assert lines[start + 4] == f"| rows | UNA, pool *66.9* (76.14); {GRID.row('mix').title} not trained |  |"
    assert lines[start + 5] == (
        "| a sweep | `una-alpha` *76.0 to 77.0*, best at 1 (5), 3 values not trained | more |"
    )
    assert lines[lines.index("## B") + 4] == "| elsewhere | a page |  |"


def test_a_row_at_its_own_rate_goes_before_an_older_one_and_words_are_filled_in() -> None:
    items = [Item("A", "rows", ("una", "paraphrase-t5"), see="a course of {course}")]
    measured = {"una": {"average": 66.94}}
    lines = page(GRID, items, measured, {"una": {"average": 70.0}}, {"course": "1, 2 %"}).splitlines()
    untrained = GRID.row("paraphrase-t5").title
    assert lines[-1] == f"| rows | UNA, pool 70.0 (76.14); {untrained} not trained; a course of 1, 2 % |  |"


def test_beside_a_row_that_has_an_older_number_alone_the_others_show_theirs_too() -> None:
    measured = {"una": {"average": 66.94}, "mix": {"average": 60.0}}
    shown = page(GRID, [Item("A", "rows", ("una", "mix"))], measured, {"una": {"average": 70.0}})
    assert f"| UNA, pool 70.0 *66.9* (76.14); {GRID.row('mix').title} *60.0* |" in shown


def test_a_number_of_the_table_goes_before_that_of_the_rows_own_paper() -> None:
    items = [Item("A", "rows", ("una", "mix"), paper_points={"una": 75.5, "mix": 70})]
    mix = GRID.row("mix").title
    assert f"| UNA, pool not trained (75.5); {mix} not trained (70) |" in page(GRID, items, {})


def test_where_training_took_the_encoder_down_the_number_is_called_the_starts() -> None:
    item = Item("A", "rows", ("una", "una-alpha"))
    measured = {
        "una": {"average": 66.94, "last": 60.0},
        "una-alpha-1": {"dev": 77.0, "last": 70.0},
        "una-alpha-3": {"dev": 77.5},
    }
    lines = page(GRID, [item], measured).splitlines()
    assert "UNA, pool *66.9*, the start (76.14); `una-alpha` *77.0 to 77.5*, best at 3" in lines[-1]
    assert "1 of 2 the start" in lines[-1]


def test_a_sweep_at_its_rows_own_rate_has_its_average_too() -> None:
    tuned = {
        f"vascl-near-synonym-rate-{value}": {"dev": dev, "average": dev - 8}
        for value, dev in {"synonym-5": 78.0, "synonym": 78.5, "synonym-20": 77.0}.items()
    }
    lines = page(GRID, [Item("A", "a sweep", ("vascl-near-synonym-rate",))], {}, tuned).splitlines()
    assert lines[-1] == (
        "| a sweep | `vascl-near-synonym-rate` 77.0 to 78.5, best at synonym, STS 69.0 to 70.5 |  |"
    )


def test_each_augmentation_alone_stands_beside_the_paper() -> None:
    profile = GRID.profiles["singles-last"]
    names = [row.name for row in GRID.of_profile(profile).rows]
    measured = {name: {"dev": 50.0 + number, "transfer": 70.0} for number, name in enumerate(names)}
    sweep = next(sweep for sweep in GRID.sweeps if sweep.name == "augcse-single-positive")
    transfers = dict.fromkeys(sweep.values, (80.5, math.nan))
    lines = singles_table(GRID, measured, transfers).splitlines()
    assert len(lines) == 2 + 2 + len(sweep.values)
    assert lines[2] == "| no training | 50.0 | 70.0 |  |  |"
    colour = [f"{measured[f'augcse-single-{side}-colour']['dev']:.1f}" for side in ("positive", "negative")]
    assert f"| colour | {colour[0]} (77) | 70.0 (80.5) | {colour[1]} (71) | 70.0 |" in lines


def test_a_sweep_that_is_scored_has_all_its_points_scored() -> None:
    profile = GRID.profiles["singles-last"]
    scored = GRID.of_profile(profile).evaluations["transfer"].rows
    assert {row.name for row in GRID.of_profile(profile).rows} == {*scored}


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ('rows = ["nothing"]', "no row or sweep is called nothing"),
        ('rows = ["una"]\npaper_points = { uda = 70 }', "`paper_points` of rows it lacks: uda"),
        ("", "give rows, `see` or `lacks`"),
    ],
)
def test_an_item_without_an_answer_is_refused(tmp_path: Path, item: str, message: str) -> None:
    path = tmp_path / "coverage.toml"
    path.write_text(f'[[item]]\npaper = "A"\nwhat = "it"\n{item}\n', encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        load_items(GRID, path)
