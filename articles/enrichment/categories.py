"""A linear classifier of categories that learns article by article: hashed character n-grams, log loss. Pure.

One against all for each category (scikit-learn's SGDClassifier); .64 of 14 categories right where the
stories of learning and testing differ.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

# scikit-learn is loaded with the first lesson, 60 MB: without feeds that name categories there is none.
if TYPE_CHECKING:
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier

VERSION = "1"
FEATURES = 2**15
MOST_CHARACTERS = 2_000
"""Of a title with the beginning of its text."""
LEAST_EXAMPLES = 10
"""A category is not guessed before it was seen so often, and none before there are two such."""
SURE = 0.6
"""The probability from which a guess is kept."""
_NONE = ("\x00 none", "\x00 neither")
"""Two classes without examples: with fewer than three, scikit-learn's weights have another shape."""


@dataclass(slots=True)
class Categories:
    """Classes with their numbers of examples, and their weights: an array (classes, FEATURES + 1)."""

    classes: list[str] = field(default_factory=list)
    examples: list[int] = field(default_factory=list)
    weights: np.ndarray = field(default_factory=lambda: np.zeros((0, FEATURES + 1), np.float32))

    def learn(self, texts: Sequence[str], classes: Sequence[str]) -> None:
        """Take the step that these labelled texts ask for; new categories may be among them."""
        for name in sorted(set(classes) - set(self.classes)):
            self.classes.append(name)
            self.examples.append(0)
            self.weights = np.vstack([self.weights, np.zeros((1, FEATURES + 1), np.float32)])
        learner = self._learner()
        learner.partial_fit(_vectors().transform(texts), np.array(classes, dtype=object))
        order = {name: at for at, name in enumerate(learner.classes_)}
        rows = [order[name] for name in self.classes]
        self.weights = np.hstack([learner.coef_[rows], learner.intercept_[rows, None]]).astype(np.float32)
        for name in classes:
            self.examples[self.classes.index(name)] += 1

    def guess(self, texts: Sequence[str]) -> list[tuple[str, float]]:
        """The likeliest category of each text with its probability; "" where none is likely enough."""
        known = [at for at, count in enumerate(self.examples) if count >= LEAST_EXAMPLES]
        if len(known) < 2 or not texts:
            return [("", 0.0)] * len(texts)
        values = _vectors().transform(texts) @ self.weights[known, :-1].T + self.weights[known, -1]
        odds = 1 / (1 + np.exp(-np.clip(values, -30, 30)))
        best = odds.argmax(axis=1)
        found = [(self.classes[known[at]], float(row[at])) for at, row in zip(best, odds, strict=True)]
        return [(name, sure) if sure >= SURE else ("", sure) for name, sure in found]

    def packed(self) -> bytes:
        """The weights as half-precision numbers under zlib."""
        return zlib.compress(self.weights.astype(np.float16).tobytes(), 1)

    @classmethod
    def unpacked(cls, classes: Sequence[str], examples: Sequence[int], content: bytes) -> Categories:
        """The classifier back. Raises ValueError for weights of another shape."""
        numbers = np.frombuffer(zlib.decompress(content), np.float16) if content else np.zeros(0, np.float16)
        weights = numbers.astype(np.float32).reshape(len(classes), FEATURES + 1)
        return cls(list(classes), list(examples), weights)

    def _learner(self) -> SGDClassifier:
        from sklearn.linear_model import SGDClassifier  # noqa: PLC0415

        order = np.array(sorted([*self.classes, *_NONE]), dtype=object)
        learner = SGDClassifier(
            loss="log_loss", learning_rate="constant", eta0=1.0, alpha=1e-6, random_state=1
        )
        learner.partial_fit(_vectors().transform([""]), [_NONE[0]], classes=order)
        rows = [self.classes.index(name) if name in self.classes else -1 for name in order]
        padded = np.vstack([self.weights, np.zeros((1, FEATURES + 1), np.float32)])
        learner.coef_ = padded[rows, :-1].astype(np.float64)
        learner.intercept_ = padded[rows, -1].astype(np.float64)
        return learner


@cache
def _vectors() -> HashingVectorizer:
    from sklearn.feature_extraction.text import HashingVectorizer  # noqa: PLC0415

    return HashingVectorizer(analyzer="char_wb", ngram_range=(3, 5), n_features=FEATURES, norm="l2")


def example(title: str, text: str) -> str:
    """What the classifier reads of an article."""
    return f"{title}\n{text}"[:MOST_CHARACTERS]
