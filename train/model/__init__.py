"""The model in training: the encoder that a run starts from, fitted to recipe and device, and its heads."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from augment_cli.encoding.dense import to_length_one
from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.fast.bert import is_known
from augment_cli.encoding.loading import load_encoder, longest_input
from augment_cli.encoding.pooling import canonical, needs_all_layers, pool
from augment_cli.encoding.static import StaticEncoder, StaticTable
from augment_cli.errors import BadInputError, UsageError
from augment_cli.models.claims import check_model
from train import components
from train.additions import make_additions, make_views
from train.additions.base import Addition
from train.data.order import draw_key
from train.data.padding import Piece, Slice
from train.data.tokens import tokenizer_digest
from train.heads import make_head
from train.model.fast import encode, use_bit_dropout
from train.recipe import Recipe


class Model(nn.Module):
    """Everything with parameters; of it only `encoder` is saved at the end."""

    token_weights: Tensor | None  # of each token of the vocabulary, (V,); not trained, in no checkpoint
    left_out: int = 0  # tokens at the beginning of each text that the pooling does not count: a prompt's

    def __init__(
        self, encoder: nn.Module, pooling: str, recipe: Recipe, token_weights: Tensor | None = None
    ) -> None:
        super().__init__()
        # Counted in the corpus again when a run continues.
        self.register_buffer("token_weights", token_weights, persistent=False)
        self.encoder, self.pooling = encoder, canonical(pooling)
        config: Any = encoder.config
        for name, parameter in encoder.named_parameters():
            # BERT's pooler comes after every pooling we have; it never gets a gradient.
            parameter.requires_grad_(not name.startswith("pooler."))
        joined = self.pooling.count("+") + 1
        self.head = make_head(recipe.head, config.hidden_size * joined) if recipe.objective != "mlm" else None
        self.recipe = recipe
        self.masked_head: nn.Module | None = None
        if recipe.objective == "mlm" or recipe.masking.weight:
            words = encoder.get_input_embeddings()  # type: ignore[operator]
            masked = components.part("methods.mlm.masked_language")
            self.masked_head = masked.MaskedHead(config.hidden_size, config.vocab_size, words)
        self.additions = make_additions(recipe, self)

    @property
    def packs(self) -> bool:
        """Whether slices are encoded together, by `train.model.fast` or `train.extras.static`."""
        if isinstance(self.encoder, StaticTable):
            return True
        additions = [item for item in self.additions.values() if isinstance(item, Addition)]
        hooked = any(addition.changes_hidden_states() for addition in additions)
        return is_known(self.encoder) and not hooked and not self.recipe.machine.compile

    def hidden_states(self, items: Sequence[Slice]) -> list[Tensor]:
        """Last layer's token vectors of each slice, shape (n, length, d)."""
        return [layers[-1] for layers in self._layers(items, self.encoder)]

    def embed(self, items: Sequence[Piece], encoder: nn.Module | None = None) -> list[Tensor]:
        """Sentence embeddings of each slice before the head, shape (n, d), at least fp32."""
        encoder = encoder or self.encoder
        if isinstance(encoder, StaticTable):
            found: list[Tensor] = components.part("extras.static").embed(encoder, items, self.token_weights)
            return found
        slices = cast("Sequence[Slice]", items)
        if self.packs and self.pooling == "cls" and not self.left_out:
            # Padding is on the right: the first token is in place 0.
            return [_widen(layers[-1][:, 0]) for layers in encode(encoder, slices, first_only=True)]
        wide = [[_widen(layer) for layer in layers] for layers in self._layers(slices, encoder)]
        table, every = self.token_weights, needs_all_layers(self.pooling)
        return [
            pool(
                layers if every else layers[-1], item.mask, self.pooling,
                None if table is None else table[item.ids], self.left_out,
            )
            for layers, item in zip(wide, slices, strict=True)
        ]  # fmt: skip

    def _layers(self, items: Sequence[Slice], encoder: nn.Module) -> list[list[Tensor]]:
        """Hidden states of each slice: the last at least, and all where the pooling needs them."""
        every = needs_all_layers(self.pooling)
        if self.packs:
            return [layers if every else layers[-1:] for layers in encode(encoder, items)]
        outputs = [
            encoder(input_ids=item.ids, attention_mask=item.mask, output_hidden_states=every)
            for item in items
        ]
        return [list(output.hidden_states) if every else [output.last_hidden_state] for output in outputs]

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


