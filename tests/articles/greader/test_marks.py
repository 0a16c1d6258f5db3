"""Reading and starring from a reader: edit-tag and mark-all-as-read, and the counts of what is unread."""

from datetime import UTC, datetime, timedelta

import pytest

from articles.greader import streams
from articles.greader.names import item_id
from articles.greader.streams import microseconds
from articles.models import Article, Mark
from articles.personal.following import follow
from articles.personal.marking import mark_all_read, mark_read, star
from feeds.models import Feed
from tests.factories import make_article, make_feed, make_subscriber

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
STATE = "user/-/state/com.google/"


@pytest.fixture
def keys(ann):
    """Three articles of a feed in the folder News, an hour apart."""
    feed = make_feed("https://news.example/feed", last_new=NOW)
    follow(ann.subscriber, feed, folder="News")
    times = [NOW - timedelta(hours=hours) for hours in range(3)]
    return [make_article(feed, published=at, fetched=at).pk for at in times]


def read(reader):
    return set(
        Mark.objects.filter(subscriber=reader.subscriber, read__isnull=False).values_list(
            "article", flat=True
        )
    )


def starred(reader):
    rows = Mark.objects.filter(subscriber=reader.subscriber, starred__isnull=False)
    return set(rows.values_list("article", flat=True))


def edit(reader, ids, *, a=(), r=()):
    answer = reader.post("edit-tag", {"i": ids, "a": [STATE + x for x in a], "r": [STATE + x for x in r]})
    assert (answer.status_code, answer.content) == (200, b"OK"), answer.content


def test_reading_and_unreading(ann, keys):
    edit(ann, [item_id(keys[0]), str(keys[1])], a=["read"])
    assert read(ann) == set(keys[:2])
    edit(ann, f"{keys[0]:016x}", r=["read"])
    assert read(ann) == {keys[1]}


def test_reading_as_newsboat_says_it(ann, keys):
    edit(ann, item_id(keys[0]), a=["read"], r=["kept-unread"])
    assert read(ann) == {keys[0]}
    edit(ann, item_id(keys[0]), r=["read"], a=["kept-unread", "tracking-kept-unread"])
    assert read(ann) == set()


def test_kept_unread_is_the_opposite_of_read(ann, keys):
    edit(ann, keys[0], a=["read"])
    edit(ann, keys[0], a=["kept-unread"])
    assert read(ann) == set()
    edit(ann, keys[0], r=["kept-unread"])
    assert read(ann) == {keys[0]}


def test_starring_leaves_what_is_read_alone(ann, keys):
    edit(ann, keys[0], a=["read"])
    edit(ann, keys[:2], a=["starred"])
    edit(ann, keys[0], r=["starred"])
    assert (read(ann), starred(ann)) == ({keys[0]}, {keys[1]})
    edit(ann, keys[2], a=["read", "starred"])
    assert keys[2] in read(ann) & starred(ann)


def test_states_that_freshet_does_not_keep_are_passed_by(ann, keys):
    edit(ann, keys[0], a=["like", "broadcast"])
    assert not Mark.objects.exists()


@pytest.mark.parametrize(
    "form",
    [{"a": STATE + "read"}, {"i": "1"}, {"i": "nonsense", "a": STATE + "read"},
     {"i": "1", "a": STATE + "read", "r": STATE + "read"},
     {"i": "1", "a": [STATE + "read", STATE + "kept-unread"]},
     {"i": "1", "a": "user/-/label/ "}, {"i": "1", "a": "user/999/state/com.google/read"},
     {"i": ["1"] * 10_001, "a": STATE + "read"}],
)  # fmt: skip
def test_what_cannot_be_understood_marks_nothing(ann, keys, form):
    answer = ann.post("edit-tag", form)
    assert answer.status_code == 400
    assert answer.content.startswith(b"Not understood: ")
    assert not Mark.objects.exists()


def test_only_articles_of_what_is_followed_are_marked(ann, bob, keys):
    edit(bob, keys, a=["read", "starred"])
    assert not Mark.objects.exists()


def test_ten_thousand_ids_fit_into_one_request(ann, keys):
    edit(ann, [item_id(key) for key in (*keys, *range(10**6, 10**6 + 9_997))], a=["read"])
    assert read(ann) == set(keys)


def test_everything_is_marked_as_read(ann, keys):
    assert ann.post("mark-all-as-read", s=f"{STATE}reading-list").content == b"OK"
    assert read(ann) == set(keys)


@pytest.mark.parametrize("stream", ["feed/{feed}", "feed/https://news.example/feed", "user/-/label/News"])
def test_one_feed_or_folder_is_marked_as_read(ann, keys, stream):
    other = make_feed()
    follow(ann.subscriber, other, folder="News/Tech")
    make_article(other)
    feed = Article.objects.get(pk=keys[0]).feed_id
    assert ann.post("mark-all-as-read", s=stream.format(feed=feed)).content == b"OK"
    assert read(ann) == set(keys)


def test_what_was_starred_is_marked_as_read_alone(ann, keys):
    star(ann.subscriber, keys[:1], NOW)
    ann.post("mark-all-as-read", s=f"{STATE}starred")
    assert read(ann) == {keys[0]}


