"""`pack`: filters by cosine, layouts, scores, what each filter costs; against row-by-row Python."""

import csv
import json
import math
import shutil

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import augment_cli
from augment_cli.contract.pack_options import FILTERS, LAYOUTS
from augment_cli.engine.engine import Engine
from augment_cli.errors import MixError, UsageError
from augment_cli.pack import PackOptions, cost_of_filters, pack, pack_settings
from augment_cli.pack.export import export
from augment_cli.pack.layouts import rows_of
from augment_cli.pack.options import choose
from augment_cli.session import Session
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from augment_cli.vectors.cosines import cosines
from augment_cli.vectors.mine import MINED
from tests.helpers.made_stores import add_texts
from tests.helpers.properties import examples
from tests.helpers.vector_stages import add_vectors

STAGES = ["corpus", "p1", "p2", "n1", "n2", "n3"]


def expected_rows(texts, numbers, options, filters):
    """The same by the row: what a reader of the documentation would write down. One list a positive."""
    result = []
    for position, positive in enumerate(options.positives):
        rows: list[tuple] = []
        for row in range(len(texts["corpus"])):

            def good_positive(name, row=row):
                return texts[name][row] is not None and not (
                    "min_positive" in filters and numbers[name][row] < options.min_positive
                )

            if not good_positive(positive):
                continue
            pair = (texts[positive][row], numbers[positive][row])
            good = []
            for name in options.negatives:
                score = numbers[name][row]
                good.append(
                    texts[name][row] is not None
                    and not ("max_negative" in filters and score > options.max_negative)
                    and not ("margin" in filters and np.float32(pair[1]) - np.float32(score) < options.margin)
                )
            own = [
                (texts[name][row], numbers[name][row]) if is_good else None
                for name, is_good in zip(options.negatives, good, strict=True)
            ]
            if options.layout == "n-tuple":
                if options.negatives and not any(own):
                    continue
                if not all(own) and not options.fills:
                    continue
                around = [next(filter(None, own[at:] + own[:at])) for at in range(len(own))]
                rows.append((0, row, [pair, *around], None))
            elif options.layout == "triplet":
                rows += [(number, row, [pair, one], None) for number, one in enumerate(own) if one]
            elif options.layout == "pair":
                rows.append((0, row, [pair], None))
            else:
                rows.append((0, row, [pair], 1))
                if not any(good_positive(name) for name in options.positives[:position]):
                    rows += [(1 + number, row, [one], 0) for number, one in enumerate(own) if one]
        listed = []
        for _, row, cells, label in sorted(rows, key=lambda entry: entry[:2]):
            scores = [score for _, score in cells]
            number = [] if label is None else [label]
            if options.scores:
                number = [scores if options.layout in ("n-tuple", "triplet") else scores[0]]
            listed.append([texts["corpus"][row], *(text for text, _ in cells), *number])
        result.append(listed)
    return result


@st.composite
def packings(draw):
    layout = draw(st.sampled_from(LAYOUTS))
    negatives = draw(st.sampled_from([("n1",), ("n1", "n2", "n3"), ()]))
    if layout == "pair":
        negatives = ()
    elif layout != "n-tuple" and not negatives:
        negatives = ("n2",)
    # Halves and quarters: exact in half, single and double precision, so that ties are ties.
    quarter = st.sampled_from([None, -0.5, 0.0, 0.25, 0.5])
    return PackOptions(
        draw(st.sampled_from([("corpus",), ("p1",), ("p2", "corpus", "p1")])),
        negatives,
        require_all=draw(st.booleans()),
        min_positive=draw(quarter),
        max_negative=draw(quarter) if negatives else None,
        margin=draw(st.sampled_from([None, 0.0, 0.25])) if negatives else None,
        layout=layout,
        scores=draw(st.booleans()),
    )


