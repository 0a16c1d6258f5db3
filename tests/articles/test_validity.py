"""Personal feeds by the rules of the W3C feed validator: no error, and no warning."""

from datetime import UTC, datetime, timedelta

import pytest

from articles.enrichment.enrich import enrich
from articles.personal.selection import address_token
from tests.articles.feed_rules import broken
from tests.factories import make_article, make_feed, make_personal_feed, make_subscriber

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
KINDS = ("rss", "atom", "json")
TEXT = " ".join(f"The river {n} rose after rain number {n}." for n in range(30))


@pytest.fixture
def ann():
    feeds = [make_feed(f"https://news{n}.example/feed?a=1&b=<2>", title=f"News & <{n}>") for n in range(2)]
    subscriber = make_subscriber("ann", *feeds)
    for n in range(60):
        make_article(
            feeds[n % 2],
            title=("1 < 2 & more", "", "川辺の暮らし", "x" * 500)[n % 4],
            url=("https://news.example/1?a=1&b=2", "", "not a url", "javascript:alert(1)")[n % 4],
            author=("Ann <ann@example.org>", "")[n % 2],
            categories=["Weather & <storms>", "", "Rivers"][: n % 4],
            language=("en", "", "zh-Hant-TW", "!!")[n % 4],
            summary=("", "<p>Short &amp; sweet</p>")[n % 2],
            content=("", "<p>Long <a href='https://x.example/'>link</a></p>")[n % 2],
            text=TEXT if n < 4 else f"Text \x0b number {n}.",
            enclosures=[
                {"url": "https://media.example/1.mp3", "type": "audio/mpeg", "length": 5},
                {"url": "https://media.example/2.bin", "type": "odd", "length": -1},
                {"url": "data:x"},
            ][: n % 4],
            published=NOW - timedelta(minutes=n),
        )
    return subscriber


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("body", ["full", "summary"])
@pytest.mark.parametrize("order", ["newest", "interest"])
def test_every_page_of_every_format_keeps_the_rules(client, ann, kind, body, order):
    while enrich(NOW):
        pass
    token = address_token(make_personal_feed(ann, body=body, order=order, name="Mine & <yours>"))
    address = f"http://testserver/personal/{token}.{kind}"
    for asked in (address, f"{address}?page=2"):
        answer = client.get(asked)
        assert broken(answer.content, kind, answer["Content-Type"], asked) == []


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_feed_keeps_them_too(client, kind):
    token = address_token(make_personal_feed(make_subscriber("ben")))
    answer = client.get(f"/personal/{token}.{kind}")
    assert (
        broken(answer.content, kind, answer["Content-Type"], f"http://testserver/personal/{token}.{kind}")
        == []
    )


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        ("rss", b"<rss version='2.0'><channel><title>x</title></channel></rss>", "one link is wanted"),
        ("rss", b"<rss", "not well-formed"),
        ("atom", b"<feed xmlns='http://www.w3.org/2005/Atom'><id>x</id></feed>", "one title is wanted"),
        ("json", b'{"items": [{"id": 1}]}', "version is wanted"),
    ],
)
def test_the_rules_find_what_is_broken(kind, body, said):
    found = broken(body, kind, "x/y; charset=utf-8", "http://testserver/")
    assert any(said in one for one in found)