@pytest.mark.parametrize("scale", [1, 1000, 1_000_000])
def test_what_came_after_the_time_stays_unread(ann, keys, scale):
    until = NOW - timedelta(hours=1)
    late = make_article(Article.objects.get(pk=keys[0]).feed, published=NOW - timedelta(days=9), fetched=NOW)
    ann.post("mark-all-as-read", s=f"{STATE}reading-list", ts=microseconds(until) * scale // 1_000_000)
    assert read(ann) == set(keys[1:])
    assert late.pk not in read(ann)


@pytest.mark.parametrize("form", [{}, {"s": "nonsense"}, {"s": f"{STATE}reading-list", "ts": "now"}])
def test_marking_all_of_nothing_known_is_a_bad_request(ann, keys, form):
    assert ann.post("mark-all-as-read", form).status_code == 400
    assert not Mark.objects.exists()


def test_marking_all_goes_on_over_many_transactions(ann, keys, monkeypatch):
    monkeypatch.setattr("articles.personal.marking.AT_ONCE", 2)
    mark_read(ann.subscriber, keys[1:2], NOW)
    assert mark_all_read(ann.subscriber, Article.objects.all(), NOW) == 2
    assert read(ann) == set(keys)


def test_unmarking_makes_no_rows(keys):
    subscriber = make_subscriber()
    mark_read(subscriber, keys, NOW, read=False)
    star(subscriber, keys, NOW, starred=False)
    assert not Mark.objects.exists()


def counts(reader):
    answer = reader.get("unread-count", output="json").json()
    return {row["id"]: row["count"] for row in answer["unreadcounts"]}


def test_unread_articles_are_counted_by_feed_folder_and_all(ann, bob, keys):
    fun = make_feed()
    follow(ann.subscriber, fun)
    make_article(fun)
    news = Article.objects.get(pk=keys[0]).feed_id
    follow(bob.subscriber, Feed.objects.get(pk=news))
    mark_read(ann.subscriber, keys[:1], NOW)
    assert counts(ann) == {
        f"feed/{news}": 2,
        f"feed/{fun.pk}": 1,
        "user/-/label/News": 2,
        f"{STATE}reading-list": 3,
    }
    assert counts(bob) == {f"feed/{news}": 3, f"{STATE}reading-list": 3}


def test_the_newest_article_s_time_stands_with_the_counts(ann, keys):
    rows = ann.get("unread-count").json()["unreadcounts"]
    assert {row["newestItemTimestampUsec"] for row in rows} == {str(microseconds(NOW))}


def test_no_feed_is_counted_without_end(ann, keys, monkeypatch):
    monkeypatch.setattr(streams, "MAX_COUNTED", 2)
    assert counts(ann)[f"{STATE}reading-list"] == 2
    assert ann.get("unread-count").json()["max"] == 1000


def test_counting_takes_two_queries_however_many_feeds(ann, keys, django_assert_num_queries):
    for _ in range(5):
        follow(ann.subscriber, make_feed())
    with django_assert_num_queries(3):  # login, feeds, labels
        assert len(counts(ann)) == 8


LABEL = "user/-/label/"


def tag(reader, ids, *, a=(), r=()):
    return reader.post("edit-tag", {"i": ids, "a": [LABEL + x for x in a], "r": [LABEL + x for x in r]})


def tags(reader):
    return {row["id"].rpartition("/")[2]: row for row in reader.get("tag/list").json()["tags"]}


def test_articles_are_labelled_listed_and_counted_by_label(ann, keys):
    assert tag(ann, keys[:2], a=["later"]).content == b"OK"
    assert ann.ids(LABEL + "later") == keys[:2]
    assert tags(ann)["later"]["type"] == "tag"
    assert tags(ann)["later"]["unread_count"] == 2
    edit(ann, keys[0], a=["read"])
    counts = {row["id"]: row["count"] for row in ann.get("unread-count").json()["unreadcounts"]}
    assert counts[LABEL + "later"] == 1
    assert f"{LABEL}later" in ann.items(LABEL + "later")[0]["categories"]
    assert tag(ann, keys[:2], r=["later"]).content == b"OK"
    assert ann.ids(LABEL + "later") == []
    assert "later" not in tags(ann)


def test_a_stream_has_the_folder_and_the_label_of_one_name(ann, keys):
    other = make_feed("https://other.example/feed")
    follow(ann.subscriber, other)
    extra = make_article(other, published=NOW, fetched=NOW).pk
    tag(ann, extra, a=["News"])
    assert set(ann.ids(LABEL + "News")) == {*keys, extra}
    assert tags(ann)["News"]["type"] == "folder"


def test_labels_are_renamed_and_removed(ann, keys):
    tag(ann, keys[0], a=["later"])
    renamed = ann.post("rename-tag", s=LABEL + "later", dest=LABEL + "Later/Soon")
    assert renamed.content == b"OK"
    assert ann.ids(LABEL + "Later/Soon") == [keys[0]]
    assert ann.post("disable-tag", s=LABEL + "Later/Soon").content == b"OK"
    assert ann.ids(LABEL + "Later/Soon") == []
    assert ann.post("disable-tag", s=LABEL + "Later/Soon").content == b"OK"
    assert ann.post("rename-tag", s=LABEL + "Later/Soon", dest=LABEL + "x").status_code == 400


def test_state_and_label_may_change_in_one_request(ann, keys):
    answer = ann.post("edit-tag", {"i": keys[0], "a": [STATE + "read", LABEL + "later"]})
    assert answer.content == b"OK"
    assert read(ann) == {keys[0]}
    assert ann.ids(LABEL + "later") == [keys[0]]


@pytest.mark.parametrize("label", ["\u202e", " ", "feed/1"])
def test_labels_without_a_name_are_refused(ann, keys, label):
    wanted = label if label.startswith("feed") else LABEL + label
    assert ann.post("edit-tag", {"i": keys[0], "a": [wanted]}).status_code == 400


def test_folders_without_feeds_are_listed(ann):
    ann.subscriber.folders = ["Empty"]
    ann.subscriber.save()
    assert tags(ann)["Empty"]["type"] == "folder"
    ann.post("rename-tag", s=LABEL + "Empty", dest=LABEL + "Full")
    assert "Full" in tags(ann)
    ann.post("disable-tag", s=LABEL + "Full")
    assert "Full" not in tags(ann)
