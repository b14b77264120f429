"""The softmax layer learns clear classes and is the same for one seed."""

import numpy as np

from eval.measures.few_shot import train_and_predict


def test_clear_classes_are_learnt_and_one_seed_gives_one_answer():
    generator = np.random.default_rng(0)
    labels = np.array(["a", "b"] * 20)
    vectors = np.repeat(np.eye(2), 200, axis=1)[[0, 1] * 20] + generator.normal(size=(40, 400)) * 0.5
    splits, test = [(np.arange(10), np.arange(10, 20)), (np.arange(2, 12), np.arange(10))], vectors[20:]
    one, again = (train_and_predict(vectors, labels, splits, test) for _ in range(2))
    assert one.tolist() == again.tolist() == [labels[20:].tolist()] * 2


def test_a_split_learns_the_same_beside_others_as_alone():
    generator = np.random.default_rng(0)
    labels, vectors = np.array(list("abcd") * 20), generator.normal(size=(80, 8))
    rows = [generator.permutation(60) for _ in range(3)]
    splits = [(each[:40], each[40:]) for each in rows]
    beside = train_and_predict(vectors, labels, splits, vectors[60:])
    assert beside[0].tolist() == train_and_predict(vectors, labels, splits[:1], vectors[60:])[0].tolist()
    assert len({tuple(answers) for answers in beside}) == 3
