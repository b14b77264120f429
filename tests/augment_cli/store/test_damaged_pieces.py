"""Damaged, cut, moved and forged pieces of every stage that keeps some: made again, and nothing else is."""

import itertools
import shutil
from collections.abc import Callable

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.parsing import stage as parsing
from augment_cli.reports.soundness import verify
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.files import sha256_of_file
from augment_cli.store.journal import Journal, pieces_in
from augment_cli.store.parquet import read_parquet
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from augment_cli.vectors import embed
from augment_cli.vectors.embed_parameters import EmbedParameters
from augment_cli.vectors.mine_parameters import MineParameters
from augment_cli.vectors.score import ScoreOptions
from tests.helpers.tiny_models import SENTENCES

USERS = {
    "parse": "parses",
    "embed": "vectors-again",
    "score": "scores-antonym",
    "mine": "mined-tfidf",
    "model": "paraphrase",
}
ON_CPU = {"precision": "fp32", "device": "cpu"}
UNGUARDED = {"faithful": False, "surprise": 0.0, "candidates": 1}  # random weights write no English


@pytest.fixture(scope="module")
def steps(pipeline, model):
    """What each user does in a session."""
    encoder = EmbedParameters(model=model("encoder"), **ON_CPU)
    run = make_run("paraphrase", model=model("bart"), batch_tokens=60, beams=2, **ON_CPU, **UNGUARDED)
    return {
        "parse": lambda session: session.parse(pipeline),
        "embed": lambda session: session.embed("corpus", encoder, "again"),
        "score": lambda session: session.score("antonym", ScoreOptions(("cosine", "length_ratio"))),
        "mine": lambda session: session.mine(MineParameters(negatives=2)),
        "model": lambda session: session.augment(run),
    }


@pytest.fixture(scope="module", autouse=True)
def small_pieces():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embed, "PIECE_ROWS", 8)
        patch.setattr(parsing, "PIECE_ROWS", 8)
        yield


@pytest.fixture(scope="module")
def base(tmp_path_factory, model):
    """Sixty sentences in three parts, with what the users read."""
    folder = tmp_path_factory.mktemp("base")
    (folder / "in.txt").write_text("\n".join(SENTENCES) + "\n")
    with Session(folder / "store", Engine(1)) as session:
        session.ingest([folder / "in.txt"], IngestOptions(part_rows=25))
        session.fit()
        session.augment(make_run("antonym"))
        for stage in ("corpus", "antonym"):
            session.embed(stage, EmbedParameters(model=model("encoder"), **ON_CPU))
    return folder / "store"


@pytest.fixture(scope="module")
def made(base, steps, tmp_path_factory) -> Callable[[str], tuple]:
    """`made("parse")`: a store with all pieces of the user and no part; the digests of the parts."""
    known = {}

    def make(user):
        if user not in known:
            folder = tmp_path_factory.mktemp(user)
            with Session(shutil.copytree(base, folder / "whole"), Engine(1)) as session:
                steps[user](session)
            path = shutil.copytree(base, folder / "left")
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Store, "commit", lambda store, pending: None)
                patch.setattr(Store, "clean_work", lambda store, stage: None)
                patch.setattr(Journal, "remove", lambda journal, index: None)
                with Session(path, Engine(1)) as session:
                    steps[user](session)
            known[user] = path, digests(folder / "whole", user)
        return known[user]

    return make


def digests(path, user):
    return [sha256_of_file(part) for part in sorted(path.glob(f"{USERS[user]}*/*.parquet"))]


def flipped(places):
    """One bit each: near the beginning, in the middle, and in what a Parquet file's checksums leave out."""
    for number, path in enumerate(places):
        data = bytearray(path.read_bytes())
        data[(9, len(data) // 2, -20)[number % 3]] ^= 4
        path.write_bytes(data)
    return places


def cut(places):
    for number, path in enumerate(places):
        data = path.read_bytes()
        path.write_bytes(data[: (len(data) // 2, -1, 4)[number % 3]])
    return places


def emptied(places):
    for path in places:
        path.write_bytes(b"")
    return places


def swapped(places):
    """The bytes of two pieces, so that each is a sound file of another place."""
    one, other = places[0], places[-1]
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)
    return [one, other]


def moved(places):
    """Two pieces with their digests, so that each is whole under a name that is another's."""
    one, other = places[0], places[-1]

    def renamed(path, like):
        start = like.name.rpartition("-")[0]
        return like.with_name(f"{start}-{path.name.rpartition('-')[2]}")

    first, second = one.read_bytes(), other.read_bytes()
    new = {renamed(one, other): first, renamed(other, one): second}
    one.unlink()
    other.unlink()
    for path, data in new.items():
        path.write_bytes(data)
    return [one, other]


def forged(places):
    """Pieces that a run with other settings kept, at the places of these."""
    for path in places:
        stage, index, piece = path.parents[2].name, int(path.parent.name[5:]), int(path.name.split("-")[1])
        other = Journal(path.parents[3], stage, Settings("other", 1))
        other.write(index, piece, read_parquet(path))
        [foreign] = [one for one in pieces_in(other.folder) if one.parent.name == path.parent.name]
        path.unlink()
        foreign.rename(path.parent / foreign.name)
        shutil.rmtree(other.folder)
    return places


def replaced_by_folders(places):
    for path in places:
        path.unlink()
        path.mkdir()
    return places


DAMAGES = [flipped, cut, emptied, swapped, moved, forged, replaced_by_folders]
QUICK = {(user, flipped) for user in USERS if user != "model"} | {("mine", damage) for damage in DAMAGES}


@pytest.mark.parametrize(
    ("user", "damage"),
    [
        pytest.param(*case, marks=() if case in QUICK else pytest.mark.slow)
        for case in itertools.product(USERS, DAMAGES)
    ],
)
def test_a_spoiled_piece_is_made_again(made, steps, tmp_path, monkeypatch, user, damage):
    left, expected = made(user)
    path = shutil.copytree(left, tmp_path / "store")
    places = sorted(pieces_in(path / ".work" / USERS[user]))
    assert len(places) >= 3 and {place.parent.name for place in places} > {"part-00000", "part-00001"}
    spoiled = {
        (int(place.parent.name[5:]), int(place.name.split("-")[1]))
        for place in damage(places[:: max(1, len(places) // 3)])
    }
    written, real = [], Journal.write

    def write(journal, index, piece, table):
        written.append((index, piece))
        real(journal, index, piece, table)

    monkeypatch.setattr(Journal, "write", write)
    with Session(path, Engine(1)) as session:
        steps[user](session)
    assert digests(path, user) == expected and len(expected) >= 3
    assert sorted(written) == sorted(spoiled)
    assert verify(Store.open(path)) == [] and not pieces_in(path / ".work")


def test_a_damaged_plan_costs_the_batches_of_its_part(made, steps, tmp_path):
    """Which rows go through a model together is kept beside the batches, and is nothing without them."""
    left, expected = made("model")
    path = shutil.copytree(left, tmp_path / "store")
    plans = sorted((path / ".work").rglob("plan-*.parquet"))
    assert len(plans) == 3
    flipped(plans[:2])
    with Session(path, Engine(1)) as session:
        steps["model"](session)
    assert digests(path, "model") == expected
