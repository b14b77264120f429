"""Encoding: batches, lengths, precision, prompts, poolings and the cache, against libraries and slow ways."""

import json
import shutil
import zipfile
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers

from augment_cli.encoding import transforms
from augment_cli.encoding.dense import with_steps
from augment_cli.encoding.encoder import Encoder
from augment_cli.encoding.fast.bert import linear
from augment_cli.encoding.fast.table import ByToken
from augment_cli.encoding.layout import Prompts, read_prompts, with_prompt
from augment_cli.encoding.loading import load_encoder
from augment_cli.encoding.pooling import MODES, canonical, needs_all_layers, pool
from augment_cli.encoding.static import StaticTable
from augment_cli.encoding.words_apart import PlainWords, WordTokens, keeps_words_apart
from augment_cli.errors import BadInputError, UsageError
from augment_cli.neural import fast
from tests.helpers.properties import examples
from tests.helpers.small_encoders import as_old_layout, with_prompts
from train.methods.whitening import as_step


def one_at_a_time(encoder, texts, mode):
    rows = []
    for text in texts:
        batch = encoder.tokenizer(text, return_tensors="pt", truncation=True, max_length=encoder.max_length)
        with torch.no_grad():
            states = encoder.model(**batch, output_hidden_states=True).hidden_states
        rows.append(pool(states, batch["attention_mask"], mode)[0].numpy())
    return np.stack(rows)


@pytest.mark.parametrize("mode", MODES)
def test_encoding_equals_transformers_one_sentence_at_a_time(plain_model, sentences, mode):
    encoder = load_encoder(plain_model, pooling=mode)
    texts = sentences[:20]
    expected = one_at_a_time(encoder, texts, mode)
    np.testing.assert_allclose(encoder.encode(texts, batch_tokens=40), expected, atol=2e-5)


@pytest.mark.parametrize(
    ("precision", "mode", "apart"),
    [("fp32", "mean", 1e-5), ("fp32", "first-last+cls", 1e-5), ("bf16", "max", 0.15)],
)
def test_layers_without_padding_are_the_models_own(
    plain_model, sentences, monkeypatch, precision, mode, apart
):
    encoder = load_encoder(plain_model, pooling=mode, precision=precision)
    with monkeypatch.context() as patch:
        patch.setattr("augment_cli.encoding.encoder.is_known", lambda model: False)
        expected = encoder.encode(sentences, batch_tokens=60)
    monkeypatch.setattr(encoder.model, "forward", None)  # is not called
    np.testing.assert_allclose(encoder.encode(sentences, batch_tokens=60), expected, atol=apart)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_linear_layer_takes_any_number_of_rows(dtype):
    torch.manual_seed(0)
    weight, bias = torch.randn(48, 32, dtype=dtype), torch.randn(48, dtype=dtype)
    with torch.inference_mode():
        layer = linear(weight, bias)
        for rows in (1, 7, 2048, 3000):
            x = torch.randn(rows, 32, dtype=dtype)
            torch.testing.assert_close(layer(x), torch.nn.functional.linear(x, weight, bias))


def test_equal_texts_are_encoded_once_and_order_does_not_matter(plain_model, sentences):
    encoder = load_encoder(plain_model)
    seen = []
    vectors = encoder.encode([*sentences, *sentences], progress=seen.append)
    assert sum(seen) == len(set(sentences))
    np.testing.assert_array_equal(vectors[: len(sentences)], vectors[len(sentences) :])
    np.testing.assert_allclose(encoder.encode(sentences[::-1])[::-1], vectors[: len(sentences)], atol=1e-5)
    np.testing.assert_array_equal(encoder.encode(sentences), encoder.encode(sentences))


def test_empty_text_is_its_special_tokens_and_nothing_gives_nothing(plain_model):
    encoder = load_encoder(plain_model)
    empty, blank = encoder.encode(["", "  "])
    np.testing.assert_array_equal(empty, blank)
    np.testing.assert_allclose(empty, one_at_a_time(encoder, [""], "mean")[0], atol=2e-6)
    assert encoder.encode([]).shape == (0, 32)


