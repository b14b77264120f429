"""Distillation: a static encoder made of a teacher's vectors of tokens, then of its vectors of sentences."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse

from augment_cli.encoding import transforms
from augment_cli.encoding.dense import to_length_one
from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.static import StaticEncoder, StaticTable
from augment_cli.encoding.transforms import Whitening
from augment_cli.encoding.words_apart import TokenCounts, count_tokens, texts_of
from augment_cli.errors import UsageError
from augment_cli.neural.loading import MINILM_PACKAGE
from augment_cli.neural.runtime import has_fast_bf16
from augment_cli.store.store import Store
from augment_cli.vectors.stages import VectorStage, vectors_name
from eval.measures.geometry import unit
from train.components import part
from train.data.tokens import special_ids
from train.methods.distil import Settings, vocabulary
from train.outputs import check_new_folder
from train.outputs.export import export

RIDGE = 0.03  # chosen on STS-B dev of {0.03, 0.1, 0.3, 1, 3, 10}, with 50,000 sentences
ITERATIONS = 20  # more change no score in the first decimal
_CHUNK = 4096  # texts cut into words at once
LEARNED = 30_000  # pieces of a learned vocabulary, where no size is given
Say = Callable[[str], None]


def averages(ids: Sequence[Sequence[int]], size: int) -> sparse.csr_matrix:
    """Which matrix turns a table into the means of texts: shape (texts, size), rows that sum to 1 or 0."""
    lengths = np.fromiter((len(row) for row in ids), np.int64, len(ids))
    flat = np.fromiter(chain.from_iterable(ids), np.int32, int(lengths.sum()))
    share = np.repeat((1 / np.maximum(lengths, 1)).astype(np.float32), lengths)
    starts = np.concatenate([[0], lengths.cumsum()])
    matrix = sparse.csr_matrix((share, flat, starts), shape=(len(ids), size))
    matrix.sum_duplicates()
    return matrix


def projection(targets: np.ndarray, dimension: int) -> Whitening:
    """Centre and first principal directions of the teacher's sentence vectors, without rescaling."""
    mean = targets.mean(axis=0, dtype=np.float64)
    _, directions = np.linalg.eigh(np.cov(targets - mean, rowvar=False, bias=True))
    return Whitening(mean, directions[:, ::-1][:, : dimension or None])


def regress(
    matrix: sparse.csr_matrix,
    targets: np.ndarray,
    start: np.ndarray,
    weights: np.ndarray,
    ridge: float = RIDGE,
    iterations: int = ITERATIONS,
    progress: Callable[[int], Any] = lambda done: None,
) -> tuple[np.ndarray, float]:
    """Move a table so that means of its rows come near a teacher's sentence vectors."""
    # With A the texts' means as a matrix, S the weights on a diagonal and E = S F it minimises ‖A S F − T‖² +
    # λ ‖F − c F₀‖², where c F₀ is the starting table, scaled to fit best: a token that the texts do not hold
    # stays where it was, and a rare one near it. The problem is linear, so conjugate gradients solve it
    # without a learning rate or a draw (Hestenes & Stiefel 1952).
    # matrix: A, (n, V); targets: T, (n, d); start: F₀, (V, d); weights: (V,); ridge: λ. Returns the table,
    # (V, d), float32, and the share of the targets' sum of squares that the means explain, at most 1.
    scaled = (matrix @ sparse.diags(weights.astype(np.float32))).tocsr()
    back = scaled.T.tocsr()
    targets = targets.astype(np.float32)
    first = scaled @ start.astype(np.float32)
    scale = float((first * targets).sum() / max(float((first * first).sum()), 1e-30))
    change = np.zeros(start.shape, dtype=np.float32)
    rest = back @ (targets - scale * first)
    direction, square = rest.copy(), (rest * rest).sum(axis=0)
    for done in range(1, iterations + 1):
        applied = back @ (scaled @ direction) + np.float32(ridge) * direction
        step = square / np.maximum((direction * applied).sum(axis=0), 1e-30)
        change += step * direction
        rest -= step * applied
        square, before = (rest * rest).sum(axis=0), square
        direction = rest + (square / np.maximum(before, 1e-30)) * direction
        progress(done)
    table = weights[:, None] * (scale * start + change)
    missed = float(((matrix @ table.astype(np.float32) - targets) ** 2).sum())
    total = float((targets**2).sum())
    return table.astype(np.float32), 1 - missed / max(total, 1e-30)


