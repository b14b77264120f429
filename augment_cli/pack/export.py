"""A packed stage as one csv or jsonl file, and as BEIR's retrieval set; the lines that train on it."""

import contextlib
import csv
import importlib.util
import json
import os
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augment_cli.contract.pack_options import CORPUS_STAGE, PackOptions
from augment_cli.contract.vector_parameters import MINILM_PACKAGE
from augment_cli.errors import UsageError
from augment_cli.places import STATIC, shipped
from augment_cli.store.files import check_output_folder, check_target, hold_lock, write_atomically
from augment_cli.store.parquet import describe
from augment_cli.store.store import Store

ENDINGS = (".csv", ".jsonl")
_BEGINNINGS = (b"anchor,positive", b"sentence1,sentence2", b'{"anchor": ', b'{"sentence1": ')
BATCH, MOST_STEPS = 64, 500
_TOKENS = 24  # of a sentence, about
_USED = 0.5  # of what multiplying matrices reaches, in training such a small encoder; measured
_TEXTS = ("anchor", "positive", "negative")


def export(store: Store, stage: str, path: Path) -> int:
    """Write a packed stage to one csv or jsonl file; complete, or not there."""
    check_export_path(path, store)
    # A name of its own, which is there for nobody else: no link is followed, and two exports do not mix.
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.writing")
    rows = 0
    try:
        with temporary.open("x", encoding="utf-8", newline="") as file:
            for number, index in enumerate(sorted(store.stage(stage).parts)):
                table = store.read_part(stage, index)
                if path.suffix == ".csv":
                    _write_csv(file, table, with_names=number == 0)
                else:
                    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in table.to_pylist())
                    file.writelines(lines)
                rows += table.num_rows
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return rows


def check_export_path(path: Path, store: Store, suffixes: Sequence[str] = ("",)) -> None:
    """See that a packed stage can be written, and replaces at most an earlier one."""
    if path.suffix not in ENDINGS:
        raise UsageError(f"--out {path}: the name must end in {' or '.join(ENDINGS)}")
    if not path.parent.is_dir():
        raise UsageError(f"--out {path}: there is no folder {path.parent}; make it first")
    for suffix in suffixes:
        target = path.with_stem(path.stem + suffix)
        check_target(target, store.path, lambda beginning: beginning.startswith(_BEGINNINGS))
        if target.exists() and _may_be_input(target, store):
            raise UsageError(
                f"{target}: has the name of a file that the corpus of {store.path} was read from; name "
                "another file"
            )


@contextlib.contextmanager
def reserved(paths: Iterable[Path]) -> Iterator[None]:
    """Keep other runs away from the files that an export will write, until the `with` block ends."""
    taken = "--out {}: another run (process %s) writes it; wait for its end, or name another file"
    with contextlib.ExitStack() as stack:
        for path in sorted(paths):
            lock = path.with_name(f".{path.name}.lock")
            stack.enter_context(hold_lock(lock, taken=taken.format(path)))
            stack.callback(lock.unlink, missing_ok=True)
        yield


def _may_be_input(path: Path, store: Store) -> bool:
    """Whether a file has the name of one that the corpus was read from; no store keeps whole paths."""
    sources: set[str] = set()
    for index in range(len(store.parts)):
        sources.update(pc.unique(store.read_part("corpus", index, ["source"])["source"]).to_pylist())
    place = f"/{path.resolve().as_posix()}"
    return any(place.endswith(f"/{source}") for source in sources)


def _write_csv(file: TextIO, table: pa.Table, with_names: bool) -> None:
    writer = csv.writer(file, lineterminator="\n")
    if with_names:
        writer.writerow(table.column_names)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        writer.writerow([json.dumps(cell) if isinstance(cell, list) else cell for cell in row])


_FILES = ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")
_SET_BEGINNINGS = (b'{"_id": ', b"query-id\t")


def check_beir_folder(folder: Path, store: Store, options: PackOptions) -> None:
    """See that such a set can be written, and replaces at most an earlier one."""
    if not options.split or options.layout == "labeled-pair":
        raise UsageError("--beir: holds the pairs that --split leaves out, of any layout but labeled-pair")
    check_output_folder(folder, "--beir", ("qrels",), _FILES)
    for name in _FILES:
        check_target(folder / name, store.path, lambda beginning: beginning.startswith(_SET_BEGINNINGS))


