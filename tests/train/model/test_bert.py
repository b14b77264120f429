"""BERT's layers as the trainer computes them, the starting encoder, its prompts, and `compile = true`."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from sentence_transformers import SentenceTransformer
from torch import nn
from transformers import BertConfig, BertModel, RobertaConfig, RobertaModel

import train.model.fast as bert
from augment_cli.encoding.dense import to_length_one
from augment_cli.encoding.fast.bert import is_known
from augment_cli.encoding.loading import load_encoder
from augment_cli.errors import MissingError, UsageError
from augment_cli.store.store import Store
from tests.helpers.small_encoders import with_prompts
from tests.helpers.training import QUICK, logged_run
from train.data.padding import length_sorted_slices
from train.data.reader import Reader
from train.loading import load_recipe, make_recipe
from train.machine import check_compiler
from train.machine.distributed import join
from train.model import start
from train.model.fast import BitDropout
from train.outputs.export import export
from train.prepare import Run, open_columns, prepare_model

CONFIG = {"vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
CONFIG |= {"intermediate_size": 24, "max_position_embeddings": 20}


@pytest.fixture(scope="module")
def encoder():
    torch.manual_seed(4)
    encoder = BertModel(BertConfig(**CONFIG)).double().eval()
    for parameter in encoder.parameters():  # biases and scales start as 0 and 1, which would hide mistakes
        nn.init.normal_(parameter, std=0.5)
    return encoder


@pytest.fixture(scope="module")
def texts():
    torch.manual_seed(5)
    lengths = (3, 17, 9, 9, 4, 17, 1, 12)
    return [torch.randint(1, 60, (length,)).numpy() for length in lengths]


def weighted_sum(layers, slices):
    """A scalar that every number of every layer has a part in, padding apart."""
    total = 0
    for states, item in zip(layers, slices, strict=True):
        for number, state in enumerate(states):
            weights = torch.sin(torch.arange(state[0].numel(), dtype=state.dtype)).view(state[0].shape)
            mask = item.mask[:, : state.shape[1], None]
            total = total + (number + 1) * (state * weights * mask).square().sum()
    return total


def gradients(encoder, total):
    encoder.zero_grad()
    total.backward()
    return {name: p.grad.clone() for name, p in encoder.named_parameters() if p.grad is not None}


def plain(encoder, item, first_only=False):
    """transformers' states after each layer, of the last one only the first token's if that is asked for."""
    *states, last = encoder(
        input_ids=item.ids, attention_mask=item.mask, output_hidden_states=True
    ).hidden_states
    return [*states, last[:, :1] if first_only else last]


@pytest.mark.parametrize("first_only", [False, True])
@pytest.mark.parametrize("count", [1, 3, 8])
def test_states_and_gradients_are_those_of_transformers(encoder, texts, count, first_only):
    slices = length_sorted_slices(texts, count, pad=0)
    actual = bert.encode(encoder, slices, first_only)
    expected = [plain(encoder, item, first_only) for item in slices]
    for states, others, item in zip(actual, expected, slices, strict=True):
        assert len(states) == len(others) == 3
        for state, other in zip(states, others, strict=True):
            assert state.shape == other.shape
            tokens = item.mask[:, : state.shape[1]].bool()
            torch.testing.assert_close(state[tokens], other[tokens], rtol=1e-12, atol=1e-12)
    ours = gradients(encoder, weighted_sum(actual, slices))
    theirs = gradients(encoder, weighted_sum(expected, slices))
    assert ours.keys() == theirs.keys()
    for name, gradient in theirs.items():
        torch.testing.assert_close(ours[name], gradient, rtol=1e-10, atol=1e-10, msg=name)


def spread(mask, like):
    """A mask of the first token, or of its attention, as one of all tokens."""
    if mask.numel() == like.numel():
        return mask.view(like.shape)
    full = torch.ones_like(like)
    first = full[:, :, :1] if like.dim() == 4 else full[:, :1]
    first.copy_(mask.view(first.shape))
    return full


@pytest.mark.parametrize("first_only", [False, True])
def test_dropout_falls_where_transformers_has_it(encoder, texts, monkeypatch, first_only):
    """The masks that were drawn, put into transformers' module in its own order, give the same."""
    drawn = []

    def draw(like, p):
        assert p == 0.25
        drawn.append((torch.rand(like.shape) >= p).to(like.dtype) / (1 - p))
        return drawn[-1]

    slices = length_sorted_slices(texts, 1, pad=0)
    for module in encoder.modules():
        if isinstance(module, nn.Dropout):
            monkeypatch.setattr(module, "p", 0.25)
    monkeypatch.setattr(bert, "keep_mask", draw)
    encoder.train()
    actual = bert.encode(encoder, slices, first_only)
    ours = gradients(encoder, weighted_sum(actual, slices))

    waiting = iter(drawn)
    monkeypatch.setattr(nn.functional, "dropout", lambda x, **_: x * spread(next(waiting), x))
    monkeypatch.setattr(nn.Dropout, "forward", lambda _, x: x * spread(next(waiting), x))
    encoder.set_attn_implementation("eager")
    expected = [plain(encoder, slices[0], first_only)]
    theirs = gradients(encoder, weighted_sum(expected, slices))
    encoder.eval()
    for state, other in zip(actual[0], expected[0], strict=True):
        torch.testing.assert_close(state, other, rtol=1e-12, atol=1e-12)
    for name, gradient in theirs.items():
        torch.testing.assert_close(ours[name], gradient, rtol=1e-10, atol=1e-10, msg=name)


