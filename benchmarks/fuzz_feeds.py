"""Feeds that are damaged at random, read as a terminal reads them.

    python -m benchmarks.fuzz_feeds [--feeds 10000] [--seed 1] [--seconds 5]

Well-formed feeds of every format are changed by a few random edits: bytes are replaced, pieces cut out or
doubled, and hostile pieces put in. Each must come out as a document that can be sent, or be refused by a name
of the taxonomy, within some seconds. Prints every other error and every feed that took longer, with the name
that makes it again, and exits with 1 then.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable

from benchmarks.hostile.documents import Content, feed
from crawler.messages import Harvest, Report, encode
from crawler.reading.documents import RetrievedFeed
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import build, parse_feed

URL = "https://example.org/feed.xml"
ATOM = b"""<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/" xml:lang="en" xml:base="/a/">
<title type="html">A &lt;b&gt;feed&lt;/b&gt;</title><id>urn:feed</id><updated>2026-01-02T03:04:05Z</updated>
<author><name>Ada</name><email>ada@example.org</email></author><link rel="self" href="/feed"/>
<entry><title>One</title><id>urn:1</id><link href="one"/><updated>2026-01-02T03:04:05+01:00</updated>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Text <img data-src="/i.png" alt="x"/></p>
<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>x</mi></math></div></content></entry>
<entry><title>Two</title><id>urn:2</id><link rel="enclosure" href="/a.mp3" type="audio/mpeg" length="12"/>
<summary type="html">&lt;p&gt;Two &amp;amp; &lt;a href="x"&gt;x&lt;/a&gt;&lt;noscript&gt;&lt;img src="/n.png"&gt;&lt;/noscript&gt;</summary>
<published>Tue, 3 Feb 2026 10:00:00 GMT</published><category term="a"/><media:content url="/v.mp4"/></entry></feed>
"""
RSS = b"""<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY nbsp "&#160;">]>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"
 xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel><title>News&nbsp;here</title><link>https://example.org/</link><description>What is new</description>
<managingEditor>ed@example.org (Ed)</managingEditor><ttl>60</ttl><skipHours><hour>3</hour></skipHours>
<item><title>First</title><link>/1</link><guid isPermaLink="false">g1</guid><pubDate>Mon, 02 Feb 2026 10:00:00 +0100</pubDate>
<description><![CDATA[<p>Words <img srcset="/a.png 1x, /b.png 2x" src="data:,x"></p><pre>code</pre>
<math><mrow><mi>x</mi><mtext>a</mtext></mrow></math><m:math><mml:mi>y</mml:mi></m:math><picture><source srcset="/x 1w"><img></picture>
<noscript><img src="/n.png"></noscript><o:p>Word</o:p><ruby>a<rt>b</ruby>]]></description>
<content:encoded><![CDATA[<div><table><tr><td>1</td></tr></table><ul><li>a<li>b</ul></div>]]></content:encoded>
<dc:creator>Eve</dc:creator><category>x</category><enclosure url="/e.mp3" length="1" type="audio/mpeg"/></item>
<item><title>Second &amp; third</title><link>/2</link><itunes:summary>plain</itunes:summary><pubDate>2026-02-30</pubDate></item>
</channel></rss>
"""
RDF = b"""<?xml version="1.0" encoding="ISO-8859-1"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="/c"><title>Caf\xe9</title><link>/c</link></channel>
<item rdf:about="/i1"><title>Item</title><link>/i1</link><description>d</description><dc:date>2026-01-01</dc:date></item>
</rdf:RDF>
"""
JSON = b"""{"version": "https://jsonfeed.org/version/1.1", "title": "J", "home_page_url": "https://example.org/",
 "authors": [{"name": "Jo"}], "items": [{"id": "1", "url": "/1", "title": "One", "content_html": "<p>Hi <b>x</b></p>",
 "date_published": "2026-01-01T00:00:00Z", "tags": ["a"], "attachments": [{"url": "/a.mp3", "mime_type": "audio/mpeg"}]},
 {"id": 2, "content_text": "Two\\n\\u0007", "date_modified": 17}]}
