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
    assert lines[start + 4] == f"| rows | UNA, pool *66.9* (76.1); {GRID.row('mix').title} not trained |  |"
    assert lines[start + 5] == (
        "| a sweep | `una-alpha` 76.0 to 77.0, best at 1 (5), 3 values not trained | more |"
    )
    assert lines[lines.index("## B") + 4] == "| elsewhere | a page |  |"


def test_a_row_at_its_own_rate_goes_before_an_older_one_and_words_are_filled_in() -> None:
    items = [Item("A", "rows", ("una", "mix"), see="a course of {course}")]
    measured = {"una": {"average": 66.94}, "mix": {"average": 60.0}}
    lines = page(GRID, items, measured, {"una": {"average": 70.0}}, {"course": "1, 2 %"}).splitlines()
    mix = GRID.row("mix").title
    assert lines[-1] == f"| rows | UNA, pool 70.0 (76.1); {mix} *60.0*; a course of 1, 2 % |  |"


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
    [('rows = ["nothing"]', "no row or sweep is called nothing"), ("", "give rows, `see` or `lacks`")],
)
def test_an_item_without_an_answer_is_refused(tmp_path: Path, item: str, message: str) -> None:
    path = tmp_path / "coverage.toml"
    path.write_text(f'[[item]]\npaper = "A"\nwhat = "it"\n{item}\n', encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        load_items(GRID, path)
