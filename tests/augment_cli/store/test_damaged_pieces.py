"""Spoilt pieces of every stage that keeps some are made again, and nothing else is.

What counts as spoilt, `test_journal.py` shows.
"""

import shutil

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.ingest import IngestOptions
from augment_cli.parsing import stage as parsing
from augment_cli.reports.soundness import verify
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.files import sha256_of_file
from augment_cli.store.journal import Journal, pieces_in
from augment_cli.store.store import Store
from augment_cli.vectors import embed
from augment_cli.vectors.mine_parameters import MineParameters
from augment_cli.vectors.score import ScoreOptions
from augment_cli.vectors.stages import EmbedParameters
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
def made(base, steps, tmp_path_factory):
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


@pytest.mark.parametrize(
    "user", ["parse", "embed", "score", "mine", pytest.param("model", marks=pytest.mark.slow)]
)
def test_a_spoiled_piece_is_made_again(made, steps, tmp_path, monkeypatch, user):
    left, expected = made(user)
    path = shutil.copytree(left, tmp_path / "store")
    places = sorted(pieces_in(path / ".work" / USERS[user]))
    assert len(places) >= 3 and {place.parent.name for place in places} > {"part-00000", "part-00001"}
    spoiled = flipped(places[:: max(1, len(places) // 3)])
    numbers = [(int(place.parent.name[5:]), int(place.name.split("-")[1])) for place in spoiled]
    written, real = [], Journal.write

    def write(journal, index, piece, table):
        written.append((index, piece))
        real(journal, index, piece, table)

    monkeypatch.setattr(Journal, "write", write)
    with Session(path, Engine(1)) as session:
        steps[user](session)
    assert digests(path, user) == expected and len(expected) >= 3
    assert sorted(written) == sorted(numbers)
    assert verify(Store.open(path)) == [] and not pieces_in(path / ".work")


@pytest.mark.slow
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
