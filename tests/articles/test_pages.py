"""The article list with its search, and an article's page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client

from articles.enrichment.enrich import enrich
from articles.interest import feedback
from articles.models import Article, Page
from articles.personal.following import subscriber_of
from feeds.categories import category_at
from tests.factories import make_article, make_feed, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def reader(client: Client) -> Client:
    client.force_login(make_user())
    return client


def titles(client: Client, query: str) -> list[str]:
    return [article.title for article in client.get(f"/articles/?{query}").context["articles"]]


def with_page(article: Article, **fields: Any) -> Article:
    article.page = Page.objects.create(url=article.url, url_key=uuid4(), host=article.feed.host, **fields)
    article.save()
    return article


@pytest.fixture
def three() -> dict[str, Article]:
    now = datetime(2026, 3, 10, 12, tzinfo=UTC)
    tech = make_feed(category=category_at(("News", "Tech")))
    early, earlier = now - timedelta(days=2), now - timedelta(days=5)
    return {
        "ferry": make_article(tech, title="Ferry", text="The ferry runs.", language="en", published=now),
        "fähre": make_article(title="Fähre", text="Die Fähren legen ab.", language="de", published=early),
        "bare": make_article(title="Bare", text="", published=earlier, fetched=now),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["Ferry", "Fähre", "Bare"]),
        ("q=ferries", ["Ferry"]),
        ("q=fähre", ["Fähre"]),
        ("q=nothing", []),
        ("language=de", ["Fähre"]),
        ("since=2026-03-09", ["Ferry"]),
        ("until=2026-03-08", ["Fähre", "Bare"]),
        ("since=2026-03-08&until=2026-03-08", ["Fähre"]),
        ("text=on", ["Ferry", "Fähre"]),
        ("fetched=1", ["Ferry", "Fähre"]),
    ],
)
def test_the_list_is_searched_and_filtered_by_its_address(
    reader: Client, three: dict[str, Article], query: str, found: list[str]
) -> None:
    assert titles(reader, query) == found


def test_the_list_of_a_feed_and_of_a_category(reader: Client, three: dict[str, Article]) -> None:
    outer = category_at(("News",))
    assert outer is not None
    assert titles(reader, f"feed={three['fähre'].feed_id}") == ["Fähre"]
    assert titles(reader, f"category={outer.pk}") == ["Ferry"]


def test_the_best_match_comes_first_when_asked_for(reader: Client) -> None:
    now = datetime.now(UTC)
    make_article(title="About weirs", text="weir " * 20 + "mill", published=now - timedelta(days=3))
    make_article(title="Aside", text="A weir is mentioned once among many other words here.", published=now)
    assert titles(reader, "q=weir") == ["Aside", "About weirs"]
    assert titles(reader, "q=weir&sort=relevance") == ["About weirs", "Aside"]


def test_found_words_are_marked_in_the_text_and_markup_is_not(reader: Client) -> None:
    make_article(text="The <i>ferry</i> & its mooring")
    html = reader.get("/articles/?q=ferry").content.decode()
    assert "<mark>ferry</mark>" in html
    assert "<i>" not in html and "&amp; its" in html


@pytest.mark.parametrize(
    "query", ["q=%22unclosed", "q=-", "q=%01", "since=yesterday", "feed=99999999999999999999"]
)
def test_strange_parameters_do_not_break_the_list(
    reader: Client, three: dict[str, Article], query: str
) -> None:
    assert reader.get(f"/articles/?{query}").status_code == 200


def test_a_zero_byte_in_a_query_is_refused_in_words(reader: Client) -> None:
    answer = reader.get("/articles/?q=%00")
    assert (answer.status_code, "zero byte" in answer.content.decode()) == (400, True)


def test_a_list_of_many_takes_few_queries_and_no_texts(reader: Client, django_assert_max_num_queries) -> None:  # type: ignore[no-untyped-def]
    feed = make_feed()
    for _ in range(60):
        make_article(feed, text="word " * 500)
    with django_assert_max_num_queries(10):  # one finds the stems of the words, the first time
        answer = reader.get("/articles/?q=word")
    assert "text" in answer.context["articles"][0].get_deferred_fields()
    assert answer.context["page"].paginator.count == 60


def test_an_empty_list_says_what_to_do(reader: Client) -> None:
    assert "They appear with the first visits" in reader.get("/articles/").content.decode()
    assert "take a filter away" in reader.get("/articles/?q=x").content.decode()


def test_the_article_page_shows_what_is_known(reader: Client) -> None:
    article = make_article(
        title="Ferry", author="Ines Vold", language="de", delay=840.0, dating="page", categories=["harbour"],
        content="<p>From the <em>feed</em>.</p>", url="https://www.courier.example/1",
        enclosures=[{"url": "https://courier.example/1.mp3", "type": "audio/mpeg", "length": 23_400_000}],
    )  # fmt: skip
    html = reader.get(article.get_absolute_url()).content.decode()
    for words in (
        "<em>feed</em>",
        "Ines Vold",
        "German",
        "14 min after publication",
        "harbour",
        "23.4 MB",
    ):
        assert words in html
    assert "by the page&#x27;s date" in html
    assert '<a href="https://www.courier.example/1" rel="noopener noreferrer">' in html


def test_the_fuller_of_feed_content_and_page_text_comes_first(reader: Client) -> None:
    article = with_page(
        make_article(content="<p>Teaser.</p>"), status="stored", text="A long story.\n\nIts second <part>."
    )
    html = reader.get(article.get_absolute_url()).content.decode()
    assert html.index("A long story.") < html.index("As the feed gave it") < html.index("Teaser.")
    assert "<p>Its second &lt;part&gt;.</p>" in html


def test_an_article_without_text_says_why(reader: Client) -> None:
    article = with_page(make_article(text=""), status="refused", failure="robots")
    assert "robots.txt does not allow" in reader.get(article.get_absolute_url()).content.decode()


def test_other_feeds_with_the_same_page_are_named(reader: Client) -> None:
    article = with_page(make_article(title="Shared news"), status="stored")
    other = make_article(make_feed(title="The other feed"), title="Shared news", page=article.page)
    enrich(datetime.now(UTC))
    answer = reader.get(article.get_absolute_url())
    assert [member.article_id for member in answer.context["members"]] == [other.pk]
    assert "The other feed" in answer.content.decode()


def test_an_address_that_is_not_of_the_web_is_not_linked(reader: Client) -> None:
    article = make_article(url="javascript:alert(1)", enclosures=[{"url": "data:text/html,x"}])
    html = reader.get(article.get_absolute_url()).content.decode()
    assert 'href="javascript:' not in html and 'href="data:' not in html


def test_the_buttons_show_what_was_said_and_not_the_words_of_the_article(reader: Client) -> None:
    subscriber = subscriber_of(User.objects.get())
    article = make_article(content="<p>Nothing more, nothing less: they hide and save.</p>")
    html = reader.get(article.get_absolute_url()).content.decode()
    assert "Undo" not in html and "Show again" not in html
    feedback.give(subscriber, article.pk, "less", datetime.now(UTC))
    html = reader.get(article.get_absolute_url()).content.decode()
    assert "Undo “less”" in html and "Undo “more like this”" not in html
    assert "Nothing more, nothing less" in html
    said_only = make_article(content="<p>Rain.</p>")
    feedback.give(subscriber, said_only.pk, "hide", datetime.now(UTC))
    assert "Show again" in reader.get(said_only.get_absolute_url()).content.decode()
