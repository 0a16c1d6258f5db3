"""Streams: which articles they hold, every parameter, and pages that go on while articles arrive."""

from datetime import UTC, datetime, timedelta

import pytest

from articles.greader import views
from articles.greader.streams import microseconds
from articles.personal.following import follow
from articles.personal.marking import mark_read, star
from tests.factories import make_article, make_feed

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
READING_LIST = "user/-/state/com.google/reading-list"
STATE = "user/-/state/com.google/"


@pytest.fixture
def news(ann):
    """A followed feed in the folder News with five articles, an hour apart; the newest first."""
    feed = make_feed("https://news.example/feed", title="News of the day")
    follow(ann.subscriber, feed, folder="News")
    made = [
        make_article(feed, published=NOW - timedelta(hours=hours), fetched=NOW - timedelta(hours=hours))
        for hours in range(5)
    ]
    return [article.pk for article in made]


def test_the_reading_list_is_what_is_followed_newest_first(ann, bob, news):
    make_article()
    other = make_feed()
    follow(bob.subscriber, other)
    theirs = make_article(other)
    assert ann.ids() == news
    assert [item["id"][-16:] for item in ann.items()] == [f"{key:016x}" for key in news]
    assert bob.ids() == [theirs.pk]


def test_no_subscriber_sees_another_s_items(ann, bob, news):
    for stream in (READING_LIST, "user/-/label/News", f"feed/{ann.subscriber.subscriptions.get().feed_id}",
                   "feed/https://news.example/feed"):  # fmt: skip
        assert bob.ids(stream) == []
        assert bob.items(stream) == []
    assert bob.post("stream/items/contents", i=news).json()["items"] == []
    user = ann.subscriber.user
    for name in (user.pk, user.username):
        assert bob.get("stream/items/ids", s=f"user/{name}/state/com.google/starred").status_code == 400
        assert len(ann.ids(f"user/{name}/state/com.google/reading-list")) == 5


def test_marks_are_each_subscriber_s_own(ann, bob, news):
    follow(bob.subscriber, ann.subscriber.subscriptions.get().feed)
    mark_read(ann.subscriber, news[:2], NOW)
    star(ann.subscriber, news[:1], NOW)
    assert ann.ids(f"{STATE}read") == news[:2]
    assert ann.ids(f"{STATE}kept-unread") == news[2:]
    assert ann.ids(f"{STATE}starred") == news[:1]
    assert bob.ids(f"{STATE}kept-unread") == news
    assert bob.ids(f"{STATE}starred") == []


def test_what_freshet_does_not_keep_is_an_empty_stream(ann, news):
    assert ann.ids(f"{STATE}broadcast") == []
    assert ann.ids("user/-/label/Nothing") == []
    assert ann.ids("feed/999999") == []
    assert ann.ids("feed/https://unknown.example/") == []


def test_a_label_is_one_folder_without_those_inside_it(ann, news):
    tech = make_feed()
    follow(ann.subscriber, tech, folder="News/Tech")
    article = make_article(tech)
    assert ann.ids("user/-/label/News") == news
    assert ann.ids("user/-/label/News/Tech") == [article.pk]
    assert len(ann.items("user/-/label/News%2FTech")) == 1


@pytest.mark.parametrize(
    "name", ["feed/{pk}", "feed/https://news.example/feed", "feed%2Fhttps%3A%2F%2Fnews.example%2Ffeed"]
)
def test_a_feed_is_known_by_number_and_by_address(ann, news, name):
    feed = ann.subscriber.subscriptions.get().feed
    stream = name.format(pk=feed.pk)
    answer = ann.get(f"stream/contents/{stream}").json()
    assert len(answer["items"]) == 5
    assert answer["title"] == "News of the day"


def test_a_stream_may_stand_in_the_query_and_is_the_reading_list_without_one(ann, news):
    assert len(ann.get("stream/contents").json()["items"]) == 5
    assert len(ann.get("stream/contents", s="user/-/label/News").json()["items"]) == 5
    assert ann.get("stream/contents", s="user/-/label/Fun").json()["items"] == []


