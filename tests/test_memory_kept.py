"""Reading a document leaves nothing behind, whatever it is: a process that reads a million must not grow."""

from __future__ import annotations

import ctypes
import gc
from collections import Counter
from collections.abc import Callable

import pytest

from crawler.isolation import memory
from crawler.pipeline.transform.dispatch import transform
from crawler.pipeline.transform.graph import SourceDocument
from crawler.reading import detect
from crawler.reading.feeds.parse import parse_feed
from crawler.reading.pages.extract import extract_page
from crawler.reading.watched import ReadingRules, document_lines

WARM, READ = 10, 60
MAX_KEPT_OBJECTS = READ // 2
MAX_KEPT_BYTES = 4_000 * READ
"""A part of a heap may be free at one of the two moments; a leak that there was took 16 kB a document."""

FEED = """<rss version="2.0"><channel><title>{0}</title><link>http://a{0}.example/</link>
<item><title>Entry {0}</title><guid>{0}</guid><pubDate>Sat, 28 Nov 2026 01:00:00 GMT</pubDate>
<description>&lt;p&gt;Words &lt;a href="/more/{0}"&gt;more&lt;/a&gt;&lt;/p&gt;</description>
</item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><title>{0}</title><id>urn:{0}</id>
<updated>2026-11-28T00:00:00Z</updated>
<entry><title>E</title><id>urn:e:{0}</id><updated>2026-11-28T00:00:00Z</updated>
<content type="html">&lt;math&gt;&lt;mi&gt;x&lt;/mi&gt;&lt;/math&gt;
&lt;a href="mailto:a@a.example"&gt;m&lt;/a&gt;</content></entry></feed>"""
BROKEN = "<rss><channel><title>{0}</title><item><title>A & B<description>x &nbsp; <b>{0}</description></item>"
PAGE = (
    "<!doctype html><html lang=en><head><title>Page {0}</title><meta name=author content='Ann Bee'>"
    '<script type=\'application/ld+json\'>{{"@context":"https://schema.org","@type":"Article",'
    '"headline":"H{0}","author":{{"@type":"Person","name":"A{0}"}}}}</script></head><body><main>'
    "<article vocab='https://schema.org/' typeof='Article'><h1 property='name'>Page {0}</h1>"
    + "<p>Some words about number {0} with a <a href='/a/{0}'>link</a>, long enough to be an article's.</p>"
    * 20
    + "<div itemscope itemtype='https://schema.org/Person'><b itemprop=name>Bo{0}</b></div></article></main>"
)
TURTLE = "<http://a.example/{0}> <http://b.example/p> 'value {0}'@en, 12 , [ <http://b.example/q> _:x ] ."


def transformed(kind: str, source: str) -> Callable[[int], object]:
    def read(number: int) -> object:
        body = source.format(number).encode()
        return transform(SourceDocument(f"http://a.example/{number}", kind, body))

    return read


READERS: dict[str, Callable[[int], object]] = {
    "rss": lambda number: parse_feed(FEED.format(number).encode(), url=f"http://a.example/{number}"),
    "atom": lambda number: parse_feed(ATOM.format(number).encode(), url=f"http://a.example/{number}"),
    "broken rss": lambda number: parse_feed(BROKEN.format(number).encode(), url=f"http://a.example/{number}"),
    "page": lambda number: extract_page(PAGE.format(number).encode(), url=f"http://a.example/{number}"),
    "watched page": lambda number: document_lines(
        PAGE.format(number).encode(), "text/html", f"http://a.example/{number}", ReadingRules()
    ),
    "graph of rss": transformed(detect.RSS_0, FEED),
    "graph of atom": transformed(detect.ATOM, ATOM),
    "graph of a page": transformed(detect.HTML, PAGE),
    "graph of turtle": transformed(detect.TURTLE, TURTLE),
}


def allocated() -> int:
    """The bytes that the C library has handed out and not got back, 0 with another library than glibc."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "mallinfo2"):
        return 0

    class Info(ctypes.Structure):
        _fields_ = [(name, ctypes.c_size_t) for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd",
            "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )]  # fmt: skip

    library.mallinfo2.restype = Info
    info = library.mallinfo2()
    return int(info.uordblks + info.hblkhd)


@pytest.mark.parametrize("kind", READERS)
def test_reading_keeps_nothing(kind: str) -> None:
    read = READERS[kind]
    Counter(type(one).__name__ for one in gc.get_objects())  # which itself keeps some at its first time
    for number in range(WARM):
        read(number)
    gc.collect()
    memory.give_back()
    objects, size = Counter(type(one).__name__ for one in gc.get_objects()), allocated()
    for number in range(READ):
        read(1000 + number)
    gc.collect()
    more = Counter(type(one).__name__ for one in gc.get_objects()) - objects
    del more["SplitResult"]  # urllib keeps the last addresses that it split
    assert more.total() < MAX_KEPT_OBJECTS, more.most_common(5)
    assert allocated() - size < MAX_KEPT_BYTES
