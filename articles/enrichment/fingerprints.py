"""Fingerprints of texts: MinHash over shingles of words (Broder 1997), in bands to look them up by. Pure.

The Jaccard index of two texts is the share of shingles that they have in common. Two MinHashes agree in a
place with just that probability; texts that agree in a whole band are compared shingle by shingle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

VERSION = "1"
SHINGLE = 4
"""Words in a shingle."""
BANDS, ROWS = 32, 4
"""A pair with a Jaccard index of 0.7 shares a band with probability 0.9998, one of 0.2 with 0.05."""
LEAST_SHINGLES = 40
"""A shorter text is not enough to know it again."""
_RANDOM = np.random.default_rng(1997)
_FACTORS = _RANDOM.integers(1, 2**63, BANDS * ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_SHIFTS = _RANDOM.integers(0, 2**63, BANDS * ROWS, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The number of shingles, the MinHash (128 times 32 bits), and a signed number for each band."""

    shingles: int
    signature: bytes
    bands: tuple[int, ...]


def shingles(words: Sequence[str]) -> frozenset[int]:
    """64-bit hashes of every run of four words."""
    runs = (" ".join(words[at : at + SHINGLE]) for at in range(len(words) - SHINGLE + 1))
    return frozenset(_hash(run.encode("utf-8", "replace")) for run in runs)


def _hash(content: bytes, *, signed: bool = False) -> int:
    return int.from_bytes(blake2b(content, digest_size=8).digest(), signed=signed)


def fingerprint(hashes: frozenset[int]) -> Fingerprint:
    """The fingerprint of a set of shingles; without bands where they are too few."""
    if len(hashes) < LEAST_SHINGLES:
        return Fingerprint(len(hashes), b"", ())
    values = np.fromiter(hashes, dtype=np.uint64, count=len(hashes))
    # Multiply-shift hashing (Dietzfelbinger and others 1997); uint64 wraps around as it needs.
    mixed = (values[:, None] * _FACTORS[None, :] + _SHIFTS[None, :]) >> np.uint64(32)
    least = mixed.min(axis=0).astype(np.uint32)
    rows = [row.tobytes() for row in least.reshape(BANDS, ROWS)]
    bands = tuple(_hash(bytes([at]) + row, signed=True) for at, row in enumerate(rows))
    return Fingerprint(len(hashes), least.tobytes(), bands)


def resemblance(one: bytes, other: bytes) -> float:
    """The Jaccard index as two MinHashes estimate it; 0 where one is missing."""
    if not one or len(one) != len(other):
        return 0.0
    return float(np.mean(np.frombuffer(one, np.uint32) == np.frombuffer(other, np.uint32)))


def jaccard(one: frozenset[int], other: frozenset[int]) -> float:
    """The exact index."""
    return len(one & other) / len(one | other) if one or other else 0.0
