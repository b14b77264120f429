"""Plain text: which lines are kept, which are set aside and why, whatever compresses the file."""

import gzip
import random

import pyarrow as pa
import pytest

from augment_cli.errors import BadInputError, IncompleteError, UsageError
from augment_cli.ingest import streams


def zstd(data: bytes) -> bytes:
    return pa.Codec("zstd").compress(data, asbytes=True)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"caf\xe9", "not_utf8"),
        (b"\xff\xfet\x00e\x00", "not_utf8"),
        (b"over\xc0\xafshort", "not_utf8"),
        (b"a\x00b", "control_character"),
        (b"delete \x7f", "control_character"),
        ("C1 \x85 control".encode(), "control_character"),
        (b"a carriage\rreturn", "control_character"),
        (b"", "empty"),
        ("\u3000\u2003\u00a0".encode(), "empty"),
        (b"x" * 5001, "too_long"),
        ("ä".encode() * 5001, "too_long"),
    ],
)
def test_bad_lines_are_rejected_with_line_reason_and_bytes(read_bytes, line, reason):
    result = read_bytes(b"first\n" + line + b"\nlast\n")
    assert result.texts == ["first", "last"]
    assert result.rejects == [{"source": "text.txt", "line": 2, "reason": reason, "raw": line}]


@pytest.mark.parametrize(
    "line",
    ["tab\tinside", "ä" * 5000, "日本語", "\u00a0 no-break space", "😀", "\u200b", "e\u0301", " padded "],
)
def test_unusual_but_sound_lines_are_kept_as_they_are(read_bytes, line):
    assert read_bytes(f"first\n{line}\n".encode()).texts == ["first", line]


def numbered_lines(count: int) -> bytes:
    draws = random.Random(5)
    return b"".join(b"sentence %d of %d words\n" % (number, draws.getrandbits(60)) for number in range(count))


def gzipped(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


MEMBERS = gzipped(b"one\ntw") + b"\0\0" + gzipped(b"o\nthree\n") + b"\0" * 7


@pytest.mark.parametrize(
    ("data", "options", "texts", "reasons"),
    [
        (b"caf\xc3\n\xa9 noir\nsound\n", {}, ["sound"], [(1, "not_utf8"), (2, "not_utf8")]),
        (b"\xef\xbb\xbfone\r\ntwo\n\r\nthree", {}, ["one", "two", "three"], [(3, "empty")]),
        (b"one\n\xef\xbb\xbftwo\n", {}, ["one", "\ufefftwo"], []),  # a mark only at the start
        (MEMBERS, {}, ["one", "two", "three"], []),
        (gzipped(b"one\n") + b"garbage", {}, ["one"], [(2, "damaged_gzip")]),
        (b"one\n\ntwo\n\nthree\n", {"limit": 2}, ["one", "two"], [(2, "empty")]),
        (b"[Music] plays\nand stops\n", {}, ["[Music] plays", "and stops"], []),  # no JSON
        (b'["No," she said]\nIt is.\nIt was.\n', {}, ['["No," she said]', "It is.", "It was."], []),
        (b"same\nsame\n", {"deduplicate": True, "strict": True}, ["same"], [(2, "duplicate")]),
        *(
            ("a heron\nthe café\n".encode(name), {"encoding": name}, ["a heron", "the café"], [])
            for name in ("utf-16", "utf-16-le", "utf-16-be")
        ),
    ],
)
def test_what_is_kept_and_what_is_set_aside(read_bytes, data, options, texts, reasons):
    result = read_bytes(data, **options)
    assert (result.texts, result.reasons) == (texts, reasons)


UNMARKED = "name its encoding"


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        (b"", {}, "no sentence could be read"),
        (b"caf\xe9\n", {}, "no sentence could be read.*1 lines? not_utf8.*--encoding, such as latin-1"),
        (b'[\n {"text": "one"}\n]', {}, r"text\.txt: is a JSON array; read its objects"),
        (b"PK\x03\x04", {}, r"such as \.docx or \.xlsx: save it"),
        (b"%PDF-1.7\n", {}, "is a PDF: save its text"),
        (gzipped(b"x" * 257 + b"ustar"), {}, "is a tar archive: unpack it"),
        (gzipped(b"one\ntwo\n")[:12], {}, "damaged_gzip"),
        (gzipped(b"one\n")[:-8] + b"sum?\4\0\0\0", {}, "damaged_gzip"),  # another checksum
        ("a heron\n".encode("utf-16-le"), {"encoding": "utf-16"}, f"cannot be read as utf-16 .*{UNMARKED}"),
        ("a heron\n".encode("utf-32-be"), {"encoding": "utf-32"}, f"cannot be read as utf-32 .*{UNMARKED}"),
        (b"one\ntwo\n\x01\n\xff\n", {"strict": True}, r"text\.txt, line 3: control_character"),
    ],
)
def test_what_cannot_be_read_is_an_error(read_bytes, data, options, words):
    with pytest.raises(BadInputError, match=words):
        read_bytes(data, **options)


