"""Documents of each type as lines, their parts, prices and stock."""

from __future__ import annotations

import json

import pytest

from crawler.reading.documents import Offer
from crawler.reading.errors import ReadingError
from crawler.reading.lines import SelectorFault
from crawler.reading.offers import offer_of
from crawler.reading.pages.tree import whole_tree
from crawler.reading.parts import DATA, MARKUP, ReadingRules, check_part
from crawler.reading.watched import document_lines
from crawler.text.numbers import number_in

PAGE = b"""<!doctype html><html><head><title>Boats</title>
<script type="application/ld+json">{"@type": "Product", "name": "Boat", "offers":
 {"@type": "Offer", "price": "1,299.00", "priceCurrency": "eur", "availability": "https://schema.org/InStock"}}
</script></head><body><nav><a href="/">Home</a></nav><h1>Boats</h1>
<ul class="prices"><li>Canoe <b>300</b></li><li>Kayak <b>450</b></li></ul>
<p id="old">As of yesterday</p></body></html>"""


def lines(body: bytes, content_type: str = "text/html", *parts: str, **how: object) -> list[str]:
    """The texts of the lines that count."""
    reading = ReadingRules(parts, **how)  # type: ignore[arg-type]
    return [line[1:] for line in document_lines(body, content_type, "http://a.example/", reading)]


def test_a_part_of_a_page_by_css_and_xpath() -> None:
    assert lines(PAGE, "text/html", "css:.prices li") == ["Canoe 300", "Kayak 450"]
    assert lines(PAGE, "text/html", ".prices b") == ["300", "450"]
    assert lines(PAGE, "text/html", "xpath://li[2]/b/text()") == ["450"]
    assert lines(PAGE, "text/html", "xpath:count(//li)") == ["2.0"]
    assert lines(PAGE, "text/html", "css:ul", "css:li") == ["Canoe 300", "Kayak 450"]


def test_what_is_ignored_within_a_part_is_marked() -> None:
    reading = ReadingRules(("css:body",), ("#old",))
    assert "-As of yesterday" in document_lines(PAGE, "text/html", "http://a.example/", reading)


def test_navigation_counts_where_it_was_chosen() -> None:
    reading = ReadingRules(("css:nav",))
    assert document_lines(PAGE, "text/html", "http://a.example/", reading) == [" Home"]


def test_a_part_that_is_not_there_is_a_named_failure() -> None:
    for body, content_type, part in (
        (PAGE, "text/html", "css:.gone"),
        (PAGE, "text/html", "xpath://aside"),
        (b'{"a": 1}', "application/json", "jsonpath:$.b"),
        (b'{"a": 1}', "application/json", "jq:.b"),
        (b"a,b\n1,2\n", "text/csv", "css:b"),
    ):
        with pytest.raises(ReadingError) as raised:
            lines(body, content_type, part)
        assert raised.value.kind == "part-missing", part


def test_markup_shows_addresses_and_data_shows_json_ld() -> None:
    assert '<a href="/">' in lines(PAGE, compared=MARKUP)
    assert "offers.price: 1,299.00" in "\n".join(lines(PAGE, compared=DATA))


def test_json_is_a_line_for_each_value_whatever_the_order_of_its_keys() -> None:
    one = json.dumps({"b": [1, {"c": None}], "a": "x  y"}).encode()
    other = json.dumps({"a": "x y", "b": [1, {"c": None}]}).encode()
    assert lines(one, "application/json") == lines(other, "application/ld+json")
    assert lines(one, "application/json") == ["a: x y", "b[]: 1", "b[].c: null"]


def test_a_part_of_json_by_jsonpath_and_jq() -> None:
    body = json.dumps({"items": [{"name": "a", "price": 1}, {"name": "b", "price": 2}]}).encode()
    assert lines(body, "application/json", "jsonpath:$.items[*].price") == ["1", "2"]
    assert lines(body, "text/plain", "jq:.items[] | select(.price > 1)") == ["name: b", "price: 2"]


def test_other_types() -> None:
    assert lines(b"a;b\n1;  2\n", "text/csv") == ["a | b", "1 | 2"]
    assert lines(b"one\n\ntwo\n", "text/plain") == ["one", "two"]
    feed = b"<rss version='2.0'><channel><item><title>New</title><link>http://a.example/1</link></item></channel></rss>"
    assert lines(feed, "application/rss+xml") == ["New http://a.example/1"]
    sitemap = (
        b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>http://a.example/1</loc>"
        b"<lastmod>2026-01-01</lastmod></url></urlset>"
    )
    assert lines(sitemap, "application/xml") == ["http://a.example/1 2026-01-01"]


