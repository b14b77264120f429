"""The starting encoder: what training would lose of it is refused, what it keeps comes out, prompts too."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer

from augment_cli.encoding.encoder import to_length_one
from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import UsageError
from augment_cli.store.store import Store
from tests.helpers.small_encoders import with_prompts
from tests.helpers.training import QUICK, logged_run
from train.data.reader import Reader
from train.data.tokens import tokenizer_digest
from train.loading import load_recipe, make_recipe
from train.machine.distributed import join
from train.model.start import start
from train.outputs.export import export
from train.prepare import Run, open_columns, prepare_model


@pytest.fixture
def encoder(tiny_encoder, tmp_path):
    """A folder of its own, whose vectors have length 1."""
    found = load_encoder(tiny_encoder)
    found.modules = [to_length_one]
    export(found, tmp_path / "encoder")
    return tmp_path / "encoder"


def begin(folder):
    return start(folder, make_recipe({}), torch.device("cpu"))


def test_vectors_of_length_one_come_out_of_a_training(encoder, tiny_store, tmp_path):
    assert begin(encoder).modules == [to_length_one]
    logged_run(tiny_store, encoder, tmp_path / "run", {"steps": 2, "head": "tanh"})
    for out in ("best", "last"):
        assert load_encoder(tmp_path / "run" / out).modules == [to_length_one]


def test_steps_that_training_would_lose_are_refused(encoder):
    (encoder / "2_Dense").mkdir()
    sizes = {"in_features": 32, "out_features": 32, "bias": False}
    (encoder / "2_Dense/config.json").write_text(json.dumps(sizes))
    save_file({"linear.weight": torch.eye(32)}, encoder / "2_Dense/model.safetensors")
    modules = json.loads((encoder / "modules.json").read_text())
    modules[-1] |= {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    (encoder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(UsageError, match="steps after the pooling besides Normalize"):
        begin(encoder)


def test_lower_case_that_training_would_not_see_is_refused(encoder):
    def change(name, **values):
        path = encoder / name
        path.write_text(json.dumps(json.loads(path.read_text()) | values))

    change("sentence_bert_config.json", do_lower_case=True)
    assert begin(encoder).lower_case  # its tokenizer does so anyway
    export(load_encoder(encoder), encoder.with_name("again"))
    assert load_encoder(encoder.with_name("again")).lower_case
    words = json.loads((encoder / "tokenizer.json").read_text())
    change("tokenizer.json", normalizer=words["normalizer"] | {"lowercase": False})
    change("tokenizer_config.json", do_lower_case=False)
    with pytest.raises(UsageError, match="in lower case before its tokenizer"):
        begin(encoder)


PROMPTS = {"query": "find this: ", "document": "a text: "}
BOTH = {"corpus": "query", "una": "document"}
VALUES = {"positives": ["una"], "labels": "kind", "only_changed": ["una"], "dropout": 0.0}


@pytest.fixture
def prompted(tiny_encoder, tmp_path):
    """A folder with prompts, of which none is the default."""

    def make(pooling="mean", pooled=True, default=None):
        encoder = load_encoder(tiny_encoder, pooling=pooling)
        export(encoder, tmp_path / "plain")
        return with_prompts(tmp_path / "plain", tmp_path / "encoder", PROMPTS, default, pooled)

    return make


def in_training(folder, store, out, values):
    """Ids of a step's rows, and the embeddings of their anchors and positives, (rows, 2, d)."""
    run, ranks = Run(make_recipe(QUICK | VALUES | values), store, str(folder), out), join()
    trainee = prepare_model(run, ranks)
    opened, stages = open_columns(store, trainee.objective, trainee.encoder.tokenizer, ranks, trainee.prompts)
    keep = np.array([row % 3 != 0 for row in range(150)])
    reader = Reader(opened, stages, batch=16, seed=1, keep=keep, finish=trainee.objective.finish)
    batch = next(reader.epoch(0))
    prepared = trainee.objective.prepare(batch, 0)
    trainee.model.eval()
    grid = torch.zeros(32, trainee.model.dimension)
    with torch.no_grad():
        for item, vectors in zip(prepared.slices, trainee.model.embed(prepared.slices), strict=True):
            grid[item.places] = vectors
    return batch.row_ids, grid.reshape(16, 2, -1).numpy()


