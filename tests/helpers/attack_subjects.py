"""What is attacked, made once: stores, inputs, models, trainings. A case gets a copy."""

from __future__ import annotations

import gzip
import json
import resource
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from tests.golden.make import TASKS
from tests.helpers.attack_runs import TRAIN, run
from tests.helpers.beir_folders import write_beir
from tests.helpers.made_stores import store_of

LINES = [f"the river number {n} flows by house {n * n}" for n in range(40)]


def _inputs(home: Path) -> None:
    (home / "in.txt").write_text("\n".join(LINES) + "\n")


def _store(home: Path) -> None:
    """Three parts of each stage, one line set aside, two draws, a packed stage and a card."""
    (home / "in.txt").write_text("\n".join([*LINES, "a\x00b", ""]))
    with Session(home / "store", Engine(1)) as session:
        session.ingest([home / "in.txt"], IngestOptions(part_rows=15), max_rejects=1)
        session.augment(make_run("una", radius=4), draws=2)
        session.augment(make_run("crop"))
    for command in ("pack", "card"):
        assert run([command], home).returncode == 0, command


def _published(home: Path) -> None:
    """A store that is published in `bucket` and has a stage more, and `back`, fetched but for a part."""
    _store(home)
    address = (home / "bucket").as_uri()
    for words in (["publish", "store", address], ["fetch", address, "back"], ["uda", "--radius", "4"]):
        assert run(words, home).returncode == 0, words
    (home / "back/una/part-00001.parquet").unlink()


def _growing(home: Path) -> None:
    """A corpus to which files were appended once, stages before and after it, and a file to append."""
    for number, name in enumerate(("in.txt", "later.txt", "more.txt")):
        lines = [f"{line} on day {number}" for line in LINES[:20]]
        (home / name).write_text("\n".join([*lines, "a\x00b", ""]))
    with Session(home / "store", Engine(1)) as session:
        session.ingest([home / "in.txt"], IngestOptions(part_rows=8), max_rejects=1)
        session.augment(make_run("una", radius=4))
        session.augment(make_run("crop"))
        session.append([home / "later.txt"], max_rejects=1)
        session.augment(make_run("crop"))


def _texts(home: Path, lines: Sequence[str] = LINES[:6]) -> None:
    """A store, and a retrieval set of three documents and two questions."""
    store_of(home, lines)
    documents = [{"_id": f"d{n}", "title": "", "text": line} for n, line in enumerate(LINES[:3])]
    questions = [{"_id": f"q{n}", "text": line} for n, line in enumerate(LINES[:2])]
    write_beir(home / "beir", documents, questions, [("q0", "d0", 1), ("q1", "d1", 1)])


def _encoder(home: Path) -> None:
    """A small BERT as sentence-transformers stores it, a store to embed, a set to score it on."""
    from tests.helpers.tiny_models import make_bert

    _texts(home)
    make_bert(home / "model", "BertModel")
    kinds = [("Transformer", ""), ("Pooling", "1_Pooling")]
    modules = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for n, (kind, path) in enumerate(kinds)
    ]
    (home / "model/modules.json").write_text(json.dumps(modules))
    (home / "model/sentence_bert_config.json").write_text('{"max_seq_length": 32, "do_lower_case": false}')
    (home / "model/1_Pooling").mkdir()
    (home / "model/1_Pooling/config.json").write_text('{"pooling_mode_mean_tokens": true}')


def _generic(home: Path) -> None:
    """The same with the tokenizer as its file has it; BERT's own class takes no more of it than the words."""
    _encoder(home)
    (home / "model/vocab.txt").unlink(missing_ok=True)
    path = home / "model/tokenizer_config.json"
    settings = json.loads(path.read_text()) | {"tokenizer_class": "PreTrainedTokenizerFast"}
    path.write_text(json.dumps(settings))


def _static(home: Path) -> None:
    import torch
    import transformers

    from augment_cli.encoding.static import StaticEncoder, StaticTable, write_folder
    from tests.helpers.tiny_models import make_bert

    _texts(home)
    make_bert(home / "bert", "BertModel")
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(home / "bert/tokenizer.json"))
    torch.manual_seed(3)
    table = StaticTable(torch.randn(len(tokenizer), 16))
    write_folder(StaticEncoder(table, tokenizer, "mean"), home / "model")


def _sequence(home: Path) -> None:
    from tests.helpers.tiny_models import SENTENCES, make_pegasus

    _texts(home, SENTENCES[:6])  # all of whose characters it knows: other rows never reach the model
    make_pegasus(home / "model")


def _masked(home: Path) -> None:
    from tests.helpers.tiny_models import make_bert

    _texts(home)
    make_bert(home / "model")


def _pipeline(home: Path) -> None:
    """A small spaCy pipeline with every component, and texts to parse."""
    from tests.helpers.tiny_pipeline import make_tiny_pipeline

    _texts(home)
    make_tiny_pipeline(home / "pipeline", seed=0)


def _training(home: Path) -> None:
    """A run of six steps that was killed after the fourth: it goes on from there."""
    _encoder(home)
    done = run([*TRAIN.split(), "--set", "steps=6"], home)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(home / "run/checkpoints/step-0000006")
    assert (home / "run/checkpoints/step-0000004").is_dir()


def _scored(home: Path) -> None:
    """An encoder, a registry with a set of six pairs, and the results of two models in `a` and `b`."""
    _encoder(home)
    registry = TASKS.replace("sts/toy", "toy").replace("test = 20", "test = 6")
    (home / "tasks.toml").write_text(registry)
    rows = [f"test\t{n % 5}\t{LINES[n]}\t{' '.join(LINES[n].split()[n:])}" for n in range(6)]
    table = "\n".join(["split\tscore\tsentence1\tsentence2", *rows, ""]).encode()
    (home / "toy.tsv.gz").write_bytes(gzip.compress(table))
    (home / "text.txt.gz").write_bytes(gzip.compress("\n".join(LINES).encode()))
    command = "eval --data . --registry tasks.toml --tasks toy --beir beir --no-plots --jobs 1"
    done = run([*command.split(), "a=model", "b=model"], home)
    assert done.returncode == 0, done.stderr
    for label in "ab":
        (folder,) = (home / "results" / label).iterdir()
        folder.rename(home / label)
    shutil.rmtree(home / "results")


@pytest.fixture(scope="session")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """`subject("store")`: its folder, made at the first call."""
    base = tmp_path_factory.mktemp("subjects")

    def folder(name: str) -> Path:
        home = base / name
        if not home.exists():
            home.mkdir()
            (home / ".subject").touch()
            globals()[f"_{name}"](home)
        return home

    return folder


@pytest.fixture(scope="session", autouse=True)
def bounded() -> Iterator[None]:
    """Two processes of tests share two cores, and what has no end takes 8 GB and no more."""
    import torch

    torch.set_num_threads(1)
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (8 * 10**9, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_DATA, before)
