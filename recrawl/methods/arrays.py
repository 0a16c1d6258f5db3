"""Arrays with a value for each page. Pure.

The exp and log of numpy differ in the last digit from one processor to another, which could change a
decision. This module uses those of the C library, through `math`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]


def exp(values: Floats) -> Floats:
    """Return e to the power of each value."""
    return _each(math.exp, values)


def log(values: Floats) -> Floats:
    """Return the natural logarithm of each value. All must be positive."""
    return _each(math.log, values)


def sums(numbers: Numbers, values: Floats, size: int) -> Floats:
    """Return, for each number below `size`, the sum of its values, added in order."""
    return np.bincount(numbers, weights=values, minlength=size).astype(np.float64, copy=False)


def _each(function: Callable[[float], float], values: Floats) -> Floats:
    results = np.fromiter(map(function, values.ravel().tolist()), np.float64, values.size)
    return results.reshape(values.shape)
