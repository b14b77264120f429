"""UNA's fit and probabilities in plain Python, for comparison."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from nltk.tokenize import word_tokenize


def tokenize(sentence: str) -> list[str]:
    """NLTK's word tokens of the lower-cased sentence."""
    return word_tokenize(sentence.lower(), preserve_line=True)


class ReferenceFit:
    """Document frequencies, idf, maximum scores and ranks of a corpus."""

    def __init__(self, documents: Sequence[list[str]]) -> None:
        self.documents = len(documents)
        self.document_frequency: Counter[str] = Counter()  # keeps first-seen order
        for tokens in documents:
            self.document_frequency.update(list(dict.fromkeys(tokens)))
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
