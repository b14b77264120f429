"""Learn the shipped paraphraser's SentencePiece vocabulary from plain sentences.

    python data/builds/paraphraser/vocabulary.py DATA/corpus/wiki_en-*.txt.gz DATA/corpus/books_en.txt.gz \
        --out FOLDER

Writes a tokenizer folder that ``transformers.AutoTokenizer`` opens as a `PegasusTokenizer` without the
``sentencepiece`` library. Cased and without any normalisation beyond runs of spaces, so that what the model
writes is an ordinary sentence.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import sentencepiece
from transformers import PegasusTokenizer

# 6,000 rows of 256 bf16 numbers are a quarter of what 13 MB can hold; the other three quarters think.
VOCABULARY_SIZE = 6_000
SENTENCES = 300_000  # enough for so few pieces; more only takes longer
MAX_LENGTH = 128
SEED = 42
# PEGASUS's order, without its hundred unused rows (`offset=2` below means that there are none).
SPECIAL = ["<pad>", "</s>", "<mask_1>", "<mask_2>", "<unk>"]


def sample_lines(paths: Iterable[Path], count: int, seed: int = SEED) -> list[str]:
    """Draw about `count` lines from gzipped text files, each line with the same chance, in file order."""
    lines: list[str] = []
    for path in sorted(paths):
        with gzip.open(path, "rt", encoding="utf-8", newline="\n") as stream:
            lines += (line.rstrip("\n") for line in stream)
    if len(lines) <= count:
        return lines
    return [lines[index] for index in sorted(random.Random(seed).sample(range(len(lines)), count))]


def learn(lines: Iterator[str], size: int = VOCABULARY_SIZE) -> list[tuple[str, float]]:
    """Learn a unigram vocabulary (Kudo 2018) of `size` pieces with their scores, special ones first."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=lines,
        model_writer=model,
        vocab_size=size,
        model_type="unigram",
        # Letters of rare scripts would take rows from English words; they become <unk>.
        character_coverage=0.9998,
        normalization_rule_name="identity",
        # One digit a piece: numbers are copied digit by digit and never split in unforeseen ways.
        split_digits=True,
        pad_id=0,
        eos_id=1,
        unk_id=4,
        bos_id=-1,
        pad_piece=SPECIAL[0],
        eos_piece=SPECIAL[1],
        unk_piece=SPECIAL[4],
        user_defined_symbols=SPECIAL[2:4],
        num_threads=1,
        minloglevel=2,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [(processor.id_to_piece(index), processor.get_score(index)) for index in range(len(processor))]


def save(pieces: list[tuple[str, float]], folder: Path) -> None:
    """Write `pieces` as the tokenizer folder of a PEGASUS model."""
    if [piece for piece, _ in pieces[: len(SPECIAL)]] != SPECIAL:
        raise ValueError(f"the vocabulary must start with {SPECIAL}, not {pieces[: len(SPECIAL)]}")
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = PegasusTokenizer(vocab=pieces, offset=2, model_max_length=MAX_LENGTH)
    tokenizer.save_pretrained(folder)
    compact(folder / "tokenizer.json")


def compact(path: Path) -> None:
    """Write a JSON file anew without indentation, which doubles a vocabulary's size."""
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")


def main() -> None:
    """Read the command line, learn, and save the tokenizer folder."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, help="gzipped text, one sentence a line")
    parser.add_argument("--out", type=Path, required=True, help="folder for the tokenizer")
    parser.add_argument("--size", type=int, default=VOCABULARY_SIZE, help="number of pieces")
    parser.add_argument("--sentences", type=int, default=SENTENCES, help="sentences to learn from")
    args = parser.parse_args()
    pieces = learn(iter(sample_lines(args.files, args.sentences)), args.size)
    # Scores are log probabilities; four digits choose the same pieces and keep the file small.
    save([(piece, round(score, 4)) for piece, score in pieces], args.out)
    print(f"{len(pieces)} pieces in {args.out}")


if __name__ == "__main__":
    main()