def distil_to(
    out: str | Path,
    store: str | Path = "store",
    teacher: str = MINILM_PACKAGE,
    settings: Settings | None = None,
    *,
    precision: str = "auto",
    half: bool = False,
    allow_download: bool = False,
    command: str = "train.methods.distil.distil.distil_to",
    say: Say = lambda line: None,
) -> dict[str, Any]:
    """Distil a teacher over a store's corpus, and write the folder of the static encoder."""
    out = Path(out)
    check_new_folder(out)
    opened = Store.open(Path(store))
    fast = precision == "bf16" or (precision == "auto" and has_fast_bf16())
    made_of = load_encoder(teacher, precision="bf16" if fast else "fp32", allow_download=allow_download)
    encoder, facts = distil(made_of, opened, settings or Settings(), say)
    # Of length 1, but for halves: sentence-transformers computes in fp16 then, and would divide a text of no
    # known token by a length that is 0 there.
    encoder.modules = [] if half else [to_length_one]
    export(encoder, out, torch.float16 if half else torch.float32)
    facts |= {"command": command, "corpus": opened.stage("corpus").digest}
    card = part("extras.card")
    made = card.origin(teacher, opened)
    data = card.card_data(made, "model2vec", "static-embeddings", "sentence-transformers")
    card.save(out, data, _card(out, made_of, facts))
    return facts


def distil(
    teacher: Encoder, store: Store, settings: Settings, say: Say = lambda line: None
) -> tuple[StaticEncoder, dict[str, Any]]:
    """Make a static encoder of a teacher."""
    if isinstance(teacher, StaticEncoder):
        raise UsageError(f"{teacher.name} is a static encoder; name a transformer as --teacher")
    tokenizer = make_tokenizer(teacher, store, settings)
    counts = count_tokens(texts_of(store, settings.count), tokenizer)
    say(f"vocabulary: {len(tokenizer):,} tokens, counted in {counts.texts:,} sentences")
    tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    before, after = special_ids(teacher.tokenizer)
    ids = vocabulary.teacher_ids(teacher.tokenizer, tokens, before, after)
    teacher.tokenizer.backend_tokenizer.no_truncation()
    vectors = teacher.encode_ids([row[: teacher.max_length] for row in ids])
    say(f"teacher: {len(vectors):,} tokens encoded")
    is_weighted = settings.weights != "none"
    weights = counts.weights(settings.weights) if is_weighted else np.ones(len(tokens), np.float32)
    weights[list(counts.special)] = 0
    facts: dict[str, Any] = {"settings": asdict(settings), "tokens": len(tokens), "counted": counts.texts}
    if settings.regress:
        table, explained, used = _regressed(teacher, store, settings, tokenizer, vectors, weights, say)
        facts |= {"explained": explained, "sentences": used}
    else:
        table = postprocess(vectors, counts, settings) * weights[:, None]
    table[list(counts.special)] = 0
    matrix = torch.from_numpy(np.ascontiguousarray(table, dtype=np.float32))
    return StaticEncoder(StaticTable(matrix), tokenizer, "mean", name=f"static-{teacher.name}"), facts


def make_tokenizer(teacher: Encoder, store: Store, settings: Settings) -> Any:
    """The student's tokenizer."""
    if settings.vocabulary == "own":
        vocabulary.check(teacher.tokenizer, teacher.name)
        base = teacher.tokenizer.backend_tokenizer
        tokens = vocabulary.own(teacher.tokenizer)
        if settings.size:
            counts = count_tokens(texts_of(store, settings.count), teacher.tokenizer)
            ids = teacher.tokenizer.get_vocab()
            tokens = vocabulary.most_frequent(tokens, counts, ids, settings.size)
    else:
        special = [vocabulary.PAD, vocabulary.UNKNOWN]
        base = vocabulary.learn(texts_of(store, settings.count), settings.size or LEARNED, special)
        pieces = sorted(base.get_vocab().items(), key=lambda item: item[1])
        tokens = [piece for piece, _ in pieces if piece not in special]
    if settings.words:
        texts = texts_of(store, settings.count)
        tokens += vocabulary.frequent_words(texts, base, settings.words, tokens)
    return vocabulary.wordpiece(base, tokens)


