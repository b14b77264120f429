"""Golden folders with one defect each, and the refusal that each must get: its exit code and its words."""

import json
import pickle
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from augment_cli.encoding.loading import load_encoder
from augment_cli.store.files import sha256_of_json
from augment_cli.store.store import Store
from tests.golden.make import EVAL, TRAIN
from train.data.tokens import cache_tokens

TOKENS = "part-00000.parquet"
PART = "store/una/part-00001.parquet"
CHECKPOINT = "run/checkpoints/step-0000002"
POSITIVES = "store/pi/part-00001.parquet"
FRESH = TRAIN.replace("--out run", '--out new --set positives=["pi"]')  # whose tokens are not there yet
SCORE = f"eval {EVAL}"


def flip(path):
    content = bytearray(Path(path).read_bytes())
    content[len(content) // 2] ^= 4
    Path(path).write_bytes(content)


def flip_tokens():
    """In a stage that this machine's tokenizers made: ids of another version are made anew, not read."""
    encoder = TRAIN.split("--encoder ")[1].split()[0]
    flip(Path("store", cache_tokens(Store.open("store"), "una", load_encoder(encoder).tokenizer), TOKENS))


def cut(path):
    Path(path).write_bytes(Path(path).read_bytes()[:-100])


def swap(path, other):
    shutil.copyfile(other, path)


def pickled(path):
    Path(path).write_bytes(pickle.dumps(["a pickle"]))


def linked(path):
    shutil.move(path, "elsewhere")
    Path(path).symlink_to(Path("elsewhere").resolve())


def edited(path, digest, change):
    """An edit by someone who mends the digest, too."""
    value = json.loads(Path(path).read_text("utf-8"))
    del value[digest]
    change(value)
    Path(path).write_text(json.dumps(value | {digest: sha256_of_json(value)}), "utf-8")


def unsealed(path):
    """An edit by someone who does not."""
    text = Path(path).read_text("utf-8")
    Path(path).write_text(text.replace("una", "unb", 1) if "una" in text else text + " ", "utf-8")


class Case(NamedTuple):
    """One defect."""

    name: str
    spoil: Any
    command: str
    code: int
    words: str


MANIFEST = "store/manifest.json"
VERIFY, AGAIN = "augment-cli verify", f"train {TRAIN}"
CASES = [
    Case("no manifest", lambda: Path(MANIFEST).unlink(), VERIFY, 4, "store"),
    Case("manifest cut", lambda: cut(MANIFEST), VERIFY, 4, "manifest.json"),
    Case("manifest edited", lambda: unsealed(MANIFEST), VERIFY, 4, "edited or damaged"),
    Case(
        "a later schema",
        lambda: edited(MANIFEST, "sha256", lambda value: value.update(schema=99)),
        VERIFY,
        5,
        "written with store schema 99",
    ),
    Case("part flipped", lambda: flip(PART), VERIFY, 4, PART),
    Case("part flipped, read", lambda: flip(PART), "augment-cli inspect una -n 24", 4, PART),
    Case("part flipped, packed", lambda: flip(PART), "augment-cli pack --negative una --name p", 4, PART),
    Case("part flipped, trained on", lambda: flip(POSITIVES), f"train {FRESH}", 4, POSITIVES),
    Case("tokens flipped", flip_tokens, AGAIN, 4, "tokens"),
    Case("part flipped, published", lambda: flip(PART), "augment-cli publish store {bucket}", 4, PART),
    Case("part lost", lambda: Path(PART).unlink(), VERIFY, 4, f"{PART}: the file is missing"),
    Case("part cut", lambda: cut(PART), VERIFY, 4, PART),
    Case("part of a neighbour", lambda: swap(PART, PART.replace("1.", "0.")), VERIFY, 4, PART),
    Case("part pickled", lambda: pickled(PART), VERIFY, 4, PART),
    Case("part a link", lambda: linked(PART), VERIFY, 4, "symbolic link"),
    Case("a stranger", lambda: swap("store/una/x.parquet", PART), VERIFY, 4, "store/una/x.parquet"),
    Case("parse flipped", lambda: flip("store/parses/part-00000.parquet"), VERIFY, 4, "store/parses"),
    Case("packed flipped", lambda: flip("store/pack/part-00000.parquet"), VERIFY, 4, "store/pack"),
    Case("weights flipped", lambda: flip(f"{CHECKPOINT}/model.safetensors"), AGAIN, 4, CHECKPOINT),
    Case("moments cut", lambda: cut(f"{CHECKPOINT}/optimizer.safetensors"), AGAIN, 4, CHECKPOINT),
    Case("state edited", lambda: unsealed(f"{CHECKPOINT}/state.json"), AGAIN, 4, "state.json"),
    Case(
        "a later checkpoint",
        lambda: edited(f"{CHECKPOINT}/state.json", "digest", lambda value: value.update(format=99)),
        AGAIN,
        4,
        "another format",
    ),
    Case("another training", lambda: None, f"train {TRAIN} --set learning_rate=0.5", 5, "learning_rate"),
    Case("export cut", lambda: cut("export/model.safetensors"), SCORE, 4, "export"),
    Case("export pickled", lambda: pickled("export/model.safetensors"), SCORE, 4, "export"),
    Case("no tokenizer", lambda: Path("export/tokenizer.json").unlink(), SCORE, 4, "export"),
    Case("a set cut", lambda: cut("data/sts/toy.tsv.gz"), SCORE, 4, "toy.tsv.gz"),
    Case("a result cut", lambda: cut("results/export/a/Toy.json"), "eval compare {a} {a}", 4, "Toy.json"),
]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_refused_with_a_line(golden, type_in, case):
    (result,) = (golden / "results/export").iterdir()
    result.rename(result.with_name("a"))
    case.spoil()
    command = case.command.format(bucket=(golden / "bucket").as_uri(), a="results/export/a")
    ended = type_in(command)
    assert ended.returncode == case.code, ended.stderr
    assert case.words in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_damaged_part_is_not_fetched(golden, type_in):
    flip(PART)
    ended = type_in(f"augment-cli fetch {(golden / 'store').as_uri()} back")
    assert ended.returncode == 4 and "una/part-00001.parquet" in ended.stderr
    assert not (golden / "back/una/part-00001.parquet").exists()
