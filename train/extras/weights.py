"""How often a row comes in an epoch: by its input file, and by the stages that it has a text of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np

from augment_cli.errors import UsageError
from augment_cli.store.store import Store
from train.data.order import is_used
from train.recipe import Recipe

STAGE = "stage:"  # before the name of a stage
_KEY = 0x77656967  # keeps these draws apart from those of the order; any fixed number does


@dataclass(frozen=True)
class Corpus:
    """The rows of one weight."""

    name: str  # the pattern that the weight was given for, or a name for all other files
    weight: float  # how often a row comes in an epoch, at least 0
    rows: np.ndarray  # ids of the rows that may be used, rising, shape (n,), int64

    @property
    def count(self) -> int:
        """Rows of an epoch, the same in every epoch."""
        return int(self.weight) * len(self.rows) + self._partial

    @property
    def _partial(self) -> int:
        return round((self.weight - int(self.weight)) * len(self.rows))

    def drawn(self, seed: int, epoch: int, number: int) -> np.ndarray:
        """The rows that come once more than the others, for the weight's fraction."""
        # They are the next ones of a permutation, so that all rows have come equally often whenever it has
        # been gone through.
        permuted = np.random.default_rng([seed, _KEY, number]).permutation(self.rows)
        first = epoch * self._partial
        return permuted[(first + np.arange(self._partial)) % max(1, len(permuted))]


@dataclass(frozen=True)
class Weighting:
    """How often each row of a store comes; a pure function of seed and epoch."""

    corpora: tuple[Corpus, ...]  # each row that may be used is in exactly one
    size: int  # N, rows of the store
    seed: int  # what is drawn for fractions depends on it

    @property
    def count(self) -> int:
        """Rows of an epoch, those that come twice counted twice."""
        return sum(corpus.count for corpus in self.corpora)

    def times(self, epoch: int) -> np.ndarray:
        """How often each row comes in an epoch, shape (N,), int64."""
        times = np.zeros(self.size, np.int64)
        for number, corpus in enumerate(self.corpora):
            times[corpus.rows] = int(corpus.weight)
            times[corpus.drawn(self.seed, epoch, number)] += 1
        return times


def weighting(
    store: Store,
    recipe: Recipe,
    keep: np.ndarray | None = None,
    usable_of: Callable[[str], Mapping[str, np.ndarray]] = lambda stage: {},
) -> Weighting:
    """Weights of input files and stages as a count for each row.

    `usable_of`: which rows have a text in each draw of a stage.
    """
    weights = recipe.corpus_weights
    patterns = [pattern for pattern in weights if not pattern.startswith(STAGE)]
    # By the stages: of several that a row has a text of, the one that counts most.
    times = np.full(store.rows, np.nan)
    for key in weights.keys() - {*patterns}:
        for rows in usable_of(key.removeprefix(STAGE)).values():
            times = np.fmax(times, np.where(rows, float(weights[key]), np.nan))
    times[np.isnan(times)] = 1
    number_of: dict[str, int] = {}
    codes = [np.zeros(0, np.int64)]
    for part in range(len(store.parts)):
        sources = store.read_part("corpus", part, ["source"])["source"].combine_chunks().dictionary_encode()
        names = sources.dictionary.to_pylist()
        for name in names:
            fitting = (number for number, pattern in enumerate(patterns) if fnmatchcase(name, pattern))
            number_of.setdefault(name, next(fitting, len(patterns)))
        codes.append(np.array([number_of[name] for name in names])[sources.indices.to_numpy()])
    code = np.concatenate(codes)
    for number, pattern in enumerate(patterns):
        if number not in number_of.values():
            known = sorted(number_of)
            raise UsageError(
                f"{store.path}: corpus_weights: no row comes from {pattern!r}; the input files are "
                f"{', '.join(known[:5])}{', …' if len(known) > 5 else ''}"
            )
    usable = is_used(np.arange(store.rows), recipe.held_out, keep)
    given = [*((pattern, weights[pattern]) for pattern in patterns), ("other files", 1.0)]
    corpora = [
        Corpus(name, weight * often, np.flatnonzero(usable & (code == number) & (times == often)))
        for number, (name, weight) in enumerate(given)
        if number in number_of.values()
        for often in np.unique(times).tolist()
    ]
    return Weighting(tuple(corpora), store.rows, recipe.seed)
