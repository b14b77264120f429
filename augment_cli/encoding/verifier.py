"""Verifier: whether one text turns what another says, for an encoder that stays as it is.

A pair's cosine hardly falls where a *not*, another number or exchanged roles turn a sentence. A verifier
reads the vectors that the encoder gives each token of both texts, and the cosines of all pairs of tokens.
"""

import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import BadInputError, UsageError, require
from augment_cli.models.claims import tokenizing
from augment_cli.neural.runtime import batches_by_length, padded
from augment_cli.places import shipped

SETTINGS, WEIGHTS, ONNX = "verifier.json", "verifier.safetensors", "verifier.onnx"  # in its folder
SHIPPED = "data/models/verifier"  # of all-MiniLM-L6-v2
_TOKENS = 4_096  # encoded at once, padding counted
_PAIRS = 64  # compared at once


@dataclass(frozen=True)
class VerifierShape:
    """What a verifier's weights fit: the encoder, and the sizes of the network."""

    encoder: str  # folder or name
    digest: str  # of the encoder's files
    dimension: int  # of its token vectors
    layers: tuple[int, ...]  # of the encoder, whose token vectors are read; 0 are its embeddings
    width: int = 128
    blocks: int = 2
    heads: int = 4
    max_length: int = 96  # tokens of a text; the rest is not seen
    penalty: float = 0.6  # what is taken from the cosine where a text is certainly turned
    networks: int = 1  # whose logits are averaged


class _Block(nn.Module):
    """Attention among the tokens of both texts, biased by what relates each two, and two linear layers."""

    def __init__(self, width: int, heads: int, relations: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attend, self.attended = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.bias = nn.Linear(relations, heads)
        nn.init.normal_(self.bias.weight)
        self.think = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * width, width)
        )

    def forward(self, tokens: Tensor, relations: Tensor, there: Tensor) -> Tensor:
        rows, count, width = tokens.shape
        parts = self.attend(self.before(tokens)).view(rows, count, 3, self.heads, -1)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind()
        bias = self.bias(relations).permute(0, 3, 1, 2).masked_fill(~there[:, None, None], -1e4)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        tokens = tokens + self.attended(mixed.transpose(1, 2).reshape(rows, count, width))
        return tokens + self.think(self.between(tokens))


class PairNetwork(nn.Module):
    """The logit that one text turns the other, from the vectors of their tokens.

    Source: the map of token similarities of arXiv 2604.16351; attention with a bias for each two tokens as in
    Shaw et al. 2018.
    """

    def __init__(self, shape: VerifierShape) -> None:
        super().__init__()
        self.depth = depth = len(shape.layers)
        width = shape.width
        self.project = nn.Linear(shape.dimension * depth, width)
        self.side = nn.Parameter(0.02 * torch.randn(2, width))
        self.nearest = nn.Linear(2 * depth, width)
        self.blocks = nn.ModuleList(_Block(width, shape.heads, 2 * depth + 3) for _ in range(shape.blocks))
        self.norm, self.drop = nn.LayerNorm(width), nn.Dropout(0.1)
        self.decide = nn.Sequential(
            nn.Linear(2 * width + 2 * depth, width), nn.GELU(), nn.Dropout(0.1), nn.Linear(width, 1)
        )

    def forward(self, first: Tensor, first_there: Tensor, second: Tensor, second_there: Tensor) -> Tensor:
        """Logits, (n,), of token vectors, (n, tokens, layers · dimension), and which are there, (n, tokens).

        Each layer's vectors are of length 1.
        """
        vectors, there = torch.cat([first, second], 1), torch.cat([first_there, second_there], 1)
        places = [torch.arange(side.shape[1]) for side in (first, second)]
        side = torch.cat([torch.full_like(place, number) for number, place in enumerate(places)])
        place = torch.cat(places)
        layers = vectors.unflatten(-1, (self.depth, -1)).transpose(1, 2)
        cosines = (layers @ layers.transpose(2, 3)).permute(0, 2, 3, 1)  # (n, tokens, tokens, layers)
        own = (side[:, None] == side)[None, :, :, None].to(cosines)
        distance = (place[:, None] - place)[None, :, :, None] / 4
        across = cosines * (1 - own)
        order = torch.cat([own, own * torch.tanh(distance), -own * distance.abs().clamp(max=3)], -1)
        relations = torch.cat([4 * across, 4 * across**4, order.expand(vectors.shape[0], -1, -1, -1)], -1)
        # What a token finds nearest in the other text, and next to it.
        other = (1 - own) * there[:, None, :, None]
        nearest = (cosines * other - 2 * (1 - other)).topk(2, dim=2).values.flatten(2).clamp(min=-1)
        tokens = self.drop(3 * self.project(vectors) + self.side[side] + self.nearest(nearest))
        for block in self.blocks:
            tokens = block(tokens, relations, there)
        tokens, seen = self.norm(tokens), there[..., None]
        found = nearest[..., : self.depth]
        summary = [
            (tokens * seen).sum(1) / seen.sum(1), tokens.masked_fill(~seen, -1e4).amax(1),
            (found * seen).sum(1) / seen.sum(1), found.masked_fill(~seen, 2.0).amin(1),
        ]  # fmt: skip
        return self.decide(torch.cat(summary, -1))[:, 0]


