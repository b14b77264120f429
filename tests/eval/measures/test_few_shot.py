"""The softmax layer learns clear classes and is the same for one seed."""

import numpy as np

from eval.measures.senteval import train_and_predict


def test_clear_classes_are_learnt_and_one_seed_gives_one_answer():
    generator = np.random.default_rng(0)
    labels = np.array(["a", "b"] * 20)
    vectors = np.repeat(np.eye(2), 200, axis=1)[[0, 1] * 20] + generator.normal(size=(40, 400)) * 0.5
    train, validation, test = np.arange(10), np.arange(10, 20), vectors[20:]
    one, again = (train_and_predict(vectors, labels, train, validation, test, seed=1) for _ in range(2))
    assert one.tolist() == again.tolist() == labels[20:].tolist()