"""
TOKENS = (
    b"&#1;", b"&#0;", b"&#xD800;", b"&#xFFFF;", b"&", b"&&lt;", b"<", b">", b"]]>", b"<![CDATA[", b"<!--", b"-->", b"\0", b"\x0b",
    b"\xed\xa0\x80", b"\xff\xfe", b"\xef\xbb\xbf", b"<!DOCTYPE x>", b"<?xml version='1.1'?>", b"xmlns=' http://www.w3.org/2005/Atom'",
    b"<item>", b"</item>", b"<entry/>", b"<title/>", b"<content type='", b"mode='base64'", b"data-src='/i&#1;.png'",
    b"srcset='x 9999999999w, , y 0x'", b"<img src=\x01>", b"<math><mtext><math>", b"<svg><style>", b"<noscript><noscript><img src=a>",
    b"xml:base='http://[::1'", b"xml:base='\x01'", b"href='http://a.b:99999999/'", b"href='//[v1.x]/'", b"\\ud800", b"1e999999", b"-1",
    b"9" * 400, b"Tue, 99 Foo 99999 99:99:99 +9999", b"0000-00-00T00:00:00Z", b"9999-12-31T23:59:59-23:59", b"[" * 50, b"{" * 50,
    b"<b>" * 150, b" a=''" * 300, "\u202e\ufeff\u2028𝔘".encode(), "ſ".encode() * 20, b"%00%ff", b"<a href='java\tscript:x'>",
)  # fmt: skip
Edit = Callable[[random.Random, bytes], bytes]


def main() -> int:
    """Damage and read the feeds, and print what went wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--feeds", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5.0, help="that a feed may take (default 5)")
    options = parser.parse_args()
    build._Builder._guarded_entry = build._Builder._entry  # type: ignore[method-assign]  # else it hides faults
    outcomes: Counter[str] = Counter()
    crashes: dict[str, str] = {}
    for number in range(options.feeds):
        name = f"{options.seed}:{number}"
        began = time.perf_counter()
        try:
            outcomes[read(damaged(name))] += 1
        except Exception as error:
            outcomes["crashed"] += 1
            place = traceback.extract_tb(error.__traceback__)[-1]
            crashes.setdefault(f"{type(error).__name__} at {place.filename}:{place.lineno}: {error}", name)
        if time.perf_counter() - began > options.seconds:
            outcomes["slow"] += 1
            crashes.setdefault(f"more than {options.seconds:g} s", name)
    print(", ".join(f"{name} {count}" for name, count in outcomes.most_common()))
    for words, name in crashes.items():
        print(f"{name}: {words[:300]}")
    return 1 if crashes else 0


def read(body: bytes) -> str:
    """Read a feed and make the message of it; return `read`, or the name that it is refused by."""
    try:
        document = parse_feed(body, url=URL, content_type="application/xml")
    except ReadingError as error:
        return str(error.kind)
    encode(Report("example.org", "x", (Harvest("feed", 1, 0.0, URL, payload=RetrievedFeed(document)),)))
    return "read"


def damaged(name: str) -> bytes:
    """Return the feed of this name, the same every time."""
    chance = random.Random(name)
    seeds = (ATOM, RSS, RDF, JSON, feed("https://example.org", "/f", Content("Words"), ("/1", "/2")))
    body = chance.choice(seeds)
    for _ in range(chance.choice((1, 1, 2, 3, 5, 9))):
        body = chance.choice(EDITS)(chance, body)
    return body


def _put_token(chance: random.Random, body: bytes) -> bytes:
    place = chance.randrange(len(body) + 1)
    return body[:place] + chance.choice(TOKENS) + body[place:]


def _put_into_text(chance: random.Random, body: bytes) -> bytes:
    """Put a token behind a quotation mark, a bracket or a blank: where values are."""
    places = [place + 1 for place, byte in enumerate(body) if byte in b"\"'> "]
    place = chance.choice(places or [0])
    return body[:place] + chance.choice(TOKENS) + body[place:]


def _turn_byte(chance: random.Random, body: bytes) -> bytes:
    place = chance.randrange(len(body)) if body else 0
    return body[:place] + bytes([chance.randrange(256)]) + body[place + 1 :]


def _cut(chance: random.Random, body: bytes) -> bytes:
    begin = chance.randrange(len(body) + 1)
    return body[:begin] + body[begin + chance.choice((1, 5, 40, 400)) :]


def _double(chance: random.Random, body: bytes) -> bytes:
    begin = chance.randrange(len(body) + 1)
    piece = body[begin : begin + chance.choice((5, 40, 400))]
    return body[:begin] + piece * chance.choice((2, 2, 30)) + body[begin + len(piece) :]


def _truncate(chance: random.Random, body: bytes) -> bytes:
    return body[: chance.randrange(len(body) + 1)]


EDITS: tuple[Edit, ...] = (
    _put_token, _put_into_text, _put_into_text, _turn_byte, _cut, _double, _truncate,
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main())
