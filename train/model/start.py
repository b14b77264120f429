"""The encoder that a run starts from: a trained or a new one, fitted to the recipe and the device."""

from pathlib import Path

import torch
from torch import nn

from augment_cli.encoding.encoder import Encoder, to_length_one
from augment_cli.encoding.loading import load_encoder, longest_input
from augment_cli.encoding.static import StaticEncoder
from augment_cli.errors import BadInputError, UsageError
from augment_cli.models.claims import check_model
from train import components
from train.additions import make_views
from train.data.tokens import tokenizer_digest
from train.draws import draw_key
from train.model.fast.bert import use_bit_dropout
from train.recipe import Recipe


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
