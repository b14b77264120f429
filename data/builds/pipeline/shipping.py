"""From a trained pipeline to the shipped folder: nothing that only training needs, a licence and a card."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import srsly
from spacy.language import Language
from spacy.pipeline._edit_tree_internals.edit_trees import EditTrees
from spacy.strings import StringStore

from data.builds.frame import LICENSE

NO_TREE = 2**32 - 1  # spaCy's mark of a side without a tree


def prune_trees(lemmatizer: Any) -> None:
    """Drop the edit trees that no label uses; training adds one for every lemma it meets."""
    # A tree is a node that replaces a string, or one that keeps a middle part and has trees for what is
    # before and after it.
    nodes = srsly.msgpack_loads(lemmatizer.trees.to_bytes())["trees"]
    kept: dict[int, int] = {}  # old position to new
    pruned: list[dict[str, Any]] = []

    def keep(old: int) -> int:
        if old not in kept:
            node = dict(nodes[old])
            for side in ("prefix_tree", "suffix_tree"):
                if node.get(side, NO_TREE) != NO_TREE:
                    node[side] = keep(node[side])
            kept[old] = len(pruned)
            pruned.append(node)
        return kept[old]

    labels = [keep(label) for label in lemmatizer.cfg["labels"]]
    lemmatizer.trees = EditTrees(lemmatizer.vocab.strings).from_bytes(srsly.msgpack_dumps({"trees": pruned}))
    lemmatizer.cfg["labels"] = labels
    lemmatizer.tree2label = {tree: label for label, tree in enumerate(labels)}


def needed_strings(nlp: Language) -> set[str]:
    """The strings a loaded pipeline can't do without: those of labels and of the lemmas' edit trees."""
    # Training leaves every word it saw in the string store, which takes megabytes; words are added again
    # when they are met.
    pipe: Callable[[str], Any] = nlp.get_pipe
    needed: set[str] = set()
    for node in srsly.msgpack_loads(pipe("trainable_lemmatizer").trees.to_bytes())["trees"]:
        needed |= {nlp.vocab.strings[node[side]] for side in ("orig", "subst") if node.get(side)}
    for name in ("tagger", "morphologizer", "parser"):
        needed |= set(map(str, pipe(name).labels))
    for label in pipe("morphologizer").labels:
        needed |= {part for feature in label.split("|") for part in (feature, *feature.split("="))}
    return {text for text in needed if text}


def ship(nlp: Language, out: Path, meta: dict[str, Any]) -> None:
    """Write the pipeline without training settings and words into a new folder."""
    new = out.with_name(out.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    prune_trees(nlp.get_pipe("trainable_lemmatizer"))
    nlp.meta.update(meta)
    nlp.config["corpora"] = {}
    nlp.config["training"] = {}
    nlp.config["initialize"] = {}
    nlp.to_disk(new)
    strings = StringStore(sorted(needed_strings(nlp)))
    strings.to_disk(new / "vocab" / "strings.json")
    shutil.copy(LICENSE, new / "LICENSE")
    if (card := out / "README.md").exists():  # written by people
        shutil.copy(card, new / "README.md")
    shutil.rmtree(out, ignore_errors=True)
    new.rename(out)
