"""The model in training: an encoder with its pooling, the head, and the head of masked language modelling."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from augment_cli.errors import UsageError
from eval.encoding.encoder import Encoder, load_encoder, longest_input
from eval.encoding.pooling import canonical, needs_all_layers, pool
from train.additions import Addition, make_additions, make_views
from train.data.padding import Slice
from train.data.tokens import tokenizer_digest
from train.heads import make_head
from train.machine.threads import attention_for
from train.model.bert import encode, is_known
from train.model.dropout import use_bit_dropout
from train.model.mlm import MaskedHead
from train.recipe import Recipe


class Model(nn.Module):
    """Everything with parameters.

    Attributes
    ----------
    encoder
        A transformers model; the only part that is saved at the end.
    head
        Applied to the gathered embeddings in training (`train.heads`).
    masked_head
        Names hidden tokens; None unless the recipe asks for masked language modelling.
    additions
        The recipe's additions by name (`train.additions`), with their parameters and what they remember.
    """

    def __init__(self, encoder: nn.Module, pooling: str, recipe: Recipe) -> None:
        super().__init__()
        self.encoder, self.pooling = encoder, canonical(pooling)
        config: Any = encoder.config
        for name, parameter in encoder.named_parameters():
            # BERT's pooler comes after every pooling we have; it never gets a gradient.
            parameter.requires_grad_(not name.startswith("pooler."))
        joined = self.pooling.count("+") + 1
        self.head = make_head(recipe.head, config.hidden_size * joined) if recipe.objective != "mlm" else None
        self.recipe = recipe
        self.masked_head = None
        if recipe.objective == "mlm" or recipe.mlm_weight:
            words = encoder.get_input_embeddings()  # type: ignore[operator]
            self.masked_head = MaskedHead(config.hidden_size, config.vocab_size, words)
        self.additions = make_additions(recipe, self)

    @property
    def packs(self) -> bool:
        """Whether slices are encoded together, by `train.model.bert`."""
        hooked = any(
            getattr(type(addition), "encoding", None) is not Addition.encoding
            for addition in self.additions.values()
        )
        return is_known(self.encoder) and not hooked and not self.recipe.compile

    def hidden_states(self, items: Sequence[Slice]) -> list[Tensor]:
        """Last layer's token vectors of each slice, shape (n, length, d)."""
        return [layers[-1] for layers in self._layers(items, self.encoder)]

    def embed(self, items: Sequence[Slice], encoder: nn.Module | None = None) -> list[Tensor]:
        """Sentence embeddings of each slice before the head, shape (n, d), at least fp32.

        Parameters
        ----------
        encoder
            One of the same kind to use in place of the model's own, such as its running mean.
        """
        found = self._layers(items, encoder or self.encoder)
        wide = [[_widen(layer) for layer in layers] for layers in found]
        return [
            pool(layers if needs_all_layers(self.pooling) else layers[-1], item.mask, self.pooling)
            for layers, item in zip(wide, items, strict=True)
        ]

    def _layers(self, items: Sequence[Slice], encoder: nn.Module) -> list[list[Tensor]]:
        """Hidden states of each slice: the last at least, and all where the pooling needs them."""
        every = needs_all_layers(self.pooling)
        if self.packs:
            return [layers if every else layers[-1:] for layers in encode(encoder, items)]
        outputs = [
            encoder(input_ids=item.ids, attention_mask=item.mask, output_hidden_states=every)
            for item in items
        ]
        return [list(found.hidden_states) if every else [found.last_hidden_state] for found in outputs]

    def apply_head(self, embeddings: Tensor) -> Tensor:
        """Map embeddings (n, d) to the space of the loss, (n, h)."""
        return embeddings if self.head is None else self.head(embeddings)

    @property
    def dimension(self) -> int:
        """Length of a sentence embedding before the head."""
        config: Any = self.encoder.config
        return int(config.hidden_size) * (self.pooling.count("+") + 1)

    @property
    def head_dimension(self) -> int:
        """Length of a vector after the head."""
        return self.dimension if self.head is None else int(self.head.dimension)  # type: ignore[arg-type]

    @property
    def dtype(self) -> torch.dtype:
        """Number format of the embeddings: fp32, or float64 where the encoder is."""
        return next(self.encoder.parameters()).dtype

    def encoder_parameters(self) -> list[nn.Parameter]:
        """Parameters whose gradients are partial on each rank: the encoder's and the masked head's."""
        own = [parameter for parameter in self.encoder.parameters() if parameter.requires_grad]
        return own + (list(self.masked_head.parameters()) if self.masked_head is not None else [])

    def head_parameters(self) -> list[nn.Parameter]:
        """Parameters whose gradients are the same on every rank: the head's and the additions'."""
        shared = [*([] if self.head is None else self.head.parameters()), *self.additions.parameters()]
        return [parameter for parameter in shared if parameter.requires_grad]


def _widen(tensor: Tensor) -> Tensor:
    return tensor if tensor.dtype == torch.float64 else tensor.float()


def start(folder: str | Path, recipe: Recipe, device: torch.device, allow_download: bool = False) -> Encoder:
    """The encoder to start from: a trained one, or a new one where the folder holds only a tokenizer.

    Raises
    ------
    UsageError
        If there are no weights and the recipe has no [new_encoder] table, or the encoder does not read texts
        as long as the recipe's.
    """
    path = Path(folder)
    if path.is_dir() and (path / "tokenizer.json").is_file() and not list(path.rglob("*.safetensors")):
        if not recipe.new_encoder:
            raise UsageError(
                f"{path}: holds a tokenizer but no weights, and recipe {recipe.name} has no [new_encoder]"
            )
        encoder = _new(path, recipe)
    else:
        encoder = load_encoder(folder, allow_download=allow_download)
    _check_length(encoder, recipe)
    if recipe.dropout >= 0:
        for module in encoder.model.modules():
            if isinstance(module, nn.Dropout):
                module.p = recipe.dropout
    if device.type == "cpu":
        use_bit_dropout(encoder.model)
    encoder.model.set_attn_implementation(attention_for(device))
    if recipe.precision == "float64":
        encoder.model.double()
    encoder.model.to(device)
    return encoder


def _check_length(encoder: Encoder, recipe: Recipe) -> None:
    # A longer text would end the run at whichever step meets it, in an index error of torch's.
    limit = longest_input(encoder.model, encoder.tokenizer)
    longest = max(
        [views.longest(recipe.max_length) for views in make_views(recipe)], default=recipe.max_length
    )
    if longest > limit:
        repeated = f" ({longest} with repeated sub-words)" if longest > recipe.max_length else ""
        raise UsageError(
            f"max_length = {recipe.max_length}{repeated}: {encoder.name} reads at most {limit} tokens; "
            "lower max_length"
        )


def _new(folder: Path, recipe: Recipe) -> Encoder:
    from transformers import AutoModel, AutoTokenizer, BertConfig

    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    config = BertConfig(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id, **recipe.new_encoder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(draw_key(recipe.seed, "new encoder"))
        model = AutoModel.from_config(config)
    # Its weights come from the seed and the settings, which every checkpoint has; the vocabulary does not.
    return Encoder(
        model, tokenizer, "mean", max_length=config.max_position_embeddings, name=folder.name,
        digest=tokenizer_digest(tokenizer),
    )  # fmt: skip


def draw_key(*names: Any) -> int:
    """A seed for torch that is a function of the names alone, below 2**63."""
    digest = hashlib.sha256("|".join(map(str, names)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1
