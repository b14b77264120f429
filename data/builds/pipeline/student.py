"""The student: the small spaCy pipeline that ships, trained on gold and silver trees.

Hash embeddings and static floret vectors, four convolutional layers shared by all components, a
transition-based parser. Settings are in student.cfg beside this file. Every word's vector is the mean of a
few rows that its whole form and its character n-grams hash to (https://github.com/explosion/floret), so that
18,000 rows serve all words, unknown ones too; lower-cased, as the student sees case by other features.

spaCy takes the lemmatizer's labels from the data it is initialized with, the gold trees, where "Written" at a
sentence's start is too rare to have a tree of its own, and counts every word without a label as label 0 while
it trains. So after training, the linear layer that chooses the edit tree is learned once more, on the same
vectors (the shared layers stay as they are), with the commonest trees of gold and silver as its labels.
"""

import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import spacy
import torch
from spacy.attrs import ORTH
from spacy.lang.char_classes import HYPHENS
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training.initialize import convert_vectors, init_nlp
from spacy.training.loop import train
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex, load_config, registry
from torch.nn import functional as F

from augment_cli.syntax.tree import words
from data.builds import sentences
from data.builds.pipeline.treebank import Sentence, group, make_doc

# Prefixes that stay with their word: "non-human" is one word, "well-known" three.
PREFIXES = sorted(
    words(
        "anti co cross de e ex extra hyper inter intra macro mega meta micro mid mini mono multi neo non "
        "over para post pre pro proto pseudo psycho quasi re semi socio sub super trans ultra un uni"
    )
)
# Runs of punctuation that are one token.
_PUNCTUATION = r"[!?]+[.!?]*[!?] \.+[!?]+ ={2,} \*{2,} _{2,} -{3,} <{2,} >{2,} \${2,}"
RUNS = _PUNCTUATION.split()
NUMBERS = r"(?:\+?\d{1,2}-)?(?:\d{3}-)?\d{3}-\d{4}$"  # telephone
ABBREVIATIONS = sorted(words("Ft. Lt. Col. Capt. Sgt. Maj. Attn. Mon. Tue. Wed. Thu. Thur. Fri. Sat. Sun."))
UNSPLIT = {"and/or"}  # the default's exceptions that EWT divides
DIVIDED = {"wanna": ("wan", "na"), "dont": ("do", "nt")}
CONFIG = Path(__file__).with_name("student.cfg")
GROUPED, LARGEST = 0.15, 4  # share of gold documents that hold more than one sentence, and at most how many
SCALE = 0.2  # floret's word vectors are about 10 long, the hash embeddings beside them about 1
LABELS = 1_000  # edit trees; each costs 400 bytes
EPOCHS, BATCH, RATE = 5, 4_096, 2e-3
UNKNOWN = -100  # a word whose lemma is not known, or needs a rarer tree
# Continuous bag of words with a short reach: vectors that say what a word does rather than what it is about.
SETTINGS = {
    "model": "cbow",
    "mode": "floret",
    "hashCount": 2,
    "bucket": 18_000,
    "minn": 4,
    "maxn": 5,
    "dim": 64,
    "minCount": 10,
    "epoch": 5,
    "ws": 3,
    "neg": 5,
    "lr": 0.05,
    "thread": 1,
}


def adapt_tokenizer(nlp: Language) -> Language:
    """Change the rules of a blank English pipeline's tokenizer in place; returns the pipeline."""
    tokenizer: Any = nlp.tokenizer  # as spaCy's own languages have it; its type says any callable
    defaults: Any = nlp.Defaults
    kept = "".join(rf"(?<!\b{prefix})(?<!\b{prefix.capitalize()})" for prefix in PREFIXES)
    infixes = [kept + rule if f"(?:{HYPHENS})" in rule else rule for rule in defaults.infixes]
    if infixes == list(defaults.infixes):
        raise RuntimeError("this spaCy's English rules have no hyphen infix as expected; adapt this")
    tokenizer.infix_finditer = compile_infix_regex([*RUNS, *infixes]).finditer
    tokenizer.prefix_search = compile_prefix_regex([*RUNS, *defaults.prefixes]).search
    clock = [r"(?<=\d)(?:AM|PM|am|pm)"]
    tokenizer.suffix_search = compile_suffix_regex([*RUNS, *clock, *defaults.suffixes]).search
    tokenizer.token_match = re.compile(NUMBERS).match
    rules = {text: parts for text, parts in tokenizer.rules.items() if text not in UNSPLIT}
    rules |= {text: [{ORTH: text}] for text in ABBREVIATIONS}
    for text, parts in DIVIDED.items():
        for variant in (text, text.capitalize()):
            start = 0
            rules[variant] = []
            for part in parts:
                rules[variant].append({ORTH: variant[start : start + len(part)]})
                start += len(part)
    tokenizer.rules = rules
    return nlp