class PairNetworks(nn.ModuleList):
    """Networks that were trained apart, and are right together where one alone is not."""

    def __init__(self, shape: VerifierShape) -> None:
        super().__init__(PairNetwork(shape) for _ in range(shape.networks))

    def forward(self, first: Tensor, first_there: Tensor, second: Tensor, second_there: Tensor) -> Tensor:
        """The mean of their logits, (n,); see `PairNetwork.forward`."""
        return torch.stack([one(first, first_there, second, second_there) for one in self]).mean(0)


def token_vectors(encoder: Encoder, texts: Sequence[str], shape: VerifierShape) -> list[Tensor]:
    """Vectors of each text's tokens, (tokens, layers · dimension), fp16, without the marks at its ends."""
    if not texts:
        return []
    with tokenizing(encoder.name or "the encoder"):
        limit = min(shape.max_length, encoder.max_length or shape.max_length)
        prepared = [encoder.prompt + (text.lower() if encoder.lower_case else text) for text in texts]
        encoded = encoder.tokenizer(
            prepared, truncation=True, max_length=limit, return_special_tokens_mask=True
        )
    ids, marks = encoded["input_ids"], encoded["special_tokens_mask"]
    padding = encoder.tokenizer.pad_token_id or 0
    ids = [row or [padding] for row in ids]
    found: list[Tensor] = [torch.empty(0)] * len(ids)
    for rows in batches_by_length([len(row) for row in ids], _TOKENS):
        tokens, mask = padded([ids[row] for row in rows], padding)
        with torch.inference_mode():
            output = encoder.model(input_ids=tokens, attention_mask=mask, output_hidden_states=True)
            states = output.hidden_states
            layers = [F.normalize(states[layer].float(), dim=-1) for layer in shape.layers]
            vectors = torch.cat(layers, -1).half()
        for row, own in zip(rows, vectors, strict=True):
            words = [place for place, is_mark in enumerate(marks[row]) if not is_mark]
            found[row] = own[words or [0]]
    return found


