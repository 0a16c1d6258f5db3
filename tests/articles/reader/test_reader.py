"""The reader's lists, articles, marks and counts, as pages and as parts for htmx."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from articles.enrichment.models import Enrichment, Story
from articles.interest.models import Event
from articles.models import Article, Mark, Page, Subscriber
from articles.reader.lists import ReadingList, day_name
from articles.reader.undo import undo_reading, undo_token
from crawler.engine.models import Host
from tests.factories import make_article, make_feed, make_subscriber, make_token
from tests.html import flat

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
NOW = datetime.now(UTC)


@pytest.fixture
def reader() -> Subscriber:
    """A subscriber of two feeds in a folder and one beside it."""
    feeds = [make_feed(title=title) for title in ("Courier", "Gazette")]
    subscriber = make_subscriber("mara", *feeds, folder="News/Local")
    subscriber.subscriptions.create(feed=make_feed(title="Diary"))
    return subscriber


@pytest.fixture
def visitor(client: Client, reader: Subscriber) -> Client:
    client.force_login(reader.user)
    return client


def articles_of(reader: Subscriber, count: int = 3, feed: str = "Courier") -> list[Article]:
    """Make articles of a feed, the newest first."""
    row = reader.subscriptions.get(feed__title=feed).feed
    return [
        make_article(row, title=f"{feed} {number}", published=NOW - timedelta(minutes=number))
        for number in range(count)
    ]


def test_the_list_shows_unread_articles_and_hides_read_ones(visitor: Client, reader: Subscriber) -> None:
    first, second, third = articles_of(reader)
    visitor.post(f"/read/{second.pk}/read/")
    body = visitor.get("/read/").content.decode()
    assert first.title in body
    assert third.title in body
    assert second.title not in body
    assert second.title in visitor.get("/read/?show=all").content.decode()
    assert "2 unread" in body


def test_a_list_of_a_feed_a_folder_and_what_is_starred(visitor: Client, reader: Subscriber) -> None:
    (courier,) = articles_of(reader, 1)
    (diary,) = articles_of(reader, 1, "Diary")
    visitor.post(f"/read/{diary.pk}/star/")

    def titles(query: str) -> set[str]:
        body = visitor.get(f"/read/?{query}", headers=HTMX | {"HX-Target": "list"}).content.decode()
        return {article.title for article in (courier, diary) if f">{article.title}<" in body}

    assert titles("") == {courier.title, diary.title}
    assert titles(f"feed={courier.feed_id}") == {courier.title}
    assert titles("folder=News") == {courier.title}
    assert titles("folder=News/Local") == {courier.title}
    assert titles("show=starred") == {diary.title}


def test_opening_an_article_marks_it_and_answers_with_its_row_and_the_counts(
    visitor: Client, reader: Subscriber
) -> None:
    first, second = articles_of(reader, 2)
    answer = visitor.get(f"/read/{first.pk}/", headers=HTMX | {"HX-Target": "reader"})
    body = answer.content.decode()
    assert f"<h1>{first.title}</h1>" in body
    assert f'id="a{first.pk}"' in body
    assert json.loads(answer["HX-Trigger-After-Settle"]) == {
        "freshet:unread": {"feed": first.feed_id, "unread": 1}
    }
    assert "<html" not in body
    assert Mark.objects.get(subscriber=reader, article=first).read
    whole = visitor.get(f"/read/{first.pk}/").content.decode()
    assert "<html" in whole
    assert f">{first.title}<" in whole
    assert f">{second.title}<" in whole


def test_a_prefetch_opens_nothing(visitor: Client, reader: Subscriber) -> None:
    (article,) = articles_of(reader, 1)
    visitor.get(f"/read/{article.pk}/", headers={"Sec-Purpose": "prefetch"})
    assert not Mark.objects.exists()


def test_next_and_previous_stay_in_the_lists_order(visitor: Client, reader: Subscriber) -> None:
    first, second, third = articles_of(reader)
    (other,) = articles_of(reader, 1, "Diary")
    Article.objects.filter(pk=other.pk).update(published=NOW - timedelta(seconds=90))
    for query, before, after in (("", first, other), (f"feed={second.feed_id}", first, third)):
        body = visitor.get(f"/read/{second.pk}/?{query}", headers=HTMX).content.decode()
        Mark.objects.all().delete()
        assert f'href="/read/{before.pk}/' in body
        assert f'href="/read/{after.pk}/' in body
    oldest_first = ReadingList(order="old").neighbours(reader, second)
    assert [place and place.key for place in oldest_first] == [other.pk, first.pk]


def test_marking_all_of_a_feed_leaves_the_others_and_can_be_undone(
    visitor: Client, reader: Subscriber
) -> None:
    courier, diary = articles_of(reader, 3), articles_of(reader, 2, "Diary")
    visitor.get(f"/read/{courier[0].pk}/")
    answer = visitor.post(f"/read/mark/?feed={courier[0].feed_id}", headers=HTMX)
    assert "2 articles marked as read." in answer.content.decode()
    assert set(Mark.objects.filter(read__isnull=False).values_list("article", flat=True)) == {
        article.pk for article in courier
    }
    token = answer.context["toast"]["token"]
    undone = visitor.post("/read/undo/", {"token": token}, headers=HTMX)
    assert "2 articles unread again." in undone.content.decode()
    assert list(Mark.objects.filter(read__isnull=False).values_list("article", flat=True)) == [courier[0].pk]
    assert diary[0].title in undone.content.decode()


def test_undoing_needs_ones_own_fresh_token(reader: Subscriber) -> None:
    (article,) = articles_of(reader, 1)
    Mark.objects.create(subscriber=reader, article=article, read=NOW)
    stranger = make_subscriber("other")
    assert undo_reading(stranger, undo_token(reader, NOW, 1)) is None
    assert undo_reading(reader, "forged") is None
    assert undo_reading(reader, undo_token(reader, NOW, 1)) == 1


def test_marks_answer_with_the_row_or_go_back_to_the_list(visitor: Client, reader: Subscriber) -> None:
    (article,) = articles_of(reader, 1)
    row = visitor.post(f"/read/{article.pk}/star/?feed=7", headers=HTMX).content.decode()
    assert 'aria-pressed="true"' in row
    assert "<html" not in row
    answer = visitor.post(f"/read/{article.pk}/unstar/?folder=News")
    assert answer.headers["Location"] == "/read/?folder=News"
    assert visitor.post(f"/read/{article.pk}/burn/").status_code == 404
    assert visitor.post("/read/999999/read/").status_code == 404
    assert visitor.get(f"/read/{article.pk}/read/").status_code == 405


def test_counts_are_polled_and_answer_only_when_something_changed(
    visitor: Client, reader: Subscriber
) -> None:
    articles_of(reader, 2)
    assert visitor.get("/read/counts/?total=2").status_code == 204
    articles_of(reader, 3, "Diary")
    body = visitor.get("/read/counts/?total=2", headers=HTMX).content.decode()
    assert "3 new articles" in body
    assert 'data-total="5"' in body
    assert visitor.get("/read/counts/?total=x").status_code == 200


def test_the_api_counts_by_feed_and_folder(client: Client, reader: Subscriber) -> None:
    courier, diary = articles_of(reader, 3), articles_of(reader, 2, "Diary")
    Mark.objects.create(subscriber=reader, article=courier[0], read=NOW)
    answer = client.get("/api/unread/", headers={"Authorization": make_token(reader.user)}).json()
    gazette = reader.subscriptions.get(feed__title="Gazette").feed_id
    assert answer == {
        "total": 4,
        "feeds": {str(courier[0].feed_id): 2, str(diary[0].feed_id): 2, str(gazette): 0},
        "folders": {"News": 2, "News/Local": 2},
    }
    assert client.get("/api/unread/").status_code == 401


def page_of(article: Article, **fields: Any) -> Page:
    host = Host.objects.get(pk=article.feed.host_id)
    page = Page.objects.create(
        url=article.url, url_key=article.identity_key, host=host, status="stored", fetched=NOW, **fields
    )
    Article.objects.filter(pk=article.pk).update(page=page)
    return page


LONG = "<p>" + "A long story of the river and its boats. " * 40 + "</p>"


def test_the_pages_content_is_shown_where_the_feed_gave_less(visitor: Client, reader: Subscriber) -> None:
    (article,) = articles_of(reader, 1)
    Article.objects.filter(pk=article.pk).update(content="<p>A teaser.</p>", text="x" * 1600)
    page_of(article, content=f"<h2>River</h2>{LONG}", text="River\n" + "A long story. " * 40)
    body = visitor.get(f"/read/{article.pk}/").content.decode()
    assert "<h2>River</h2>" in body
    assert "A teaser" not in body
    assert "A teaser" in visitor.get(f"/read/{article.pk}/?text=feed").content.decode()


def test_the_api_tells_the_body_its_source_and_its_media(client: Client, reader: Subscriber) -> None:
    (article,) = articles_of(reader, 1)
    sound = {"url": "https://a.example/a.mp3", "type": "audio/mpeg", "length": 9}
    picture = '<img src="https://a.example/p.jpg" width="800" height="500" alt="Boats">'
    Article.objects.filter(pk=article.pk).update(content=f"{LONG}{picture}", enclosures=[sound])
    page_of(article, content="<p>Short.</p>", text="Short.", image="https://a.example/og.jpg")
    headers = {"Authorization": make_token(reader.user)}
    answer = client.get(f"/api/articles/{article.pk}/", headers=headers).json()
    assert answer["content_from"] == "feed"
    assert answer["content_html"] == answer["feed_html"] == f"{LONG}{picture}"
    assert answer["page_html"] == "<p>Short.</p>"
    assert answer["lead_image"] == "https://a.example/p.jpg"
    assert answer["images"] == [
        {"url": "https://a.example/p.jpg", "alt": "Boats", "width": 800, "height": 500}
    ]
    unknown = {"medium": "", "title": "", "duration": 0, "width": 0, "height": 0}
    assert answer["audio"] == sound | unknown
    assert answer["media"] == [sound | unknown]
    assert answer["details"]["comment_count"] is None
    assert 60 < answer["reading_seconds"] < 120
    bare = make_article(text="")
    answer = client.get(f"/api/articles/{bare.pk}/", headers=headers).json()
    assert (answer["content_html"], answer["content_from"], answer["audio"]) == ("", "", None)


def test_an_article_shows_what_its_feed_says_beside_the_text(
    client: Client, visitor: Client, reader: Subscriber
) -> None:
    (article,) = articles_of(reader, 1)
    details = {
        "duration": 3723, "episode": "12", "season": "2", "comments": "https://a.example/c",
        "comment_count": 7, "source_title": "Other", "source_url": "https://o.example/", "rights": "CC BY",
        "contributors": ["Bo"], "latitude": 48.2, "longitude": 16.4, "chapters": {"url": "https://a.example/c.json"},
        "transcripts": [{"url": "https://a.example/t.vtt", "language": "es"}],
        "related": ["https://r.example/1"],
    }  # fmt: skip
    sound = {"url": "https://a.example/a.mp3", "type": "audio/mpeg", "length": 9}
    Article.objects.filter(pk=article.pk).update(details=details, enclosures=[sound])
    page = flat(visitor.get(f"/read/{article.pk}/").content)
    for words in (
        "Season 2, episode 12", "1 h 2 min", "7 comments", "Taken from", "CC BY", "with Bo", "on a map",
        "Transcript (es)", "Chapters", "r.example",
    ):  # fmt: skip
        assert words in page
    headers = {"Authorization": make_token(reader.user)}
    answer = client.get(f"/api/articles/{article.pk}/", headers=headers).json()["details"]
    assert answer["chapters"] == {"url": "https://a.example/c.json", "type": "", "language": ""}
    assert (answer["duration"], answer["latitude"], answer["via"]) == (3723, 48.2, [])


def test_a_day_or_all_above_an_article_is_marked(visitor: Client, reader: Subscriber) -> None:
    articles = articles_of(reader, 6)
    now = datetime.now(UTC).replace(hour=12, minute=30)
    for number, article in enumerate(articles):
        published = now - timedelta(days=number // 2, minutes=number)
        Article.objects.filter(pk=article.pk).update(published=published)
    read = Mark.objects.filter(subscriber=reader, read__isnull=False)
    visitor.post("/read/mark/", {"above": str(articles[1].pk)})
    assert set(read.values_list("article", flat=True)) == {articles[0].pk}
    day = (now - timedelta(days=1)).date()
    answer = visitor.post("/read/mark/", {"day": day.isoformat()}, headers=HTMX)
    assert set(read.values_list("article", flat=True)) == {articles[n].pk for n in (0, 2, 3)}
    assert "2 articles marked as read." in answer.content.decode()
    visitor.post("/read/mark/?order=old", {"above": str(articles[4].pk)})
    assert read.count() == 4
    for odd in ({"day": "soon"}, {"day": "9999-12-31"}, {"above": "x"}, {"above": "9" * 40}):
        assert visitor.post("/read/mark/", odd).status_code in {200, 302}
    assert read.count() == 4


def test_an_article_liked_in_a_list_by_interest_answers_with_its_row(
    visitor: Client, reader: Subscriber
) -> None:
    articles = articles_of(reader, 4)
    for article in articles[:2]:
        visitor.get(f"/read/{article.pk}/")
    page = visitor.get("/read/?order=interest&show=all").content.decode()
    assert "Because you read Courier" in page
    path = f"/read/{articles[3].pk}"
    said = Event.objects.valid().filter(article=articles[3], kind__in=("more", "less"))
    for word, kinds in (("more", ["more"]), ("less", ["less"]), ("neither", [])):
        answer = visitor.post(f"{path}/{word}/?order=interest", headers=HTMX)
        assert answer.content.decode().count('aria-pressed="true"') == len(kinds)
        assert sorted(said.values_list("kind", flat=True)) == kinds
    assert visitor.post(f"{path}/most/", headers=HTMX).status_code == 404


def test_the_page_of_a_film_frames_only_films_of_its_article(visitor: Client, reader: Subscriber) -> None:
    (article,) = articles_of(reader, 1)
    url = "https://films.example/w/mQ5zB1mMvQ4sJ7kcS2bUkH"
    path = f"/read/{article.pk}/film/"
    assert visitor.get(path, {"u": url}).status_code == 404
    Article.objects.filter(pk=article.pk).update(content=f'<p><a href="{url}">a film</a></p>')
    answer = visitor.get(path, {"u": url})
    assert "frame-src https://films.example;" in answer.headers["Content-Security-Policy"]
    assert answer.headers["X-Frame-Options"] == "SAMEORIGIN"
    injected = "https://films.example;x/w/" + "a" * 22
    for odd in ("", "javascript:alert(1)", f"{url}/", url.replace("https", "http"), injected):
        assert visitor.get(path, {"u": odd}).status_code == 404


def test_articles_scrolled_past_are_marked_together(visitor: Client, reader: Subscriber) -> None:
    first, _, third = articles_of(reader, 3)
    keys = f"{first.pk},{third.pk},x,,{'9' * 30}"
    answer = visitor.post("/read/passed/", {"articles": keys}, headers=HTMX).content.decode()
    assert 'data-total="1"' in answer
    read = Mark.objects.filter(read__isnull=False).values_list("article", flat=True)
    assert set(read) == {first.pk, third.pk}
    assert visitor.get("/read/passed/").status_code == 405


def test_a_story_opens_in_its_place(visitor: Client, reader: Subscriber) -> None:
    first, second, third = articles_of(reader, 3)
    story = Story.objects.create()
    for article in (first, second):
        Enrichment.objects.update_or_create(article=article, defaults={"story": story})
    Enrichment.objects.update_or_create(article=third, defaults={"story": None})
    part = visitor.get(f"/read/{first.pk}/story/", headers=HTMX).content.decode()
    assert first.title in part and second.title in part and third.title not in part
    assert visitor.get(f"/read/{first.pk}/story/")["Location"] == reverse("story", args=[story.pk])
    assert visitor.get(f"/read/{third.pk}/story/", headers=HTMX).status_code == 404
    assert visitor.get("/read/999999/story/", headers=HTMX).status_code == 404


def test_pages_are_sent_compressed(visitor: Client, reader: Subscriber) -> None:
    articles_of(reader, 9)
    plain, small = visitor.get("/read/"), visitor.get("/read/", headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in plain
    assert small["Content-Encoding"] == "gzip"
    assert len(small.content) < len(plain.content) / 3


def test_damaged_details_are_shown_as_none(visitor: Client, reader: Subscriber) -> None:
    (article,) = articles_of(reader, 1)
    Article.objects.filter(pk=article.pk).update(details={"duration": "long", "x": 1})
    assert visitor.get(f"/read/{article.pk}/").status_code == 200


@pytest.mark.parametrize(
    "query",
    [
        "feed=x&folder=%00&show=evil&order=../&page=-1", "page=99999999999999999999", "feed=%F0%9F%98%80",
        "folder=" + "a/" * 900, "text=%3Cscript%3E",
    ],
)  # fmt: skip
def test_addresses_that_nobody_would_type_show_a_list(
    visitor: Client, reader: Subscriber, query: str
) -> None:
    (article,) = articles_of(reader, 1)
    assert visitor.get(f"/read/?{query}").status_code in {200, 400}
    assert visitor.get(f"/read/{article.pk}/?{query}").status_code in {200, 400}


def test_hostile_titles_are_text(visitor: Client, reader: Subscriber) -> None:
    feed = reader.subscriptions.get(feed__title="Courier").feed
    evil = "<script>alert(1)</script>\u202e" + "W" * 50_000
    make_article(feed, title=evil, author=evil, categories=[evil], url="javascript:alert(1)")
    article = Article.objects.get(feed=feed)
    for path in ("/read/", f"/read/{article.pk}/"):
        body = visitor.get(path).content.decode()
        assert "<script>alert" not in body
        assert 'href="javascript' not in body


def test_strangers_are_sent_to_the_sign_in_page(client: Client, reader: Subscriber) -> None:
    (article,) = articles_of(reader, 1)
    for path in ("/read/", f"/read/{article.pk}/", "/read/counts/"):
        assert client.get(path).status_code == 302
    assert client.post(f"/read/{article.pk}/read/").status_code == 302


def test_the_queries_do_not_grow_with_feeds_and_articles(
    visitor: Client, reader: Subscriber, django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        reader.subscriptions.create(feed=make_feed(), folder=f"Folder {number % 5}")
    articles_of(reader, 30)
    visitor.get("/read/")
    with django_assert_max_num_queries(15):
        visitor.get("/read/")


def test_days_have_names() -> None:
    today = datetime(2026, 11, 25, tzinfo=UTC).date()
    names = [day_name(today - timedelta(days=days), today) for days in (0, 1, 2, 30, 400)]
    assert names == ["Today", "Yesterday", "Monday", "26 October", "21 October 2025"]


def test_the_web_app_can_be_installed_and_keeps_unread_articles(client: Client, reader: Subscriber) -> None:
    manifest = client.get("/manifest.webmanifest")
    assert manifest["Content-Type"] == "application/manifest+json"
    assert manifest.json()["start_url"] == "/read/"
    worker = client.get("/worker.js")
    assert worker["Content-Type"] == "text/javascript"
    assert "/read/offline/" in worker.content.decode()
    assert client.get("/read/offline/").status_code == 302
    client.force_login(reader.user)
    first, second = articles_of(reader, 2)
    Article.objects.filter(pk=first.pk).update(content=f'{LONG}<img src="https://a.example/p.jpg">')
    page = client.get("/read/offline/").content.decode()
    assert page.count("data-offline=") == 2
    assert "/img/full/?u=https%3A%2F%2Fa.example%2Fp.jpg" in page
    assert not Mark.objects.exists()
    client.post("/read/passed/", {"articles": f"{first.pk}", "starred": f"{second.pk},x"})
    client.post("/read/passed/", {"articles": f"{first.pk}", "starred": f"{second.pk},x"})
    assert Mark.objects.filter(article=first, read__isnull=False).count() == 1
    assert Mark.objects.filter(article=second, starred__isnull=False).count() == 1


def test_months_that_are_over_are_groups_and_are_marked_whole(visitor: Client, reader: Subscriber) -> None:
    feed = reader.subscriptions.get(feed__title="Courier").feed
    old = NOW.replace(year=NOW.year - 2, month=5, day=3, hour=12)
    for published in (old, old, old.replace(day=20), old.replace(month=4), NOW - timedelta(minutes=1)):
        make_article(feed, published=published)
    page = flat(visitor.get("/read/").content)
    names = re.findall(r'<h2 class="day"> ?([^<]*?) ?<', page)
    assert names[1:] == [f"May {old.year}", f"April {old.year}"]
    visitor.post("/read/mark/", {"day": f"{old.year}-05"})
    assert Mark.objects.filter(read__isnull=False).count() == 3


@pytest.mark.parametrize("day", ["2026-13", "9999-12", "x" * 7])
def test_a_month_that_is_none_marks_nothing(visitor: Client, reader: Subscriber, day: str) -> None:
    articles_of(reader)
    visitor.post("/read/mark/", {"day": day})
    assert not Mark.objects.exists()
