"""What a run under a paper's name reads that is not the paper's."""

from __future__ import annotations

from augment_cli.store.store import Store
from train.recipe import Recipe

_OF_PAPERS = {"sda": ("aa", "dn")}  # augmentations whose default mode is another than the paper's, by recipe


def unlike_the_paper(recipe: Recipe, store: Store) -> list[str]:
    """A warning for each positive of the recipe that its paper makes otherwise."""
    said = []
    for name in recipe.positives:
        if name not in store.stages():  # the sentence itself
            continue
        settings = store.stage(name).settings
        made_by = settings["stage"]
        if made_by in _OF_PAPERS.get(recipe.name, ()) and settings["parameters"]["mode"] == "faithful":
            said.append(
                f"{name}: sentences of `{made_by}` in its default mode, which are not the paper's: a score "
                f"of this run is not {recipe.name.upper()}'s. `augment-cli run paper-{recipe.name}` makes "
                f"the paper's in a store of its own, `augment-cli {made_by} --mode paper "
                f"--name {made_by}-paper` in this one (--set positives={made_by}-paper)"
            )
    return said
