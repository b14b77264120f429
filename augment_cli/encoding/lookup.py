"""Lookup: an encoder that moves each text towards its nearest neighbours in a corpus; nothing is trained.

For clustering, topics and few-shot classification. It does not find the one text that says the same: what is
alike becomes more alike. Texts that are not of the corpus's kind stay as the first encoder has them.
"""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from augment_cli.contract.vector_parameters import CombineParameters
from augment_cli.encoding.domain import Domain
from augment_cli.encoding.encoder import Encoder, Progress
from augment_cli.encoding.transforms import centred, mean_of_nearest, smoothed, unit
from augment_cli.errors import BadInputError, UsageError
from augment_cli.languages import general_sentences
from augment_cli.models.digest import copy_model
from augment_cli.tokenization.tokens import WORDS

SETTINGS, ARRAYS = "lookup.json", "lookup.safetensors"  # in its folder
_COMBINED = CombineParameters()  # a lookup is smoothed as `augment-cli combine` does by default


@dataclass
class Lookup(Encoder):
    """Encoders side by side, and a corpus's smoothed vectors, towards which texts are moved.

    A text's vector is that of all encoders and of its TF-IDF weights, each centred on the corpus, of length 1
    and weighted, side by side; to it is added the mean of the ten nearest vectors of the corpus, which were
    smoothed as `augment-cli combine` does. That, put where the first encoder has the corpus, is mixed with
    the first encoder's vector, the more of it the less the text is like the corpus's.

    Source: label propagation (Zhu and Ghahramani 2002), diffusion for retrieval (Iscen et al. 2017).

    Examples
    --------
    >>> import augment_cli
    >>> encoder = augment_cli.load_encoder("data/models/static")
    >>> texts = ["The river flows.", "A heron waits.", "A boat waits."]
    >>> lookup = augment_cli.Lookup.fit([(encoder, 1.0)], texts)
    >>> lookup.encode(["The heron waits."]).shape[0]
    1
    """

    parts: list[tuple[Encoder, float]] = field(default_factory=list)  # with their weights
    means: list[np.ndarray] = field(default_factory=list)  # of each part's vectors of length 1, then of words
    words: dict[str, int] = field(default_factory=dict)  # column of each word
    idf: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32))
    directions: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.float32))  # of words, (k, w)
    keys: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.float32))  # smoothed, (n, d)
    domain: Domain | None = None  # None: all texts are the corpus's

    @classmethod
    def fit(
        cls, parts: Sequence[tuple[Encoder, float]], texts: Sequence[str], others: Sequence[str] | None = None
    ) -> "Lookup":
        """Look a corpus up by some encoders, with their weights.

        `others` are sentences that are to stay as the first encoder has them: by default shipped ones, in the
        corpus's language where there are some. An empty list lets all texts be the corpus's.
        """
        if len(texts) < 2:
            raise UsageError(f"a lookup needs at least two texts, not {len(texts)}; give the corpus's texts")
        first = parts[0][0]
        lookup = cls(
            first.model, first.tokenizer, first.pooling, first.max_length, name=f"lookup-{first.name}",
            parts=list(parts),
        )  # fmt: skip
        views = [unit(np.asarray(encoder.encode(texts)))[0] for encoder, _ in parts]
        counts = lookup._fit_words(texts)
        views += [unit(counts @ lookup.directions.T)[0]] if len(lookup.directions) else []
        lookup.means = [view[view.any(axis=1)].mean(axis=0) for view in views]
        keys = smoothed(lookup._side_by_side(views), _COMBINED.neighbours, _COMBINED.rounds)
        lookup.keys = keys.astype(np.float16).astype(np.float32)  # as they are stored
        if others is None:
            others = general_sentences(texts).read_text("utf-8").splitlines()
        if others:
            lookup.domain = Domain.fit(views[0], unit(np.asarray(first.encode(others)))[0])
        return lookup

    def _fit_words(self, texts: Sequence[str]) -> Any:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2, token_pattern=WORDS)
        try:
            counts = vectorizer.fit_transform(texts)
        except ValueError:  # no word stands in two texts
            return None
        components = min(_COMBINED.components, min(counts.shape) - 1)
        if components < 1:
            return None
        self.words = {word: int(column) for word, column in vectorizer.vocabulary_.items()}
        self.idf = vectorizer.idf_.astype(np.float32)
        self.directions = TruncatedSVD(components, random_state=0).fit(counts).components_.astype(np.float32)
        return counts

    def _count(self, texts: Sequence[str]) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(sublinear_tf=True, token_pattern=WORDS, vocabulary=self.words)
        vectorizer.idf_ = self.idf.astype(np.float64)
        return vectorizer.transform(texts)

    def _side_by_side(self, views: Sequence[np.ndarray]) -> np.ndarray:
        """The views about the corpus's means, of length 1 and weighted; float32 (n, d), of length 1."""
        weights = [weight for _, weight in self.parts] + [_COMBINED.lexical]
        moved = [centred(view, mean) for view, mean in zip(views, self.means, strict=True)]
        return unit(np.hstack([weight * view for weight, view in zip(weights, moved, strict=False)]))[0]

    @property
    def dimension(self) -> int:
        """Length of an embedding."""
        return int(self.keys.shape[1])

    def cache_key(self) -> dict[str, str | int | None]:
        """What decides an embedding besides the text."""
        return {"digest": self.digest, "kind": "lookup", "precision": self.precision}

    def _encode_distinct(
        self, texts: Sequence[str], batch_tokens: int, progress: Progress | None
    ) -> np.ndarray:
        first, *others = self.parts
        views = [first[0].encode(texts, batch_tokens=batch_tokens, progress=progress)]
        views += [encoder.encode(texts) for encoder, _ in others]
        views = [unit(view)[0] for view in views]
        views += [unit(self._count(texts) @ self.directions.T)[0]] if self.words else []
        found = self._side_by_side(views)
        means = mean_of_nearest(found, min(_COMBINED.neighbours, len(self.keys)), self.keys)
        moved = unit(found + means)[0]
        if self.domain is None:
            return moved
        # As far from the corpus's mean as its texts are, in place of from zero: where all of an encoder's
        # vectors are alike, both kinds would lie apart otherwise.
        share, mean = self.domain.share(views[0])[:, None], self.means[0]
        moved *= share * np.sqrt(max(1 - mean @ mean, 0))
        moved[:, : len(mean)] += share * mean + (1 - share) * views[0]
        return unit(moved)[0]

    def save(self, folder: Path, encoders: Sequence[Path]) -> None:
        """Write it to a new folder, with copies of its encoders' folders; `load_encoder` reads it."""
        from safetensors.numpy import save_file

        folder.mkdir(parents=True)
        names = [f"{place}_encoder" for place in range(len(encoders))]
        for name, source in zip(names, encoders, strict=True):
            copy_model(source, folder / name)
        arrays = {f"mean_{place}": mean for place, mean in enumerate(self.means)}
        arrays |= {"keys": self.keys.astype(np.float16), "idf": self.idf, "directions": self.directions}
        if self.domain is not None:
            arrays |= vars(self.domain) | {"vectors": self.domain.vectors.astype(np.float16)}
        # safetensors writes memory as it lies, in whatever order.
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, folder / ARRAYS)
        said = {
            "kind": "lookup",
            "encoders": names,
            "weights": [weight for _, weight in self.parts],
            "words": sorted(self.words, key=lambda word: self.words[word]),
        }
        (folder / SETTINGS).write_text(json.dumps(said, ensure_ascii=False) + "\n", encoding="utf-8")


