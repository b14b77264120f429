"""Static encoders: a vector for each token, a text is their mean; their folders; a bare word table.

What is written is sentence-transformers' `StaticEmbedding` and model2vec's at once: `modules.json` names the
folder itself as a `StaticEmbedding`, whose weights may be called `embeddings` as model2vec calls them.
"""

import functools
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from augment_cli.encoding import transforms
from augment_cli.encoding.dense import to_length_one
from augment_cli.encoding.encoder import Encoder, Progress
from augment_cli.encoding.fast.table import ByToken, weighted_sums
from augment_cli.encoding.layout import write_modules
from augment_cli.encoding.words_apart import TokenCounts, WordTokens, keeps_words_apart, whole_texts
from augment_cli.errors import BadInputError, MissingError, UsageError
from augment_cli.models.claims import tokenizing
from augment_cli.models.digest import damaged
from augment_cli.neural import fast

SUFFIXES = (".vec", ".txt")
LOOK_UP_TEXTS = 8192  # at once; the more there are, the fewer of their words are new


class StaticTable(nn.Module):
    """The table of vectors; its gradient is sparse, as a batch meets few of the rows."""

    def __init__(self, matrix: Tensor) -> None:
        super().__init__()
        self.embedding = nn.EmbeddingBag.from_pretrained(matrix, freeze=False, mode="sum", sparse=True)
        # Known before there is a gradient: a rank of a training may have no text in a step.
        self.embedding.weight.has_sparse_gradient = True  # type: ignore[attr-defined]
        self.config = SimpleNamespace(hidden_size=matrix.shape[1], vocab_size=matrix.shape[0])

    @property
    def dtype(self) -> torch.dtype:
        """Number format of the vectors."""
        return self.embedding.weight.dtype

    def forward(
        self, ids: Tensor, offsets: Tensor, weights: Tensor | None = None, by_token: ByToken | None = None
    ) -> Tensor:
        """Mean of the weighted vectors of each text's tokens: Σ w(t) v(t) / n, shape (texts, d)."""
        # The divisor is the number of tokens and not the sum of their weights: cosines are the same, and so
        # is what a table gives whose rows have been multiplied with their weights once and for all.
        # ids, offsets: as `bag` gives them; a text without tokens is a zero vector
        table = self.embedding.weight
        lengths = torch.diff(offsets, append=offsets.new_tensor([len(ids)]))
        scale = (1 / lengths.clamp(min=1).to(table.dtype)).repeat_interleave(lengths)
        if weights is not None:
            scale = scale * weights[ids].to(table.dtype)
        if fast.is_on():
            return weighted_sums(table, ids, offsets, scale, by_token)
        return F.embedding_bag(ids, table, offsets, mode="sum", per_sample_weights=scale, sparse=True)


