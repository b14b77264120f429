"""Make the encoder to start from that ships: its vocabulary, a new BERT, its pretraining, fp16 weights.

    python -m data.builds.encoder.build --data DATA

Its WordPiece vocabulary is learned from plain sentences, lower-cased and without accents, as BERT-uncased's
is, so that text prepared for that family of models means the same here.

Masked language modelling needs thousands of steps before it has learned more than word frequencies. The
factorised co-occurrence matrix (Levy & Goldberg 2014: positive pointwise mutual information, singular value
decomposition) holds that knowledge after a minute, so on a CPU the word embeddings start from it. All other
weights are BERT's random ones. The pretraining is `encoder.toml`'s; given again, the command continues it.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.utils.extmath import randomized_svd
from tokenizers import Tokenizer, processors
from transformers import BertTokenizer

from augment_cli.encoding.loading import load_encoder
from augment_cli.session import Session
from augment_cli.store.store import Store
from data.builds import LICENSE, sentences, size_of
from train.data.tokens import cache_tokens
from train.loading import load_recipe
from train.methods.distil import vocabulary
from train.model import start
from train.outputs.export import export

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
# 11,520 rows of 256 fp16 numbers keep weights and tokenizer together under 13 MB, and 11,520 is a multiple
# of 128, which matrix units like.
VOCABULARY_SIZE = 11_520
MAX_LENGTH = 128
REACH = 5  # words to each side that count as met
SENTENCES = 400_000  # enough for 11,520 pieces
SMOOTHING = 0.75  # of the context distribution, against the bias of mutual information towards rare words
NORM = 0.5  # length of a word embedding: BERT's normal(0, 0.02) in 256 dimensions has 0.32
SEED = 42
LIMIT = 13_000_000  # bytes, all files together


def write_tokenizer(paths: list[Path], out: Path) -> None:
    """Learn the pieces, the five special ones of BERT included; a folder for `transformers.AutoTokenizer`."""
    tokenizer: Tokenizer = vocabulary.learn(sentences(paths), VOCABULARY_SIZE, SPECIAL)
    cls, sep = SPECIAL.index("[CLS]"), SPECIAL.index("[SEP]")  # the trainer numbers them first, in this order
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", sep), ("[CLS]", cls))
    out.mkdir(parents=True, exist_ok=True)
    wrapped = BertTokenizer(tokenizer_object=tokenizer, model_max_length=MAX_LENGTH, do_lower_case=True)
    wrapped.save_pretrained(out)
    pieces = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    (out / "vocab.txt").write_text("".join(f"{piece}\n" for piece, _ in pieces), encoding="utf-8")
    print(f"{len(pieces)} pieces in {out}")


def count_meetings(store: Store, stage: str, vocabulary: int) -> np.ndarray:
    """How often two pieces stand within `REACH` of each other, shape (vocabulary, vocabulary), symmetric."""
    counts = np.zeros(vocabulary * vocabulary, dtype=np.float32)
    seen = 0
    for part, (_, rows) in enumerate(store.parts):
        ids = store.read_part(stage, part, ["ids"])["ids"].combine_chunks()
        values = ids.values.to_numpy().astype(np.int64)
        sentence = np.repeat(np.arange(len(ids)), np.diff(ids.offsets.to_numpy()))
        for distance in range(1, REACH + 1):
            same = sentence[distance:] == sentence[:-distance]
            pairs = values[:-distance][same] * vocabulary + values[distance:][same]
            met, times = np.unique(pairs, return_counts=True)
            counts[met] += times
        seen += rows
        if seen >= SENTENCES:
            break
    square = counts.reshape(vocabulary, vocabulary)
    return square + square.T


def embed_words(counts: np.ndarray, dimensions: int) -> np.ndarray:
    """Word vectors of length `NORM` from co-occurrence counts, shape (vocabulary, dimensions)."""
    words, contexts = counts.sum(axis=1), counts.sum(axis=0) ** SMOOTHING
    expected = np.outer(words / words.sum(), contexts / contexts.sum()) * counts.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.log(counts / expected)
    information[~(information > 0)] = 0.0
    left, singular, _ = randomized_svd(information, dimensions, n_iter=3, random_state=SEED)
    vectors = left * np.sqrt(singular)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.maximum(lengths, 1e-9) * NORM


def write_start(store: Store, tokenizer: Path, out: Path) -> None:
    """A new BERT whose word embeddings know which words meet."""
    encoder = start(tokenizer, load_recipe("mlm"), torch.device("cpu"))
    stage = cache_tokens(store, "corpus", encoder.tokenizer)
    embeddings: Any = encoder.model.get_input_embeddings()
    rows, dimensions = embeddings.weight.shape
    vectors = embed_words(count_meetings(Store.open(store.path), stage, rows), dimensions)
    met = torch.from_numpy(np.linalg.norm(vectors, axis=1) > NORM / 2)
    with torch.no_grad():
        embeddings.weight[met] = torch.from_numpy(vectors).float()[met]
    export(encoder, out)
    print(f"{int(met.sum())} of {rows} word embeddings from co-occurrence, in {out}")


def ship(trained: Path, out: Path) -> None:
    """Write the trained encoder with fp16 weights and the licence; its card is written by people."""
    card = (out / "README.md").read_bytes()
    export(load_encoder(trained, pooling="mean"), out, torch.float16)
    (out / "README.md").write_bytes(card)
    shutil.copy(LICENSE, out / "LICENSE")
    print(size_of(out, LIMIT))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="data folder with corpus/")
    parser.add_argument(
        "--work", type=Path, default=Path("runs/encoder"), help="folder of what comes between"
    )
    parser.add_argument("--out", type=Path, default=Path("data/models/encoder"))
    args = parser.parse_args()
    tokenizer, store, begun, run = (args.work / name for name in ("vocabulary", "store", "start", "run"))
    corpus = [*sorted(args.data.glob("corpus/wiki_en-*.txt.gz")), args.data / "corpus/books_en.txt.gz"]
    write_tokenizer(sorted(corpus), tokenizer)
    with Session(store) as session:
        session.ingest(corpus)
    write_start(Store.open(store), tokenizer, begun)
    recipe = Path(__file__).with_name("encoder.toml")
    command = [sys.executable, "-m", "train", recipe, "--store", store, "--encoder", begun, "--out", run]
    subprocess.run(list(map(str, command)), check=True)
    ship(run / "last", args.out)


if __name__ == "__main__":
    main()
