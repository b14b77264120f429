"""Small models with random weights and tokenizers of their own, in the formats that publishers use."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch
import transformers

from tests.helpers import tiny_models
from tests.helpers.made_stores import store_of

TEXT = (
    "the a river heron waits near bridge old stone water slowly under grey evening light town quiet boat "
    "crosses people watch from bank never again small child throws bread birds come every year when winter "
    "begins snow covers field farmer walks home with dog lantern burns window opens letter arrives too late"
)
WORDS = TEXT.split()
SENTENCES = [
    " ".join(WORDS[(3 * n + 7 * k) % len(WORDS)] for k in range(3 + n % 9)).capitalize() + "."
    for n in range(60)
]
SIZE = 32
SHAPE = {
    "d_model": SIZE,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": 48,
    "init_std": 0.4,
}
LAYERS = {"hidden_size": SIZE, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
MARKS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
# Random weights write without end; these make them write about a dozen different words.
WRITING = {"max_length": 24, "no_repeat_ngram_size": 2, "exponential_decay_length_penalty": (4, 1.4)}


def _sentencepiece(prefix: Path, **options: Any) -> None:
    text = io.StringIO("\n".join(SENTENCES * 3))
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=text,
        model_prefix=str(prefix),
        vocab_size=120,
        hard_vocab_limit=False,
        minloglevel=2,
        **options,
    )


def _save(model: Any, tokenizer: Any, folder: Path, **writing: Any) -> Path:
    for key, value in (WRITING | writing).items():
        if model.can_generate():
            setattr(model.generation_config, key, value)
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _pieces(folder: Path, seed: int) -> None:
    """A new folder with a SentencePiece vocabulary, and the seed of the weights."""
    folder.mkdir(parents=True)
    torch.manual_seed(seed)
    _sentencepiece(folder / "spiece", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    (folder / "spiece.vocab").unlink()


def make_pegasus(folder: Path) -> Path:
    _pieces(folder, 1)
    tokenizer = transformers.PegasusTokenizer.from_pretrained(folder, offset=0)
    config = transformers.PegasusConfig(vocab_size=len(tokenizer), **SHAPE)
    return _save(transformers.PegasusForConditionalGeneration(config), tokenizer, folder)


def make_t5(folder: Path) -> Path:
    """T5 with a SentencePiece vocabulary; its configuration names the prefix."""
    _pieces(folder, 2)
    tokenizer = transformers.T5Tokenizer.from_pretrained(folder, extra_ids=0)
    config = transformers.T5Config(
        vocab_size=len(tokenizer),
        d_model=SIZE,
        d_ff=64,
        d_kv=8,
        num_layers=2,
        num_heads=4,
        initializer_factor=4.0,
        decoder_start_token_id=0,
        task_specific_params={"paraphrase": {"prefix": "paraphrase: "}},
    )
    return _save(transformers.T5ForConditionalGeneration(config), tokenizer, folder)


def _byte_level(folder: Path, seed: int, texts: list[str], **options: Any) -> Any:
    """A byte-level BPE vocabulary for a new folder, and the seed of the weights."""
    from tokenizers import ByteLevelBPETokenizer

    folder.mkdir(parents=True)
    torch.manual_seed(seed)
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(texts, show_progress=False, **options)
    return trained


def make_bart(folder: Path) -> Path:
    _byte_level(folder, 3, SENTENCES, vocab_size=400, special_tokens=MARKS).save_model(str(folder))
    tokenizer = transformers.BartTokenizer.from_pretrained(folder, model_max_length=48)
    config = transformers.BartConfig(vocab_size=len(tokenizer), **SHAPE)
    return _save(transformers.BartForConditionalGeneration(config), tokenizer, folder)


def make_marian(folder: Path, seed: int) -> Path:
    """Marian with the two SentencePiece files and the shared vocabulary of the opus-mt models."""
    import json

    folder.mkdir(parents=True)
    torch.manual_seed(seed)
    for side in ("source", "target"):
        _sentencepiece(folder / side)
        (folder / f"{side}.model").rename(folder / f"{side}.spm")
        (folder / f"{side}.vocab").unlink()
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder / "source.spm"))
    words = [pieces.id_to_piece(number) for number in range(pieces.get_piece_size())]
    words = ["</s>", "<unk>", *(word for word in words if word not in ("<s>", "</s>", "<unk>")), "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({word: number for number, word in enumerate(words)}))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*sacremoses")
        tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    pad = len(words) - 1
    config = transformers.MarianConfig(
        vocab_size=len(words), pad_token_id=pad, decoder_start_token_id=pad, eos_token_id=0, **SHAPE
    )
    return _save(transformers.MarianMTModel(config), tokenizer, folder, bad_words_ids=[[pad]], num_beams=3)


def make_bert(folder: Path, kind: str = "BertForMaskedLM", known: Sequence[str] = WORDS) -> Path:
    """BERT with a WordPiece vocabulary: with its masked-language-model head, or as a plain encoder."""
    folder.mkdir(parents=True)
    torch.manual_seed(4)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = [*"abcdefghijklmnopqrstuvwxyz.", *(f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")]
    (folder / "vocab.txt").write_text("\n".join(dict.fromkeys([*special, *letters, *known])))
    tokenizer = transformers.BertTokenizer.from_pretrained(folder, model_max_length=64)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), **LAYERS, max_position_embeddings=64, initializer_range=0.4
    )
    return _save(getattr(transformers, kind)(config), tokenizer, folder)


ACCENTED = "the heron García sees the café near Perú così naïve bridge à Übung Peñarrubia água über"


def make_roberta(folder: Path) -> Path:
    """RoBERTa with its masked-language-model head and a byte-level BPE vocabulary of accented words too."""
    texts = [*SENTENCES, *[ACCENTED] * 20]
    _byte_level(folder, 7, texts, vocab_size=500, special_tokens=MARKS).save_model(str(folder))
    tokenizer = transformers.RobertaTokenizer.from_pretrained(folder, model_max_length=48)
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer), **LAYERS, max_position_embeddings=50, initializer_range=0.4
    )
    return _save(transformers.RobertaForMaskedLM(config), tokenizer, folder)


CHAT = (
    "{% for one in messages %}<{{ one.role }}>{{ one.content }}</s>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def make_llama(folder: Path, chat: str | None = CHAT) -> Path:
    """A causal model with a byte-level BPE vocabulary, with a chat template or without."""
    trained = _byte_level(folder, 8, SENTENCES, vocab_size=400, special_tokens=["<pad>", "</s>"])
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer, pad_token="<pad>", eos_token="</s>", model_max_length=1024
    )
    tokenizer.chat_template = chat
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        **LAYERS,
        max_position_embeddings=1024,
        initializer_range=0.4,
        pad_token_id=0,
        bos_token_id=None,
        eos_token_id=1,
    )
    writing = {"max_length": 1024, "no_repeat_ngram_size": None}
    return _save(transformers.LlamaForCausalLM(config), tokenizer, folder, **writing)


MAKERS = {
    "pegasus": tiny_models.make_pegasus,
    "t5": tiny_models.make_t5,
    "bart": tiny_models.make_bart,
    "marian": lambda folder: tiny_models.make_marian(folder, 5),
    "marian-back": lambda folder: tiny_models.make_marian(folder, 6),
    "bert": tiny_models.make_bert,
    "roberta": tiny_models.make_roberta,
    "llama": tiny_models.make_llama,
    "llama-plain": lambda folder: tiny_models.make_llama(folder, None),
    "encoder": lambda folder: tiny_models.make_bert(folder, "BertModel"),
}


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """`model("t5")`: the folder of a small model, made at the first call."""
    base = tmp_path_factory.mktemp("models")

    def folder(kind: str) -> str:
        path = base / kind
        if not path.exists():
            MAKERS[kind](path)
        return str(path)

    return folder


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    """A store of 60 sentences in three parts."""
    return store_of(tmp_path, tiny_models.SENTENCES, part_rows=25).path
