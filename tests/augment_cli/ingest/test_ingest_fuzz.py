"""Any bytes in any format: never a traceback, and kept + rejected = read, always."""

import gzip
import itertools
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.errors import UserError
from augment_cli.ingest import IngestOptions, ingest
from augment_cli.store.store import Store
from tests.helpers.properties import examples

_PIECES = st.sampled_from(
    [b"\n", b"\r\n", b'"', b",", b"\t", b'{"text": "', b'"}', b"text\n", b"\x00", b"\xff", b"\xc3", b"\xa9"]
)
_BYTES = st.lists(_PIECES | st.binary(max_size=12) | st.text(max_size=8).map(str.encode), max_size=30)
_NAMES = ["a.txt", "a.jsonl", "a.csv", "a.tsv", "a.parquet", "a.txt.gz"]
_FRAMES = {
    "a.txt": lambda data: data,
    "a.jsonl": lambda data: data,
    "a.csv": lambda data: b"text,id\n" + data,
    "a.tsv": lambda data: b"text\tid\n" + data,
    "a.parquet": lambda data: b"PAR1" + data + b"PAR1",
    "a.txt.gz": lambda data: gzip.compress(data),
}


def read(name: str, data: bytes, **options) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        store = Store.create(Path(folder) / "store")
        try:
            with store.lock():
                report = ingest(store, [path], IngestOptions(**options))
        except UserError:
            return
        corpus, rejects = store.read("corpus"), store.read("rejects")
        assert report.read == report.kept + report.rejected == corpus.num_rows + rejects.num_rows
        corpus["text"].combine_chunks().validate(full=True)
        assert all(text.strip() and "\n" not in text for text in corpus["text"].to_pylist())
        if name in ("a.txt", "a.txt.gz") and not (options.get("split_sentences") or options.get("limit")):
            lines = (gzip.decompress(data) if name.endswith("gz") else data).removeprefix(b"\xef\xbb\xbf")
            if b"\r" in lines and b"\n" not in lines:
                lines = lines.replace(b"\r", b"\n")
            if not lines.startswith((b"\xff\xfe", b"\xfe\xff")):
                assert report.read == lines.count(b"\n") + (not lines.endswith(b"\n"))


@examples(60)
@given(pieces=_BYTES, split=st.booleans(), deduplicate=st.booleans(), quoting=st.booleans())
@pytest.mark.parametrize("name", _NAMES)
def test_any_bytes(name, pieces, split, deduplicate, quoting):
    data = _FRAMES[name](b"".join(pieces))
    read(name, data, split_sentences=split, deduplicate=deduplicate, quoting=quoting, part_rows=3)


@examples(60)
@given(data=st.data(), limit=st.none() | st.integers(1, 5))
@pytest.mark.parametrize("kind", ["gzip", "zstd", "parquet"])
def test_sound_files_with_a_few_bytes_changed(kind, data, limit):
    lines = [f"sentence {number}" for number in range(200)]
    if kind == "gzip":
        sound = gzip.compress("\n".join(lines).encode())
    elif kind == "zstd":
        sound = pa.Codec("zstd").compress("\n".join(lines).encode(), asbytes=True)
    else:
        sink = pa.BufferOutputStream()
        pa.parquet.write_table(pa.table({"text": lines}), sink, write_page_checksum=True)
        sound = sink.getvalue().to_pybytes()
    changed = bytearray(sound)
    for _ in range(data.draw(st.integers(1, 3))):
        changed[data.draw(st.integers(0, len(sound) - 1))] = data.draw(st.integers(0, 255))
    read("a.parquet" if kind == "parquet" else "packed", bytes(changed), limit=limit)


def test_every_length_of_a_cut_gzip():
    sound = gzip.compress(b"one\ntwo\nthree\n")
    for length in itertools.chain(range(1, len(sound))):
        read("b.gz", sound[:length])
