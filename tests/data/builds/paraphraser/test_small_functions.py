"""Small functions of the paraphraser's build on inputs that can be checked by eye."""

import random
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch

from data.builds.paraphraser import (
    baseline,
    evaluate,
    questions,
    start,
    synonyms,
    tokens,
    train,
    vocabulary,
    wikisplit,
)
from data.builds.paraphraser.wordnet import WordNet, load

SENTENCES = [
    "The cat sat on the mat because it was warm.",
    "In 1999, the old mill was sold to a farmer.",
    "Nobody knows where the river begins.",
    "She asked whether the train had left.",
] * 30
KNOWN = WordNet(
    senses={("big", "ADJ"): [1, 2], ("large", "ADJ"): [1], ("adult", "ADJ"): [2], ("odd", "ADJ"): [3]},
    members={("ADJ", 1): ["large", "big"], ("ADJ", 2): ["big", "adult", "full-grown"], ("ADJ", 3): ["odd"]},
    counts={("big", "ADJ"): [8, 1], ("large", "ADJ"): [5], ("adult", "ADJ"): [0], ("odd", "ADJ"): [2]},
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small vocabulary, learned here."""
    out = tmp_path_factory.mktemp("vocabulary")
    vocabulary.save(vocabulary.learn(iter(SENTENCES), 48), out)
    return out


def test_vocabulary_opens_as_pegasus_and_gives_text_back(folder: Path) -> None:
    from transformers import AutoTokenizer, PegasusTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert isinstance(tokenizer, PegasusTokenizer)
    assert tokenizer.convert_tokens_to_ids(vocabulary.SPECIAL) == [0, 1, 2, 3, 4]
    ids = tokenizer(SENTENCES[1])["input_ids"]
    assert ids[-1] == tokenizer.eos_token_id
    assert tokenizer.decode(ids, skip_special_tokens=True) == SENTENCES[1]


def test_rows_round_trip(folder: Path, tmp_path: Path) -> None:
    rows = tokens.encode(SENTENCES[:4], folder)
    assert len(rows) == 4 and all(rows.row(i)[-1] == train.END for i in range(4))
    tokens.save({"text": rows}, tmp_path / "rows.npz")
    again = tokens.load(tmp_path / "rows.npz")["text"]
    assert all(np.array_equal(rows.row(i), again.row(i)) for i in range(4))
    chosen = tokens.select(again, [2, 0])
    assert np.array_equal(chosen.row(0), rows.row(2)) and np.array_equal(chosen.row(1), rows.row(0))
    assert len(train.shorter(rows, int(rows.lengths.min()))) >= 1


def test_hidden_spans_leave_the_rest_in_order() -> None:
    row = np.array([*range(10, 60), train.END], dtype=np.uint16)
    hidden = [train.hide(row, 0.2, 2.0, np.random.default_rng(seed)) for seed in range(200)]
    kept = np.array([(h != train.MASK).sum() - 1 for h in hidden])
    assert 0.75 < kept.mean() / 50 < 0.88  # about a fifth is hidden, less where spans overlap or end
    for h in hidden:
        assert h[-1] == train.END
        visible = h[h != train.MASK]
        assert (np.diff(visible[:-1].astype(int)) > 0).all()
        assert not ((h[1:] == train.MASK) & (h[:-1] == train.MASK)).any()


def test_plan_is_an_epoch_within_budget_and_the_same_again() -> None:
    lengths = np.random.default_rng(0).integers(3, 50, size=500)
    taken, plan, again = 0, train.plan(lengths, 256, 7), train.plan(lengths, 256, 7)
    seen: list[int] = []
    while taken < len(lengths):
        batch = next(plan)
        assert np.array_equal(batch, next(again))
        assert len(batch) == 1 or len(batch) * lengths[batch].max() <= 256
        seen += batch.tolist()
        taken += len(batch)
    assert sorted(seen) == list(range(500))


def test_cross_entropy_and_its_gradient_are_torchs() -> None:
    scores = torch.randn(7, 11, generator=torch.Generator().manual_seed(1), requires_grad=True)
    labels = torch.tensor([0, 3, 10, 5, 5, 2, 1])
    ours = train.CrossEntropy.apply(scores, labels)
    (gradient,) = torch.autograd.grad(2 * ours, scores)
    reference = torch.nn.functional.cross_entropy(scores, labels)
    (expected,) = torch.autograd.grad(2 * reference, scores)
    assert torch.allclose(ours, reference, atol=1e-6)
    assert torch.allclose(gradient, expected, atol=1e-6)


def test_rate_warms_up_and_decays() -> None:
    phase = {"learning_rate": 1.0, "warmup_steps": 4, "decay_steps": 5, "steps": 20}
    rates = [train.rate(step, phase) for step in range(20)]
    assert rates[:4] == [0.25, 0.5, 0.75, 1.0]
    assert rates[10] == 1.0 and rates[19] == pytest.approx(0.2)


def test_turned_positions_are_those_of_the_neighbour() -> None:
    from transformers import PegasusConfig
    from transformers.models.pegasus.modeling_pegasus import PegasusSinusoidalPositionalEmbedding

    size = PegasusConfig(d_model=64).d_model
    positions = PegasusSinusoidalPositionalEmbedding(20, size).create_weight()
    start_frequencies, start.FREQUENCIES = start.FREQUENCIES, 8
    try:
        here, before = start.positions(size), start.positions(size, -1)
    finally:
        start.FREQUENCIES = start_frequencies
    assert torch.allclose(before @ positions[5], here @ positions[4], atol=1e-5)


def test_training_goes_on_where_it_was_stopped(folder: Path, tmp_path: Path) -> None:
    """A run cut in two has the weights of one that was not."""
    rows = tokens.encode(SENTENCES[:4], folder)
    settings = {
        "d_model": 64,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "encoder_attention_heads": 1,
        "decoder_attention_heads": 1,
        "encoder_ffn_dim": 32,
        "decoder_ffn_dim": 32,
        "max_position_embeddings": 64,
        "dropout": 0.0,
    }
    phase = {
        "steps": 6,
        "tokens": 64,
        "seed": 1,
        "learning_rate": 1e-3,
        "warmup_steps": 2,
        "decay_steps": 0,
        "betas": [0.9, 0.98],
        "weight_decay": 0.01,
        "log_every": 3,
        "checkpoint_every": 3,
    }

    def run(name: str, *stops: int) -> dict[str, torch.Tensor]:
        for steps in stops:
            from transformers import PegasusConfig, PegasusForConditionalGeneration

            torch.manual_seed(0)
            model = PegasusForConditionalGeneration(
                PegasusConfig(
                    vocab_size=48, pad_token_id=0, eos_token_id=1, decoder_start_token_id=0, **settings
                )
            )
            model.save_pretrained(tmp_path / "start")
            model = PegasusForConditionalGeneration.from_pretrained(tmp_path / "start")  # as fine-tuning does
            pairs_of = lambda numbers, _: [(rows.row(n), rows.row(n)) for n in numbers]  # noqa: E731
            train.train(model, rows.lengths, pairs_of, phase | {"steps": steps}, tmp_path / name)
        return model.state_dict()

    whole, cut = run("whole", 6), run("cut", 3, 6)
    assert all(torch.equal(whole[name], cut[name]) for name in whole)


def test_wordnet_reader(tmp_path: Path) -> None:
    for name in ("noun", "adj", "adv"):
        (tmp_path / f"index.{name}").write_text("  1 licence\n", encoding="utf-8")
        (tmp_path / f"data.{name}").write_text("  1 licence\n", encoding="utf-8")
    (tmp_path / "index.verb").write_text(
        "  1 licence\nbegin v 2 1 @ 2 2 00000020 00000030  \n", encoding="utf-8"
    )
    (tmp_path / "data.verb").write_text(
        "  1 licence\n00000020 30 v 02 begin 0 start 1 000 | set in motion | now\n"
        "00000030 30 v 01 begin 0 000 | x\n",
        encoding="utf-8",
    )
    (tmp_path / "cntlist.rev").write_text("begin%2:30:00:: 1 5\nbegin%2:30:01:: 2 1\n", encoding="utf-8")
    known = load(tmp_path)
    assert known.senses["begin", "VERB"] == [20, 30]
    assert known.members["VERB", 20] == ["begin", "start"]
    assert known.share(("begin", "VERB"), 20) == 6 / 8


def test_synonyms_are_usual_words_in_usual_senses() -> None:
    counts = Counter({("big", "ADJ"): 50, ("large", "ADJ"): 40, ("adult", "ADJ"): 40, ("odd", "ADJ"): 40})
    assert synonyms.candidates(("big", "ADJ"), KNOWN, counts) == ["large"]  # "adult" is a rare sense of "big"
    assert synonyms.candidates(("odd", "ADJ"), KNOWN, counts) == []
    assert synonyms.candidates(("big", "ADJ"), KNOWN, Counter({("large", "ADJ"): 2})) == []


@pytest.mark.parametrize(
    ("lemma", "tag", "like", "expected"),
    [
        ("start", "VBD", "began", "started"),
        ("child", "NNS", "Kids", "Children"),
        ("large", "JJ", "big", "large"),
    ],
)
def test_form(lemma: str, tag: str, like: str, expected: str) -> None:
    assert synonyms.form(lemma, tag, like) == expected


def test_baseline_replaces_only_words_with_synonyms() -> None:
    text = "A big, odd house."
    assert baseline.replace_words(text, 0.0, KNOWN, random.Random(0)) == text
    outputs = {baseline.replace_words(text, 1.0, KNOWN, random.Random(seed)) for seed in range(30)}
    assert outputs == {"A large, odd house.", "A adult, odd house.", "A full-grown, odd house."}


def test_detokenise() -> None:
    text = "He did n't say `` stop ( now ) '' , Tom 's 10 - year-old dog barked ."
    assert wikisplit.detokenise(text) == "He didn't say \"stop (now)\", Tom's 10-year-old dog barked."


def test_questions_fill_every_template() -> None:
    made = list(questions.questions(["learn Latin"], ["the moon"], len(questions.TEMPLATES), 0))
    assert ("How do I learn Latin?", "What is the best way to learn Latin?") in made
    assert all("{" not in text and source != target for source, target in made for text in (source, target))


def test_measures() -> None:
    assert evaluate.same("Hello, World!", "hello world") and not evaluate.same("a b", "a c")
    assert evaluate.change_of(["the cat sat on the mat"], ["the cat sat on the mat"]) == pytest.approx(
        0, abs=1e-6
    )

    def encode(texts: list[str]) -> np.ndarray:
        return np.array([[1.0, 0.0] if "big" in text else [0.6, 0.8] for text in texts])

    result = evaluate.measure(
        [("a big house", "a huge house"), ("odd", "odd")], ["a big house", "big"], encode
    )
    assert result["copied"] == 0.5
    assert result["cosine"] == pytest.approx(0.8)
    assert result["cosine below 0.8"] == 0.5


def test_card_has_every_place_filled() -> None:
    card = evaluate.fill("| scores |", "| {x} | y |", 7)
    assert "--count 7;" not in card and "--count 7`" in card
    assert "| scores |" in card and "| {x} | y |" in card
    assert not re.search(r"\{(?!x)[\w-]+\}", card)
