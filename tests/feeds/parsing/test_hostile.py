# ruff: noqa: E501 (documents stand as they come)
"""Documents made to hurt end soon, with a name for what is wrong, or do no harm."""

from __future__ import annotations

import gzip
import time
import tracemalloc
from collections.abc import Callable

import pytest

from crawler.reading.documents import FeedDocument
from crawler.reading.errors import ReadingError
from crawler.reading.feeds import parse_feed

URL = "https://example.org/feed"
HEAD = b'<?xml version="1.0"?>'


def parse(body: bytes) -> FeedDocument:
    return parse_feed(body, url=URL)


def refused(body: bytes) -> str:
    with pytest.raises(ReadingError) as raised:
        parse(body)
    return raised.value.kind


def rss(items: bytes, head: bytes = HEAD) -> bytes:
    return head + b'<rss version="2.0"><channel><title>T</title>' + items + b"</channel></rss>"


def entry(markup: bytes) -> bytes:
    return b"<item><guid>1</guid><description><![CDATA[" + markup + b"]]></description></item>"


def within(seconds: float, work: Callable[[], object]) -> object:
    """What `work` gives, having used less than so many seconds of CPU (which other load does not stretch)."""
    start = time.process_time()
    result = work()
    assert time.process_time() - start < seconds
    return result


def test_a_billion_laughs_are_not_laughed() -> None:
    entities = b"".join(b'<!ENTITY l%d "%s">' % (i, b"&l%d;" % (i - 1) * 10) for i in range(1, 10))
    dtd = b'<!DOCTYPE rss [<!ENTITY l0 "lol">' + entities + b"]>"
    body = rss(b"<item><guid>&l9;</guid></item>", HEAD + dtd)
    assert within(1, lambda: refused(body)) == "too-large"


@pytest.mark.parametrize(
    "place", [b"<item><guid>1</guid><title>%s</title></item>", b'<item a="%s"><guid>1</guid></item>']
)
def test_a_quadratic_blow_up_does_not_happen(place: bytes) -> None:
    dtd = b'<!DOCTYPE rss [<!ENTITY a "' + b"a" * 30_000 + b'">]>'

    def work() -> object:
        try:
            return sum(len(e.title) for e in parse(rss(place % (b"&a;" * 30_000), HEAD + dtd)).entries)
        except ReadingError as error:
            return error.kind

    assert within(1, work) in ("too-large", 0)


def test_external_entities_are_not_read() -> None:
    dtd = b'<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY % p SYSTEM "http://127.0.0.1:9/x">%p;]>'
    feed = parse(rss(b"<item><guid>a&x;b</guid><description>&x;</description></item>", HEAD + dtd))
    assert [(e.identity, e.text) for e in feed.entries] == [("ab", "")]


def test_external_document_types_and_xinclude_are_not_loaded() -> None:
    dtd = b'<!DOCTYPE rss SYSTEM "http://127.0.0.1:9/rss.dtd">'
    include = (
        b'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file:///etc/passwd" parse="text"/>'
    )
    feed = parse(rss(b"<item><guid>1</guid><description>a" + include + b"</description></item>", HEAD + dtd))
    assert "root" not in feed.entries[0].text


@pytest.mark.parametrize("broken", [b"", b"<b &nbsp;", b"<item><title>x</b>"])
@pytest.mark.parametrize("closing", [0, 200_000])
def test_depth_is_refused_at_once(broken: bytes, closing: int) -> None:
    body = b"<rss><channel>" + broken + b"<a>" * 200_000 + b"</a>" * closing
    assert within(1, lambda: refused(body)) == "too-deep"


def test_deep_json_is_refused() -> None:
    body = b'{"version": "https://jsonfeed.org/version/1", "items": ' + b"[" * 100_000
    assert within(1, lambda: refused(body)) == "too-deep"


def test_more_values_than_a_feed_has_are_refused_before_they_are_made() -> None:
    body = b'{"version": "https://jsonfeed.org/version/1", "items": [' + b"{}," * 300_000 + b"{}]}"
    assert within(1, lambda: refused(body)) == "too-large"


def test_brackets_and_commas_in_strings_are_no_values() -> None:
    text = b'\\"[,{\\\\' * 300_000
    body = b'{"version": "https://jsonfeed.org/version/1", "items": [{"id": "1", "title": "' + text + b'"}]}'
    assert len(parse(body).entries) == 1


def test_more_elements_than_a_feed_has_are_refused_before_they_are_made() -> None:
    assert within(1, lambda: refused(rss(b"<i/>" * 300_000))) == "too-large"


def test_tags_in_cdata_are_no_elements() -> None:
    assert len(parse(rss(entry(b"<b>a</b>" * 300_000))).entries) == 1