@pytest.mark.parametrize("name", ["text.txt.gz", "text.gz", "named-otherwise.txt"])
@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_compression_is_told_from_the_first_bytes(read_bytes, name, pack):
    assert read_bytes(pack(b"one\ntwo\n"), name).texts == ["one", "two"]


@pytest.mark.parametrize(("pack", "reason"), [(gzip.compress, "damaged_gzip"), (zstd, "damaged_zstd")])
def test_a_cut_file_keeps_what_came_before_and_names_the_damage(read_bytes, pack, reason):
    plain = numbered_lines(100_000)
    packed = pack(plain)
    result = read_bytes(packed[: len(packed) * 2 // 3], "text.txt.gz")
    kept = len(result.texts)
    assert 50_000 < kept < 100_000
    assert "\n".join([*result.texts, ""]).encode() == plain[: sum(len(text) + 1 for text in result.texts)]
    assert result.reasons == [(kept + 1, reason)]
    with pytest.raises(IncompleteError, match=reason):
        result.report.check(max_rejects=1.0)


def test_a_line_longer_than_memory_should_hold_is_one_reject(read_bytes, monkeypatch):
    monkeypatch.setattr(streams, "MAX_LINE_BYTES", 1000)
    monkeypatch.setattr(streams, "PIECE_BYTES", 64)
    monkeypatch.setattr(streams, "BLOCK_BYTES", 128)
    result = read_bytes(b"first\n" + b"x" * 50_000 + b"\nlast\n" + b"y" * 50_000)
    assert result.texts == ["first", "last"]
    assert result.reasons == [(2, "too_long"), (4, "too_long")]
    assert all(len(row["raw"]) < 2000 for row in result.rejects)


def test_small_blocks_read_the_same(read_bytes, monkeypatch):
    data = "ä\n".encode() * 100 + b"\n\xff\n" + b"last \xe2\x82\xac"
    expected = read_bytes(data)
    monkeypatch.setattr(streams, "PIECE_BYTES", 3)
    monkeypatch.setattr(streams, "BLOCK_BYTES", 7)
    small = read_bytes(data)
    assert (small.texts, small.reasons) == (expected.texts, expected.reasons)


def test_deduplicate_keeps_the_first_and_counts_the_others(read_bytes):
    result = read_bytes(b"same\nother\nsame\nSame\n\xff\nsame\n", deduplicate=True, max_characters=10)
    assert result.texts == ["same", "other", "Same"]
    assert result.reasons == [(3, "duplicate"), (5, "not_utf8"), (6, "duplicate")]
    assert result.report.duplicates == 2
    result.report.check(1 / 6)  # duplicates are no faults


@pytest.mark.parametrize(
    "sentences",
    [
        ["He has a Ph.D. in tacology.", "She teaches in Washington D.C. on Mondays."],
        ["She holds a Ph.D. and an M.Sc. degree.", "He lives in L.A. with z.B. a dog."],
        ["They left at 5 p.m.", "She stayed.", "The U.S. Senate met.", "It is so."],
        ["Dr. A. Hill met Mr. So.", "They talked."],
        ["我们去公园。", "天气很好！", "你去吗？", "（好。）", "「行！？」", "他说"],
        ["यह एक नदी है।", "वह चलता है।"],
        ["Version ３．１４ is out.", "Look."],
    ],
)
def test_sentences_are_cut_where_they_end(read_bytes, sentences):
    between = "" if sentences[0][-1] in "。" else " "
    assert read_bytes(between.join(sentences).encode(), split_sentences=True).texts == sentences


def test_a_script_without_ends_of_sentences_is_named(read_bytes):
    result = read_bytes("ฉันไปตลาด เธออยู่บ้าน\n".encode(), split_sentences=True)
    assert result.report.notes == (
        "text.txt: its script does not mark where a sentence ends, so lines are not cut",
    )
    assert result.store.stage("corpus").settings["parameters"]["splitting"] == 2
    assert read_bytes(b"One here. Two there.\n", split_sentences=True).report.notes == ()


ENCODINGS = ["idna", "base64", "nonsense", "a\0b"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"text_column": "text"}, "plain text has one sentence a line"),
        *(({name: value}, "--") for name, value in (("limit", 0), ("part_rows", 0), ("format", "xml"))),
        *(({"encoding": name}, "not a known text encoding; try latin-1") for name in ENCODINGS),
    ],
)
def test_options_that_make_no_sense_are_refused(read_bytes, options, words):
    with pytest.raises(UsageError, match=words):
        read_bytes(b"one\n", **options)
