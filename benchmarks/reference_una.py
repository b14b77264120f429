"""UNA in plain Python, slow and obvious: what the array programs are tested and measured against.

Written from the paper (Shu and Lampos 2024, section 2) and the facts about the authors' code in the
project's notes; a loop over sentences and tokens, dictionaries, no NumPy.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence

from nltk.tokenize import word_tokenize


def tokenize(sentence: str) -> list[str]:
    """NLTK's word tokens of the lower-cased sentence."""
    return word_tokenize(sentence.lower(), preserve_line=True)


class ReferenceFit:
    """Document frequencies, idf, maximum scores and ranks of a corpus."""

    def __init__(self, documents: Sequence[list[str]]) -> None:
        self.documents = len(documents)
        self.document_frequency: dict[str, int] = {}  # keeps first-seen order
        for tokens in documents:
            for term in dict.fromkeys(tokens):
                self.document_frequency[term] = self.document_frequency.get(term, 0) + 1
        self.idf = {term: -math.log(df / self.documents) for term, df in self.document_frequency.items()}
        self.max_score = dict.fromkeys(self.document_frequency, 0.0)
        for tokens in documents:
            for term, score in zip(tokens, self.scores(tokens), strict=True):
                self.max_score[term] = max(self.max_score[term], score)
        # sorted() is stable: equal scores keep first-seen order.
        self.ranked = sorted(self.max_score, key=lambda term: -self.max_score[term])
        self.rank = {term: position for position, term in enumerate(self.ranked)}

    def scores(self, tokens: list[str]) -> list[float]:
        """z = ln(1 + n_t/n)·idf of each token occurrence."""
        counts = Counter(tokens)
        return [math.log(1 + counts[term] / len(tokens)) * self.idf[term] for term in tokens]

    def window(self, term: str, radius: int) -> tuple[list[int], list[float]]:
        """Ranks around a term's own, without it, and their probabilities."""
        own = self.rank[term]
        ranks = [r for r in range(own - radius, own + radius + 1) if 0 <= r < len(self.ranked) and r != own]
        weights = [self.max_score[self.ranked[rank]] for rank in ranks]
        total = sum(weights)
        if total == 0:
            return ranks, [1 / len(ranks)] * len(ranks)
        return ranks, [weight / total for weight in weights]


def probabilities(scores: Sequence[float], beta: float, opposite: bool = False) -> list[float]:
    """Replacement probability of each token of one sentence (step 2)."""
    if not scores:
        return []
    lowest, highest = min(scores), max(scores)
    above = [highest - z if opposite else z - lowest for z in scores]
    total = sum(above)
    result = [min(1.0, beta * len(scores) * a / total) if total > 0 else 0.0 for a in above]
    result[above.index(max(above))] = 1.0
    return result


def negative(
    tokens: list[str],
    fit: ReferenceFit,
    beta: float,
    radius: int,
    uniform: Callable[[], float] = random.random,
) -> list[str]:
    """One hard negative (steps 2 and 3): a coin and, if it falls, a drawn neighbour for each token."""
    result = []
    for term, probability in zip(tokens, probabilities(fit.scores(tokens), beta), strict=True):
        if uniform() < probability:
            ranks, weights = fit.window(term, radius)
            result.append(fit.ranked[random.choices(ranks, weights)[0]])
        else:
            result.append(term)
    return result