@registry.callbacks("augment_cli.english_tokenizer")
def tokenizer_callback() -> object:
    """Return the callback that `spacy train` calls before anything is initialized."""
    return adapt_tokenizer


def write_gold(sentences: Sequence[Sentence], path: Path, copies: int, seed: int) -> None:
    """Write gold trees `copies` times, each time grouped anew into documents."""
    vocab = spacy.blank("en").vocab
    generator = random.Random(seed)
    binary = DocBin()
    for _ in range(copies):
        for some in group(sentences, GROUPED, LARGEST, generator):
            binary.add(make_doc(vocab, some))
    binary.to_disk(path)


def write_single(sentences: Iterable[Sentence], path: Path) -> None:
    """Write gold trees as one document a sentence, in order: what the scores are measured on."""
    vocab = spacy.blank("en").vocab
    DocBin(docs=(make_doc(vocab, [sentence]) for sentence in sentences)).to_disk(path)


def vectors_pipeline(floret: Path, out: Path) -> None:
    """Turn floret's table into a blank pipeline with vectors, keyed by lower-cased words."""
    nlp = spacy.blank("en")
    convert_vectors(nlp, floret, truncate=-1, prune=-1, mode="floret", attr="LOWER")
    nlp.vocab.vectors.data *= SCALE
    nlp.to_disk(out)


def train_student(
    gold: Path, training: Path, development: Path, vectors: Path, out: Path, *, steps: int, seed: int
) -> None:
    """Train with student.cfg into ``out/model-best`` (by development score) and ``out/model-last``."""
    overrides = {
        "corpora.labels.path": str(gold),
        "corpora.train.path": str(training),
        "corpora.dev.path": str(development),
        "initialize.vectors": str(vectors),
        "training.max_steps": steps,
        "training.optimizer.learn_rate.total_steps": steps,
        "training.seed": seed,
    }
    nlp = init_nlp(load_config(CONFIG, overrides=overrides))
    # Initializing reads the whole training corpus once a component, so it reads the gold trees alone.
    nlp.config["training"]["train_corpus"] = "corpora.train"
    out.mkdir(parents=True, exist_ok=True)
    train(nlp, out, stdout=sys.stdout, stderr=sys.stderr)


def read_training(nlp: Language, folder: Path) -> Iterator[Doc]:
    """Read the documents of a folder's ``.spacy`` files, file by file in order of their names."""
    for path in sorted(folder.glob("*.spacy")):
        yield from DocBin().from_disk(path).get_docs(nlp.vocab)


def choose_trees(lemmatizer: Any, pairs: Counter[tuple[str, str]], count: int) -> list[int]:
    """Return the ids of the `count` edit trees that serve most words, by falling number of words."""
    trees: Counter[int] = Counter()
    for (word, lemma), times in pairs.items():
        trees[lemmatizer.trees.add(word, lemma)] += times
    return [tree for tree, _ in trees.most_common(count)]