@dataclass
class Words:
    """Looks words up that stand between spaces: as they are, then in lower case."""

    rows: dict[str, int]  # row of each word in the table

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Rows of the known words of each text."""
        found = [
            [self.rows.get(word, self.rows.get(word.lower(), -1)) for word in text.split()] for text in texts
        ]
        return [[row for row in of_text if row >= 0] for of_text in found]


@dataclass
class StaticEncoder(Encoder):
    """A table with its tokenizer and the steps after the mean; needs no batches and no cache."""

    max_length: int | None = None

    def encode(
        self,
        texts: Sequence[str],
        *,
        cache: Path | None = None,
        batch_tokens: int = 0,
        progress: Progress | None = None,
    ) -> np.ndarray:
        """Vectors of texts; a text without known tokens is a zero vector, unless a later step moves it."""
        return super().encode(texts, progress=progress)

    def _encode_distinct(
        self, texts: Sequence[str], batch_tokens: int, progress: Progress | None
    ) -> np.ndarray:
        vectors = []
        for start in range(0, len(texts), LOOK_UP_TEXTS):
            part = texts[start : start + LOOK_UP_TEXTS]
            with tokenizing(self.name or "the encoder"):
                tokens = self._tokens(part)
            vectors.append(self._look_up(*tokens).numpy())
            if progress:
                progress(len(part))
        return vectors[0] if len(vectors) == 1 else np.concatenate(vectors)

    def _token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        prepared = [self.prompt + text for text in texts]
        if isinstance(self.tokenizer, Words):
            return self.tokenizer.ids(prepared)
        found = whole_texts(self.tokenizer).encode_batch_fast(prepared, add_special_tokens=False)
        return [item.ids[: self.max_length] for item in found]

    def _tokens(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Token ids of texts and where each begins, as `bag` gives them."""
        if self._by_words is None:
            return bag(self._token_ids(texts))
        flat, lengths = self._by_words([self.prompt + text for text in texts])
        return torch.from_numpy(flat), torch.from_numpy(lengths.cumsum() - lengths)

    @functools.cached_property
    def _by_words(self) -> WordTokens | None:
        """The quicker tokeniser, where the model's is one that keeps words apart."""
        if isinstance(self.tokenizer, Words) or self.max_length is not None:
            return None
        backend = whole_texts(self.tokenizer)
        return WordTokens(backend) if keeps_words_apart(backend) else None

    def _forward(self, ids: Sequence[Sequence[int]]) -> Tensor:
        return self._look_up(*bag(ids))

    def _look_up(self, ids: Tensor, offsets: Tensor) -> Tensor:
        with torch.inference_mode():
            return self._after_pooling(self.model(ids, offsets, self.weights).float().cpu())