def known_layers(encoder: nn.Module) -> list[nn.Module]:
    """The embedding layer, then each above it (as BERT and MPNet have them); [] of other encoders."""
    inner = getattr(encoder, "encoder", None) or getattr(encoder, "transformer", None)
    layers, embeddings = getattr(inner, "layer", None), getattr(encoder, "embeddings", None)
    return [] if layers is None or embeddings is None else [embeddings, *layers]


def freeze(encoder: nn.Module, share: float) -> bool:
    """Leave the embeddings and a share of the layers untrained; whether it knows which these are."""
    layers = known_layers(encoder)
    for layer in layers[: 1 + int(share * (len(layers) - 1))]:
        layer.requires_grad_(False)
    return bool(layers)


def start(folder: str | Path, recipe: Recipe, device: torch.device, allow_download: bool = False) -> Encoder:
    """The encoder to start from: a trained one, or a new one where the folder holds only a tokenizer."""
    path = Path(folder)
    if is_new(path):
        if not recipe.new_encoder:
            raise UsageError(
                f"{path}: holds a tokenizer but no weights, and recipe {recipe.name} has no [new_encoder]"
            )
        check_model(path)
        encoder = _new(path, recipe)
    else:
        encoder = load_encoder(folder, allow_download=allow_download)
    for name, parameter in encoder.model.named_parameters():
        if not parameter.isfinite().all():
            raise BadInputError(
                f"{folder}: the weights {name} hold NaN or infinity; take another --encoder or fetch it again"
            )
    refuse_what_would_be_lost(encoder)
    if isinstance(encoder, StaticEncoder):
        components.part("extras.static").check(recipe, encoder.name)
    else:
        _fit(encoder, recipe, device)
    if recipe.precision == "float64":
        encoder.model.double()
    encoder.model.to(device)
    return encoder


def is_new(path: Path) -> bool:
    """Whether a folder holds a tokenizer and no weights, so that the encoder is a new one."""
    return path.is_dir() and (path / "tokenizer.json").is_file() and not list(path.rglob("*.safetensors"))


def refuse_what_would_be_lost(encoder: Encoder) -> None:
    """Losses compare by cosine, which lengths do not change; of other steps they know nothing."""
    if any(step is not to_length_one for step in encoder.modules):
        raise UsageError(
            f"{encoder.name} has steps after the pooling besides Normalize (modules.json), which training "
            "would lose; train a folder without them"
        )
    if encoder.lower_case and encoder.tokenizer.tokenize("A") != encoder.tokenizer.tokenize("a"):
        raise UsageError(
            f"{encoder.name} puts texts in lower case before its tokenizer sees them (do_lower_case in "
            "sentence_bert_config.json), and training would not; train a copy where that is false"
        )


def _fit(encoder: Encoder, recipe: Recipe, device: torch.device) -> None:
    """Fit a transformer to the recipe and the device."""
    _check_length(encoder, recipe)
    if recipe.dropout >= 0:
        for module in encoder.model.modules():
            if isinstance(module, nn.Dropout):
                module.p = recipe.dropout
    if device.type == "cpu" and recipe.machine.fast:
        use_bit_dropout(encoder.model)
    # On a CPU at 32 tokens the plain products beat torch's fused kernel, whose backward pass is the slowest
    # single operation of a step; on a GPU the fused kernel wins.
    encoder.model.set_attn_implementation("sdpa" if device.type == "cuda" else "eager")


def _check_length(encoder: Encoder, recipe: Recipe) -> None:
    # A longer text would end the run at whichever step meets it, in an index error of torch's.
    limit = longest_input(encoder.model.config, encoder.tokenizer)
    length = recipe.max_length
    longest = max((views.longest(length) for views in make_views(recipe)), default=length)
    if longest > limit:
        repeated = f" ({longest} with repeated sub-words)" if longest > length else ""
        raise UsageError(
            f"max_length = {length}{repeated}: {encoder.name} reads at most {limit} tokens; lower max_length"
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
