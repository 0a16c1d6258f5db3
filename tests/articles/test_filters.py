"""A parameter of the address means the same on the page and in the API."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.test import Client

from articles.enrichment.models import Enrichment
from articles.models import Page
from feeds.categories import category_at
from feeds.models import Category
from tests.factories import make_article, make_feed, make_user

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client: Client) -> Client:
    client.force_login(make_user())
    return client


@pytest.fixture
def three() -> dict[str, int]:
    tech = make_feed(category=category_at(("News", "Tech")))
    day = timedelta(days=1)
    ferry = make_article(
        tech, title="Ferry", text="The ferries run.", language="en", author="ada", published=NOON
    )
    bridge = make_article(
        title="Bridge", text="Die Brücken.", language="de", category="Land", published=NOON - 2 * day
    )
    ferry.enclosures = [{"url": "https://a.example/a.mp3", "type": "audio/mpeg", "length": 0}]
    ferry.save()
    bridge.image = "https://a.example/b.jpg"
    bridge.page = Page.objects.create(
        url=bridge.url, url_key=uuid4(), host=bridge.feed.host, failure="http-404"
    )
    bridge.save()
    make_article(
        title="Weir", text="", category="2024", details={"comments": "https://a.example/c"},
        published=NOON - 5 * day, fetched=datetime.now(UTC) - 3 * day,
    )  # fmt: skip
    Enrichment.objects.update_or_create(
        article=ferry, defaults={"category": "Transport", "keywords": [["boat", 1.0]], "terms": ["boat"]}
    )
    return {"ferry_feed": tech.pk, **{category.name: category.pk for category in Category.objects.all()}}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", "FBW"),
        ("q=ferry", "F"),
        ("q=ferry&language=en", "F"),
        ("q=ferry&language=de", ""),
        ("feed={ferry_feed}", "F"),
        ("category={News}", "F"),
        ("category={Tech}", "F"),
        ("category=Land", "B"),
        ("category=2024", "W"),
        ("category=none", ""),
        ("feed_category={News}", "F"),
        ("feed_category=999999", ""),
        ("language=de", "B"),
        ("language=xx", ""),
        ("author=ada", "F"),
        ("author=AD", "F"),
        ("has=audio", "F"),
        ("has=image", "B"),
        ("has=text", "FB"),
        ("has=comments", "W"),
        ("has=place", ""),
        ("has=nothing", ""),
        ("q=has:audio", "F"),
        ("q=has:video", ""),
        ("q=-has:audio", "BW"),
        ("q=has:audio bridge", ""),
        ("q=has:audio ferries", "F"),
        ("q=author:ada", "F"),
        ('q=author:"AD"', "F"),
        ("q=lang:de", "B"),
        ("q=after:2026-03-08", "F"),
        ("q=before:2026-03-09", "BW"),
        ("q=before:soon", ""),
        ("q=after:9999-12-31", ""),
        ("q=before:0001-01-01", ""),
        ("q=has:image has:image -author:ada", "B"),
        ("q=site:no.example", ""),
        ("q=topic:transport", "F"),
        ('q=topic:"no such topic"', ""),
        ("q=-topic:transport", "BW"),
        ("q=has:audio&sort=relevance", "F"),
        ("since=2026-03-09", "F"),
        ("until=2026-03-08", "BW"),
        ("until=9999-12-31", "FBW"),
        ("since=2026-03-08&until=2026-03-08", "B"),
        ("published_after=2026-03-10T12:00:00Z", "F"),
        ("published_before=2026-03-10T12:00:00Z", "BW"),
        ("fetched=24", "FB"),
        ("text=on", "FB"),
        ("text=true", "FB"),
        ("text=false", "W"),
        ("page_failure=http-404", "B"),
        ("keyword=Boat", "F"),
        ("topic=Transport", "F"),
    ],
)
def test_articles(reader: Client, three: dict[str, int], query: str, found: str) -> None:
    query = query.format(**three)
    page = [article.title[0] for article in reader.get(f"/articles/?{query}").context["articles"]]
    rows = [row["title"][0] for row in reader.get(f"/api/articles/?{query}").json()["results"]]
    assert (page, rows) == (list(found), list(found))


@pytest.mark.parametrize(
    "query", ["feed=999999", "feed=x", "since=yesterday", "fetched=soon", "feed_category=x"]
)
def test_what_makes_no_sense_is_left_out_by_the_page_and_refused_by_the_api(
    reader: Client, three: dict[str, int], query: str
) -> None:
    page = reader.get(f"/articles/?{query}")
    assert len(page.context["articles"]) == 3
    assert "It was left out" in page.content.decode()
    answer = reader.get(f"/api/articles/?{query}")
    assert (answer.status_code, list(answer.json())) == (400, [query.partition("=")[0]])
