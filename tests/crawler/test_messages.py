"""What controller and terminals say to each other survives the way as it was."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.fetching.http.site_lines import Robots
from crawler.frontier.orders import PageOrder
from crawler.isolation.walls import environment as bare_environment
from crawler.messages import MAX_BYTES, Assignment, Batch, Harvest, Report, decode, encode
from crawler.reading.documents import (
    CrawledPage,
    Disagreement,
    Enclosure,
    Entry,
    FeedDocument,
    FeedLink,
    PageDocument,
    RetrievedFeed,
)
from crawler.reading.inflate import inflated
from feeds.orders import FeedOrder

ROOT = Path(__file__).resolve().parents[2]

# What UTF-8 can carry, control characters included; NUL has a test of its own.
TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SOMETIMES = st.none() | NUMBERS
IDS = st.integers(0, 2**63 - 1)
HOURS = st.lists(st.integers(0, 23), max_size=3).map(tuple)


def some(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(strategy, max_size=3).map(tuple)


ENTRIES = st.builds(
    Entry,
    identity=TEXT,
    title=TEXT,
    published=SOMETIMES,
    content=TEXT,
    categories=some(TEXT),
    enclosures=some(st.builds(Enclosure, url=TEXT, type=TEXT, length=IDS)),
)
FEEDS = st.builds(
    FeedDocument,
    format=TEXT,
    ttl=SOMETIMES,
    skip_hours=HOURS,
    entries=some(ENTRIES),
    edited=some(ENTRIES),
    fingerprints=st.binary(max_size=36),
    well_formed=st.booleans(),
)
PAGES = st.builds(PageDocument, html=st.binary(max_size=50), text=TEXT, published=SOMETIMES)
LINKS = some(st.builds(FeedLink, url=TEXT, title=TEXT))
OPINION = st.none() | some(st.builds(Disagreement, kind=TEXT, ours=TEXT, theirs=TEXT))
RETRIEVED = st.builds(RetrievedFeed, document=st.none() | FEEDS, links=LINKS, opinion=OPINION)
ROBOTS = st.builds(Robots, status=st.integers(200, 599), text=TEXT, at=NUMBERS, origin=TEXT)
HARVESTS = st.builds(
    Harvest,
    kind=st.sampled_from(("feed", "page")),
    id=IDS,
    at=NUMBERS,
    url=TEXT,
    status=st.integers(0, 599),
    failure=TEXT,
    conditional=st.booleans(),
    retry_after=SOMETIMES,
    payload=st.none() | RETRIEVED | PAGES,
)
REPORTS = st.builds(Report, host=TEXT, lease=TEXT, harvests=some(HARVESTS), robots=st.none() | ROBOTS)
ASSIGNMENTS = st.builds(
    Assignment,
    kind=st.sampled_from(("feed", "page")),
    id=IDS,
    url=TEXT,
    order=st.one_of(
        st.none(),
        st.builds(FeedOrder, known=st.binary(max_size=36), subscribers=st.integers(0, 99)),
        st.builds(PageOrder, any_type=st.booleans(), parts=st.lists(TEXT, max_size=2).map(tuple)),
    ),
)
BATCHES = st.builds(
    Batch,
    host=TEXT,
    lease=TEXT,
    expires=NUMBERS,
    spacing=NUMBERS,
    assignments=some(ASSIGNMENTS),
    robots=st.none() | ROBOTS,
)


@given(REPORTS)
@settings(max_examples=150)
def test_a_report_comes_back_as_it_was(report: Report) -> None:
    assert decode(Report, encode(report)) == report


@given(BATCHES)
def test_a_batch_comes_back_as_it_was(batch: Batch) -> None:
    text = encode(batch)
    assert decode(Batch, text) == batch
    assert text.isascii()


def test_fields_that_say_nothing_are_not_sent() -> None:
    plain = json.loads(zlib.decompress(base64.b64decode(encode(Report("news.example", "7")))))
    assert plain == {"host": "news.example", "lease": "7"}


@pytest.mark.parametrize("half", ["\ud83d", "\udcff"])
def test_half_a_surrogate_pair_becomes_a_question_mark(half: str) -> None:
    report = Report("news.example", "7", (Harvest("feed", 1, 0.0, "http://a/", detail=f"a{half}b"),))
    assert decode(Report, encode(report)).harvests[0].detail == "a?b"


def test_a_length_beyond_64_bits_breaks_no_message() -> None:
    entry = Entry("1", enclosures=(Enclosure("http://a/", length=2**70),))
    report = Report(
        "a",
        "7",
        (
            Harvest(
                "feed",
                1,
                0.0,
                "http://a/",
                payload=RetrievedFeed(FeedDocument("rss20", entries=(entry,))),
            ),
        ),
    )
    text = encode(report)
    assert decode(Report, text) == report


def packed(value: object) -> str:
    return base64.b64encode(zlib.compress(json.dumps(value).encode())).decode()


def deep(opening: str, closing: str, inner: str = "") -> str:
    """A payload of many levels."""
    nested = opening * 100_000 + inner + closing * 100_000
    raw = f'{{"host":"a","lease":"7","harvests":[{{"kind":"k","id":1,"at":1,"url":"","payload":{nested}}}]}}'
    return base64.b64encode(zlib.compress(raw.encode())).decode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no base64!",
        base64.b64encode(b"not deflated").decode(),
        encode(Report("a", "7"))[:-8],
        base64.b64encode(zlib.compress(b"{not json")).decode(),
        packed(None),
        packed([]),
        packed("words"),
        packed({"host": "a"}),
        packed({"host": "a", "lease": "7", "surprise": 1}),
        packed({"host": "a", "lease": "7", "harvests": 3}),
        packed({"host": "a", "lease": "7", "harvests": [{"kind": "feed"}]}),
        packed({"host": "a", "lease": 7}),
        packed({"host": "a", "lease": "7", "harvests": "words"}),
        packed({"host": "a", "lease": "7", "harvests": [{"kind": "feed", "id": "1", "at": 1, "url": ""}]}),
        packed({"host": "a", "lease": "7", "harvests": [{"kind": "feed", "id": True, "at": 1, "url": ""}]}),
        packed({"host": "a", "lease": "7", "harvests": [{"kind": "feed", "id": 1.5, "at": 1, "url": ""}]}),
        packed({"host": "a", "lease": "7", "robots": {"status": 200, "text": None, "at": 1}}),
        *(
            packed(
                {
                    "host": "a",
                    "lease": "7",
                    "harvests": [{"kind": "k", "id": 1, "at": 1, "url": "", "payload": payload}],
                }
            )
            for payload in (
                3,
                {},
                {"title": "of no class"},
                {"type": "Surprise"},
                {"type": "Payload"},
                {"type": "Entry", "identity": "1"},
                {"type": "PageDocument", "surprise": 1},
                {"type": "PageDocument", "title": 7},
                {"type": "PageDocument", "html": "no base64!"},
                {"type": "RetrievedFeed", "document": {"format": "rss", "entries": [{"id": "1"}]}},
            )
        ),
        deep("[", "]"),
        deep('{"a":', "}", "1"),
    ],
)
def test_what_is_damaged_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        decode(Report, text)


@given(st.text(st.sampled_from("\0a\\u0"), max_size=12))
def test_nul_becomes_a_replacement_character_and_nothing_else_changes(text: str) -> None:
    page = CrawledPage(headers=(("X-Odd", text),), title=text, links=(text,))
    report = Report("a", text, (Harvest("crawl", 1, 0.0, "http://a/", payload=page),))
    clean = text.replace("\0", "\ufffd")
    read = decode(Report, encode(report))
    assert read.lease == clean
    assert read.harvests[0].payload == CrawledPage(headers=(("X-Odd", clean),), title=clean, links=(clean,))


def test_a_packed_message_is_inflated_to_a_bound() -> None:
    bomb = base64.b64encode(zlib.compress(b" " * (MAX_BYTES + 1), 9)).decode()
    with pytest.raises(ValueError, match="longer than"):
        decode(Report, bomb)


def test_a_message_that_nobody_could_read_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.messages.MAX_BYTES", 1000)
    with pytest.raises(ValueError, match=r"Report of .* bytes"):
        encode(Report("a" * 1000, "7"))


@pytest.mark.parametrize("packed_bytes", [b"", b"no zlib", zlib.compress(b"words")[:-1]])
def test_what_is_damaged_is_not_inflated(packed_bytes: bytes) -> None:
    with pytest.raises(ValueError, match="damaged"):
        inflated(packed_bytes, 100)


AT_ONCE = """
import sys, threading
from crawler.messages import Harvest, Report, decode, encode
from crawler.reading.documents import ListedPages
sys.setswitchinterval(1e-6)
text = encode(Report("h", "l", (Harvest("kind", 1, 0.0, "u", payload=ListedPages(())),) * 3))
together = threading.Barrier(32)
def read():
    together.wait()
    decode(Report, text)
threads = [threading.Thread(target=read) for _ in range(32)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_many_threads_that_read_their_first_message_at_once_do_not_end_the_process() -> None:
    for _ in range(4):
        done = subprocess.run([sys.executable, "-c", AT_ONCE], cwd=ROOT, env=bare_environment(), check=False)
        assert done.returncode == 0