def test_a_million_attributes_are_refused() -> None:
    distinct = b" ".join(b'a%d="1"' % i for i in range(600_000))
    assert within(1, lambda: refused(b"<rss " + distinct + b"><channel/></rss>")) == "too-large"
    assert within(1, lambda: refused(b"<rss " + b'a="1" ' * 1_000_000 + b"/>")) == "too-large"
    assert (
        within(1, lambda: refused(b"<rss " + distinct.replace(b'"', b"") + b"><channel/></rss>"))
        == "malformed"
    )


def test_a_text_node_of_ten_megabytes_is_refused() -> None:
    assert (
        within(1, lambda: refused(rss(b"<item><title>" + b"x" * 10_000_000 + b"</title></item>")))
        == "too-large"
    )


def test_a_long_data_address_is_no_attack() -> None:
    feed = parse(rss(entry(b'<img src="data:image/png;base64,' + b"A=" * 100_000 + b'">text')))
    assert feed.entries[0].text == "text"


def test_gzip_bombs_stop_at_the_limit() -> None:
    assert within(1, lambda: refused(gzip.compress(b"\0" * 100_000_000, 1))) == "too-large"


def test_damaged_gzip_is_malformed() -> None:
    assert refused(b"\x1f\x8b\x08\x00 this is no gzip") == "malformed"


@pytest.mark.parametrize(
    "markup",
    [b"<div>" * 150_000, b"".join(b"<b id=%d><p>" % i for i in range(20_000)), b"<font>" * 30_000 + b"<p>x" * 30_000, b"<" * 900_000,
     b"<!--" * 200_000, b"<script>" * 100_000, b'<a href="' * 90_000, b"&" * 900_000, b"<svg><style>" * 60_000],
    ids=["divs", "formatting", "fonts", "less-than", "comments", "scripts", "quotes", "ampersands", "svg"],
)  # fmt: skip
def test_hostile_markup_ends_soon(markup: bytes) -> None:
    feed = within(2, lambda: parse(rss(entry(markup))))
    assert isinstance(feed, FeedDocument) and feed.size == 1


def test_many_entries_with_nasty_markup_end_soon() -> None:
    nasty = b"".join(b"<b id=%d><p>" % i for i in range(90)) + b"</b>" * 90
    body = rss(b"".join(entry(nasty).replace(b">1<", b">%d<" % i) for i in range(300)))
    assert within(3, lambda: parse(body).size) == 300


@pytest.mark.parametrize(
    "junk",
    [b"<![CDATA[" * 300_000, b"<!--" * 500_000, b"<?" * 500_000, b"<!" * 100_000, b"<a " * 100_000, b"</" * 100_000, b"&a" * 200_000,
     b"<!ENTITY a 'b'>" * 30_000, b"<item>" * 20_000],
    ids=["cdata", "comments", "instructions", "declarations", "tags", "ends", "references", "entities", "items"],
)  # fmt: skip
def test_ill_formed_junk_ends_soon(junk: bytes) -> None:
    def work() -> object:
        try:
            return parse(b"<rss><channel><title>T</title>" + junk)
        except ReadingError as error:
            return error

    assert isinstance(within(3, work), FeedDocument | ReadingError)


def test_a_million_items_leave_a_thousand() -> None:
    items = b"".join(b"<item><guid>%d</guid></item>" % i for i in range(60_000))
    assert within(2, lambda: parse(rss(items)).size) == 1000


def test_hundreds_of_levels_of_items_end_soon() -> None:
    body = rss((b"<item>" * 100 + b"</item>" * 100) * 1000)
    assert within(2, lambda: parse(body).size) == 0


LONG = b"x" * 400_000
ITEMS = b"".join(
    b"<item><guid>%d</guid><title>t</title><link>/p/%d</link></item>" % (i, i) for i in range(4_000)
)
NAMES = b" ".join(b"a%d=1" % i for i in range(90_000))
ENTRIES = b"".join(
    b'<entry><id>%d</id><link href="%d"/><content type="html">&lt;p>a</content></entry>' % (i, i)
    for i in range(5_000)
)