def bag(ids: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Token ids of texts one after the other, and where each text begins, both int64."""
    lengths = np.fromiter((len(of_text) for of_text in ids), np.int64, len(ids))
    flat = np.fromiter(chain.from_iterable(ids), np.int64, int(lengths.sum()))
    return torch.from_numpy(flat), torch.from_numpy(lengths.cumsum() - lengths)


def load_static(path: Path) -> StaticEncoder:
    """Read word vectors: a word and its numbers a line, with or without a line of sizes first."""
    digest = hashlib.sha256()
    rows: dict[str, int] = {}
    vectors: list[np.ndarray] = []
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            digest.update(raw)
            try:
                # Some files hold words with spaces in them; the numbers are the last fields.
                fields = raw.decode("utf-8").rstrip().split(" ")
                if number == 1 and len(fields) == 2:
                    continue
                width = len(vectors[0]) if vectors else len(fields) - 1
                vector = np.array(fields[-width:], dtype=np.float32)
                if width < 2 or len(fields) <= width:
                    raise ValueError(f"{len(fields)} fields")
            except ValueError as error:
                raise BadInputError(
                    f"{path}, line {number}: not a word and its numbers ({error}); give word vectors"
                ) from error
            word = " ".join(fields[:-width])
            if word not in rows:
                rows[word] = len(vectors)
                vectors.append(vector)
    if not vectors:
        raise BadInputError(f"{path} holds no word vectors; give a word and its numbers on each line")
    table = StaticTable(torch.from_numpy(np.stack(vectors)))
    return StaticEncoder(table, Words(rows), "static", digest=digest.hexdigest(), name=path.stem)


def read_table(folder: Path) -> tuple[StaticTable, Any]:
    """The table of a folder, its rows weighted where the folder stores weights, and its tokenizer."""
    # `check_model` has seen that the weights can be read, and have a row for each id.
    from safetensors.torch import load_file
    from transformers import PreTrainedTokenizerFast

    weights, words = folder / "model.safetensors", folder / "tokenizer.json"
    for path in (weights, words):
        if not path.is_file():
            raise MissingError(f"{path} is missing; fetch or export the model again")
    tensors = load_file(weights)
    matrix = tensors.get("embedding.weight", tensors.get("embeddings"))
    if matrix is None or matrix.dim() != 2:
        raise damaged(f"{weights} holds no table of embeddings")
    matrix = matrix.float()
    if (mapping := tensors.get("mapping")) is not None:  # model2vec: several tokens share a row
        is_whole = mapping.dim() == 1 and not mapping.is_floating_point() and bool(mapping.numel())
        if not is_whole or not 0 <= int(mapping.min()) <= int(mapping.max()) < len(matrix):
            raise damaged(f"{weights} maps tokens to rows that its table of {len(matrix):,} has not")
        matrix = matrix[mapping.long()]
    if (factors := tensors.get("weights")) is not None:
        if factors.shape != matrix.shape[:1]:
            raise damaged(
                f"{weights} has weights for {factors.numel():,} tokens and vectors for {len(matrix):,}"
            )
        matrix = matrix * factors.float()[:, None]
    try:
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(words))
    except Exception as error:  # the library raises plain exceptions
        raise damaged(f"{words} cannot be read ({error})") from error
    without_special_tokens(tokenizer)
    return StaticTable(matrix.contiguous()), tokenizer


def without_special_tokens(tokenizer: Any) -> None:
    """Make a fast tokenizer put nothing before or after a text, cut nothing and pad nothing."""
    from tokenizers.processors import TemplateProcessing

    template = TemplateProcessing(single="$A", pair="$A $B", special_tokens=[])
    whole_texts(tokenizer).post_processor = template


def write_folder(encoder: StaticEncoder, folder: Path, dtype: torch.dtype = torch.float32) -> None:
    """Write an encoder as a folder that sentence-transformers, model2vec and this toolkit load."""
    # Weights of tokens are multiplied into their rows, since not every reader knows them. Vectors that were
    # of length 1 stay so.
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    table = weighted(encoder).to(dtype).contiguous()
    save_file({"embeddings": table}, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "model.safetensors").chmod(0o644)  # safetensors makes its files the owner's alone
    without_special_tokens(encoder.tokenizer)
    encoder.tokenizer.backend_tokenizer.save(str(folder / "tokenizer.json"), pretty=False)
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "hidden_dim": table.shape[1],
        "embedding_dtype": str(dtype).removeprefix("torch."),
        "normalize": to_length_one in encoder.modules,
        "max_length": None,  # model2vec would cut texts after 512 tokens
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    paths = {"StaticEmbedding": "."} | ({"Normalize": "1_Normalize"} if config["normalize"] else {})
    write_modules(folder, paths, encoder.prompts, "3.2.0")


def weighted(encoder: StaticEncoder) -> Tensor:
    """The rows of an encoder's table times their weights, shape (V, d), on the CPU."""
    table: Tensor = encoder.model.embedding.weight.detach().cpu()
    return table if encoder.weights is None else table * encoder.weights.cpu().to(table.dtype)[:, None]


POOLINGS = ("table", "idf:table", "sif:table", "zipf:table", "zipf-idf:table")


def word_table(encoder: Encoder, pooling: str, counts: TokenCounts | None = None) -> StaticEncoder:
    """The word table of an encoder, its rows weighted or whitened: no position, no layer."""
    if pooling not in POOLINGS:
        raise UsageError(f"unknown pooling {pooling!r} of a word table; choose one of {', '.join(POOLINGS)}")
    table = encoder.model.get_input_embeddings().weight.detach().float().cpu().numpy()
    kind = pooling.rpartition(":")[0]
    if kind and counts is None:
        raise UsageError(f"pooling {pooling!r} counts tokens of a corpus; name its store (--counts)")
    if counts is not None and kind:
        if len(counts.occurrences) != len(table):
            raise UsageError(f"counts of {len(counts.occurrences)} tokens do not fit {len(table)} words")
        if kind.startswith("zipf"):
            table = transforms.fit(table, weights=counts.probability)(table)
        if not kind.endswith("zipf"):
            table = table * counts.weights(kind.removeprefix("zipf-"))[:, None]
    table = np.ascontiguousarray(table, dtype=np.float32)
    digest = hashlib.sha256(table.tobytes()).hexdigest()
    found = StaticTable(torch.from_numpy(table))
    return StaticEncoder(found, encoder.tokenizer, pooling, digest=digest, name=encoder.name)