@examples(60)
@given(packings(), st.randoms(use_true_random=False), st.integers(0, 12))
def test_rows_are_those_of_a_reading_row_by_row(options, random, count):
    texts = {"corpus": [f"a{row}" for row in range(count)]}
    numbers = {"corpus": [1.0] * count}
    columns = {"stage:corpus": pa.array(texts["corpus"], pa.string())}
    for name in STAGES[1:]:
        texts[name] = [random.choice([None, f"{name}-{row}"]) for row in range(count)]
        numbers[name] = [random.choice([-0.5, 0.0, 0.25, 0.5, 0.75]) for _ in range(count)]
        columns[f"stage:{name}"] = pa.array(texts[name], pa.string())
        if name in options.compared:
            values = [
                number if text else math.nan for number, text in zip(numbers[name], texts[name], strict=True)
            ]
            columns[f"cosine:{name}"] = pa.array(np.array(values, np.float32))
    table = pa.table(columns)
    for filters in (options.filters[:number] for number in range(len(options.filters) + 1)):
        expected = expected_rows(texts, numbers, options, filters)
        for positive, rows in zip(options.positives, expected, strict=True):
            packed, _, dropped = rows_of(table, positive, options, options.schema(pa.schema([])), filters)
            assert [list(row.values()) for row in packed.to_pylist()] == rows
            assert dropped == count - len({row[0] for row in rows})


def unit_vectors(cosine_values):
    """Vectors of two numbers with these cosines to (1, 0)."""
    values = np.asarray(cosine_values, float)
    return np.stack([values, np.sqrt(1 - values**2)], axis=1).astype(np.float16)


def write_vectors(path, of, cosine_values, model="a", missing=()):
    """Vectors of the texts that are there, but for some rows."""
    vectors = unit_vectors(cosine_values).astype(np.float32)
    vectors[Store.open(path).read(of)["text"].is_null().to_numpy()] = np.nan
    vectors[list(missing)] = np.nan
    add_vectors(path, of, vectors, model=model)


NEAR = np.linspace(0.99, 0.4, 60)  # of the stage `uda`, row by row
FAR = np.linspace(0.9, 0.1, 60)  # of the stage `una`


@pytest.fixture(scope="module")
def compared(made_store, tmp_path_factory):
    """A store of 60 rows with a stage of positives, two of negatives, and vectors of known cosines."""
    path = shutil.copytree(made_store, tmp_path_factory.mktemp("compared") / "store")
    store = Store.open(path)
    with store.lock():
        add_texts(store, "uda", lambda row, text: None if row % 10 == 9 else f"positive {row}")
        made = Settings("mined", 1, {}, None, {"corpus": store.stage("corpus").digest})
        for index in store.begin("mined-tfidf", made):
            part = store.read_part("corpus", index)
            ids = part["row_id"].to_pylist()
            others = [None if row % 2 else (row + 31) % 60 for row in ids]
            texts = [None if other is None else "mined" for other in others]
            none = [None] * len(ids)
            columns = [ids, texts, none, others, none, none, none]
            table = pa.table([pa.array(c, f.type) for c, f in zip(columns, MINED, strict=True)], schema=MINED)
            store.commit(store.write_part("mined-tfidf", index, MINED, [table], made))
    for of, values in (("corpus", np.ones(60)), ("uda", NEAR), ("una", FAR)):
        write_vectors(path, of, values)
    return path


@pytest.fixture
def path(compared, tmp_path):
    """A copy that a test may write to."""
    return shutil.copytree(compared, tmp_path / "store")


def half(values):
    """Cosines as half precision leaves them."""
    vectors = unit_vectors(values).astype(np.float32)
    return vectors[:, 0] / np.linalg.norm(vectors, axis=1)


def test_cosines_are_those_of_the_vectors_and_of_mined_rows_the_other_sentences(compared):
    store = Store.open(compared)
    found = np.concatenate([cosines(store, "una", index) for index in range(len(store.parts))])
    is_there = store.read("una")["text"].is_valid().to_numpy()
    np.testing.assert_allclose(found[is_there], half(FAR)[is_there], atol=1e-6)
    assert np.isnan(found[~is_there]).all()
    # The corpus' own vectors serve mined sentences: none of `mined-tfidf` are made.
    mined = np.concatenate([cosines(store, "mined-tfidf", index) for index in range(len(store.parts))])
    np.testing.assert_allclose(mined[::2], 1)
    assert np.isnan(mined[1::2]).all() and "vectors-mined-tfidf" not in store.stages()