@pytest.mark.parametrize("first_only", [False, True])
@pytest.mark.parametrize("fused", [True, False])
def test_bf16_is_as_near_as_transformers_own(texts, monkeypatch, fused, first_only):
    if not fused:
        monkeypatch.setattr(bert, "fused_linear", lambda: None)
    torch.manual_seed(6)
    encoder = BertModel(BertConfig(**CONFIG | {"hidden_size": 64, "initializer_range": 0.1})).eval()
    slices = length_sorted_slices(texts, 2, pad=0)
    exact = gradients(encoder, weighted_sum([plain(encoder, item, first_only) for item in slices], slices))
    with torch.autocast("cpu", torch.bfloat16):
        actual = bert.encode(encoder, slices, first_only)
        others = [plain(encoder, item, first_only) for item in slices]
    assert all(state.dtype == torch.float32 for states in actual for state in states)
    ours, theirs = (gradients(encoder, weighted_sum(states, slices)) for states in (actual, others))

    def error(of):
        return sum((of[name] - value).square().sum().item() for name, value in exact.items()) ** 0.5

    size = sum(value.square().sum().item() for value in exact.values()) ** 0.5
    assert error(theirs) > 0
    assert error(ours) < min(1.5 * error(theirs), 0.05 * size)


def test_only_plain_bert_goes_this_way():
    settings = {**CONFIG, "pad_token_id": 0}
    assert is_known(BertModel(BertConfig(**settings)))
    assert not is_known(BertModel(BertConfig(**settings, is_decoder=True)))
    assert not is_known(RobertaModel(RobertaConfig(**settings)))


