"""One thing forged in one part, its digest mended in the manifest: `verify` names it, readers refuse it."""

import json
import shutil

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from augment_cli.contract.vector_parameters import MineParameters
from augment_cli.engine.engine import Engine
from augment_cli.errors import BadInputError
from augment_cli.ingest import IngestOptions
from augment_cli.pack.options import choose
from augment_cli.reports.soundness import problems_in, verify
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store.files import sha256_of_file
from augment_cli.store.store import Store
from augment_cli.vectors.score import ScoreOptions
from augment_cli.vectors.stages import EmbedParameters, VectorStage
from tests.helpers.undisturbed import sealed
from tests.helpers.vector_stages import FAST
from train.data.tokens import cache_tokens

ROWS, PART = 24, 8
WORDS = "river heron boat quiet house bridge stone night".split()  # noqa: SIM905


@pytest.fixture(scope="module")
def whole(tmp_path_factory, pipeline, tiny_encoder):
    from transformers import AutoTokenizer

    folder = tmp_path_factory.mktemp("forged")
    encoder = EmbedParameters(model=str(tiny_encoder), **FAST)
    draw = np.random.default_rng(1)
    lines = [
        {"text": f"The {' '.join(draw.choice(WORDS, 6))} waits {n}.", "good": f"good {n}" if n % 5 else None}
        for n in range(ROWS)
    ]
    (folder / "in.jsonl").write_text("\n".join(map(json.dumps, [*lines, {"text": "a\x00b", "good": "x"}])))
    options = IngestOptions(text_column="text", part_rows=PART, positive_columns=("good",))
    with Session(folder / "store", Engine(1)) as session:
        session.ingest([folder / "in.jsonl"], options, max_rejects=1)
        session.augment(make_run("una", radius=4))
        session.augment(make_run("crop"))
        session.parse(pipeline)
        session.embed("corpus", encoder)
        session.embed("una", encoder)
        session.score("una", ScoreOptions())
        session.mine(MineParameters(by="vectors", range_max=20))
        session.mine(MineParameters(by="tfidf", range_max=20, max_df=1.0))
        session.pack(choose(session.store, positives=["crop"], negatives=["una"], labels="kind"))
    cache_tokens(Store.open(folder / "store"), "corpus", AutoTokenizer.from_pretrained(tiny_encoder))
    assert verify(Store.open(folder / "store")) == []
    return folder / "store"


def forge(store, stage, change, part=1):
    """Rewrite a part, and mend its digest, size and rows and the manifest's own digest."""
    path = Store.open(store).part_path(stage, part)
    table = pq.read_table(path)
    metadata = table.schema.metadata
    table = change(table)
    pq.write_table(table.replace_schema_metadata(metadata), path, row_group_size=8_192)
    manifest = json.loads((store / "manifest.json").read_text())
    entry = manifest["stages"][stage]["parts"][str(part)]
    entry |= {"bytes": path.stat().st_size, "sha256": sha256_of_file(path), "rows": table.num_rows}
    (store / "manifest.json").write_text(json.dumps(sealed(manifest)))
    return path


def column(name, change):
    def forged(table):
        values = table[name].to_pylist()
        changed = change(values)
        field = table.schema.field(name)
        new = pa.array(values if changed is None else changed, field.type)
        return table.set_column(table.schema.get_field_index(name), field, new)

    return forged


def retyped(name, kind):
    def forged(table):
        at = table.schema.get_field_index(name)
        return table.set_column(at, pa.field(name, kind), table[name].cast(kind))

    return forged


def replaced(name, values):
    return lambda table: table.set_column(table.schema.get_field_index(name), name, values(len(table)))


def without_an_anchor(table):
    return table.set_column(0, "anchor", pa.array([None, *table["anchor"].to_pylist()[1:]]))


def at(key, value, inner=None):
    def change(values):
        row = next(row for row, old in enumerate(values) if old)
        if inner is None:
            values[row] = value
        elif isinstance(values[row][inner], dict):
            values[row][inner] = values[row][inner] | value
        else:
            values[row][inner] = value

    return column(key, change)


def two_edits(values):
    row = next(row for row, edits in enumerate(values) if edits)
    values[row] = [{"start": 0, "end": 4, "replacement": "a"}, {"start": 2, "end": 6, "replacement": "b"}]


