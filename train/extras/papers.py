"""Whether a recipe with a paper's name trains on that paper's texts."""

from augment_cli.runs.recipe import PAPERS, load, of_paper
from augment_cli.store.store import Store
from train.recipe import Recipe


def changes(recipe: str) -> tuple[str, ...]:
    """What `--paper` changes of a recipe; raises `UsageError` for one without a paper's texts."""
    stages = ",".join(one.stage for one in load(of_paper(recipe)))
    return {"sda": ("labels=kind",), "augcse": (f"discriminator.stages={stages}",)}.get(recipe, ())


def unlike_paper(recipe: Recipe, store: Store) -> list[str]:
    """A warning for each text of UNA or SDA that the paper makes otherwise."""
    paper = load(PAPERS[recipe.name]) if recipe.name in ("una", "sda") else []
    said = []
    for name in sorted({*recipe.positives, *recipe.negatives} & {*store.stages()}):
        made = store.stage(name).settings
        own = [one.run for one in paper if one.run.name == made["stage"]]
        if own and not any(run.makes(store, made["parameters"]) for run in own):
            column = "positives" if name in recipe.positives else "negatives"
            said.append(
                f"{name}: sentences of `{made['stage']}` that are not the paper's: a score of this run is "
                f"not {recipe.name.upper()}'s. `augment-cli run {recipe.name} --paper --store OTHER` makes "
                f"them in a store of its own (--set {column}=NAME takes another stage of this one)"
            )
    return said