def write_beir(store: Store, stage: str, folder: Path) -> dict[str, int]:
    """Write the set: all distinct texts of the corpus are documents, the stage's positives queries."""
    documents: dict[str, int] = {}
    for index in range(len(store.parts)):
        rows = store.read_part(CORPUS_STAGE, index, ["row_id", "text"])
        for row, text in zip(rows["row_id"].to_pylist(), rows["text"].to_pylist(), strict=True):
            documents.setdefault(text, row)
    queries: dict[str, dict[int, None]] = {}  # with the documents that each finds
    for index in sorted(store.stage(stage).parts):
        rows = store.read_part(stage, index, ["anchor", "positive"])
        for anchor, query in zip(rows["anchor"].to_pylist(), rows["positive"].to_pylist(), strict=True):
            queries.setdefault(query, {})[documents[anchor]] = None
    found = [f"q{n}\td{row}\t1" for n, rows_of_query in enumerate(queries.values()) for row in rows_of_query]
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    contents = (
        _lines({"_id": f"d{row}", "title": "", "text": text} for text, row in documents.items()),
        _lines({"_id": f"q{number}", "text": query} for number, query in enumerate(queries)),
        "\n".join(["query-id\tcorpus-id\tscore", *found]) + "\n",
    )
    for name, content in zip(_FILES, contents, strict=True):
        write_atomically(folder / name, content.encode(), (folder / name).absolute().parent)
    return {"documents": len(documents), "queries": len(queries)}


def _lines(entries: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)


def training_lines(store: Store, stage: str) -> str:
    """A program that trains an encoder on a packed stage; empty for a layout that wants another loss."""
    parts = store.stage(stage).parts
    names = describe(store.part_path(stage, min(parts)))[1].names if parts else []
    columns = [name for name in names if name.startswith(_TEXTS)]
    if not store.stage(stage).rows or not columns or {"label", "score"} & set(names):
        return ""
    encoder, steps = _encoder(), steps_of(store.stage(stage).rows)
    chosen = ", ".join(f'"{name}"' for name in columns)
    folder, out = f"{store.path.as_posix()}/{stage}", f"runs/{store.path.name}-st"
    packed = store.stage(stage).settings["parameters"]
    # Another positive of a sentence is not its negative: no batch has a sentence twice.
    once = len(packed["positives"]) > 1 or "repeated_sentences" in packed
    further = 'save_strategy="no"' + (',\n    batch_sampler="no_duplicates"' if once else "")
    return f"""\
from datasets import load_dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer
from sentence_transformers import SentenceTransformerTrainingArguments
from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss

rows = load_dataset("parquet", data_dir="{folder}", split="train")
rows = rows.select_columns([{chosen}])
encoder = SentenceTransformer("{encoder.folder}")  # or any other name or folder
settings = SentenceTransformerTrainingArguments(
    "{out}", per_device_train_batch_size={BATCH}, max_steps={steps}, learning_rate={encoder.rate}, {further}
)
loss = MultipleNegativesRankingLoss(encoder)
SentenceTransformerTrainer(encoder, args=settings, train_dataset=rows, loss=loss).train()
encoder.save("{out}")
"""


class _Encoder(NamedTuple):
    """What the lines begin with."""

    folder: str
    kind: str
    weights: int  # of its layers, that each token is multiplied with
    rate: str


def _encoder() -> _Encoder:
    """The small BERT; where only a wheel is, which has none, the installed MiniLM, or the static encoder."""
    found = shipped(small := "data/models/encoder")
    if Path(small).exists() or found != small:
        return _Encoder(found, "the small encoder of the checkout", 4 * 256**2, "5e-5")
    package = importlib.util.find_spec(MINILM_PACKAGE.replace("-", "_"))
    if package is not None and package.origin is not None:
        return _Encoder(f"{Path(package.origin).parent / 'model'}", "MiniLM", 6 * 384**2, "5e-5")
    return _Encoder(shipped(STATIC), "the static encoder", 0, "0.03")


def steps_of(rows: int) -> int:
    """Once through the rows, or as many steps as a first trial needs."""
    return min(max(rows // BATCH, 1), MOST_STEPS)


def how_long(store: Store, stage: str) -> str:
    """About how long these lines take on this machine's cores, and what changes that."""
    columns = len([n for n in describe(store.part_path(stage, 0))[1].names if n.startswith(_TEXTS)])
    steps, encoder, of_base = steps_of(store.stage(stage).rows), _encoder(), 12 * 768**2
    operations = steps * BATCH * columns * _TOKENS * 6 * 12  # of a weight: forward and backward, two each
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    minutes = operations / (_USED * _operations_a_second() * cores) / 60  # of a weight
    return (
        f"{steps} steps of {BATCH} rows: about {_words(minutes * encoder.weights)} on this machine's {cores} "
        f"cores, if idle, with {encoder.kind}; {_words(minutes * of_base)} with one of BERT-base's size"
    )


def _operations_a_second() -> float:
    """What multiplying matrices reaches on one core here: the best of ten looks of 5 ms."""
    # The matrices are too small for more threads than one, whose own time counts: what else runs here does
    # not.
    size, best = 64, 0.0
    matrix = np.ones((size, size), np.float32)
    out = matrix @ matrix  # the first one loads the library
    for _ in range(10):
        start, count = time.thread_time(), 0
        while (took := time.thread_time() - start) < 0.005 or not count:
            np.matmul(matrix, matrix, out=out)
            count += 1
        best = max(best, count * 2 * size**3 / max(took, 1e-6))
    return best


def _words(minutes: float) -> str:
    if minutes < 1.5:
        return "a minute"
    return f"{minutes:.0f} minutes" if minutes < 90 else f"{minutes / 60:.1f} hours"
