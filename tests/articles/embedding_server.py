"""A fake embeddings endpoint: each word of a text has a direction of its own, with synonyms in one."""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Sequence
from typing import Any

from tests.servers import Reply, Request

PATH = "/v1/embeddings"
SIZE = 16
SYNONYMS = {"lamp": 0, "lantern": 0, "light": 0, "boat": 1, "ferry": 1, "ship": 1, "bread": 2, "bakery": 2}


def vector_of(text: str, size: int = SIZE) -> list[float]:
    """The sum of the directions of a text's words: some share one, the others have a small one each."""
    vector = [0.0] * size
    for word in re.findall(r"\w+", text.lower()):
        if word.rstrip("s") in SYNONYMS:
            vector[SYNONYMS[word.rstrip("s")]] += 1.0
        else:
            vector[3 + zlib.crc32(word.encode()) % (size - 3)] += 0.05
    return vector


def embeddings(vectors: Sequence[Sequence[float]], **fields: Any) -> Reply:
    """A right answer with these vectors."""
    data = [{"object": "embedding", "index": n, "embedding": vector} for n, vector in enumerate(vectors)]
    body = json.dumps({"object": "list", "data": data, "model": "tiny"}).encode()
    return Reply(body, headers={"Content-Type": "application/json"}, **fields)


def texts_in(request: Request) -> list[str]:
    texts: list[str] = json.loads(request.body)["input"]
    return texts


def answer(request: Request, size: int = SIZE) -> Reply:
    """The right answer to a request."""
    return embeddings([vector_of(text, size) for text in texts_in(request)])


def made_vector(number: int, size: int = SIZE) -> list[float]:
    """One of any number of vectors of unit length around a circle."""
    angle = 2 * math.pi * number / 400
    return [math.cos(angle), math.sin(angle), *[0.0] * (size - 2)]
