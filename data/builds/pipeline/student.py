"""The student: the small spaCy pipeline that ships, trained on gold and silver trees.

Hash embeddings and static floret vectors, four convolutional layers shared by all components, a
transition-based parser. Settings are in student.cfg beside this file.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.attrs import ORTH
from spacy.lang.char_classes import HYPHENS
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training.initialize import convert_vectors, init_nlp
from spacy.training.loop import train
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex, load_config, registry

from augment_cli.syntax.tree import words
from data.builds.pipeline.treebank import Sentence, group, make_doc

# Prefixes that stay with their word: "non-human" is one word, "well-known" three.
PREFIXES = sorted(
    words(
        "anti co cross de e ex extra hyper inter intra macro mega meta micro mid mini mono multi neo non "
        "over para post pre pro proto pseudo psycho quasi re semi socio sub super trans ultra un uni"
    )
)
# Runs of punctuation that are one token.
RUNS = [
    r"[!?]+[.!?]*[!?]",
    r"\.+[!?]+",
    r"={2,}",
    r"\*{2,}",
    r"_{2,}",
    r"-{3,}",
    r"<{2,}",
    r">{2,}",
    r"\${2,}",
]
NUMBERS = r"(?:\+?\d{1,2}-)?(?:\d{3}-)?\d{3}-\d{4}$"  # telephone
ABBREVIATIONS = sorted(words("Ft. Lt. Col. Capt. Sgt. Maj. Attn. Mon. Tue. Wed. Thu. Thur. Fri. Sat. Sun."))
UNSPLIT = {"and/or"}  # the default's exceptions that EWT divides
DIVIDED = {"wanna": ("wan", "na"), "dont": ("do", "nt")}
CONFIG = Path(__file__).with_name("student.cfg")
GROUPED, LARGEST = 0.15, 4  # share of gold documents that hold more than one sentence, and at most how many
SCALE = 0.2  # floret's word vectors are about 10 long, the hash embeddings beside them about 1


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
