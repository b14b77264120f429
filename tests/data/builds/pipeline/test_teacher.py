"""The teacher on a tiny encoder: trees, labels, and that it learns."""

import pytest
import torch
import transformers

from data.builds.pipeline import teacher
from data.builds.pipeline.treebank import Sentence


class Letters:
    """A tokenizer whose pieces are letters, with the attributes of the real one."""

    cls_token_id, sep_token_id, pad_token_id, unk_token_id = 1, 2, 0, 3

    def __call__(self, word: str, add_special_tokens: bool) -> dict[str, list[int]]:
        """Return the ids of one word's letters."""
        return {"input_ids": [4 + ord(letter) % 60 for letter in word.lower()]}


def simple(words: str, heads: list[int]) -> Sentence:
    """Return a sentence whose deps and tags depend on the word alone."""
    parts = words.split()
    return Sentence(
        text=words,
        words=parts,
        spaces=[True] * (len(parts) - 1) + [False],
        lemmas=[word.lower() for word in parts],
        pos=["VERB" if head == i else "NOUN" for i, head in enumerate(heads)],
        tags=[word[:1] for word in parts],
        morphs=[""] * len(parts),
        heads=heads,
        deps=["ROOT" if head == i else "dep" for i, head in enumerate(heads)],
    )


TREEBANK = [
    simple("Dogs run fast", [1, 1, 1]),
    simple("run", [0]),
    simple("cats eat big red fish", [1, 1, 4, 4, 1]),
]


@pytest.mark.slow
def test_learns_three_sentences_by_heart() -> None:
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=64,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    encoder = transformers.BertModel(config, add_pooling_layer=False)
    labels = teacher.Labels.collect(TREEBANK)
    model, batcher = teacher.Teacher(encoder, labels, arc=16, label=16), teacher.Batcher(Letters(), labels)
    epochs = teacher.fine_tune(
        model, batcher, TREEBANK, epochs=120, words=20, encoder_rate=1e-3, head_rate=3e-3
    )
    losses = [loss for _, loss in epochs]
    assert losses[-1] < losses[0] / 5
    answers = teacher.annotate(model, batcher, TREEBANK, words=20)
    assert [answer.text for answer in answers] == [sentence.text for sentence in TREEBANK]
    assert [answer.pos for answer in answers] == [sentence.pos for sentence in TREEBANK]
    assert [answer.heads for answer in answers] == [sentence.heads for sentence in TREEBANK]
    for answer in answers:
        roots = [head == i for i, head in enumerate(answer.heads)]
        assert [dep == "ROOT" for dep in answer.deps] == roots


@pytest.mark.parametrize(
    ("heads", "expected"),
    [([0], True), ([1, 1, 1], True), ([1, 2, 2], True), ([0, 1], False), ([1, 0], False), ([0, 2, 1], False)],
)
def test_is_tree(heads: list[int], expected: bool) -> None:
    assert teacher.is_tree(heads) is expected


def test_case_classes_are_distinct() -> None:
    words = ["lower", "Title", "UPPER", "I", "x86", "mIxed"]
    classes = {teacher.case_class(word, space) for word in words for space in (True, False)}
    assert len(classes) == teacher.CASES
