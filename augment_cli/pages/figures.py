"""What a page draws, as plain arrays and as PNG; texts as points of a plane; the page of an adaptation."""

import importlib.util
import math
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import regex
from markupsafe import Markup

from augment_cli.errors.visible import visible_line
from augment_cli.pages import drawing, layout
from augment_cli.pages.facts import StageFacts
from augment_cli.reports.choosing import choose_rows
from augment_cli.reports.comparison import shipped_encoder
from augment_cli.store.files import write_atomically
from augment_cli.store.store import Store

GROUPS = 8  # as many colours can be told apart
MOST = 600  # texts of a map
FEWEST = 40
_WORD = regex.compile(r"\p{L}{3,}")
_WORDS = 3  # that name a group
_NEIGHBOURS, _STEPS = 20.0, 400
_ASKED = 10  # texts whose nearest is shown
_SHOWN_CHARACTERS = 200
ADAPTATION, MAP_PICTURE = "adaptation.html", "map.png"


def places_of(*vectors: np.ndarray) -> list[np.ndarray]:
    """For each set of vectors (n, d) of the same texts places (n, 2), all from one beginning (t-SNE)."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    first = unit(vectors[0])
    first = first - first.mean(axis=0)
    start = first @ np.linalg.svd(first, full_matrices=False)[2][:2].T
    start = 1e-4 * start / max(float(start[:, 0].std()), 1e-9)
    found = []
    for some in vectors:
        count = min(_NEIGHBOURS, (len(some) - 1) / 3)
        method = TSNE(perplexity=count, init=start, max_iter=_STEPS, random_state=0, learning_rate="auto")
        with threadpool_limits(1):  # threads that wait for each other take ten times as long for so few
            found.append(method.fit_transform(unit(some)))
    return found


def groups_of(*vectors: np.ndarray) -> np.ndarray:
    """A group (n,) for each text, by all sets of vectors together, so that none of them is preferred."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        together = np.hstack([unit(some) for some in vectors])
        found: np.ndarray = KMeans(min(GROUPS, len(together)), n_init=4, random_state=0).fit_predict(together)
    return found


def names_of(groups: np.ndarray, texts: Sequence[str]) -> list[str]:
    """For each group the words that its texts have more often than the others."""
    words = [set(_WORD.findall(text.lower())) for text in texts]
    everywhere = Counter(word for some in words for word in some)
    names = []
    for group in range(int(groups.max()) + 1):
        own = [some for some, of in zip(words, groups, strict=True) if of == group]
        counts = Counter(word for some in own for word in some)
        weights = {word: count * math.log(len(texts) / everywhere[word]) for word, count in counts.items()}
        names.append(", ".join(sorted(weights, key=lambda word: (-weights[word], word))[:_WORDS]) or "others")
    return names


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors (n, d) of length 1."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)


_MOST_CHARACTERS = 120  # of a text on a map
STATIC = "the shipped static encoder"
# As style.css has them.
COLOURS = ("#2563a8", "#b8540d", "#5d7a1f", "#7a4d8f", "#0f8a8a", "#c23b6b", "#8a6d1d", "#5a6472")


@dataclass(frozen=True)
class Map:
    """Texts of a corpus in a plane, once for each encoder."""

    places: list[np.ndarray]  # (n, 2) each
    groups: np.ndarray  # (n,)
    names: list[str]  # of the groups, by their words
    texts: list[str]

    def svg(self, which: int, says: str) -> Markup:
        """One of the maps."""
        return drawing.points(self.places[which], self.groups, self.texts, says)


@dataclass(frozen=True)
class Figures:
    """What the page of a store draws beside its numbers."""

    cosines: dict[str, np.ndarray]  # of each stage to its originals (n,)
    cosines_by: str  # whose they are, where `augment-cli score` made none
    map: Map | None  # of the corpus; None without that encoder, scikit-learn or enough different texts


def figures_of(store: Store, stages: Sequence[StageFacts]) -> Figures:
    """The cosines of `augment-cli score`; where no stage has any, those of the shipped static encoder."""
    scored = {one.name: one.cosines for one in stages if len(one.cosines)}
    static = {one.name: one.nearness.cosines for one in stages if one.nearness}
    encoder = shipped_encoder() if importlib.util.find_spec("sklearn") else None
    texts = list(dict.fromkeys(row["text"] for row in choose_rows(store, "corpus", MOST)))
    found = None
    if encoder is not None and len(texts) >= FEWEST:
        found = map_of(texts, encoder.encode(texts))
    return Figures(scored or static, "" if scored or not static else STATIC, found)


def map_of(texts: Sequence[str], *vectors: np.ndarray) -> Map:
    """Texts as a map for each set of vectors (n, d), all with the same groups."""
    groups = groups_of(*vectors)
    shown = [visible_line(text)[:_MOST_CHARACTERS] for text in texts]
    names = [visible_line(name) for name in names_of(groups, texts)]
    return Map(places_of(*vectors), groups, names, shown)


def as_png(figures: Figures, page: Path) -> list[Path]:
    """Cosines and map as pictures beside a page: PAGE.cosines.png, PAGE.map.png."""
    written = []
    if figures.cosines:
        figure = _figure(6, 0.5 * len(figures.cosines) + 1)
        axes = figure.subplots()
        names = list(figures.cosines)
        axes.boxplot(
            [figures.cosines[name] for name in names], orientation="horizontal", whis=(5, 95), sym=""
        )
        axes.set_yticks(range(1, len(names) + 1), names)
        axes.set_xlabel(f"cosine to the original{figures.cosines_by and f', by {figures.cosines_by}'}")
        written.append(_save(figure, page.with_suffix(".cosines.png")))
    if figures.map is not None:
        written.append(map_png(figures.map, [""], page.with_suffix(".map.png")))
    return written


def map_png(found: Map, titles: Sequence[str], path: Path) -> Path:
    """Maps side by side, each with its title, and the names of the groups."""
    figure = _figure(7 * len(titles), 7)
    grid = figure.subplots(1, len(titles), squeeze=False)[0]
    for axes, places, title in zip(grid, found.places, titles, strict=True):
        for group, name in enumerate(found.names):
            own = found.groups == group
            axes.scatter(*places[own].T, s=14, color=COLOURS[group], label=name)
        axes.set_title(title)
        axes.set_axis_off()
        axes.invert_yaxis()  # as on the page
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
    return _save(figure, path)


def _figure(width: float, height: float) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _save(figure: Any, path: Path) -> Path:
    from matplotlib import rc_context

    with rc_context({"text.parse_math": False}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(path, dpi=110)
    return path


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
            [layout.line(texts[n], _SHOWN_CHARACTERS) for n in (one, *(some[one] for some in nearest))]
            for one in asked
        ],
    }
    page = layout.render(layout.template("adaptation.html"), title, values, script=layout.template("map.js"))
    write_atomically(folder / ADAPTATION, page.encode(), folder.absolute())
    map_png(found, titles, folder / MAP_PICTURE)
    return folder / ADAPTATION


def _nearest(vectors: np.ndarray) -> np.ndarray:
    """For each text (n,) which other one is nearest."""
    vectors = unit(vectors)
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1)
    return cosines.argmax(axis=1)