ROW_IDS = {
    "swapped rows": column("row_id", lambda ids: [ids[1], ids[0], *ids[2:]]),
    "a row twice": column("row_id", lambda ids: [ids[0], ids[0], *ids[2:]]),
    "rows of another part": column("row_id", lambda ids: [value + PART for value in ids]),
    "a row less": lambda table: table.slice(1),
    "no row": lambda table: table.slice(0, 0),
    "row ids of another type": retyped("row_id", pa.int32()),
    "no row ids": lambda table: table.drop_columns(["row_id"]),
}
BY_ROW = ["una", "crop", "tfidf", "parses", "vectors", "scores-una", "mined-vectors", "mined-tfidf", "good"]
NAN = float("nan")
FORGED = {
    **{f"{stage}: {what}": (stage, change) for stage in BY_ROW for what, change in ROW_IDS.items()},
    "corpus: swapped rows": ("corpus", ROW_IDS["swapped rows"]),
    "corpus: no texts": ("corpus", lambda table: table.drop_columns(["text"])),
    "corpus: a number for a text": ("corpus", retyped("line", pa.float64())),
    "una: a column more": ("una", lambda table: table.append_column("more", table["text"])),
    "una: a column less": ("una", lambda table: table.drop_columns(["edits"])),
    "una: another text": ("una", at("text", "another text")),
    "una: no text": ("una", at("text", None)),
    "una: a reason beside the text": ("una", column("reason", lambda values: ["x"] * len(values))),
    "una: an edit beyond the text": ("una", at("edits", {"end": 10_000}, 0)),
    "una: an edit that ends before it begins": ("una", at("edits", {"start": 9, "end": 3}, 0)),
    "una: another replacement": ("una", at("edits", {"replacement": "other"}, 0)),
    "una: overlapping edits": ("una", column("edits", two_edits)),
    "una: no edits": ("una", column("edits", lambda values: [[] for _ in values])),
    "good: a text and a reason": ("good", column("reason", lambda values: ["x"] * len(values))),
    "tfidf: a term that there is not": ("tfidf", at("term_ids", 10_000, 0)),
    "tfidf: a span beyond the text": ("tfidf", at("ends", 10_000, -1)),
    "tfidf: a list that is shorter": ("tfidf", at("starts", [])),
    "tfidf: a weight that is no number": ("tfidf", at("weights", NAN, 0)),
    "terms: a score that is no number": ("terms", at("max_score", NAN)),
    "terms: scores in rising order": ("terms", column("max_score", lambda values: values[::-1])),
    "forms: a case that there is not": ("forms", column("case", lambda values: [9, *values[1:]])),
    "forms: a row less": ("forms", lambda table: table.slice(1)),
    "parses: a head beyond the row": ("parses", at("heads", 1_000, 0)),
    "parses: a token beyond the text": ("parses", at("ends", 10_000, -1)),
    "parses: a token before the one before it": ("parses", at("starts", 0, 2)),
    "parses: tags for fewer tokens": ("parses", at("tags", ["NN"])),
    "vectors: no number": ("vectors", at("vector", NAN, 0)),
    "vectors: another width": (
        "vectors",
        replaced("vector", lambda rows: pa.array([[0.5] * 3] * rows, pa.list_(pa.float16(), 3))),
    ),
    "vectors: lists": ("vectors", retyped("vector", pa.list_(pa.float16()))),
    "scores-una: a cosine of 3": ("scores-una", at("cosine", 3.0)),
    "scores-una: no number": ("scores-una", at("length_ratio", NAN)),
    "scores-una: a row that there is not": ("scores-una", at("nearest_row_id", 999)),
    "mined-vectors: a row that there is not": ("mined-vectors", at("other_row_id", 999)),
    "mined-vectors: no number": ("mined-vectors", at("score", NAN)),
    "mined-tfidf: a score of 7": ("mined-tfidf", at("score", 7.0)),
    "pack: a row without an anchor": ("pack", without_an_anchor),
    "pack: numbers for texts": ("pack", replaced("anchor", lambda rows: pa.array(np.arange(rows)))),
    "rejects: other columns": ("rejects", lambda table: table.drop_columns(["raw"])),
    "tokens: negative ids": ("tokens", at("ids", -5, 0)),
    "tokens: swapped rows": ("tokens", ROW_IDS["swapped rows"]),
}


