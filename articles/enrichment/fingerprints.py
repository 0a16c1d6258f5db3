"""Fingerprints of texts: MinHash over shingles of words (Broder 1997), in bands for look-up. Pure.

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
MIN_SHINGLES = 40
"""Texts with fewer shingles are too short to recognise."""
# A fixed seed, because stored signatures are compared with those of later versions.
_RANDOM = np.random.default_rng(1997)
# Odd factors: an even one would drop a bit of every shingle.
_FACTORS = _RANDOM.integers(1, 2**63, BANDS * ROWS, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
_SHIFTS = _RANDOM.integers(0, 2**63, BANDS * ROWS, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The number of shingles, the MinHash (128 times 32 bits), and a signed number for each band."""

    shingles: int
    signature: bytes
    bands: tuple[int, ...]


def shingles(words: Sequence[str]) -> frozenset[int]:
    """Return 64-bit hashes of every run of four words."""
    runs = (" ".join(words[at : at + SHINGLE]) for at in range(len(words) - SHINGLE + 1))
    return frozenset(_hash(run.encode("utf-8", "replace")) for run in runs)


def _hash(content: bytes, *, signed: bool = False) -> int:
    return int.from_bytes(blake2b(content, digest_size=8).digest(), signed=signed)


def fingerprint(hashes: frozenset[int]) -> Fingerprint:
    """Compute the fingerprint of a set of shingles. With too few shingles it has no bands."""
    if len(hashes) < MIN_SHINGLES:
        return Fingerprint(len(hashes), b"", ())
    values = np.fromiter(hashes, dtype=np.uint64, count=len(hashes))
    # Multiply-shift hashing (Dietzfelbinger and others 1997); uint64 wraps around as it needs.
    mixed = (values[:, None] * _FACTORS[None, :] + _SHIFTS[None, :]) >> np.uint64(32)
    minima = mixed.min(axis=0).astype(np.uint32)
    rows = [row.tobytes() for row in minima.reshape(BANDS, ROWS)]
    bands = tuple(_hash(bytes([at]) + row, signed=True) for at, row in enumerate(rows))
    return Fingerprint(len(hashes), minima.tobytes(), bands)


def signatures(minhashes: Sequence[bytes]) -> np.ndarray:
    """Return MinHashes as rows of a table (MinHashes, 128). One that is missing is a row of zeros."""
    whole = BANDS * ROWS * 4
    content = b"".join(minhash if len(minhash) == whole else bytes(whole) for minhash in minhashes)
    return np.frombuffer(content, np.uint32).reshape(len(minhashes), BANDS * ROWS)


def likenesses(signature: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Estimate the Jaccard index of one MinHash with each row of a table. It is 0 if one is missing."""
    if not signature.any():
        return np.zeros(len(table))
    shares: np.ndarray = np.count_nonzero(table == signature, axis=1) / (BANDS * ROWS)
    return shares


def jaccard(first: frozenset[int], second: frozenset[int]) -> float:
    """Return the exact Jaccard index, 0 for two empty sets."""
    return len(first & second) / len(first | second) if first or second else 0.0
