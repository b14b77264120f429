"""Classifiers on frozen embeddings, SentEval's and one for few examples; the search for their strength.

The strength of regularisation is the one with the highest mean accuracy, rounded to two decimals as SentEval
does, so that a tie goes to the first.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from joblib import delayed
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from torch.nn.functional import cross_entropy
from torch.optim.adam import adam

from augment_cli.errors import UsageError
from eval.measures.processes import parallel

SEED = 1111
MAX_ITERATIONS = 1000
Split = tuple[np.ndarray, np.ndarray]  # embeddings (n, d), labels (n,)
Predict = Callable[[np.ndarray], np.ndarray]  # embeddings (n, d) in, labels (n,) out


@dataclass(frozen=True)
class Settings:
    """How the classifier is trained."""

    optimizer: str  # `adam` or `rmsprop`
    batch_size: int  # rows of a batch
    tenacity: int  # checks without gain before stopping
    epoch_size: int  # epochs between checks
    max_epoch: int = 200  # where it stops in any case
    validation_share: float = 0.05  # of the training part, held out for the checks where no dev part is given


PUBLISHED = Settings("adam", batch_size=64, tenacity=5, epoch_size=4)
FAST = Settings("rmsprop", batch_size=128, tenacity=3, epoch_size=2)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Run torch on one thread: steps this small gain nothing from more, and crawl where a core is shared."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class LinearClassifier:
    """A linear softmax classifier with early stopping."""

    def __init__(self, settings: Settings, *, weight_decay: float, seed: int) -> None:
        self.settings, self.weight_decay, self.seed = settings, weight_decay, seed
        self.labels = np.empty(0)
        self.weight, self.bias = torch.empty(0), torch.empty(0)

    @one_thread()
    def fit(
        self, vectors: np.ndarray, labels: np.ndarray, *, dev: tuple[np.ndarray, np.ndarray] | None
    ) -> Self:
        """Train; the weights with the best dev accuracy are kept."""
        # dev: vectors and labels of a dev part; None holds out a share of the rows.
        generator = torch.Generator().manual_seed(self.seed)
        self.labels = np.unique(labels)
        x = torch.as_tensor(vectors, dtype=torch.float32)
        y = torch.as_tensor(np.searchsorted(self.labels, labels))
        if dev is None:
            order = torch.randperm(len(x), generator=generator)
            held = max(1, int(self.settings.validation_share * len(x)))
            dev_x, dev_labels = x[order[:held]], labels[order[:held].numpy()]
            x, y = x[order[held:]], y[order[held:]]
        else:
            dev_x, dev_labels = torch.as_tensor(dev[0], dtype=torch.float32), dev[1]
        bound = x.shape[1] ** -0.5  # the usual first weights of a linear layer
        shape = (len(self.labels), x.shape[1])
        weight = ((torch.rand(shape, generator=generator) * 2 - 1) * bound).requires_grad_()
        bias = ((torch.rand(shape[0], generator=generator) * 2 - 1) * bound).requires_grad_()
        kinds = {"adam": torch.optim.Adam, "rmsprop": torch.optim.RMSprop}
        optimizer = kinds[self.settings.optimizer]([weight, bias], weight_decay=self.weight_decay)
        best, without_gain, epoch = -1.0, 0, 0
        while epoch <= self.settings.max_epoch:
            for _ in range(self.settings.epoch_size):
                order = torch.randperm(len(x), generator=generator)
                for rows in order.split(self.settings.batch_size):
                    optimizer.zero_grad()
                    cross_entropy(x[rows] @ weight.T + bias, y[rows]).backward()
                    optimizer.step()
            epoch += self.settings.epoch_size
            with torch.no_grad():
                answers = self.labels[(dev_x @ weight.T + bias).argmax(dim=1).numpy()]
            accuracy = float(np.mean(answers == dev_labels))
            if accuracy > best:
                best = accuracy
                self.weight, self.bias = weight.detach().clone(), bias.detach().clone()
            elif without_gain >= self.settings.tenacity:
                break
            else:
                without_gain += 1
        return self

    def predict(self, vectors: np.ndarray) -> np.ndarray:
        """The label of each row of (n, d)."""
        logits = torch.as_tensor(vectors, dtype=torch.float32) @ self.weight.T + self.bias
        return np.asarray(self.labels[logits.argmax(dim=1).numpy()])


# As VaSCL describes few-shot classifiers: validated every 100 iterations, the best is kept. It states no
# optimiser; Adam is our choice.
LEARNING_RATE = 1e-4
BATCH = 32
ITERATIONS = 1000
VALIDATE_EVERY = 100
# As a function: the class imports torch's compiler, which takes a second.
_ADAM: dict[str, Any] = {
    "fused": True,
    "amsgrad": False,
    "beta1": 0.9,
    "beta2": 0.999,
    "lr": LEARNING_RATE,
    "weight_decay": 0.0,
    "eps": 1e-8,
    "maximize": False,
}


@one_thread()
def train_and_predict(
    vectors: np.ndarray, labels: np.ndarray, splits: Sequence[tuple[np.ndarray, np.ndarray]], test: np.ndarray
) -> np.ndarray:
    """Train on some rows, choose the iteration on others, predict the test part; for each split."""
    # splits: rows of `vectors` to train on and to validate on, as many in each; a split's number is its seed.
    # Returns the class of each row of `test` (m, d) by each split, (s, m). All splits take a step together,
    # as so small a step costs more to begin than to compute.
    names, count = np.unique(labels), len(splits)
    generators = [torch.Generator().manual_seed(number) for number in range(count)]
    train, validation = (np.stack(rows) for rows in zip(*splits, strict=True))
    x, held = (torch.as_tensor(vectors[rows], dtype=torch.float32) for rows in (train, validation))
    y, held_y = (torch.as_tensor(np.searchsorted(names, labels[rows])) for rows in (train, validation))
    # From zero: these steps do not undo random weights, which weigh the more the narrower an encoder is.
    weight, bias = torch.zeros(count, len(names), x.shape[2]), torch.zeros(count, 1, len(names))
    means, squares = ([torch.zeros_like(one) for one in (weight, bias)] for _ in range(2))
    steps = [torch.zeros(()), torch.zeros(())]
    wanted = torch.nn.functional.one_hot(y, len(names)).float()
    best, kept = torch.full((count,), -1.0), (weight.clone(), bias.clone())
    order, every = torch.empty((count, 0), dtype=torch.long), torch.arange(count).unsqueeze(1)
    for step in range(1, ITERATIONS + 1):
        if not order.shape[1]:
            order = torch.stack([torch.randperm(x.shape[1], generator=one) for one in generators])
        rows, order = order[:, :BATCH], order[:, BATCH:]
        # The gradient of the cross-entropy by hand, as autograd takes longer than so small a step.
        chosen = x[every, rows]
        shares = torch.baddbmm(bias, chosen, weight.mT).softmax(dim=2)
        slope = (shares - wanted[every, rows]) / rows.shape[1]
        slopes = [torch.bmm(slope.mT, chosen), slope.sum(dim=1, keepdim=True)]
        adam([weight, bias], slopes, means, squares, [], steps, **_ADAM)
        if step % VALIDATE_EVERY == 0:
            answers = torch.baddbmm(bias, held, weight.mT).argmax(dim=2)
            accuracy = (answers == held_y).float().mean(dim=1)
            better = accuracy > best
            best[better] = accuracy[better]
            for now, then in zip((weight, bias), kept, strict=True):
                then[better] = now[better]
    answers = (torch.as_tensor(test, dtype=torch.float32) @ kept[0].mT + kept[1]).argmax(dim=2)
    return np.asarray(names[answers.numpy()])


@dataclass(frozen=True)
class Classifier:
    """A classifier with the strengths that are tried and the number of folds that try them."""

    folds: int  # of each cross-validation
    # what nested cross-validation and a dev part try, and what cross-validation of a training part tries: C
    # of logistic regression, or weight decay
    nested_strengths: tuple[float, ...]
    folded_strengths: tuple[float, ...]
    # settings of SentEval's own classifier; None is scikit-learn's logistic regression
    torch: Settings | None = None

    def fit(self, train: Split, strength: float, dev: Split | None) -> Predict:
        """Train on `train`, stopping early by `dev` where the classifier does; returns the predictor."""
        if self.torch is None:
            model = LogisticRegression(C=strength, max_iter=MAX_ITERATIONS, random_state=SEED)
            predict: Predict = model.fit(*train).predict
            return predict
        return LinearClassifier(self.torch, weight_decay=strength, seed=SEED).fit(*train, dev=dev).predict


_DECAYS = tuple(10.0**power for power in range(-5, -1))
CLASSIFIERS = {
    "logistic-regression": Classifier(
        folds=10,
        nested_strengths=tuple(2.0**power for power in range(-2, 4)),
        folded_strengths=tuple(2.0**power for power in range(-1, 6)),
    ),
    "senteval-torch": Classifier(10, _DECAYS, _DECAYS, PUBLISHED),
    "senteval-torch-fast": Classifier(5, _DECAYS, _DECAYS, FAST),
}


def get(name: str) -> Classifier:
    """A classifier by its name."""
    if name not in CLASSIFIERS:
        raise UsageError(f"unknown classifier {name!r}; choose one of {', '.join(CLASSIFIERS)}")
    return CLASSIFIERS[name]


def search_folds(train: Split, classifier: Classifier, folds: int, *, nested: bool = False) -> float:
    """The best strength by cross-validation on the training part."""
    strengths = classifier.nested_strengths if nested else classifier.folded_strengths
    return _best(strengths, [_fold_accuracy(train, classifier, value, folds) for value in strengths])


def search_dev(train: Split, dev: Split, classifier: Classifier) -> float:
    """The best strength by the accuracy on a dev part, given like `train` as embeddings and labels."""
    strengths = classifier.nested_strengths
    predictors = (classifier.fit(train, strength, dev) for strength in strengths)
    return _best(strengths, [float(np.mean(predict(dev[0]) == dev[1])) for predict in predictors])


def nested_cross_validation(
    data: Split, classifier: Classifier, folds: int, jobs: int
) -> tuple[np.ndarray, list[float], list[float]]:
    """Predict each fold by a classifier whose strength was searched by folds of the other folds."""
    # Returns the predicted label of each row, and accuracy and strength of each outer fold.
    vectors, labels = data
    cuts = list(_folds(folds).split(vectors, labels))

    def one(inside: np.ndarray, outside: np.ndarray) -> tuple[np.ndarray, float]:
        part = (vectors[inside], labels[inside])
        strength = search_folds(part, classifier, folds, nested=True)
        return classifier.fit(part, strength, None)(vectors[outside]), strength

    # A fit is some hundred passes over the numbers, or some thousand small steps of SentEval's classifier.
    fit = 2e-8 * vectors.size * len(np.unique(labels)) if classifier.torch is None else 0.3
    seconds = fit * folds * folds * len(classifier.nested_strengths)
    results = parallel(jobs, seconds)(delayed(one)(inside, outside) for inside, outside in cuts)
    predicted = np.empty_like(labels)
    accuracies, strengths = [], []
    for (_, outside), (answers, strength) in zip(cuts, results, strict=True):
        predicted[outside] = answers
        accuracies.append(float(np.mean(answers == labels[outside])))
        strengths.append(strength)
    return predicted, accuracies, strengths


def _folds(count: int) -> StratifiedKFold:
    return StratifiedKFold(n_splits=count, shuffle=True, random_state=SEED)


def _best(strengths: tuple[float, ...], accuracies: list[float]) -> float:
    return strengths[int(np.argmax([round(100 * accuracy, 2) for accuracy in accuracies]))]


def _fold_accuracy(data: Split, classifier: Classifier, strength: float, count: int) -> float:
    vectors, labels = data
    accuracies = []
    for inside, outside in _folds(count).split(vectors, labels):
        held_out = (vectors[outside], labels[outside])
        predict = classifier.fit((vectors[inside], labels[inside]), strength, held_out)
        accuracies.append(np.mean(predict(held_out[0]) == held_out[1]))
    return float(np.mean(accuracies))
