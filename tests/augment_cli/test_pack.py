"""`pack`: the wide table, what becomes of unchanged rows, and sentence-transformers training on it."""

import pytest

from augment_cli.engine.engine import Engine
from augment_cli.errors import MixError, UsageError
from augment_cli.pack import PackOptions, choose, pack, read_pack_recipe
from augment_cli.reports.soundness import verify, why_not_reused
from augment_cli.runs.run import make_run
from augment_cli.session import Session
from augment_cli.store import schema
from augment_cli.store.settings import Settings
from augment_cli.store.store import Store


@pytest.fixture
def mixed(store):
    """The store with a stage of positives in which every third row is unchanged."""
    import pyarrow as pa

    settings = Settings("uda", 1, {"draw": 0}, 42)
    with store.lock():
        for index in store.begin("uda", settings):
            rows = store.read_part("corpus", index)["text"].to_pylist()
            ids = store.read_part("corpus", index)["row_id"].to_pylist()
            texts = [None if row % 3 == 0 else text.upper() for row, text in zip(ids, rows, strict=True)]
            columns = [ids, texts, ["same_text" if text is None else None for text in texts], [[]] * len(ids)]
            table = pa.table([*map(pa.array, columns)], names=schema.AUGMENTATION.names)
            statistics = {"changed": 0, "edits": 0, "reasons": {}, "sums": {}}
            part = store.write_part("uda", index, schema.AUGMENTATION, [table], settings, statistics)
            store.commit(part)
    return store


def packed(store, options, name="pack", jobs=1):
    with store.lock():
        pack(store, options, name, Engine(jobs))
    return store.read(name).to_pylist()


def test_by_default_everything_finished_by_kind(mixed):
    options = choose(mixed)
    assert options == PackOptions(("uda",), ("una", "una.1"), "drop")
    rows = packed(mixed, options)
    originals, una, una_1 = (mixed.read(name)["text"].to_pylist() for name in ("corpus", "una", "una.1"))
    assert rows == [
        {"anchor": text, "positive": text.upper(), "negative": una[row], "negative_1": una_1[row]}
        for row, text in enumerate(originals)
        if row % 3 and una[row] is not None and una_1[row] is not None
    ]
    assert verify(mixed) == [] and why_not_reused(mixed, "pack") is None


def test_the_anchor_may_stand_in(mixed):
    rows = packed(mixed, choose(mixed, ["uda"], ["una"], "anchor"))
    originals = mixed.read("corpus")["text"].to_pylist()
    assert [row["anchor"] for row in rows] == originals
    assert all((row["positive"] == row["anchor"]) == (number % 3 == 0) for number, row in enumerate(rows))


def test_several_positives_give_rows_several_negatives_columns(mixed):
    rows = packed(mixed, choose(mixed, ["corpus", "uda"], ["una"]))
    originals = mixed.read("corpus")["text"].to_pylist()
    own = [row for row in rows if row["positive"] == row["anchor"]]
    assert [row["anchor"] for row in own] == originals
    assert len(rows) == 60 + 40
    statistics = [part.statistics for part in mixed.stage("pack").parts.values()]
    assert sum(part["dropped"] for part in statistics) == 20


def test_without_positives_the_anchor_is_its_own(store):
    assert choose(store) == PackOptions(("corpus",), ("una", "una.1"))


def test_any_jobs_and_resume(mixed):
    options = choose(mixed)
    packed(mixed, options)
    packed(mixed, options, "pack-2", jobs=2)
    assert mixed.stage("pack").digest == mixed.stage("pack-2").digest
    mixed.part_path("pack", 1).unlink()
    packed(mixed, options)
    assert mixed.stage("pack").digest == mixed.stage("pack-2").digest
    with pytest.raises(MixError, match=r'parameters\.unchanged = "drop", now "anchor"'):
        packed(mixed, PackOptions(options.positives, options.negatives, "anchor"))


@pytest.mark.parametrize(
    "options",
    [{"positives": ["nowhere"]}, {"negatives": ["terms"]}, {"unchanged": "keep"}, {"negatives": []}],
)
def test_what_cannot_be_packed_is_refused(store, options):
    with pytest.raises(UsageError):
        choose(store, **options)


def test_recipes(tmp_path, mixed):
    recipe = tmp_path / "pack.toml"
    recipe.write_text('[pack]\npositives = ["corpus", "uda"]\nnegatives = ["una"]\nunchanged = "anchor"\n')
    assert choose(mixed, **read_pack_recipe(recipe)) == PackOptions(("corpus", "uda"), ("una",), "anchor")
    for text in ("", "[pack]\npositive = 1\n", '[pack]\npositives = "uda"\n', "[pack\n"):
        recipe.write_text(text)
        with pytest.raises(UsageError, match=r"pack\.toml"):
            read_pack_recipe(recipe)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_sentence_transformers_trains_a_step_on_it_as_it_is(mixed, tmp_path):
    """Its own trainer, one step, on the columns as they are."""
    import torch
    from datasets import load_dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer, pre_tokenizers
    from tokenizers.models import WordLevel
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.set_num_threads(1)
    packed(mixed, choose(mixed))
    data = load_dataset("parquet", data_dir=str(mixed.path / "pack"), split="train", cache_dir=str(tmp_path))
    assert data.column_names == ["anchor", "positive", "negative", "negative_1"]

    words = ["[PAD]", "[UNK]", "the", "river", "number", "flows", "by", "house"]
    tokenizer = Tokenizer(WordLevel({word: index for index, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]")
    fast.save_pretrained(tmp_path / "model")
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    BertModel(BertConfig(vocab_size=len(words), **sizes)).save_pretrained(tmp_path / "model")
    transformer = Transformer(str(tmp_path / "model"), max_seq_length=16)
    model = SentenceTransformer(modules=[transformer, Pooling(8)], device="cpu")

    before = [weight.detach().clone() for weight in model.parameters()]
    settings = SentenceTransformerTrainingArguments(
        output_dir=str(tmp_path / "run"),
        max_steps=1,
        per_device_train_batch_size=8,
        learning_rate=0.1,
        use_cpu=True,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    trainer = SentenceTransformerTrainer(
        model=model, args=settings, train_dataset=data, loss=MultipleNegativesRankingLoss(model)
    )
    result = trainer.train()
    assert result.global_step == 1
    assert 0 < result.training_loss < 100
    assert any(not torch.equal(old, new) for old, new in zip(before, model.parameters(), strict=True))


def test_pipeline_packs_a_real_run(made_store, tmp_path):
    import shutil

    shutil.copytree(made_store, tmp_path / "store")
    with Session(tmp_path / "store", Engine(1)) as session:
        session.augment(make_run("uda", radius=4))
        session.pack(choose(session.store))
    assert Store.open(tmp_path / "store").stage("pack").rows > 0