@pytest.mark.parametrize(
    "body",
    [
        b'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://e.example/' + LONG + b'/">' + ENTRIES + b"</feed>",
        b'<rss xml:base="https://e.example/' + LONG + b'/"><channel>' + ITEMS + b"</channel></rss>",
        b'<rss xml:lang="' + LONG + b'"><channel>' + ITEMS + b"</channel></rss>",
        b'<rss a="' + LONG + b'"><channel b="' + LONG + b'">' + ITEMS + b"</channel></rss>",
        b'<rss xml:base="https://e.example/' + LONG + b'/"><channel><title>a & b</title><item><title>c</b>' + ITEMS,
        b"<rss><channel lang='" + LONG + b"'><title>a & b</title><item><title>c</b>" + ITEMS,
        b"<rss>" + (b'<channel xml:base="' + b"y" * 1000 + b'/">') * 200 + ITEMS + b"</channel>" * 200 + b"</rss>",
        rss(entry(b"<div>" * 200 + b"<p>x</p>" * 50_000 + b"</div>" * 200)),
        rss(entry(b"<p>x</p>" * 300 + b"<div " + NAMES + b">x</div>")),
        rss(entry(b"<div " + NAMES + b">x</div>")),
        rss(entry(b"<div " + NAMES.replace(b"1", b"'>'") + b">x</div>")),
        rss(entry(b"<div " + NAMES.replace(b"=", b"<=") + b">x</div>")),
        rss(entry(b"<noscript>" * 50 + b"<img src=a>" * 60_000)),
        rss(entry(b"<picture>" * 90 + b"<source srcset=a.jpg>" * 30 + b"<img>" * 60_000)),
        rss(entry(b'<img srcset="' + b"a.b 1x," * 140_000 + b'">')),
        rss(entry(b"<math><mi>x</mi>" * 40_000)),
        rss(entry(b"<iframe " * 100_000) + entry(b"<iframe/>" * 100_000)),
        b"<rss " + b" ".join(b"a%d=1" % i for i in range(60_000)) + b"><channel><title>a & b</b></title>" + ITEMS,
    ],
    ids=["base of Atom", "base of RSS", "language", "attributes", "base, ill-formed", "language, ill-formed", "bases", "divs",
         "names", "names alone", "names with ends", "names with beginnings", "noscript", "pictures", "srcset", "formulas",
         "iframes", "attributes, ill-formed"],
)  # fmt: skip
def test_costly_documents_take_little_time(body: bytes) -> None:
    def work() -> object:
        try:
            return parse(body)
        except ReadingError as error:
            return error

    assert within(4, work)


@pytest.mark.parametrize("name", [b"xml:base", b"xml:lang", b"other"])
def test_what_entries_inherit_is_not_copied_for_each_of_them(name: bytes) -> None:
    body = b'<feed xmlns="http://www.w3.org/2005/Atom" ' + name + b'="https://e.example/' + LONG + b'/">'
    tracemalloc.start()
    parse(body + ENTRIES[:100_000].rpartition(b"<entry")[0] + b"</feed>")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30_000_000


def test_long_bases_count_as_missing_and_short_ones_inside_still_hold() -> None:
    body = (
        b'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://e.example/' + LONG + b'/">'
        b'<entry><id>1</id><link href="a"/></entry>'
        b'<entry xml:base="https://b.example/c/"><id>2</id><link href="a"/></entry></feed>'
    )
    assert [e.url for e in parse(body).entries] == ["https://example.org/a", "https://b.example/c/a"]


def test_addresses_made_absolute_have_room_but_not_without_end() -> None:
    base = b"https://e.example/" + b"b" * 3_900 + b"/"
    images = entry(b"<img src=a>" * 80_000)
    body = b'<rss xml:base="' + base + b'"><channel>' + images + b"</channel></rss>"
    (found,) = parse(body).entries
    assert 900_000 < len(found.summary) < 2_000_000


def test_tags_of_a_few_letters_do_not_grow_without_end() -> None:
    (found,) = parse(rss(entry(b"<a>" * 90 + b"<a>x" * 240_000))).entries
    assert len(found.summary) <= 2_000_000


@pytest.mark.parametrize(
    "markup",
    [
        '<img data-src="/i&#1;.png">',
        '<img srcset="/i&#11;.png 2x"><noscript></noscript>',
        "<math><mrow<noscript>x",
        "<math><m&#xD800;>x</math>",
        "<m:math><mml:mi'>y",
    ],
)
def test_markup_that_no_tree_takes_back_harms_only_itself(markup: str) -> None:
    items = f"<item><title>bad</title><description><![CDATA[{markup}]]></description></item>"
    items += "<item><title>good</title><description>words</description></item>"
    document = parse_feed(f"<rss><channel>{items}</channel></rss>".encode(), url="https://example.org/")
    assert [entry.title for entry in document.entries] == ["bad", "good"]


def test_an_entry_that_cannot_be_read_keeps_title_and_address(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: object, fragment: str, base: str) -> str:
        if "bad" in fragment:
            raise RuntimeError("a parser gave up")
        return fragment

    monkeypatch.setattr("crawler.reading.feeds.markup.Sanitiser.clean", fail)
    items = "".join(
        f"<item><title>{name}</title><link>https://example.org/{name}</link><description>{name}</description></item>"
        for name in ("bad", "good")
    )
    document = parse_feed(f"<rss><channel>{items}</channel></rss>".encode(), url="https://example.org/")
    assert [(entry.title, entry.url, entry.text) for entry in document.entries] == [
        ("bad", "https://example.org/bad", ""),
        ("good", "https://example.org/good", "good"),
    ]