def test_several_streams_are_joined(ann, news):
    fun = make_feed()
    follow(ann.subscriber, fun, folder="Fun")
    article = make_article(fun, published=NOW - timedelta(days=1))
    answer = ann.get("stream/items/ids", [("s", "user/-/label/News"), ("s", f"feed/{fun.pk}")])
    assert [int(row["id"]) for row in answer.json()["itemRefs"]] == [*news, article.pk]


def test_targets_are_excluded_and_included(ann, news):
    mark_read(ann.subscriber, news[:2], NOW)
    star(ann.subscriber, news[1:3], NOW)
    assert ann.ids(xt=f"{STATE}read") == news[2:]
    assert ann.ids(it=f"{STATE}read") == news[:2]
    assert ann.ids(xt=f"{STATE}read", it=f"{STATE}starred") == [news[2]]
    assert ann.ids(xt="user/-/label/News") == []
    assert ann.ids(xt=READING_LIST) == []
    assert ann.ids(xt=f"{STATE}like") == news
    both = [("s", READING_LIST), ("xt", f"{STATE}read"), ("xt", f"{STATE}starred")]
    answer = ann.get("stream/items/ids", both).json()
    assert [int(row["id"]) for row in answer["itemRefs"]] == news[3:]


def test_oldest_first(ann, news):
    assert ann.ids(r="o") == news[::-1]
    assert ann.ids(r="n") == ann.ids(r="d") == news
    assert [int(item["id"][-16:], 16) for item in ann.items(r="o")] == news[::-1]


def test_times_are_those_of_retrieval_in_seconds(ann, news):
    late = make_article(
        ann.subscriber.subscriptions.get().feed, published=NOW - timedelta(days=9), fetched=NOW
    )
    hour_ago = int((NOW - timedelta(hours=1)).timestamp())
    assert ann.ids(ot=hour_ago) == [*news[:2], late.pk]
    assert ann.ids(nt=hour_ago) == news[1:]
    assert ann.ids(ot=hour_ago, nt=hour_ago) == [news[1]]


def test_an_item_s_timestamp_is_of_retrieval_too(ann, news):
    (row,) = ann.get("stream/items/ids", s=READING_LIST, n="1").json()["itemRefs"]
    assert row["timestampUsec"] == str(microseconds(NOW))
    assert row["directStreamIds"] == [f"feed/{ann.subscriber.subscriptions.get().feed_id}"]


def test_other_parameters_of_the_original_change_nothing(ann, news):
    assert ann.ids(ck="1", client="newsplus", output="json", likes="false", comments="false") == news


def collect(ann, path, size, on_page=lambda: None, **more):
    """Every id of the reading list, page by page."""
    found, cursor = [], ""
    while True:
        answer = ann.get(path, {"s": READING_LIST, "n": size, "c": cursor, **more}).json()
        if "items" in answer:
            found += [int(item["id"][-16:], 16) for item in answer["items"]]
        else:
            found += [int(row["id"]) for row in answer["itemRefs"]]
        cursor = answer.get("continuation", "")
        if not cursor:
            return found
        on_page()


@pytest.mark.parametrize("path", ["stream/items/ids", "stream/contents"])
@pytest.mark.parametrize("size", [1, 2, 4, 5, 6])
@pytest.mark.parametrize("order", ["n", "o"])
def test_pages_hold_every_item_once(ann, news, path, size, order):
    assert collect(ann, path, size, r=order) == (news if order == "n" else news[::-1])


@pytest.mark.parametrize("order", ["n", "o"])
def test_articles_that_arrive_meanwhile_shift_nothing(ann, news, order):
    feed = ann.subscriber.subscriptions.get().feed
    arrived = iter([NOW + timedelta(minutes=1), NOW - timedelta(days=1), NOW + timedelta(minutes=2)])

    def arrive():
        at = next(arrived, None)
        if at:
            make_article(feed, published=at, fetched=NOW)

    found = collect(ann, "stream/items/ids", 2, arrive, r=order)
    assert [key for key in found if key in news] == (news if order == "n" else news[::-1])
    assert len(found) == len(set(found))


