"""Make a golden folder: a small one of everything that a version writes, by the code of that version.

    python tests/golden/make.py CHECKOUT tests/golden/0.1.0

`CHECKOUT` is a working tree of the version (`git worktree add ../old COMMIT`), run by the Python that runs
this; 0.1.0 is commit cae1c37. What a version does not have yet is left out. `made.json` says which libraries
it was made with. A released folder is never made again. `unreleased`, or that of a version that is
about to be released, is, and then has the name of the version.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

LIBRARIES = ("numpy", "pyarrow", "polars", "nltk", "spacy", "torch", "transformers", "safetensors")
# (what is made, the command). The first has two parts; of every family of augmentations there is one or more.
STAGES = [
    ("corpus", "ingest --corpus sentences.txt --part-rows 12 --max-rejects 0.1"),
    ("tfidf", "fit"),
    ("parses", "parse --jobs 1"),
    ("una", "una --draws 2 --jobs 1"),
    ("uda", "uda --jobs 1"),
    ("entity-swap", "entity-swap --jobs 1"),
    ("pi", "pi --jobs 1"),
    ("aa", "aa --jobs 1"),
    ("yoda", "yoda --jobs 1"),
    ("rephrase", "rephrase --jobs 1"),
    ("synonym", "synonym --jobs 1"),
    ("crop", "crop --jobs 1"),
    ("paraphrase", "paraphrase --model writer --rows 4 --beams 2 --precision fp32 --jobs 1"),
    ("mask-fill", "mask-fill --model encoder --precision fp32 --jobs 1"),
    ("vectors", "embed --model encoder --precision fp32 --jobs 1"),
    ("vectors-una", "embed una --model encoder --precision fp32 --jobs 1"),
    ("vectors-words", "embed --model words.vec --name words --jobs 1"),
    ("vectors-combined", "combine - words --components 4 --neighbours 2 --jobs 1"),
    ("scores-una", "score una --jobs 1"),
    ("mined-vectors", "mine --by vectors --jobs 1"),
    ("pack", "pack --positive pi --negative una --jobs 1"),
    ("packed.jsonl", "pack --positive pi --negative una --jobs 1 --name lines --out packed.jsonl"),
]
GROWN = [
    "ingest --corpus sentences.txt --part-rows 12 --max-rejects 0.1 --store grown",
    "synonym --store grown --jobs 1",
    "ingest --append --corpus more.txt --store grown",
]
TRAIN = (
    "una --store store --encoder encoder --out run --set batch=8 --set steps=4 --set checkpoint_every=2 "
    "--set evaluate_every=0 --set log_every=1 --set precision=fp32 --set held_out=0 --set workers=0"
)
EVAL = "export --data data --registry tasks.toml --tasks toy --out results --no-plots --no-cache --jobs 1"
MORE = "The ferry leaves before dawn.\nNobody repaired the old bridge.\n"
TASKS = """[toy]
title = "Toy"
protocol = "sts"
file = "sts/toy.tsv.gz"
suites = ["small"]
columns = ["split", "score", "sentence1", "sentence2"]
text_columns = ["sentence1", "sentence2"]
label_column = "score"
split = "test"
metric = "spearman"
counts = { test = 20 }
gold_range = [0, 5]
"""


def make_inputs(sample: Path, folder: Path) -> None:
    """Sentences with one reject, a set to score, word vectors, and models of random weights."""
    lines = sample.read_text("utf-8").splitlines()
    sentences = lines[::58][:24]
    (folder / "sentences.txt").write_text("\n".join([*sentences, "\0 no text"]) + "\n", "utf-8")
    (folder / "more.txt").write_text(MORE, "utf-8")
    draw = random.Random(1)
    pairs = [[str(number % 6), *draw.sample(sentences, 2)] for number in range(20)]
    table = ["split\tscore\tsentence1\tsentence2", *("\t".join(["test", *pair]) for pair in pairs)]
    (folder / "data/sts").mkdir(parents=True)
    (folder / "data/sts/toy.tsv.gz").write_bytes(gzip.compress("\n".join([*table, ""]).encode(), mtime=0))
    (folder / "tasks.toml").write_text(TASKS, "utf-8")
    words = sorted({word.lower() for line in sentences for word in re.findall(r"[A-Za-z]+", line)})
    vectors = [" ".join([word, *(f"{draw.gauss(0, 1):.3f}" for _ in range(4))]) for word in words]
    (folder / "words.vec").write_text("\n".join([f"{len(words)} 4", *vectors]) + "\n", "utf-8")
    make_models(words, folder / "encoder", folder / "writer")


def make_models(words: list[str], encoder: Path, writer: Path) -> None:
    """A BERT of one layer and 8 dimensions, with a head that predicts words, and a BART that writes them."""
    import torch
    from transformers import (
        BartConfig,
        BartForConditionalGeneration,
        BertConfig,
        BertForMaskedLM,
        BertTokenizer,
    )

    letters = "abcdefghijklmnopqrstuvwxyz"
    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    pieces = [*special, *letters, *(f"##{one}" for one in letters), *words]
    encoder.mkdir()
    (encoder / "vocab.txt").write_text("\n".join(dict.fromkeys(pieces)) + "\n", "utf-8")
    tokenizer = BertTokenizer(vocab=str(encoder / "vocab.txt"), model_max_length=32)
    torch.manual_seed(1)
    shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = BertConfig(vocab_size=len(tokenizer), max_position_embeddings=32, initializer_range=0.3, **shape)
    BertForMaskedLM(config).eval().save_pretrained(encoder)
    shape = {f"{side}_{name}": 1 for side in ("encoder", "decoder") for name in ("layers", "attention_heads")}
    shape |= {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "decoder_start_token_id": 3}
    shape |= {"vocab_size": len(tokenizer), "d_model": 8, "max_position_embeddings": 32}
    writing = BartConfig(init_std=0.3, **shape)
    BartForConditionalGeneration(writing).eval().save_pretrained(writer)
    for folder in (encoder, writer):
        tokenizer.save_pretrained(folder)


def make(checkout: Path, folder: Path) -> list[str]:
    """Fill the folder; gives what this version does not make, with its last line on why."""

    def run(module: str, arguments: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONPATH": str(checkout), "COLUMNS": "200", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", module, *arguments.split()]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)

    def must(module: str, arguments: str) -> None:
        if (ended := run(module, arguments)).returncode:
            raise SystemExit(f"{module} {arguments}: {ended.stderr}")

    missing = []
    make_inputs(checkout / "augment_cli/sample/sentences.txt", folder)
    for name, command in STAGES:
        if (ended := run("augment_cli", command)).returncode:
            missing.append(name)
            print(f"{command}: {ended.stderr}", file=sys.stderr)
    for command in GROWN:
        if run("augment_cli", command).returncode:
            missing.append("grown")
            shutil.rmtree(folder / "grown", ignore_errors=True)
            break
    must("train", TRAIN)
    shutil.copytree(folder / "run/last", folder / "export")
    as_if_killed(folder / "run")
    must("eval", EVAL)
    (folder / "made.json").write_text(json.dumps(facts(missing, checkout), indent=1) + "\n", "utf-8")
    return missing


def as_if_killed(run: Path) -> None:
    """Leave of a finished training what one killed behind step 2 leaves."""
    for path in run.iterdir():
        if path.is_dir() and path.name != "checkpoints":
            shutil.rmtree(path)
        elif path.is_file() and path.name != "log.jsonl":
            path.unlink()
    shutil.rmtree(run / "checkpoints/step-0000004")
    lines = (run / "log.jsonl").read_text("utf-8").splitlines(keepends=True)
    (run / "log.jsonl").write_text("".join(line for line in lines if json.loads(line)["step"] <= 2), "utf-8")


def facts(missing: list[str], checkout: Path) -> dict[str, object]:
    """What it was made with."""
    version = (checkout / "augment_cli/version.py").read_text("utf-8").split('"')[-2]
    return {
        "version": version,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "libraries": {name: metadata.version(name) for name in LIBRARIES},
        "train": TRAIN,
        "not made by this version": missing,
    }


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path, help="working tree of the version")
    parser.add_argument("folder", type=Path, help="where to; must not exist")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        made = Path(scratch) / "golden"
        made.mkdir()
        make(chosen.checkout.resolve(), made)
        shutil.copytree(made, chosen.folder)


if __name__ == "__main__":
    main()