def postprocess(vectors: np.ndarray, counts: TokenCounts, settings: Settings) -> np.ndarray:
    """The teacher's token vectors, whitened, turned or as they are, shape (V, d)."""
    if settings.dimension > vectors.shape[1]:
        raise UsageError(f"--dimension {settings.dimension}: the teacher's vectors have {vectors.shape[1]}")
    if settings.postprocess == "zipf":
        return transforms.fit(vectors, settings.dimension or None, counts.probability)(vectors)
    if settings.postprocess == "pca":
        return projection(vectors, settings.dimension)(vectors)
    if settings.dimension not in (0, vectors.shape[1]):
        raise UsageError("--postprocess none keeps the teacher's dimensions; write --dimension 0")
    return vectors


def _regressed(
    teacher: Encoder,
    store: Store,
    settings: Settings,
    tokenizer: Any,
    vectors: np.ndarray,
    weights: np.ndarray,
    say: Say,
) -> tuple[np.ndarray, float, int]:
    """The table after the regression, the share explained, and how many sentences it saw."""
    texts, targets = teacher_vectors(teacher, store, settings, say)
    if settings.dimension > targets.shape[1]:
        raise UsageError(f"--dimension {settings.dimension}: the teacher's vectors have {targets.shape[1]}")
    turn = projection(targets, settings.dimension)
    ids = [
        item.ids
        for at in range(0, len(texts), _CHUNK)
        for item in tokenizer.backend_tokenizer.encode_batch_fast(
            texts[at : at + _CHUNK], add_special_tokens=False
        )
    ]
    start = turn(vectors) + (turn.mean - vectors.mean(axis=0)) @ turn.kernel  # centred on the tokens
    table, explained = regress(
        averages(ids, len(vectors)), turn(targets), start, weights, settings.ridge,
        progress=lambda done: say(f"regression: step {done}") if done % 5 == 0 else None,
    )  # fmt: skip
    say(f"regression: {explained:.1%} of the teacher's vectors of {len(ids):,} sentences explained")
    return table, explained, len(ids)


def teacher_vectors(
    teacher: Encoder, store: Store, settings: Settings, say: Say
) -> tuple[list[str], np.ndarray]:
    """Sentences and the teacher's vectors of them, of length 1: the store's, else encoded here."""
    stage = vectors_name(name=settings.vectors or None)
    if not store.has(stage) and not settings.vectors:
        texts = list(texts_of(store, settings.regress))
        say(f"teacher: encoding {len(texts):,} sentences (`augment-cli embed` keeps them)")
        return texts, unit(teacher.encode(texts))
    kept = VectorStage.open(store, name=settings.vectors or None)
    if kept.encoder["model"] != teacher.digest:
        raise UsageError(
            f"{store.path / stage}: holds vectors of another encoder than {teacher.name}; embed with "
            "this one beside it (--name) and give --vectors NAME"
        )
    texts, rows = [], []
    for index in sorted(store.stage("corpus").parts):
        vectors, present = kept.read(index)
        part = store.read_part("corpus", index, ["text"])["text"].to_pylist()
        texts += [text for text, there in zip(part, present, strict=True) if there]
        rows.append(vectors[present].astype(np.float32))
        if len(texts) >= settings.regress:
            break
    say(f"teacher: vectors of {min(len(texts), settings.regress):,} sentences read from {stage}")
    return texts[: settings.regress], unit(np.concatenate(rows)[: settings.regress])


def _card(out: Path, teacher: Encoder, facts: dict[str, Any]) -> list[str]:
    table = {
        "teacher": f"{teacher.name} (SHA-256 {teacher.digest})",
        "command": f"`{facts['command']}`",
        "corpus": f"SHA-256 `{facts['corpus']}`",
        "tokens": f"{facts['tokens']:,}",
        "sentences counted": f"{facts['counted']:,}",
    }
    if "sentences" in facts:
        table["sentences of the regression"] = f"{facts['sentences']:,}"
        table["of the teacher's vectors explained"] = f"{facts['explained']:.1%}"
    rows = [f"| {key} | {value} |" for key, value in (table | facts["settings"]).items()]
    said = "A vector for each token, and the mean of them for a text."
    how_to_load = part("extras.card").how_to_load(out)
    return [f"# {out.name}", "", said, "", "| | |", "|---|---|", *rows, "", *how_to_load, ""]
