"""Words a second of `augment-cli parse` against plain `nlp.pipe`, and bytes a sentence of what it caches.

    OMP_NUM_THREADS=1 python -m benchmarks.parse_speed --data ../shared/data [--pipeline NAME] [--rows 8192]
    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.parse_speed --alone

Each repetition takes other sentences through all, one after the other: `nlp.pipe(texts)` with spaCy's own
batch size, `parse_texts`, `nlp.pipe(texts, n_process=2)`, and the stage with two workers, from the corpus on
disk to committed parts; `--alone` leaves the last two out. How many sentences come out differently is
counted. The components that are not needed are left out in all of them, and loading is not counted. Words are
spaCy's tokens. Beside the rate stand words by CPU second (all processes), which suffers less where the
machine is busy.
"""

import argparse
import tempfile
import time
from collections import defaultdict
from functools import partial
from pathlib import Path

import psutil
import pyarrow as pa
import spacy
from spacy.language import Language

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.parsing.pipelines import find_pipeline, load_pipeline
from augment_cli.parsing.tables import parse_texts
from augment_cli.session import Session
from benchmarks.timing import markdown, read_sentences

FIELDS = {"starts": "idx", "lemmas": "lemma_", "pos": "pos_", "tags": "tag_", "deps": "dep_"}


def cpu_seconds() -> float:
    """User and system time of this process and its children, the ended ones included."""
    own = psutil.Process()
    times = [own.cpu_times(), *(child.cpu_times() for child in own.children(recursive=True))]
    ended = times[0].children_user + times[0].children_system
    return ended + sum(one.user + one.system for one in times)


def prepare(folder: Path, texts: list[str]) -> Path:
    """A store with the sentences as its corpus, in parts of half of them."""
    folder.mkdir()
    (folder / "in.txt").write_text("\n".join(texts) + "\n", "utf-8")
    with Session(folder / "store", Engine(1)) as session:
        session.ingest([folder / "in.txt"], IngestOptions(part_rows=-(-len(texts) // 2)), max_rejects=1)
    return folder / "store"


def parse(store: Path, pipeline: str | None) -> None:
    """The stage, with two workers."""
    with Session(store, Engine(2)) as session:
        session.parse(pipeline)


def count_words(nlp: Language, texts: list[str], processes: int) -> int:
    """Plain `nlp.pipe` over some texts; their tokens."""
    return sum(len(doc) for doc in nlp.pipe(texts, n_process=processes))


def compare(plain: Language, nlp: Language, texts: list[str]) -> tuple[int, int]:
    """Words of some texts, and how many texts `nlp.pipe` and `parse_texts` see differently."""
    rows = parse_texts(nlp, pa.array(texts)).to_pylist()
    words = different = 0
    for row, doc in zip(rows, plain.pipe(texts), strict=True):
        words += len(doc)
        lists = {name: [getattr(token, field) for token in doc] for name, field in FIELDS.items()}
        lists["morphs"] = [str(token.morph) for token in doc]
        lists["heads"] = [token.head.i for token in doc]
        different += any(row[name] != values for name, values in lists.items())
    return words, different


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--pipeline", help="installed pipeline or folder; the shipped one by default")
    parser.add_argument("--rows", type=int, default=8192, help="sentences a repetition")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help="one process only")
    arguments = parser.parse_args()
    source = find_pipeline(arguments.pipeline)
    # Two of them: `parse_texts` alters how a pipeline multiplies.
    plain = spacy.load(source.package or source.folder, exclude=list(source.disabled))
    nlp = load_pipeline(source)
    corpus = arguments.data / "corpus" / "wiki_en-00.txt.gz"
    lines = list(read_sentences(str(corpus), arguments.rows * arguments.repetitions))

    wall, cpu = defaultdict[str, float](float), defaultdict[str, float](float)
    words = rows = size = different = 0
    for one in (plain, nlp):  # their tokenizers' caches
        for text in lines[:2_048]:
            one.make_doc(text)
    with tempfile.TemporaryDirectory() as folder:
        if not arguments.alone:
            parse(prepare(Path(folder) / "warm", lines[:2_048]), arguments.pipeline)
        for repetition in range(arguments.repetitions):
            texts = lines[repetition * arguments.rows : (repetition + 1) * arguments.rows]
            ways = {
                "nlp.pipe": partial(count_words, plain, texts, 1),
                "parse_texts": partial(parse_texts, nlp, pa.array(texts)),
            }
            if not arguments.alone:
                store = prepare(Path(folder) / str(repetition), texts)
                ways["nlp.pipe, n_process=2"] = partial(count_words, plain, texts, 2)
                ways["augment-cli parse, 2 workers"] = partial(parse, store, arguments.pipeline)
            for name, work in ways.items():
                began = time.perf_counter(), cpu_seconds()
                work()
                wall[name] += time.perf_counter() - began[0]
                cpu[name] += cpu_seconds() - began[1]
            counted, unlike = compare(plain, nlp, texts)
            rows, words, different = rows + len(texts), words + counted, different + unlike
            if not arguments.alone:
                with Session(store, Engine(1)) as session:
                    size += sum(part.bytes for part in session.store.stage("parses").parts.values())
    print(f"{source.name} {source.version}, {rows:,} sentences, {words:,} words")
    rates = {name: [spent["nlp.pipe"] / spent[name] for spent in (wall, cpu)] for name in wall}
    table = [
        [name, f"{words / wall[name]:,.0f}", f"{times:.2f}", f"{words / cpu[name]:,.0f}", f"{of_cpu:.2f}"]
        for name, (times, of_cpu) in rates.items()
    ]
    print(markdown(["", "words/s", "times nlp.pipe", "words/CPU s", "times nlp.pipe"], table))
    print(f"{different:,} of {rows:,} sentences differ; {size / rows:.0f} bytes a sentence")


if __name__ == "__main__":
    main()
