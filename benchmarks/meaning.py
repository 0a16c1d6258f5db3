"""The other articles of a story, and articles of a topic, found by words and by meaning.

    python -m benchmarks.meaning WORLD (--url http://localhost:11434/v1 --model NAME | --stand-in)

WORLD is a folder of zip files with sites (`benchmarks/world.py`). All entries of all feeds are stored with
the main text of their pages, and enriched, in an embedded PostgreSQL of its own. Each article gets a vector
from the endpoint as in the product. Truth are labels that owe nothing to vectors: pages that several feeds
have, and edited copies, half of them under longer titles, are one story; the category of the feed or of the
article's own tags is its topic. An article's title is searched; recall@10 and MRR are of the other articles
of its story, precision@10 of those with its topic. "words" needs all words of the title, as the search page
does; "any word" needs one.

The stand-in is no language model: hashed words and character trigrams with idf, reduced to 128 dimensions by
a singular value decomposition of the articles themselves (latent semantic analysis). It shows that the parts
fit together, and what co-occurrence alone brings; a real model has to be measured with --url.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import sys
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from benchmarks.database import own_database
from benchmarks.enrichment import _enrich, _labelled, _store
from benchmarks.world import sites

BUCKETS, DIMENSIONS = 1 << 14, 128
AT_MOST = 10
Vectors = Any


class LatentSemantics:
    """A stand-in for an embedding model: hashed words and trigrams, weighted by idf, reduced by SVD."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = np.stack([self._counts(text) for text in texts])
        self._idf = np.log((1 + len(texts)) / (1 + (counts > 0).sum(axis=0))) + 1
        weighted = self._weighted(counts)
        # The right singular vectors, by the smaller of the two products.
        values, left = np.linalg.eigh(weighted @ weighted.T)
        order = np.argsort(values)[::-1][:DIMENSIONS]
        self._basis = (weighted.T @ left[:, order]) / np.sqrt(np.maximum(values[order], 1e-9))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector of DIMENSIONS for each text."""
        return self._weighted(np.stack([self._counts(text) for text in texts])) @ self._basis

    def _weighted(self, counts: Vectors) -> Vectors:
        weighted = np.log1p(counts) * self._idf
        return weighted / np.maximum(np.linalg.norm(weighted, axis=1, keepdims=True), 1e-9)

    def _counts(self, text: str) -> Vectors:
        counts = np.zeros(BUCKETS, dtype=np.float32)
        for word in re.findall(r"\w+", text.lower()):
            counts[zlib.crc32(word.encode()) % BUCKETS] += 1
            padded = f"^{word}$"
            for start in range(len(padded) - 2):
                counts[zlib.crc32(b"3" + padded[start : start + 3].encode()) % BUCKETS] += 0.3
        return counts


@contextmanager
def stand_in(texts: Sequence[str]) -> Iterator[str]:
    """Serve the stand-in as an embeddings endpoint on loopback; yields its address."""
    model = LatentSemantics(texts)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            data = [
                {"index": number, "embedding": [round(float(value), 6) for value in vector]}
                for number, vector in enumerate(model.embed(asked))
            ]
            body = json.dumps({"data": data}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """The figures alone are printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