def is_lookup(folder: Path) -> bool:
    """Whether a folder holds a lookup."""
    return (folder / SETTINGS).is_file()


def read_lookup(folder: Path, load: Any, **options: Any) -> Lookup:
    """A lookup from its folder; `load` reads its encoders, with `options`."""
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        said = json.loads((folder / SETTINGS).read_text("utf-8"))
        names, weights, words = said["encoders"], said["weights"], said["words"]
        if any(Path(name).name != name for name in names):
            raise ValueError("an encoder outside its folder")
        arrays = load_file(folder / ARRAYS)
        means = [arrays[f"mean_{place}"] for place in range(len(names) + bool(words))]
        keys, idf, directions = arrays["keys"].astype(np.float32), arrays["idf"], arrays["directions"]
        domain = _read_domain(arrays, len(means[0]))
        if directions.shape[-1] != len(words) or len(idf) != len(words) or len(names) != len(weights):
            raise ValueError("its parts are of different sizes")
    except (OSError, ValueError, LookupError, TypeError, SafetensorError) as error:
        raise BadInputError(f"{folder}: does not load as a lookup ({error}); make it again") from error
    encoders = [load(folder / name, **options) for name in names]
    parts, first = list(zip(encoders, map(float, weights), strict=True)), encoders[0]
    own = {one.name: getattr(first, one.name) for one in dataclasses.fields(Encoder) if one.init}
    columns = {word: place for place, word in enumerate(words)}
    return Lookup(
        **own,
        parts=parts,
        means=means,
        words=columns,
        idf=idf,
        directions=directions,
        keys=keys,
        domain=domain,
    )


def _read_domain(arrays: Mapping[str, np.ndarray], width: int) -> Domain | None:
    if "vectors" not in arrays:
        return None
    names = [one.name for one in dataclasses.fields(Domain)]
    domain = Domain(**{name: arrays[name].astype(np.float32) for name in names})
    if [one.shape[-1] for one in vars(domain).values()] != [width, width + 1, 2]:
        raise ValueError("its parts are of different sizes")
    return domain
