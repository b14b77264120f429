"""Texts as arrays, the token-id cache, slices and padding."""

import itertools
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

import augment_cli
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.session import Session
from augment_cli.store.parquet import AUGMENTATION
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from train.data.padding import Piece, in_a_bag, length_sorted_slices, with_special
from train.data.texts import NO_TEXT, Texts, text_ids
from train.data.tokens import cache_tokens, special_ids, stage_draws


def test_token_ids_are_the_tokenizers(tiny_store, stages, tokenizer):
    store = Store.open(tiny_store)
    texts, ids = (store.read(stage) for stage in ("una", stages["una"][0]))
    assert ids["row_id"].to_pylist() == texts["row_id"].to_pylist()
    for text, row in zip(texts["text"].to_pylist(), ids["ids"].to_pylist(), strict=True):
        assert row == (None if text is None else tokenizer(text, add_special_tokens=False)["input_ids"])


def test_token_ids_of_a_tokenizer_that_joins_words_are_its_own_too(store_copy, tiny_encoder):
    joining = AutoTokenizer.from_pretrained(tiny_encoder)
    store = Store.open(store_copy)
    texts = store.read("una")["text"].to_pylist()
    pair = " ".join(next(text for text in texts if text).split()[:2])
    joining.add_tokens([pair])
    (name,) = [cache_tokens(store, draw, joining) for draw in stage_draws(store, "una")[:1]]
    ids = store.read(name)["ids"].to_pylist()
    assert any(joining.convert_tokens_to_ids(pair) in (row or []) for row in ids)
    assert ids == [
        None if text is None else joining(text, add_special_tokens=False)["input_ids"] for text in texts
    ]


def test_a_stage_that_only_has_the_name_of_a_draw_is_none(store_copy):
    """`word-deletion --name una.1` would be trained on as UNA's negatives."""
    store, settings = Store.open(store_copy), Settings("word-deletion", 1, {"draw": 0})
    assert stage_draws(store, "una") == ["una", "una.1"]
    with store.lock():
        rows = {part: store.read_part("una.1", part) for part in store.stage("una.1").parts}
        store.remove("una.1")
        for part in store.begin("una.1", settings):
            store.commit(store.write_part("una.1", part, AUGMENTATION, [rows[part]], settings))
    assert stage_draws(store, "una") == ["una"]
    with pytest.raises(UsageError, match="is the number of a further draw"):
        augment_cli.run("word-deletion", store_copy, stage="una.1", jobs=1)


def test_files_appended_to_the_corpus_are_cached_as_further_parts(store_copy, tokenizer, tmp_path):
    store = Store.open(store_copy)
    name = cache_tokens(store, "corpus", tokenizer)
    before = [store.part_path(name, index).read_bytes() for index in range(len(store.parts))]
    (tmp_path / "more.txt").write_text("the heron waits near the bridge\n")
    with Session(store_copy, Engine(1)) as session:
        session.append([tmp_path / "more.txt"])
    store = Store.open(store_copy)
    with pytest.raises(UsageError, match="no finished stage 'una'"):
        stage_draws(store, "una")
    assert cache_tokens(store, "corpus", tokenizer) == name
    assert [store.part_path(name, index).read_bytes() for index in range(len(before))] == before
    assert store.read(name)["row_id"].to_pylist() == list(range(store.rows))


def test_cached_once_and_again_when_the_tokenizer_changes(store_copy, tokenizer, tiny_encoder):
    store = Store.open(store_copy)
    name = cache_tokens(store, "corpus", tokenizer)
    before = store.part_path(name, 0).stat().st_mtime_ns
    assert cache_tokens(Store.open(store_copy), "corpus", tokenizer) == name
    assert store.part_path(name, 0).stat().st_mtime_ns == before
    other = AutoTokenizer.from_pretrained(tiny_encoder)
    other.add_tokens(["zebra"])
    assert cache_tokens(Store.open(store_copy), "corpus", other) != name


def test_texts_made_again_are_tokenised_again(store_copy, tokenizer, replace_stage):
    name = cache_tokens(Store.open(store_copy), "aa", tokenizer)
    replace_stage(store_copy, "aa", lambda row, text: "other words")
    store = Store.open(store_copy)
    assert cache_tokens(store, "aa", tokenizer) == name
    expected = tokenizer("other words", add_special_tokens=False)["input_ids"]
    assert store.read(name)["ids"].to_pylist() == [expected] * store.rows


@pytest.mark.parametrize(
    ("name", "command"),
    [("paraphrase", "paraphrase --store"), ("casual", "AUGMENTATION --name casual --store")],
)
def test_a_missing_stage_is_named_with_the_command(tiny_store, name, command):
    with pytest.raises(UsageError, match=f"augment-cli {command}"):
        stage_draws(Store.open(tiny_store), name)