def test_empty_text_without_special_tokens_is_a_zero_vector(plain_model):
    encoder = load_encoder(plain_model)
    encoder.tokenizer.backend_tokenizer.post_processor = None
    vectors = encoder.encode(["", "the dog"])
    encoder.tokenizer = None
    assert not vectors[0].any()
    assert np.isfinite(vectors).all()


def test_length_limit_cuts_and_unlimited_does_not(plain_model):
    long, short = "the old man plays the guitar in the house", "the old man"
    cut = load_encoder(plain_model, max_length=5)
    first, second = cut.encode([long, short])
    np.testing.assert_allclose(first, second, atol=1e-6)
    first, second = load_encoder(plain_model).encode([long, short])
    assert np.abs(first - second).max() > 0.01
    for length in (65, 0):
        with pytest.raises(UsageError, match="takes 1 to 64 tokens"):
            load_encoder(plain_model, max_length=length)


def test_a_model_in_training_mode_is_encoded_without_dropout_and_left_in_it(plain_model, sentences):
    loaded = load_encoder(plain_model)
    expected = loaded.encode(sentences)
    loaded.model.train()
    np.testing.assert_array_equal(loaded.encode(sentences), expected)
    assert loaded.model.training


def test_texts_must_be_strings(plain_model):
    with pytest.raises(UsageError, match="text 1 is a NoneType, not a string; give a list of strings"):
        load_encoder(plain_model).encode(["the dog", None])


VOCABULARY = ["[UNK]", "[PAD]", *"abcxyz.,-!", "##a", "##b", "##c", "ab", "##ab", "中", "é", "e"]


