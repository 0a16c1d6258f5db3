"""The table of poisons. A new one is a line in POISONS: nothing else knows their names.

Sources: what was reproduced against this product, RFC 9110 and 9112 for answers, XML 1.0 and the HTML
standard for documents, SPARQL 1.1 for queries.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from benchmarks.hostile import wire
from benchmarks.hostile.documents import Content, Shape
from crawler.fetching.browser.jobs import MAX_NAVIGATIONS
from crawler.frontier.budgets import MAX_REDIRECTS

Body = Callable[[str], bytes]
"""Makes a whole document for an origin."""


@dataclass(frozen=True, slots=True)
class Poison:
    """One way to be hostile.

    `content` fills the usual document of a shape; `bodies` replaces the document, and if there is none for
    a shape the poison does not concern it. `headers` are added to the answer's, or replace them. `send`
    writes the answer. `query` is asked as SPARQL (`{service}` is an address on the poison's host).
    More than `max_requests` for it are a fault. `costly` ones take seconds of processor time: the tests leave
    them to the benchmark.
    """

    name: str
    content: Content = field(default_factory=Content)
    headers: Mapping[bytes, bytes] = field(default_factory=dict)
    bodies: Mapping[Shape, Body] | None = None
    send: wire.Send | None = None
    query: str | bytes = ""
    costly: bool = False
    max_requests: int = 6

    def concerns(self, shape: Shape) -> bool:
        """Whether an answer of this shape can be poisoned so."""
        if self.bodies is not None:
            return shape in self.bodies
        return shape != "hub" or bool(self.headers or self.send)

    @property
    def in_document(self) -> bool:
        """Whether it works without an answer of our own: when a hub pushes the document."""
        return self.send is None and (not self.headers or b"Content-Type" in self.headers)


_CONTROL = "a\x00b\x01c\x08d\x0be\x0cf\x1fg\x7fh\x85i\ufffej\uffff"
_ODD = b"a\x00b\x01c\x7f\xed\xa0\x80"
_RANDOM = random.Random(7)  # the same in every run
_FOUR_BYTES = "".join(chr(_RANDOM.randrange(0x20000, 0x2A6DF)) for _ in range(1000))
_LONG = "".join(_RANDOM.choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", k=300_000))
_TERMS = 'What is _:b0 "@en _:y [ ] \\ \\u0000 "^^<x> <urn:a b> . # ^ say "@en _:y'
_N = 400_000


def _nested(depth: int, opening: bytes, closing: bytes, inner: bytes) -> bytes:
    return opening * depth + inner + closing * depth


def _page(inner: bytes) -> bytes:
    head = b"<!doctype html><html><head><title>A page</title></head><body>"
    return head + inner + b"</body></html>"


def _rss(inner: bytes, attributes: bytes = b"") -> bytes:
    opening = b"<rss version='2.0'" + attributes + b"><channel><title>A feed</title>"
    return opening + inner + b"</channel></rss>"


def _item(inner: bytes) -> bytes:
    return b"<item><guid>1</guid><title>One</title>" + inner + b"</item>"


def _urls(inner: bytes) -> bytes:
    return b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>" + inner + b"</urlset>"


_PARAGRAPHS = b"<p>water and <b>stone</b></p>" * 50_000
_WIDE = _nested(200, b"<div>", b"</div>", _PARAGRAPHS)
_FURNITURE = _nested(190, b"<div class='subscribe article'>", b"</div>", b"<p>water and stone</p>" * 40_000)
_LOL = b"<!DOCTYPE a [<!ENTITY a 'lol'>" + b"".join(
    b"<!ENTITY %c '%s'>" % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9)
) + b"]>"  # fmt: skip
_BASES = b"".join(
    b"<item xml:base='http://example.org/" + b"x" * 300 + b"/%d'><title>%d</title></item>" % (n, n)
    for n in range(2500)
)
_MANY_ITEMS = b"".join(
    b"<item><guid>%d</guid><title>%d</title><description>%s</description></item>" % (n, n, b"&lt;b&gt;" * 900)
    for n in range(900)
)


_PICTURE = b'<p>Words</p><img data-src="/i&#1;.png"><math><mrow<noscript>x'
_LETTERS = "".join(chr(code) for code in range(0x10428, 0x10450))  # each takes four bytes
_MANY_WORDS = " ".join(
    "".join(_RANDOM.choices(_LETTERS, k=3)) + "-" + "".join(_RANDOM.choices(_LETTERS, k=3))
    for _ in range(40_000)
).encode()


def _always(body: bytes) -> Body:
    return lambda origin: body


_SCRIPT = b"<p>here</p><script>%s</script>"
_SCRIPTS = (
    ("a script without end", b"while (1) {}"),
    ("alerts without end", b"while (1) alert('again')"),
    ("pop-ups without end", b"setInterval(() => { for (let i = 0; i < 20; i++) open('/?' + i) }, 1)"),
    ("workers that mine", b"const s = URL.createObjectURL(new Blob(['while (1) {}']));"
     b"for (let i = 0; i < 50; i++) new Worker(s)"),
    ("memory without end", b"const a = []; for (;;) a.push(new Uint8Array(5e7).fill(1))"),
    ("questions for permissions", b"setInterval(() => { navigator.geolocation.getCurrentPosition(() => {});"
     b"Notification.requestPermission() }, 10)"),
    ("a way to a private network", b"location = 'http://10.0.0.1/'"),
    ("a way to a file", b"location = 'file:///etc/passwd'"),
    ("reloads without end", b"location.reload()"),
    ("a download of 1 GB", b"const b = new Blob(Array(1024).fill(new Uint8Array(2 ** 20)));"
     b"const a = document.createElement('a'); a.href = URL.createObjectURL(b); a.download = 'x'; a.click()"),
)  # fmt: skip


_EVERY: tuple[Shape, ...] = ("feed", "page", "sitemap", "robots")


POISONS: tuple[Poison, ...] = (
    # Signs that databases, XML or headers refuse
    Poison("control signs in words", Content(_CONTROL)),
    Poison("control signs in headers", headers={
        b"ETag": b'"' + _ODD + b'"', b"Last-Modified": _ODD, b"X-Odd": _ODD,
        b"Link": b"<" + _ODD + b">; rel=hub", b"Set-Cookie": _ODD, b"Cache-Control": b"max-age=\x00",
        b"Retry-After": _ODD,
    }),
    Poison("control signs in the content type", headers={
        b"Content-Type": b"text/xml\x00; charset=\x01utf-8" + _ODD,
    }),
    Poison("odd content type", headers={b"Content-Type": b"text/html; charset=utf-8; " + b"x=" * 20_000}),
    Poison("unknown charset", headers={b"Content-Type": b"text/html; charset=klingon\xff"}),
    Poison("references to control signs", Content(b"a&#0;b&#1;c&#x1F;d&#xFFFE;")),
    Poison("lone surrogates as bytes", Content(b"a\xed\xa0\x80b\xed\xbf\xbfc")),
    Poison("lone surrogates as references", Content(b"a&#xD800;b&#57343;c")),
    Poison("lone surrogates in JSON", Content(b"a\\ud800b\\udfff\\u0000c", form="json")),
    Poison("bytes of no encoding", Content(b"\xff\xfe\x80\xc0\xaf\xf8\x88\x80\x80\x80")),
    # Sizes
    Poison("four-byte words", Content(_FOUR_BYTES)),
    Poison("fields of 300,000 signs", Content(_LONG)),
    Poison("an address of 300,000 signs", Content(link="http://example.org/" + _LONG)),
    Poison("an attribute of 400,000 signs", Content(attribute=b'class="' + b"w " * (_N // 2) + b'"')),
    Poison("an xml:base of 400,000 signs", Content(
        attribute=b'xml:base="http://example.org/' + b"x" * _N + b'"',
    )),
    Poison("50,000 attributes", Content(attribute=b" ".join(b'a%d="1"' % n for n in range(50_000)))),
    # Addresses
    Poison("relative address", Content(link="sitemap.xml")),
    Poison("address without host", Content(link="/sitemap.xml")),
    Poison("empty address", Content(link="")),
    Poison("host alone", Content(link="https://example.org")),
    Poison("broken IPv6 address", Content(link="https://[::1")),
    Poison("broken port", Content(link="http://example.org:99999999/x")),
    Poison("odd address", Content(link="http:\\\\a\x00b@[v1.x]:0x50/../\ud7ff%zz?#[]")),
    Poison("script address", Content(link="javascript:alert(1)//http://example.org/")),
    # Words with a meaning elsewhere
    Poison("words of N-Triples", Content(_TERMS)),
    Poison("words of SQL and templates", Content("%s %(x)s {{ x }} {% x %} ${x} '; DROP TABLE x; -- \\")),
    Poison("words of a spreadsheet", Content("=cmd|' /C calc'!A0")),
    Poison("a number beyond 64 bits", Content("9" * 400)),
    # Documents
    Poison("nothing", bodies=dict.fromkeys(_EVERY, _always(b""))),
    Poison("a picture", bodies=dict.fromkeys(_EVERY, _always(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40))),
    Poison("200,000 elements deep", costly=True, bodies={
        "page": _always(_page(_nested(200_000, b"<div>", b"</div>", b"water"))),
        "feed": _always(_rss(_item(_nested(200_000, b"<a>", b"</a>", b"water")))),
        "sitemap": _always(_urls(_nested(200_000, b"<url>", b"</url>", b"water"))),
    }),
    Poison("never closed", costly=True, bodies={
        "page": _always(_page(b"<div>" * 200_000)),
        "feed": _always(_rss(_item(b"<a>" * 200_000))[:-20]),
        "sitemap": _always(_urls(b"<url><loc>" * 100_000)[:-20]),
    }),
    Poison("200 divs around 50,000 paragraphs", costly=True, bodies={
        "page": _always(_page(_WIDE)),
        "feed": _always(_rss(_item(b"<description><![CDATA[" + _WIDE + b"]]></description>"))),
    }),
    Poison("named furniture, nested", costly=True, bodies={"page": _always(_page(_FURNITURE))}),
    Poison("900 entries of 900 tags", costly=True, bodies={"feed": _always(_rss(_MANY_ITEMS))}),
    Poison("an xml:base for each entry", costly=True, bodies={
        "feed": _always(_rss(_BASES, b" xml:base='http://example.org/" + b"x" * 100_000 + b"/'")),
    }),
    Poison("a picture's address with a control sign", bodies={
        "feed": _always(_rss(_item(b"<description><![CDATA[" + _PICTURE + b"]]></description>"))),
        "page": _always(_page(_PICTURE)),
    }),
    Poison("more words than an index takes", costly=True, bodies={
        "feed": _always(_rss(_item(b"<description>" + _MANY_WORDS + b"</description>"))),
        "page": _always(_page(b"<article><p>" + _MANY_WORDS + b"</p></article>")),
    }),
    Poison("entities in entities", bodies={
        "feed": _always(_LOL + _rss(_item(b"<description>&j;</description>"))),
        "sitemap": _always(_LOL + _urls(b"<url><loc>&j;</loc></url>")),
        "page": _always(_LOL + _page(b"<p>&j;</p>")),
    }),
    Poison("200,000 brackets of JSON", bodies={
        "feed": _always(b'{"version": "https://jsonfeed.org/version/1.1", "items": ' + b"[" * 200_000),
        "page": _always(_page(b"<script type='application/ld+json'>" + b"[" * 200_000 + b"</script>")),
    }),
    Poison("20,000 offers", bodies={
        "page": _always(_page(b"<script type='application/ld+json'>[" + b",".join(
            b'{"@type":"Product","name":"n%d","offers":{"price":"%d"},}' % (n, n) for n in range(20_000)
        ) + b"]</script>")),
    }),
    Poison("many wildcards", bodies={
        "robots": lambda origin: b"User-agent: *\nDisallow: /" + b"*a" * 2000 + b"$\nAllow: /\n",
    }),
    Poison("wishes without end", bodies={
        "robots": lambda origin: b"User-agent: *\nCrawl-delay: 1e999\nRequest-rate: 1/99999999\nAllow: /\n",
    }),
    Poison("5 MB of rules", costly=True, bodies={
        "robots": lambda origin: b"User-agent: *\n"
            + b"".join(b"Disallow: /n%d*x\n" % n for n in range(280_000)),
    }),
    # Answers
    Poison("silence", send=wire.silence),
    Poison("closed at once", send=wire.reset),
    Poison("a body drop by drop", send=wire.drip_body),
    Poison("a head drop by drop", send=wire.drip_head),
    Poison("a body without end", send=wire.endless_body),
    Poison("5 MB of headers", send=wire.endless_head),
    Poison("20,000 times 100 Continue", send=wire.many_continues),
    Poison("102, 103 and 199", send=wire.early_hints),
    Poison("cut off", send=wire.cut_off),
    Poison("a length below zero", send=wire.negative_length),
    Poison("two lengths", send=wire.two_lengths),
    Poison("no HTTP", send=wire.no_http),
    Poison("status 999", send=wire.status(b"HTTP/1.1 999 \x00\xff")),
    Poison("status -1", send=wire.status(b"HTTP/1.1 -1 No")),
    Poison("200 MB under gzip", send=wire.bomb),
    Poison("200 MB under gzip twice", send=wire.nested_bomb),
    Poison("a file of 200 MB under gzip", send=wire.bomb_within),
    Poison("damaged gzip", send=wire.damaged_gzip),
    Poison("redirect to itself", send=wire.redirect(301, b"?again")),
    Poison("redirects to ever new addresses", send=wire.redirect_anew(),
        max_requests=2 * (MAX_REDIRECTS + 1)),  # a feed and an article page are tried twice
    Poison("ever new cookies", send=wire.cookies_anew(), max_requests=2 * (MAX_REDIRECTS + 1)),
    Poison("pages that lead on without end", send=wire.refreshes_anew(),
        max_requests=2 * (MAX_REDIRECTS + 1)),
    Poison("redirect nowhere", send=wire.redirect(302, b"http://[::1")),
    Poison("redirect with control signs", send=wire.redirect(302, b"/a\x00b\xed\xa0\x80")),
    Poison("redirect to a private network", send=wire.redirect(302, b"http://10.0.0.1/")),
    Poison("redirect to a file", send=wire.redirect(302, b"file:///etc/passwd")),
    # Pages that a browser runs
    *(
        Poison(name, costly=True, bodies={"app": _always(_page(_SCRIPT % script))},
            max_requests=2 * MAX_NAVIGATIONS + 4 if name == "reloads without end" else 6)
        for name, script in _SCRIPTS
    ),
    # Questions to the graph
    Poison("a hidden SERVICE", bodies={}, query="SELECT * { FILTER(1<2)SERVICE#>\n<{service}>{?s ?p ?x}}"),
    Poison("an escaped SERVICE", bodies={}, query="SELECT * { \\u0053ERVICE <{service}> {?s ?p ?x}}"),
    Poison("a LOAD", bodies={}, query="LOAD <{service}>"),
    Poison("a query without end", bodies={}, costly=True,
        query="SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?o ?q }"),
    Poison("200,000 brackets of SPARQL", bodies={}, query="SELECT * { ?s ?p " + "[" * 90_000),
    Poison("a query of odd bytes", bodies={}, query=b"SELECT * { ?s ?p \"\x00\xed\xa0\x80\xff\" }"),
    Poison("a query of 300,000 signs", bodies={}, query=f"SELECT * {{ ?s ?p '{_LONG}' }}"),
)  # fmt: skip
