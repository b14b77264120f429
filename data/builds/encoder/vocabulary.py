"""Learn the shipped encoder's WordPiece vocabulary from plain sentences.

    python -m data.builds.encoder.vocabulary DATA/corpus/*.txt.gz --out FOLDER

Writes a tokenizer folder (``tokenizer.json``, ``vocab.txt``, ``tokenizer_config.json``,
``special_tokens_map.json``) that ``transformers.AutoTokenizer`` opens. Lower-cased, accents stripped, as
BERT-uncased does, so that text prepared for that family of models means the same here.
"""

import argparse
from pathlib import Path

from tokenizers import Tokenizer, processors
from transformers import BertTokenizer

from data.builds.frame import sentences
from train.methods.distil import vocabulary

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
# 11,520 rows of 256 fp16 numbers keep weights and tokenizer together under 13 MB, and 11,520 is a multiple
# of 128, which matrix units like.
VOCABULARY_SIZE = 11_520
MAX_LENGTH = 128


def learn(paths: list[Path], size: int = VOCABULARY_SIZE) -> Tokenizer:
    """Learn a WordPiece vocabulary of `size` pieces, the five special ones of BERT included."""
    tokenizer: Tokenizer = vocabulary.learn(sentences(paths), size, SPECIAL)
    cls, sep = SPECIAL.index("[CLS]"), SPECIAL.index("[SEP]")  # the trainer numbers them first, in this order
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", sep), ("[CLS]", cls))
    return tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="gzipped text, one sentence a line")
    parser.add_argument("--out", type=Path, required=True, help="folder for the tokenizer")
    parser.add_argument("--size", type=int, default=VOCABULARY_SIZE, help="number of pieces")
    args = parser.parse_args()
    tokenizer = learn(sorted(args.files), args.size)
    args.out.mkdir(parents=True, exist_ok=True)
    wrapped = BertTokenizer(tokenizer_object=tokenizer, model_max_length=MAX_LENGTH, do_lower_case=True)
    wrapped.save_pretrained(args.out)
    pieces = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    (args.out / "vocab.txt").write_text("".join(f"{piece}\n" for piece, _ in pieces), encoding="utf-8")
    print(f"{len(pieces)} pieces in {args.out}")


if __name__ == "__main__":
    main()