def side_by_side(vectors: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Token vectors of some texts, padded, (n, tokens, layers · dimension), and which are there."""
    there = torch.arange(max(map(len, vectors)))[None] < torch.tensor([len(one) for one in vectors])[:, None]
    return nn.utils.rnn.pad_sequence([one.float() for one in vectors], batch_first=True), there


@dataclass
class Verifier:
    """An encoder, and small networks that say where one text turns what another says."""

    encoder: Encoder
    network: PairNetworks
    shape: VerifierShape

    def save(self, folder: str | Path, onnx: bool = False) -> None:
        """Write settings and weights (fp16) into a folder, with `onnx` the network as ONNX, too (fp32)."""
        from safetensors.torch import save_file

        if onnx:
            require("onnx")
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        weights = {key: value.half().contiguous() for key, value in self.network.state_dict().items()}
        save_file(weights, folder / WEIGHTS)
        (folder / WEIGHTS).chmod(0o644)  # safetensors writes it for its owner alone
        (folder / SETTINGS).write_text(json.dumps(asdict(self.shape), indent=2) + "\n", encoding="utf-8")
        (folder / ONNX).unlink(missing_ok=True)  # of other weights
        if onnx:
            network = PairNetworks(self.shape).eval()
            network.load_state_dict({key: value.float() for key, value in weights.items()})
            _write_onnx(network, self.shape, folder / ONNX)

    def turned(self, first: Sequence[str], second: Sequence[str]) -> np.ndarray:
        """How likely each text turns its partner, float32 (n,), 0 to 1; the order of the two is nothing."""
        first, second = _checked(first, second)
        found = np.zeros(len(first), np.float32)
        order = sorted(range(len(first)), key=lambda row: len(first[row]) + len(second[row]))
        for start in range(0, len(order), _PAIRS):
            rows = order[start : start + _PAIRS]
            texts = list(dict.fromkeys(text for row in rows for text in (first[row], second[row])))
            known = dict(zip(texts, token_vectors(self.encoder, texts, self.shape), strict=True))
            found[rows] = self.compare([(known[first[row]], known[second[row]]) for row in rows])
        return found

    def compare(self, pairs: Sequence[tuple[Tensor, Tensor]]) -> np.ndarray:
        """`turned` of pairs of token vectors, which are as `token_vectors` gives them."""
        sides = [side_by_side(side) for side in zip(*pairs, strict=True)]
        self.network.eval()
        with torch.inference_mode():
            logits = self.network(*sides[0], *sides[1]) + self.network(*sides[1], *sides[0])
        return (logits / 2).sigmoid().numpy()

    def score(self, first: Sequence[str], second: Sequence[str]) -> np.ndarray:
        """The cosine of each two texts, less a penalty where one turns the other; float32 (n,)."""
        return self.lowered(self.cosines(first, second), self.turned(first, second)).astype(np.float32)

    def lowered(self, cosines: np.ndarray, turned: np.ndarray) -> np.ndarray:
        """Cosines, (n,), less the penalty times the square of `turned`: a slight doubt costs nothing."""
        return cosines - self.shape.penalty * turned**2

    def cosines(self, first: Sequence[str], second: Sequence[str]) -> np.ndarray:
        """The cosine of the encoder's vectors of each two texts, float64 (n,)."""
        first, second = _checked(first, second)
        texts = list(dict.fromkeys([*first, *second]))
        vectors = dict(
            zip(texts, F.normalize(torch.from_numpy(self.encoder.encode(texts)), dim=1), strict=True)
        )
        return np.array(
            [float(vectors[one] @ vectors[other]) for one, other in zip(first, second, strict=True)]
        )


def _write_onnx(network: PairNetworks, shape: VerifierShape, file: Path) -> None:
    """The network, its inputs named as the parameters of its `forward`, its output `logits`."""
    sizes: dict[str, dict[int, str]] = {"logits": {0: "pairs"}}
    for side in ("first", "second"):
        sizes[side] = sizes[f"{side}_there"] = {0: "pairs", 1: f"{side}_tokens"}
    vectors = [torch.randn(2, tokens, shape.dimension * len(shape.layers)) for tokens in (3, 4)]
    example = [part for one in vectors for part in (one, torch.ones(one.shape[:2], dtype=torch.bool))]
    with warnings.catch_warnings():
        # The exporter that follows this one takes minutes.
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.onnx.export(
            network, tuple(example), str(file), input_names=list(sizes)[1:], output_names=["logits"],
            dynamic_axes=sizes, dynamo=False,
        )  # fmt: skip


def _checked(first: Sequence[str], second: Sequence[str]) -> tuple[list[str], list[str]]:
    """Both sides as lists; raises `UsageError` where they are not as many strings."""
    if isinstance(first, str) or isinstance(second, str):
        raise UsageError("give two lists of texts, not two texts: score([one], [other])")
    sides = list(first), list(second)
    if len(sides[0]) != len(sides[1]):
        raise UsageError(f"{len(sides[0])} texts and {len(sides[1])} partners; give as many of each")
    for number, text in enumerate([*sides[0], *sides[1]]):
        if not isinstance(text, str):
            place = number % len(sides[0])
            raise UsageError(f"pair {place} has a {type(text).__name__}, not a string; leave it out")
    return sides


def load_verifier(folder: str | Path = SHIPPED, encoder: str | Path | None = None) -> Verifier:
    """Read a verifier from its folder.

    Parameters
    ----------
    folder : path
        What `python -m train verifier` wrote; the shipped one is for all-MiniLM-L6-v2.
    encoder : path or name, optional
        Where the encoder lies; what the folder says where it is left out. Its files must be the same.

    Raises
    ------
    BadInputError
        The folder does not hold a verifier.
    UsageError
        The encoder is another one.

    Examples
    --------
    >>> import augment_cli
    >>> verifier = augment_cli.load_verifier()
    >>> others = ["The patient called the doctor.", "The patient was called by the doctor."]
    >>> (verifier.turned(["The doctor called the patient."] * 2, others) > 0.5).tolist()
    [True, False]
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    path = Path(shipped(str(folder)))
    try:
        said = json.loads((path / SETTINGS).read_text("utf-8"))
        shape = VerifierShape(**said | {"layers": tuple(said["layers"])})
        network = PairNetworks(shape)
        network.load_state_dict({key: value.float() for key, value in load_file(path / WEIGHTS).items()})
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
        reason = " ".join(str(error).split())
        raise BadInputError(f"{folder}: does not load as a verifier ({reason}); make it again") from error
    loaded = load_encoder(encoder or shape.encoder)
    if loaded.digest != shape.digest:
        raise UsageError(
            f"{folder}: was made for {shape.encoder}, and {encoder or shape.encoder} has other files; "
            "give that encoder, or make a verifier for this one (python -m train verifier)"
        )
    return Verifier(loaded, network.eval(), shape)


def untrained(encoder: Encoder, name: str, **sizes: Any) -> Verifier:
    """A verifier for an encoder, not yet trained; its layers are one at a third and the last."""
    count = int(getattr(getattr(encoder.model, "config", None), "num_hidden_layers", 0))
    if not count or encoder.digest is None:
        raise UsageError(f"{name}: a verifier reads the layers of a transformer; take one, such as minilm")
    layers = tuple(dict.fromkeys((max(1, count // 3), count)))
    name = str(Path(name).absolute()) if Path(name).is_dir() else name
    shape = VerifierShape(name, encoder.digest, int(encoder.model.config.hidden_size), layers, **sizes)
    return Verifier(encoder, PairNetworks(shape), shape)
