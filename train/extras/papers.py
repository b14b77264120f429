"""Whether a recipe with a paper's name trains on that paper's texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from augment_cli.errors import UsageError
from augment_cli.store.store import Store
from train.recipe import Recipe

# What `--paper` changes of a recipe; loss, batch and rates are the papers' in any case.
_EIGHT = "contraction,diverse-paraphrase,casual-to-formal,negation-removal,tense,discourse-marker"
_CHANGES: dict[str, tuple[str, ...]] = {
    "una": (),
    "sda": ("labels=kind",),
    "augcse": (f"discriminator.stages={_EIGHT},subject-object-switch,random-swap",),
}
# By recipe and augmentation, where the default is not the paper's: the options that are, and how its
# recorded settings tell (of UNA's surfaces `natural` alone, which the paper does not have, has `same`).
_OWN: dict[str, dict[str, tuple[str, Callable[[Mapping[str, Any]], bool]]]] = {
    "sda": dict.fromkeys(("aa", "dn"), ("--mode paper", lambda made: made["mode"] != "faithful")),
    "una": {
        "una": (
            "--surface in-place --radius 4000",
            lambda made: made["radius"] == 4000 and "same" not in made,
        )
    },
}


def changes(recipe: str) -> tuple[str, ...]:
    """What `--paper` changes of a recipe; raises `UsageError` for one without a paper's texts."""
    if recipe not in _CHANGES:
        raise UsageError(f"--paper: {recipe} is none of {', '.join(_CHANGES)}; leave --paper out")
    return _CHANGES[recipe]


def check(recipe: Recipe, store: Store) -> None:
    """Refuse texts that are not the paper's."""
    if said := unlike_paper(recipe, store, _CHANGES):
        raise UsageError(said[0])


def unlike_paper(recipe: Recipe, store: Store, recipes: Iterable[str] = ("sda",)) -> list[str]:
    """A warning for each text of one of some recipes that its paper makes otherwise."""
    said = []
    for name in sorted({*recipe.positives, *recipe.negatives} & {*store.stages()}):
        made_by = (settings := store.stage(name).settings)["stage"]
        own, is_own = _OWN.get(recipe.name, {}).get(made_by, ("", None))
        if recipe.name not in recipes or is_own is None or is_own(settings["parameters"]):
            continue
        kind = "positives" if name in recipe.positives else "negatives"
        said.append(
            f"{name}: sentences of `{made_by}` that are not the paper's: a score of this run is not "
            f"{recipe.name.upper()}'s. `augment-cli run {recipe.name} --paper` makes the paper's in a store "
            f"of its own, `augment-cli {made_by} {own} --name {made_by}-paper` in this one "
            f"(--set {kind}={made_by}-paper)"
        )
    return said