def test_the_text_of_a_pdf() -> None:
    assert lines(pdf("Water stood high"), "application/pdf") == ["Water stood high"]
    with pytest.raises(ReadingError) as raised:
        lines(b"%PDF-1.7\ngarbage", "application/pdf")
    assert raised.value.kind == "malformed"


def pdf(text: str) -> bytes:
    """A PDF of one page."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj%sendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start = len(body)
    body += b"xref\n0 6\n0000000000 65535 f \n" + table
    return body + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % start


@pytest.mark.parametrize(
    "part",
    ["css:", "xpath://[", 'xpath:string-join(//li, ";")', "jsonpath:$[", "jq:.[", "css:a[", "", "x" * 501],
)
def test_parts_that_cannot_be_understood_are_refused(part: str) -> None:
    with pytest.raises(SelectorFault):
        check_part(part)


@pytest.mark.parametrize(
    "part",
    [
        "xpath://a[contains(., 'matches(b)') and (@c or (@d))]/text()",
        "xpath:(//li)[position() < 3]",
        "xpath://p[re:test(., '^New (one)$')]/following-sibling::node()",
    ],
)
def test_functions_of_xpath_are_known(part: str) -> None:
    check_part(part)


def test_documents_of_other_types_are_refused() -> None:
    with pytest.raises(ReadingError) as raised:
        lines(b"\x89PNG\r\n\x1a\n", "image/png")
    assert raised.value.kind == "unsupported-type"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1.234,56 €", 1234.56), ("$1,234.56", 1234.56), ("1 299 kr", 1299.0), ("12,5", 12.5),
        ("1.000", 1000.0), ("0.125", 0.125), ("3.14", 3.14), ("1.234.567", 1234567.0), ("−4", -4.0),
        ("now", None), ("7.", 7.0),
    ],
)  # fmt: skip
def test_numbers_with_the_separators_of_either_custom(text: str, number: float | None) -> None:
    assert number_in(text) == number


@pytest.mark.parametrize(
    ("head", "offer"),
    [
        (PAGE.decode(), Offer(1299.0, "EUR", "instock")),
        (
            "<div itemscope><span itemprop='price' content='12.50'>x</span>"
            "<meta itemprop='priceCurrency' content='USD'><link itemprop='availability' "
            "href='http://schema.org/OutOfStock'></div>",
            Offer(12.5, "USD", "outofstock"),
        ),
        (
            "<head><meta property='product:price:amount' content='9,99'>"
            "<meta property='product:price:currency' content='GBP'></head>",
            Offer(9.99, "GBP", ""),
        ),
        ("<script type='application/ld+json'>{broken</script><p>12</p>", None),
        ("<script type='application/ld+json'>" + "[" * 500 + "]" * 500 + "</script>", None),
    ],
)
def test_price_and_stock_of_a_page(head: str, offer: Offer | None) -> None:
    root = whole_tree(head)
    assert root is not None
    assert offer_of(root) == offer


ATOM = b"""<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="m"><title>F</title>
<entry><title type="html"><![CDATA[Low tide]]></title><media:thumbnail url="u1"/></entry></feed>"""


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("xpath://entry/title", "Low tide"),
        ("css:entry > title", "Low tide"),
        ("xpath://entry/media:thumbnail/@url", "u1"),
        ("xpath://media:thumbnail/@url", "u1"),
        ("css:thumbnail", 'thumbnail url="u1"'),
        ("xpath:string(//entry/title)", "Low tide"),
        ("xpath:count(//entry)", "1.0"),
    ],
)
def test_xml_is_chosen_by_local_names_and_prefixes(part: str, expected: str) -> None:
    assert lines(ATOM, "application/atom+xml", part) == [expected]


def test_xml_is_read_with_its_attributes_and_as_far_as_it_goes() -> None:
    rates = b'<r><Rate currency="USD">1.08</Rate><Sold/><x><Rate b="2" a="1"/>tail</x></r>'
    expected = ['Rate currency="USD": 1.08', "Sold", 'Rate a="1" b="2"', "tail"]
    assert lines(rates, "application/xml") == expected
    assert lines(b"<list><b>1</b><Item>2", "application/xml") == ["b: 1", "Item: 2"]
    assert lines(b"<a><b>1</b></a>", "application/xml") == ["b: 1"]
    entity = b'<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><r><Rate>&e;</Rate></r>'
    assert lines(entity, "application/xml") == []  # no file is read
    reading = ReadingRules((), ("x",))
    marked = document_lines(rates, "application/xml", "http://a.example/", reading)
    assert [line[0] for line in marked] == [" ", " ", "-", "-"]


@pytest.mark.parametrize("content_type", ["application/yaml", "application/octet-stream", "application/json"])
def test_text_of_any_name_is_read_as_text(content_type: str) -> None:
    assert lines(b"a: 1\nb: 2\n", content_type) == ["a: 1", "b: 2"]


def test_data_that_is_no_text_is_refused() -> None:
    with pytest.raises(ReadingError) as raised:
        lines(bytes(range(32)) * 20, "application/octet-stream")
    assert raised.value.kind == "unsupported-type"


@pytest.mark.parametrize(
    "body", [b'call({"a": 2});', b')]}\',\n{"a": 2}', b'{"a": 2}\n', b'{"a": 2}\n{"b": 1, "a": 2}']
)
def test_json_in_each_wrapping(body: bytes) -> None:
    assert set(lines(body, "application/json", "jq:.a | select(.)")) == {"2"}
    assert set(lines(body, "application/json", "jsonpath:$.a")) == {"2"}


def test_integers_keep_their_digits() -> None:
    body = b'{"id": 12345678901234567, "large": 123456789012345678901234567890}'
    assert lines(body, "application/json", "jq:.id", "jq:.large") == [
        "12345678901234567",
        "123456789012345678901234567890",
    ]
    assert lines(body, "application/json", "jq:{id}") == ["id: 12345678901234567"]
    assert lines(body, "application/json", "jq:.id > 5") == ["true"]


def test_null_is_a_value_where_its_key_is() -> None:
    body = b'[{"a": null}, {"a": 1}, {}]'
    assert lines(body, "application/json", "jq:.[].a") == ["null", "1"]


def test_the_text_of_what_is_not_there_is_missing() -> None:
    for part in ("xpath:string(//aside)", "xpath:normalize-space(//aside)", "xpath:number(//aside)"):
        with pytest.raises(ReadingError):
            lines(PAGE, "text/html", part)
    assert lines(b"<p><b></b></p>", "text/html", "xpath:normalize-space(string(//b))") == []


def test_tables_as_browsers_show_them() -> None:
    table = b"<table><tr><td>1<td>2</table>"
    assert lines(table, "text/html", "css:table > tbody > tr > td:nth-child(2)") == ["2"]
    assert lines(table, "text/html", "xpath:/html/body/table/tbody/tr[1]/td[2]") == ["2"]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("li:not(.ad, .promo)", ["c", "d"]),
        ('li:not([title="a, b)"], .ad)', ["b", "c"]),
        ("li:not(.ad):not(:has(b), .promo)", ["d"]),
    ],
)
def test_negations_of_lists(selector: str, expected: list[str]) -> None:
    page = b"<ul><li class=ad>a<li class=promo>b<li><b>c</b><li title='a, b)'>d</ul>"
    assert lines(page, "text/html", selector) == expected


def test_what_is_not_shown_is_read_where_it_is_chosen() -> None:
    page = b"<title>T</title><meta name=d content=words><p>a<script id=s>var a\n= 1</script><img src=i.png>"
    assert lines(page, "text/html", "css:title", "css:meta", "css:img") == ["T", "words", "i.png"]
    assert lines(page, "text/html", "css:#s") == ["var a", "= 1"]


def test_lines_of_preformatted_text_and_shadow_roots() -> None:
    page = b"<pre>a\n  b <b>c\nd</b>\n</pre><x-a><template shadowrootmode=open><i>in</i></template></x-a>"
    assert lines(page + b"<template>not</template>") == ["a", "b c", "d", "in"]


def test_spaces_of_any_kind_and_signs_without_width_are_no_change() -> None:
    page = "<p>1\u00a0000\u202fEUR\u200b a\u00adb \u200d</p><p>\u200c\u00a0</p>".encode()
    assert lines(page, "text/html; charset=utf-8") == ["1 000 EUR ab"]
    kept = "<p>می\u200cخواهم 👨\u200d👩</p>".encode()
    assert lines(kept, "text/html; charset=utf-8") == ["می\u200cخواهم 👨\u200d👩"]


def test_what_stands_behind_a_chosen_element_is_no_part_of_it() -> None:
    assert lines(b"<p><b>1</b> behind <b>2</b> it", "text/html", "css:b") == ["1", "2"]


def test_json_that_only_lenient_parsers_take() -> None:
    body = b'{"a": "x\\ud800", "b": NaN, "c": "one\nline"}'
    assert lines(body, "application/json") == ["a: x", "b: NaN", "c: one line"]
    with pytest.raises(ReadingError):
        lines(b"[" * 100_000, "application/json", "jq:.a")
