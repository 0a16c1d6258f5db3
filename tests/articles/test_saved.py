"""Saved pages and highlights: each way of saving, and marks that hold when a text is read anew."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from articles.intake import lock_articles
from articles.models import Article, Mark, Page
from articles.personal.following import follow, subscriber_of
from articles.saved.highlighting import make_highlight
from articles.saved.models import Highlight, SavedPage
from articles.saved.saving import PageToSave, save_page, save_pages
from crawler.operation.site.retention_rules import expirable_articles
from feeds.models import Feed
from tests.factories import make_article, make_feed, make_user
from tests.html import flat

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, 9, tzinfo=UTC)
BODY = "<p>One lamp was found.</p>\n<p>It burns <em>again</em> today.</p>"


@pytest.fixture
def person() -> User:
    return make_user("ann")


@pytest.fixture
def api(person: User) -> APIClient:
    client = APIClient()
    client.force_login(person)
    return client


@pytest.fixture
def reader(client: Client, person: User) -> Client:
    client.force_login(person)
    return client


def with_text(
    article: Article, body: str = BODY, text: str = "One lamp was found.\nIt burns again today."
) -> None:
    page = article.page
    assert page is not None
    Page.objects.filter(pk=page.pk).update(status="stored", text=text, content=body, fetched=NOW)
    Article.objects.filter(pk=article.pk).update(text=text, text_length=len(text), title="Lamps")


def saved_article(person: User, url: str = "https://paper.example/lamps") -> Article:
    row = save_page(subscriber_of(person), PageToSave(url), NOW).page
    with_text(row.article)
    return Article.objects.select_related("page").get(pk=row.article_id)


def test_a_page_is_saved_once_and_its_tags_and_notes_are_gathered(api: APIClient) -> None:
    url = "https://paper.example/a?utm_source=mail"
    first = api.post("/api/saved/", {"url": url, "tags": ["b", "a"], "note": "why"}, format="json")
    assert first.status_code == 201
    assert first.json()["tags"] == ["a", "b"]
    assert first.json()["state"] == "waiting"
    again = api.post(
        "/api/saved/", {"url": "https://paper.example/a", "tags": ["c"], "note": "how"}, format="json"
    )
    assert again.status_code == 200
    assert (again.json()["id"], again.json()["tags"]) == (first.json()["id"], ["a", "b", "c"])
    assert again.json()["note"] == "why\nhow"
    page = Page.objects.get()
    assert page.requested
    assert page.owner_id is not None


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "mailto:a@b.example", "", "http://", "file:///etc/passwd"]
)
def test_what_is_no_page_of_the_web_is_refused(api: APIClient, url: str) -> None:
    assert api.post("/api/saved/", {"url": url}, format="json").status_code == 400
    assert not SavedPage.objects.exists()


def test_saved_pages_are_nobody_elses_and_in_no_list_of_feeds(person: User, api: APIClient) -> None:
    article = saved_article(person)
    assert api.get("/api/articles/?q=is:saved").json()["results"][0]["id"] == article.pk
    assert api.get("/api/feeds/").json()["results"] == []
    assert Feed.objects.count() == 0
    other = APIClient()
    other.force_login(make_user("ben"))
    assert other.get("/api/articles/").json()["results"] == []
    assert other.get(f"/api/articles/{article.pk}/").status_code == 404
    assert other.get(f"/api/saved/{article.pk}/").status_code == 404
    assert other.delete(f"/api/saved/{article.pk}/").status_code == 404
    assert other.post("/api/highlights/", {"article": article.pk, "quote": "lamp"}).status_code in {400, 404}


def test_filters_changes_and_removal(person: User, api: APIClient) -> None:
    article = saved_article(person)
    api.post("/api/saved/", {"url": "https://paper.example/b"}, format="json")
    changed = api.patch(
        f"/api/saved/{article.pk}/",
        {"tags": ["x"], "read": True, "starred": True, "note": "n"},
        format="json",
    ).json()
    assert (changed["tags"], changed["read"], changed["starred"], changed["note"]) == (["x"], True, True, "n")
    for query, count in (
        ("tag=x", 1), ("read=yes", 1), ("read=no", 1), ("state=waiting", 1), ("state=stored", 1),
        ("q=lamp", 1), ("highlighted=yes", 0), ("way=address", 1), ("", 2),
    ):  # fmt: skip
        assert api.get(f"/api/saved/?{query}").json()["count"] == count, query
    assert api.delete(f"/api/saved/{article.pk}/").status_code == 204
    assert api.get("/api/saved/").json()["count"] == 1
    assert not Page.objects.filter(pk=article.page_id).exists()


def test_an_article_that_a_feed_brought_is_copied_and_stays_when_the_feed_goes(
    person: User, reader: Client
) -> None:
    feed = make_feed()
    article = make_article(feed, content="<p>Kept.</p>", text="Kept.", author="A. Writer")
    reader.post(f"/saved/article/{article.pk}/")
    feed.delete()
    row = SavedPage.objects.select_related("article").get()
    assert (row.article.title, row.article.text, row.article.author) == (article.title, "Kept.", "A. Writer")
    assert row.published == article.published
    assert "Kept." in reader.get(f"/read/{row.article_id}/").content.decode()


def test_what_apps_save_is_saved_and_given_back(person: User) -> None:
    from articles.saved.saving import save_by_app  # noqa: PLC0415

    feed = make_feed()
    subscriber = subscriber_of(person)
    follow(subscriber, feed)
    article = make_article(feed)
    save_by_app(subscriber, [article.pk], NOW, saved=True)
    save_by_app(subscriber, [article.pk], NOW, saved=True)
    copy = SavedPage.objects.get()
    assert copy.way == SavedPage.Way.APP
    save_by_app(subscriber, [article.pk], NOW, saved=False)
    assert not SavedPage.objects.exists()
    assert Article.objects.filter(pk=article.pk).exists()


def test_age_deletes_nothing_that_is_saved_or_highlighted(person: User) -> None:
    saved = saved_article(person)
    marked = make_article(text="Words to mark.", content="<p>Words to mark.</p>")
    plain = make_article()
    make_highlight(subscriber_of(person), marked, "Words")
    assert list(expirable_articles()) == [plain]
    assert saved.pk != plain.pk


def test_a_list_of_thousands_is_saved_in_a_handful_of_statements(
    person: User, django_assert_max_num_queries: Any
) -> None:
    subscriber = subscriber_of(person)
    pages = [PageToSave(f"https://site{number % 50}.example/{number}") for number in range(300)]
    with django_assert_max_num_queries(30):
        outcomes = save_pages(subscriber, pages, NOW)
    assert sum(not isinstance(one, Exception) and one.is_new for one in outcomes) == 300
    again = save_pages(subscriber, pages[:5], NOW)
    assert not any(one.is_new for one in again if not isinstance(one, Exception))


def test_the_page_of_saved_says_what_is_there(person: User, reader: Client) -> None:
    assert "Nothing is saved yet." in reader.get("/read/?show=saved").content.decode()
    assert (
        reader.get("/saved/?url=https://a.example/")["Location"]
        == "/read/?show=saved&url=https%3A%2F%2Fa.example%2F"
    )
    assert not SavedPage.objects.exists()  # a link of a stranger saves nothing
    html = flat(reader.post("/saved/", {"url": "https://a.example/x"}, follow=True).content)
    assert "its text is on the way" in html
    assert "a.example" in html
    assert "This is no address of a page." in flat(
        reader.post("/saved/", {"url": "data:x"}, follow=True).content
    )
    article = saved_article(person)
    make_highlight(subscriber_of(person), article, "burns again", color="g", note="cite")
    html = flat(reader.get("/read/?show=saved").content)
    assert "1 highlight, 1 note" in html
    for only, count in (("g", 1), ("y", 0), ("notes", 1), ("unread", 2)):
        rows = reader.get(f"/read/?show=saved&only={only}").context["rows"]
        assert len(rows) == count, only


def test_a_page_that_could_not_be_read_says_so_and_is_asked_again(person: User, reader: Client) -> None:
    row = save_page(subscriber_of(person), PageToSave("https://gone.example/"), NOW).page
    Page.objects.update(status="failed", failure="http-404", attempts=8)
    assert "Not found" in flat(reader.get("/read/?show=saved").content)
    reader.post(f"/saved/{row.article_id}/again/")
    page = Page.objects.get()
    assert (page.status, page.failure, page.attempts) == ("waiting", "", 0)


def test_words_are_highlighted_across_elements_and_their_notes_stand_beside(
    person: User, reader: Client
) -> None:
    article = saved_article(person)
    quote = "found.\n\nIt burns again"
    reader.post(f"/read/{article.pk}/highlight/", {"quote": quote, "color": "b", "note": "ask <b>"})
    row = Highlight.objects.get()
    html = reader.get(f"/read/{article.pk}/").content.decode()
    assert html.count(f'data-highlight="{row.pk}"') == 3
    assert "ask &lt;b&gt;" in html
    reader.post(f"/highlights/{row.pk}/", {"color": "r", "note": "", "tags": "b, a"})
    row.refresh_from_db()
    assert (row.color, row.note, row.tags) == ("r", "", ["a", "b"])
    reader.post(f"/highlights/{row.pk}/", {"remove": "1"})
    assert not Highlight.objects.exists()


def test_a_highlight_holds_when_the_text_is_read_anew_and_says_when_it_does_not(
    person: User, api: APIClient, reader: Client
) -> None:
    article = saved_article(person)
    row = api.post(
        "/api/highlights/", {"article": article.pk, "quote": "burns again today"}, format="json"
    ).json()
    assert row["fits"]
    with_text(
        article, "<div><p>New first lines.</p><p>It <b>burns</b> again today, and more.</p></div>", "New"
    )
    assert api.get(f"/api/highlights/{row['id']}/").json()["fits"]
    with_text(article, "<p>Wholly other words.</p>", "Wholly other words.")
    assert not api.get(f"/api/highlights/{row['id']}/").json()["fits"]
    assert "no longer in the text" in flat(reader.get(f"/read/{article.pk}/").content)


def test_words_that_are_not_there_are_refused(person: User, api: APIClient) -> None:
    article = saved_article(person)
    answer = api.post("/api/highlights/", {"article": article.pk, "quote": "nothing like it"}, format="json")
    assert (answer.status_code, answer.json()) == (400, {"quote": ["These words are not in the article."]})


def test_sentences_are_marked_without_scripts(person: User, reader: Client) -> None:
    article = saved_article(person)
    html = reader.get(f"/read/{article.pk}/?mark=1").content.decode()
    assert html.count('name="sentence"') == 2
    reader.post(
        f"/read/{article.pk}/highlight/", {"sentence": ["One lamp was found.", "It burns again today."]}
    )
    assert Highlight.objects.count() == 2


def test_highlights_are_taken_along(person: User, api: APIClient, reader: Client) -> None:
    article = saved_article(person)
    make_highlight(subscriber_of(person), article, "One lamp", note="=SUM(A1)", tags=["t"])
    text = b"".join(api.get("/api/highlights/export/?as=markdown").streaming_content).decode()
    assert "> One lamp" in text
    csv = b"".join(api.get("/api/highlights/export/?as=csv").streaming_content).decode()
    assert "'=SUM(A1)" in csv
    (annotation,) = json.loads(b"".join(api.get("/api/highlights/export/?as=json-ld").streaming_content))
    selectors = {each["type"]: each for each in annotation["target"]["selector"]}
    assert selectors["TextQuoteSelector"]["exact"] == "One lamp"
    assert selectors["TextPositionSelector"] == {"type": "TextPositionSelector", "start": 0, "end": 8}
    assert annotation["target"]["source"] == article.url
    assert api.get("/api/highlights/export/?as=doc").status_code == 400
    assert b"One lamp" in b"".join(reader.get("/highlights/file/?as=markdown").streaming_content)
    assert "One lamp" in reader.get("/highlights/?q=lamp&tag=t").content.decode()
    assert "No highlight is like that." in reader.get("/highlights/?q=other").content.decode()


def test_saving_marks_are_the_persons_own(person: User, api: APIClient) -> None:
    article = saved_article(person)
    api.patch(f"/api/saved/{article.pk}/", {"tags": ["mine"]}, format="json")
    assert Mark.objects.get().subscriber == subscriber_of(person)
    lock_articles(pages=[article.page_id or 0])  # as a page that arrives does


def test_pictures_of_saved_pages_outlive_the_cache(person: User, settings: Any, tmp_path: Any) -> None:
    from articles.saved.pictures import keep_pictures  # noqa: PLC0415
    from articles.saved.saving import remove_saved  # noqa: PLC0415
    from crawler.web.pictures.cache import PictureCache  # noqa: PLC0415

    settings.DATA_DIR = tmp_path
    article = saved_article(person)
    picture, other = "https://paper.example/lamp.jpg", "https://paper.example/other.jpg"
    with_text(article, f'<p>One lamp.</p><img src="{picture}">')
    article = Article.objects.select_related("page").get(pk=article.pk)
    cache = PictureCache(tmp_path / "pictures", max_bytes=1)
    cache.write(picture, {"full": b"x" * 50})
    cache.write(other, {"full": b"x" * 50})
    assert keep_pictures([article]) == 1
    cache.trim()
    assert cache.read(picture, "full") is not None
    assert cache.read(other, "full") is None
    remove_saved(subscriber_of(person), [article.pk])
    cache.trim()
    assert cache.read(picture, "full") is None


@pytest.mark.django_db(transaction=True)
def test_addresses_sent_to_oneself_are_saved_and_newsletters_are_not() -> None:
    from feeds.mail.models import MailAddress  # noqa: PLC0415

    user = make_user("cleo", email="cleo@home.example")
    address = MailAddress.objects.create(user=user, name="mine")

    def send(sender: str, subject: str, body: str, more: str = "") -> None:
        head = f"From: {sender}\r\nTo: x@y.example\r\nMessage-ID: <{subject}@x>\r\nSubject: {subject}\r\n"
        message = f"{head}{more}\r\n{body}"
        assert (
            Client().post(f"/inbound/{address.key}/", message.encode(), "message/rfc822").status_code == 202
        )

    send("Cleo <CLEO@home.example>", "boats", "https://paper.example/boats\r\n")
    row = SavedPage.objects.get()
    assert (row.article.url, row.note, row.way) == (
        "https://paper.example/boats",
        "boats",
        SavedPage.Way.MAIL,
    )
    send("other@home.example", "spam", "https://paper.example/spam\r\n")
    send("cleo@home.example", "list", "https://paper.example/l\r\n", "List-Id: <a.example>\r\n")
    assert SavedPage.objects.count() == 1
