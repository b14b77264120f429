"""The folder in which the commands of pages are run: the input, tiny models and sets that they name."""

import gzip
import json
import shutil
import tomllib
from pathlib import Path

from augment_cli.session import SAMPLE
from augment_cli.store.store import Store
from eval.tasks.table import REGISTRY
from tests.helpers.page_commands import blocks_of
from tests.helpers.places import REPOSITORY

_SETS = ("sts12", "sts13", "sts14", "sts15", "stsb", "stsb-dev", "mr")
_ROWS = 24


def write_texts(folder: Path) -> None:
    """A few sentences of the sample, in all the files that pages name."""
    lines = SAMPLE.read_text("utf-8").splitlines()[:_ROWS]
    text = "\n".join(lines) + "\n"
    for name in ("few.txt", "mine.txt", "sentences.txt", "extract.txt"):
        (folder / name).write_text(text, "utf-8")
    for name in ("articles", "shared"):
        (folder / name).mkdir()
    rows = "\n".join(json.dumps({"body": line}) for line in lines)
    (folder / "articles/a.jsonl.gz").write_bytes(gzip.compress(rows.encode()))
    (folder / "shared/a.gz").write_bytes(gzip.compress("\n".join(lines[:20]).encode()))
    more = SAMPLE.read_text("utf-8").splitlines()[_ROWS : _ROWS + 5]
    (folder / "more.txt").write_text("\n".join(more) + "\n", "utf-8")
    further = "".join(f'"{line}",rivers\n' for line in more if '"' not in line)
    (folder / "more.csv").write_text("title,topic\n" + further, "utf-8")
    plain = [line.replace('"', "") for line in lines]
    titles = "".join(f'"{line} An error.",rivers\n' for line in plain)
    for name in ("titles.csv", "mine.csv"):
        (folder / name).write_text("title,topic\n" + titles, "utf-8")
    (folder / "messages.csv").write_text("message,topic\n" + titles, "utf-8")
    labelled = "".join(f'"{line}",{("rivers", "roads")[n % 2]}\n' for n, line in enumerate(plain))
    (folder / "my.csv").write_text("title,topic\n" + labelled, "utf-8")
    triples = "".join(f'"{line}","Indeed: {line}","No. {line}"\n' for line in plain)
    (folder / "pairs.csv").write_text("anchor,positive,negative\n" + triples, "utf-8")
    (folder / "my-recipe.toml").write_text('[[run]]\naugmentation = "crop"\nrate = 0.2\n')
    topics = "".join(f"all\t{number % 2}\t{line}\n" for number, line in enumerate(lines))
    (folder / "topics.tsv.gz").write_bytes(gzip.compress(f"split\tlabel\ttext\n{topics}".encode()))
    (folder / "my-tasks.toml").write_text(_toml_block("docs/tutorials/my-corpus.md"), "utf-8")
    for name in ("data", "benchmarks"):
        (folder / name).symlink_to(REPOSITORY / name)


def _toml_block(page: str) -> str:
    """The one block of TOML that a page has."""
    (block,) = [text for language, text in blocks_of(page) if language == "toml"]
    return block


def write_sets(folder: Path) -> None:
    """`toy`, a data folder with a few rows of some sets, and `tasks.toml`, which says so."""
    lines = (folder / "few.txt").read_text("utf-8").splitlines()
    entries = tomllib.loads(REGISTRY.read_text("utf-8"))
    registry = []
    for name in _SETS:
        entry = entries[name]
        counts = dict.fromkeys(entry["counts"], len(lines))
        rows = ["\t".join(entry["columns"])]
        for split in counts:
            for number, line in enumerate(lines):
                values = {"split": split, "label": str(number % 2), "score": str(number % 6), "text": line}
                values |= {"sentence1": line, "sentence2": lines[(number * 7 + number % 3) % len(lines)]}
                rows.append("\t".join(values.get(column, "toy") for column in entry["columns"]))
        path = folder / "toy" / entry["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(("\n".join(rows) + "\n").encode()))
        kept = {key: entry[key] for key in entry if "sha256" not in key and not key.startswith("subset")}
        registry.append(
            f"[{name}]\n" + "".join(f"{key} = {_toml(kept[key])}\n" for key in kept if key != "counts")
        )
        registry.append(f"counts = {_toml(counts)}\n")
    (folder / "tasks.toml").write_text("\n".join(registry), "utf-8")


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value)


def write_models(folder: Path, tiny_encoder: Path, model) -> None:
    """`tiny`, an encoder, and `models` with one of each kind that pages name."""
    import torch
    from safetensors.torch import load_file

    (folder / "tiny").symlink_to(tiny_encoder)
    (folder / "models").mkdir()
    kinds = {"t5": "t5", "pegasus": "pegasus", "en-de": "marian", "de-en": "marian-back", "bert": "bert"}
    for name, kind in kinds.items():
        (folder / "models" / name).symlink_to(model(kind))
    old = folder / "models/old"
    shutil.copytree(model("bert"), old)
    torch.save(load_file(old / "model.safetensors"), old / "pytorch_model.bin")
    (old / "model.safetensors").unlink()


def write_judgements(folder: Path) -> None:
    """`judged.json`, as a report's page saves it, of a row of `una` in `store`."""
    settings = Store.open(folder / "store").stage("una").settings
    judged = {"stage": "una", "fingerprint": settings["fingerprint"][:12], "row_id": 0, "verdict": "good"}
    judged |= {"augmentation": "una", "version": settings["version"]}
    (folder / "judged.json").write_text(json.dumps({"corpus": "", "judgements": [judged]}), "utf-8")
