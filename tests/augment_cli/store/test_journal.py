"""The journal: a piece is what was written, at the place where it was written, or it is none."""

import os

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from augment_cli.store.journal import (
    Journal,
    MissingPieceError,
    make_parts,
    one_by_one,
    piece_sizes,
    pieces_in,
)
from augment_cli.store.settings import Settings

SETTINGS = Settings("parses", 1, inputs={"corpus": "one"})
TABLE = pa.table({"row_id": [0, 1, 2], "text": ["a", None, "c"]}).replace_schema_metadata({"cuts": "2"})


@pytest.fixture
def journal(tmp_path):
    return Journal(tmp_path, "parses", SETTINGS)


def only_file(journal):
    [path] = pieces_in(journal.folder)
    return path


def is_missing(journal, index=0, piece=0, rows=None):
    """Whether a piece counts as none, and nothing of it is left."""
    with pytest.raises(MissingPieceError):
        journal.read(index, piece, rows)
    return piece not in journal.finished(index)


def test_what_is_kept_is_read_by_a_later_run(tmp_path, journal):
    journal.write(3, 1, TABLE)
    journal.write(3, "plan", TABLE.slice(1))
    again = Journal(tmp_path, "parses", SETTINGS)
    assert again.finished(3) == {1} and again.finished(2) == set() and again.missing(3, 3) == [0, 2]
    assert again.rows_to_make({3: [5, 3, 1], 4: [7]}) == 13
    assert again.read(3, 1).equals(TABLE, check_metadata=True)
    assert again.read(3, "plan", 2).equals(TABLE.slice(1))
    again.remove(3)
    assert is_missing(journal, 3, 1) and not pieces_in(tmp_path)


def test_any_flipped_bit_and_any_cut_is_found(journal):
    journal.write(0, 0, TABLE.select(["row_id"]))
    path = only_file(journal)
    whole = path.read_bytes()
    for bit in range(0, 8 * len(whole), 3):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        assert is_missing(journal), bit
    for length in range(0, len(whole), 5):
        path.write_bytes(whole[:length])
        assert is_missing(journal), length
    path.write_bytes(whole + b"\0")
    assert is_missing(journal)
    path.write_bytes(whole)
    assert journal.read(0, 0).num_rows == 3


@pytest.mark.parametrize(
    ("stage", "settings", "index", "piece"),
    [
        ("parses", SETTINGS, 0, 1),
        ("parses", SETTINGS, 1, 0),
        ("parses", SETTINGS, 0, "plan"),
        ("parses", Settings("parses", 2, inputs={"corpus": "one"}), 0, 0),
    ],
)
def test_a_piece_of_another_place_or_another_run_is_none(tmp_path, journal, stage, settings, index, piece):
    other = Journal(tmp_path, stage, settings)
    other.write(index, piece, TABLE)
    [path] = tmp_path.rglob("*.parquet")
    digest = path.stem.rpartition("-")[2]
    target = journal.folder / "part-00000" / f"piece-00000-{digest}.parquet"
    target.parent.mkdir(parents=True, exist_ok=True)
    path.rename(target)
    assert journal.finished(0) == {0} and is_missing(journal)


def test_what_another_release_left_is_none(journal):
    journal.write(0, 0, TABLE)
    path = only_file(journal)
    path.rename(path.with_name("piece-00000.parquet"))
    assert is_missing(journal) and pieces_in(journal.folder) == []
    journal.write(0, 0, TABLE)
    assert is_missing(journal, rows=4)  # as when parts are cut at other rows
    journal.write(0, 0, TABLE)
    path = only_file(journal)
    journal.write(0, 1, TABLE.slice(1))
    path.write_bytes(next(one for one in pieces_in(journal.folder) if one != path).read_bytes())
    assert is_missing(journal) and journal.finished(0) == {1}  # the bytes of another piece


@pytest.mark.parametrize("kind", ["folder", "pipe", "link", "lost link", "unreadable"])
def test_what_is_no_file_of_its_own_is_deleted_and_no_more(tmp_path, journal, kind):
    journal.write(0, 0, TABLE)
    path, elsewhere = only_file(journal), tmp_path / "elsewhere"
    whole = path.read_bytes()
    path.unlink()
    if kind == "folder":
        (path / "inner").mkdir(parents=True)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "unreadable":
        path.write_bytes(whole[1:])
        path.chmod(0)
    else:
        path.symlink_to(elsewhere)
        if kind == "link":
            elsewhere.write_bytes(whole[:-1])
    assert is_missing(journal)
    assert elsewhere.exists() == (kind == "link")


def test_another_file_of_the_same_piece_does_not_hide_it(journal):
    journal.write(0, 0, TABLE)
    for digest in ("0" * 64, "f" * 64):
        (journal.folder / "part-00000" / f"piece-00000-{digest}.parquet").write_bytes(b"PAR1")
    assert journal.read(0, 0).equals(TABLE)


@given(st.integers(0, 200), st.integers(1, 40))
def test_pieces_hold_all_rows_of_a_part(rows, piece_rows):
    sizes = piece_sizes(rows, piece_rows)
    assert sum(sizes) == rows and all(0 < size <= piece_rows for size in sizes)
    assert sizes[:-1] == [piece_rows] * (len(sizes) - 1)


@pytest.mark.parametrize("in_order", [False, True])
def test_parts_are_joined_as_soon_as_all_their_pieces_are_there(journal, in_order):
    """Two parts, whose pieces come in an odd order; one piece turns out to be damaged."""
    happened = []

    def run(task, calls, done, unit):
        assert (task, unit) == ("a:b", "pieces")
        happened.append([(call["index"], call["piece"]) for call in calls])
        for call in calls:
            journal.write(call["index"], call["piece"], TABLE)
            if call["index"] == 0 and len(happened) == 1:
                next(journal.folder.glob("part-00000/*")).write_bytes(b"")
            done((call["index"], call["given"]))

    def join(index):
        tables = list(journal.read_part(index, [3] * len(pieces[index])))
        happened.append((index, len(tables)))

    pieces, rows = {1: "ab", 0: "a"}, []
    make = one_by_one(
        run, "a:b", lambda index, piece: {"given": index + 5}, rows.append, lambda ones: ones[::-1]
    )
    make_parts(journal, pieces, make, join, in_order)
    first = [(0, 0), (1, 1), (1, 0)]
    joined = [(1, 2), [(0, 0)], (0, 1)] if not in_order else [[(0, 0)], (0, 1), (1, 2)]
    assert happened == [first, *joined] and rows == [5, 6, 6, 5] and not pieces_in(journal.folder)