def test_articles_of_the_same_moment_are_told_apart(ann):
    feed = make_feed()
    follow(ann.subscriber, feed)
    made = [make_article(feed, published=NOW).pk for _ in range(5)]
    assert collect(ann, "stream/items/ids", 2) == made[::-1]
    assert collect(ann, "stream/items/ids", 2, r="o") == made


def test_reading_between_two_pages_loses_no_item(ann, news):
    first = ann.get("stream/items/ids", s=READING_LIST, n="2", xt=f"{STATE}read").json()
    mark_read(ann.subscriber, [int(row["id"]) for row in first["itemRefs"]], NOW)
    rest = ann.ids(n="10", xt=f"{STATE}read", c=first["continuation"])
    assert rest == news[2:]


def test_very_old_articles_have_cursors_too(ann):
    feed = make_feed()
    follow(ann.subscriber, feed)
    made = [make_article(feed, published=datetime(1969, 1, day, tzinfo=UTC)).pk for day in (3, 2, 1)]
    assert collect(ann, "stream/items/ids", 1) == made


def test_a_page_has_a_limit(ann, news, monkeypatch):
    monkeypatch.setattr(views, "MAX_ITEMS", 2)
    monkeypatch.setattr(views, "MAX_REFERENCES", 3)
    assert len(ann.items(n="100000")) == 2
    assert len(ann.ids(n="100000")) == 3
    assert "continuation" in ann.get("stream/contents", n="100000").json()
    monkeypatch.setattr(views, "DEFAULT_ITEMS", 1)
    assert len(ann.ids()) == 1


@pytest.mark.parametrize(
    "query",
    [{"n": "0"}, {"n": "-1"}, {"n": "many"}, {"n": "1" * 19}, {"n": "٣"}, {"r": "x"}, {"c": "x"}, {"c": "1"},
     {"c": "999999999999999999-1"}, {"c": "1-2-3"}, {"ot": "yesterday"}, {"nt": "9" * 18}, {"xt": "nonsense"},
     {"it": "user/-/"}, {"s": ""}, {"s": "nonsense"}, {"s": "feed/http://[::1"}, {"s": "feed/ftp://x.example/"},
     {"s": "feed/a\0b"}, {"xt": "feed/" + "x" * 5000}, {"s": "user/999/state/com.google/read"}],
)  # fmt: skip
def test_what_cannot_be_understood_is_a_bad_request_in_words(ann, news, query):
    answer = ann.get("stream/items/ids", {"s": READING_LIST} | query)
    assert answer.status_code == 400
    assert answer["Content-Type"].startswith("text/plain")
    assert answer["Cache-Control"] == "private, no-store"
    assert answer.content.decode().startswith(("Not understood: ", "There is a zero byte in the address."))


def test_too_many_streams_or_parameters_are_a_bad_request(ann):
    assert ann.get("stream/items/ids", [("s", "feed/1")] * 101).status_code == 400
    assert ann.post("stream/items/ids", [("x", "1")] * 11_001).status_code == 400
    assert ann.get("stream/items/ids").status_code == 400


def test_ids_take_few_queries_and_no_texts(ann, news, django_assert_max_num_queries):
    with django_assert_max_num_queries(4) as queries:  # attempts, login, topics, articles
        ann.ids()
    sql = queries.captured_queries[-1]["sql"]
    for column in ("text", "content", "summary", "search", "title"):
        assert f'"articles_article"."{column}"' not in sql


def test_contents_take_as_many_queries_for_many_items_as_for_one(ann, news, django_assert_max_num_queries):
    for size in ("1", "5"):
        with django_assert_max_num_queries(6):  # attempts, login, topics, articles, marks, subscriptions
            assert len(ann.items(n=size)) == int(size)