def forged_copy(name, whole, tmp_path):
    """A copy of the store with something forged; its folder, the stage, the part's file."""
    begins, change = FORGED[name]
    store = shutil.copytree(whole, tmp_path / "store")
    opened = Store.open(store)
    stage = next(one for one in opened.stages() if one.startswith(begins))
    return store, stage, forge(store, stage, change, int(opened.stage(stage).expected_parts > 1))


# All that may happen to row ids happens quickly to one stage; to each of the others only one of it.
SLOW = {f"{stage}: {what}" for stage in BY_ROW[1:] for what in ROW_IDS if what != "swapped rows"}


@pytest.mark.parametrize("find", [problems_in, pytest.param(verify, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in FORGED]
)
def test_verify_names_the_stage_and_part_of_what_is_forged(name, find, whole, tmp_path):
    """`verify` looks at every stage, at each as `problems_in` does."""
    store, stage, path = forged_copy(name, whole, tmp_path)
    try:
        opened = Store.open(store)
    except BadInputError as error:  # the manifest cannot even be opened
        assert stage in str(error)
        return
    found = find(opened, *([opened.stage(stage)] if find is problems_in else []))
    mine = [line for line in found if line.startswith(f"{path}: ")]
    assert len(mine) == 1, found
    assert "damaged or foreign" in mine[0] or "cannot be read" in mine[0], mine


READERS = {
    "corpus": ["crop --name again", "fit --name again", "inspect corpus --row 9"],
    "una": ["inspect una -n 24", "stats una", "pack --positive una --labels kind --name again"],
    "tfidf": ["una --radius 3 --name again", "mine --by tfidf --range-max 9 --name again"],
    "terms": ["una --radius 3 --name again", "inspect terms"],
    "forms": ["una --radius 3 --name again"],
    "parses": ["aa", "tense", "inspect parses -n 24"],
    "vectors": ["mine --range-max 9 --name again", "score una --name again"],
    "scores-una": ["inspect una --sort cosine", "stats scores-una"],
    "mined-vectors": ["stats mined-vectors", "pack --negative mined-vectors --labels kind --name new"],
    "good": ["pack --positive good --labels kind --name again"],
    "pack": ["inspect pack", "pack --positive crop --negative una --labels kind --out pairs.csv"],
    "rejects": ["inspect rejects"],
}


QUICK = ["una: overlapping edits"]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow)
        for name, (stage, _) in FORGED.items()
        if stage in READERS
    ],
)
def test_a_reader_of_what_is_forged_ends_with_a_line_and_no_internal_error(name, whole, tmp_path, command):
    store, _, _ = forged_copy(name, whole, tmp_path)
    for line in READERS[FORGED[name][0]]:
        result = command(*line.split(), "--store", store)
        assert result.returncode != 1 and "Traceback" not in result.stderr, (line, result.stderr)
        if result.returncode:
            assert result.returncode in (2, 4, 5), (line, result.stderr)


@pytest.mark.parametrize("name", ["vectors: no number", "vectors: swapped rows"])
def test_forged_vectors_are_not_compared(name, whole, tmp_path):
    store, _, _ = forged_copy(name, whole, tmp_path)
    vectors = VectorStage.open(Store.open(store))
    vectors.read(0)
    for groups in (None, [0]):
        with pytest.raises(BadInputError, match=r"part-00001.parquet: .*damaged or foreign"):
            vectors.read(1, groups)


@pytest.mark.parametrize("stage", ["corpus", "una", "parses", "tfidf", "good"])
@pytest.mark.parametrize("groups", [None, [0]])
def test_rows_of_another_order_are_not_read(stage, groups, whole, tmp_path):
    store = shutil.copytree(whole, tmp_path / "store")
    forge(store, stage, ROW_IDS["swapped rows"])
    opened = Store.open(store)
    assert opened.read_part(stage, 0, ["row_id"], groups).num_rows == PART
    with pytest.raises(BadInputError, match=r"part-00001.parquet: .*damaged or foreign"):
        opened.read_part(stage, 1, ["row_id"], groups)