def make_tokenizer():
    tokenizer = Tokenizer(
        models.WordPiece({word: number for number, word in enumerate(VOCABULARY)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.BertNormalizer(lowercase=True),
            normalizers.Replace(Regex(r"[^\s\x{21}-\x{7e}中]"), " "),
            normalizers.Replace(Regex(r"\w{101,}"), " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens([AddedToken("[PAD]", special=True)])
    return tokenizer


def are_those_of_texts(found, tokenizer, texts):
    expected = [item.ids for item in tokenizer.encode_batch(texts, add_special_tokens=False)]
    ids, lengths = found
    assert lengths.tolist() == list(map(len, expected))
    return ids.tolist() == list(chain.from_iterable(expected))


TOKENIZER = make_tokenizer()
PIECES = [*"abcxyzABC.,-!#09[] \t\n\r\x1c\x85\u00a0\u2028\u0301\u200b中éñΣ", "[PAD]", "a" * 60]
TEXTS = st.lists(st.sampled_from(PIECES)).map("".join)


@given(st.lists(st.lists(TEXTS, max_size=6), min_size=1, max_size=4), st.sampled_from([0, 3, 1000]))
@example([["a b", "", "  a  ", "[PAD]a", "a\tb c", "A\u0301 \u0301a"], ["a b", "中a b"]], 4)
def test_tokens_of_words_are_those_of_texts(batches, room):
    tokens = WordTokens(TOKENIZER, room)
    for texts in batches:  # one after the other, as words of earlier ones are kept
        assert are_those_of_texts(tokens(texts), TOKENIZER, texts)


@pytest.mark.parametrize(
    ("normalizer", "is_plain"),
    [
        (None, True),
        (normalizers.BertNormalizer(lowercase=False), True),
        (normalizers.BertNormalizer(lowercase=True), True),
        (normalizers.Replace(Regex(r"[^\s\x{41}-\x{7e}]"), " "), False),  # without digits
    ],
)
def test_plain_words_are_those_that_the_normalizer_leaves_alone(normalizer, is_plain):
    tokenizer = make_tokenizer()
    tokenizer.normalizer = normalizer
    tokens = WordTokens(tokenizer)
    assert PlainWords.fits(tokenizer) == (tokens._plain is not None) == is_plain
    texts = ["ab ABx a-b, 0a9 ##a", "a" * 101 + " [pad]b [PAD]a", *["a b c"] * 3]
    assert are_those_of_texts(tokens(texts), tokenizer, texts)


def replacing(pattern, content=" "):
    return lambda one: setattr(one, "normalizer", normalizers.Replace(pattern, content))


@pytest.mark.parametrize(
    "change",
    [
        lambda one: setattr(one, "pre_tokenizer", pre_tokenizers.Metaspace()),
        lambda one: setattr(one, "pre_tokenizer", pre_tokenizers.ByteLevel()),
        lambda one: setattr(one, "pre_tokenizer", None),
        lambda one: setattr(one, "model", models.BPE()),
        lambda one: setattr(one, "normalizer", normalizers.Prepend("a")),
        lambda one: one.add_tokens(["a b"]),
        replacing(" a"),
        replacing(Regex(r"[^\s]x?[ ]")),
        replacing(Regex(r"\w{101,}"), ""),
    ],
)
def test_other_tokenizers_are_left_alone(change):
    tokenizer = make_tokenizer()
    assert keeps_words_apart(tokenizer)
    change(tokenizer)
    assert not keeps_words_apart(tokenizer)


PROMPTS = {"query": "the dog runs : ", "document": "town ", "none": ""}
KINDS = ("cls_token", "max_tokens", "mean_tokens", "mean_sqrt_len_tokens", "weightedmean_tokens", "lasttoken")


@pytest.fixture(scope="module", params=KINDS)
def by_pooling(request, plain_model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / request.param
    flags = {f"pooling_mode_{request.param}": True}
    return as_old_layout(plain_model, folder, flags, max_length=20)


@pytest.mark.parametrize("pooled", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_each_prompt_gives_the_librarys_vectors(by_pooling, tmp_path, sentences, pooled):
    folder = with_prompts(by_pooling, tmp_path / "model", PROMPTS, pooled=pooled)
    library = SentenceTransformer(str(folder), device="cpu")
    seen = []
    for name in PROMPTS:
        expected = library.encode(sentences, prompt_name=name)
        actual = load_encoder(folder, prompt_name=name).encode(sentences)
        np.testing.assert_allclose(actual, expected, atol=1e-5)
        seen.append(actual)
    plain = load_encoder(folder).encode(sentences)
    np.testing.assert_array_equal(seen[-1], plain)
    assert np.abs(seen[0] - plain).max() > 0.01 and np.abs(seen[0] - seen[1]).max() > 0.01


def test_the_cache_keeps_prompts_apart_and_knows_encoders_without_by_their_old_keys(old_layout, tmp_path):
    folder = with_prompts(old_layout, tmp_path / "model", PROMPTS, default="document")
    plain, query = load_encoder(folder), load_encoder(folder, prompt_name="query")
    assert set(plain.cache_key()) == {"digest", "pooling", "max_length", "precision"}
    assert query.cache_key() == plain.cache_key() | {"prompt": PROMPTS["query"]}
    assert load_encoder(folder, prompt_name="document").cache_key() == plain.cache_key()
    found = [one.encode(["a river"], cache=tmp_path / "cache") for one in (plain, query, plain)]
    assert np.array_equal(found[0], found[2]) and not np.array_equal(found[0], found[1])
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_a_prompt_that_there_is_not_is_refused_with_those_that_there_are(old_layout, tmp_path):
    folder = with_prompts(old_layout, tmp_path / "model", PROMPTS)
    with pytest.raises(UsageError, match=r"prompt 'passage': .* has the prompts query, document, none"):
        load_encoder(folder, prompt_name="passage")
    with pytest.raises(UsageError, match=r"prompt 'query': .* has no prompts; leave it out"):
        load_encoder(old_layout, prompt_name="query")


def test_damaged_prompts_are_the_files_fault(old_layout, tmp_path):
    folder = shutil.copytree(old_layout, tmp_path / "model")
    for settings in ({"prompts": ["query: "]}, {"prompts": {}, "default_prompt_name": "query"}):
        (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
        with pytest.raises(BadInputError, match="has settings of another kind"):
            load_encoder(folder)


def test_a_folder_with_a_prompt_leaves_its_model_as_it_was(tiny_encoder, tmp_path):
    before = {path.name: path.read_bytes() for path in Path(tiny_encoder).iterdir() if path.is_file()}
    made = with_prompt(Path(tiny_encoder), "query: ", tmp_path / "start")
    assert with_prompt(Path(tiny_encoder), "query: ", tmp_path / "start") == made
    assert read_prompts(made) == Prompts({"text": "query: "}, "text")
    other = with_prompt(Path(tiny_encoder), "passage: ", tmp_path / "start")
    assert read_prompts(other).text() == "passage: "
    after = {path.name: path.read_bytes() for path in Path(tiny_encoder).iterdir() if path.is_file()}
    assert after == before


def test_cache_answers_without_the_model_and_is_keyed_by_all_that_matters(plain_model, sentences, tmp_path):
    encoder = load_encoder(plain_model)
    first = encoder.encode(sentences[:40], cache=tmp_path)
    encoder.model = None  # any further use of the model fails
    np.testing.assert_array_equal(encoder.encode(sentences[:40], cache=tmp_path), first)
    with pytest.raises(AttributeError):
        encoder.encode(["something else"], cache=tmp_path)
    keys = [json.dumps(load_encoder(plain_model).cache_key())]
    for changed in ({"pooling": "cls"}, {"max_length": 8}, {"precision": "bf16"}):
        keys.append(json.dumps(load_encoder(plain_model, **changed).cache_key()))
    assert len(set(keys)) == 4
    again = load_encoder(plain_model)
    grown = again.encode(sentences, cache=tmp_path)
    np.testing.assert_allclose(grown, again.encode(sentences), atol=1e-5)


def flipped(path):
    raw = bytearray(path.read_bytes())
    raw[len(raw) // 2] ^= 1
    path.write_bytes(raw)


def spoiled_header(path):
    """The header of an array, which is Python, has brackets that nothing closes."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    data = members["vectors.npy"]
    end = data.index(b"\n")
    members["vectors.npy"] = data[:10] + b"(" * (end - 10) + data[end:]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def narrower(path):
    with np.load(path) as arrays:
        digests, vectors = arrays["digests"], arrays["vectors"]
    np.savez(path, digests=digests, vectors=vectors[:, :-1])


@pytest.mark.parametrize("spoil", [flipped, spoiled_header, narrower])
def test_a_spoiled_cache_file_is_named_in_one_line_and_never_used(spoil, plain_model, sentences, tmp_path):
    expected = load_encoder(plain_model).encode(sentences, cache=tmp_path)
    (path,) = tmp_path.rglob("*.npz")
    spoil(path)
    with pytest.raises(BadInputError, match=f"{path.name} is damaged .* delete it") as raised:
        load_encoder(plain_model).encode(sentences, cache=tmp_path)
    assert "\n" not in str(raised.value)
    path.unlink()
    again = load_encoder(plain_model).encode(sentences, cache=tmp_path)
    np.testing.assert_allclose(again, expected, atol=1e-5)


def test_a_model_in_training_has_no_digest_and_is_never_cached(plain_model, tmp_path):
    loaded = load_encoder(plain_model)
    live = Encoder(loaded.model, loaded.tokenizer, pooling="cls", max_length=32)
    assert live.encode(["the dog"]).shape == (1, 32)
    with pytest.raises(UsageError, match="no model digest"):
        live.encode(["the dog"], cache=tmp_path)


def reference(layers: list[np.ndarray], mode: str) -> np.ndarray:
    """One sentence without padding; `layers` are (tokens, d), the embedding output first."""
    last = layers[-1]
    position = np.arange(1, len(last) + 1)[:, None]
    return {
        "cls": lambda: last[0],
        "mean": lambda: last.mean(0),
        "max": lambda: last.max(0),
        "first-last": lambda: ((layers[0] + last) / 2).mean(0),
        "first-last-1": lambda: ((layers[1] + last) / 2).mean(0),
        "static": lambda: layers[0].mean(0),
        "weighted-mean": lambda: (last * position).sum(0) / position.sum(),
        "mean-sqrt-length": lambda: last.sum(0) / np.sqrt(len(last)),
        "last-token": lambda: last[-1],
    }[mode]()


@pytest.mark.parametrize("mode", MODES)
@examples(25)
@given(
    lengths=st.lists(st.integers(0, 6), min_size=1, max_size=4), left=st.booleans(), seed=st.integers(0, 999)
)
def test_every_mode_equals_the_reference_whatever_the_padding(mode, lengths, left, seed):
    generator = np.random.default_rng(seed)
    width, layers = max(lengths) + 1, 3
    states = generator.normal(size=(layers, len(lengths), width, 5))  # padding holds garbage on purpose
    mask = np.zeros((len(lengths), width), dtype=int)
    expected = []
    for row, length in enumerate(lengths):
        place = slice(width - length, width) if left else slice(0, length)
        mask[row, place] = 1
        tokens = [states[layer, row, place] for layer in range(layers)]
        expected.append(reference(tokens, mode) if length else np.zeros(5))
    got = pool([torch.tensor(layer) for layer in states], torch.tensor(mask), mode)
    np.testing.assert_allclose(got.numpy(), np.stack(expected), atol=1e-12)


def test_joined_modes_are_concatenated_and_other_names_are_understood():
    tokens, mask = torch.randn(2, 3, 4), torch.ones(2, 3)
    joined = pool(tokens, mask, "cls_before_pooler+avg")
    assert torch.equal(joined, torch.cat([pool(tokens, mask, "cls"), pool(tokens, mask, "mean")], dim=1))
    assert canonical("avg_first_last+lasttoken") == "first-last+last-token"
    assert needs_all_layers("mean+static")
    assert not needs_all_layers("mean+max")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: canonical("median"), "unknown pooling 'median'; choose one of cls, mean"),
        (lambda: pool(torch.randn(1, 2, 3), torch.ones(1, 2), "first-last"), "output_hidden_states=True"),
        (lambda: transforms.fit(np.ones((5, 3))), "these are all equal"),
        (lambda: transforms.fit(np.ones((1, 3))), "at least two sentences, not 1"),
    ],
)
def test_what_cannot_be_pooled_or_whitened_is_said(call, words):
    with pytest.raises(UsageError, match=words):
        call()


def test_stored_whitening_gives_the_same_here_and_in_sentence_transformers(
    old_layout, plain_model, sentences, tmp_path
):
    from sentence_transformers import SentenceTransformer

    fitted = transforms.fit(load_encoder(old_layout).encode(sentences), dimension=4)
    expected = fitted(load_encoder(old_layout).encode(sentences))
    target = tmp_path / "whitened"
    with_steps(old_layout, target, [as_step(fitted)])
    ours = load_encoder(target).encode(sentences)
    np.testing.assert_allclose(ours, expected, atol=1e-4)
    theirs = SentenceTransformer(str(target), device="cpu").encode(sentences, show_progress_bar=False)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)
    with pytest.raises(UsageError, match="exists; name a new folder"):
        with_steps(old_layout, target, [])
    with pytest.raises(BadInputError, match=r"has no modules\.json"):
        with_steps(plain_model, tmp_path / "other", [])


@pytest.mark.parametrize("known", [False, True])
@given(st.lists(st.lists(st.integers(0, 6), max_size=5), min_size=1, max_size=6))
def test_both_ways_have_the_same_sums_and_gradients(known, texts):
    lengths = np.array([len(text) for text in texts])
    flat = np.array([token for text in texts for token in text], np.int64)
    ids, offsets = torch.from_numpy(flat), torch.from_numpy(lengths.cumsum() - lengths)
    weights = torch.linspace(0.5, 2.0, 7, dtype=torch.float64)
    found = []
    for on in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fast, "_wanted", on)
            if not on:
                patch.setattr("augment_cli.encoding.static.weighted_sums", None)  # is not called
            torch.manual_seed(0)
            table = StaticTable(torch.randn(7, 3, dtype=torch.float64))
            by_token = ByToken.of(flat, lengths) if known else None
            vectors = table(ids, offsets, weights, by_token)
            (vectors * torch.arange(1, 3 * len(texts) + 1).view(-1, 3)).sum().backward()
            assert table.embedding.weight.grad.is_sparse
            found.append((vectors.detach(), table.embedding.weight.grad.to_dense()))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-12, atol=1e-12)
