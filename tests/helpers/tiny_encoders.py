"""A tiny sentence encoder, for tests that train or score one."""

from pathlib import Path

import pytest

from tests.helpers.places import REPOSITORY

SENTENCES = (REPOSITORY / "augment_cli/sample/sentences.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a BERT of 2 layers and 32 dimensions, with a vocabulary of its own and dropout 0.1."""
    return make_tiny_encoder(tmp_path_factory.mktemp("models") / "tiny")


def make_tiny_encoder(folder: Path, layers: int = 2) -> Path:
    """The same with another number of layers."""
    import torch  # here, so that tests without models do not wait for it
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import BertConfig, BertModel, BertTokenizer

    from augment_cli.encoding.encoder import Encoder
    from train.outputs.export import export

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=600, special_tokens=special, show_progress=False)
    tokenizer.train_from_iterator(SENTENCES[:400], trainer)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    wrapped = BertTokenizer(tokenizer_object=tokenizer, model_max_length=64)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(wrapped),
        hidden_size=32,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    encoder = Encoder(BertModel(config).eval(), wrapped, "mean", max_length=64)
    export(encoder, folder)
    return folder