def test_each_filter_says_what_it_costs_before_anything_is_written(compared, command):
    stages = ["--positive", "uda", "--negative", "una"]
    limits = ["--min-positive", "0.5", "--max-negative", "0.75", "--margin", "0.2"]
    result = command("pack", "--store", compared, *stages, *limits, "--dry-run")
    assert result.returncode == 0, result.stderr
    store = Store.open(compared)
    assert "pack" not in store.stages()
    there = store.read("una")["text"].is_valid().to_numpy() & (np.arange(60) % 10 != 9)
    left, steps = there, [there.sum()]
    for condition in (half(NEAR) >= 0.5, half(FAR) <= 0.75, half(NEAR) - half(FAR) >= 0.2):
        left = left & condition
        steps.append(left.sum())
    costs = -np.diff(steps)
    assert (costs > 0).all() and steps[-1] > 0
    said = f"costs {costs[0]}; --max-negative 0.75 costs {costs[1]}; --margin 0.2 costs {costs[2]}; "
    assert f"{steps[0]} rows without filters; --min-positive 0.5 {said}{steps[-1]} left" in result.stderr
    options = choose(store, ["uda"], ["una"], min_positive=0.5, max_negative=0.75, margin=0.2)
    assert cost_of_filters(store, options) == dict(zip(["rows", *FILTERS], [steps[0], *costs], strict=True))


def test_the_packed_stage_has_the_rows_that_were_left_and_its_inputs(path, tmp_path):
    store = augment_cli.pack_table(
        path, positives=["uda"], negatives=["una", "mined-tfidf"], margin=0.2, scores=True, jobs=1
    )
    rows = store.read("pack").to_pylist()
    assert [*rows[0]] == ["anchor", "positive", "negative", "negative_1", "score"]
    for row in rows:
        number = int(row["positive"].split()[1])
        # Mined sentences point the same way as their anchors here, so the margin never leaves one.
        assert row["negative"] == row["negative_1"] != "mined"
        np.testing.assert_allclose(row["score"], [half(NEAR)[number], *[half(FAR)[number]] * 2], atol=1e-6)
    inputs = store.stage("pack").settings["inputs"]
    assert {"vectors", "vectors-uda", "vectors-una", "mined-tfidf"} <= inputs.keys()
    assert export(store, "pack", tmp_path / "rows.csv") == len(rows)
    with (tmp_path / "rows.csv").open(newline="") as file:
        assert [json.loads(row["score"]) for row in csv.DictReader(file)] == [row["score"] for row in rows]


def test_mined_stages_count_as_negatives_and_settings_without_filters_are_those_of_earlier_versions(compared):
    store = Store.open(compared)
    parameters = pack_settings(store, PackOptions(("uda",), ("una",))).parameters
    assert parameters.keys() == {"positives", "negatives", "unchanged"}
    assert choose(store).negatives == ("una", "una.1", "mined-tfidf")
    with pytest.raises(UsageError, match="give it as --negative mined-tfidf"):
        choose(store, ["mined-tfidf"])
    assert choose(store, layout="pair").negatives == ()


def test_labels_and_scores_beside_carried_columns(path):
    store = augment_cli.pack_table(
        path, positives=["uda"], negatives=["una"], layout="labeled-pair", carry=["row_id"], jobs=1
    )
    rows = store.read("pack").to_pylist()
    assert [*rows[0]] == ["sentence1", "sentence2", "label", "row_id"]
    assert [row["row_id"] for row in rows if row["label"]] == [row for row in range(60) if row % 10 != 9]
    una, texts = store.read("una")["text"].to_pylist(), store.read("corpus")["text"].to_pylist()
    for row in rows:
        assert row["sentence1"] == texts[row["row_id"]]
        assert row["sentence2"] == (f"positive {row['row_id']}" if row["label"] else una[row["row_id"]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_positive": 2.0}, r"--min-positive 2\.0: must be at most 1"),
        ({"margin": -0.1}, "--margin -0.1"),
        ({"max_negative": math.nan}, "--max-negative nan"),
        ({"layout": "wide"}, "--layout wide: choose one of n-tuple, triplet, pair, labeled-pair"),
        ({"layout": "pair", "negatives": ["una"]}, "--layout pair: has no negatives"),
        ({"layout": "triplet", "negatives": []}, "--layout triplet: needs negatives"),
        ({"negatives": [], "margin": 0.1, "positives": ["uda"]}, "--margin: there are no negatives"),
        ({"vectors": "other"}, "--vectors other: nothing is compared"),
    ],
)
def test_what_makes_no_sense_is_refused(compared, options, message):
    with pytest.raises(UsageError, match=message):
        choose(Store.open(compared), **options)


