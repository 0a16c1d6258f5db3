"""Arrays with a value for each page. Pure.

What numpy calls exp and log differs in the last digit from one processor to another, which could turn a
decision: those here are the C library's, as `math` has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]

LEAST, MOST = 1e-4, 0.99
"""The bounds of what is taken for a probability of a change."""


def exp(values: Floats) -> Floats:
    """e to the power of each."""
    return _each(math.exp, values)


def log(values: Floats) -> Floats:
    """Natural logarithm of each; all must be positive."""
    return _each(math.log, values)


def logit(shares: Floats) -> Floats:
    """The logarithm of the odds."""
    return log(shares / (1 - shares))


def expit(values: Floats) -> Floats:
    """The share with these odds: the inverse of `logit`."""
    return 1 / (1 + exp(-values))


def bounded(shares: Floats) -> Floats:
    """Nothing is impossible, nothing certain."""
    return np.minimum(np.maximum(shares, LEAST), MOST)


def sums(numbers: Numbers, values: Floats, size: int) -> Floats:
    """For each number below `size` the sum of the values that have it, added up one after another."""
    return np.bincount(numbers, weights=values, minlength=size).astype(np.float64, copy=False)


def _each(function: Callable[[float], float], values: Floats) -> Floats:
    found = np.fromiter(map(function, values.ravel().tolist()), np.float64, values.size)
    return found.reshape(values.shape)