def main() -> None:
    """Store, enrich, embed, judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("world", type=Path)
    parser.add_argument("--url", help="an embeddings endpoint")
    parser.add_argument("--model", default="stand-in")
    parser.add_argument("--stand-in", action="store_true", help="latent semantics made here")
    parser.add_argument("--searches", type=int, default=300, help="of each kind at most")
    options = parser.parse_args()
    if bool(options.url) == options.stand_in:
        parser.error("give either --url or --stand-in")
    os.environ["EMBEDDINGS_URL"] = options.url or "http://127.0.0.1:1"
    with own_database("meaning", EMBEDDINGS_MODEL=options.model):
        from articles.models import Article

        for site in sites(options.world):
            _store(site)
        labels = _labelled(random.Random(11))
        _enrich()
        print(f"{len(labels)} articles", flush=True)
        if options.url:
            _judge(labels, options)
            return
        rows = Article.objects.order_by("id").values_list("title", "text")
        with stand_in([f"{title}\n{text[:1500]}" for title, text in rows]) as url:
            from django.conf import settings

            settings.EMBEDDINGS_URL = url
            print("the model is a stand-in: latent semantics of these articles, no language model")
            _judge(labels, options)


def _judge(labels: dict[int, tuple[Any, ...]], options: argparse.Namespace) -> None:
    from articles.meaning.filling import fill
    from articles.meaning.models import VectorFilling
    from articles.meaning.vectors import vector_table
    from crawler.fetching.sandboxed import client

    began = time.monotonic()
    while fill(datetime.now(UTC)):
        pass
    seconds = time.monotonic() - began
    print(f"vectors: {vector_table()}, {len(labels) / seconds:.0f} articles a second", flush=True)
    if failure := VectorFilling.objects.get().failure:
        raise SystemExit(f"the filling failed: {failure}")
    members: defaultdict[Any, set[int]] = defaultdict(set)
    for key, label in labels.items():
        members[label].add(key)
    stories = {key: members[label] - {key} for key, label in labels.items() if len(members[label]) > 1}
    _judge_truth("the story's other articles", stories, options.searches, is_story=True)
    _judge_truth("articles of the topic", _topics(), options.searches, is_story=False)
    client.programs.close()


def _topics() -> dict[int, set[int]]:
    """Return the other articles with the category of each article, which its feed or its tags name."""
    from articles.enrichment.models import Enrichment

    rows = Enrichment.objects.filter(category_source__in=["tags", "feed"]).exclude(category="")
    members: defaultdict[str, set[int]] = defaultdict(set)
    topics = dict(rows.values_list("pk", "category"))
    for key, topic in topics.items():
        members[topic].add(key)
    return {key: members[topic] - {key} for key, topic in topics.items() if len(members[topic]) > AT_MOST}


def _judge_truth(name: str, truth: dict[int, set[int]], count: int, *, is_story: bool) -> None:
    from articles.models import Article

    keys = random.Random(5).sample(sorted(truth), min(count, len(truth)))
    titles = dict(Article.objects.filter(pk__in=keys).values_list("pk", "title"))
    queries = [(key, " ".join(re.findall(r"\w+", titles[key])[:12])) for key in keys]
    print(f"{name}: {len(keys)} searches")
    for way, search in WAYS.items():
        recalls, ranks, precisions, seconds = [], [], [], []
        for key, words in queries:
            if not words:
                continue
            began = time.monotonic()
            found = [each for each in search(words) if each != key][:AT_MOST]
            seconds.append(time.monotonic() - began)
            hits = [each in truth[key] for each in found]
            recalls.append(sum(hits) / min(len(truth[key]), AT_MOST))
            ranks.append(1 / (hits.index(True) + 1) if True in hits else 0.0)
            precisions.append(sum(hits) / AT_MOST)
        if is_story:
            figures = f"recall@10 {statistics.mean(recalls):.3f}  MRR {statistics.mean(ranks):.3f}"
        else:
            figures = f"precision@10 {statistics.mean(precisions):.3f}"
        print(f"  {way:18} {figures}  {1000 * statistics.median(seconds):.0f} ms a search", flush=True)


def _by_words(words: str) -> list[int]:
    from articles.listing import RANKED, by_rank, newest_keys
    from articles.models import Article

    found = newest_keys(Article.objects.search(words), RANKED)
    return list(by_rank(Article.objects.filter(id__in=found), words).values_list("pk", flat=True))


def _by_any_word(words: str) -> list[int]:
    return _by_words(" or ".join(words.split()))


def _by_meaning(words: str) -> list[int]:
    from articles.meaning.searching import _near
    from articles.models import Article

    return _near(words, Article.objects.all())


def _hybrid(words: str) -> list[int]:
    from articles.listing import RANKED, newest_keys
    from articles.meaning.searching import hybrid
    from articles.models import Article

    matches = Article.objects.search(words)
    return hybrid(words, newest_keys(matches, RANKED), matches, Article.objects.all()).keys


WAYS: dict[str, Callable[[str], list[int]]] = {
    "words": _by_words,
    "any word": _by_any_word,
    "meaning": _by_meaning,
    "words and meaning": _hybrid,
}


if __name__ == "__main__":
    main()
