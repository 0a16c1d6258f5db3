"""A linear classifier of categories, trained article by article: hashed character n-grams, log loss. Pure.

One against all for each category (scikit-learn's SGDClassifier). Accuracy is .64 for 14 categories when
training and test articles are of different stories.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

# scikit-learn (60 MB) is loaded at the first training, so never where no feed has a category.
if TYPE_CHECKING:
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier

VERSION = "2"
FEATURES = 2**15
MAX_CHARACTERS = 2_000
"""Characters of the title and the beginning of the text that are classified."""
MIN_EXAMPLES = 10
"""Examples that a category needs to be guessed; nothing is guessed until two categories have them."""
SURE = 0.6
"""The minimum probability of a guess."""
_NONE = ("\x00 none", "\x00 neither")
"""Two classes without examples: with fewer than three, scikit-learn's weights have another shape."""


@dataclass(slots=True)
class Categories:
    """The classes with their numbers of examples, and their weights: an array (classes, FEATURES + 1)."""

    classes: list[str] = field(default_factory=list)
    examples: list[int] = field(default_factory=list)
    weights: np.ndarray = field(default_factory=lambda: np.zeros((0, FEATURES + 1), np.float32))

    def learn(self, texts: Sequence[str], classes: Sequence[str]) -> None:
        """Train on these labelled texts. Adds new categories."""
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
        """Return the most probable category of each text with its probability. The category is "" below
        `SURE`.
        """
        guessable = [at for at, count in enumerate(self.examples) if count >= MIN_EXAMPLES]
        if len(guessable) < 2 or not texts:
            return [("", 0.0)] * len(texts)
        values = _vectors().transform(texts) @ self.weights[guessable, :-1].T + self.weights[guessable, -1]
        odds = 1 / (1 + np.exp(-np.clip(values, -30, 30)))
        best = odds.argmax(axis=1)
        guesses = [(self.classes[guessable[at]], float(row[at])) for at, row in zip(best, odds, strict=True)]
        return [
            (name, probability) if probability >= SURE else ("", probability) for name, probability in guesses
        ]

    def packed(self) -> bytes:
        """Pack the weights as half-precision numbers under zlib."""
        return zlib.compress(self.weights.astype(np.float16).tobytes(), 1)

    @classmethod
    def unpacked(cls, classes: Sequence[str], examples: Sequence[int], content: bytes) -> Categories:
        """Unpack the result of `packed`. Raises ValueError for weights of another shape."""
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
    """Return the part of an article's title and text that is classified."""
    return f"{title}\n{text}"[:MAX_CHARACTERS]