@pytest.mark.parametrize("p", [0.1, 0.3, 0.5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
def test_rate_scale_and_gradient(p, dtype):
    torch.manual_seed(0)
    x = torch.ones(301, 333, dtype=dtype, requires_grad=True)
    y = BitDropout(p)(x)
    zero = (y == 0).double().mean().item()
    assert zero == pytest.approx(p, abs=4 * (p * (1 - p) / x.numel()) ** 0.5)
    assert y.max().item() == pytest.approx(1 / (1 - p), rel=1e-2 if dtype == torch.bfloat16 else 1e-4)
    y.sum().backward()
    torch.testing.assert_close(x.grad, y.detach())


def test_the_four_numbers_of_a_draw_are_independent():
    torch.manual_seed(1)
    kept = (BitDropout(0.5)(torch.ones(400_000)) != 0).double().reshape(-1, 4)
    for lane in range(4):
        assert kept[:, lane].mean().item() == pytest.approx(0.5, abs=4 * 0.5 / 100_000**0.5)
    correlation = torch.corrcoef(kept.T) - torch.eye(4)
    assert correlation.abs().max().item() < 5 / 100_000**0.5


def test_seeded_and_off_in_evaluation():
    x, layer = torch.randn(7, 5), BitDropout(0.2)
    torch.manual_seed(3)
    first = layer(x)
    torch.manual_seed(3)
    assert torch.equal(layer(x), first) and not torch.equal(layer(x), first)
    assert torch.equal(layer.eval()(x), x) and torch.equal(BitDropout(0.0)(x), x)


def losses(store, encoder, out, **values):
    _, events = logged_run(store, encoder, out, {"steps": 4, "dropout": 0.0} | values)
    return [event["loss"] for event in events if event["event"] == "step"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_the_same_losses(tiny_store, tiny_encoder, tmp_path, precision):
    try:
        check_compiler()
    except MissingError as error:
        pytest.skip(str(error))
    plain = losses(tiny_store, tiny_encoder, tmp_path / "plain", precision=precision)
    compiled = losses(tiny_store, tiny_encoder, tmp_path / "compiled", precision=precision, compile=True)
    assert len(plain) == 4
    assert compiled == pytest.approx(plain, rel=1e-4 if precision == "fp32" else 3e-2)


def test_without_a_compiler_the_run_does_not_begin(tiny_store, tiny_encoder, tmp_path, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(MissingError, match=r"no-such-compiler.*apt-get install g\+\+.*compile = false"):
        losses(tiny_store, tiny_encoder, tmp_path / "run", compile=True)
    assert not (tmp_path / "run").exists()


@pytest.fixture
def start_encoder(tiny_encoder, tmp_path):
    """A folder of its own, whose vectors have length 1."""
    found = load_encoder(tiny_encoder)
    found.modules = [to_length_one]
    export(found, tmp_path / "encoder")
    return tmp_path / "encoder"


def begin(folder):
    return start(folder, make_recipe({}), torch.device("cpu"))


def test_vectors_of_length_one_come_out_of_a_training(start_encoder, tiny_store, tmp_path):
    assert begin(start_encoder).modules == [to_length_one]
    logged_run(tiny_store, start_encoder, tmp_path / "run", {"steps": 2, "head": "tanh"})
    for out in ("best", "last"):
        assert load_encoder(tmp_path / "run" / out).modules == [to_length_one]


def test_steps_that_training_would_lose_are_refused(start_encoder):
    (start_encoder / "2_Dense").mkdir()
    sizes = {"in_features": 32, "out_features": 32, "bias": False}
    (start_encoder / "2_Dense/config.json").write_text(json.dumps(sizes))
    save_file({"linear.weight": torch.eye(32)}, start_encoder / "2_Dense/model.safetensors")
    modules = json.loads((start_encoder / "modules.json").read_text())
    modules[-1] |= {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    (start_encoder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(UsageError, match="steps after the pooling besides Normalize"):
        begin(start_encoder)


def test_lower_case_that_training_would_not_see_is_refused(start_encoder):
    def change(name, **values):
        path = start_encoder / name
        path.write_text(json.dumps(json.loads(path.read_text()) | values))

    change("sentence_bert_config.json", do_lower_case=True)
    assert begin(start_encoder).lower_case  # its tokenizer does so anyway
    export(load_encoder(start_encoder), start_encoder.with_name("again"))
    assert load_encoder(start_encoder.with_name("again")).lower_case
    words = json.loads((start_encoder / "tokenizer.json").read_text())
    change("tokenizer.json", normalizer=words["normalizer"] | {"lowercase": False})
    change("tokenizer_config.json", do_lower_case=False)
    with pytest.raises(UsageError, match="in lower case before its tokenizer"):
        begin(start_encoder)


PROMPTS = {"query": "find this: ", "document": "a text: "}
BOTH = {"corpus": "query", "una": "document"}
VALUES = {"positives": ["una"], "labels": "kind", "only_changed": ["una"], "dropout": 0.0}


@pytest.fixture
def prompted(tiny_encoder, tmp_path):
    """A folder with prompts, of which none is the default."""

    def make(pooling="mean", pooled=True, default=None):
        start_encoder = load_encoder(tiny_encoder, pooling=pooling)
        export(start_encoder, tmp_path / "plain")
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
    return Store.open(store).read(stage)["text"].to_pylist()


@pytest.mark.parametrize("fast", [True, pytest.param(False, marks=pytest.mark.slow)])
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


def test_prompts_that_make_no_sense_are_refused(prompted, tiny_store, tmp_path):
    folder = prompted(pooled=False)
    for prompts, message in [
        ({"pi": "query"}, "prompts: 'pi' is not read; the columns are corpus, una"),
        ({"corpus": "passage"}, "prompt 'passage': encoder has the prompts query, document; name one"),
        (BOTH, "name the same one for all columns"),
    ]:
        with pytest.raises(UsageError, match=message):
            in_training(folder, tiny_store, tmp_path / "run", {"prompts": prompts})
    assert load_recipe("simcse", ["prompts.corpus=query"]).prompts == {"corpus": "query"}
    assert "prompts" not in load_recipe("simcse").as_json()  # as in checkpoints of before there were any
