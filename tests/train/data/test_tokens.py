"""The token-id cache."""

import threading

import pytest
from transformers import AutoTokenizer

import augment_cli
from augment_cli.engine.engine import Engine
from augment_cli.errors import UsageError
from augment_cli.session import Session
from augment_cli.store.parquet import AUGMENTATION
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store
from train.data.tokens import cache_tokens, stage_draws


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
