"""Items as readers get them: by stream, by id, and as Atom."""

from datetime import UTC, datetime

import feedparser
import pytest

from articles.greader import views
from articles.greader.names import item_id
from articles.models import Article, Subscription
from articles.personal.following import follow
from articles.personal.marking import mark_read, star
from tests.factories import make_article, make_feed

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


@pytest.fixture
def flood(ann):
    feed = make_feed("https://news.example/feed", title="News", site_url="https://news.example/")
    follow(ann.subscriber, feed, folder="Water/Rivers")
    return make_article(
        feed,
        title="The flood came",
        url="https://news.example/flood",
        author="Ada",
        published=NOW,
        fetched=NOW,
        content="<p>Water <b>rose</b>.</p>",
        text="Water rose.",
        categories=["Weather", "user/-/state/com.google/starred"],
        enclosures=[
            {"url": "https://news.example/a.mp3", "type": "audio/mpeg", "length": 9},
            {"url": "javascript:alert(1)"},
        ],
    )


def test_an_item_has_what_the_original_s_had(ann, flood):
    Article.objects.update(updated=NOW)
    mark_read(ann.subscriber, [flood.pk], NOW)
    star(ann.subscriber, [flood.pk], NOW)
    answer = ann.get("stream/contents/user/-/label/Water/Rivers").json()
    body = {"direction": "ltr", "content": "<p>Water <b>rose</b>.</p>"}
    assert answer["id"] == "user/-/label/Water/Rivers"
    assert answer["title"] == "Water/Rivers"
    assert "continuation" not in answer
    assert answer["items"] == [
        {
            "id": f"tag:google.com,2005:reader/item/{flood.pk:016x}",
            "crawlTimeMsec": "1772366400123",
            "timestampUsec": "1772366400123456",
            "published": 1772366400,
            "updated": 1772366400,
            "title": "The flood came",
            "author": "Ada",
            "canonical": [{"href": "https://news.example/flood"}],
            "alternate": [{"href": "https://news.example/flood", "type": "text/html"}],
            "categories": [
                "user/-/state/com.google/reading-list",
                "user/-/state/com.google/read",
                "user/-/state/com.google/starred",
                "user/-/label/Water/Rivers",
                "Weather",
            ],
            "origin": {
                "streamId": f"feed/{flood.feed_id}",
                "title": "News",
                "htmlUrl": "https://news.example/",
            },
            "summary": body,
            "enclosure": [{"href": "https://news.example/a.mp3", "type": "audio/mpeg", "length": 9}],
        }
    ]


def test_a_feed_cannot_say_that_its_article_was_starred(ann, flood):
    (item,) = ann.items()
    assert "user/-/state/com.google/starred" not in item["categories"]


def test_the_page_s_text_is_the_body_where_it_says_more(ann, flood):
    Article.objects.update(text="Water rose.\nThen it fell again, and everybody was glad.")
    (item,) = ann.items()
    assert item["summary"]["content"].startswith("<p>Water rose.</p><p>Then it fell")


def test_an_article_with_little_in_it_is_an_item_too(ann, flood):
    Article.objects.update(title="", url="", author="", categories=[], enclosures=[], content="", text="")
    (item,) = ann.items()
    assert item["title"] == "Untitled"
    assert not {"author", "enclosure"} & item.keys()
    assert (item["canonical"], item["alternate"]) == ([{"href": ""}], [])


def test_the_subscriber_s_own_title_of_a_feed_is_the_origin_s(ann, flood):
    Subscription.objects.update(title="My news")
    assert ann.items()[0]["origin"]["title"] == "My news"
    assert ann.get(f"stream/contents/feed/{flood.feed_id}").json()["title"] == "My news"


@pytest.mark.parametrize("form", ["{long}", "{hex:016x}", "{hex}"])
def test_items_are_given_by_ids_of_any_form(ann, flood, form):
    asked = form.format(long=item_id(flood.pk), hex=flood.pk)
    for answer in (ann.post("stream/items/contents", i=asked), ann.get("stream/items/contents", i=asked)):
        assert [item["title"] for item in answer.json()["items"]] == ["The flood came"]


def test_items_by_ids_come_in_order_and_unknown_ones_are_left_out(ann, flood):
    older = make_article(flood.feed, published=datetime(2026, 2, 1, tzinfo=UTC))
    strange = make_article()
    asked = [("i", key) for key in (older.pk, flood.pk, strange.pk, 10**12, -5, flood.pk)]

    def keys(**more):
        answer = ann.post("stream/items/contents", [*asked, *more.items()])
        return [int(item["id"][-16:], 16) for item in answer.json()["items"]]

    assert keys() == [flood.pk, older.pk]
    assert keys(r="o") == [older.pk, flood.pk]


def test_as_many_ids_as_a_page_has_items(ann, flood, monkeypatch):
    assert ann.post("stream/items/contents", i=[flood.pk] * 1000).status_code == 200
    monkeypatch.setattr(views, "MAX_REFERENCES", 2)
    assert ann.post("stream/items/contents", i=[1, 2, 3]).status_code == 400
    assert ann.post("stream/items/contents", i=["nonsense"]).status_code == 400
    assert ann.post("stream/items/contents").status_code == 400


def test_a_stream_as_atom(ann, flood):
    make_article(flood.feed, title="Older", published=datetime(2026, 2, 1, tzinfo=UTC), text="a\x01b")
    mark_read(ann.subscriber, [flood.pk], NOW)
    answer = ann.client.get("/reader/atom/user/-/state/com.google/reading-list?n=1", headers=ann.headers)
    assert answer["Content-Type"] == "application/atom+xml; charset=utf-8"
    feed = feedparser.parse(answer.content)
    assert not feed.bozo
    (entry,) = feed.entries
    assert (entry.id, entry.title, entry.link) == (item_id(flood.pk), "The flood came", flood.url)
    assert entry.content[0].value == "<p>Water <b>rose</b>.</p>"
    assert entry.enclosures[0].href == "https://news.example/a.mp3"
    labels = {tag.label for tag in entry.tags if tag.scheme == "http://www.google.com/reader/"}
    assert labels == {"reading-list", "read", "Rivers"}
    more = f"?n=1&c={feed.feed.gr_continuation}"
    rest = ann.client.get(f"/reader/atom/user/-/state/com.google/reading-list{more}", headers=ann.headers)
    (entry,) = feedparser.parse(rest.content).entries
    assert entry.title == "Older"
    assert "fresh" in {tag.label for tag in entry.tags}