def test_trainings_that_start_side_by_side_wait_for_each_others_token_ids(store_copy, tiny_encoder):
    names = []
    tokenizer = AutoTokenizer.from_pretrained(tiny_encoder)
    tokenizer.add_tokens(["yak"])  # no ids of this tokenizer are in the store yet

    def cache():
        names.append(cache_tokens(Store.open(store_copy), "una", tokenizer))

    trainings = [threading.Thread(target=cache) for _ in range(2)]
    with Store.open(store_copy).lock():
        for thread in trainings:
            thread.start()
        trainings[0].join(timeout=0.5)
        assert not names  # both wait for the writer that is there
    for thread in trainings:
        thread.join()
    assert len(set(names)) == 1 and len(names) == 2
    assert Store.open(store_copy).has(names[0])


text = st.none() | st.lists(st.integers(0, 3), max_size=4)
lists = st.lists(text, max_size=6)


def texts_of(rows):
    return Texts.of([None if row is None else np.array(row, dtype=np.int64) for row in rows])


def as_lists(texts):
    return [None if ids is None else ids.tolist() for ids in texts]


@given(lists, lists, st.data())
def test_texts_are_those_of_a_list(first, second, data):
    assert as_lists(texts_of(first)) == first
    both = Texts.joined([texts_of(first), Texts.missing(2), texts_of(second)])
    rows = [*first, None, None, *second]
    assert as_lists(both) == rows
    assert as_lists(both.or_empty()) == [row or [] for row in rows]
    places = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=8))
    assert as_lists(both.take(np.array(places, dtype=np.int64))) == [rows[place] for place in places]
    assert as_lists(both[1:]) == rows[1:]


@given(lists)
def test_equal_numbers_are_equal_texts(rows):
    """Small tokens, so that sums, products or orders of them would collide."""
    numbers = text_ids(texts_of(rows)).tolist()
    for row, number in zip(rows, numbers, strict=True):
        assert (number == NO_TEXT) == (row is None)
        assert number >= NO_TEXT
        assert [other == number for other in numbers] == [other == row for other in rows]


def padded(groups):
    return sum(len(group) * max(group) for group in groups)


def test_no_other_cut_costs_less():
    rng = np.random.default_rng(7)
    for _ in range(60):
        texts = [np.ones(n, dtype=np.int64) for n in rng.integers(1, 6, size=rng.integers(1, 9))]
        lengths = sorted(map(len, texts), reverse=True)
        count = int(rng.integers(1, 5))
        actual = length_sorted_slices(texts, count, pad=0)
        assert 1 <= len(actual) <= count
        least = min(
            padded(np.split(lengths, list(cuts)))
            for parts in range(min(count, len(texts)))
            for cuts in itertools.combinations(range(1, len(texts)), parts)
        )
        assert sum(item.ids.numel() for item in actual) == least


def test_truncation_and_special_tokens_are_the_tokenizers(tokenizer):
    before, after = special_ids(tokenizer)
    text = "One two three four five six seven eight nine ten eleven twelve."
    bare = np.array(tokenizer(text, add_special_tokens=False)["input_ids"])
    for length in range(2, 40):
        expected = tokenizer(text, truncation=True, max_length=length)["input_ids"]
        one, none, other = with_special([bare, None, bare[:1]], before, after, length)
        assert one.tolist() == expected and none is None
        assert other.tolist() == [*before, *bare[: max(0, length - 2)][:1], *after]


def test_slices_keep_every_token_in_its_place():
    rng = np.random.default_rng(0)
    texts = [rng.integers(5, 100, size=n) for n in rng.integers(1, 33, size=37)]
    for count in (1, 2, 4, 37, 100):
        slices = length_sorted_slices(texts, count, pad=0)
        places = np.concatenate([item.places.numpy() for item in slices])
        assert sorted(places) == list(range(37))
        for item in slices:
            for row, place in enumerate(item.places.tolist()):
                assert item.ids[row][item.mask[row].bool()].tolist() == texts[place].tolist()
        widths = [item.ids.shape[1] for item in slices]
        assert widths == sorted(widths, reverse=True)


def test_a_bag_holds_what_slices_hold():
    rng = np.random.default_rng(1)
    lengths = rng.integers(0, 9, size=40)
    texts = [rng.integers(5, 100, size=n) if rng.random() < 0.8 else None for n in lengths]
    (bag,) = in_a_bag(texts)
    for views in (1, 2, 5):  # of which the first is the anchor
        expected = {
            place // views: ids.tolist()
            for place, ids in enumerate(texts)
            if ids is not None and (views == 1 or place % views == 0)
        }
        pieces: list[Piece] = [bag, *length_sorted_slices(texts, 3, pad=0)]
        held = []
        for piece in pieces if views == 1 else [piece.anchors(views) for piece in pieces]:
            flat = piece.bagged()
            parts = [part.tolist() for part in flat.ids.split(flat.lengths.tolist())]
            held.append(dict(zip(flat.places.tolist(), parts, strict=True)))
        assert held[0] == expected == held[1] | held[2] | held[3]
    assert in_a_bag([None, None]) == []
