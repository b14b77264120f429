"""The page of an adaptation: the verdict, a map of the texts before and after, the nearest of ten texts."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.pages import figures, layout
from augment_cli.pages.figures import map_of, map_png
from augment_cli.store.files import write_atomically

_ASKED = 10  # texts whose nearest is shown
_MOST_CHARACTERS = 200
NAME, PICTURE = "adaptation.html", "map.png"


def write_adaptation(
    folder: Path,
    title: str,
    said: Mapping[str, Any],
    texts: Sequence[str],
    before: np.ndarray,
    after: np.ndarray,
) -> Path:
    """Write page and picture into a run's folder, of some texts and their vectors (n, d) by both encoders.

    `said` has the verdict's `message`, `scores` and `following`. Of one encoder there is one map.
    """
    are_one = bool(np.allclose(before, after))
    found = map_of(texts, *([before] if are_one else [before, after]))
    titles = ["the start, which stays"] if are_one else ["before", "after"]
    nearest = [_nearest(some) for some in (before, after)]
    changed = np.flatnonzero(nearest[0] != nearest[1])
    asked = np.random.default_rng(0).permutation(changed)[:_ASKED] if len(changed) else np.arange(0)
    values = {
        **said,
        "maps": [(name, found.svg(n, f"a map of the texts, {name}")) for n, name in enumerate(titles)],
        "names": found.names,
        "count": len(texts),
        "changed": len(changed) / len(texts),
        "nearest": [
            [layout.line(texts[n], _MOST_CHARACTERS) for n in (one, *(some[one] for some in nearest))]
            for one in asked
        ],
    }
    page = layout.render(layout.template("adaptation.html"), title, values, script=layout.template("map.js"))
    write_atomically(folder / NAME, page.encode(), folder.absolute())
    map_png(found, titles, folder / PICTURE)
    return folder / NAME


def _nearest(vectors: np.ndarray) -> np.ndarray:
    """For each text (n,) which other one is nearest."""
    vectors = figures.unit(vectors)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    return cosines.argmax(axis=1)