def test_vectors_that_are_missing_partial_or_of_another_encoder(path):
    store = Store.open(path)
    with pytest.raises(UsageError, match=r"has no vectors of 'una.1' .*`augment-cli embed una.1`"):
        cost_of_filters(store, choose(store, ["corpus"], ["una.1"], max_negative=0.5))
    write_vectors(path, "una.1", FAR, model="b")
    store = Store.open(path)
    with pytest.raises(MixError, match="differ in model"):
        cost_of_filters(store, choose(store, ["corpus"], ["una.1"], max_negative=0.5))
    row = next(row for row, text in enumerate(store.read("una")["text"].to_pylist()) if text)
    with store.lock():
        store.remove("vectors-una")
    write_vectors(path, "una", FAR, missing=[row])
    store = Store.open(path)
    wanted = r"1 texts of 'una' in part 0 have no vector.*without --rows"
    with store.lock(), pytest.raises(UsageError, match=wanted):
        pack(store, choose(store, ["corpus"], ["una"], max_negative=0.5))


def test_filters_that_leave_nothing_are_refused_before_anything_is_written(path):
    with (
        pytest.raises(UsageError, match=r"no row passes the filters \(--max-negative -1 costs \d+\); loosen"),
        Session(path, Engine(1), overwrite=True) as session,
    ):
        session.pack(choose(session.store, ["uda"], ["una"], min_positive=0.5))
        before = session.store.read("pack")
        session.pack(choose(session.store, ["corpus"], ["una"], max_negative=-1.0))
    assert Store.open(path).read("pack") == before


def test_a_part_without_a_row_is_committed_with_those_that_have_some(path):
    with Session(path, Engine(1)) as session:
        # The positives draw away from their anchors with the row number, so the last parts have none.
        session.pack(choose(session.store, ["uda"], ["una"], min_positive=0.9))
        rows = [part.rows for part in session.store.stage("pack").parts.values()]
        assert rows[0] > 0 and rows[-1] == 0 and len(rows) == len(session.store.parts)
        session.pack(choose(session.store, ["uda"], ["una"], max_negative=0.3), "far")
        rows = [part.rows for part in session.store.stage("far").parts.values()]
        assert rows[0] == 0 and rows[-1] > 0 and len(rows) == len(session.store.parts)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("loss", "options"),
    [
        ("MultipleNegativesRankingLoss", {"layout": "pair"}),
        ("MultipleNegativesRankingLoss", {"layout": "n-tuple"}),
        ("TripletLoss", {"layout": "triplet"}),
        ("ContrastiveLoss", {"layout": "labeled-pair"}),
        ("OnlineContrastiveLoss", {"layout": "labeled-pair"}),
        ("CoSENTLoss", {"layout": "labeled-pair", "scores": True}),
        ("CosineSimilarityLoss", {"layout": "pair", "scores": True}),
        ("MarginMSELoss", {"layout": "triplet", "scores": True}),
        ("MarginMSELoss", {"layout": "n-tuple", "scores": True}),
        ("DistillKLDivLoss", {"layout": "n-tuple", "scores": True}),
    ],
)
def test_losses_of_sentence_transformers_take_the_layouts_as_they_are(path, tmp_path, loss, options):
    import sentence_transformers as library
    import torch
    from datasets import load_dataset
    from sentence_transformers.sentence_transformer import losses
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, pre_tokenizers
    from tokenizers.models import WordLevel

    torch.set_num_threads(1)
    negatives = [] if options["layout"] == "pair" else ["una", "mined-tfidf"]
    store = augment_cli.pack_table(path, positives=["uda"], negatives=negatives, jobs=1, **options)
    data = load_dataset("parquet", data_dir=f"{store.path}/pack", split="train", cache_dir=str(tmp_path))
    words = {word: at for at, word in enumerate(["[UNK]", "the", "river", "number", "positive", "mined"])}
    tokenizer = Tokenizer(WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    model = library.SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_dim=8)], device="cpu")
    before = [weight.detach().clone() for weight in model.parameters()]
    quiet = {"use_cpu": True, "save_strategy": "no", "report_to": "none", "disable_tqdm": True}
    arguments = library.SentenceTransformerTrainingArguments(
        str(tmp_path / "run"), max_steps=1, per_device_train_batch_size=8, learning_rate=0.1, **quiet
    )
    trainer = library.SentenceTransformerTrainer(
        model=model, args=arguments, train_dataset=data, loss=getattr(losses, loss)(model)
    )
    assert math.isfinite(trainer.train().training_loss)
    changed = [not torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True)]
    assert any(changed)