def read_vectors(nlp: Language, docs: Iterable[Doc], unit: dict[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the shared layers' word vectors, (words, width) as float16, and the words' labels, (words,)."""
    # The documents are divided anew by the pipeline's tokenizer, whose words carry what it knows about them
    # ("n't" is "not"); where it divides otherwise, the document is left out. So are words without a label.
    lemmatizer: Any = nlp.get_pipe("trainable_lemmatizer")
    encoder: Any = nlp.get_pipe("tok2vec")
    vectors, labels = [], []
    rest = iter(docs)
    while batch := list(islice(rest, 500)):
        pairs = [(nlp.make_doc(doc.text), doc) for doc in batch]
        same = [(new, doc) for new, doc in pairs if [t.text for t in new] == [t.text for t in doc]]
        if not same:
            continue
        rows = np.concatenate(encoder.model.predict([new for new, _ in same]))
        trees = [
            unit.get(lemmatizer.trees.add(token.text, token.lemma_), UNKNOWN) if token.lemma_ else UNKNOWN
            for _, doc in same
            for token in doc
        ]
        known = np.array(trees) != UNKNOWN
        vectors.append(rows[known].astype(np.float16))
        labels.append(np.array(trees)[known])
    return np.concatenate(vectors), np.concatenate(labels)


def learn(vectors: np.ndarray, labels: np.ndarray, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Fit a softmax layer; returns weights (count, width) and biases (count,)."""
    generator = torch.Generator().manual_seed(seed)
    x, y = torch.from_numpy(vectors), torch.from_numpy(labels)
    weight = torch.zeros(count, x.shape[1], requires_grad=True)
    bias = torch.zeros(count, requires_grad=True)
    optimizer = torch.optim.Adam([weight, bias], lr=RATE)
    steps = EPOCHS * -(-len(x) // BATCH)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(x), generator=generator).split(BATCH):
            loss = F.cross_entropy(F.linear(x[rows].float(), weight, bias), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return weight.detach().numpy(), bias.detach().numpy()


def replace_head(lemmatizer: Any, trees: Sequence[int], weight: np.ndarray, bias: np.ndarray) -> None:
    """Give a lemmatizer other edit trees as labels, and the softmax layer that chooses among them."""
    for node in lemmatizer.model.walk():
        if "softmax" in node.name and node.has_dim("nO"):  # the layer and what wraps it
            node._dims["nO"] = len(trees)  # set_dim refuses where there are weights
        if node.name == "softmax":
            node.set_param("W", weight)
            node.set_param("b", bias)
    lemmatizer.cfg["labels"] = list(trees)
    lemmatizer.tree2label = {tree: label for label, tree in enumerate(trees)}


def relearn(nlp: Language, training: Path, share: int, seed: int) -> None:
    """Learn the lemmatizer's last layer anew, in place."""
    lemmatizer = nlp.get_pipe("trainable_lemmatizer")
    pairs: Counter[tuple[str, str]] = Counter()
    for doc in read_training(nlp, training):
        pairs.update((token.text, token.lemma_) for token in doc if token.lemma_)
    trees = choose_trees(lemmatizer, pairs, LABELS)
    unit = {tree: label for label, tree in enumerate(trees)}
    vectors, labels = read_vectors(nlp, islice(read_training(nlp, training), 0, None, share), unit)
    weight, bias = learn(vectors, labels, len(trees), seed)
    replace_head(lemmatizer, trees, weight, bias)


def write_tokens(paths: Iterable[Path], out: Path) -> int:
    """Write the sentences of gzipped text files as lower-cased tokens between spaces; returns how many."""
    count = 0
    temporary = out.with_suffix(".part")
    with temporary.open("w", encoding="utf-8") as target:
        for path in paths:
            # A new tokenizer a file: the store of strings would otherwise grow with every new word.
            tokenizer = spacy.blank("en").tokenizer
            for line in sentences([path]):
                words = [token.lower_ for token in tokenizer(line.strip()) if not token.is_space]
                target.write(" ".join(words) + "\n")
                count += 1
    temporary.rename(out)
    return count


def train_vectors(tokens: Path, out: Path) -> None:
    """Train floret vectors on a file of tokens and write them in floret's text format."""
    import floret  # in the extra `builds`, which nothing but this step needs

    model = floret.train_unsupervised(str(tokens), **SETTINGS)
    temporary = out.with_suffix(".part")
    model.save_floret_vectors(str(temporary))
    temporary.rename(out)


def corpus_files(data: Path, wiki: int) -> Sequence[Path]:
    """Return the first `wiki` files of Wikipedia sentences and the one of books."""
    return [*sorted((data / "corpus").glob("wiki_en-*.txt.gz"))[:wiki], data / "corpus" / "books_en.txt.gz"]