def texts_of(store, stage):
    opened = Store.open(store)
    parts = [opened.read_part(stage, part, ["text"])["text"].to_pylist() for part in range(len(opened.parts))]
    return [text for part in parts for text in part]


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(
    ("pooling", "pooled", "prompts", "default"),
    [
        ("mean", True, BOTH, None),
        ("mean", True, {"una": "document"}, "query"),
        ("mean", False, {"corpus": "query", "una": "query"}, None),
        ("cls", False, {}, "document"),
        ("cls", True, {}, None),
    ],
)
def test_a_step_encodes_what_the_library_encodes(
    pooling, pooled, prompts, default, fast, prompted, tiny_store, tmp_path
):
    folder = prompted(pooling, pooled, default)
    rows, found = in_training(folder, tiny_store, tmp_path / "run", {"prompts": prompts, "fast": fast})
    library = SentenceTransformer(str(folder), device="cpu")
    library.max_seq_length = QUICK["max_length"]
    for view, stage in enumerate(("corpus", "una")):
        texts = texts_of(tiny_store, stage)
        expected = library.encode([texts[row] for row in rows], prompt_name=prompts.get(stage))
        np.testing.assert_allclose(found[:, view], expected, atol=2e-6)


def test_what_is_trained_comes_out_with_its_prompts(prompted, tiny_store, tmp_path):
    folder = prompted(pooled=False, default="query")
    logged_run(tiny_store, folder, tmp_path / "run", VALUES | {"steps": 2})
    out = tmp_path / "run" / "last"
    settings = json.loads((out / "config_sentence_transformers.json").read_text())
    assert (settings["prompts"], settings["default_prompt_name"]) == (PROMPTS, "query")
    library, texts = SentenceTransformer(str(out), device="cpu"), texts_of(tiny_store, "corpus")[:20]
    np.testing.assert_allclose(load_encoder(out).encode(texts), library.encode(texts), atol=1e-6)
    expected = library.encode(texts, prompt_name="document")
    found = load_encoder(out, prompt_name="document").encode(texts)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert np.abs(found - load_encoder(out).encode(texts)).max() > 0.01


def test_token_ids_with_a_prompt_lie_beside_those_without(prompted, build_store, tmp_path):
    folder, store = prompted(), build_store(tmp_path / "store", [f"the dog runs {row}" for row in range(150)])

    def stages():
        return {name for name in Store.open(store).stages() if name.startswith("tokens/")}

    in_training(folder, store, tmp_path / "run", {})
    digest = tokenizer_digest(load_encoder(folder).tokenizer)[:12]
    plain = stages()
    assert plain == {f"tokens/{digest}/{stage}" for stage in ("corpus", "una", "una.1")}
    in_training(folder, store, tmp_path / "run", {"prompts": BOTH})
    more = stages() - plain
    assert len(more) == 3 and len({name.split("/")[1] for name in more}) == 2


def test_prompts_that_make_no_sense_are_refused(prompted, tiny_store, tmp_path):
    folder = prompted(pooled=False)
    for prompts, message in [
        ({"pi": "query"}, "prompts: 'pi' is not read; the columns are corpus, una"),
        ({"corpus": "passage"}, "prompt 'passage': encoder has the prompts query, document; name one"),
        (BOTH, "name the same one for all columns"),
    ]:
        with pytest.raises(UsageError, match=message):
            in_training(folder, tiny_store, tmp_path / "run", {"prompts": prompts})


def test_recipes_say_which_prompts_and_older_ones_none():
    assert load_recipe("simcse", ["prompts.corpus=query"]).prompts == {"corpus": "query"}
    assert "prompts" not in load_recipe("simcse").as_json()
